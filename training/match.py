"""`python -m training match AGENT AGENT …`: who is better, by how much, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress as Bar

from pitchenv import Rules
from pitchenv.checks import InputError
from pitchenv.records import match_record, write_records
from training.command_line import check_new_file, option_names, parse, rules_of
from training.duplicate import Keep, Progress
from training.intervals import Method
from training.match_report import report_of, show
from training.parts import Kept
from training.progress import bar_on
from training.referee import MIN_DEALS, Match, names_of, play, play_whole, players_of, value_of
from training.result_file import check_another, write_json
from training.workers import MOST as MOST_WORKERS
from training.workers import interrupted_by_sigterm

DEALS = 10_000
MOST_UNTIL = 1_000_000  # deals, if no other number is given
MOST_BOOTSTRAP = 1_000_000
MOST = 10_000_000  # deals or matches
MOST_AGENTS = 7  # up to 280 seatings of every deal; they grow with the sets of agents that sit together


@dataclass(frozen=True)
class Arguments:
    """Play agents against each other on the same cards in every seating, and say who is ahead by how many points a deal.

    Duplicate play: two agents on s sides play each deal with one on a single side and the other on the rest, over all rotations, and the
    reverse, so that the luck of the deal cancels. The interval is 95 %, over the means of the deals: Student's t, or the bootstrap.
    With --control the luck of the agents' own dice is taken out too, without bias, where they say what they draw from (such as
    sampled:RUN).

    Example: python -m training match heuristic random --rules smear --set widow=2 --deals 5000
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT …")]
    """Two to seven: random, heuristic, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N, search:RUN,worlds=N, zoo:NAME, or
    module:Class of your own."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    deals: int | None = None
    """Deals, each played in every seating; 10,000 if not given. With --until the most, 1,000,000 if not given."""

    until: float | None = None
    """Go on until the half width of the interval is at or under this, in points a deal (of all intervals, with more than two agents). At
    least 512 deals are played, in whole parts. Only the width is looked at, never the margin, so the interval stays honest."""

    bootstrap: bool = False
    """Intervals by the bootstrap (percentiles of 9,999 resamples of the deals, fixed seed) in the place of Student's t."""

    control: Path | None = None
    """A run whose critics, which see all hands, give control variates (AIVAT); two agents, and the run's own rules."""

    workers: int = 1
    """Processes that play. The result is the same with any number of them."""

    matches: int = 0
    """Whole matches to play besides, each in every seating, for the win rate; 0: none."""

    seed: int = 1
    """Of the deals and of the agents' random numbers. The same seed, the same deals, whoever plays."""

    json: Path | None = None
    """A file for the result: agents, rules, deals, margin, half_width, low and high (row agent over column agent), interval ("t" or
    "bootstrap"), variance_ratio, illegal, seconds, versions, and more where it was asked for."""

    records: Path | None = field(default=None)
    """A new file for the match records of every deal and match played (JSON Lines)."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "match", ["--set", *option_names(Arguments, without=("agents", "changes"))]))


def run(arguments: Arguments) -> dict[str, Any]:
    """Play, print the result, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    _check(arguments)
    names = names_of(arguments.agents)
    players_of.cache_clear()  # a run may have gone on since
    value_of.cache_clear()
    players_of(names, arguments.agents)  # what can't be loaded is refused before the first deal
    if arguments.control:
        value_of(arguments.control, rules)
    match = Match(names, arguments.agents, rules, arguments.seed, arguments.control, keep=arguments.records is not None)
    console = Console()
    keep = _recorder(arguments.records, rules, names) if arguments.records else None
    with interrupted_by_sigterm(), bar_on(console) as bar:
        deals, workers = deals_of(arguments), arguments.workers
        method: Method = "bootstrap" if arguments.bootstrap else "t"
        advance = _advance(bar, "deals", deals)
        result = play(match, deals, until=arguments.until, method=method, workers=workers, keep=keep, progress=advance)
        wins = None
        if arguments.matches:
            advance = _advance(bar, "matches", arguments.matches)
            wins = play_whole(match, arguments.matches, workers=workers, keep=keep, progress=advance)
    report = report_of(result, wins, arguments.seed, arguments.until, arguments.control)
    show(console, report)
    if arguments.json:
        write_json("json", arguments.json, report)
    return report


def deals_of(arguments: Arguments) -> int:
    """How many deals are played, or may be."""
    if arguments.deals is not None:
        return arguments.deals
    return DEALS if arguments.until is None else MOST_UNTIL


def _check(arguments: Arguments) -> None:
    """Everything that can be refused before the first deal."""
    if len(arguments.agents) < 2:
        raise InputError(f"agents: {len(arguments.agents)} given; allowed: two or more")
    if len(arguments.agents) > MOST_AGENTS:
        raise InputError(f"agents: {len(arguments.agents)} given; allowed: 2 … {MOST_AGENTS}")
    deals = deals_of(arguments)
    if deals < 2:
        raise InputError(f"deals = {deals}: allowed: at least 2, for an interval")
    if arguments.matches < 0 or arguments.matches == 1:
        raise InputError(f"matches = {arguments.matches}: allowed: 0, or at least 2 for an interval")
    if deals > MOST or arguments.matches > MOST:
        raise InputError(f"deals = {deals}, matches = {arguments.matches}: allowed: at most {MOST}")
    if arguments.until is not None:
        if not 0 < arguments.until < math.inf:
            raise InputError(f"until = {arguments.until}: allowed: a half width above 0, in points a deal")
        if deals < MIN_DEALS:
            raise InputError(f"deals = {deals}: allowed with until: at least {MIN_DEALS}, before which no width is looked at")
    if arguments.bootstrap and deals > MOST_BOOTSTRAP:
        raise InputError(f"deals = {deals}: allowed with bootstrap: at most {MOST_BOOTSTRAP}")
    if arguments.control and len(arguments.agents) != 2:
        raise InputError(f"control = {str(arguments.control)!r}: {len(arguments.agents)} agents given; allowed with it: 2")
    if not 1 <= arguments.workers <= MOST_WORKERS:
        raise InputError(f"workers = {arguments.workers}: allowed: 1 … {MOST_WORKERS}")
    for name, path in (("json", arguments.json), ("records", arguments.records)):
        if path is not None:
            check_new_file(name, path)
    if arguments.json and arguments.records:
        check_another("records", arguments.records, "json", arguments.json)
    if arguments.records and arguments.records.exists():
        raise InputError(f"records = {str(arguments.records)!r}: exists already; allowed: a new file")


def _recorder(path: Path, rules: Rules, names: Sequence[str]) -> Keep:
    """Adds the records of what was played to the file, part by part."""

    seats = np.arange(rules.players) % rules.sides

    def keep(kept: Kept) -> None:
        lines = (match_record(rules, list(deals), agents=[names[k] for k in sides[seats]]) for deals, sides in kept.by_play())
        write_records(path, lines, append=True)

    return keep


def _advance(bar: Bar, what: str, total: int) -> Progress:
    task = bar.add_task(what, total=total)
    return lambda done: bar.advance(task, done)

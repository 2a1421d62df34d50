"""`python -m training match AGENT AGENT …`: who is better, by how much, and how sure that is."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TimeRemainingColumn
from rich.table import Table

import agents
import pitchenv
from pitchenv import Rules, load_rules
from pitchenv.checks import InputError
from pitchenv.policies.heuristic import HEURISTIC_VERSION
from pitchenv.records import match_record, rules_text, write_records
from training.command_line import check_new_file, option_names, parse, rule_change
from training.duplicate import Keep, MatchResult, Progress, WinResult, play_duplicate, play_matches
from training.players import Player

MOST = 10_000_000  # deals or matches


@dataclass(frozen=True)
class Arguments:
    """Play agents against each other on the same cards in every seating, and say who is ahead by how many points a deal.

    Duplicate play: two agents on s sides play each deal with one on a single side and the other on the rest, over all rotations, and the
    reverse, so that the luck of the deal cancels. The interval is 95 %: Student's t over the means of the deals.

    Example: python -m training match heuristic random --rules smear --set widow=2 --deals 5000
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT …")]
    """Two or more: random, heuristic, the folder of a training run, or module:Class of your own."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    deals: int = 10_000
    """Deals, each played in every seating."""

    matches: int = 0
    """Whole matches to play besides, each in every seating, for the win rate; 0: none."""

    seed: int = 1
    """Of the deals and of the agents' random numbers. The same seed, the same deals, whoever plays."""

    json: Path | None = None
    """A file for the result: agents, rules, deals, margin and half_width (row agent over column agent), illegal, seconds, versions."""

    records: Path | None = field(default=None)
    """A new file for the match records of every deal and match played (JSON Lines)."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "match", ["--set", *option_names(Arguments, without=("agents", "changes"))]))


def run(arguments: Arguments) -> dict[str, Any]:
    """Play, print the result, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    rules = load_rules(arguments.rules, **dict(rule_change(text) for text in arguments.changes))
    _check(arguments)
    names = _names(arguments.agents)
    players = [Player(name, agents.load(spec), i) for i, (name, spec) in enumerate(zip(names, arguments.agents, strict=True))]
    console = Console()
    keep = _recorder(arguments.records, rules, names) if arguments.records else None
    columns = (*Bar.get_default_columns()[:3], TimeRemainingColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        result = play_duplicate(players, rules, arguments.deals, arguments.seed, keep, _advance(bar, "deals", arguments.deals))
        wins = None
        if arguments.matches:
            wins = play_matches(players, rules, arguments.matches, arguments.seed, keep, _advance(bar, "matches", arguments.matches))
    report = _report(arguments, result, wins)
    _show(console, report, result.plays)
    if arguments.json:
        _write_json(arguments.json, report)
    return report


def _check(arguments: Arguments) -> None:
    """Everything that can be refused before the first deal."""
    if len(arguments.agents) < 2:
        raise InputError(f"agents: {len(arguments.agents)} given; allowed: two or more")
    if arguments.deals < 2:
        raise InputError(f"deals = {arguments.deals}: allowed: at least 2, for an interval")
    if arguments.matches < 0 or arguments.matches == 1:
        raise InputError(f"matches = {arguments.matches}: allowed: 0, or at least 2 for an interval")
    if arguments.deals > MOST or arguments.matches > MOST:
        raise InputError(f"deals = {arguments.deals}, matches = {arguments.matches}: allowed: at most {MOST}")
    for name, path in (("json", arguments.json), ("records", arguments.records)):
        if path is not None:
            check_new_file(name, path)
    if arguments.json and arguments.json == arguments.records:
        raise InputError(f"records = {str(arguments.records)!r}: the same file as json; allowed: another")
    if arguments.records and arguments.records.exists():
        raise InputError(f"records = {str(arguments.records)!r}: exists already; allowed: a new file")


def _names(specs: Sequence[str]) -> list[str]:
    """The agents' specs as names, a number added to one that comes again."""
    names: list[str] = []
    for i, spec in enumerate(specs):
        again = specs[:i].count(spec)
        names.append(f"{spec} ({again + 1})" if again else spec)
    return names


def _recorder(path: Path, rules: Rules, names: Sequence[str]) -> Keep:
    """Adds the records of what was played to the file, part by part."""

    def keep(matches: Sequence[Sequence[np.ndarray]], at_side: NDArray[np.int64]) -> None:
        seats = np.arange(rules.players) % rules.sides
        lines = (match_record(rules, deals, agents=[names[k] for k in sides[seats]]) for deals, sides in zip(matches, at_side, strict=True))
        write_records(path, lines, append=True)

    return keep


def _advance(bar: Bar, what: str, total: int) -> Progress:
    task = bar.add_task(what, total=total)
    return lambda done: bar.advance(task, done)


def _report(arguments: Arguments, result: MatchResult, wins: WinResult | None) -> dict[str, Any]:
    """What `--json` writes."""
    report: dict[str, Any] = {
        "agents": list(result.names),
        "rules": rules_text(result.rules),
        "deals": result.deals,
        "seed": arguments.seed,
        "margin": result.margins.tolist(),
        "half_width": result.half_widths.tolist(),
        "illegal": result.illegal,
        "seconds": result.seconds,
        "versions": {"pitchenv": pitchenv.__version__, "heuristic": HEURISTIC_VERSION},
    }
    if wins:
        report["illegal"] = wins.illegal
        report["matches"] = {
            "matches": wins.matches,
            "win_rate": wins.win_rate.tolist(),
            "half_width": wins.half_widths.tolist(),
            "undecided": wins.undecided,
            "deals_a_match": wins.deals_a_match,
            "seconds": wins.seconds,
        }
    return report


def _write_json(path: Path, report: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(report, indent=1) + "\n")
    except OSError as fault:
        raise InputError(f"json = {str(path)!r}: cannot be written: {fault.strerror}") from None


def _show(console: Console, report: dict[str, Any], plays: int) -> None:
    """The result in words; a table where there are more than two agents and a terminal."""
    names, margin, half_width = report["agents"], report["margin"], report["half_width"]
    game = report["rules"] if isinstance(report["rules"], str) else "house rules"
    said = console.print if console.is_terminal else print
    said(f"{game}: {report['deals']} deals of seed {report['seed']}, each in {plays} seatings; 95 % intervals")
    if len(names) > 2 and console.is_terminal:
        table = Table("points a deal over", *names)
        for i, name in enumerate(names):
            table.add_row(name, *("" if i == j else f"{margin[i][j]:+.3f} ± {half_width[i][j]:.3f}" for j in range(len(names))))
        console.print(table)
    else:
        for i, name in enumerate(names):
            for j in range(i + 1, len(names)):
                said(f"{name} over {names[j]}: {margin[i][j]:+.3f} ± {half_width[i][j]:.3f} points a deal")
    if "matches" in report:
        won = report["matches"]
        said(f"{won['matches']} matches, {won['deals_a_match']:.1f} deals each; {won['undecided']} plays undecided")
        for name, rate, width in zip(names, won["win_rate"], won["half_width"], strict=True):
            said(f"{name} wins {rate:.1%} ± {width:.1%}")
    said("illegal proposals: " + ", ".join(f"{name} {n}" for name, n in report["illegal"].items()))
    said(f"{report['seconds']:.1f} s, {report['deals'] * plays / report['seconds']:.0f} deals played a second")

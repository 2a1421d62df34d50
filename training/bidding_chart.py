"""`python -m training bidding-chart AGENT …`: what a bidder bids on which hands, and how often it makes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

import agents
from pitchenv import Rules
from pitchenv.checks import InputError
from pitchenv.engine import table
from pitchenv.engine.state import POINTS, VIEW
from pitchenv.records import rules_text
from training.command_line import check_new_file, option_names, parse, rules_of
from training.duplicate import Progress
from training.hand_classes import HandClasses
from training.parts import fresh_matches, part_size
from training.players import Player, play_deals
from training.progress import bar_on
from training.referee import names_of
from training.result_file import check_another, versions, write_json, write_result

DEALS: Final = 20_000
MOST: Final = 10_000_000
MOST_AGENTS: Final = 6  # side by side
FEWEST: Final = 20  # hands of a class that is shown


@dataclass(frozen=True)
class Arguments:
    """Show what agents bid on which hands as the first seat to speak, side by side, and how often the contracts they come to are made.

    Every agent has the same deals, and all seats of them. Where the auction goes round more than once, how high it goes is shown. A hand
    counts by its best suit, the one `heuristic` would make trump: by how many cards it has there, and which of the high ones (in games of
    more than four points: ace, king, and the points in hand).

    Example: python -m training bidding-chart runs/mine heuristic --rules setback --png chart.png
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT [AGENT …]")]
    """One to six: random, heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N, search:RUN,worlds=N, or
    module:Class of your own."""

    png: Path
    """A file for the picture."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    deals: int = DEALS
    """Deals, the same for every agent."""

    seed: int = 1
    """Of the deals and of the agents' random numbers."""

    json: Path | None = None
    """A file for all numbers."""


@dataclass(frozen=True)
class Bidding:
    """What one agent did. The first of the levels stands for no bid, then come the bids from `min_bid` up."""

    name: str
    bids: NDArray[np.int64]  # (rows, columns, levels): deals by the hand of the first seat to speak and the highest bid it made
    contracts: NDArray[np.int64]  # (levels,): deals by the bid that won the auction
    made: NDArray[np.int64]  # (levels,): of them made
    illegal: int


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "bidding-chart", ["--set", *option_names(Arguments, without=("agents", "changes"))]))


def run(arguments: Arguments) -> dict[str, Any]:
    """Play, draw, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    _check(arguments)
    names = names_of(arguments.agents)
    players = [Player(name, agents.load(spec), i) for i, (name, spec) in enumerate(zip(names, arguments.agents, strict=True))]
    console, found = Console(), []
    with bar_on(console) as bar:
        for player in players:
            task = bar.add_task(player.name, total=arguments.deals)
            found.append(watch_bidding(player, rules, arguments.deals, arguments.seed, partial(bar.advance, task)))
    report = report_of(rules, found, arguments.deals, arguments.seed)
    from training.bidding_picture import picture

    title = " ".join((arguments.rules if "/" not in arguments.rules else Path(arguments.rules).name, *arguments.changes))
    write_result("png", arguments.png, picture(report, title))
    if arguments.json:
        write_json("json", arguments.json, report)
    for line in said(report):
        console.print(line, highlight=False, markup=False, emoji=False, soft_wrap=True)
    return report


def watch_bidding(player: Player, rules: Rules, deals: int, seed: int, progress: Progress | None = None) -> Bidding:
    """Play `deals` deals of a seed with the player at every seat. Raises AgentError."""
    classes = HandClasses(rules)
    levels = rules.max_bid - rules.min_bid + 2
    bids = np.zeros((len(classes.rows), classes.columns, levels), np.int64)
    contracts, made = np.zeros(levels, np.int64), np.zeros(levels, np.int64)
    player.illegal = 0
    size = part_size([player.policy], rules.sides)
    for part, first in enumerate(range(0, deals, size)):
        dealt = fresh_matches(rules, seed, first, min(size, deals - first))
        views = np.zeros(len(dealt), VIEW)
        table.views_all(dealt, views)
        speaker = dealt["public"]["turn"].astype(np.int64)
        player.reset(rules, len(dealt), (seed, part))
        public = play_deals([player], rules, dealt, np.zeros((len(dealt), rules.sides), np.int64))["public"]
        own = public["bids"][np.arange(len(dealt)), speaker].astype(np.int64)  # bit b: it has bid b
        np.add.at(bids, (*classes.of(views), _level(np.frexp(own)[1] - 1, rules)), 1)
        played = public["scored"] == POINTS
        level = _level(np.where(played, public["bid"], 0), rules)
        won = public["points"][np.arange(len(public)), public["pitcher"] % rules.sides] >= public["bid"]
        contracts += np.bincount(level, minlength=levels)
        made += np.bincount(level[played & won], minlength=levels)
        if progress:
            progress(len(dealt))
    return Bidding(player.name, bids, contracts, made, player.illegal)


def _level(bid: NDArray[np.integer[Any]], rules: Rules) -> NDArray[np.integer[Any]]:
    """The level of a bid; of none, 0 or less, 0."""
    return np.where(bid > 0, bid - rules.min_bid + 1, 0)


def report_of(rules: Rules, found: Sequence[Bidding], deals: int, seed: int) -> dict[str, Any]:
    """What `--json` writes: all counts. `bids` of an agent are by class of hand (row, column), then by level."""
    classes = HandClasses(rules)
    levels = ["pass", *(f"bid {bid}" for bid in range(rules.min_bid, rules.max_bid + 1))]
    return {
        "rules": rules_text(rules),
        "deals": deals,
        "seed": seed,
        "levels": levels,
        "rows": classes.rows,
        "columns": list(range(classes.columns)),
        "by_points": classes.by_points,
        "goes_round": rules.auction == "rounds",
        "hands": found[0].bids.sum(2).tolist(),
        "agents": [
            {
                "name": bidding.name,
                "bids_of_all": dict(zip(levels, bidding.bids.sum((0, 1)).tolist(), strict=True)),
                "bids": bidding.bids.tolist(),
                "contracts": {
                    level: {"deals": int(n), "made": int(m)}
                    for level, n, m in zip(levels[1:], bidding.contracts[1:], bidding.made[1:], strict=True)
                },
                "thrown_in": int(bidding.contracts[0]),
                "illegal": bidding.illegal,
            }
            for bidding in found
        ],
        "fewest_shown": int(min(FEWEST, found[0].bids.sum(2).max())),
        "versions": versions(),
    }  # fmt: skip


def said(report: dict[str, Any]) -> list[str]:
    """The whole in a line an agent."""
    lines = []
    for agent in report["agents"]:
        calls = ", ".join(f"{level} {n / report['deals']:.1%}" for level, n in agent["bids_of_all"].items() if n)
        played = sum(contract["deals"] for contract in agent["contracts"].values())
        made = sum(contract["made"] for contract in agent["contracts"].values())
        share = f"{made / played:.1%} of its contracts made" if played else "no contract"
        illegal = f"; illegal proposals: {agent['illegal']}, replaced by the first legal action" if agent["illegal"] else ""
        lines.append(f"{agent['name']}: first to speak: {calls}; {share}{illegal}")
    return lines


def _check(arguments: Arguments) -> None:
    """Everything that can be refused before the first deal."""
    if not 1 <= len(arguments.agents) <= MOST_AGENTS:
        raise InputError(f"agents: {len(arguments.agents)} given; allowed: 1 … {MOST_AGENTS}")
    if not 1 <= arguments.deals <= MOST:
        raise InputError(f"deals = {arguments.deals}: allowed: 1 … {MOST}")
    check_new_file("png", arguments.png)
    if arguments.json:
        check_new_file("json", arguments.json)
        check_another("json", arguments.json, "the picture", arguments.png)

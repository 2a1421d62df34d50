"""`python -m training cross-play AGENT AGENT …`: do agents that were trained apart play together, or has each a convention of its own?

Cross-play (Hu, Lerer, Peysakhovich and Foerster, "'Other-Play' for zero-shot coordination", ICML 2020): agents that are equally good with
their own kind and worse with each other have come to signals that the other does not read. A mixed side is held against sides of either
agent alone, on duplicate deals: where both are about as strong, it is level with them if they understand each other. What it falls short
of that is the loss. (Of agents of very different strength it is no pure measure: a strong and a weak partner need not come to the middle.)
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

import agents
from agents.learned import inputs_for
from pitchenv import Rules, games, load_rules
from pitchenv.checks import InputError
from pitchenv.policies import Policy
from pitchenv.records import rules_text
from training.command_line import check_new_file, option_names, parse, rules_of
from training.duplicate import Progress, play_duplicate
from training.intervals import interval
from training.parts import seatings
from training.players import Player
from training.progress import bar_on
from training.referee import names_of
from training.result_file import versions, write_json

DEALS: Final = 4_000
MOST: Final = 10_000_000
MOST_AGENTS: Final = 7  # 21 pairs
PAIRINGS: Final = 5  # of a pair of agents: one against the other, and two mixed sides against each


@dataclass(frozen=True)
class Arguments:
    """Mix agents as partners, and say what that costs: for each pair, a side of both against sides of either alone, on the same cards.

    Every deal is played in every seating of the sides, and the two partners sit both ways round. The loss is minus the mean margin of
    the mixed sides over the sides of one agent; intervals are 95 %, over the means of the deals. Games with partners only.

    Example: python -m training cross-play runs/seed-1 runs/seed-2 runs/seed-3 --deals 4000
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT …")]
    """Two to seven: random, heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N, search:RUN,worlds=N, or
    module:Class of your own."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    deals: int = DEALS
    """Deals, the same for every pair."""

    seed: int = 1
    """Of the deals and of the agents' random numbers."""

    json: Path | None = None
    """A file for the result: for each pair the margin, the loss, and the margins it is made of, each with half_width; and the largest."""


class MixedSide:
    """A side of several policies: its members, in the order of their seats, are each of them in turn."""

    reads: Literal["observation", "view"]

    def __init__(self, members: Sequence[Policy]) -> None:
        self.members = tuple(members)
        self.slow = any(getattr(policy, "slow", False) for policy in members)
        self.reads = "view" if any(policy.reads == "view" for policy in members) else "observation"
        self._sides = 0

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Resets all members."""
        self._sides = rules.sides
        for k, policy in enumerate(self.members):
            policy.reset(rules, size, seed * len(self.members) + k)

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The actions (n,), each from whose seat it is: seat s is number s // sides of its side."""
        actions = np.zeros(len(seat), np.int64)
        member = seat // self._sides % len(self.members)
        for k, policy in enumerate(self.members):
            if (rows := member == k).any():
                seen = inputs[rows] if policy.reads == self.reads else inputs_for(policy, inputs[rows])
                actions[rows] = policy.act(seen, mask[rows], seat[rows])
        return actions


@dataclass(frozen=True)
class Margin:
    """Points a deal of one kind of side over another, with the half width of the 95 % interval."""

    side: str
    over: str
    margin: float
    half_width: float


@dataclass(frozen=True)
class PairResult:
    """What two agents come to with each other, in points a deal, with half widths of 95 % intervals."""

    names: tuple[str, str]
    margin: float  # of the first over the second, sides of one agent
    half_width: float
    loss: float  # minus the mean of `mixed`
    loss_half_width: float
    mixed: tuple[Margin, ...]  # both mixed sides over sides of the first and of the second
    illegal: dict[str, int]  # proposals, by kind of side


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "cross-play", ["--set", *option_names(Arguments, without=("agents", "changes"))]))


def run(arguments: Arguments) -> dict[str, Any]:
    """Play, print the result, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    _check(arguments)
    check_partners(rules, arguments.rules)
    begun = time.perf_counter()
    players = list(zip(names_of(arguments.agents), [agents.load(spec) for spec in arguments.agents], strict=True))
    pairs = list(combinations(players, 2))
    found: list[PairResult] = []
    console = Console()
    with bar_on(console) as bar:
        task = bar.add_task("deals", total=PAIRINGS * len(pairs) * arguments.deals)
        for a, b in pairs:
            found.append(cross_play(a, b, rules, arguments.deals, arguments.seed, partial(bar.advance, task)))
    report = report_of([name for name, _ in players], rules, found, arguments.deals, arguments.seed, time.perf_counter() - begun)
    for line in said(report):
        print(line)
    if arguments.json:
        write_json("json", arguments.json, report)
    return report


def cross_play(
    a: tuple[str, Policy], b: tuple[str, Policy], rules: Rules, deals: int, seed: int, progress: Progress | None = None
) -> PairResult:
    """Two agents, each a name and a policy, against each other and with each other on `deals` deals of a seed, at least 2.

    Raises AgentError, and InputError for rules without partners.
    """
    check_partners(rules)
    mixed_sides = [(f"{x[0]} + {y[0]}", MixedSide((x[1], y[1]))) for x, y in ((a, b), (b, a))]
    illegal = {name: 0 for name, _ in (a, b, *mixed_sides)}

    def margins(side: tuple[str, Policy], over: tuple[str, Policy]) -> NDArray[np.float64]:
        """Deal by deal (deals,), the mean over its seatings."""
        result = play_duplicate([Player(*side, 0), Player(*over, 1)], rules, deals, seed, progress=progress)
        for name, proposals in result.illegal.items():
            illegal[name] += proposals
        return result.per_deal

    margin = interval(margins(a, b))
    mixed = {(side[0], over[0]): margins(side, over) for over in (a, b) for side in mixed_sides}
    loss = interval(-np.mean(list(mixed.values()), axis=0) + 0.0)  # of nothing 0, not −0
    return PairResult((a[0], b[0]), *margin, *loss, tuple(Margin(*names, *interval(of_deal)) for names, of_deal in mixed.items()), illegal)


def check_partners(rules: Rules, name: str = "") -> None:
    """Raise InputError where nobody has a partner."""
    if rules.players == rules.sides:
        known = ", ".join(game for game in games() if load_rules(game).players > load_rules(game).sides)
        game = f"rules {name!r}" if name else "rules"
        raise InputError(f"{game}: players = sides = {rules.players}: nobody has a partner; allowed: games with partners, such as {known}")


def report_of(names: Sequence[str], rules: Rules, found: Sequence[PairResult], deals: int, seed: int, seconds: float) -> dict[str, Any]:
    """What `--json` writes."""
    illegal: dict[str, int] = {}
    for pair in found:
        for name, proposals in pair.illegal.items():
            illegal[name] = illegal.get(name, 0) + proposals
    apart, costly = max(found, key=lambda pair: abs(pair.margin)), max(found, key=lambda pair: pair.loss)
    return {
        "agents": list(names),
        "rules": rules_text(rules),
        "deals": deals,
        "plays": len(seatings(2, rules.sides)),
        "seed": seed,
        "pairs": [
            {
                "agents": list(pair.names),
                "margin": pair.margin,
                "half_width": pair.half_width,
                "loss": pair.loss,
                "loss_half_width": pair.loss_half_width,
                "mixed": [vars(margin) for margin in pair.mixed],
            }
            for pair in found
        ],
        "largest_margin": {"agents": list(apart.names), "margin": apart.margin, "half_width": apart.half_width},
        "largest_loss": {"agents": list(costly.names), "loss": costly.loss, "half_width": costly.loss_half_width},
        "illegal": illegal,
        "seconds": seconds,
        "versions": versions(),
    }


def said(report: dict[str, Any]) -> list[str]:
    """The result in words, line by line."""
    game = report["rules"] if isinstance(report["rules"], str) else "house rules"
    lines = [f"{game}: {report['deals']} deals of seed {report['seed']}, each in {report['plays']} seatings; points a deal, 95 % intervals"]
    for pair in report["pairs"]:
        a, b = pair["agents"]
        loss = f"mixed as partners they lose {pair['loss']:+.3f} ± {pair['loss_half_width']:.3f}"
        lines.append(f"{a} over {b}: {pair['margin']:+.3f} ± {pair['half_width']:.3f}; {loss}")
    for what, figure in (("margin", report["largest_margin"]), ("loss", report["largest_loss"])):
        lines.append(f"largest {what}: {figure[what]:+.3f} ± {figure['half_width']:.3f}, {' and '.join(figure['agents'])}")
    if wrong := ", ".join(f"{name} {n}" for name, n in report["illegal"].items() if n):
        lines.append(f"illegal proposals, replaced by the first legal action: {wrong}")
    return lines


def _check(arguments: Arguments) -> None:
    """Everything that can be refused before the first deal."""
    if not 2 <= len(arguments.agents) <= MOST_AGENTS:
        raise InputError(f"agents: {len(arguments.agents)} given; allowed: 2 … {MOST_AGENTS}")
    if not 2 <= arguments.deals <= MOST:
        raise InputError(f"deals = {arguments.deals}: allowed: 2 … {MOST}")
    if arguments.json:
        check_new_file("json", arguments.json)

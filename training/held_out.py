"""`python -m training held-out AGENT`: an agent for any rules, against `heuristic` on house rules that it was not trained on."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import tyro
from rich.console import Console

import agents
from agents.learned import CheckpointError, NetworkPolicy, TwoPartPolicy
from pitchenv import Rules, games, load_rules
from pitchenv.checks import InputError
from training.command_line import check_new_file, option_names, parse
from training.duplicate import Progress, play_duplicate
from training.house_rules import random_games
from training.intervals import interval
from training.parts import seatings
from training.players import Player
from training.progress import bar_on
from training.result_file import versions, write_json

AGAINST: Final = "heuristic"
MOST: Final = 10_000_000
MOST_GAMES: Final = 1000


@dataclass(frozen=True)
class Arguments:
    """Measure an agent for any rules on random house rules held out of its training, against heuristic on duplicate deals.

    House rules are games of the table with one to six fields drawn anew; none is the same in a deal as a game that the agent was trained
    on. Intervals are 95 %: of a game over the means of its deals, of the mean over the games themselves, as a sample of all house rules.

    Example: python -m training held-out zoo:family --number 20 --deals 4000
    """

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")]
    """A run trained with several games, or an agent of the zoo of such a run: RUN, zoo:NAME, sampled:RUN or sampled:zoo:NAME."""

    number: int = 20
    """Games to draw. Those with more players than the agent has seats for are left out."""

    deals: int = 4_000
    """Deals of each game, each in every seating."""

    seed: int = 2
    """Of the rules that are drawn; the deals and the agents' random numbers of house-1 have this seed, those of house-2 the next, and so
    on."""

    json: Path | None = None
    """A file for the result: for each game its rules, margin and half_width; the mean of all; and how many are ahead."""


@dataclass(frozen=True)
class GameResult:
    """The agent's margin over `heuristic` in one game, points a deal, with the half width of its 95 % interval."""

    name: str
    rules: Rules
    in_words: str
    seed: int
    margin: float
    half_width: float
    illegal: int  # illegal proposals of the agent

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**vars(self), "rules": self.rules.to_dict()}


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "held-out", option_names(Arguments, without=("agent",))))


def run(arguments: Arguments) -> dict[str, Any]:
    """Play, print the result, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    begun = time.perf_counter()
    _check(arguments)
    policy, slots = load_for_any_rules(arguments.agent)
    trained = list(games_trained_on(arguments.agent).values())
    drawn = random_games(arguments.number, arguments.seed, without=trained)
    held_out = {name: rules for name, rules in drawn.items() if rules.players <= slots}
    if len(held_out) < 2:
        raise InputError(f"number = {arguments.number}: {len(held_out)} of them for up to {slots} players; allowed: enough for two of them")
    player = Player(arguments.agent, policy, 0)
    found: list[GameResult] = []
    console = Console()
    with bar_on(console) as bar:
        task = bar.add_task("deals", total=len(held_out) * arguments.deals)
        for i, (name, rules) in enumerate(drawn.items()):
            if name in held_out:
                found.append(_measured(player, name, rules, arguments.deals, arguments.seed + i, partial(bar.advance, task)))
    report = report_of(arguments, found, len(drawn) - len(held_out), len(trained), time.perf_counter() - begun)
    for line in said(report):
        print(line)
    if arguments.json:
        write_json("json", arguments.json, report)
    return report


def load_for_any_rules(spec: str) -> tuple[TwoPartPolicy, int]:
    """The agent that a spec names, and how many players it has seats for. Raises InputError for one that is not for any rules."""
    policy = agents.load(spec)
    networks = list(policy.parts.values()) if isinstance(policy, TwoPartPolicy) else []
    slots = [network.slots for network in networks if isinstance(network, NetworkPolicy) and network.any_rules]
    if not isinstance(policy, TwoPartPolicy) or len(slots) < len(networks):
        raise InputError(
            f"agent {spec!r}: not for any rules; allowed: a run that was trained with several games, or a zoo agent of such a run"
        )
    return policy, min(slots)


def games_trained_on(spec: str) -> Mapping[str, Rules]:
    """The games that a run, or an agent of the zoo, was trained on, house rules too, by name. Raises InputError."""
    from agents import zoo
    from training.checkpoint import load_checkpoint

    source = spec.removeprefix("sampled:")
    try:
        if source.startswith("zoo:"):
            trained = zoo.card(source.removeprefix("zoo:").partition("@")[0])["training"]["games"]
        else:
            trained = load_checkpoint(Path(source))[1]["games"]
        return {name: Rules.from_dict(rules) for name, rules in trained.items()}
    except CheckpointError as fault:  # such as of a checkpoint without its run
        raise InputError(f"agent {spec!r}: does not say what it was trained on: {fault}") from None
    except (KeyError, TypeError, AttributeError):
        raise InputError(f"agent {spec!r}: does not say what it was trained on; allowed: one with training.games in its card") from None


def in_words(rules: Rules) -> str:
    """Rules as the game of the table that has most fields in common with them (the first of several), and what is different."""
    changes = {name: _differences(rules, load_rules(name)) for name in games()}
    nearest = min(changes, key=lambda name: len(changes[name]))
    texts = [f"{field} = {_text(value)}" for field, value in changes[nearest].items()]
    return f"{nearest} with {', '.join(texts)}" if texts else nearest


def _differences(rules: Rules, other: Rules) -> dict[str, Any]:
    """The fields of `rules` that have another value there."""
    theirs = other.to_dict()
    return {field: value for field, value in rules.to_dict().items() if value != theirs[field]}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _measured(player: Player, name: str, rules: Rules, deals: int, seed: int, progress: Progress) -> GameResult:
    result = play_duplicate([player, Player(AGAINST, agents.load(AGAINST), 1)], rules, deals, seed, progress=progress)
    return GameResult(name, rules, in_words(rules), seed, result.margin, result.half_width, result.illegal[player.name])


def report_of(arguments: Arguments, found: Sequence[GameResult], left_out: int, trained: int, seconds: float) -> dict[str, Any]:
    """What `--json` writes."""
    mean, half_width = interval(np.array([game.margin for game in found]))
    return {
        "agent": arguments.agent,
        "against": AGAINST,
        "number": arguments.number,
        "left_out": left_out,
        "trained_on": trained,
        "deals": arguments.deals,
        "seed": arguments.seed,
        "games": [{**game.to_dict(), "plays": len(seatings(2, game.rules.sides))} for game in found],
        "mean": mean,
        "half_width": half_width,
        "ahead": sum(game.margin - game.half_width > 0 for game in found),
        "behind": sum(game.margin + game.half_width < 0 for game in found),
        "seconds": seconds,
        "versions": versions(),
    }


def said(report: dict[str, Any]) -> list[str]:
    """The result in words, line by line."""
    played = len(report["games"])
    lines = [
        f"{report['agent']} over {report['against']}: {played} house rules, none of the {report['trained_on']} games it was trained on; "
        f"{report['deals']} deals each, in every seating; points a deal, 95 % intervals"
    ]
    for game in report["games"]:
        wrong = f"; illegal proposals: {game['illegal']}" if game["illegal"] else ""
        lines.append(f"{game['name']}: {game['margin']:+.3f} ± {game['half_width']:.3f}, {game['in_words']}{wrong}")
    lines.append(f"mean over the games: {report['mean']:+.3f} ± {report['half_width']:.3f}")
    lines.append(f"ahead with an interval above 0 in {report['ahead']} of {played}, behind with one below 0 in {report['behind']}")
    if report["left_out"]:
        lines.append(f"left out, for more players than it has seats for: {report['left_out']} of {report['number']}")
    return lines


def _check(arguments: Arguments) -> None:
    """Everything that can be refused before an agent is loaded."""
    if not 2 <= arguments.number <= MOST_GAMES:
        raise InputError(f"number = {arguments.number}: allowed: 2 … {MOST_GAMES}")
    if not 2 <= arguments.deals <= MOST:
        raise InputError(f"deals = {arguments.deals}: allowed: 2 … {MOST}")
    if arguments.json:
        check_new_file("json", arguments.json)

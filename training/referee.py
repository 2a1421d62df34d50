"""A match of agents named by specs, part by part: here or in several processes, until enough is known."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

import agents
from pitchenv import Rules
from pitchenv.checks import InputError
from training.duplicate import Keep, MatchResult, Progress, WinResult, combine, combine_wins
from training.intervals import Method, bounds
from training.parts import PartResult, WinPart, part_size, play_match_part, play_part
from training.players import Player
from training.workers import WorkerDied, run_tasks

if TYPE_CHECKING:
    from training.control_variates import ValueNetwork

MIN_DEALS: Final = 512  # before a width is looked at: the spread is known by then, and to stop at a chance low of it costs little


@dataclass(frozen=True)
class Match:
    """Who plays what on which deals. It pickles, and every process makes the same players from it."""

    names: tuple[str, ...]
    specs: tuple[str, ...]
    rules: Rules
    seed: int
    control: Path | None = None  # a run whose critics are the control variates' value network
    keep: bool = False  # the records of what is played


@dataclass(frozen=True)
class Task:
    """One part of a match."""

    match: Match
    whole: bool  # whole matches, not single deals
    part: int
    deals: int
    size: int  # of whole parts


@cache
def players_of(names: tuple[str, ...], specs: tuple[str, ...]) -> tuple[Player, ...]:
    """The players of some specs, loaded once a process. Raises AgentError."""
    return tuple(Player(name, agents.load(spec), i) for i, (name, spec) in enumerate(zip(names, specs, strict=True)))


@cache
def value_of(run: Path, rules: Rules) -> "ValueNetwork":
    """The value network of a run, loaded once a process. Raises InputError."""
    from training.control_variates import ValueNetwork

    return ValueNetwork.of_run(run, rules)


def play_task(task: Task) -> PartResult | WinPart:
    """Play one part. Raises AgentError."""
    match = task.match
    players = players_of(match.names, match.specs)
    if task.whole:
        return play_match_part(players, match.rules, match.seed, task.part, task.deals, task.size, keep=match.keep)
    value = None if match.control is None else value_of(match.control, match.rules)
    return play_part(players, match.rules, match.seed, task.part, task.deals, task.size, value=value, keep=match.keep)


def play(
    match: Match, deals: int, *, until: float | None = None, method: Method = "t", workers: int = 1, keep: Keep | None = None,
    progress: Progress | None = None,
) -> MatchResult:  # fmt: skip
    """Every deal in every seating: `deals` of them, or as many whole parts as it takes for the largest half width of a 95 % interval to
    come to `until`, from MIN_DEALS on; `deals` is then the most. Raises InputError, AgentError too.

    The stop looks at the width alone, never at the margin. To stop when a margin has left 0 would make intervals lie; how wide one is says
    next to nothing about where the truth lies in it, so it stays one of 95 % (Chow and Robbins, "On the asymptotic theory of fixed-width
    sequential confidence intervals", 1965). The stop is decided on the parts in order, so that it does not depend on the workers.
    """
    begun = time.perf_counter()
    parts: list[PartResult] = []
    watched: list[NDArray[np.float64]] = []
    for part in in_order(match, False, deals, workers, keep, progress):
        parts.append(part)
        if until is not None:
            watched.append(part.control.margins[None] if part.control else part.margins[np.triu_indices(len(part.margins), 1)])
            if narrow_enough(np.concatenate(watched, axis=1), until, method):
                break
    return combine(match.names, match.rules, parts, time.perf_counter() - begun, method)


def play_whole(match: Match, matches: int, *, workers: int = 1, keep: Keep | None = None, progress: Progress | None = None) -> WinResult:
    """Whole matches in every seating. Raises InputError, AgentError too."""
    begun = time.perf_counter()
    parts = list(in_order(match, True, matches, workers, keep, progress))
    return combine_wins(match.names, match.rules, parts, time.perf_counter() - begun)


def in_order(
    match: Match, whole: bool, deals: int, workers: int, keep: Keep | None = None, progress: Progress | None = None
) -> Iterator[Any]:
    """The parts of a match, in order, whatever the order in which the workers finish them; what fails is raised in its turn."""
    size = part_size([player.policy for player in players_of(match.names, match.specs)], match.rules.sides)
    tasks = (Task(match, whole, part, min(size, deals - at), size) for part, at in enumerate(range(0, deals, size)))
    results = run_tasks(play_task, tasks, workers=workers)
    waiting: dict[int, Any] = {}
    following = 0
    with contextlib.closing(results):  # type: ignore[type-var]  # a generator: what is under way is then given up
        for index, result in results:
            waiting[index] = result
            while following in waiting:
                part = waiting.pop(following)
                following += 1
                if isinstance(part, WorkerDied):
                    raise InputError(f"match: part {following - 1} could not be played: {part}; allowed: fewer workers, if memory ran out")
                if isinstance(part, BaseException):
                    raise part
                if keep:
                    keep(part.kept)
                if progress:
                    progress(part.deals)
                yield part


def narrow_enough(margins: NDArray[np.float64], until: float, method: Method) -> bool:
    """Whether the intervals of all pairs, margins (pairs, deals), have half widths of at most `until`, and there are MIN_DEALS. By the
    bootstrap, which takes its time, only where Student's t says so too."""
    ways: tuple[Method, ...] = ("t", "bootstrap") if method == "bootstrap" else ("t",)
    found = (bounds(of_pair, way) for way in ways for of_pair in margins)
    return margins.shape[1] >= MIN_DEALS and all(high - low <= 2 * until for low, high in found)


def names_of(specs: Sequence[str]) -> tuple[str, ...]:
    """The agents' specs as names, a number added to one that comes again."""
    names: list[str] = []
    for i, spec in enumerate(specs):
        again = specs[:i].count(spec)
        names.append(f"{spec} ({again + 1})" if again else spec)
    return tuple(names)

"""Duplicate play: the same cards for every seating of the agents, so that the luck of the deal cancels.

Two agents on s sides play each deal with one on a single side and the other on the rest, over all rotations, and the reverse: 2 plays
for two sides, 2 s for more. The margin of A over B in a play is the mean score of A's sides less that of B's; a deal's margin is the
mean over its plays, and the interval is that of a mean of independent deals.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.checks import InputError
from pitchenv.policies import Policy
from training.intervals import Method, bounds, interval, variance
from training.parts import Kept, PartResult, WinPart, part_size, play_match_part, play_part, seatings
from training.players import Player

Keep = Callable[[Kept], None]  # what was played, part by part
Progress = Callable[[int], None]  # so many more deals or matches have been played in all seatings


@dataclass(frozen=True)
class ControlResult:
    """What control variates have done for the margin of the first agent over the second."""

    margin: float  # as played, without them
    half_width: float
    gain: float | None  # variance of a deal's margin as played over that with control variates; None where that is 0
    gain_single: float | None  # the same of single, independent deals, with the correction of chance
    decisions: int  # that were corrected


@dataclass(frozen=True)
class MatchResult:
    """What agents scored against each other on the same deals; row agent over column agent, points a deal.

    With control variates margins and intervals are those with them, and `control` has the plain ones.
    """

    names: tuple[str, ...]
    rules: Rules
    deals: int
    plays: int  # seatings in which each deal was played
    margins: NDArray[np.float64]  # (agents, agents)
    half_widths: NDArray[np.float64]  # (agents, agents), of the 95 % interval: half its length
    lows: NDArray[np.float64]  # (agents, agents), where it begins
    highs: NDArray[np.float64]  # (agents, agents), and ends
    interval: Method
    variance_ratios: NDArray[np.float64]  # (agents, agents), how many times as many plays independent deals would take; nan if unknown
    per_deal: NDArray[np.float64]  # (deals,), the first agent over the second
    illegal: dict[str, int]  # illegal proposals by agent
    control: ControlResult | None
    seconds: float

    @property
    def margin(self) -> float:
        """Of the first agent over the second."""
        return float(self.margins[0, 1])

    @property
    def half_width(self) -> float:
        """Of the 95 % interval of `margin`."""
        return float(self.half_widths[0, 1])


@dataclass(frozen=True)
class WinResult:
    """How often agents won whole matches, the same ones in every seating.

    Counted are the plays in which an agent has the fewest sides: one against the rest, where there are two agents or at least as many as
    sides. Among equals that is 1 / sides.
    """

    names: tuple[str, ...]
    matches: int
    win_rate: NDArray[np.float64]  # (agents,), matches won, by side of the agent
    half_widths: NDArray[np.float64]  # (agents,), of the 95 % interval
    undecided: int  # plays that nobody had won after MAX_DEALS deals; 1 / sides to each
    deals_a_match: float
    illegal: dict[str, int]
    seconds: float


def duplicate(
    a: Policy, b: Policy, rules: Rules, deals: int, seed: int, names: tuple[str, str] = ("A", "B"), keep: Keep | None = None
) -> MatchResult:
    """The margin of `a` over `b` on `deals` deals of a seed, at least 2. Raises AgentError."""
    return play_duplicate([Player(names[0], a, 0), Player(names[1], b, 1)], rules, deals, seed, keep)


def play_duplicate(
    players: Sequence[Player],
    rules: Rules,
    deals: int,
    seed: int,
    keep: Keep | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> MatchResult:
    """Every deal in every seating of two players or more, part by part, with the `options` of `play_part`. Raises AgentError."""
    begun = time.perf_counter()
    parts = list(_in_parts(play_part, players, rules, deals, seed, keep, progress, **options))
    return combine([player.name for player in players], rules, parts, time.perf_counter() - begun)


def play_matches(
    players: Sequence[Player], rules: Rules, matches: int, seed: int, keep: Keep | None = None, progress: Progress | None = None
) -> WinResult:
    """Whole matches, the same `matches` of a seed in every seating. Raises AgentError."""
    begun = time.perf_counter()
    parts = list(_in_parts(play_match_part, players, rules, matches, seed, keep, progress))
    return combine_wins([player.name for player in players], rules, parts, time.perf_counter() - begun)


def _in_parts(
    play: Callable[..., Any], players: Sequence[Player], rules: Rules, deals: int, seed: int,
    keep: Keep | None, progress: Progress | None, **options: Any,
) -> Iterator[Any]:  # fmt: skip
    if deals < 2:
        raise InputError(f"deals or matches = {deals}: allowed: at least 2, for an interval")
    size = part_size([player.policy for player in players], rules.sides)
    for part, at in enumerate(range(0, deals, size)):
        result = play(players, rules, seed, part, min(size, deals - at), size, keep=keep is not None, **options)
        if keep:
            keep(result.kept)
        if progress:
            progress(result.deals)
        yield result


def combine(names: Sequence[str], rules: Rules, parts: Sequence[PartResult], seconds: float, method: Method = "t") -> MatchResult:
    """The result of the parts of a match, in order; at least 2 deals in all."""
    margins = np.concatenate([part.margins for part in parts], axis=2)
    if parts[0].control:  # it takes two agents
        plain = margins[0, 1]
        margins = _over_each_other(np.concatenate([part.control.margins for part in parts if part.control]))
    else:
        plain = None
    agents, _, deals = margins.shape
    found = np.zeros((4, agents, agents))
    for i in range(agents):
        for j in range(i + 1, agents):
            mean, width = interval(margins[i, j])
            low, high = bounds(margins[i, j], method)
            width = width if method == "t" else (high - low) / 2
            found[:, i, j] = mean, width, low, high
            found[:, j, i] = -mean, width, -high, -low
    return MatchResult(
        names=tuple(names), rules=rules, deals=deals, plays=len(seatings(agents, rules.sides)), margins=found[0], half_widths=found[1],
        lows=found[2], highs=found[3], interval=method, variance_ratios=_variance_ratios(parts, rules.sides), per_deal=margins[0, 1],
        illegal=_illegal(names, parts), control=None if plain is None else _control(parts, plain, margins[0, 1]), seconds=seconds,
    )  # fmt: skip


def combine_wins(names: Sequence[str], rules: Rules, parts: Sequence[WinPart], seconds: float) -> WinResult:
    """The same of whole matches."""
    wins = np.concatenate([part.wins for part in parts], axis=1)
    means = np.array([interval(row) for row in wins])
    played = wins.shape[1] * len(seatings(len(names), rules.sides))
    return WinResult(
        names=tuple(names), matches=wins.shape[1], win_rate=means[:, 0], half_widths=means[:, 1],
        undecided=sum(part.undecided for part in parts), deals_a_match=sum(part.deals_played for part in parts) / played,
        illegal=_illegal(names, parts), seconds=seconds,
    )  # fmt: skip


def _illegal(names: Sequence[str], parts: Sequence[PartResult] | Sequence[WinPart]) -> dict[str, int]:
    return {name: sum(part.illegal[k] for part in parts) for k, name in enumerate(names)}


def _over_each_other(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, 2, deals) from the margins (deals,) of the first of two agents."""
    return np.array([[0 * margins, margins], [-margins, 0 * margins]])


def _variance_ratios(parts: Sequence[PartResult], sides: int) -> NDArray[np.float64]:
    """What duplicate play gains, by pair of agents: the variance of the margin in a play of an independent deal, over that of a deal's mean
    times its plays with both agents.

    The first is the mean over the seatings of the variance in each alone: that of independent deals with every seating equally often.
    """
    deals = sum(part.deals for part in parts)
    plan = seatings(len(parts[0].margins), sides)
    plays_in = np.array([(plan == agent).any(axis=1) for agent in range(len(parts[0].margins))])
    ratios = np.full(parts[0].margins.shape[:2], np.nan)
    for i, j in np.argwhere(~np.eye(len(ratios), dtype=np.bool_)):
        both = np.flatnonzero(plays_in[i] & plays_in[j])
        single = _single_variance(deals, [part.sums[i, j, both] for part in parts], [part.squares[i, j, both] for part in parts])
        mean = float(np.concatenate([part.margins[i, j] for part in parts]).var(ddof=1))
        ratios[i, j] = single / (len(both) * mean) if mean > 0 else np.nan
    return ratios


def _control(parts: Sequence[PartResult], plain: NDArray[np.float64], corrected: NDArray[np.float64]) -> ControlResult:
    controls = [part.control for part in parts if part.control]
    single = _single_variance(len(plain), [part.sums[0, 1] for part in parts], [part.squares[0, 1] for part in parts])
    single_corrected = _single_variance(len(plain), [c.sums for c in controls], [c.squares for c in controls])
    margin, half_width = interval(plain)
    return ControlResult(
        margin, half_width, gain=_gain(float(plain.var(ddof=1)), float(corrected.var(ddof=1))), gain_single=_gain(single, single_corrected),
        decisions=sum(control.decisions for control in controls),
    )  # fmt: skip


def _single_variance(deals: int, sums: Sequence[NDArray[np.float64]], squares: Sequence[NDArray[np.float64]]) -> float:
    """The mean over the seatings of the variance in each, from sums by part."""
    of_seating = zip(np.sum(sums, axis=0), np.sum(squares, axis=0), strict=True)
    return float(np.mean([variance(deals, total, square) for total, square in of_seating]))


def _gain(before: float, after: float) -> float | None:
    return before / after if after > 0 else None

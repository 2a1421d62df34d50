"""Duplicate play: the same cards for every seating of the agents, so that the luck of the deal cancels.

Two agents on s sides play each deal with one on a single side and the other on the rest, over all rotations, and the reverse: 2 plays
for two sides, 2 s for more. The margin of A over B in a play is the mean score of A's sides less that of B's; a deal's margin is the
mean over its plays, and the interval is that of a mean of independent deals.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.checks import InputError
from pitchenv.engine import single
from pitchenv.engine.state import MATCH, NOBODY
from pitchenv.game import match_seed
from pitchenv.policies import Policy
from training.intervals import interval
from training.players import Player, play_deals

AT_ONCE: Final = 8192  # matches in memory
MAX_DEALS: Final = 100  # a match that is not won by then is nobody's

Keep = Callable[[Sequence[Sequence[np.ndarray]], NDArray[np.int64]], None]  # the deals of each match, (matches, sides): who was each side
Progress = Callable[[int], None]  # so many more deals or matches have been played in all seatings


@dataclass(frozen=True)
class MatchResult:
    """What agents scored against each other on the same deals; row agent over column agent, points a deal."""

    names: tuple[str, ...]
    rules: Rules
    deals: int
    plays: int  # seatings in which each deal was played
    margins: NDArray[np.float64]  # (agents, agents)
    half_widths: NDArray[np.float64]  # (agents, agents), of the 95 % interval
    per_deal: NDArray[np.float64]  # (deals,), the first agent over the second
    illegal: dict[str, int]  # illegal proposals by agent
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


def seatings(agents: int, sides: int) -> NDArray[np.int64]:
    """The plays of one deal: (plays, sides), which agent each side is. Every agent has every side equally often.

    Two agents: one against the rest, all rotations, and the reverse beside each. More, at each table as many as there are sides:
    all orders of them if they are at most 2 s, else all rotations of one order and of its reverse. More agents than sides: that for each
    set of them; fewer: the sides are filled up in turn, over all rotations of sides and agents.
    """
    if agents == 2:
        one_alone = [[int(side == alone) for side in range(sides)] for alone in range(sides)]
        pairs = [[[1 - a for a in row], row] for row in one_alone]
        plays = [row for pair in (pairs if sides > 2 else pairs[:1]) for row in pair]
    elif agents < sides:
        turns = [(turn, shift) for turn in range(sides) for shift in range(agents)]
        plays = [[((side + turn) % sides + shift) % agents for side in range(sides)] for turn, shift in turns]
    else:
        plays = [[table[i] for i in order] for table in combinations(range(agents), sides) for order in _orders(sides)]
    return np.array(plays, np.int64)


def _orders(sides: int) -> list[tuple[int, ...]]:
    every = list(permutations(range(sides))) if sides <= 3 else []
    forth = [tuple((i + turn) % sides for i in range(sides)) for turn in range(sides)]
    return every or forth + [order[::-1] for order in forth]


def duplicate(
    a: Policy, b: Policy, rules: Rules, deals: int, seed: int, names: tuple[str, str] = ("A", "B"), keep: Keep | None = None
) -> MatchResult:
    """The margin of `a` over `b` on `deals` deals of a seed, at least 2. Raises AgentError."""
    return play_duplicate([Player(names[0], a, 0), Player(names[1], b, 1)], rules, deals, seed, keep)


def play_duplicate(
    players: Sequence[Player], rules: Rules, deals: int, seed: int, keep: Keep | None = None, progress: Progress | None = None
) -> MatchResult:
    """Every deal in every seating of two players or more. Raises AgentError."""
    begun = time.perf_counter()
    plan = seatings(len(players), rules.sides)
    margins = np.zeros((len(players), len(players), deals))
    for chunk, at, dealt in _chunks(rules, deals, seed, len(plan)):
        at_side = plan.repeat(len(dealt), axis=0)
        for player in players:
            player.reset(rules, len(at_side), (seed, 0, chunk))
        ended = play_deals(players, rules, np.tile(dealt, len(plan)), at_side)
        change = ended["public"]["change"][:, : rules.sides].reshape(len(plan), len(dealt), rules.sides)
        margins[:, :, at : at + len(dealt)] = _margins(_by_agent(change, plan, len(players)))
        if keep:
            keep([[deal] for deal in ended], at_side)
        if progress:
            progress(len(dealt))
    means = np.array([[interval(margins[i, j]) for j in range(len(players))] for i in range(len(players))])
    return MatchResult(
        names=tuple(player.name for player in players), rules=rules, deals=deals, plays=len(plan), margins=means[..., 0],
        half_widths=means[..., 1], per_deal=margins[0, 1], illegal={player.name: player.illegal for player in players},
        seconds=time.perf_counter() - begun,
    )  # fmt: skip


def play_matches(
    players: Sequence[Player], rules: Rules, matches: int, seed: int, keep: Keep | None = None, progress: Progress | None = None
) -> WinResult:
    """Whole matches, the same `matches` of a seed in every seating. Raises AgentError."""
    begun = time.perf_counter()
    plan = seatings(len(players), rules.sides)
    wins = np.zeros((len(players), matches))
    undecided = deals_played = 0
    for chunk, at, dealt in _chunks(rules, matches, seed, len(plan)):
        at_side = plan.repeat(len(dealt), axis=0)
        for player in players:
            player.reset(rules, len(at_side), (seed, 1, chunk))
        ended = _play_to_the_end(players, rules, np.tile(dealt, len(plan)), at_side, keep)
        winner = ended["public"]["winner"]
        won = np.where(winner[:, None] == NOBODY, 1 / rules.sides, winner[:, None] == np.arange(rules.sides))
        shares = _by_agent(won.reshape(len(plan), len(dealt), rules.sides), plan, len(players))
        for agent, sides_held in enumerate((plan == np.arange(len(players))[:, None, None]).sum(axis=2)):
            fewest = sides_held == sides_held[sides_held > 0].min()
            wins[agent, at : at + len(dealt)] = shares[agent, fewest].mean(axis=0)
        undecided += int(np.count_nonzero(winner == NOBODY))
        deals_played += int(ended["public"]["deals_played"].sum())
        if progress:
            progress(len(dealt))
    means = np.array([interval(row) for row in wins])
    return WinResult(
        names=tuple(player.name for player in players), matches=matches, win_rate=means[:, 0], half_widths=means[:, 1],
        undecided=undecided, deals_a_match=deals_played / (matches * len(plan)),
        illegal={player.name: player.illegal for player in players}, seconds=time.perf_counter() - begun,
    )  # fmt: skip


def _chunks(rules: Rules, matches: int, seed: int, plays: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Fresh matches of a seed, in parts of which all seatings fit in memory: (number of the part, index of its first, records)."""
    if matches < 2:
        raise InputError(f"deals or matches = {matches}: allowed: at least 2, for an interval")
    size = max(1, AT_ONCE // plays)
    for chunk, at in enumerate(range(0, matches, size)):
        dealt = np.zeros(min(size, matches - at), MATCH)
        dealt["public"]["rules"] = rules.packed[0]
        for i in range(len(dealt)):  # match i of Batch(rules, size, seed), whatever its size
            single.start(dealt, i, match_seed(seed, at + i), True)
        yield chunk, at, dealt


def _play_to_the_end(
    players: Sequence[Player], rules: Rules, matches: np.ndarray, at_side: NDArray[np.int64], keep: Keep | None
) -> np.ndarray:
    """Deal after deal until every match is won, or cut off."""
    deals: list[list[np.ndarray]] = [[] for _ in matches]
    going_on = np.arange(len(matches))
    while len(going_on):
        matches[going_on] = play_deals(players, rules, matches[going_on], at_side[going_on])
        if keep:
            for i in going_on:
                deals[i].append(matches[i].copy())
        public = matches["public"]
        going_on = going_on[(public["over"][going_on] == 0) & (public["deals_played"][going_on] < MAX_DEALS)]
        for i in going_on:
            single.deal_next(matches, i)
    if keep:
        keep(deals, at_side)
    return matches


def _by_agent(of_side: NDArray[np.generic], plan: NDArray[np.int64], agents: int) -> NDArray[np.float64]:
    """What each agent's sides have on average, (agents, plays, deals), from (plays, deals, sides); nan where it does not play."""
    out = np.full((agents, *of_side.shape[:2]), np.nan)
    for play, agent_at in enumerate(plan):
        for agent in set(agent_at.tolist()):
            out[agent, play] = of_side[play][:, agent_at == agent].mean(axis=1)
    return out


def _margins(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean difference over the plays with both, (agents, agents, deals), from (agents, plays, deals)."""
    means: NDArray[np.float64] = np.nanmean(score[:, None] - score[None, :], axis=2)
    return means

"""A part: the unit in which deals and matches are played, by whatever process.

All cards of a part follow from the seed and the part's number, and the agents are reset for it with both. So what a part comes to
depends on the agents, the rules, the seed, its number and its size, and on nothing else. Deal k of a seed is the same whoever plays it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.engine import single
from pitchenv.engine.state import MATCH, NOBODY
from pitchenv.game import match_seed
from pitchenv.policies import Policy
from training.players import Player, play_deals

if TYPE_CHECKING:  # it brings torch
    from training.control_variates import ControlPart, ValueNetwork

PART: Final = 64  # deals in a part of slow agents: under a minute at 0.3 s a deal played, so that they spread over processes and resume
AT_ONCE: Final = 8192  # plays in a part of fast ones, which are several times faster in large batches
MAX_DEALS: Final = 100  # a match that is not won by then is nobody's


@dataclass(frozen=True)
class Kept:
    """Everything that was played in a part."""

    deals: np.ndarray  # MATCH (n,), as they ended
    play: NDArray[np.int64]  # (n,) in which play
    at_side: NDArray[np.int64]  # (plays, sides): who each side was

    def by_play(self) -> Iterator[tuple[np.ndarray, NDArray[np.int64]]]:
        """Each play: the records of its deals, in order, and who each side was."""
        order = np.argsort(self.play, kind="stable")
        starts = np.searchsorted(self.play[order], np.arange(len(self.at_side) + 1))
        for sides, start, end in zip(self.at_side, starts, starts[1:], strict=False):
            yield self.deals[order[start:end]], sides


@dataclass(frozen=True)
class PartResult:
    """What a part of single deals came to. It pickles."""

    margins: NDArray[np.float64]  # (agents, agents, deals), row over column, the mean over the deal's plays
    sums: NDArray[np.float64]  # (agents, agents, plays), over the deals: of the margin in each seating; 0 where one of the two doesn't play
    squares: NDArray[np.float64]  # (agents, agents, plays), of its square
    illegal: tuple[int, ...]  # illegal proposals by agent
    control: "ControlPart | None"  # of agent 0 over agent 1, where a value network was given
    kept: Kept | None  # the plays, if asked for

    @property
    def deals(self) -> int:
        """In this part."""
        return len(self.margins[0, 0])


@dataclass(frozen=True)
class WinPart:
    """What a part of whole matches came to. It pickles."""

    wins: NDArray[np.float64]  # (agents, matches)
    undecided: int
    deals_played: int
    illegal: tuple[int, ...]
    kept: Kept | None

    @property
    def deals(self) -> int:
        """Matches in this part."""
        return len(self.wins[0])


def seatings(agents: int, sides: int) -> NDArray[np.int64]:
    """The plays of one deal: (plays, sides), which agent each side is; `orders` tells in which order the sides then sit. Every agent has
    every side equally often.

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


def part_size(policies: Sequence[Policy], sides: int) -> int:
    """Deals in a whole part: PART if one of the policies is slow, else as many as make AT_ONCE plays in all seatings.

    Slow is a policy that says so, by an attribute `slow = True`: one that takes a millisecond or more for a decision, so that large
    batches bring it nothing.
    """
    plays = len(seatings(len(policies), sides))
    return PART if any(getattr(policy, "slow", False) for policy in policies) else max(1, AT_ONCE // plays)


def play_part(
    players: Sequence[Player], rules: Rules, seed: int, part: int, deals: int | None = None, size: int | None = None, *,
    value: "ValueNetwork | None" = None, keep: bool = False,
) -> PartResult:  # fmt: skip
    """Part number `part` of the deals of a seed, every deal in every seating of two players or more. Raises AgentError.

    A whole part has `size` deals (by default `part_size`), and the deals before it are whole parts; this one, if it is the last, may have
    fewer: `deals`. With `value`, which takes two players, the result has a control variate for each play.
    """
    seated, dealt = _ready(players, rules, (seed, 0, part), deals, size)
    at_side = seated.reshape(-1, rules.sides)
    watch = None
    if value is not None:
        from training.control_variates import Corrections

        watch = Corrections(value, players, rules, at_side)
    ended = play_deals(players, rules, np.tile(dealt, len(seated)), at_side, watch)
    score = _by_agent(ended["public"]["change"][:, : rules.sides].reshape(seated.shape), seated, len(players))
    of_play = score[:, None] - score[None, :]  # (agents, agents, plays, deals)
    return PartResult(
        margins=np.nanmean(of_play, axis=2), sums=np.nansum(of_play, axis=3), squares=np.nansum(of_play**2, axis=3),
        illegal=tuple(player.illegal for player in players), control=watch.summary(of_play[0, 1]) if watch else None,
        kept=Kept(ended, np.arange(len(ended)), at_side) if keep else None,
    )  # fmt: skip


def play_match_part(
    players: Sequence[Player],
    rules: Rules,
    seed: int,
    part: int,
    matches: int | None = None,
    size: int | None = None,
    *,
    keep: bool = False,
) -> WinPart:
    """The same of whole matches, played until they are won or cut off after MAX_DEALS deals. Raises AgentError."""
    seated, dealt = _ready(players, rules, (seed, 1, part), matches, size)
    at_side = seated.reshape(-1, rules.sides)
    deals: list[tuple[np.ndarray, NDArray[np.int64]]] = []
    ended = _play_to_the_end(players, rules, np.tile(dealt, len(seated)), at_side, deals if keep else None)
    kept = Kept(np.concatenate([records for records, _ in deals]), np.concatenate([rows for _, rows in deals]), at_side) if keep else None
    winner = ended["public"]["winner"]
    won = np.where(winner[:, None] == NOBODY, 1 / rules.sides, winner[:, None] == np.arange(rules.sides))
    shares = _by_agent(won.reshape(seated.shape), seated, len(players))
    wins = np.zeros((len(players), len(dealt)))
    for agent, sides_held in enumerate((seated[:, 0] == np.arange(len(players))[:, None, None]).sum(axis=2)):
        fewest = sides_held == sides_held[sides_held > 0].min()
        wins[agent] = shares[agent, fewest].mean(axis=0)
    return WinPart(
        wins=wins, undecided=int(np.count_nonzero(winner == NOBODY)), deals_played=int(ended["public"]["deals_played"].sum()),
        illegal=tuple(player.illegal for player in players), kept=kept,
    )  # fmt: skip


def _ready(
    players: Sequence[Player], rules: Rules, stream: tuple[int, int, int], deals: int | None, size: int | None
) -> tuple[NDArray[np.int64], np.ndarray]:
    """Players reset for a part, (seed, kind of play, number); who each side is, (plays, deals, sides), and the part's cards."""
    whole = part_size([player.policy for player in players], rules.sides) if size is None else size
    dealt = fresh_matches(rules, stream[0], stream[2] * whole, whole if deals is None else deals)
    at_side = seatings(len(players), rules.sides)[:, orders(dealt, len(players), rules.sides)]
    for player in players:
        player.illegal = 0
        player.reset(rules, at_side[:, :, 0].size, stream)
    return at_side, dealt


def orders(dealt: np.ndarray, agents: int, sides: int) -> NDArray[np.int64]:
    """In which order the sides of a seating sit, for each of some fresh deals (n, sides): a random one that follows from the deal's seed
    where it matters, with three agents and four sides or more. So nobody sits beside one agent more often than beside another, and
    copies of an agent are worth the same, which no small set of seatings alone sees to."""
    if agents == 2 or sides <= 3:  # one against the rest, or all orders
        return np.tile(np.arange(sides), (len(dealt), 1))
    draws = [np.random.default_rng(int(seed)).permutation(sides) for seed in dealt["hidden"]["seed"]]
    return np.array(draws, np.int64)


def fresh_matches(rules: Rules, seed: int, first: int, count: int) -> np.ndarray:
    """`count` matches of a seed from number `first` on, just dealt: the same as in `Batch(rules, size, seed)` of any size."""
    dealt = np.zeros(count, MATCH)
    dealt["public"]["rules"] = rules.packed[0]
    for i in range(count):
        single.start(dealt, i, match_seed(seed, first + i), True)
    return dealt


def _play_to_the_end(
    players: Sequence[Player], rules: Rules, matches: np.ndarray, at_side: NDArray[np.int64],
    kept: list[tuple[np.ndarray, NDArray[np.int64]]] | None,
) -> np.ndarray:  # fmt: skip
    """Deal after deal until every match is won, or cut off. To `kept` are added the deals of each round, and in which matches."""
    going_on = np.arange(len(matches))
    while len(going_on):
        matches[going_on] = play_deals(players, rules, matches[going_on], at_side[going_on])
        if kept is not None:
            kept.append((matches[going_on], going_on))
        public = matches["public"]
        going_on = going_on[(public["over"][going_on] == 0) & (public["deals_played"][going_on] < MAX_DEALS)]
        for i in going_on:
            single.deal_next(matches, i)
    return matches


def _by_agent(of_side: NDArray[Any], at_side: NDArray[np.int64], agents: int) -> NDArray[np.float64]:
    """What each agent's sides have on average, (agents, plays, deals), from (plays, deals, sides); nan where it does not play."""
    own = at_side == np.arange(agents)[:, None, None, None]
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(own, of_side, 0).sum(axis=3) / own.sum(axis=3)
    return means

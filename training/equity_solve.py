"""The probability to win a match from any score: by dynamic programming, or, with many sides, as a race of independent sides."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.engine.state import NOBODY
from training.equity_outcomes import Outcomes

Values = NDArray[np.float64]
BUDGET: Final = 8e7  # additions a sweep, of which there are some dozens: a fifth of a second
DEPTHS: Final = (3, 2, 1)  # how far below nothing scores are told apart, in set-backs of the highest bid: the most that fits the budget
TOLERANCE: Final = 1e-6  # of a sweep's largest change
MOST_SWEEPS: Final = 2000
TINY: Final = 1e-12
LEFT: Final = 1e-3  # a race is followed until it is over but for this probability
MOST_DEALS: Final = 200  # but for so many deals at most


def winners(rules: Rules, scores: NDArray[np.integer], pitcher: NDArray[np.integer], made: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The side that has won after a deal, −1 where the match goes on: (n,).

    From the scores (n, sides), the pitcher's side and whether it made its bid (n,). The same as `engine.points.match_winner`.
    """
    of_pitcher = scores[np.arange(len(scores)), pitcher]
    won = np.full(len(scores), NOBODY, np.int64)
    if rules.win in ("any", "highest"):
        best = scores.max(axis=1)
        alone = (scores == best[:, None]).sum(axis=1) == 1
        won = np.where((best >= rules.target) & alone, scores.argmax(axis=1), won)
    if rules.win != "highest":
        counts = made if rules.win == "made_bid" else np.ones(len(scores), np.bool_)
        won = np.where((of_pitcher >= rules.target) & counts, pitcher, won)
    return won


def after_deal(rules: Rules, score: NDArray[np.int64], change: NDArray[np.int64] | int, pitched: bool) -> NDArray[np.int64]:
    """A side's score after a deal, by the rule for `overshoot`."""
    if rules.overshoot == "capped" and not pitched:
        change = np.clip(change, 0, np.maximum(rules.target - score, 0))
    return score + change


def score_range(rules: Rules, depth: int) -> tuple[int, int]:
    """The least and the most score that are told apart.

    From target + highest bid on a side stays at the target through any set-back, so that more points matter only in ties above it.
    """
    return -depth * rules.max_bid, rules.target + rules.max_bid


def depth_that_fits(rules: Rules, outcomes: Outcomes) -> int:
    """The number of DEPTHS that the budget allows; 0 when dynamic programming is too dear."""
    ways = sum(1 for _ in outcomes.placements())
    for depth in DEPTHS:
        low, high = score_range(rules, depth)
        if float(high - low + 1) ** rules.sides * ways <= BUDGET:
            return depth
    return 0


def solve_exactly(rules: Rules, outcomes: Outcomes, low: int, high: int) -> Values:
    """The probability that side 0 wins. The first axis is the side that deals, 0 or 1, if the outcomes tell, else it has length 1; then
    comes an axis a side, of its score from `low` to `high`, symmetric in all of these but side 0's if there are more than two.

    Value iteration: a sweep has the value of every state from those of the states a deal later, dealt by the other side. Scores beyond the
    range count as its ends. Matches that never end are shared evenly.
    """
    sides, size = rules.sides, high - low + 1
    down, up = max(0, -int(outcomes.pitcher.min())), max(0, int(outcomes.pitcher.max()), int(outcomes.others.max()))
    wide = np.arange(low - down, high + up + 1)
    every = np.stack(np.meshgrid(*[wide] * sides, indexing="ij"), axis=-1).reshape(-1, sides)
    ended = {}
    for pitcher in (0, 1):
        for made in (True, False):
            won = winners(rules, every, np.full(len(every), pitcher), np.full(len(every), made)).reshape((len(wide),) * sides)
            ended[pitcher, made] = (won != NOBODY, (won == 0).astype(np.float64))
    grid = np.arange(low, high + 1)
    dealers = (None,) if outcomes.dealers is None else (0, 1)
    steps: dict[int | None, list[Any]] = {dealer: [] for dealer in dealers}
    for dealer in dealers:
        for pitcher, change, p in outcomes.placements(dealer):
            to = [after_deal(rules, grid, c, k == pitcher) - wide[0] for k, c in enumerate(change)]
            straight = rules.overshoot == "counts"
            at = tuple(slice(int(t[0]), int(t[0]) + size) for t in to) if straight else np.ix_(*to)
            steps[dealer].append((pitcher, change[pitcher] > 0, at, p))
    passes_on = rules.thrown_in == "next_dealer" and len(dealers) == 2
    dealt_on = outcomes.thrown_in / outcomes.deals if passes_on else 0.0  # thrown in, and the other side deals
    values = np.full((len(dealers), *(size,) * sides), 1 / sides)
    sums, term = {pitcher: np.zeros_like(values[0]) for pitcher in (0, 1)}, np.zeros_like(values[0])
    for _ in range(MOST_SWEEPS):
        new = np.zeros_like(values)
        for d, dealer in enumerate(dealers):
            next_values = values[(d + 1) % len(dealers)]
            going_on = np.pad(next_values, [(down, up)] * sides, mode="edge")
            later = {key: np.where(over, own, going_on) for key, (over, own) in ended.items()}
            for pitcher in (0, 1):
                sums[pitcher][:] = 0
            for pitcher, made, at, p in steps[dealer]:
                sums[pitcher] += np.multiply(later[pitcher, made][at], p, out=term)
            scored = sums[0] + sum(np.swapaxes(sums[1], 1, k) for k in range(1, sides))
            new[d] = (1 - dealt_on) * scored + dealt_on * next_values
        change_of = float(np.abs(new - values).max())
        values = new
        if change_of <= TOLERANCE:
            break
    return values


def race_moves(rules: Rules, outcomes: Outcomes, low: int, high: int) -> Values:
    """How one side moves in a deal that does not win it the match: (2, scores, scores), as pitcher and else. What lacks to 1 is a win."""
    grid = np.arange(low, high + 1)
    moves = np.zeros((2, len(grid), len(grid)))
    ways = [(0, outcomes.pitcher, outcomes.weight)]
    ways += [(1, column, outcomes.weight / (rules.sides - 1)) for column in outcomes.others.T]
    for role, changes, weights in ways:
        for change, weight in zip(changes.tolist(), weights.tolist(), strict=True):
            after = after_deal(rules, grid, change, role == 0)
            can_win = rules.win in ("any", "highest") or (role == 0 and (change > 0 or rules.win == "pitcher"))
            on = np.flatnonzero((after < rules.target) | (not can_win))
            np.add.at(moves[role], (on, np.clip(after[on], low, high) - low), weight)
    return moves


def race(rules: Rules, moves: Values, at: NDArray[np.int64]) -> Values:
    """Who wins, (n, sides), when the score of every side moves by itself (`race_moves`) from its place `at` (n, sides).

    A mean-field approximation: deal by deal each side has a distribution of its score, given that nobody has won yet, and these are
    treated as independent. That just one side pitches in a deal is kept, and so is that whoever has not been stopped by a likely winner has
    pitched more often. A pitcher's side that reaches the target is taken to win before others, which share by their chances.
    """
    sides, size = rules.sides, moves.shape[1]
    places = np.eye(size, dtype=np.float32)[at]
    moves = moves.astype(np.float32)
    stay, both = moves.sum(axis=2).T.clip(0, 1), np.concatenate(list(moves))
    result = np.empty(at.shape)
    rows, alive, won = np.arange(len(at)), np.ones((len(at), 1), np.float32), np.zeros(at.shape)
    alone = rules.win in ("pitcher", "made_bid")
    for _ in range(MOST_DEALS):
        stays = np.minimum(places.reshape(-1, size) @ stay, 1)  # the match is not won by the side: when it pitches, when not
        pitches, waits = stays.reshape(-1, sides, 2).transpose(2, 0, 1)
        won += alive / sides * (1 - pitches)
        nobody = pitches.copy()  # nor by another: by the side that pitches
        if not alone:
            for side in range(sides):
                others = np.delete(np.arange(sides), side)
                chance = 1 - waits[:, others]
                nobody[:, side] *= waits[:, others].prod(axis=1)
                ends = (pitches[:, side] - nobody[:, side]) / np.maximum(chance.sum(axis=1), TINY)
                won[:, others] += alive / sides * ends[:, None] * chance
        total = np.maximum(nobody.sum(axis=1, keepdims=True), TINY)
        alive = alive * total / sides
        result[rows] = won
        keep = np.flatnonzero(alive[:, 0] > LEFT)
        if not len(keep):
            break
        weights = np.stack([nobody / np.maximum(pitches, TINY), (total - nobody) / np.maximum(waits, TINY)], axis=2) / total[..., None]
        weighed = places[keep, :, None] * weights[keep, :, :, None]
        places = (weighed.reshape(-1, 2 * size) @ both).reshape(-1, sides, size)
        rows, alive, won = rows[keep], alive[keep], won[keep]
    return np.where(result.sum(axis=1, keepdims=True) > 0, result, 1.0)

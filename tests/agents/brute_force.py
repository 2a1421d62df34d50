"""The value of a deal with open hands by trying everything, with the engine's own `legal`, `apply` and scoring: what the solver is checked
against."""

import numpy as np

from pitchenv.actions import PASS
from pitchenv.engine.bits import GOLDEN, below, count, lowest, mix, nth, stream
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import apply, legal, new_match
from pitchenv.engine.seats import side_of
from pitchenv.engine.state import ENDED, MATCH, PLAY

MOST_DEEP = 64


@kernel
def best_value(stack, depth, match_points):
    """The margin of the pitcher's side times (sides − 1), its side maximising and the others minimising."""
    m = stack[depth]
    p = m.public
    r = p.rules
    pitchers = side_of(p.pitcher, r.sides)
    if p.phase != PLAY:
        value = 0
        for side in range(r.sides):
            value += p.change[side] * (r.sides - 1) if side == pitchers else -p.change[side]
        if p.over and r.sides == 2:
            value += match_points if p.winner == pitchers else -match_points
        return value
    maximises = side_of(p.turn, r.sides) == pitchers
    cards, _ = legal(m)
    value = -10_000 if maximises else 10_000
    while cards:
        stack[depth + 1] = m
        apply(stack[depth + 1], lowest(cards))
        cards &= cards - 1
        after = best_value(stack, depth + 1, match_points)
        value = max(value, after) if maximises else min(value, after)
    return value


@kernel
def best_values(matches, match_points, stack, values):
    """`best_value` of every match."""
    for i in range(len(matches)):
        stack[0] = matches[i]
        values[i] = best_value(stack, np.int64(0), match_points)


def brute_force(matches: np.ndarray, match_points: int = 0) -> np.ndarray:
    """The margins (n,) of the pitcher's side."""
    values = np.empty(len(matches), np.int64)
    best_values(matches, match_points, np.zeros(MOST_DEEP, MATCH), values)
    return values / (matches["public"]["rules"]["sides"] - 1)


@kernel
def best_margins(stack, depth, margins):
    """Write to row `depth` of `margins` those of all sides where each makes its own as large as it can; ties for the lower sides."""
    m = stack[depth]
    p = m.public
    sides = p.rules.sides
    if p.phase != PLAY:
        for side in range(sides):
            margins[depth, side] = p.change[side]
            for other in range(sides):
                if other != side:
                    margins[depth, side] -= p.change[other] / (sides - 1)
        return
    mover = side_of(p.turn, sides)
    cards, _ = legal(m)
    first = True
    while cards:
        stack[depth + 1] = m
        apply(stack[depth + 1], lowest(cards))
        cards &= cards - 1
        best_margins(stack, depth + 1, margins)
        gain = margins[depth + 1, mover] - margins[depth, mover]
        if not first and abs(gain) < 1e-9:
            for side in range(sides):
                gain = margins[depth + 1, side] - margins[depth, side]
                if abs(gain) > 1e-9:
                    break
        if first or gain > 1e-9:
            for side in range(sides):
                margins[depth, side] = margins[depth + 1, side]
        first = False


@kernel
def all_best_margins(matches, stack, margins, values):
    """`best_margins` of every match."""
    for i in range(len(matches)):
        stack[0] = matches[i]
        best_margins(stack, np.int64(0), margins)
        for side in range(matches[i].public.rules.sides):
            values[i, side] = margins[0, side]


def brute_force_maxn(matches: np.ndarray) -> np.ndarray:
    """The margins (n, 8) by side."""
    values = np.zeros((len(matches), 8))
    all_best_margins(matches, np.zeros(MOST_DEEP, MATCH), np.zeros((MOST_DEEP, 8)), values)
    return values


@kernel
def ways_to_go_on(m):
    """At most so many ways are there to play the rest of the deal."""
    ways = 1
    for seat in range(m.public.rules.players):
        for cards in range(count(m.hidden.hands[seat])):
            ways *= cards + 1
            if ways > 10_000_000:
                return ways
    return ways


@kernel
def play_to_ending(m, seed, most_ways):
    """A fresh match by random play up to a moment in the tricks from which there are at most `most_ways`; whether there is one."""
    new_match(m, stream(seed, 0), True)
    x = stream(seed, 1)
    while m.public.phase != ENDED:
        if m.public.phase == PLAY and ways_to_go_on(m) <= most_ways:
            return True
        cards, calls = legal(m)
        x += GOLDEN
        k = below(mix(x), count(cards) + count(calls))
        apply(m, nth(cards, k) if k < count(cards) else PASS + nth(calls, k - count(cards)))
    return False


@kernel
def play_to_endings(matches, first_seed, most_ways, found):
    """`play_to_ending` in every match; `most_ways` (n,)."""
    for i in range(len(matches)):
        found[i] = play_to_ending(matches[i], np.uint64(first_seed + i), most_ways[i])


def endings(rules, n: int, seed: int, most_ways: np.ndarray) -> np.ndarray:
    """Up to n matches on these rules at random moments of the tricks; `most_ways` (n,) bounds what brute force has to try in each."""
    matches, found = np.zeros(n, MATCH), np.zeros(n, np.bool_)
    matches["public"]["rules"] = rules.packed[0]
    play_to_endings(matches, seed, most_ways, found)
    return matches[found]

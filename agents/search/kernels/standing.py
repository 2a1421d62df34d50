"""How a deal stands for the solver: its worth at the end, the bounds of that before, and a hash of all that matters."""

import numpy as np

from agents.search.kernels.position import LANES, MOST_PIPS, MOST_POINTS, lane_mask
from pitchenv.engine.bits import GOLDEN, highest, lowest, mix
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import NOBODY, SEATS


@kernel
def effective_others(s):
    """What the other sides' points so far take off the value."""
    total = 0
    for side in range(s.sides):
        if side != s.pitchers:
            total += min(s.points[side], s.room[side]) if s.capped and s.sides > 2 else s.points[side]
    return total


@kernel
def best_other_pips(s):
    """The most pips of a side other than the pitcher's."""
    most = 0
    for side in range(s.sides):
        if side != s.pitchers and s.pips[side] > most:
            most = s.pips[side]
    return most


@kernel
def settled_pips(s):
    """Whether the cards that are left can't change who has Game, or it does not go by pips."""
    if not s.game_at_stake:
        return True
    top = -1
    second = -1
    for side in range(s.sides):
        if s.pips[side] > top:
            second = top
            top = s.pips[side]
        else:
            second = max(second, s.pips[side])
    return top - second > s.pips_left


@kernel
def final_value(s):
    """The value of a deal whose cards are all played."""
    own = s.points[s.pitchers]
    game = NOBODY
    if s.game_at_stake:
        most = -1
        for side in range(s.sides):
            if s.pips[side] > most:
                most = s.pips[side]
                game = side
            elif s.pips[side] == most:
                game = NOBODY
    if game == s.pitchers:
        return s.worth[own + 1, effective_others(s)]
    if game == NOBODY:
        return s.worth[own, effective_others(s)]
    s.points[game] += 1
    value = s.worth[own, effective_others(s)]
    s.points[game] -= 1
    return value


@kernel
def bounds(s):
    """(least, most) the pitcher's side can come to at the start of a trick: all that is open to the one or to the other.

    Not open is what the highest trumps score that one of the two holds without a gap: nobody can take those from it.
    """
    own = s.points[s.pitchers]
    others = effective_others(s)
    sure_points = 0
    sure_pips = 0
    trumps = s.in_hand & 0xFFFF
    pitchers_hold = False
    if trumps:
        pitchers_hold = s.hands_of_pitchers >> highest(trumps) & 1 == 1
        theirs_from = highest(trumps & ~s.hands_of_pitchers if pitchers_hold else trumps & s.hands_of_pitchers)
        sure = trumps >> (theirs_from + 1) << (theirs_from + 1)
        while sure:
            bit = lowest(sure)
            sure &= sure - 1
            sure_points += s.card_points[bit]
            sure_pips += s.card_pips[bit]
    open_points = s.points_left - sure_points
    others_at_most = others
    if pitchers_hold:
        own += sure_points
    else:
        others_at_most += sure_points
        if s.sides == 2:  # else a side's cap may swallow them
            others += sure_points
    if not s.game_at_stake:
        return s.worth[own, others_at_most + open_points], s.worth[own + open_points, others]
    mine = s.pips[s.pitchers]
    theirs = best_other_pips(s)
    open_pips = s.pips_left - sure_pips
    if pitchers_hold:
        mine += sure_pips
    elif s.sides == 2:
        theirs += sure_pips
    most_own = mine + open_pips > theirs
    most_others = mine + open_pips < theirs and (s.sides == 2 or (not s.capped and settled_pips(s)))
    most = s.worth[own + open_points + most_own, others + most_others]
    if not pitchers_hold and s.sides > 2:
        theirs += sure_pips  # to any of them
    least_own = mine > theirs + open_pips
    least_others = mine < theirs + open_pips
    return s.worth[own + least_own, others_at_most + open_points + least_others], most


@kernel
def fingerprint(s, leader):
    """A hash of all that the value depends on at the start of a trick: for each suit who holds its cards, in order, and what those are
    worth (the suits but trump in any order), who leads, and how points and pips stand."""
    left = s.pips_left
    codes = s.code
    standing = leader + SEATS * s.points[s.pitchers]
    if s.game_at_stake and s.sides == 2:
        ahead = s.pips[s.pitchers] - s.pips[1 - s.pitchers]
        if ahead > left or ahead < -left:
            ahead = left + 1 if ahead > 0 else -left - 1
            codes = s.code_without_pips
        standing += SEATS * (MOST_POINTS + 1) * (ahead + MOST_PIPS)
    h = s.generation ^ np.uint64(standing)
    if s.game_at_stake and s.sides > 2:
        top = max(s.pips[s.pitchers], best_other_pips(s))
        if settled_pips(s):
            codes = s.code_without_pips
            h = mix(h) + np.uint64(top == s.pips[s.pitchers])
        else:
            for side in range(s.sides):
                behind = top - s.pips[side]
                h = mix(h) + np.uint64(behind if behind <= left else MOST_PIPS)  # out of the running
    if s.capped and s.sides > 2:
        for side in range(s.sides):
            h = mix(h) + np.uint64(s.points[side])
    total = mix(h)
    for lane in range(LANES):
        rest = s.in_hand & lane_mask(lane)
        if rest == 0:
            continue
        f = np.uint64(1) if lane == 0 else np.uint64(2)
        while rest:
            f = f * GOLDEN + codes[lowest(rest)]
            rest &= rest - 1
        total += mix(f)
    return total

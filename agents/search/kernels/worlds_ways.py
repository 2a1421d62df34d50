"""How many ways there are to deal restricted hands, and one of them drawn with its share. Counts are doubles.

A stage deals to one group: some cards of each class to its hand, and for a keeper some trumps to what it has put away. The state before
it is what earlier groups took: `u` trumps put away, c1 … c3 cards of classes 1 … 3 in hands; class 0 follows, since their hands are full.
"""

import math

import numpy as np

from pitchenv.engine.bits import count
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import NOBODY, SEATS

CLASSES = 4
REST = CLASSES  # the class of cards that no group may hold
MOST_TRUMPS = 16  # thirteen, the off-jack and two jokers
TABLE = (SEATS - 2) * (MOST_TRUMPS + 1) * 14**3  # stages 1 … 6 of seven other seats; other classes than trump have 13 cards, or are fewer
CHOOSE = np.array([[math.comb(n, k) for k in range(55)] for n in range(55)], np.float64)
FACTORIAL = np.array([math.factorial(n) for n in range(55)], np.float64)
NO_LIMIT = np.inf


@kernel
def count_ways(s):
    """Fill the table of a PLAN from the last stage to the first; the ways in all."""
    for c in range(CLASSES):
        s.most[0, c] = 0
        for g in range(s.groups - 1):
            more = s.group_hold[g] if s.group_may[g] >> c & 1 else 0
            s.most[g + 1, c] = min(s.size[c], s.most[g, c] + more)
    for g in range(s.groups - 1, 0, -1):
        before = 0
        away = 0
        for earlier in range(g):
            before += s.group_hold[earlier]
            if s.keeper[earlier] != NOBODY:
                away += s.put[s.keeper[earlier]]
        for u in range(min(away, s.size[0]) + 1 if s.keeping else 1):
            for c1 in range(s.most[g, 1] + 1):
                for c2 in range(s.most[g, 2] + 1):
                    for c3 in range(s.most[g, 3] + 1):
                        c0 = before - c1 - c2 - c3
                        if c0 >= 0 and c0 + u <= s.size[0]:
                            s.table[place(s, g, u, c1, c2, c3)] = stage(s, g, before, u, c1, c2, c3, NO_LIMIT)
    return stage(s, 0, 0, 0, 0, 0, 0, NO_LIMIT)


@kernel
def place(s, g, u, c1, c2, c3):
    """Where in the table the ways from stage `g` (1 …) on are kept. Room is made for what the last stage can meet."""
    last = s.groups - 1
    room1, room2, room3 = s.most[last, 1] + 1, s.most[last, 2] + 1, s.most[last, 3] + 1
    room_u = min(s.away, s.size[0]) + 1
    return ((((g - 1) * room_u + u) * room1 + c1) * room2 + c2) * room3 + c3


@kernel
def ways_from(s, g, u, c1, c2, c3):
    """The ways from stage `g` on: from the table, or after the last stage those of the other cards that keepers have put away."""
    if g < s.groups:
        return s.table[place(s, g, u, c1, c2, c3)] if g else s.total
    if not s.keeping:
        return 1.0
    others = s.size[1] + s.size[2] + s.size[3] + s.size[REST] - c1 - c2 - c3
    left = others - (s.away - u)
    return FACTORIAL[others] / FACTORIAL[left] if left >= 0 else 0.0


@kernel
def stage(s, g, before, u, c1, c2, c3, target):
    """Go through what group `g` may get, adding up ways, until they exceed `target`; `took` and `took_away` are the last one met.

    `before` is the number of cards in the hands of earlier groups. Returns the sum.
    """
    hold = s.group_hold[g]
    may = s.group_may[g]
    left0 = s.size[0] - u - (before - c1 - c2 - c3)
    left1, left2, left3 = s.size[1] - c1, s.size[2] - c2, s.size[3] - c3
    most0 = min(hold, left0) if may & 1 else 0
    most1 = min(hold, left1) if may & 2 else 0
    most2 = min(hold, left2) if may & 4 else 0
    most3 = min(hold, left3) if may & 8 else 0
    keeper = s.keeper[g]
    put = s.put[keeper] if keeper != NOBODY else 0
    total = 0.0
    for k1 in range(most1 + 1):
        for k2 in range(min(most2, hold - k1) + 1):
            rest = hold - k1 - k2
            for k3 in range(max(0, rest - most0), min(most3, rest) + 1):
                k0 = rest - k3
                hands = CHOOSE[left0, k0] * CHOOSE[left1, k1] * CHOOSE[left2, k2] * CHOOSE[left3, k3]
                for a in range(min(put, left0 - k0) + 1):
                    ways = hands
                    if keeper != NOBODY:
                        ways *= CHOOSE[left0 - k0, a] * s.splits[g, a, k0] / FACTORIAL[put - a]
                    if ways > 0.0:
                        ways *= ways_from(s, g + 1, u + a, c1 + k1, c2 + k2, c3 + k3)
                    if ways > 0.0:
                        total += ways
                        s.took[0] = k0
                        s.took[1] = k1
                        s.took[2] = k2
                        s.took[3] = k3
                        s.took_away = a
                        if total > target:
                            return total
    return total


@kernel
def count_splits(p, s, g):
    """For a keeper, by trumps put away and trumps in hand: in how many ways it can have come to them."""
    seat = s.keeper[g]
    for a in range(min(s.put[seat], MOST_TRUMPS) + 1):
        for k in range(min(s.hold[seat], MOST_TRUMPS) + 1):
            s.splits[g, a, k] = split(p, s, seat, a, k, NO_LIMIT)


@kernel
def split(p, s, seat, a, k, target):
    """Go through how many of `a` trumps put away went in the redraw, and how many of the others were drawn after it, adding up ways,
    until they exceed `target`; `took[0]` and `took[1]` are the last numbers met. The seat holds `k` trumps. Returns the sum.

    A trump may be put away only while more than `tricks` trumps are held: whoever has put some away in a phase still holds `tricks`
    after it. The order within a phase makes no difference. (With pitched trump this says that the suit of the first lead was open.)
    """
    redrawn = np.int64(p.redrawn[seat])
    discarded = np.int64(p.discarded[seat])
    tricks = p.rules.tricks
    drawn = s.drawn[seat]
    final = k + count(p.played[seat] & s.trumps)
    kept = discarded + s.hold[seat] + count(p.played[seat])  # the hand after the redraw
    total = 0.0
    for early in range(max(0, a - discarded), min(a, redrawn) + 1):
        if a - early > 0 and final < tricks:
            continue
        trumps = final + a - early
        ways = CHOOSE[a, early] * CHOOSE[redrawn + discarded - a, redrawn - early] if redrawn + discarded >= a else 0.0
        for late in range(max(0, drawn - (kept - trumps)), min(drawn, trumps) + 1):
            if early > 0 and trumps - late < tricks:
                continue
            more = ways * CHOOSE[trumps, late] * CHOOSE[kept - trumps, drawn - late]
            if more > 0.0:
                total += more
                s.took[0] = early
                s.took[1] = late
                if total > target:
                    return total
    return total

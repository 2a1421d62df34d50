"""The pitcher's discards while trump is yet to be pitched (`keep_trump`): a suit must have stayed open.

Counted suit by suit: how many cards of it the pitcher has put away and holds, and whether a suit is open so far.
"""

from agents.search.kernels.worlds_ways import CHOOSE, NO_LIMIT
from pitchenv.cards import SUITS
from pitchenv.engine.kernel import kernel


@kernel
def count_open(s, put, hold, tricks):
    """Fill the table of a PLAN for a pitcher that has put away `put` cards and holds `hold`; the ways in all."""
    for suit in range(SUITS, -1, -1):
        for away in range(put + 1):
            for held in range(hold + 1):
                for opened in range(2):
                    if suit == SUITS:
                        ways = 1.0 if away == 0 and held == 0 and opened else 0.0
                    else:
                        ways = stage_open(s, suit, put, hold, away, held, opened, tricks, NO_LIMIT)
                    s.table[place_open(put, hold, suit, away, held, opened)] = ways
    return s.table[place_open(put, hold, 0, put, hold, 0)]


@kernel
def place_open(put, hold, suit, away, held, opened):
    """Where the ways from a suit on are kept, with so many cards yet to be put away and held."""
    return ((suit * (put + 1) + away) * (hold + 1) + held) * 2 + opened


@kernel
def stage_open(s, suit, put, hold, away, held, opened, tricks, target):
    """Go through how many cards of a suit are put away (`took[0]`) and held (`took[1]`), adding up ways, until they exceed `target`."""
    size = s.size[suit]
    total = 0.0
    for a in range(min(away, size) + 1):
        for k in range(min(held, size - a) + 1):
            now = 1 if opened or (k > 0 and (a == 0 or k >= tricks)) else 0
            ways = CHOOSE[size, a] * CHOOSE[size - a, k] * s.table[place_open(put, hold, suit + 1, away - a, held - k, now)]
            if ways > 0.0:
                total += ways
                s.took[0] = a
                s.took[1] = k
                if total > target:
                    return total
    return total

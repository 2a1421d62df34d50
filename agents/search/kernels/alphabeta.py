"""Alpha-beta over the tricks of a deal with open hands.

What makes it fast, each switched by a bit of `switches` so that it can be tested against the rest: bounds at the start of a trick (points
that are still open, the set-back threshold, whether Game is decided), a table of positions by what still matters in them, and cards of one
hand that are as good as each other (Haglund's and Hein's DDS does all three for bridge). Values are those of the pitcher's side.
"""

from typing import Final

import numpy as np

from agents.search.kernels.position import LANE, LANES, lane_mask, lane_of
from agents.search.kernels.standing import bounds, final_value, fingerprint, settled_pips
from pitchenv.engine.bits import count, highest, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import next_seat
from pitchenv.engine.tricks import SUIT, SUIT_OR_TRUMP

BOUNDS, TABLE, EQUIVALENCE = 1, 2, 4  # `switches`
ALL_SWITCHES: Final = BOUNDS | TABLE | EQUIVALENCE

ENTRY: Final = np.dtype([("key", np.uint64), ("low", np.int16), ("high", np.int16), ("move", np.int8)], align=True)
TABLE_SIZE: Final = 1 << 16  # entries; a power of 2
INFINITE: Final = np.int64(10_000)
# `search` calls itself, and is called, with 64-bit numbers alone: with a second signature, such as one for a constant's own type, Numba
# would load it from its cache with a call to nowhere (numba issue 6061). A test counts the signatures.
ZERO: Final = np.int64(0)
MOST_MOVES: Final = 16 * 4
NO_MOVE: Final = -1


@kernel
def legal_bits(s, seat, left, led):
    """The cards a seat may play, as bits; see `engine.tricks.legal_cards`."""
    hand = s.hands[seat]
    if left == s.players:
        return hand
    in_suit = hand & lane_mask(led)
    trumps = hand & 0xFFFF
    if s.follow == SUIT_OR_TRUMP:
        follows = in_suit | trumps
    elif s.follow == SUIT:
        follows = in_suit
    else:
        follows = in_suit | trumps if in_suit else 0
    return follows if follows else hand


@kernel
def distinct(s, moves, others, pips_matter):
    """Of cards that are as good as each other the highest alone: no card of `others` stands between them, and they are worth the same."""
    kept = moves
    for lane in range(LANES):
        rest = moves & lane_mask(lane)
        if rest & (rest - 1) == 0:
            continue
        above = highest(rest)
        rest ^= 1 << above
        while rest:
            bit = highest(rest)
            rest ^= 1 << bit
            between = ((1 << above) - 1) & ~((2 << bit) - 1)
            same = s.card_points[above] == s.card_points[bit] and (not pips_matter or s.card_pips[above] == s.card_pips[bit])
            if same and others & between == 0:
                kept ^= 1 << bit
            above = bit
    return kept


@kernel
def beats(bit, best):
    """Whether a card takes the trick from the best one so far."""
    return bit > best if bit >> 4 == best >> 4 else bit < LANE


@kernel
def promise(s, bit, seat, left, best, best_seat, trick_worth):
    """How early a move is tried: what is likely to be good for the seat's own side comes first."""
    lane = lane_of(bit)
    rank = bit & 15
    value = 16 * s.card_points[bit] + s.card_pips[bit]
    trump = lane == 0
    if left == s.players:
        top = (s.in_hand >> bit) & (0xFFFF >> rank) == 1
        if top:
            return 60 + value + 20 * trump
        return (30 if trump else 10) + rank - value
    if beats(bit, best):
        if left == 1:
            return 100 + trick_worth + value - rank - 16 * trump
        above = (s.in_hand >> bit) & (0xFFFF >> rank) & ~1
        return 40 + trick_worth + (value if above == 0 else -value) + rank - 16 * trump
    if s.maximises[seat] == s.maximises[best_seat]:
        return 30 + value - rank - 20 * trump
    return 20 - value - rank - 20 * trump


@kernel
def last_trick(s, leader):
    """The value when every seat holds one card: nothing is left to choose."""
    best = lowest(s.hands[leader])
    winner = leader
    points = s.card_points[best]
    pips = s.card_pips[best]
    seat = leader
    for _ in range(s.players - 1):
        seat = seat + 1 if seat + 1 < s.players else 0
        bit = lowest(s.hands[seat])
        points += s.card_points[bit]
        pips += s.card_pips[bit]
        if beats(bit, best):
            best = bit
            winner = seat
    side = s.side[winner]
    s.points[side] += points
    s.pips[side] += pips
    value = final_value(s)
    s.points[side] -= points
    s.pips[side] -= pips
    return value


@kernel
def search(s, table, order, switches, seat, left, led, best, best_seat, points, pips, alpha, beta):
    """The value of a position between `alpha` and `beta`; outside them a bound of it (fail-soft).

    `left` seats, `seat` first, have yet to play to this trick. It holds `points` and `pips`, was led in lane `led`, and is `best_seat`'s
    with card `best` so far. `order` (plies, MOST_MOVES) is room for moves.
    """
    s.nodes += 1
    key = np.uint64(0)
    slot = 0
    hint = NO_MOVE
    low = -INFINITE
    high = INFINITE
    start = left == s.players
    if start:
        if s.tricks_left == 0:
            return final_value(s)
        if switches & BOUNDS:
            low, high = bounds(s)
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
        if s.tricks_left == 1:
            return last_trick(s, seat)
        if switches & TABLE:
            key = fingerprint(s, seat)
            slot = np.int64(key & np.uint64(TABLE_SIZE - 1))
            if table[slot].key == key:
                low = max(low, table[slot].low)
                high = min(high, table[slot].high)
                if low >= beta or low == high:
                    return low
                if high <= alpha:
                    return high
                hint = table[slot].move
    window_low = max(alpha, low)
    window_high = min(beta, high)
    moves = legal_bits(s, seat, left, led)
    if switches & EQUIVALENCE and moves & (moves - 1):
        others = s.in_hand & ~s.hands[seat]
        if not start:
            others |= 1 << best
        moves = distinct(s, moves, others, not settled_pips(s))
    ply = count(s.in_hand)
    n = 0
    if moves & (moves - 1) == 0:
        order[ply, 0] = lowest(moves)
        n = 1
    else:
        trick_worth = 16 * points + pips
        killer = s.killer[ply]
        while moves:
            bit = lowest(moves)
            moves &= moves - 1
            score = promise(s, bit, seat, left, best, best_seat, trick_worth)
            if bit == hint:
                score += 2000
            elif bit == killer:
                score += 1000
            entry = score * 64 + bit
            at = n
            while at > 0 and order[ply, at - 1] < entry:
                order[ply, at] = order[ply, at - 1]
                at -= 1
            order[ply, at] = entry
            n += 1
    maximises = s.maximises[seat]
    value = -INFINITE if maximises else INFINITE
    choice = NO_MOVE
    a = window_low
    b = window_high
    for k in range(n):
        bit = order[ply, k] & 63
        card = 1 << bit
        s.hands[seat] ^= card
        s.in_hand ^= card
        takes = start or beats(bit, best)
        new_best = bit if takes else best
        new_seat = seat if takes else best_seat
        new_points = points + s.card_points[bit]
        new_pips = pips + s.card_pips[bit]
        if left > 1:
            after = search(
                s, table, order, switches, next_seat(seat, s.players), left - 1, lane_of(bit) if start else led,
                new_best, new_seat, new_points, new_pips, a, b,
            )  # fmt: skip
        else:
            side = s.side[new_seat]
            s.points[side] += new_points
            s.pips[side] += new_pips
            s.points_left -= new_points
            s.pips_left -= new_pips
            s.tricks_left -= 1
            after = search(s, table, order, switches, new_seat, s.players, ZERO, ZERO, ZERO, ZERO, ZERO, a, b)
            s.points[side] -= new_points
            s.pips[side] -= new_pips
            s.points_left += new_points
            s.pips_left += new_pips
            s.tricks_left += 1
        s.hands[seat] ^= card
        s.in_hand ^= card
        if maximises:
            if after > value:
                value = after
                choice = bit
            a = max(a, value)
        else:
            if after < value:
                value = after
                choice = bit
            b = min(b, value)
        if a >= b:
            s.killer[ply] = bit
            break
    # The bounds known before hold too.
    value = max(low, min(high, value))
    if start and switches & TABLE:
        e = table[slot]
        if e.key != key:
            e.key = key
            e.low = low if low > -INFINITE else -INFINITE
            e.high = high
        if value <= window_low:
            e.high = min(e.high, value)
        elif value >= window_high:
            e.low = max(e.low, value)
        else:
            e.low = value
            e.high = value
        e.move = choice
    return value

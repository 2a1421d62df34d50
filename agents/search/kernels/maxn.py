"""maxⁿ: every side makes its own margin as large as it can (Luckhardt and Irani, "An algorithmic solution of N-person games", 1986).

No bound prunes here, so this is for endings. Of lines that are equally good for the side to choose it takes the one that is best for the
sides in the order of their numbers, so that values do not depend on the order of search.
"""

from agents.search.kernels.alphabeta import ZERO, beats, distinct, legal_bits
from agents.search.kernels.objective import margin_of
from agents.search.kernels.position import lane_of, lay_out
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import apply, legal
from pitchenv.engine.seats import next_seat, side_of
from pitchenv.engine.state import ENDED, NOBODY, SEATS


@kernel
def write_margins(s, margins):
    """Write the margin of every side at the end of a deal to `margins` (8,)."""
    game = NOBODY
    most = -1
    for side in range(s.sides):
        if s.game_at_stake and s.pips[side] > most:
            most = s.pips[side]
            game = side
        elif s.game_at_stake and s.pips[side] == most:
            game = NOBODY
    total = 0.0
    for side in range(s.sides):
        change = s.points[side] + (side == game)
        if side == s.pitchers:
            change = change if change >= s.bid else -s.bid
        elif s.capped:
            change = min(change, s.room[side])
        margins[side] = change
        total += change
    for side in range(s.sides):
        margins[side] -= (total - margins[side]) / (s.sides - 1)


@kernel
def better(candidate, best, side, sides):
    """Whether margins are better than others for a side, and, where it does not care, for the sides in order."""
    if candidate[side] != best[side]:
        return candidate[side] > best[side]
    for other in range(sides):
        if candidate[other] != best[other]:
            return candidate[other] > best[other]
    return False


@kernel
def maxn(s, margins, seat, left, led, best, best_seat, points, pips):
    """Write the margins (8,) that a position comes to to the row of `margins` (plies, 8) that the cards in hand number. Arguments as those
    of `alphabeta.search`; as there, 64-bit numbers alone."""
    ply = count(s.in_hand)
    start = left == s.players
    if start and ply == 0:
        write_margins(s, margins[ply])
        return
    moves = legal_bits(s, seat, left, led)
    others = s.in_hand & ~s.hands[seat]
    if not start:
        others |= 1 << best
    moves = distinct(s, moves, others, True)
    first = True
    while moves:
        bit = lowest(moves)
        moves &= moves - 1
        card = 1 << bit
        s.hands[seat] ^= card
        s.in_hand ^= card
        takes = start or beats(bit, best)
        new_best = bit if takes else best
        new_seat = seat if takes else best_seat
        new_points = points + s.card_points[bit]
        new_pips = pips + s.card_pips[bit]
        if left > 1:
            new_led = lane_of(bit) if start else led
            maxn(s, margins, next_seat(seat, s.players), left - 1, new_led, new_best, new_seat, new_points, new_pips)
        else:
            side = s.side[new_seat]
            s.points[side] += new_points
            s.pips[side] += new_pips
            maxn(s, margins, new_seat, s.players, ZERO, ZERO, ZERO, ZERO, ZERO)
            s.points[side] -= new_points
            s.pips[side] -= new_pips
        s.hands[seat] ^= card
        s.in_hand ^= card
        if first or better(margins[ply - 1], margins[ply], s.side[seat], s.sides):
            for side in range(SEATS):
                margins[ply, side] = margins[ply - 1, side]
        first = False


@kernel
def margins_of(m, s, margins, out):
    """Write to `out` (8,) the margins a deal comes to whose trump is known, or that has ended."""
    if m.public.phase == ENDED:
        for side in range(m.public.rules.sides):
            out[side] = margin_of(m, side)
        return
    lay_out(m, m.public.trump, ZERO, s)
    maxn(s, margins, s.seat, s.left, s.led, s.best, s.best_seat, s.trick_points, s.trick_pips)
    ply = count(s.in_hand)
    for side in range(m.public.rules.sides):
        out[side] = margins[ply, side]


@kernel
def maxn_all(matches, scratch, margins, room, values):
    """Write to `values` (n, 8) the margins of deals in the tricks, the seat to act choosing among its legal cards; `room` is one MATCH,
    `margins` (plies + 1, 8), of which the last row is for the card tried."""
    trial = margins[len(margins) - 1]
    for i in range(len(matches)):
        m = matches[i]
        sides = m.public.rules.sides
        side = side_of(m.public.turn, sides)
        cards, _ = legal(m)
        first = True
        while cards:
            room[0] = m
            apply(room[0], lowest(cards))
            cards &= cards - 1
            margins_of(room[0], scratch[0], margins, trial)
            if first or better(trial, values[i], side, sides):
                for other in range(sides):
                    values[i, other] = trial[other]
            first = False

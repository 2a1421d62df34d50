"""Many deals solved one after the other: what the Python face calls."""

from agents.search.kernels.alphabeta import EQUIVALENCE, INFINITE, ZERO, beats, distinct, search
from agents.search.kernels.position import bits_of, lane_mask, lane_of, lay_out
from agents.search.kernels.standing import bounds, effective_others, settled_pips
from pitchenv.cards import SUITS
from pitchenv.engine.bits import GOLDEN, count, highest, mix
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import legal
from pitchenv.engine.seats import next_seat
from pitchenv.engine.state import NOBODY
from pitchenv.engine.suits import suit_cards


@kernel
def begin(m, trump, match_points, s):
    """A new deal: what the table holds of earlier ones is not found any more."""
    lay_out(m, trump, match_points, s)
    s.generation = mix(s.generation + GOLDEN)


@kernel
def value_here(s, table, order, switches, alpha, beta):
    """The value of the position itself."""
    return search(
        s, table, order, switches, s.seat, s.left, s.led, s.best, s.best_seat, s.trick_points, s.trick_pips, alpha, beta
    )  # fmt: skip


@kernel
def value_after(s, table, order, switches, bit, alpha, beta):
    """The value (or a bound, as `search`) after the seat to act plays the card of this bit."""
    seat = s.seat
    start = s.left == s.players
    card = 1 << bit
    s.hands[seat] ^= card
    s.in_hand ^= card
    takes = start or beats(bit, s.best)
    best = bit if takes else s.best
    best_seat = seat if takes else s.best_seat
    points = s.trick_points + s.card_points[bit]
    pips = s.trick_pips + s.card_pips[bit]
    if s.left > 1:
        led = lane_of(bit) if start else s.led
        value = search(s, table, order, switches, next_seat(seat, s.players), s.left - 1, led, best, best_seat, points, pips, alpha, beta)
    else:
        side = s.side[best_seat]
        s.points[side] += points
        s.pips[side] += pips
        s.points_left -= points
        s.pips_left -= pips
        s.tricks_left -= 1
        value = search(s, table, order, switches, best_seat, s.players, ZERO, ZERO, ZERO, ZERO, ZERO, alpha, beta)
        s.points[side] -= points
        s.pips[side] -= pips
        s.points_left += points
        s.pips_left += pips
        s.tricks_left += 1
    s.hands[seat] ^= card
    s.in_hand ^= card
    return value


@kernel
def first_guess(s):
    """What is likely: the pitcher's side makes what it bid, the others get the rest."""
    points = s.points_left + s.game_at_stake
    return s.worth[s.points[s.pitchers] + points, effective_others(s)]


@kernel
def exact_after(s, table, order, switches, bit, least, guess):
    """The value after a card if it is over `least`, else `least`. By tests of one threshold each, which cut off most, beginning at a guess:
    MTD(f) (Plaat, Schaeffer, Pijls and de Bruin, "Best-first fixed-depth minimax algorithms", 1996)."""
    low = -INFINITE
    high = INFINITE
    if s.left == s.players:  # they hold whatever is played, but count on a trick not having begun
        low, high = bounds(s)
    low = max(low, least)
    value = min(max(guess, low), high)
    while low < high:
        beta = value + 1 if value == low else value
        value = value_after(s, table, order, switches, bit, beta - 1, beta)
        if value < beta:
            high = value
        else:
            low = value
    return max(low, least)


@kernel
def distinct_here(s, moves, switches):
    """Of the cards the seat to act may play those that are not as good as a higher one."""
    if not switches & EQUIVALENCE:
        return moves
    others = s.in_hand & ~s.hands[s.seat]
    if s.left < s.players:
        others |= 1 << s.best
    return distinct(s, moves, others, not settled_pips(s))


@kernel
def solve_one(m, match_points, s, table, order, switches):
    """The value of a deal in the tricks; before the first lead, for which there are rules of its own, of the best lead of any suit."""
    p = m.public
    if p.tricks_done or p.winning != NOBODY:
        begin(m, p.trump, match_points, s)
        return value_here(s, table, order, switches, -INFINITE, INFINITE)
    cards, _ = legal(m)
    value = -INFINITE
    while cards:
        # With pitched trump the longest suit first: the others then have only to be shown to be no better.
        trump = p.trump
        leads = cards
        if trump == NOBODY:
            longest = 0
            for suit in range(SUITS):
                length = count(cards & suit_cards(0, NOBODY, suit))
                if length > longest:
                    longest = length
                    trump = suit
            leads &= suit_cards(0, NOBODY, trump)
        cards ^= leads
        begin(m, trump, match_points, s)
        moves = distinct_here(s, bits_of(s, leads), switches)
        while moves:
            bit = highest(moves)
            moves ^= 1 << bit
            value = exact_after(s, table, order, switches, bit, value, first_guess(s) if value == -INFINITE else value)
    return value


@kernel
def solve_cards(m, match_points, s, table, order, switches, values):
    """Write to `values` (54,) the value after each legal card, other entries are left as they are."""
    cards, _ = legal(m)
    for suit in range(SUITS):
        trump = m.public.trump
        group = cards
        if trump == NOBODY:
            trump = suit
            group &= suit_cards(0, NOBODY, suit)
        cards ^= group
        if group == 0:
            continue
        begin(m, trump, match_points, s)
        moves = bits_of(s, group)
        kept = distinct_here(s, moves, switches)
        guess = first_guess(s)
        rest = kept
        while rest:
            bit = highest(rest)
            rest ^= 1 << bit
            guess = exact_after(s, table, order, switches, bit, -INFINITE, guess)
            value = guess
            # It and the cards below it that are as good.
            while True:
                values[s.card[bit]] = value
                below = moves & lane_mask(lane_of(bit)) & ((1 << bit) - 1)
                if below == 0 or kept >> highest(below) & 1:
                    break
                bit = highest(below)


@kernel
def solve_all(matches, match_points, scratch, table, order, switches, values):
    """`solve_one` for every match; `scratch` is an array of one POSITION."""
    for i in range(len(matches)):
        values[i] = solve_one(matches[i], match_points, scratch[0], table, order, switches)


@kernel
def solve_cards_all(matches, match_points, scratch, table, order, switches, values):
    """`solve_cards` for every match."""
    for i in range(len(matches)):
        solve_cards(matches[i], match_points, scratch[0], table, order, switches, values[i])

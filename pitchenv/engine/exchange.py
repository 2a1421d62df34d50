"""Between the auction and the tricks: widow, redraw, discard."""

from pitchenv.cards import SUITS
from pitchenv.engine.bits import count
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import seat_at, slot_of
from pitchenv.engine.state import NOBODY
from pitchenv.engine.suits import suit_cards

PITCHED = 1  # `trump`


@kernel
def draw(m, seat, cards):
    """`seat` takes cards from the top of the stock, while it lasts."""
    p = m.public
    top = p.stock_size - p.stock_left
    taken = min(cards, p.stock_left)
    for i in range(top, top + taken):
        m.hidden.hands[seat] |= 1 << m.hidden.stock[i]
    p.stock_left -= taken
    p.held[seat] += taken


@kernel
def open_suits(m, hand, put_away):
    """The cards of the suits still open to a pitcher with this hand and these discards (`keep_trump` with pitched trump).

    A suit is open while the pitcher holds a card of it and either has discarded none of it or still holds `tricks` of it.
    """
    opened = 0
    for suit in range(SUITS):
        suit_mask = suit_cards(0, NOBODY, suit)
        held = hand & suit_mask
        if held and (put_away & suit_mask == 0 or count(held) >= m.public.rules.tricks):
            opened |= suit_mask
    return opened


@kernel
def legal_put_away(m):
    """The cards that the seat whose turn it is may put away."""
    p = m.public
    r = p.rules
    seat = p.turn
    hand = m.hidden.hands[seat]
    if not r.keep_trump:
        return hand
    if r.trump == PITCHED:
        allowed = 0
        left = hand
        while left:
            card = left & -left
            left ^= card
            if open_suits(m, hand ^ card, m.hidden.put_away[seat] | card):
                allowed |= card
        return allowed
    trumps = suit_cards(r.off_jack, p.trump, p.trump)
    return hand if count(hand & trumps) > r.tricks else hand & ~trumps


@kernel
def put_away(m, seat, card):
    """`seat` lays a card face down."""
    m.hidden.hands[seat] ^= 1 << card
    m.hidden.put_away[seat] |= 1 << card
    m.public.held[seat] -= 1


@kernel
def next_to_discard(m, seat):
    """The next seat, from `seat` up to the last one before the pitcher, with more than `tricks` cards; NOBODY when there is none."""
    p = m.public
    players = p.rules.players
    for i in range(slot_of(seat, p.pitcher, players), players):
        s = seat_at(i, p.pitcher, players)
        if p.held[s] > p.rules.tricks:
            return s
    return NOBODY

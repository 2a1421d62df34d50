"""The trick play: what may be led, what must be followed, who wins."""

from pitchenv.cards import HIGH_JOKER, LOW_JOKER
from pitchenv.engine.exchange import PITCHED, open_suits
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import next_seat, side_of
from pitchenv.engine.state import NOBODY
from pitchenv.engine.suits import strength, suit_cards, suit_of

SUIT_OR_TRUMP, SUIT, SUIT_MAY_TRUMP = 0, 1, 2  # `follow`
LEAD_TRUMP = 1  # `first_lead`
JOKERS = (1 << HIGH_JOKER) | (1 << LOW_JOKER)


@kernel
def legal_cards(m):
    """The cards that the seat whose turn it is may play."""
    p = m.public
    r = p.rules
    hand = m.hidden.hands[p.turn]
    if p.winning == NOBODY:
        return hand if p.tricks_done else first_lead(m, hand)
    led = suit_of(r.off_jack, p.trump, p.trick[p.leader])
    in_suit = hand & suit_cards(r.off_jack, p.trump, led)
    trumps = hand & suit_cards(r.off_jack, p.trump, p.trump)
    if r.follow == SUIT_OR_TRUMP:
        follows = in_suit | trumps
    elif r.follow == SUIT:
        follows = in_suit
    else:
        follows = in_suit | trumps if in_suit else 0
    return follows if follows else hand


@kernel
def first_lead(m, hand):
    """The cards the pitcher may lead to the first trick."""
    p = m.public
    r = p.rules
    if r.trump == PITCHED:  # the card makes its suit trump
        plain = hand & ~JOKERS
        return plain & open_suits(m, hand, m.hidden.put_away[p.turn]) if r.keep_trump else plain
    trumps = hand & suit_cards(r.off_jack, p.trump, p.trump)
    return trumps if r.first_lead == LEAD_TRUMP and trumps else hand


@kernel
def show_voids(m, seat, card):
    """Note what everybody learns about `seat`'s hand when it plays this card: the suits it has none of."""
    p = m.public
    r = p.rules
    suit = suit_of(r.off_jack, p.trump, card)
    if p.winning == NOBODY:
        if p.tricks_done == 0 and r.first_lead == LEAD_TRUMP and suit != p.trump:
            p.voids[seat] |= 1 << p.trump
        return
    led = suit_of(r.off_jack, p.trump, p.trick[p.leader])
    if suit == led or (suit == p.trump and r.follow != SUIT):
        return
    p.voids[seat] |= 1 << led
    if r.follow == SUIT_OR_TRUMP:
        p.voids[seat] |= 1 << p.trump


@kernel
def play(m, card):
    """The seat whose turn it is plays a card; a full trick goes to its winner, who leads to the next."""
    p = m.public
    r = p.rules
    seat = p.turn
    if p.trump == NOBODY:
        p.trump = suit_of(r.off_jack, NOBODY, card)
    show_voids(m, seat, card)
    m.hidden.hands[seat] ^= 1 << card
    p.played[seat] |= 1 << card
    p.held[seat] -= 1
    if p.winning == NOBODY:
        p.leader = seat
        p.winning = seat
    else:
        best = p.trick[p.winning]
        suit = suit_of(r.off_jack, p.trump, card)
        if suit == p.trump or suit == suit_of(r.off_jack, p.trump, best):
            if strength(r.off_jack, p.trump, card) > strength(r.off_jack, p.trump, best):
                p.winning = seat
    p.trick[seat] = card
    p.turn = next_seat(seat, r.players)
    if p.turn == p.leader:
        finish_trick(m)


@kernel
def finish_trick(m):
    """The trick on the table goes to its winner, who is next to lead."""
    p = m.public
    side = side_of(p.winning, p.rules.sides)
    for seat in range(p.rules.players):
        p.taken[side] |= 1 << p.trick[seat]
        p.trick[seat] = NOBODY
    p.turn = p.winning
    p.leader = p.winning
    p.winning = NOBODY
    p.tricks_done += 1

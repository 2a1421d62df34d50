"""A deal with open hands in the form the solver searches: cards as bits in the order of their strength, a lane of 16 bits a suit.

Lane 0 is trump (with off-jack and jokers at most 16 cards), lanes 1 to 3 are the other suits. A card of a lane beats the ones below it, and
lane 0 beats the rest: winning a trick is a comparison of two numbers. What a card is worth to who wins it (pips, points) stands in tables
by bit. High, and Low where its holder has it, are settled by the hands alone and given out at the start.
"""

from typing import Final

import numpy as np

from pitchenv.actions import ACTIONS
from pitchenv.cards import CARDS
from pitchenv.engine.bits import lowest, mix
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import CAPPED, LOW_TO_WINNER, PACK, TRUMP_TEN, WIN_ANY, WIN_HIGHEST, WIN_MADE_BID, WIN_PITCHER, pips
from pitchenv.engine.seats import next_seat, side_of
from pitchenv.engine.state import NOBODY, SEATS
from pitchenv.engine.suits import strength, suit_cards

LANE: Final = 16
LANES: Final = 4
BITS: Final = LANE * LANES
MOST_POINTS: Final = 10  # in a deal
MOST_PIPS: Final = 128  # more than a pack has
PLIES: Final = CARDS

POSITION: Final = np.dtype(
    [
        ("players", np.int64),
        ("sides", np.int64),
        ("follow", np.int64),
        ("pitchers", np.int64),  # the pitcher's side, which maximises; all others minimise
        ("maximises", np.int64, SEATS),
        ("side", np.int64, SEATS),  # by seat
        ("hands", np.int64, SEATS),
        ("in_hand", np.int64),  # the cards in all hands
        ("hands_of_pitchers", np.int64),  # those that the pitcher's side was dealt, gone or not
        ("tricks_left", np.int64),  # the one on the table too
        ("points", np.int64, SEATS),  # by side: so far
        ("pips", np.int64, SEATS),
        ("points_left", np.int64),  # on the table and in hand, without Game
        ("pips_left", np.int64),
        ("game_at_stake", np.int64),  # 1 where Game goes by pips
        ("bid", np.int64),
        ("capped", np.int64),  # 1 where the others' scores are cut off at the target
        ("room", np.int64, SEATS),  # by side: points to the target, where capped
        ("worth", np.int64, (MOST_POINTS + 1, MOST_POINTS + 1)),  # by points of the pitcher's side and of the others
        ("seat", np.int64),  # to act
        ("left", np.int64),  # seats that have yet to play to this trick
        ("led", np.int64),  # lane
        ("best", np.int64),  # bit of the card that is winning the trick
        ("best_seat", np.int64),
        ("trick_points", np.int64),
        ("trick_pips", np.int64),
        ("card_points", np.int64, BITS),  # what a card is worth to who wins it, by bit
        ("card_pips", np.int64, BITS),
        ("code", np.uint64, BITS),  # holder and worth, for the table
        ("code_without_pips", np.uint64, BITS),
        ("card", np.int64, BITS),  # its number
        ("bit", np.int64, CARDS),  # and back; −1 for a card that is gone
        ("killer", np.int64, PLIES + 1),  # by cards in hand: the move that last cut off
        ("card_values", np.int64, CARDS),  # room for the values of a decision's cards
        ("action", np.int64, ACTIONS),  # and for the actions tried
        ("generation", np.uint64),
        ("nodes", np.int64),
    ],
    align=True,
)


@kernel
def lane_of(bit):
    """The lane of a card's bit."""
    return bit >> 4


@kernel
def lane_mask(lane):
    """The bits of a lane."""
    return 0xFFFF << (lane << 4)


@kernel
def lay_out(m, trump, objective, s):
    """Write to `s` (a POSITION) the deal `m` (a MATCH in the tricks) with this suit as trump; `objective`: see `value_points`."""
    p = m.public
    r = p.rules
    s.players = r.players
    s.sides = r.sides
    s.follow = r.follow
    s.pitchers = side_of(p.pitcher, r.sides)
    s.in_hand = 0
    for side in range(r.sides):
        s.points[side] = 0
        s.pips[side] = pips(p.taken[side], r.joker_pips)
    if r.discards_count:
        s.pips[s.pitchers] += pips(m.hidden.put_away[p.pitcher], r.joker_pips)
    s.game_at_stake = r.game != TRUMP_TEN
    place_cards(m, trump, s)
    place_trick(m, s)
    value_points(m, objective, s)


@kernel
def place_cards(m, trump, s):
    """Hands and tables of cards; points that the hands alone settle, or that have been taken, to their sides."""
    p = m.public
    r = p.rules
    on_table = 0
    held = 0
    was = 0
    for seat in range(r.players):
        s.side[seat] = side_of(seat, r.sides)
        s.maximises[seat] = s.side[seat] == s.pitchers
        held |= m.hidden.hands[seat]
        was |= p.played[seat]
        if p.trick[seat] != NOBODY:
            on_table |= 1 << p.trick[seat]
    s.tricks_left = r.tricks - p.tricks_done
    s.points_left = 0
    s.pips_left = 0
    for card in range(CARDS):
        s.bit[card] = NOBODY
    in_play = held | was
    trumps = in_play & suit_cards(r.off_jack, trump, trump)
    lane = 0
    for suit in range(LANES):
        here = (held | on_table) & suit_cards(r.off_jack, trump, suit)
        if suit == trump:
            bit = 0
        else:
            lane += 1
            bit = lane << 4
        # Cards of one suit in the order of their strength: what stands lowest is looked for again and again, a few cards at most.
        while here:
            weakest = NOBODY
            rest = here
            while rest:
                card = lowest(rest)
                rest &= rest - 1
                if weakest == NOBODY or strength(r.off_jack, trump, card) < strength(r.off_jack, trump, weakest):
                    weakest = card
            here ^= 1 << weakest
            s.bit[weakest] = bit
            s.card[bit] = weakest
            s.card_pips[bit] = pips(1 << weakest, r.joker_pips) if s.game_at_stake else 0
            s.card_points[bit] = 0
            s.pips_left += s.card_pips[bit]
            bit += 1
    give_point(m, s, trump * 13 + 9, 1)
    if r.off_jack:
        give_point(m, s, (3 - trump) * 13 + 9, 1)
    for joker in range(r.jokers):
        give_point(m, s, 52 + joker, 1)
    if r.trump_three:
        give_point(m, s, trump * 13 + 1, 3)
    if r.game == TRUMP_TEN:
        give_point(m, s, trump * 13 + 8, 1)
    high = NOBODY
    low = NOBODY
    if r.high_low == PACK:
        high = trump * 13 + 12
        low = trump * 13 + r.lowest_rank - 2
    else:
        while trumps:
            card = lowest(trumps)
            trumps &= trumps - 1
            if high == NOBODY or strength(r.off_jack, trump, card) > strength(r.off_jack, trump, high):
                high = card
            if low == NOBODY or strength(r.off_jack, trump, card) < strength(r.off_jack, trump, low):
                low = card
    if high != NOBODY and in_play >> high & 1:
        s.points[holder_of(m, high)] += 1
    if low != NOBODY and in_play >> low & 1:
        if r.low_to == LOW_TO_WINNER:
            give_point(m, s, low, 1)
        else:
            s.points[holder_of(m, low)] += 1
    s.hands_of_pitchers = 0
    for seat in range(r.players):
        s.hands[seat] = 0
        rest = m.hidden.hands[seat]
        while rest:
            bit = s.bit[lowest(rest)]
            rest &= rest - 1
            s.hands[seat] |= 1 << bit
            worth = s.card_points[bit] * 32 + s.card_pips[bit]
            if s.maximises[seat]:
                s.hands_of_pitchers |= 1 << bit
            s.code[bit] = mix(np.uint64(worth * SEATS + seat + 1))
            s.code_without_pips[bit] = mix(np.uint64(s.card_points[bit] * 32 * SEATS + seat + 1))
        s.in_hand |= s.hands[seat]


@kernel
def holder_of(m, card):
    """The side of the seat that holds a card or has played it."""
    r = m.public.rules
    for seat in range(r.players):
        if (m.hidden.hands[seat] | m.public.played[seat]) >> card & 1:
            return side_of(seat, r.sides)
    return NOBODY


@kernel
def give_point(m, s, card, points):
    """A card scores for who wins it: it may have been won, be on its way, or be out of play."""
    if s.bit[card] != NOBODY:
        s.card_points[s.bit[card]] += points
        s.points_left += points
        return
    for side in range(m.public.rules.sides):
        if m.public.taken[side] >> card & 1:
            s.points[side] += points


@kernel
def place_trick(m, s):
    """The trick on the table."""
    p = m.public
    r = p.rules
    s.seat = p.turn
    s.left = r.players
    s.led = 0
    s.best = 0
    s.best_seat = NOBODY
    s.trick_points = 0
    s.trick_pips = 0
    if p.winning == NOBODY:
        return
    s.led = lane_of(s.bit[p.trick[p.leader]])
    s.best_seat = p.winning
    s.best = s.bit[p.trick[p.winning]]
    seat = p.leader
    while seat != p.turn:
        bit = s.bit[p.trick[seat]]
        s.trick_points += s.card_points[bit]
        s.trick_pips += s.card_pips[bit]
        s.left -= 1
        seat = next_seat(seat, r.players)


@kernel
def value_points(m, match_points, s):
    """What every outcome is worth to the pitcher's side: the change of its score times (sides − 1), less the others' changes.

    For two sides `match_points` are added to (taken from) that when the deal wins (loses) the match. More points for a side are never worth
    less to it, on which the solver's bounds rely.
    """
    p = m.public
    r = p.rules
    s.bid = p.bid
    s.capped = r.overshoot == CAPPED
    for side in range(r.sides):
        s.room[side] = max(0, r.target - p.scores[side])
    mine = s.pitchers
    for own in range(MOST_POINTS + 1):
        made = own >= p.bid
        change = own if made else -p.bid
        for theirs in range(MOST_POINTS + 1):
            if r.sides > 2:
                s.worth[own, theirs] = change * (r.sides - 1) - theirs
                continue
            other = 1 - mine
            change_theirs = min(theirs, s.room[other]) if s.capped else theirs
            worth = change - change_theirs
            if match_points:
                worth += match_points * winner_of_two(r, p.scores[mine] + change, p.scores[other] + change_theirs, made)
            s.worth[own, theirs] = worth


@kernel
def winner_of_two(r, pitchers, others, made):
    """1 when the pitcher's side wins the match with these scores, −1 when the other does, else 0; see `points.match_winner`."""
    if pitchers >= r.target and (r.win == WIN_ANY or r.win == WIN_PITCHER or (r.win == WIN_MADE_BID and made)):
        return 1
    if (r.win != WIN_ANY and r.win != WIN_HIGHEST) or pitchers == others or max(pitchers, others) < r.target:
        return 0
    return 1 if pitchers > others else -1


@kernel
def bits_of(s, cards):
    """The reverse; every card must be in the position."""
    found = 0
    while cards:
        found |= 1 << s.bit[lowest(cards)]
        cards &= cards - 1
    return found

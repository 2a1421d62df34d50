"""What a seat makes of its view: which cards are unseen, who may hold them, what a card is worth to the side that wins it."""

import operator
from collections.abc import Callable

import numpy as np

from pitchenv.cards import CARDS, HIGH_JOKER, SUITS
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import LOW_TO_WINNER, PACK, TRUMP_TEN, extreme_trumps, holder, pips, taker
from pitchenv.engine.state import NOBODY, SEATS
from pitchenv.engine.suits import STRENGTH, SUIT_OF, pack_cards, row, suit_cards


def _same_suit(beats: Callable[[int, int], bool]) -> np.ndarray:
    """By row of the tables in `engine.suits` and card: the cards of the same suit for whose strength and its own `beats` holds."""
    return np.array(
        [
            [sum(1 << d for d in range(CARDS) if suits[d] == suits[c] and beats(ranks[d], ranks[c])) for c in range(CARDS)]
            for suits, ranks in zip(SUIT_OF.tolist(), STRENGTH.tolist(), strict=True)
        ],
        np.int64,
    )


ABOVE = _same_suit(operator.gt)
BELOW = _same_suit(operator.lt)

SITUATION = np.dtype(
    [
        ("trump", np.int8),
        ("row", np.int8),  # of the tables
        ("trumps", np.int64),  # all cards that belong to trump
        ("unseen", np.int64),  # cards that are in others' hands, in the stock or put away by others
        ("played", np.int64),
        ("chance", np.float64, (SEATS, SUITS)),  # that a seat holds a given unseen card, by the card's suit
        ("enemy", np.float64, SUITS),  # that some enemy does
        ("others", np.float64),  # that somebody does, for trumps
        ("point", np.float64),  # what a point is worth: more while the bid hangs on it
        ("partner", np.float64),  # in the auction: that a partner holds a given unseen trump
        ("control", np.float64),  # in the auction: about how many tricks the trumps in hand win
        ("pip", np.float64),  # what a pip is worth, on the same scale
        ("share", np.float64),  # what another side's point costs: they are 1 to us and 1 / (sides − 1) to the mean of the others
    ],
    align=True,
)


@kernel
def assess(v, trump, w, s):
    """Fill `s`, a SITUATION, for the seat that looks, with `trump` as the trump suit."""
    p = v.public
    r = p.rules
    s.trump = trump
    s.row = row(r.off_jack, trump)
    s.trumps = suit_cards(r.off_jack, trump, trump)
    s.played = 0
    for seat in range(r.players):
        s.played |= p.played[seat]
    s.unseen = pack_cards(r) & ~(v.first_hand | v.drawn | s.played)
    s.share = 1.0 / (r.sides - 1)
    guess_hands(v, w, s)
    s.point = point_worth(v, w, s)
    s.pip = 0.0 if r.game == TRUMP_TEN else s.point * pip_worth(v, w, s)


@kernel
def guess_hands(v, w, s):
    """Unseen cards lie evenly in the places where they can be. What others put away is taken to hold no trumps."""
    p = v.public
    r = p.rules
    me = v.seat
    unseen = count(s.unseen)
    away = unseen - p.stock_left
    for seat in range(r.players):
        if seat != me:
            away -= p.held[seat]
    s.others = 0.0
    for suit in range(SUITS):
        places = float(p.stock_left)
        if suit != s.trump:
            places += away
        for seat in range(r.players):
            s.chance[seat, suit] = 0.0
            if seat != me and not p.voids[seat] >> suit & 1:
                hand = float(p.held[seat])
                if suit == s.trump and seat == p.pitcher:
                    hand *= w.pitcher_trumps
                s.chance[seat, suit] = hand
                places += hand
        s.enemy[suit] = 0.0
        for seat in range(r.players):
            if s.chance[seat, suit] > 0:
                s.chance[seat, suit] /= places
                if (seat - me) % r.sides:
                    s.enemy[suit] += s.chance[seat, suit]
                if suit == s.trump:
                    s.others += s.chance[seat, suit]


@kernel
def point_worth(v, w, s):
    """What a point is worth: one, and as long as the bid is neither made nor set, a part of the bid too; the more so the fewer
    points are open. So the pitcher's side fights for the points it needs, and the others to set it."""
    p = v.public
    r = p.rules
    if p.pitcher == NOBODY:
        return 1.0
    pitchers = p.pitcher % r.sides
    banked = 0.0
    lost = 0.0
    won = 0
    for side in range(r.sides):
        won |= p.taken[side]
    left = won & s.trumps
    while left:
        card = lowest(left)
        left &= left - 1
        if p.taken[pitchers] >> card & 1:
            banked += trump_points(r, s.trump, card)
        else:
            lost += trump_points(r, s.trump, card)
    high, low = extreme_trumps(v)
    to_come = s.unseen | v.hand
    if high != NOBODY and ABOVE[s.row, high] & to_come == 0:
        ours = holder(v, high) == pitchers
        banked += ours
        lost += not ours
    if low != NOBODY and BELOW[s.row, low] & to_come == 0:
        ours = (taker(v, low) if r.low_to == LOW_TO_WINNER else holder(v, low)) == pitchers
        banked += ours
        lost += not ours
    still_open = r.max_bid - banked - lost
    if banked < p.bid <= banked + still_open:
        return 1.0 + w.stake * p.bid / (1.0 + still_open)
    return 1.0


@kernel
def pip_worth(v, w, s):
    """What a pip is worth: the Game point over the pips still to come, nothing when Game is decided."""
    p = v.public
    r = p.rules
    own = 0
    best = 0
    for side in range(r.sides):
        total = pips(p.taken[side], r.joker_pips)
        if side == v.seat % r.sides:
            own = total
            if r.discards_count and v.seat == p.pitcher:
                own += pips(v.put_away, r.joker_pips)
        else:
            best = max(best, total)
    on_table = 0
    for seat in range(r.players):
        if p.trick[seat] != NOBODY:
            on_table |= 1 << p.trick[seat]
    hidden = count(s.unseen)
    in_hands = 0
    for seat in range(r.players):
        if seat != v.seat:
            in_hands += p.held[seat]
    to_come = pips(v.hand | on_table, r.joker_pips) + pips(s.unseen, r.joker_pips) * in_hands / max(1, hidden)
    lead = abs(own - best)
    if lead > to_come:
        return 0.0
    return w.game_weight / (to_come + 10.0)


@kernel
def trump_points(r, trump, card):
    """The points that the side that wins a trump gets for it, Low apart."""
    if card >= HIGH_JOKER:
        return 1.0
    rank = card % 13 + 2
    if rank == 11:
        return 1.0
    if rank == 3 and r.trump_three:
        return 3.0
    if rank == 10 and r.game == TRUMP_TEN:
        return 1.0
    return 0.0


@kernel
def worth(v, s, card):
    """What a card in play is worth to the side that wins it."""
    r = v.public.rules
    value = s.pip * pips(1 << card, r.joker_pips)
    if s.trumps >> card & 1:
        value += s.point * trump_points(r, s.trump, card)
        if r.low_to == LOW_TO_WINNER:
            value += s.point * low_chance(v, s, card)
    return value


@kernel
def low_chance(v, s, card):
    """The chance that a trump in play is Low."""
    r = v.public.rules
    if r.high_low == PACK:
        return 1.0 if card == s.trump * 13 + r.lowest_rank - 2 else 0.0
    lower = BELOW[s.row, card]
    if lower & (s.played | v.hand):
        return 0.0
    return (1.0 - min(1.0, s.others)) ** count(lower & s.unseen)


@kernel
def boss_chance(s, suit, card):
    """The chance that no enemy holds a card of the suit that beats this one."""
    return (1.0 - min(1.0, s.enemy[suit])) ** count(ABOVE[s.row, card] & s.unseen)


@kernel
def suit_in(s, card):
    """The suit a card belongs to."""
    return s.trump if s.trumps >> card & 1 else card // 13

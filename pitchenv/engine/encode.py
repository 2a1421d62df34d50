"""A view as numbers: the observation vector, and the hidden rest for a critic. The legend is in `pitchenv.observation`.

The vector is a row of named pieces. `at` says where each piece begins (it depends on the number of seat slots alone). Slot 0 is
the seat that looks, slot 1 its left neighbour; slots of absent seats come last. Sides are numbered the same way: 0 the own side,
then that of the left neighbour and on.
"""

import numpy as np

from pitchenv.cards import CARDS, HIGH_JOKER
from pitchenv.engine.bits import lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import LOW_TO_WINNER, extreme_trumps, holder, pips, taker
from pitchenv.engine.seats import seat_at, side_of, slot_of
from pitchenv.engine.state import ENDED, NOBODY

PIECES = (
    "to_act", "phase", "hand", "put_away", "played", "trick", "leader", "winning", "tricks_done", "trump",
    "trump_known", "bids", "passed", "standing_bid", "pitcher", "dealer", "redrawn", "discarded", "voids", "pips", "point_cards",
    "high_so_far", "low_so_far", "points_needed", "score_needed", "present", "partner", "rules",
)  # fmt: skip
(
    TO_ACT, PHASE, HAND, PUT_AWAY, PLAYED, TRICK, LEADER, WINNING, TRICKS_DONE, TRUMP,
    TRUMP_KNOWN, BIDS, PASSED, STANDING_BID, PITCHER, DEALER, REDRAWN, DISCARDED, VOIDS, PIPS, POINT_CARDS,
    HIGH_SO_FAR, LOW_SO_FAR, POINTS_NEEDED, SCORE_NEEDED, PRESENT, PARTNER, RULES,
) = range(len(PIECES))  # fmt: skip

TRICK_COLUMNS = 19  # four suits, thirteen ranks, high joker, low joker
POINT_CARD_COLUMNS = 8  # of trump: ace, lowest rank, jack, off-jack, high joker, low joker, three, ten
NEEDED_COLUMNS = 11  # points needed: at most 0 … at most 10
PIPS_UNIT = 80.0
EXCHANGE_UNIT = 6.0
CARD_UNIT = 13.0
TARGET_UNIT = 21.0
BID_UNIT = 10.0
_ONE, _ZERO = np.float32(1), np.float32(0)


@kernel
def mark(out, offset, mask):
    """Set the entries of a mask in zeros; for sets that are small beside the piece."""
    while mask:
        out[offset + lowest(mask)] = _ONE
        mask &= mask - 1


@kernel
def spread(out, mask):
    """Write every bit of a mask, 1 or 0, to `out`; for short pieces, since it compiles to a few wide instructions."""
    for i in range(len(out)):
        out[i] = _ONE if mask >> i & 1 else _ZERO


@kernel
def encode(v, at, out):
    """Write the observation of a VIEW into `out`, float32 of the layout's size."""
    encode_changing(v, at, out)
    encode_fixed(v.public.rules, at, out)


@kernel
def encode_changing(v, at, out):
    """All pieces but those that say who sits where and the rules, which never change during a match."""
    out[: at[PRESENT]] = _ZERO
    p = v.public
    players = p.rules.players
    me = v.seat
    if p.phase != ENDED:
        out[at[PHASE] + p.phase] = _ONE
        out[at[TO_ACT] + slot_of(p.turn, me, players)] = _ONE
    mark(out, at[HAND], v.hand)
    mark(out, at[PUT_AWAY], v.put_away)
    for slot in range(players):
        encode_seat(p, seat_at(slot, me, players), slot, at, out)
    out[at[DEALER] + slot_of(p.dealer, me, players)] = _ONE
    if p.pitcher != NOBODY:
        out[at[PITCHER] + slot_of(p.pitcher, me, players)] = _ONE
        out[at[STANDING_BID] + p.bid - 1] = _ONE
    if p.winning != NOBODY:
        out[at[LEADER] + slot_of(p.leader, me, players)] = _ONE
        out[at[WINNING] + slot_of(p.winning, me, players)] = _ONE
    for i in range(p.tricks_done):
        out[at[TRICKS_DONE] + i] = _ONE
    encode_sides(v, at, out)
    if p.trump != NOBODY:
        out[at[TRUMP] + p.trump] = _ONE
        out[at[TRUMP_KNOWN]] = _ONE


@kernel
def encode_seat(p, seat, slot, at, out):
    """What is public of one seat."""
    mark(out, at[PLAYED] + slot * CARDS, p.played[seat])
    card = p.trick[seat]
    if card != NOBODY:
        trick = at[TRICK] + slot * TRICK_COLUMNS
        if card < HIGH_JOKER:
            out[trick + card // 13] = _ONE
            out[trick + 4 + card % 13] = _ONE
        else:
            out[trick + 17 + card - HIGH_JOKER] = _ONE
    bids = at[BIDS] + slot * 10
    spread(out[bids : bids + 10], p.bids[seat] >> 1)
    if p.passed >> seat & 1:
        out[at[PASSED] + slot] = _ONE
    if p.rules.redraw:
        out[at[REDRAWN] + slot] = p.redrawn[seat] / EXCHANGE_UNIT
    if p.rules.hand_size + p.rules.widow > p.rules.tricks:
        out[at[DISCARDED] + slot] = p.discarded[seat] / EXCHANGE_UNIT
    voids = at[VOIDS] + slot * 4
    spread(out[voids : voids + 4], p.voids[seat])


@kernel
def encode_sides(v, at, out):
    """What is public of each side: what it has taken, what it needs."""
    p = v.public
    r = p.rules
    mine = side_of(v.seat, r.sides)
    for i in range(r.sides):
        side = seat_at(i, mine, r.sides)
        if p.taken[side]:
            out[at[PIPS] + i] = pips(p.taken[side], r.joker_pips) / PIPS_UNIT
            mark_point_cards(p, side, at[POINT_CARDS] + i * POINT_CARD_COLUMNS, out)
        needed = r.target - p.scores[side]
        out[at[SCORE_NEEDED] + i] = needed / r.target
        # "at most k" holds for every k from `needed` on
        first = min(max(needed, 0), NEEDED_COLUMNS)
        columns = at[POINTS_NEEDED] + i * NEEDED_COLUMNS
        spread(out[columns : columns + NEEDED_COLUMNS], -1 << first)
    if p.tricks_done or p.winning != NOBODY:
        high, low = extreme_trumps(v)
        if high != NOBODY:
            out[at[HIGH_SO_FAR] + slot_of(holder(v, high), mine, r.sides)] = _ONE
            side = taker(v, low) if r.low_to == LOW_TO_WINNER else holder(v, low)
            if side != NOBODY:
                out[at[LOW_SO_FAR] + slot_of(side, mine, r.sides)] = _ONE


@kernel
def mark_point_cards(p, side, offset, out):
    """The point cards a side has taken in tricks."""
    suit = p.trump * 13
    taken = p.taken[side]
    cards = taken >> (suit + 12) & 1
    cards |= (taken >> (suit + p.rules.lowest_rank - 2) & 1) << 1
    cards |= (taken >> (suit + 9) & 1) << 2
    if p.rules.off_jack:
        cards |= (taken >> ((3 - p.trump) * 13 + 9) & 1) << 3
    cards |= (taken >> HIGH_JOKER) << 4  # both jokers
    cards |= (taken >> (suit + 1) & 1) << 6
    cards |= (taken >> (suit + 8) & 1) << 7
    mark(out, offset, cards)


@kernel
def encode_fixed(r, at, out):
    """Who sits where, and the rules as features in the order of `observation.RULE_COLUMNS`."""
    out[at[PRESENT] :] = _ZERO
    for slot in range(r.players):
        out[at[PRESENT] + slot] = _ONE
        out[at[PARTNER] + slot] = side_of(slot, r.sides) == 0
    o = at[RULES]
    out[o + r.players - 2] = 1
    out[o + 7 + r.sides - 2] = 1
    out[o + 14] = r.lowest_rank / CARD_UNIT
    out[o + 15] = r.jokers / 2.0
    out[o + 16] = r.off_jack
    out[o + 17] = r.hand_size / CARD_UNIT
    out[o + 18] = r.widow / CARD_UNIT
    out[o + 19] = r.redraw / CARD_UNIT
    out[o + 20] = r.tricks / CARD_UNIT
    out[o + 21] = r.trump
    out[o + 22] = r.keep_trump
    out[o + 23] = r.discards_count
    out[o + 24] = r.auction
    out[o + 25] = r.min_bid / BID_UNIT
    mark(out, o + 25, r.dealer_must_bid)  # bids begin at 1
    out[o + 36 + r.dealer_steals] = 1
    out[o + 40] = r.thrown_in
    out[o + 41] = r.first_lead
    out[o + 42 + r.follow] = 1
    out[o + 45] = r.high_low
    out[o + 46] = r.low_to
    out[o + 47] = r.trump_three
    out[o + 48] = r.game
    out[o + 49] = r.joker_pips / BID_UNIT
    out[o + 50] = r.target / TARGET_UNIT
    out[o + 51 + r.win] = 1
    out[o + 55] = r.overshoot


@kernel
def encode_hidden(m, me, slots, out):
    """What the observation of seat `me` leaves out: hands and cards put away by slot, and the stock in order (1 for its top
    card, falling evenly to 1 / stock_left; 0 for a card not in it)."""
    out[:] = 0
    p = m.public
    players = p.rules.players
    for slot in range(players):
        seat = seat_at(slot, me, players)
        mark(out, slot * CARDS, m.hidden.hands[seat])
        mark(out, (slots + slot) * CARDS, m.hidden.put_away[seat])
    top = p.stock_size - p.stock_left
    for i in range(p.stock_left):
        out[2 * slots * CARDS + m.hidden.stock[top + i]] = (p.stock_left - i) / p.stock_left

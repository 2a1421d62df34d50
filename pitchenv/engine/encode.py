"""A view as numbers: the observation vector, and the hidden rest for a critic. The legend is in `pitchenv.observation`.

The vector is a row of named pieces. `at` says where each piece begins (it depends on the number of seat slots alone). Slot 0 is the seat that
looks, slot 1 its left neighbour; slots of absent seats come last. Sides are numbered the same way: 0 the own side, then that of the left
neighbour and on.
"""

from pitchenv.engine.bits import lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import LOW_TO_WINNER, extreme_trumps, holder, pips, taker
from pitchenv.engine.state import ENDED, NOBODY

PIECES = (
    "present", "partner", "to_act", "phase", "hand", "put_away", "played", "trick", "leader", "winning", "tricks_done", "trump",
    "trump_known", "bids", "passed", "standing_bid", "pitcher", "dealer", "redrawn", "discarded", "voids", "pips", "point_cards",
    "high_so_far", "low_so_far", "points_needed", "score_needed", "rules",
)  # fmt: skip
(
    PRESENT, PARTNER, TO_ACT, PHASE, HAND, PUT_AWAY, PLAYED, TRICK, LEADER, WINNING, TRICKS_DONE, TRUMP,
    TRUMP_KNOWN, BIDS, PASSED, STANDING_BID, PITCHER, DEALER, REDRAWN, DISCARDED, VOIDS, PIPS, POINT_CARDS,
    HIGH_SO_FAR, LOW_SO_FAR, POINTS_NEEDED, SCORE_NEEDED, RULES,
) = range(len(PIECES))  # fmt: skip

CARD_COLUMNS = 54
POINT_CARD_COLUMNS = 8  # of trump: ace, lowest rank, jack, off-jack, high joker, low joker, three, ten
NEEDED_COLUMNS = 11  # points needed: at most 0 … at most 10
PIPS_UNIT = 80.0
EXCHANGE_UNIT = 6.0
CARD_UNIT = 13.0
TARGET_UNIT = 21.0
BID_UNIT = 10.0


@kernel
def mark(out, offset, mask):
    """Set the entries of a mask."""
    while mask:
        out[offset + lowest(mask)] = 1
        mask &= mask - 1


@kernel
def encode(v, at, slots, out):
    """Write the observation of a VIEW into `out`, float32 of the layout's size."""
    out[:] = 0
    p = v.public
    players = p.rules.players
    me = v.seat
    if p.phase != ENDED:
        out[at[PHASE] + p.phase] = 1
        out[at[TO_ACT] + (p.turn - me + players) % players] = 1
    mark(out, at[HAND], v.hand)
    mark(out, at[PUT_AWAY], v.put_away)
    slot = 0
    for i in range(players):
        seat = me + i if me + i < players else me + i - players
        encode_seat(v, seat, slot, at, out)
        slot += 1
    out[at[DEALER] + (p.dealer - me + players) % players] = 1
    if p.pitcher != NOBODY:
        out[at[PITCHER] + (p.pitcher - me + players) % players] = 1
        out[at[STANDING_BID] + p.bid - 1] = 1
    if p.winning != NOBODY:
        out[at[LEADER] + (p.leader - me + players) % players] = 1
        out[at[WINNING] + (p.winning - me + players) % players] = 1
    for i in range(p.tricks_done):
        out[at[TRICKS_DONE] + i] = 1
    encode_sides(v, at, out)
    if p.trump != NOBODY:
        out[at[TRUMP] + p.trump] = 1
        out[at[TRUMP_KNOWN]] = 1
    encode_rules(p.rules, at[RULES], out)


@kernel
def encode_seat(v, seat, slot, at, out):
    """What is public of one seat."""
    p = v.public
    out[at[PRESENT] + slot] = 1
    if (seat - v.seat) % p.rules.sides == 0:
        out[at[PARTNER] + slot] = 1
    mark(out, at[PLAYED] + slot * CARD_COLUMNS, p.played[seat])
    if p.trick[seat] != NOBODY:
        out[at[TRICK] + slot * CARD_COLUMNS + p.trick[seat]] = 1
    mark(out, at[BIDS] + slot * 10 - 1, p.bids[seat])
    if p.passed >> seat & 1:
        out[at[PASSED] + slot] = 1
    out[at[REDRAWN] + slot] = p.redrawn[seat] / EXCHANGE_UNIT
    out[at[DISCARDED] + slot] = p.discarded[seat] / EXCHANGE_UNIT
    mark(out, at[VOIDS] + slot * 4, p.voids[seat])


@kernel
def encode_sides(v, at, out):
    """What is public of each side: what it has taken, what it needs."""
    p = v.public
    r = p.rules
    mine = v.seat % r.sides
    for i in range(r.sides):
        side = (mine + i) % r.sides
        if p.taken[side]:
            out[at[PIPS] + i] = pips(p.taken[side], r.joker_pips) / PIPS_UNIT
            mark_point_cards(p, side, at[POINT_CARDS] + i * POINT_CARD_COLUMNS, out)
        needed = r.target - p.scores[side]
        out[at[SCORE_NEEDED] + i] = needed / r.target
        for most in range(max(0, needed), NEEDED_COLUMNS):
            out[at[POINTS_NEEDED] + i * NEEDED_COLUMNS + most] = 1
    if p.trump != NOBODY:
        high, low = extreme_trumps(v)
        if high != NOBODY:
            out[at[HIGH_SO_FAR] + (holder(v, high) - mine + r.sides) % r.sides] = 1
            side = taker(v, low) if r.low_to == LOW_TO_WINNER else holder(v, low)
            if side != NOBODY:
                out[at[LOW_SO_FAR] + (side - mine + r.sides) % r.sides] = 1


@kernel
def mark_point_cards(p, side, offset, out):
    """The point cards a side has taken in tricks."""
    suit = p.trump * 13
    taken = p.taken[side]
    out[offset] = taken >> (suit + 12) & 1
    out[offset + 1] = taken >> (suit + p.rules.lowest_rank - 2) & 1
    out[offset + 2] = taken >> (suit + 9) & 1
    if p.rules.off_jack:
        out[offset + 3] = taken >> ((3 - p.trump) * 13 + 9) & 1
    out[offset + 4] = taken >> 52 & 1
    out[offset + 5] = taken >> 53 & 1
    out[offset + 6] = taken >> (suit + 1) & 1
    out[offset + 7] = taken >> (suit + 8) & 1


@kernel
def encode_rules(r, at, out):
    """The rules as features, in the order of `observation.RULE_COLUMNS`."""
    out[at + r.players - 2] = 1
    out[at + 7 + r.sides - 2] = 1
    out[at + 14] = r.lowest_rank / CARD_UNIT
    out[at + 15] = r.jokers / 2.0
    out[at + 16] = r.off_jack
    out[at + 17] = r.hand_size / CARD_UNIT
    out[at + 18] = r.widow / CARD_UNIT
    out[at + 19] = r.redraw / CARD_UNIT
    out[at + 20] = r.tricks / CARD_UNIT
    out[at + 21] = r.trump
    out[at + 22] = r.keep_trump
    out[at + 23] = r.discards_count
    out[at + 24] = r.auction
    out[at + 25] = r.min_bid / BID_UNIT
    mark(out, at + 25, r.dealer_must_bid)  # bids begin at 1
    out[at + 36 + r.dealer_steals] = 1
    out[at + 40] = r.thrown_in
    out[at + 41] = r.first_lead
    out[at + 42 + r.follow] = 1
    out[at + 45] = r.high_low
    out[at + 46] = r.low_to
    out[at + 47] = r.trump_three
    out[at + 48] = r.game
    out[at + 49] = r.joker_pips / BID_UNIT
    out[at + 50] = r.target / TARGET_UNIT
    out[at + 51 + r.win] = 1
    out[at + 55] = r.overshoot


@kernel
def encode_hidden(m, me, slots, out):
    """What the observation of seat `me` leaves out: hands and cards put away by slot, and the stock in order (1 for its top
    card, falling evenly to 1 / stock_left; 0 for a card not in it)."""
    out[:] = 0
    p = m.public
    players = p.rules.players
    for slot in range(players):
        seat = (me + slot) % players
        mark(out, slot * CARD_COLUMNS, m.hidden.hands[seat])
        mark(out, (slots + slot) * CARD_COLUMNS, m.hidden.put_away[seat])
    top = p.stock_size - p.stock_left
    for i in range(p.stock_left):
        out[2 * slots * CARD_COLUMNS + m.hidden.stock[top + i]] = (p.stock_left - i) / p.stock_left

"""The auction. Calls are masks with bit 0 for pass and bit b for a bid of b."""

from pitchenv.engine.bits import count
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import next_seat

ROUNDS = 1  # `auction`
BELOW_MAX, MAX_ONLY, ANY = 1, 2, 3  # `dealer_steals`
_UP_TO_TEN = (1 << 11) - 1


@kernel
def legal_calls(m):
    """The calls open to the seat whose turn it is."""
    p = m.public
    r = p.rules
    last = p.turn == p.dealer
    if p.bid == 0 and last and r.dealer_must_bid and count(p.passed) == r.players - 1:
        return r.dealer_must_bid
    floor = max(p.bid + 1, r.min_bid)
    calls = 1 | (_UP_TO_TEN >> floor << floor) & ((1 << (r.max_bid + 1)) - 1)
    if p.bid and last:
        steals = r.dealer_steals
        at_max = p.bid == r.max_bid
        if steals == ANY or (steals == MAX_ONLY and at_max) or (steals == BELOW_MAX and not at_max):
            calls |= 1 << p.bid
    return calls


@kernel
def call(m, bid):
    """The seat whose turn it is passes (0) or bids. Returns whether the auction is over; `pitcher` is NOBODY if all passed."""
    p = m.public
    r = p.rules
    if bid == 0:
        p.passed |= 1 << p.turn
    else:
        p.bid = bid
        p.pitcher = p.turn
        p.bids[p.turn] |= 1 << bid
    if p.turn == p.dealer and r.auction != ROUNDS:
        return True
    if p.bid == r.max_bid and r.dealer_steals != MAX_ONLY and r.dealer_steals != ANY:
        return True
    others_passed = count(p.passed) == r.players - 1 and p.bid > 0
    if r.auction == ROUNDS and (others_passed or count(p.passed) == r.players):
        return True
    p.turn = next_seat(p.turn, r.players)
    while p.passed >> p.turn & 1:
        p.turn = next_seat(p.turn, r.players)
    return False

"""A match begins; cards are shuffled and dealt. Deal number d of a match depends on the match's seed and on d alone, so that
what the players did never changes what they are dealt."""

from pitchenv.cards import ACE, HIGH_JOKER, SUITS
from pitchenv.engine.bits import GOLDEN, below, mix, stream
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import WIN_MADE_BID, WIN_PITCHER
from pitchenv.engine.seats import next_seat
from pitchenv.engine.state import AUCTION, HISTORY, NOBODY, NOTHING_YET, SEATS

# Random streams of a match beside those of its deals, which are numbered from 0.
FIRST_DEALER, START_SCORES, NEXT_SEED, PLAYER, LEARNER = -2, -3, -4, -5, -6


@kernel
def begin_match(m, seed, spread):
    """A new match on the same rules: first dealer drawn, scores 0 (or drawn over what matches reach), nothing dealt yet."""
    p = m.public
    r = p.rules
    m.hidden.seed = seed
    p.dealer = below(stream(seed, FIRST_DEALER), r.players)
    for side in range(SEATS):
        p.scores[side] = 0
        p.points[side] = 0
        p.change[side] = 0
    if spread:
        # Uniform from two set-backs of the highest bid below nothing (few sides get further down) to one point short of the target; where
        # only the pitcher wins, so that a side may be past the target and play on, to max_bid beyond it.
        down, past = 2 * r.max_bid, r.max_bid if r.win == WIN_PITCHER or r.win == WIN_MADE_BID else 0
        x = stream(seed, START_SCORES)
        for side in range(r.sides):
            x += GOLDEN
            p.scores[side] = below(mix(x), down + r.target + past) - down
    p.scored = NOTHING_YET
    p.deals_played = 0
    p.over = 0
    p.winner = NOBODY


@kernel
def shuffle_and_deal(m):
    """The pack is shuffled, each seat gets `hand_size` cards, the rest is the stock."""
    p = m.public
    r = p.rules
    h = m.hidden
    pack = h.stock  # shuffled in place; the stock then moves to its top
    size = 0
    for suit in range(SUITS):
        for rank in range(r.lowest_rank, ACE + 1):
            pack[size] = suit * 13 + rank - 2
            size += 1
    for joker in range(r.jokers):
        pack[size] = HIGH_JOKER + joker
        size += 1
    x = stream(h.seed, p.deals_played)
    for i in range(size - 1):  # Fisher and Yates
        x += GOLDEN
        j = i + below(mix(x), size - i)
        swapped = pack[i]
        pack[i] = pack[j]
        pack[j] = swapped
    at = 0
    for seat in range(r.players):
        hand = 0
        for _ in range(r.hand_size):
            hand |= 1 << pack[at]
            at += 1
        h.first_hands[seat] = hand
    p.stock_size = size - at
    for i in range(size - at):
        pack[i] = pack[at + i]
    open_deal(m)


@kernel
def open_deal(m):
    """The auction opens on the hands and the stock that lie in the record."""
    p = m.public
    r = p.rules
    h = m.hidden
    for seat in range(SEATS):
        h.hands[seat] = h.first_hands[seat]
        h.put_away[seat] = 0
        p.bids[seat] = 0
        p.redrawn[seat] = 0
        p.discarded[seat] = 0
        p.held[seat] = r.hand_size if seat < r.players else 0
        p.trick[seat] = NOBODY
        p.voids[seat] = 0
        p.played[seat] = 0
        p.taken[seat] = 0
    p.phase = AUCTION
    p.turn = next_seat(p.dealer, r.players)
    p.pitcher = NOBODY
    p.bid = 0
    p.trump = NOBODY
    p.passed = 0
    p.stock_left = p.stock_size
    p.leader = NOBODY
    p.winning = NOBODY
    p.tricks_done = 0
    p.moves = 0
    p.first_lead_at = 0
    for i in range(HISTORY):  # what was put away in the deal before stays unknown to others
        m.history[i] = 0
        p.history_seats[i] = 0

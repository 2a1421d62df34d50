"""The auction and the naming of trump: what a hand is worth with each suit as trump, and how high to go for it."""

from pitchenv.actions import BID_0, PASS
from pitchenv.cards import SUITS
from pitchenv.engine.auction import ROUNDS
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.exchange import PITCHED, open_suits
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import ACES, LOW_TO_WINNER, PACK, TRUMP_TEN, WIN_MADE_BID, WIN_PITCHER, pips
from pitchenv.engine.state import AUCTION, NOBODY
from pitchenv.engine.suits import pack_cards, row, suit_cards
from pitchenv.policies.heuristic.situation import ABOVE, BELOW, boss_chance, trump_points

NEAR = 3  # points that a pitcher's side often makes in a deal
PARTNER_KEEPS = 0.8  # of the point cards that a partner holds


@kernel
def estimate(v, suit, w, s):
    """The points that the side of the seat that looks may expect with it as pitcher and `suit` as trump. Works in `s`, a SITUATION."""
    r = v.public.rules
    look_ahead(v, suit, w, s)
    points = high_points(v, s) + low_points(v, s, w) + card_points(v, s, w)
    if r.game != TRUMP_TEN:
        chance = w.game_base * 2.0 / r.sides + w.game_control * s.control + w.game_pips * pips(v.hand, r.joker_pips)
        chance += w.side_ace * count(v.hand & ACES & ~s.trumps)
        points += max(0.0, min(1.0, chance))
    return points


@kernel
def look_ahead(v, suit, w, s):
    """Fill `s` for the tricks to come, if `suit` is trump: where the unseen trumps may be by then, and control.

    Who may exchange when trump is known keeps all the trumps he has seen.
    """
    p = v.public
    r = p.rules
    s.trump = suit
    s.row = row(r.off_jack, suit)
    s.trumps = suit_cards(r.off_jack, suit, suit)
    s.unseen = pack_cards(r) & ~(v.first_hand | v.drawn)
    hidden = max(1, count(s.unseen))
    a_seat = min(1.0 / (r.players - 1), float(r.hand_size + r.redraw) / hidden)
    partners = r.players // r.sides - 1
    s.partner = partners * a_seat
    s.enemy[suit] = (r.players - 1 - partners) * a_seat
    s.control = 0.0
    left = v.hand & s.trumps
    while left:
        s.control += w.length + boss_chance(s, suit, lowest(left))
        left &= left - 1
    to_draw = r.redraw + (r.widow if p.phase == AUCTION else 0)
    s.control += w.length * to_draw * count(s.unseen & s.trumps) / hidden


@kernel
def outermost(cards, beaten_by):
    """The card of some trumps that has no other of them in its row of a table, ABOVE for the highest or BELOW; NOBODY if there are none."""
    left = cards
    while left:
        card = lowest(left)
        left &= left - 1
        if beaten_by[card] & cards == 0:
            return card
    return NOBODY


@kernel
def high_points(v, s):
    """The part of `estimate` that High is."""
    held = v.hand & s.trumps
    if v.public.rules.high_low == PACK:
        ace = s.trump * 13 + 12
        return 1.0 if held >> ace & 1 else s.partner * (s.unseen >> ace & 1)
    best = outermost(held, ABOVE[s.row])
    return 0.5 if best == NOBODY else boss_chance(s, s.trump, best)


@kernel
def low_points(v, s, w):
    """The part of `estimate` that Low is."""
    r = v.public.rules
    held = v.hand & s.trumps
    enemy = s.enemy[s.trump]
    if r.high_low == PACK:
        low = s.trump * 13 + r.lowest_rank - 2
        mine = float(held >> low & 1)
        missing = float(s.unseen >> low & 1)
    else:
        worst = outermost(held, BELOW[s.row])
        mine = 0.0 if worst == NOBODY else (1.0 - min(1.0, enemy + s.partner)) ** count(BELOW[s.row, worst] & s.unseen)
        missing = (1.0 - mine) / (enemy + s.partner)
    if r.low_to == LOW_TO_WINNER:
        return (mine + missing * s.partner) * w.low_keep + missing * enemy * min(1.0, w.low_catch * s.control)
    return mine + missing * s.partner


@kernel
def card_points(v, s, w):
    """The part of `estimate` that jack, off-jack, jokers, three and ten are."""
    catch = min(1.0, w.catch * s.control)
    points = 0.0
    left = s.trumps & (v.hand | s.unseen)
    while left:
        card = lowest(left)
        left &= left - 1
        value = trump_points(v.public.rules, s.trump, card)
        if value == 0.0:
            continue
        if v.hand >> card & 1:
            points += value * (1.0 - w.keep_loss * (1.0 - boss_chance(s, s.trump, card)))
        else:
            points += value * (s.partner * PARTNER_KEEPS + s.enemy[s.trump] * catch)
    return points


@kernel
def best_suit(v, w, s):
    """The suit that promises most as trump, and its estimate. A pitcher who must keep a suit open looks at those."""
    r = v.public.rules
    allowed = v.hand
    if r.trump == PITCHED and r.keep_trump and v.public.pitcher == v.seat:
        allowed = open_suits(v, v.hand, v.put_away)
    best = -1.0
    choice = 0
    for suit in range(SUITS):
        cards = suit_cards(0, NOBODY, suit)
        if r.trump == PITCHED and v.hand & allowed & cards == 0:
            continue
        value = estimate(v, suit, w, s)
        if value > best:
            best = value
            choice = suit
    return choice, best


@kernel
def asked(v, bid, w):
    """The estimate that a bid asks for."""
    p = v.public
    r = p.rules
    me = v.seat
    ask = w.bid_base + w.bid_slope * bid + w.solo * (1.0 - 1.0 / (r.sides - 1))
    if bid == r.max_bid:
        ask += w.bid_max
    if p.pitcher != NOBODY and (p.pitcher - me) % r.sides == 0:
        ask += w.over_partner
    seat = me
    while seat != p.dealer and r.auction != ROUNDS:
        seat = (seat + 1) % r.players
        if (seat - me) % r.sides:
            ask += w.to_come
    if r.win == WIN_PITCHER or r.win == WIN_MADE_BID:  # who wins the auction may win the match with it
        enemy_near = False
        for side in range(r.sides):
            if p.scores[side] + NEAR >= r.target:
                if side == me % r.sides:
                    ask -= w.press
                else:
                    enemy_near = True
        if enemy_near:
            ask -= w.danger
    return ask


@kernel
def choose_call(v, calls, w, s):
    """Pass or bid; `calls` is a mask of legal ones, bit 0 for pass."""
    p = v.public
    _, value = best_suit(v, w, s)
    bids = calls & ~1
    choice = 0
    while bids:
        bid = lowest(bids)
        bids &= bids - 1
        if value < asked(v, bid, w):
            break
        choice = bid
        # Who calls last, or may raise later, bids no more than needed.
        if p.turn == p.dealer or p.rules.auction == ROUNDS:
            break
    if choice == 0 and calls & 1 == 0:
        choice = lowest(calls)
    return PASS if choice == 0 else BID_0 + choice

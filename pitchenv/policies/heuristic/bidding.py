"""The auction and the naming of trump: what a hand is worth with each suit as trump, and how high to go for it."""

from pitchenv.actions import BID_0, PASS
from pitchenv.cards import SUITS
from pitchenv.engine.auction import ROUNDS
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.exchange import PITCHED, open_suits
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import ACES, LOW_TO_WINNER, PACK, TRUMP_TEN, WIN_MADE_BID, WIN_PITCHER, pips
from pitchenv.engine.state import NOBODY
from pitchenv.engine.suits import row, suit_cards
from pitchenv.policies.heuristic.situation import ABOVE, BELOW, trump_points, whole_pack

NEAR = 3  # points that a pitcher's side often makes in a deal


@kernel
def estimate(v, suit, w):
    """The points that the side of the seat that looks may expect with it as pitcher and `suit` as trump."""
    p = v.public
    r = p.rules
    table_row = row(r.off_jack, suit)
    trumps = suit_cards(r.off_jack, suit, suit) & whole_pack(r)
    held = v.hand & trumps
    unseen = trumps & ~(v.first_hand | v.drawn)
    # Chances that a given unseen trump is in an enemy's hand or a partner's: who may exchange knowing trump keeps all that he sees.
    hidden = count(whole_pack(r) & ~(v.first_hand | v.drawn))
    seat_chance = min(1.0 / (r.players - 1), float(r.hand_size + r.redraw) / max(1, hidden))
    partners = r.players // r.sides - 1
    enemy = (r.players - 1 - partners) * seat_chance
    partner = partners * seat_chance
    control = 0.0
    left = held
    while left:
        card = lowest(left)
        left &= left - 1
        control += w.length + (1.0 - enemy) ** count(ABOVE[table_row, card] & unseen)
    control += w.length * (r.redraw + r.widow * (p.phase == 0)) * count(unseen) / max(1, hidden)
    catch = min(1.0, w.catch * control)

    # High
    if r.high_low == PACK:
        ace = suit * 13 + 12
        points = 1.0 if held >> ace & 1 else partner * (unseen >> ace & 1)
    else:
        best = strongest(held, table_row)
        above = count(unseen if best == NOBODY else ABOVE[table_row, best] & unseen)
        points = (1.0 - enemy) ** above * (1.0 if held else 0.5)
    # Low
    points += low_points(v, held, unseen, suit, table_row, enemy, partner, control, w)
    # Jack, off-jack, jokers, three, ten
    left = held | unseen
    while left:
        card = lowest(left)
        left &= left - 1
        value = trump_points(r, suit, card)
        if value == 0.0:
            continue
        if held >> card & 1:
            points += value * (1.0 - w.keep_loss * (1.0 - (1.0 - enemy) ** count(ABOVE[table_row, card] & unseen)))
        else:
            points += value * (partner * 0.8 + enemy * catch)
    if r.game != TRUMP_TEN:
        chance = w.game_base * 2.0 / r.sides + w.game_control * control + w.game_pips * pips(v.hand, r.joker_pips)
        chance += w.side_ace * count(v.hand & ACES & ~trumps)
        points += max(0.0, min(1.0, chance))
    return points


@kernel
def strongest(cards, table_row):
    """The card of a suit that no other of the same cards beats; NOBODY when there is none."""
    left = cards
    while left:
        card = lowest(left)
        left &= left - 1
        if ABOVE[table_row, card] & cards == 0:
            return card
    return NOBODY


@kernel
def low_points(v, held, unseen, suit, table_row, enemy, partner, control, w):
    """The part of `estimate` that Low is."""
    r = v.public.rules
    catch = min(1.0, w.low_catch * control)
    if r.high_low == PACK:
        low = suit * 13 + r.lowest_rank - 2
        mine = float(held >> low & 1)
        in_play = float(unseen >> low & 1)
        theirs, partners = in_play * enemy, in_play * partner
    else:
        left = held
        lower = unseen
        while left:
            card = lowest(left)
            left &= left - 1
            if BELOW[table_row, card] & held == 0:
                lower = BELOW[table_row, card] & unseen
        in_play = enemy + partner
        mine = (1.0 - min(1.0, in_play)) ** count(lower) if held else 0.0
        theirs = (1.0 - mine) * enemy / in_play
        partners = (1.0 - mine) * partner / in_play
    if r.low_to == LOW_TO_WINNER:
        return (mine + partners) * w.low_keep + theirs * catch
    return mine + partners


@kernel
def best_suit(v, w):
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
        value = estimate(v, suit, w)
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
def choose_call(v, calls, w):
    """Pass or bid; `calls` is a mask of legal ones, bit 0 for pass."""
    p = v.public
    _, value = best_suit(v, w)
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

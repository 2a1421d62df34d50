"""Card play: every legal card gets a score, what it promises now less what it would be worth later; the best is played.

Now: the chance that the own side wins the trick with it, times what lies in the trick. Later: the point it may still bring home and its
power to win a trick. So the cheapest card that wins is played last, point cards go to a partner who is winning and not to an enemy.
"""

from pitchenv.engine.bits import count, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import NOBODY
from pitchenv.engine.suits import strength
from pitchenv.engine.tricks import SUIT
from pitchenv.policies.heuristic.situation import ABOVE, BELOW, boss_chance, suit_in, trump_points, worth


@kernel
def choose_card(v, s, cards, w):
    """The legal card with the highest score."""
    p = v.public
    r = p.rules
    table = 0.0
    for seat in range(r.players):
        if p.trick[seat] != NOBODY:
            table += worth(v, s, p.trick[seat])
    best = -1e9
    choice = lowest(cards)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        score = score_card(v, s, card, table, w)
        if score > best:
            best = score
            choice = card
    return choice


@kernel
def score_card(v, s, card, table, w):
    """What playing a card promises less what keeping it would, in points; `table` is what the cards on the table are worth."""
    p = v.public
    suit = suit_in(s, card)
    value = worth(v, s, card)
    chance = chance_to_win(v, s, card, suit, w)
    now = (table + value + w.trick) * swing(s, chance)
    if suit == s.trump and p.winning == NOBODY:
        now += leading_trump(v, s, card, chance, w)
    return now - later(v, s, card, suit, value, w)


@kernel
def swing(s, chance):
    """A point to us with this chance, else to another side."""
    return chance - (1.0 - chance) * s.share


@kernel
def later(v, s, card, suit, value, w):
    """What a card is worth in hand."""
    boss = boss_chance(s, suit, card)
    if suit == s.trump:
        hope = w.hope_trump + (w.hope_boss - w.hope_trump) * boss
        return value * swing(s, hope) + w.power_trump + w.power_boss * boss
    return value * swing(s, w.hope_side) + w.power_side * boss


@kernel
def leading_trump(v, s, card, chance, w):
    """What a lead of trump does beside winning the trick: point cards fall, trumps are drawn."""
    p = v.public
    r = p.rules
    left = s.unseen & BELOW[s.row, card]
    points = 0.0
    while left:
        lower = lowest(left)
        left &= left - 1
        points += trump_points(r, s.trump, lower)
    gain = s.point * points * s.enemy[s.trump] * w.fall * chance
    out = 1.0 - (1.0 - min(1.0, s.enemy[s.trump])) ** count(s.unseen & s.trumps)
    ours = p.pitcher % r.sides == v.seat % r.sides
    return gain + out * (w.draw_pitcher if ours else w.draw_other)


@kernel
def chance_to_win(v, s, card, suit, w):
    """The chance that the own side wins the trick when this card is played to it."""
    p = v.public
    r = p.rules
    me = v.seat
    if p.winning == NOBODY:
        best, led, leader, chance = card, suit, me, 1.0
    else:
        best = p.trick[p.winning]
        leader = p.leader
        led = suit_in(s, p.trick[leader])
        chance = 1.0 if (p.winning - me) % r.sides == 0 else 0.0
        beats = strength(r.off_jack, s.trump, card) > strength(r.off_jack, s.trump, best)
        if beats and (suit == s.trump or suit == suit_in(s, best)):
            best = card
            chance = 1.0
    seat = (me + 1) % r.players
    while seat != leader:
        beaten = chance_to_beat(v, s, seat, best, led, w)
        if (seat - me) % r.sides:
            chance *= 1.0 - beaten
        else:
            chance += (1.0 - chance) * beaten * w.partner_beats
        seat = (seat + 1) % r.players
    return chance


@kernel
def chance_to_beat(v, s, seat, best, led, w):
    """The chance that a seat still to play can beat the best card of the trick, and does."""
    trump = s.trump
    higher = count(ABOVE[s.row, best] & s.unseen)
    holds_trump = s.chance[seat, trump]
    if led == trump:
        return 1.0 - (1.0 - holds_trump) ** higher
    in_led = count(s.unseen & ~s.trumps & (0x1FFF << 13 * led))
    void = (1.0 - s.chance[seat, led]) ** in_led
    trumps = 1.0 - (1.0 - holds_trump) ** (higher if s.trumps >> best & 1 else count(s.unseen & s.trumps))
    trumps *= void * w.ruff_void + (0.0 if v.public.rules.follow == SUIT else (1.0 - void) * w.ruff_any)
    if s.trumps >> best & 1:
        return trumps
    follows = 1.0 - (1.0 - s.chance[seat, led]) ** higher
    return 1.0 - (1.0 - follows) * (1.0 - trumps)

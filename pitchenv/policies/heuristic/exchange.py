"""Redraw and discard: what a card is worth keeping."""

from pitchenv.actions import DONE
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import pips
from pitchenv.engine.state import REDRAW
from pitchenv.policies.heuristic.situation import ABOVE, boss_chance, low_chance, suit_in, trump_points


@kernel
def keeping(v, s, card, w):
    """What keeping a card is worth, in points."""
    p = v.public
    r = p.rules
    suit = suit_in(s, card)
    boss = boss_chance(s, suit, card)
    own_pips = pips(1 << card, r.joker_pips) * s.pip
    if suit == s.trump:
        high = 1.0 if ABOVE[s.row, card] & (s.unseen | v.hand) == 0 else 0.0
        return 1.0 + high + w.power_trump + w.power_boss * boss + trump_points(r, s.trump, card) + low_chance(v, s, card)
    value = w.power_side * boss + own_pips * w.hope_side
    if r.discards_count and v.seat == p.pitcher:
        value -= own_pips  # they count as if won
    return value


@kernel
def choose_card_away(v, s, cards, w):
    """The legal card least worth keeping; in the redraw `done` where a new card for it is not worth more, or not to be had."""
    p = v.public
    if cards == 0:
        return DONE
    least = 1e9
    choice = DONE
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        value = keeping(v, s, card, w)
        if value < least:
            least = value
            choice = card
    if p.phase == REDRAW:
        spare = count(v.hand) > p.rules.tricks  # would have to be put away later
        if (least >= w.redraw_below and not spare) or p.stock_left <= p.redrawn[v.seat]:
            return DONE
    return choice

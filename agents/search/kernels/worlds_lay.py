"""The second half of a world: given what each seat holds and has put away, what it was dealt and what it drew, and in what order."""

import numpy as np

from agents.search.kernels.worlds_pick import list_cards, take, unit
from agents.search.kernels.worlds_ways import CHOOSE, split
from pitchenv.cards import CARDS
from pitchenv.engine.bits import GOLDEN, count
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import seat_at
from pitchenv.engine.state import HIDDEN_CARD, NOBODY, SEATS


@kernel
def lay_stock(v, s, x, h):
    """Which of their cards others put away when, and were dealt or drew; what was drawn lies in the stock where it was drawn from."""
    p = v.public
    players = p.rules.players
    first = p.pitcher if p.pitcher != NOBODY else 0
    at = s.widow
    for slot in range(players):
        seat = seat_at(slot, first, players)
        if seat == v.seat:
            if v.drawn:
                x = lay_own(v, s, at, x, h)
        elif s.put[seat] or s.drawn[seat] or seat == p.pitcher:
            x = lay_seat(v, s, seat, at, x, h)
        else:
            h.first_hands[seat] = h.hands[seat] | p.played[seat]
        at += s.drawn[seat]
    return x


@kernel
def lay_seat(v, s, seat, at, x, h):
    """The same for one other seat, whose cards of the redraw begin at `at`."""
    p = v.public
    put = h.put_away[seat]
    redrawn = np.int64(p.redrawn[seat])
    out = s.put_cards[seat]
    trumps = early = late = 0
    g = s.group_of[seat]
    if g != NOBODY and s.keeper[g] == seat:
        trumps = s.trumps
        a, k = count(put & trumps), count(h.hands[seat] & trumps)
        x += GOLDEN
        split(p, s, seat, a, k, unit(x) * s.splits[g, a, k])
        early, late = s.took[0], s.took[1]
    # With no keeper `trumps` is empty, and all is drawn from the others.
    first, x = take(put & trumps, early, out, 0, s.pile, x)
    second, x = take(put & ~trumps, redrawn - early, out, early, s.pile, x)
    later = put & ~first & ~second
    _, x = take(later, s.put[seat] - redrawn, out, redrawn, s.pile, x)
    kept = later | h.hands[seat] | p.played[seat]
    drawn = s.drawn[seat]
    first, x = take(kept & trumps, late, h.stock, at, s.pile, x)
    second, x = take(kept & ~trumps, drawn - late, h.stock, at + late, s.pile, x)
    widow = 0
    others = (put | h.hands[seat] | p.played[seat]) & ~first & ~second
    if seat == p.pitcher:
        widow, x = take(others, s.widow, h.stock, 0, s.pile, x)
    h.first_hands[seat] = others & ~widow
    return x


@kernel
def lay_own(v, s, at, x, h):
    """What the looking seat drew, its cards of the redraw from `at` on. A view does not tell which of them a pitcher who redrew had from
    the widow: what it put away in the redraw, with `keep_trump` enough trumps to have been free to do so, and otherwise any."""
    p = v.public
    drawn = v.drawn
    widow = s.widow if v.seat == p.pitcher else 0
    early = put_away_early(v) if p.redrawn[v.seat] else 0
    trumps = s.trumps
    had = drawn & early
    least = 0
    if p.rules.keep_trump and early & trumps:
        least = p.rules.tricks - count(v.first_hand & trumps & ~early)
    free = drawn & ~had
    k = widow - count(had)
    some, others = count(free & trumps), count(free & ~trumps)
    total = 0.0
    for t in range(max(0, least, k - others), min(k, some) + 1):
        total += CHOOSE[some, t] * CHOOSE[others, k - t]
    x += GOLDEN
    target = unit(x) * total
    total = 0.0
    chosen = 0
    for t in range(max(0, least, k - others), min(k, some) + 1):
        if total <= target:
            chosen = t
        total += CHOOSE[some, t] * CHOOSE[others, k - t]
    if widow:
        list_cards(had, h.stock, 0)
        first, x = take(free & trumps, chosen, h.stock, count(had), s.pile, x)
        second, x = take(free & ~trumps, k - chosen, h.stock, count(had) + chosen, s.pile, x)
        drawn = free & ~first & ~second
    _, x = take(drawn, s.drawn[v.seat], h.stock, at, s.pile, x)
    return x


@kernel
def put_away_early(v):
    """What the looking seat put away in the redraw."""
    p = v.public
    cards = 0
    left = p.redrawn[v.seat]
    for i in range(p.moves):
        if left and p.history_seats[i] == v.seat and 0 <= v.history[i] < CARDS:
            cards |= 1 << v.history[i]
            left -= 1
    return cards


@kernel
def name_put_away(v, s, m):
    """Name in the history what others have put away: the world is a whole record, and each seat sees its own discards in it."""
    if s.named == 0:
        return
    p = v.public
    for seat in range(SEATS):
        s.heads[seat] = 0
    for i in range(p.moves):
        if m.history[i] == HIDDEN_CARD:
            seat = p.history_seats[i]
            m.history[i] = s.put_cards[seat, s.heads[seat]]
            s.heads[seat] += 1

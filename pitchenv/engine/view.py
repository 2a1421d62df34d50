"""What one seat may know, and a match again from that and a guess of the rest."""

from pitchenv.cards import CARDS
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import HIDDEN_CARD


@kernel
def look(m, seat, v):
    """Write to `v` (a VIEW) what `seat` may know of `m` (a MATCH) now, and nothing else; its history is left as it was."""
    p = m.public
    h = m.hidden
    v.public = p
    v.seat = seat
    v.hand = h.hands[seat]
    v.first_hand = h.first_hands[seat]
    v.put_away = h.put_away[seat]
    v.drawn = (h.hands[seat] | h.put_away[seat] | p.played[seat]) & ~h.first_hands[seat]


@kernel
def view(m, seat, v):
    """Write to `v` (a VIEW) all that `seat` may know of `m` (a MATCH), with perfect recall, and nothing else."""
    look(m, seat, v)
    p = m.public
    by_others = 0
    for s in range(p.rules.players):
        if s != seat:
            by_others += p.redrawn[s] + p.discarded[s]
    v.history = m.history
    if by_others:
        end = p.first_lead_at if p.first_lead_at else p.moves
        for i in range(end):
            if v.history[i] < CARDS and p.history_seats[i] != seat:
                v.history[i] = HIDDEN_CARD


@kernel
def state_from(v, hidden, m):
    """Write to `m` a playable match from a view and a guess (HIDDEN) of the rest: hands, first hands and cards put away by
    seat, stock, seed. The seat's own cards are taken from the view; what others put away stays unnamed in the history."""
    seat = v.seat
    m.public = v.public
    m.hidden = hidden
    m.hidden.hands[seat] = v.hand
    m.hidden.first_hands[seat] = v.first_hand
    m.hidden.put_away[seat] = v.put_away
    m.history = v.history

"""Deals played to their ends by any policy: what the compiled side of it does. See `agents.search.playout`."""

from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import apply, legal, write_mask
from pitchenv.engine.state import ENDED, NOBODY
from pitchenv.engine.table import only_action
from pitchenv.engine.view import view


@kernel
def choices(matches, rows, views, mask, seats):
    """Take single legal actions in every match; where there is a choice, write what the seat to act has before it.

    Row k of `views`, `mask` and `seats` belongs to match `rows[k]`. Returns the number of rows written.
    """
    n = 0
    for i in range(len(matches)):
        m = matches[i]
        action = only_action(m)
        while action != NOBODY:
            apply(m, action)
            action = only_action(m)
        if m.public.phase == ENDED:
            continue
        rows[n] = i
        seats[n] = m.public.turn
        cards, calls = legal(m)
        write_mask(cards, calls, mask[n])
        view(m, m.public.turn, views[n])
        n += 1
    return n


@kernel
def take(matches, rows, actions):
    """One legal action in each of some matches."""
    for k in range(len(rows)):
        apply(matches[rows[k]], actions[k])


@kernel
def branch(worlds, actions, matches):
    """Write to `matches` (actions × worlds,) every one of `worlds` (w,) after each action, action by action."""
    k = 0
    for action in actions:
        for world in range(len(worlds)):
            matches[k] = worlds[world]
            apply(matches[k], action)
            k += 1

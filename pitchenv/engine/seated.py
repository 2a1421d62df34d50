"""Seats that look and act, as the environments call it from Python: one match (an array and an index), or chosen rows of many."""

from pitchenv.engine.bits import below, stream
from pitchenv.engine.deal import LEARNER
from pitchenv.engine.encode import encode
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal, next_match, redeal, write_mask
from pitchenv.engine.state import NOBODY
from pitchenv.engine.table import pay
from pitchenv.engine.view import view

ILLEGAL = -2


@kernel
def take(matches, i, action):
    """Take an action if it is legal. Returns the seat to act then, NOBODY where that ended the deal; or ILLEGAL, with nothing changed."""
    cards, calls = legal(matches[i])
    if not allows(cards, calls, action):
        return ILLEGAL
    apply(matches[i], action)
    return matches[i].public.turn


@kernel
def look(matches, i, seat, scratch, at, observation, mask):
    """Write the observation and the mask (all zero unless it is its turn) of a seat; `scratch` is an array of one VIEW."""
    m = matches[i]
    view(m, seat, scratch[0])
    encode(scratch[0], at, observation)
    cards, calls = legal(m) if m.public.turn == seat else (0, 0)
    write_mask(cards, calls, mask)


@kernel
def pay_deal(matches, i, options, reward):
    """Write what the deal that has just ended pays to `reward`, by seat."""
    reward[:] = 0
    pay(matches[i], options[0], reward)


@kernel
def start_next(matches, i):
    """Another match in the place of this one, its seed drawn from this one's."""
    next_match(matches[i], False)


@kernel
def look_all(matches, rows, seats, scratch, at, observations, masks):
    """`look` for match `rows[k]` and seat `seats[k]`, for every k."""
    for k in range(len(rows)):
        look(matches, rows[k], seats[k], scratch, at, observations[k], masks[k])


@kernel
def view_all(matches, rows, seats, views, masks):
    """The views of the same, seats that are to act, and their masks."""
    for k in range(len(rows)):
        m = matches[rows[k]]
        view(m, seats[k], views[k])
        cards, calls = legal(m)
        write_mask(cards, calls, masks[k])


@kernel
def legal_all(matches, rows, actions, allowed):
    """Write whether `actions[k]` is legal in match `rows[k]` to `allowed[k]`."""
    for k in range(len(rows)):
        cards, calls = legal(matches[rows[k]])
        allowed[k] = allows(cards, calls, actions[k])


@kernel
def take_all(matches, rows, actions, options, rewards):
    """Legal actions in chosen matches; what deals that end by them pay is added to `rewards`, by match and seat."""
    for k in range(len(rows)):
        m = matches[rows[k]]
        apply(m, actions[k])
        if m.public.turn == NOBODY:
            pay(m, options[0], rewards[rows[k]])


@kernel
def redeal_all(matches, rows):
    """The next deal in chosen matches."""
    for k in range(len(rows)):
        redeal(matches[rows[k]])


@kernel
def start_next_all(matches, rows):
    """`start_next` in chosen matches."""
    for k in range(len(rows)):
        next_match(matches[rows[k]], False)


@kernel
def draw_seats(matches, rows, seats):
    """A seat for the learner in chosen matches, from their own seeds: row by row the same in any number of matches."""
    for k in range(len(rows)):
        m = matches[rows[k]]
        seats[rows[k]] = below(stream(m.hidden.seed, LEARNER), m.public.rules.players)

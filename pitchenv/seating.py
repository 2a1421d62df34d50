"""What the environments share: seats that act and look from Python, given deals, and what an illegal action costs."""

from typing import Any, Final

import numpy as np

from pitchenv.actions import ACTIONS, PASS
from pitchenv.engine.bits import below, stream
from pitchenv.engine.encode import encode
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal, next_match, redeal
from pitchenv.engine.state import NOBODY
from pitchenv.engine.table import pay
from pitchenv.engine.view import view
from pitchenv.game import Game
from pitchenv.rules import Rules
from pitchenv.spaces import START_SCORE_LIMIT

ILLEGAL: Final = -2
LEARNER_SEAT: Final = -6  # a random stream of a match, beside those in `engine.deal`


def penalty(rules: Rules, reward: str) -> float:
    """What an illegal action costs the offender's side; every other side gets this divided by (sides − 1), so that sides sum to zero.

    As much as the worst that a deal (`margin`: set back by the highest bid while the others make all points; `score`: set back) or, with
    `win`, a match can cost.
    """
    return {"margin": 2.0 * rules.max_bid, "score": float(rules.max_bid), "win": 1.0}[reward]


def next_game(rules: Rules, before: Game) -> Game:
    """Another match on these rules, its seed drawn from that of the match before; the same that a `Batch` would go on with."""
    game = Game.from_record(rules, before._match[0])
    start_next(game._match, 0)
    return game


def lay_out(game: Game, options: dict[str, Any] | None) -> Game:
    """The match with what a reset's `options` give in the place of what was drawn: `hands` by seat, `stock` (top first), `dealer`,
    `scores` by side (−1000 … 1000). Keys that are not known are left alone. Raises ValueError with one line."""
    given = {key: value for key in ("hands", "stock", "dealer", "scores") if (value := (options or {}).get(key)) is not None}
    if not given:
        return game
    for score in given.get("scores", ()):
        if not isinstance(score, int | np.integer) or abs(score) > START_SCORE_LIMIT:
            raise ValueError(f"scores = {given['scores']!r}: allowed: whole numbers from −{START_SCORE_LIMIT} to {START_SCORE_LIMIT}")
    if "hands" not in given:
        given = {"hands": game.hands, "stock": game.stock} | given
    laid = Game.from_deal(game.rules, **{"dealer": game.dealer, "scores": game.scores} | given)
    laid._hidden["seed"] = game._hidden["seed"]
    return laid


# Kernels. One match is an array and an index.


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
    for k in range(PASS):
        mask[k] = cards >> k & 1
    for k in range(PASS, ACTIONS):
        mask[k] = calls >> (k - PASS) & 1


@kernel
def pay_deal(matches, i, options, reward):
    """Write what the deal that has just ended pays to `reward`, by seat."""
    reward[:] = 0
    pay(matches[i], options[0], reward)


@kernel
def start_next(matches, i):
    """Another match in the place of this one, its seed drawn from this one's."""
    next_match(matches[i], False)


# The same over chosen rows of many matches.


@kernel
def look_all(matches, rows, seats, scratch, at, observations, masks):
    """`look` for match `rows[k]` and seat `seats[k]`, for every k."""
    for k in range(len(rows)):
        look(matches, rows[k], seats[k], scratch, at, observations[k], masks[k])


@kernel
def view_all(matches, rows, seats, views):
    """The views of the same."""
    for k in range(len(rows)):
        view(matches[rows[k]], seats[k], views[k])


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
        seats[rows[k]] = below(stream(m.hidden.seed, LEARNER_SEAT), m.public.rules.players)

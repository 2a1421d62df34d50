"""What the environments share: the next match of a stream, given deals, and what an illegal action costs."""

from typing import Any

import numpy as np

from pitchenv.engine import seated
from pitchenv.game import Game
from pitchenv.rules import Rules
from pitchenv.spaces import START_SCORE_LIMIT


def penalty(rules: Rules, reward: str) -> float:
    """What an illegal action costs the offender's side; every other side gets this divided by (sides − 1), so that sides sum to zero.

    As much as the worst that a deal (`margin`: set back by the highest bid while the others make all points; `score`: set back) or, with
    `win`, a match can cost.
    """
    return {"margin": 2.0 * rules.max_bid, "score": float(rules.max_bid), "win": 1.0}[reward]


def next_game(rules: Rules, before: Game) -> Game:
    """Another match on these rules, its seed drawn from that of the match before; the same that a `Batch` would go on with."""
    game = Game.from_record(rules, before._match[0])
    seated.start_next(game._match, 0)
    return game


def lay_out(game: Game, options: dict[str, Any] | None) -> Game:
    """The match with what a reset's `options` give in the place of what was drawn: `hands` by seat, `stock` (top first), `dealer`,
    `scores` by side (−1000 … 1000). Keys that are not known are left alone. Raises ValueError with one line."""
    given: dict[str, Any] = {
        key: value for key in ("hands", "stock", "dealer", "scores") if (value := (options or {}).get(key)) is not None
    }
    if not given:
        return game
    dealer = given.setdefault("dealer", game.dealer)
    if not isinstance(dealer, int | np.integer):
        raise ValueError(f"dealer = {dealer!r}: allowed: 0 … {game.rules.players - 1}")
    for score in given.setdefault("scores", game.scores):
        if not isinstance(score, int | np.integer) or abs(int(score)) > START_SCORE_LIMIT:
            raise ValueError(f"scores = {given['scores']!r}: allowed: whole numbers from −{START_SCORE_LIMIT} to {START_SCORE_LIMIT}")
    if "hands" not in given:
        given = {"hands": game.hands, "stock": game.stock} | given
    laid = Game.from_deal(game.rules, **given)
    laid._hidden["seed"] = game._hidden["seed"]
    return laid

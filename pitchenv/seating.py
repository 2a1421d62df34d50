"""What the environments share: the next match of a stream, given deals, and what an illegal action costs."""

from typing import Any

import numpy as np

from pitchenv.checks import mapping
from pitchenv.engine import seated
from pitchenv.game import Game
from pitchenv.rules import Rules


def penalty(rules: Rules, reward: str, deals_left: Any = 1) -> Any:
    """What an illegal action costs the offender's side in an episode of so many deals more, the one at hand among them (a number or an
    array); every other side gets this divided by (sides − 1), so that sides sum to zero.

    As much as the worst that can still come, so that it never pays to end an episode so: in each deal, with `margin`, to be set back by the
    highest bid while the others make all points, with `score` to be set back; with `win`, to lose the match.
    """
    return 1.0 if reward == "win" else deals_left * {"margin": 2.0, "score": 1.0}[reward] * rules.max_bid


def next_game(rules: Rules, before: Game) -> Game:
    """Another match on these rules, its seed drawn from that of the match before; the same that a `Batch` would go on with."""
    game = Game.from_record(rules, before._match[0])
    seated.start_next(game._match, 0)
    return game


def lay_out(game: Game, options: dict[str, Any] | None) -> Game:
    """The match with what a reset's `options` give in the place of what was drawn: `hands` by seat, `stock` (top first; if not given with
    hands, what they leave, shuffled by the match's seed), `dealer`, `scores` by side. Keys that are not known are left alone, and so is
    None. Raises InputError with one line, see `Game.from_deal`.
    """
    options = {} if options is None else dict(mapping("options", options))
    given: dict[str, Any] = {key: value for key in ("hands", "stock", "dealer", "scores") if (value := options.get(key)) is not None}
    if not given:
        return game
    drawn: dict[str, Any] = {"dealer": game.dealer, "scores": game.scores}
    if "hands" not in given:
        drawn |= {"hands": game.hands, "stock": game.stock}
    laid, seed = Game.from_deal(game.rules, **drawn | given), game._hidden["seed"]
    if "hands" in given and "stock" not in given:
        shuffled = np.random.default_rng(int(seed[0])).permutation(laid.stock).tolist()
        laid = Game.from_deal(game.rules, **drawn | given | {"stock": shuffled})
    laid._hidden["seed"] = seed
    return laid

"""The numbers the rules of thumb run on: one small record, so that tuning and other variants are just other numbers."""

from typing import Final

import numpy as np

# Untuned: plausible numbers, chosen before the first deal was played. Chances are from 0 to 1, worths are in points of a deal.
_UNTUNED: Final = {
    # What a hand is worth as pitcher (see `bidding.estimate`)
    "length": 0.25,  # control that each trump adds, beside its chance to be the highest left
    "low_keep": 0.5,  # chance to bring home a low that the winner gets
    "low_catch": 0.05,  # chance to win another's low, for each unit of control
    "keep_loss": 0.8,  # how much of the chance that an enemy holds a higher trump is lost with a point card
    "catch": 0.15,  # chance to win an enemy's point card, for each unit of control
    "game_base": 0.25,  # chance of Game without any control, between two sides
    "game_control": 0.12,  # what each unit of control adds
    "game_pips": 0.01,  # what each pip in hand adds
    "side_ace": 0.05,  # and each ace of another suit
    # When to bid (see `bidding.choose_call`)
    "bid_base": 0.0,  # a bid of b asks for an estimate of bid_base + bid_slope × b
    "bid_slope": 1.0,
    "bid_max": 0.0,  # and this more when b is the most that can be bid
    "over_partner": 1.0,  # more, to take it from the partner
    "solo": 0.3,  # more, times 1 − 1 / (sides − 1): with many sides an enemy's success costs less
    "to_come": 0.0,  # more, for each enemy still to call
    "danger": 0.5,  # less, when an enemy is within the reach of a bid of the target
    # Card play (see `tricks.score_card`)
    "trick": 0.1,  # what a trick is worth beside the cards seen in it
    "game_weight": 1.0,  # how much of the Game point hangs on all the pips still to come
    "stake": 0.3,  # how much of the bid is added to a point's worth while the bid hangs on the open points
    "ruff_void": 0.9,  # chance that a seat that can't follow and has a trump plays it
    "ruff_any": 0.2,  # chance that a seat that could follow trumps all the same
    "partner_beats": 0.9,  # chance that a partner who can take a trick for us does
    "hope_trump": 0.3,  # chance to bring home a point trump that an enemy can beat, if kept
    "hope_boss": 0.9,  # the same for one that no enemy can beat
    "hope_side": 0.4,  # chance to bring home the pips of a card of another suit, if kept
    "power_trump": 0.1,  # what a trump is worth in hand
    "power_boss": 0.3,  # what the highest trump left is worth in hand beside that
    "power_side": 0.1,  # what the highest card left of another suit is worth in hand
    "fall": 0.4,  # chance that an enemy's point trump falls under a higher one that is led
    "draw_pitcher": 0.1,  # what drawing trumps is worth to the pitcher's side
    "draw_other": -0.1,  # and to the others
    "pitcher_trumps": 1.5,  # how many times more trumps than others the pitcher is taken to hold
    # Exchange (see `exchange.choose_card_away`)
    "redraw_below": 0.3,  # a card kept for less is put away for a new one
}

# The chances among them, which tuning keeps from 0 to 1.
CHANCES: Final = (
    "low_keep", "keep_loss", "ruff_void", "ruff_any", "partner_beats", "hope_trump", "hope_boss", "hope_side", "fall",
)  # fmt: skip

PARAMETERS: Final = np.dtype([(name, np.float64) for name in _UNTUNED])
NAMES: Final = tuple(_UNTUNED)
FOUR_POINTS, MORE_POINTS = 0, 1  # which parameters hold: by whether the game has points beside High, Low, Jack and Game


def parameters(changes: tuple[dict[str, float], dict[str, float]] = ({}, {})) -> np.ndarray:
    """The two records of parameters, untuned ones with changes: `PARAMETERS` (2,)."""
    return np.array([tuple({**_UNTUNED, **change}.values()) for change in changes], PARAMETERS)


UNTUNED: Final = parameters()
TUNED: Final = parameters()

"""The numbers that the rules of thumb run on, one small record: tuning and other variants are just other numbers."""

from typing import Final

import numpy as np

# Chances are from 0 to 1, worths in points of a deal. `control` is a measure of the trumps in hand: about how many tricks they win.
# name: (untuned, tuned for four points a deal, tuned for more). The untuned are plausible first guesses, the tuned what
# `python -m training.tune_heuristic` found with `--family four --sweeps 4 --deals 1500 --seed 20000` and with `--family more --sweeps 4
# --deals 1000 --seed 40000`; frozen as version 1.
_TABLE: Final[dict[str, tuple[float, float, float]]] = {
    # What a hand is worth as pitcher (`bidding.estimate`)
    "length": (0.25, 0.35, 0.35),  # control that each trump adds, beside its chance to be the highest left
    "low_keep": (0.5, 0.7, 0.5),  # chance to bring home a low that the winner gets
    "low_catch": (0.05, 0.084, 0.05),  # chance to win another's low, for each unit of control
    "keep_loss": (0.8, 0.256, 0.37),  # chance to lose a point card to an enemy who holds a higher trump
    "catch": (0.15, 0.281, 0.252),  # chance to win an enemy's point card, for each unit of control
    "game_base": (0.25, 0.42, 0.25),  # chance of Game without any control, between two sides
    "game_control": (0.12, 0.168, 0.12),  # what each unit of control adds
    "game_pips": (0.01, 0.014, 0.016),  # what each pip in hand adds
    "side_ace": (0.05, 0.05, 0.05),  # what each ace of another suit adds
    # When to bid (`bidding.asked`)
    "bid_base": (0.0, -0.204, 0.0),  # a bid of b asks for an estimate of bid_base + bid_slope × b
    "bid_slope": (1.0, 1.0, 1.0),
    "bid_max": (0.0, 0.0, 0.0),  # and for this more when b is the most that can be bid
    "over_partner": (1.0, -0.013, 1.0),  # for this more, to take it from the partner
    "solo": (0.3, 0.18, 0.121),  # for this more, times 1 − 1 / (sides − 1): one enemy's points matter less among many sides
    "to_come": (0.0, -0.1, 0.0),  # for this more, for each enemy still to call
    "danger": (0.5, 0.5, 0.5),  # for this less, when only a pitcher can win the match and an enemy is near the target
    "press": (0.5, 0.491, 0.5),  # for this less, when only a pitcher can win the match and the own side is near the target
    # Card play (`situation`, `tricks`)
    "trick": (0.1, 0.112, 0.06),  # worth of a trick beside the cards seen in it
    "game_weight": (1.0, 0.6, 0.863),  # how much of the Game point hangs on the pips still to come
    "stake": (0.3, 0.241, 0.3),  # how much of the bid is added to a point's worth while the bid hangs on the open points
    "ruff_void": (0.9, 1.0, 1.0),  # chance that a seat that can't follow and has a trump plays it
    "ruff_any": (0.2, 0.375, 0.283),  # chance that a seat that could follow trumps all the same
    "partner_beats": (0.9, 0.9, 1.0),  # chance that a partner who can win the trick does
    "hope_trump": (0.3, 0.604, 0.604),  # chance to bring home a point trump that an enemy can beat, if kept
    "hope_boss": (0.9, 1.0, 1.0),  # the same for one that no enemy can beat
    "hope_side": (0.4, 0.482, 0.4),  # chance to bring home the pips of a card of another suit, if kept
    "power_trump": (0.1, 0.16, 0.14),  # worth of a trump in hand
    "power_boss": (0.3, 0.3, 0.3),  # worth of the highest trump left, beside that
    "power_side": (0.1, 0.1, 0.1),  # worth of the highest card left of another suit
    "fall": (0.4, 0.727, 0.24),  # chance that an enemy's point trump falls to a higher one that is led
    "draw_pitcher": (0.1, 0.148, 0.086),  # worth of drawing trumps to the pitcher's side
    "draw_other": (-0.1, -0.12, -0.1),  # and to the others
    "pitcher_trumps": (1.5, 1.206, 1.5),  # how many times as many trumps as others the pitcher is taken to hold
    # Exchange (`exchange.choose_card_away`)
    "redraw_below": (0.3, 0.3, 0.3),  # a card kept for less is put away for a new one
}
# The chances among them, which tuning keeps from 0 to 1.
CHANCES: Final = (
    "low_keep", "keep_loss", "ruff_void", "ruff_any", "partner_beats", "hope_trump", "hope_boss", "hope_side", "fall",
)  # fmt: skip

NAMES: Final = tuple(_TABLE)
PARAMETERS: Final = np.dtype([(name, np.float64) for name in NAMES])
FOUR_POINTS, MORE_POINTS = 0, 1  # which record holds: does the game have points beside High, Low, Jack and Game?


def _records(*columns: int) -> np.ndarray:
    records = np.array([tuple(row[column] for row in _TABLE.values()) for column in columns], PARAMETERS)
    records.flags.writeable = False
    return records


UNTUNED: Final = _records(0, 0)  # PARAMETERS (2,)
TUNED: Final = _records(1, 2)

"""What the tables of tests are written in: hands by card name, legal actions as text, deals played from a list.

Hands are one string, seats apart by `|`: `"AS 2H | 3S 3H"` is two seats with two cards each. Unless a test says
otherwise seat 0 is the pitcher, spades are trump and each seat plays its hand from left to right.
"""

from typing import Any

import pitchenv
from tests.reference import ACTIONS

# A plain game to which a test adds what it is about; `hand_size`, `tricks` and `players` follow the hands it deals.
PLAIN: dict[str, Any] = {
    "players": 4,
    "sides": 2,
    "lowest_rank": 2,
    "jokers": 0,
    "off_jack": False,
    "hand_size": 6,
    "widow": 0,
    "redraw": 0,
    "tricks": 6,
    "trump": "declared",
    "keep_trump": False,
    "discards_count": False,
    "auction": "once",
    "min_bid": 1,
    "dealer_must_bid": (),
    "dealer_steals": "never",
    "thrown_in": "same_dealer",
    "first_lead": "any",
    "follow": "suit_may_trump",
    "high_low": "in_play",
    "low_to": "winner",
    "trump_three": False,
    "game": "pips",
    "joker_pips": 0,
    "target": 7,
    "win": "pitcher",
    "overshoot": "counts",
}


def house(**changes: Any) -> pitchenv.Rules:
    return pitchenv.Rules(**(PLAIN | changes))


def seats(hands: str) -> list[list[str]]:
    return [hand.split() for hand in hands.split("|")]


def deal(hands: str, stock: str = "", dealer: int | None = None, scores: list[int] | None = None, **changes: Any) -> pitchenv.Game:
    """A deal with these hands, the dealer by default the last seat, so that seat 0 opens the auction."""
    by_seat = seats(hands)
    players, hand_size = len(by_seat), len(by_seat[0])
    sizes = {"players": players, "hand_size": hand_size, "tricks": hand_size}
    sizes["sides"] = 2 if players % 2 == 0 else players
    rules = house(**(sizes | changes))
    return pitchenv.Game.from_deal(
        rules,
        hands=by_seat,
        stock=stock.split(),
        dealer=players - 1 if dealer is None else dealer,
        scores=[0] * rules.sides if scores is None else scores,
        seed=0,
    )


def play(game: pitchenv.Game, *actions: str) -> pitchenv.Game:
    for action in actions:
        game.apply(action)
    return game


def legal(game: pitchenv.Game) -> set[str]:
    return {ACTIONS[action] for action in game.legal_actions()}


def names(cards: Any) -> set[str]:
    """Card numbers as names."""
    return {ACTIONS[card] for card in cards}


def bought(game: pitchenv.Game, bid: int = 1, trump: str | None = "S") -> pitchenv.Game:
    """The first seat bids, all others pass, and trump is named unless it is pitched."""
    play(game, f"bid {bid}")
    while game.phase == "auction":
        game.apply("pass")
    return play(game, f"trump {trump}") if game.phase == "trump" and trump is not None else game


def play_left_to_right(game: pitchenv.Game, hands: str) -> pitchenv.Game:
    """The tricks: each seat plays its cards in the order in which they are listed."""
    left = seats(hands)
    while game.phase == "play":
        game.apply(left[game.seat].pop(0))
    return game


def finished(hands: str, bid: int = 1, scores: list[int] | None = None, **changes: Any) -> pitchenv.Game:
    """A whole deal without an exchange: seat 0 buys it and all hands are played from left to right."""
    return play_left_to_right(bought(deal(hands, scores=scores, **changes), bid), hands)

"""Hands as bidders see them: how many cards of the best suit, and which of its high cards and points."""

from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pitchenv import Rules
from pitchenv.actions import ACTIONS, TRUMP_0
from pitchenv.cards import ACE, HIGH_JOKER, JACK, KING, QUEEN, SUITS
from pitchenv.engine.state import NOBODY, TRUMP
from pitchenv.engine.suits import suit_cards
from pitchenv.policies.heuristic import HeuristicPolicy

HONOURS: Final = {"A": ACE, "K": KING, "Q": QUEEN, "J": JACK}
MOST_POINTS: Final = 4  # points in hand from which on all are one class


@dataclass(frozen=True)
class HandClasses:
    """The classes of hands under some rules: a row of high cards, strongest first, and a column of lengths from 0.

    In games of four points a row is which of ace, king, queen and jack are in the suit; in games of more, which of ace and king, and how
    many points the other cards of the suit in hand can score (jack, off-jack, jokers and three, and the ten where it scores).
    """

    rules: Rules

    @property
    def by_points(self) -> bool:
        """Whether rows tell ace, king and points."""
        return self.rules.max_bid > 4

    @property
    def honours(self) -> tuple[str, ...]:
        """The high cards that rows tell apart."""
        return ("A", "K") if self.by_points else tuple(HONOURS)

    @property
    def rows(self) -> list[str]:
        """Names of the rows: "AK·J", or "A· 3" for an ace and three points."""
        shapes = ["".join(shape) for shape in product(*((honour, "·") for honour in self.honours))]
        if not self.by_points:
            return shapes
        points = [f"{n}{'+' if n == MOST_POINTS else ' '}" for n in range(MOST_POINTS, -1, -1)]
        return [f"{shape} {more}" for shape in shapes for more in points]

    @property
    def columns(self) -> int:
        """Lengths, from none to the whole hand."""
        return self.rules.hand_size + 1

    def of(self, views: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row and column (n,) of the hand of each of `views`, VIEW (n,)."""
        suit, rules = best_suits(views), self.rules
        hand = views["hand"]
        trumps = np.array([suit_cards(rules.off_jack, s, s) for s in range(SUITS)])[suit]
        length = np.bitwise_count(hand & trumps).astype(np.int64)
        row = np.zeros(len(views), np.int64)
        for honour in self.honours:
            row = 2 * row + (hand >> _card(HONOURS[honour], suit) & 1 == 0)
        if self.by_points:
            row = row * (MOST_POINTS + 1) + MOST_POINTS - np.minimum(self._points(hand, suit), MOST_POINTS)
        return row, length

    def _points(self, hand: NDArray[np.int64], suit: NDArray[np.int64]) -> NDArray[np.int64]:
        """The points (n,) that cards in hand score for who wins them."""
        rules, points = self.rules, np.zeros(len(hand), np.int64)
        worth = [(_card(JACK, suit), 1)]
        worth += [(_card(JACK, SUITS - 1 - suit), 1)] if rules.off_jack else []  # the other suit of the colour
        worth += [(np.full_like(suit, HIGH_JOKER + joker), 1) for joker in range(rules.jokers)]
        worth += [(_card(3, suit), 3)] if rules.trump_three else []
        worth += [(_card(10, suit), 1)] if rules.game == "trump_ten" else []
        for card, of_card in worth:
            points += of_card * (hand >> card & 1)
        return points


def _card(rank: int, suit: NDArray[np.int64]) -> NDArray[np.int64]:
    """`pitchenv.cards.number` for many suits (n,)."""
    return suit * 13 + rank - 2


def best_suits(views: NDArray[Any]) -> NDArray[np.int64]:
    """The suit (n,) that `heuristic` would make trump of each hand before the first bid, whatever the rules of naming it."""
    asked = views.copy()
    asked["public"]["phase"], asked["public"]["trump"] = TRUMP, NOBODY
    mask = np.zeros((len(views), ACTIONS), np.bool_)
    mask[:, TRUMP_0 : TRUMP_0 + SUITS] = True
    suits: NDArray[np.int64] = HeuristicPolicy().act(asked, mask, asked["public"]["turn"]) - TRUMP_0
    return suits

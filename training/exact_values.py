"""What every card comes to with all hands open: a critic that is never wrong about the cards, only about what seats know of them."""

import numpy as np
from numpy.typing import NDArray

from agents.search.solver import Solver
from pitchenv.actions import ACTIONS
from pitchenv.cards import CARDS
from pitchenv.engine.state import PLAY


class ExactValues:
    """The margin of the side to act after each of its legal cards, best play by all with open hands, in deals of two sides with at most
    `cards` cards in all hands."""

    def __init__(self, cards: int) -> None:
        self.cards, self._solver = cards, Solver()

    def __call__(self, matches: NDArray[np.void]) -> NDArray[np.float32]:
        """Points (n, 70) float32 for an array of `MATCH` (n,), nan for other actions and where a deal is not solved."""
        public = matches["public"]
        values = np.full((len(matches), ACTIONS), np.nan, np.float32)
        rows = np.flatnonzero((public["phase"] == PLAY) & (public["held"].sum(axis=1) <= self.cards) & (public["rules"]["sides"] == 2))
        if rows.size:
            own = public["turn"][rows] % 2 == public["pitcher"][rows] % 2
            values[rows, :CARDS] = np.where(own, 1, -1)[:, None] * self._solver.cards(matches[rows])
        return values

"""The exact value of a deal with open hands."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import maxn
from agents.search.kernels import solving as kernels
from agents.search.kernels.alphabeta import ALL_SWITCHES, ENTRY, MOST_MOVES, TABLE_SIZE
from agents.search.kernels.position import PLIES, POSITION
from pitchenv.cards import CARDS
from pitchenv.checks import InputError
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import MATCH, PHASES, PLAY, SEATS

MOST_MAXN: Final = 18
UNKNOWN: Final = np.iinfo(np.int64).min


class Workspace:
    """Room for the solver's kernels: `arrays` are a POSITION (1,), the table, and moves in order."""

    def __init__(self) -> None:
        self.position = np.zeros(1, POSITION)
        self.arrays = (self.position, np.zeros(TABLE_SIZE, ENTRY), np.zeros((PLIES + 1, MOST_MOVES), np.int64))


class Solver:
    """Deals solved with all hands open, from any moment of the tricks to the end, by alpha-beta (see `agents.search.kernels.alphabeta`).

    The value of a deal is its margin for the pitcher's side in points: the change of that side's score less the mean change of the others',
    set-back, Game and every rule option included, where the pitcher's side makes it as large as it can and all the others, together, as
    small. With two sides that is the minimax value for both. `match_points` are added where the deal wins the match for the pitcher's side
    and taken off where it loses it (two sides only).
    """

    def __init__(self, *, match_points: int = 0, switches: int = ALL_SWITCHES) -> None:
        announce_compiling("the solver", kernels.__file__)
        self.match_points, self.switches = match_points, switches
        self._space = Workspace()

    @property
    def nodes(self) -> int:
        """Positions looked at so far."""
        return int(self._space.position["nodes"][0])

    def solve(self, matches: NDArray[np.void]) -> NDArray[np.float64]:
        """The values (n,) of an array of `MATCH` records (n,), all in the tricks. Raises InputError."""
        self._check(matches)
        values = np.empty(len(matches), np.int64)
        kernels.solve_all(matches, self.match_points, *self._space.arrays, self.switches, values)
        return values / _scale(matches)

    def cards(self, matches: NDArray[np.void]) -> NDArray[np.float64]:
        """The values (n, 54) after each legal card of the seat to act; nan for the others. Raises InputError."""
        self._check(matches)
        values = np.full((len(matches), CARDS), UNKNOWN)
        kernels.solve_cards_all(matches, self.match_points, *self._space.arrays, self.switches, values)
        return np.where(values == UNKNOWN, np.nan, values / _scale(matches)[:, None])

    def maxn(self, matches: NDArray[np.void]) -> NDArray[np.float64]:
        """The margins by side (n, 8) where every side makes its own as large as it can (maxⁿ), zeros beyond the sides.

        Of lines equally good for who chooses, the one best for side 0, then 1, and so on. Nothing is pruned: at most `MOST_MAXN` cards in
        all hands. Raises InputError.
        """
        self._check(matches)
        held = matches["public"]["held"].sum(axis=1, dtype=np.int64)
        if (held > MOST_MAXN).any():
            at = int((held > MOST_MAXN).argmax())
            raise InputError(f"matches[{at}]: {held[at]} cards in hand; allowed for maxn: at most {MOST_MAXN}")
        values = np.zeros((len(matches), SEATS))
        maxn.maxn_all(matches, self._space.position, np.zeros((MOST_MAXN + 2, SEATS)), np.zeros(1, MATCH), values)
        return values

    @staticmethod
    def _check(matches: NDArray[np.void]) -> None:
        if matches.dtype != MATCH or matches.ndim != 1:
            raise InputError(f"matches: an array of {matches.dtype} of shape {matches.shape}; allowed: MATCH records (n,)")
        phase = matches["public"]["phase"]
        if (phase != PLAY).any():
            at = int((phase != PLAY).argmax())
            raise InputError(f"matches[{at}].phase = {PHASES[phase[at]]!r}: allowed: 'play', all hands open from there")


def _scale(matches: NDArray[np.void]) -> NDArray[np.int64]:
    """Values are kept whole: times the number of sides less one."""
    scale: NDArray[np.int64] = matches["public"]["rules"]["sides"].astype(np.int64) - 1
    return scale

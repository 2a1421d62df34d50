"""What players that search aim at: the margin of the deal, and the match where the deal decides it.

A deal is worth to a side the change of its score less the mean change of the other sides' (the margin, as rewards have it), and, when
it ends the match, `MATCH_POINTS` more to the winner and `MATCH_POINTS / (sides − 1)` less to every other side, so that it sums to zero.
A thrown-in deal is worth 0.

The constant: near the end of a match two more deals decide it, with a standard deviation of about 5 points, so that a point of lead
moves the chance to win by about 0.08; a win that is sure rather than even (0.5) is worth about 6 points. The strongest published player
of the family was trained with ±5.5 for such a deal, found by trial (Bernsrite Setback). It is the same for every game.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import objective as kernels
from agents.search.kernels.objective import MATCH_POINTS
from pitchenv.engine.state import SEATS

__all__ = ["MATCH_POINTS", "side_values"]


def side_values(matches: NDArray[Any]) -> NDArray[np.float64]:
    """What each ended deal of `matches`, MATCH (n,), is worth to each side, (n, 8) points; 0 beyond the sides."""
    values = np.zeros((len(matches), SEATS))
    kernels.side_values(matches, values)
    return values

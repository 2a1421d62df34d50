"""`heuristic`: a rule-based player for every game of the family, by an estimate of its hand and by counting cards."""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pitchenv.actions import ACTIONS
from pitchenv.compiling import announce_compiling
from pitchenv.policies.heuristic import decide
from pitchenv.policies.heuristic.parameters import TUNED
from pitchenv.policies.heuristic.situation import SITUATION
from pitchenv.rules import Rules

HEURISTIC_VERSION: Final = 1


class HeuristicPolicy:
    """Plays by rules of thumb, always the same in the same place.

    `parameters`: a `PARAMETERS` array (2,); by default the tuned ones.
    """

    reads: Literal["observation", "view"] = "view"

    def __init__(self, parameters: np.ndarray | None = None) -> None:
        announce_compiling("the rule-based player", decide.__file__)
        self._parameters = np.array(TUNED if parameters is None else parameters)
        self._scratch = np.zeros(1, SITUATION)

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Nothing to do: every view says all that is needed."""

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """A legal action (n,) for each `VIEW` record (n,); see `Policy.act`."""
        actions = np.empty(len(inputs), np.int64)
        decide.decide_all(inputs, mask, self._parameters, self._scratch, actions)
        return actions

    def probabilities(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """One for the action taken (n, 70), zero for the others."""
        chances = np.zeros((len(inputs), ACTIONS), np.float32)
        chances[np.arange(len(inputs)), self.act(inputs, mask, seat)] = 1
        return chances

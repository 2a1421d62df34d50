"""`random`: any legal action, all equally likely."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pitchenv.rules import Rules


class RandomPolicy:
    """Plays uniformly at random among the legal actions."""

    reads: Literal["observation", "view"] = "observation"  # of which only the mask matters: what costs least to make
    samples = True

    def __init__(self, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Begin the random numbers anew from the seed."""
        self._random = np.random.default_rng(seed % 2**64)

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """A legal action (n,) for each row; see `Policy.act`."""
        legal = mask.astype(np.bool_, copy=False)
        nth = (self._random.random(len(legal)) * legal.sum(axis=1)).astype(np.int64)
        chosen: NDArray[np.int64] = (np.cumsum(legal, axis=1, dtype=np.int16) > nth[:, None]).argmax(axis=1)
        return chosen

    def probabilities(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """The chance of each action (n, 70) float32: the same for all legal ones."""
        legal = mask.astype(np.float32)
        chances: NDArray[np.float32] = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
        return chances

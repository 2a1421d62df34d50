"""`Policy`: what a player is, and the players that need no torch.

A policy acts on whole batches and never receives a match: it gets what the seats to act may know, as observations or as views.
"""

from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pitchenv.rules import Rules


class Policy(Protocol):
    """A player, for any number of seats and matches at once.

    Optional, with the arguments of `act`: `probabilities`, the chance of each action (n, 70) float32, zero for illegal ones (for hints,
    inference and evaluation); `values`, what each is worth to the side of the seat to act, (n, 70) floats in points, nan where it is not
    known (for `analyze` and the hints of `play`). And attributes: `slow = True` for one that takes a millisecond or more a decision (the
    referee then plays it in small parts); `samples = True` if `act` draws from what `probabilities` states (the referee may then take the
    luck of that out).
    """

    reads: Literal["observation", "view"]  # what `act` is given

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Called before a run of `size` matches on these rules. The same seed and inputs must give the same actions."""
        ...

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Choose an action (n,) for each row: any subset of the rows of a batch, each with its own seat to act.

        `inputs`: observations (n, F) float32 in the layout of `rules.players` slots, or `VIEW` records (n,), as `reads` says.
        `mask`: (n, 70) bool, the legal actions. `seat`: (n,) integers, who acts.
        """
        ...

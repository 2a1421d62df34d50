"""What deals come to when the bidding alone is in question: the rest played by rule of thumb and by exact solution.

Research on bridge bidding gives a contract the result it has with all hands open and best play (double dummy), so that bidding can be
learned without a player of cards (Kita et al., "A simple, solid, and reproducible baseline for bridge bidding AI", 2024). Here the
exchange, and with pitched trump the first lead, which names it, are made by `heuristic` from what each seat knows: with open hands a
pitcher would choose trump by what the others hold. From there every card is a best one with open hands. Deals with more cards in hand than
can be solved quickly are played by `heuristic` until they can: `EXACT` with two sides. With more every side plays for itself (maxⁿ), from
`EXACT_MAXN` cards on.

What is best is the margin: between lines of equal margin, which may differ in points, the choice is fixed but has no meaning.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import perfect as kernels
from agents.search.kernels.alphabeta import ALL_SWITCHES
from agents.search.solver import Workspace
from pitchenv.batch import REWARDS
from pitchenv.cards import CARDS
from pitchenv.checks import InputError, check_keys, whole_number
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import ENDED, MATCH, PHASES, SEATS, TRUMP, VIEW
from pitchenv.policies.heuristic.parameters import TUNED
from pitchenv.policies.heuristic.situation import SITUATION

EXACT: Final = 24  # cards in all hands
EXACT_MAXN: Final = 12  # with more than two sides, where nothing is pruned
MOST_MAXN: Final = 18


class ExactPlay:
    """Plays deals to their ends once the bidding is over; the same deal always comes to the same end, whatever was played before.

    `exact`, `exact_maxn`: from how many cards in all hands on the tricks are solved, with two sides and with more. Raises InputError.
    """

    def __init__(self, exact: int = EXACT, exact_maxn: int = EXACT_MAXN) -> None:
        self.exact, self.exact_maxn = whole_number("exact", exact, 1, CARDS), whole_number("exact_maxn", exact_maxn, 1, MOST_MAXN)
        announce_compiling("exact play", kernels.__file__)
        self._space = Workspace()
        self._parameters = np.array(TUNED)
        self._view, self._situation, self._room = np.zeros(1, VIEW), np.zeros(1, SITUATION), np.zeros(1, MATCH)
        self._margins = np.zeros((MOST_MAXN + 3, SEATS))

    def finish(self, matches: NDArray[np.void]) -> None:
        """Play deals, MATCH (n,), to their ends, in place; rules may differ, ended ones stay as they are. Raises InputError.

        Every other one must have its trump named, or its pitcher decided where trump is pitched.
        """
        if matches.dtype != MATCH or matches.ndim != 1:
            raise InputError(f"matches: an array of {matches.dtype} of shape {matches.shape}; allowed: MATCH records (n,)")
        phase = matches["public"]["phase"]
        if (phase <= TRUMP).any():
            at = int((phase <= TRUMP).argmax())
            raise InputError(f"matches[{at}].phase = {PHASES[phase[at]]!r}: allowed: {', '.join(PHASES[TRUMP + 1 :])}")
        kernels.finish_all(
            matches, self.exact, self.exact_maxn, self._parameters, self._view, self._situation, *self._space.arrays, ALL_SWITCHES,
            self._margins, self._room,
        )  # fmt: skip


def deal_returns(public: NDArray[Any], reward: str, slots: int) -> NDArray[np.float32]:
    """What each seat gets for ended deals, PUBLIC (n,), as `Batch.reward` has it: (n, slots) float32, 0 beyond the players.

    `reward`: "margin", the change of its side's score less the mean change of the other sides', or "score", the former alone; thrown-in
    deals pay 0. Raises InputError.
    """
    check_keys([reward], REWARDS[:2], InputError, "reward")
    if (public["phase"] != ENDED).any():
        at = int((public["phase"] != ENDED).argmax())
        raise InputError(f"public[{at}].phase = {PHASES[public['phase'][at]]!r}: allowed: ended")
    rules = public["rules"]
    sides = rules["sides"].astype(np.int64)[:, None]
    change = np.where(np.arange(SEATS) < sides, public["change"], 0).astype(np.float64)
    seats = np.arange(slots)
    returns = np.take_along_axis(change, seats % sides, 1)
    if reward == "margin":
        returns -= (change.sum(1, keepdims=True) - returns) / (sides - 1)
    return np.where(seats < rules["players"][:, None], returns, 0).astype(np.float32)

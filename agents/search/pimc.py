"""`pimc`: perfect-information Monte Carlo, which solves sampled worlds with open hands and plays what is best on average.

(Ginsberg, "GIB: imperfect information in a computationally challenging game", JAIR 2001.) Worlds are drawn from what the seat knows; in
each every legal action is valued, and the mean over the worlds decides. In the tricks the value is exact, with best play by all to the end
of the deal. Before them `heuristic` plays on at every seat after the action until trump is known and the tricks can be solved: the rest of
the auction, the exchange, a first lead that makes trump. Deals with more cards in hand than `exact` are too large to solve in every world:
there `heuristic` plays on until they are not.

`worlds` are drawn for the first lead. From then on a deal is solved much more quickly with every trick that is done: so four times as many
are drawn for each, card by card (at most 16 times). Calls, whose values spread more, are given twice as many. An action other than
`heuristic`'s is taken if it is ahead of that by `sure` standard errors of their difference, which is over the same worlds.

Values are for the deal's margin and, where the deal ends the match, for winning it (`agents.search.objective`; not with maxⁿ). With more
than two sides every side plays for itself (maxⁿ), in endings of at most `MAXN_EXACT` cards; before those `heuristic` plays on. With
`maxn=no` the pitcher's side plays against all the others together, which can be solved from further back, and each of those is given the
mean of theirs.
"""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from agents.search.inference import world_weights
from agents.search.kernels import pimc as kernels
from agents.search.kernels.alphabeta import ALL_SWITCHES
from agents.search.objective import MATCH_POINTS
from agents.search.options import Option, read_options, real, whole, word, yes_no
from agents.search.paired import paired
from agents.search.solver import Workspace
from agents.search.worlds import MOST_WORLDS, sample_worlds, view_seeds
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.cards import CARDS
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import MATCH, PLAY, SEATS, VIEW
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import TUNED
from pitchenv.policies.heuristic.situation import SITUATION

POOL: Final = 4  # worlds that inference chooses from, for each that is solved
BEFORE_TRICKS: Final = 2  # times as many worlds
EACH_TRICK: Final = 4  # times as many more
AT_MOST: Final = 16  # times as many
EXACT, EXACT_OF_MORE_POINTS, MAXN_EXACT = 24, 20, 12  # cards in all hands: what is quick enough in games of four points, of more, by maxⁿ
TIE: Final = 1e-9  # points

OPTIONS: Final[dict[str, Option]] = {
    "worlds": whole(30, 1, 10_000),
    "inference": word(None, "the folder of a run, or another agent"),
    "exact": whole(None, 1, CARDS),
    "sure": real(1.0, 0.0, 100.0),
    "maxn": yes_no(None),
}


class Pimc:
    """Solves sampled worlds for every decision that has a choice; see above for `worlds`, `exact`, `sure` and `maxn`.

    `inference`: a policy by whose probabilities of the actions seen the worlds are chosen from a larger pool; None: all are alike.
    `exact` and `maxn` None: as the game is. A choice is a function of the seed and the view.
    """

    reads: Literal["observation", "view"] = "view"
    slow = True

    def __init__(
        self, worlds: int = 30, inference: Policy | None = None, exact: int | None = None, sure: float = 1.0, maxn: bool | None = None
    ) -> None:
        announce_compiling("the search", kernels.__file__)
        self.worlds, self.inference, self.exact, self.sure, self.maxn = worlds, inference, exact, sure, maxn
        self._seed = 0
        self._heuristic, self._parameters = HeuristicPolicy(), np.array(TUNED)
        self._space = Workspace()
        self._view, self._situation, self._room = np.zeros(1, VIEW), np.zeros(1, SITUATION), np.zeros(ACTIONS, MATCH)
        self._margins = np.zeros((MAXN_EXACT + 2, SEATS))

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Refuses what the policy of the inference refuses."""
        self._seed = seed
        if self.inference is not None:
            self.inference.reset(rules, size, seed)

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The chosen actions (n,) for `VIEW` records (n,); see `Policy.act`."""
        actions = self._heuristic.act(inputs, mask, seat)
        for i in np.flatnonzero(mask.sum(axis=1) > 1):
            values, weights = self._look(inputs[i : i + 1])
            ahead, errors = paired(values, weights, actions[i])
            sure = ahead > (self.sure * errors if self.sure else 0) + TIE
            better = np.where(mask[i] & sure, ahead, 0.0)
            if better.any():
                actions[i] = better.argmax()
        return actions

    def values(self, views: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """What each action is worth to the side of the seat to act, (n, 70) points; nan for illegal ones."""
        means = np.full(mask.shape, np.nan)
        for i in np.flatnonzero(mask.any(axis=1)):
            values, weights = self._look(views[i : i + 1])
            means[i, mask[i]] = weights @ values[:, mask[i]]
        return means

    def _look(self, view: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """For one decision (an array of one view) the values in each world, (w, 70) with 0 for illegal actions, and the worlds' weights."""
        worlds, weights = self._worlds(view)
        rules = view["public"]["rules"][0]
        maxn = bool(rules["sides"] > 2) if self.maxn is None else self.maxn
        exact = self.exact or (EXACT if rules["max_bid"] <= 4 else EXACT_OF_MORE_POINTS)
        if maxn:
            exact = min(exact, MAXN_EXACT)
        values = np.zeros((len(worlds), ACTIONS))
        kernels.value_worlds(
            worlds, exact, MATCH_POINTS, self._parameters, self._view, self._situation, *self._space.arrays, ALL_SWITCHES, maxn,
            self._margins, self._room, values,
        )  # fmt: skip
        return values, weights

    def _worlds(self, view: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Worlds of one view and their weights; with inference resampled, by equal steps of the cumulated chances, from a larger pool."""
        n = self.worlds * BEFORE_TRICKS
        public = view["public"][0]
        if public["phase"] == PLAY:
            cards = sum(int(played).bit_count() for played in public["played"])
            n = int(self.worlds * min(EACH_TRICK ** (cards / int(public["rules"]["players"])), AT_MOST))
        n, seed = min(n, MOST_WORLDS), view_seeds(view, self._seed)
        if self.inference is None:
            return sample_worlds(view, n, seed)[0], np.full(n, 1 / n)
        pool = sample_worlds(view, min(n * POOL, MOST_WORLDS), seed)
        chances = np.cumsum(world_weights(view, pool, self.inference)[0])
        steps = np.searchsorted(chances, (np.arange(n) + 0.5) / n).clip(max=len(chances) - 1)
        chosen, copies = np.unique(steps, return_counts=True)
        return pool[0][chosen], copies / n


def from_options(text: str) -> Pimc:
    """The player of a spec, from what stands behind `pimc:`. Raises AgentError."""
    from agents import load

    options = read_options("pimc", text, OPTIONS)
    inference = options.pop("inference")
    return Pimc(inference=None if inference is None else load(inference), **options)

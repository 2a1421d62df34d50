"""`ismcts`: Monte-Carlo tree search over information sets, the search player for any number of sides.

For every decision one tree is grown of what the seat can tell apart: actions seen, not cards held (Cowling, Powley and Whitehouse,
"Information set Monte Carlo tree search", 2012; the single-observer form). Each iteration plays in another sampled world: down the tree
along actions legal in it, by UCB1; one new node; a rollout to the end of the deal; and every node passed learns what that was worth to the
side that chose it, so that each side seeks its own (`agents.search.objective`) and the number of sides does not matter.

What differs from the paper:

- Visit j of every action of the decision itself is in world j: all are compared in the same worlds (common random numbers).
- Of the actions not tried at a node, the rollout policy's own comes first, then the others at random.
- The action with the best mean is played among those with at least half the visits of the most visited.
- What other seats put away is not seen, so it makes no nodes: the rollout policy plays it.
"""

from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from agents import load
from agents.search.kernels import ismcts as kernels
from agents.search.options import Option, read_options, real, whole, word
from agents.search.playout import play_out
from agents.search.worlds import sample_worlds, view_seeds
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import HISTORY, MATCH, VIEW
from pitchenv.policies import Policy
from pitchenv.policies.heuristic.parameters import TUNED
from pitchenv.policies.heuristic.situation import SITUATION

MOST_WORLDS: Final = 500  # of one decision; more visits go through the same ones again
AT_ONCE: Final = 64  # iterations under way together, where the rollouts are not compiled
BUILT_IN: Final = {"heuristic": kernels.HEURISTIC, "random": kernels.RANDOM}

OPTIONS: Final[dict[str, Option]] = {
    "iterations": whole(1000, 1, 1_000_000),
    "rollout": word("heuristic", "heuristic, random, or another agent"),
    "exploration": real(4.0, 0.0, 1000.0),
    "depth": whole(HISTORY, 1, HISTORY),
}


class Ismcts:
    """Information-set tree search with `iterations` a decision.

    `rollout`: who plays the deal to its end: "heuristic" and "random" are compiled with the search; any other agent is asked for
    64 iterations at a time, which go down the tree before any of them is backed up (and the tree itself uses `heuristic` for what others
    put away). `exploration`: the constant of UCB1, in points. `depth`: how many actions deep the tree grows; with 1 it is
    flat Monte-Carlo. A choice is a function of the seed and the view; rows of a batch are searched one after the other.
    """

    reads: Literal["observation", "view"] = "view"
    slow = True

    def __init__(self, iterations: int = 1000, rollout: str = "heuristic", exploration: float = 4.0, depth: int = HISTORY) -> None:
        announce_compiling("the tree search", kernels.__file__)
        self.iterations = iterations
        self._rollout: Policy | None = None if rollout in BUILT_IN else load(rollout)
        self._nodes = np.zeros(iterations + 1, kernels.NODE)
        self._tree = np.zeros(1, kernels.TREE)
        self._tree["exploration"], self._tree["depth"] = exploration, min(depth, HISTORY - 1)
        self._tree["policy"] = BUILT_IN.get(rollout, kernels.HEURISTIC)
        self._paths = np.zeros(AT_ONCE, kernels.PATH)
        self._scratch = np.zeros(1, MATCH), np.zeros(1, VIEW), np.zeros(1, SITUATION), np.array(TUNED)
        self._rules, self._seed = Rules(), 0

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Refuses what the rollout policy refuses."""
        if self._rollout:
            self._rollout.reset(rules, size, seed)
        self._rules, self._seed = rules, seed

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The chosen actions (n,) for `VIEW` records (n,); see `Policy.act`."""
        actions: NDArray[np.int64] = mask.argmax(axis=1).astype(np.int64)
        for i in np.flatnonzero(mask.sum(axis=1) > 1):
            visits, means = self._search(inputs[i : i + 1])
            actions[i] = np.where(2 * visits >= visits.max(), means, -np.inf).argmax()
        return actions

    def values(self, views: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """What each action was worth on average to the side of the seat to act, (n, 70) points, by `objective`; nan where not tried."""
        values = np.full(mask.shape, np.nan)
        for i in np.flatnonzero(mask.any(axis=1)):
            visits, means = self._search(views[i : i + 1])
            values[i, visits > 0] = means[visits > 0]
        return values

    def probabilities(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
        """The share of the visits that went to each action, (n, 70)."""
        shares = np.zeros(mask.shape, np.float32)
        for i in np.flatnonzero(mask.any(axis=1)):
            visits, _ = self._search(inputs[i : i + 1])
            shares[i] = visits / visits.sum()
        return shares

    def _search(self, view: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The visits and the mean worth of each action (70,) for one view, an array (1,)."""
        seeds = view_seeds(view, self._seed)
        worlds = sample_worlds(view, min(self.iterations, MOST_WORLDS), seeds)[0]
        kernels.begin(worlds, self._nodes, self._tree, seeds[0])
        if self._rollout:
            self._rollout.reset(self._rules, 1, int(seeds[0]))
            for done in range(0, self.iterations, AT_ONCE):
                leaves = np.zeros(min(AT_ONCE, self.iterations - done), MATCH)
                kernels.descend_all(worlds, leaves, self._nodes, self._tree, self._paths, *self._scratch)
                play_out(self._rollout, leaves)
                kernels.back_up_all(leaves, self._nodes, self._paths)
        else:
            kernels.search(worlds, self.iterations, self._nodes, self._tree, self._paths, *self._scratch)
        visits, means = np.zeros(ACTIONS, np.int64), np.zeros(ACTIONS)
        kernels.result(self._nodes, visits, means)
        return visits, means


def from_options(text: str) -> Ismcts:
    """The player of `ismcts:iterations=1000,rollout=random`. Raises AgentError."""
    return Ismcts(**read_options("ismcts", text, OPTIONS))

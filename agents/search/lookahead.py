"""`search`: one step of look-ahead on any policy.

For every decision, worlds are sampled from what the seat knows; in each of them every legal action is tried and the deal played to its end
by the policy itself at all seats. The action with the best average is played. Since all actions are tried in the same worlds, luck
cancels, and how sure a difference is can be told: the policy's own choice stands unless another is better by `sure` standard errors.
(Tesauro and Galperin, "On-line policy improvement using Monte-Carlo search", NIPS 1996; for card games with hidden hands also known as
rollouts in sampled worlds.)

With `exact`, a world in which a try leaves at most so many cards in all hands is not played out but solved with open hands (two sides):
what a policy leaves lying late in a deal is found in that way, as `pimc` finds it. Where all tries are solved, which is quick, the choice
is over `SOLVED` times as many worlds.

With inference, worlds are drawn from a larger pool by how likely the policy would have done in them what the others were seen to do.

With `again`, actions that came out ahead of the policy's own are tried once more, in that many times as many worlds, drawn afresh, and
those decide: of several that are about as good one is always ahead by luck.
"""

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.search.inference import world_weights
from agents.search.objective import MATCH_POINTS, side_values
from agents.search.options import Option, read_options, real, split_subject, whole, yes_no
from agents.search.paired import paired
from agents.search.playout import branches, legal_actions, play_out
from agents.search.solver import Solver
from agents.search.worlds import MOST_WORLDS, sample_worlds, view_seeds
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.engine.state import PLAY
from pitchenv.observation import observe
from pitchenv.policies import Policy

# Worlds that inference draws from, for each of `worlds`: many, since late in a deal what was seen leaves the weight on few of them.
POOL: Final = 16
LEAST: Final = 2  # and for each that is drawn, of more

SOLVED: Final = 8

OPTIONS: Final[dict[str, Option]] = {
    "worlds": whole(30, 1, 10_000),
    "inference": yes_no(True),
    "top": whole(ACTIONS, 1, ACTIONS),
    "sure": real(1.0, 0.0, 100.0),
    "exact": whole(0, 0, 30),
    "again": whole(0, 0, 100),
}


class Comparison(NamedTuple):
    """Actions (a,), compared in the same worlds, in points."""

    means: NDArray[np.float64]
    ahead: NDArray[np.float64]  # of the policy's own
    errors: NDArray[np.float64]  # the standard errors of that; inf where one world says it all


class LookAhead:
    """One step of look-ahead on `policy`, over `worlds` sampled worlds.

    `inference`: worlds weighted by the actions seen, which needs a policy with `probabilities`. `top`: only that many of the likeliest
    actions are tried. `sure`: standard errors by which an action must be ahead of the policy's own. `exact`: cards in all hands, from which
    on worlds of two sides are solved. `again`: times as many worlds for those that are ahead, 0 for no second try; not where all tries are
    solved, which are many already.
    A choice is a function of the seed and the view: each decision is a batch of its own, with its own random numbers.
    """

    reads: Literal["observation", "view"] = "view"
    slow = True

    def __init__(
        self,
        policy: Policy,
        worlds: int = 30,
        inference: bool = True,
        top: int = ACTIONS,
        sure: float = 1.0,
        exact: int = 0,
        again: int = 0,
    ) -> None:
        self.policy, self.worlds, self.inference, self.top, self.sure = policy, worlds, inference, top, sure
        self.exact, self.again = exact, again
        self._solver = Solver(match_points=MATCH_POINTS) if exact else None
        self._rules, self._seed = Rules(), 0

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        """Refuses what the policy refuses."""
        self.policy.reset(rules, size, seed)
        self._rules, self._seed = rules, seed

    def act(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """The chosen actions (n,) for `VIEW` records (n,); see `Policy.act`."""
        actions: NDArray[np.int64] = mask.argmax(axis=1).astype(np.int64)
        for i in np.flatnonzero(mask.sum(axis=1) > 1):
            actions[i] = self._look(inputs[i : i + 1], mask[i : i + 1], seat[i : i + 1])[0]
        return actions

    def values(self, views: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """What each action is worth to the side of the seat to act, (n, 70) points, by `objective`; nan where not tried."""
        values = np.full(mask.shape, np.nan)
        for i in np.flatnonzero(mask.any(axis=1)):
            _, tried, means = self._look(views[i : i + 1], mask[i : i + 1], seat[i : i + 1])
            values[i, tried] = means
        return values

    def _look(
        self, view: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]]
    ) -> tuple[int, NDArray[np.int64], NDArray[np.float64]]:
        """For one decision (arrays of one row): the choice, the actions tried, and what each is worth."""
        seeds = view_seeds(view, self._seed)
        self.policy.reset(self._rules, 1, int(seeds[0]))
        inputs = view if self.policy.reads == "view" else observe(view, self._rules.players)
        own = int(legal_actions(self.policy, inputs, mask, seat)[0])
        tried = self._candidates(inputs, mask, seat, own)
        late = self._solvable(view["public"])[0]
        compared = self._compare(tried, own, int(seat[0]), *self._draw(view, self.worlds * (SOLVED if late else 1), seeds))
        means, contenders = compared.means, tried
        if self.again and not late and (compared.ahead > 0).any():
            hopeful = (tried == own) | (compared.ahead > 0)
            contenders = tried[hopeful]
            fresh = view_seeds(view, self._seed + 1)  # the first worlds have chosen who is tried again
            compared = self._compare(contenders, own, int(seat[0]), *self._draw(view, self.worlds * self.again, fresh))
            means[hopeful] = compared.means
        better = compared.ahead - (self.sure * compared.errors if self.sure else 0) > 1e-9
        choice = int(contenders[np.where(better, compared.means, -np.inf).argmax()]) if better.any() else own
        return choice, tried, means

    def _compare(self, tried: NDArray[np.int64], own: int, seat: int, worlds: NDArray[Any], weights: NDArray[np.float64]) -> "Comparison":
        """What actions come to in worlds (w,) of these weights."""
        margins = self._outcomes(branches(worlds, tried), seat % self._rules.sides).reshape(len(tried), len(worlds)).T
        return Comparison(weights @ margins, *paired(margins, weights, int(np.flatnonzero(tried == own)[0])))

    def _outcomes(self, matches: NDArray[Any], side: int) -> NDArray[np.float64]:
        """What deals, MATCH (n,), come to for a side: solved where they can be, else played out, in place."""
        values, late = np.empty(len(matches)), self._solvable(matches["public"])
        if self._solver and late.any():
            values[late] = np.where(matches["public"]["pitcher"][late] % 2 == side, 1, -1) * self._solver.solve(matches[late])
        rest = matches[~late]
        play_out(self.policy, rest)
        values[~late] = side_values(rest)[:, side]
        return values

    def _solvable(self, public: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of some deals, PUBLIC (n,), are solved and not played out."""
        late: NDArray[np.bool_] = (public["phase"] == PLAY) & (public["held"].sum(axis=1) <= self.exact)
        return late & (self._solver is not None and self._rules.sides == 2)

    def _draw(self, view: NDArray[Any], count: int, seeds: NDArray[np.uint64]) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """So many worlds of one view, MATCH (w,), and what share of the average each is (w,); w is less than `count` where one was drawn
        twice. Never more than `MOST_WORLDS`."""
        count = min(count, MOST_WORLDS)
        if not self.inference:
            return sample_worlds(view, count, seeds)[0], np.full(count, 1 / count)
        pool = sample_worlds(view, min(max(POOL * self.worlds, LEAST * count), MOST_WORLDS), seeds)
        # Systematic resampling: world k is drawn ⌊count · weight⌋ times or once more.
        ends = np.floor(np.cumsum(world_weights(view, pool, self.policy)[0]) * count + 0.5).astype(np.int64)
        ends[-1] = count
        drawn = np.diff(ends, prepend=0)
        return pool[0, drawn > 0], drawn[drawn > 0] / count

    def _candidates(self, inputs: NDArray[Any], mask: NDArray[np.bool_], seat: NDArray[np.integer[Any]], own: int) -> NDArray[np.int64]:
        """The actions to try, in order of number; the policy's own is among them."""
        legal = np.flatnonzero(mask[0])
        if len(legal) <= self.top or not hasattr(self.policy, "probabilities"):
            return legal
        chances = self.policy.probabilities(inputs, mask, seat)[0, legal].astype(np.float64)
        chances[legal == own] = np.inf
        return np.sort(legal[np.argsort(-chances, kind="stable")[: self.top]])


def from_options(text: str) -> LookAhead:
    """The player of `search:RUN,worlds=30`; RUN may be any agent whose spec has no comma. Raises AgentError."""
    from agents import load

    subject, options = split_subject("search", text, OPTIONS, "RUN")
    values = read_options("search", options, OPTIONS)
    return LookAhead(load(subject), **values)

"""Ratings from rankings: the Plackett-Luce model, which for two at a time is Bradley and Terry's, on the scale of Elo.

Each agent has a strength; the chance to come first in a set of agents is its share of their summed strengths, and so on for the places
after. With ratings r = ln(strength), the log-likelihood of rankings is Σ_i a_i r_i − Σ_S w_S ln Σ_{i ∈ S} exp r_i: a_i times in which i was
taken first out of what was left, w_S times in which S was left (Plackett 1975; Luce 1959; Bradley and Terry 1952). Agents that tie count
as ranked in each order of theirs equally often, so between two a tie is half a win. It is a fit of all results at once: their order plays
no part, as it would in ratings that are updated game by game.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

ELO: Final = 400 / math.log(10)  # points of Elo in a unit of r: ten times the strength is 400 points
PRIOR: Final = 1.0  # drawn results added between any two agents: keeps ratings finite when one wins everything
BOOTSTRAPS: Final = 1000
NEWTON_STEPS: Final = 8
AT_ONCE: Final = 2_000_000  # numbers in the largest array
SAME: Final = 1e-9  # scores nearer than this are equal: they are means of whole points, rounded


@dataclass(frozen=True)
class Rankings:
    """How some agents were ranked in every deal, the same deals for all `Rankings` that are rated together."""

    members: tuple[int, ...]  # the agents by number
    pattern: NDArray[np.int64]  # (deals,), which of the patterns a deal is
    first: NDArray[np.float64]  # (patterns, members), how often a member was taken first: a_i
    sets: tuple[tuple[int, ...], ...]  # what was left when one was taken, two agents or more
    left: NDArray[np.float64]  # (patterns, sets), how often: w_S


@dataclass(frozen=True)
class Ratings:
    """Elo points above the anchor, with a 95 % bootstrap interval; (agents,) each."""

    anchor: int  # the agent whose rating is 0
    rating: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def rankings(members: Sequence[int], scores: NDArray[np.float64]) -> Rankings:
    """The rankings by scores (members, deals): more is better, equal is a tie."""
    ahead = (scores[:, None] < scores[None, :] - SAME).sum(axis=1)  # how many are ahead: equal for those that tie
    patterns, pattern = np.unique(ahead.T, axis=0, return_inverse=True)
    found = [_choices(row.tolist()) for row in patterns]
    sets = sorted({chosen for choices in found for chosen in choices})
    first = np.array([[_times_first(row.tolist(), i) for i in range(len(members))] for row in patterns], np.float64)
    left = np.array([[choices.get(chosen, 0.0) for chosen in sets] for choices in found])
    named = tuple(tuple(members[i] for i in chosen) for chosen in sets)
    return Rankings(tuple(members), pattern.reshape(-1), first, named, left)


def _choices(ahead: list[int]) -> dict[tuple[int, ...], float]:
    """What is left when one is taken, by how often, over all orders of those that tie."""
    weights: dict[tuple[int, ...], float] = {}
    for place in sorted(set(ahead)):
        tied = [i for i, a in enumerate(ahead) if a == place]
        behind = [i for i, a in enumerate(ahead) if a > place]
        for size in range(1, len(tied) + 1):
            for some in combinations(tied, size):  # those of the tied that are not taken yet: each choice of `size` equally often
                if size + len(behind) > 1:
                    weights[tuple(sorted([*some, *behind]))] = 1 / math.comb(len(tied), size)
    return weights


def _times_first(ahead: list[int], member: int) -> float:
    """1, or less by the chance to be the very last, who is not taken out of anything."""
    last = max(ahead)
    return 1 - 1 / ahead.count(last) if ahead[member] == last else 1.0


def rate(results: Sequence[Rankings], agents: int, anchor: int | None = None, bootstraps: int = BOOTSTRAPS, seed: int = 0) -> Ratings:
    """Ratings of `agents` agents by maximum likelihood, `PRIOR` drawn results between any two added.

    `anchor`: the agent with rating 0, by default the weakest. The interval holds the middle 95 % of the ratings of `bootstraps` resamples
    of the deals, each drawn for all results together: they are on the same cards.
    """
    model = _Model(results, agents)
    deals = len(results[0].pattern)
    point = model.fit(*model.count(np.ones(deals)))
    if anchor is None:
        anchor = int(point.argmin())
    random = np.random.default_rng(seed)
    drawn = np.zeros((bootstraps, agents))
    block = max(1, AT_ONCE // model.within.size)
    for at in range(0, bootstraps, block):
        counted = [model.count(resample(random, deals)) for _ in drawn[at : at + block]]
        drawn[at : at + block] = model.refit(np.array([a for a, _ in counted]), np.array([w for _, w in counted]), point)
    drawn -= drawn[:, [anchor]]
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0) if bootstraps else (point - point[anchor],) * 2
    return Ratings(anchor, ELO * (point - point[anchor]), ELO * low, ELO * high)


def resample(random: np.random.Generator, deals: int) -> NDArray[np.float64]:
    """How often each deal is in a bootstrap resample, (deals,)."""
    return np.bincount(random.integers(deals, size=deals), minlength=deals).astype(np.float64)


class _Model:
    """The likelihood of rankings as a function of how often each deal counts."""

    def __init__(self, results: Sequence[Rankings], agents: int) -> None:
        self.results, self.agents = results, agents
        pairs = list(combinations(range(agents), 2))
        sets = sorted({*pairs, *(tuple(sorted(s)) for result in results for s in result.sets)})
        number = {s: i for i, s in enumerate(sets)}
        self.places = [np.array([number[tuple(sorted(s))] for s in result.sets], np.intp) for result in results]
        self.within = np.array([[i in s for i in range(agents)] for s in sets], np.float64)  # (sets, agents)
        self.prior = np.zeros(len(sets))
        self.prior[[number[pair] for pair in pairs]] = PRIOR

    def count(self, counts: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """a (agents,) and w (sets,) with deal k counted `counts[k]` times, and the prior."""
        first, left = np.full(self.agents, PRIOR * (self.agents - 1) / 2), self.prior.copy()
        for result, places in zip(self.results, self.places, strict=True):
            times = np.bincount(result.pattern, counts, len(result.first))
            first[list(result.members)] += times @ result.first
            left[places] += times @ result.left
        return first, left

    def fit(self, first: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
        """The likeliest r (agents,), the first 0."""
        total = float(left.sum())

        def loss(r: NDArray[np.float64]) -> float:
            r = np.concatenate([[0.0], r])
            return float(left @ np.log(self.within @ np.exp(r)) - first @ r) / total

        def slope(r: NDArray[np.float64]) -> NDArray[np.float64]:
            upwards: NDArray[np.float64] = self.slopes(first[None], left[None], np.concatenate([[0.0], r])[None])[0][0]
            return upwards / total

        def curvature(r: NDArray[np.float64]) -> NDArray[np.float64]:
            whole: NDArray[np.float64] = self.slopes(first[None], left[None], np.concatenate([[0.0], r])[None])[1][0]
            return whole / total

        found = minimize(loss, np.zeros(self.agents - 1), jac=slope, hess=curvature, method="trust-exact", options={"gtol": 1e-10})
        return np.concatenate([[0.0], found.x])

    def refit(self, first: NDArray[np.float64], left: NDArray[np.float64], start: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for many resamples at once, (n, agents), by Newton's method from a point nearby; where that fails, by `fit`."""
        r = np.tile(start, (len(first), 1))
        with np.errstate(all="ignore"):
            for _ in range(NEWTON_STEPS):
                slope, curvature = self.slopes(first, left, r)
                r[:, 1:] -= np.linalg.solve(curvature, slope[..., None])[..., 0]
            failed = ~(np.abs(self.slopes(first, left, r)[0]).max(axis=1) < 1e-6)
        for i in np.flatnonzero(failed):
            r[i] = self.fit(first[i], left[i])
        return r

    def slopes(
        self, first: NDArray[np.float64], left: NDArray[np.float64], r: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """First (n, agents − 1) and second (n, agents − 1, agents − 1) derivatives of the loss by all ratings but the first."""
        strength = np.exp(r)
        share = self.within * strength[:, None] / (strength @ self.within.T)[..., None]  # (n, sets, agents)
        weighted = left[..., None] * share
        sums = weighted.sum(axis=1)
        curvature = -share.transpose(0, 2, 1) @ weighted
        curvature[:, range(self.agents), range(self.agents)] += sums
        return (sums - first)[:, 1:], curvature[:, 1:, 1:]

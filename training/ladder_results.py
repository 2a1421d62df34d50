"""What a ladder comes to: payoffs with intervals, ratings, and how far one rating tells the whole story."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.intervals import interval
from training.nash import cyclic_share, nash_average
from training.ratings import SAME, Rankings, Ratings, rankings, rate

Margins = Mapping[tuple[int, int], NDArray[np.float64]]  # by pair of agents, i < j: (deals,), i over j


@dataclass(frozen=True)
class Standings:
    """Of n agents, the one with the best mean margin first; matrices are row over column."""

    agents: tuple[str, ...]
    deals: int
    margin: NDArray[np.float64]  # (n, n) points a deal
    half_width: NDArray[np.float64]  # (n, n) of its 95 % interval
    won: NDArray[np.int64]  # (n, n) deals with a margin above 0
    tied: NDArray[np.int64]  # (n, n)
    mean_margin: NDArray[np.float64]  # (n,) over the other agents
    mean_half_width: NDArray[np.float64]  # (n,)
    model: str  # of the ratings
    ratings: Ratings
    nash_weight: NDArray[np.float64]  # (n,)
    nash_skill: NDArray[np.float64]  # (n,) points a deal
    cyclic: float  # share of the payoffs' squared norm that no ratings explain
    cyclic_by_chance: float  # what of that the luck of the deals would make on average if ratings explained all

    @property
    def share(self) -> NDArray[np.float64]:
        """Of the deals, won, and half of those tied, (n, n)."""
        share: NDArray[np.float64] = (self.won + self.tied / 2) / self.deals
        return share


def standings(agents: Sequence[str], pairs: Margins, tables: Sequence[tuple[tuple[int, ...], NDArray[np.float64]]] = ()) -> Standings:
    """The standings of agents from the margins of all pairs, each on the same deals, at least 2.

    `tables`: (agents, scores (agents, deals)) of tables of three or more; if there are any, they are what is rated.
    """
    order = _by_mean_margin(len(agents), pairs)
    place = {agent: at for at, agent in enumerate(order)}
    per_deal = {}
    for (i, j), margins in pairs.items():
        a, b = sorted((place[i], place[j]))
        per_deal[a, b] = margins if a == place[i] else -margins
    count, n = len(next(iter(per_deal.values()))), len(agents)
    margin, half_width = np.zeros((n, n)), np.zeros((n, n))
    won, tied, mean = np.zeros((n, n), np.int64), np.zeros((n, n), np.int64), np.zeros((n, count))
    for (a, b), margins in per_deal.items():
        margin[a, b], half_width[a, b] = interval(margins)
        margin[b, a], half_width[b, a] = -margin[a, b], half_width[a, b]
        won[a, b], won[b, a] = np.count_nonzero(margins > SAME), np.count_nonzero(margins < -SAME)
        tied[a, b] = tied[b, a] = count - won[a, b] - won[b, a]
        mean[a] += margins / (n - 1)
        mean[b] -= margins / (n - 1)
    means = np.array([interval(row) for row in mean])
    names = tuple(agents[i] for i in order)
    rated = [rankings([place[i] for i in table], scores) for table, scores in tables] or _of_pairs(per_deal)
    weight, skill = nash_average(margin)
    return Standings(
        names, count, margin, half_width, won, tied, means[:, 0], means[:, 1], "Plackett-Luce" if tables else "Bradley-Terry",
        rate(rated, n, names.index("random") if "random" in names else None), weight, skill, cyclic_share(margin),
        _cyclic_by_chance(margin, per_deal),
    )  # fmt: skip


def _by_mean_margin(agents: int, pairs: Margins) -> list[int]:
    total = np.zeros(agents)
    for (i, j), margins in pairs.items():
        total[i] += margins.mean()
        total[j] -= margins.mean()
    return [int(i) for i in np.argsort(-total, kind="stable")]


def _of_pairs(pairs: Margins) -> list[Rankings]:
    return [rankings(pair, np.array([margins, np.zeros_like(margins)])) for pair, margins in sorted(pairs.items())]


def _cyclic_by_chance(margin: NDArray[np.float64], pairs: Margins) -> float:
    """The expected share of sampling noise: the variances of the cyclic part's entries, over the squared norm of the payoffs."""
    n, count = len(margin), len(next(iter(pairs.values())))
    rating = np.zeros((n, count))
    for (i, j), margins in pairs.items():
        rating[i] += margins / n
        rating[j] -= margins / n
    noise = sum(2 * (margins - rating[i] + rating[j]).var(ddof=1) / count for (i, j), margins in pairs.items())
    whole = float((margin**2).sum())
    return float(noise) / whole if whole else 0.0

"""Who matters in a table of payoffs: Nash averaging, and how much of the table goes round in circles."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

TINY: Final = 1e-7  # weights below this are none


def nash_average(payoff: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weights (agents,) and skills (agents,) of Nash averaging (Balduzzi et al. 2018, Re-evaluating Evaluation).

    `payoff` (agents, agents) is antisymmetric, row over column. The weights are the Nash equilibrium of the game "choose an agent", of
    all its equilibria the one with most entropy, so that copies of an agent share what one would have. A skill is the payoff against that
    mixture: 0 for those that carry weight, at most 0 for the rest. A weak agent or a copy more changes nobody's skill.
    """
    agents = len(payoff)
    scaled = payoff / max(float(np.abs(payoff).max()), np.finfo(float).tiny)
    # Equilibria are the distributions p against which no agent gains: payoff p ≤ 0. For each agent, the one that gives it most weight:
    corners = np.array([_equilibrium(scaled, favoured) for favoured in range(agents)])
    support = corners[range(agents), range(agents)] > TINY
    start = corners[support].mean(axis=0)[support]  # inside: every agent that can have weight has some
    start /= start.sum()
    table = scaled[:, support]
    found = minimize(
        lambda p: float(p @ np.log(p)), start, jac=lambda p: np.log(p) + 1, method="SLSQP", bounds=[(1e-12, 1)] * len(start),
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones_like(p)},
                     {"type": "ineq", "fun": lambda p: -table @ p, "jac": lambda p: -table}],
        options={"ftol": 1e-12, "maxiter": 1000},
    )  # fmt: skip
    best = found.x if found.success and (table @ found.x).max() < TINY else start
    weights = np.zeros(agents)
    weights[support] = best / best.sum()
    return weights, payoff @ weights


def _equilibrium(payoff: NDArray[np.float64], favoured: int) -> NDArray[np.float64]:
    """The equilibrium in which one agent has the most weight it can have; there always is one, as the game is symmetric."""
    agents = len(payoff)
    found = linprog(-np.eye(agents)[favoured], A_ub=payoff, b_ub=np.zeros(agents), A_eq=np.ones((1, agents)), b_eq=[1.0], bounds=(0, 1))
    p: NDArray[np.float64] = np.clip(found.x, 0, 1)
    p /= p.sum()
    return p


def cyclic_part(payoff: NDArray[np.float64]) -> NDArray[np.float64]:
    """What of an antisymmetric table (…, agents, agents) is no difference of ratings.

    The ratings nearest to the table by least squares are its row means (HodgeRank on the complete graph: Jiang et al. 2011); what is
    left sums to zero in every row, and is orthogonal to the table of their differences.
    """
    rating = payoff.mean(axis=-1)
    rest: NDArray[np.float64] = payoff - (rating[..., :, None] - rating[..., None, :])
    return rest


def cyclic_share(payoff: NDArray[np.float64]) -> float:
    """The share of the table's squared norm that is cyclic: 0 for ratings alone, 1 for rock, paper, scissors."""
    whole = float((payoff**2).sum())
    return float((cyclic_part(payoff) ** 2).sum()) / whole if whole else 0.0

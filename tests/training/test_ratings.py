"""Ratings against numbers worked out by hand, a likelihood written the long way, and openskill; Nash averaging on games that are known."""

import math
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from training.nash import cyclic_part, cyclic_share, nash_average
from training.ratings import ELO, rankings, rate

CIRCLE = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])


def of_pair(margins, members=(0, 1)):
    return rankings(members, np.array([margins, np.zeros(len(margins))], float))


@pytest.mark.parametrize(
    ("margins", "odds"),
    [
        ([2, 1, 3, -1], 3.5 / 1.5),  # three won, one lost, and the drawn one that is added
        ([2, 0, 0, -1.5], 1),
        ([0.5, 0, 1e-12, 1], 3.5 / 1.5),  # a tie is half a win; so is what is one but for rounding
        ([1] * 10, 10.5 / 0.5),  # all won: finite
        ([-1] * 1000, 0.5 / 1000.5),
    ],
)
def test_two_agents_are_rated_by_the_odds(margins, odds):
    ratings = rate([of_pair(margins)], 2, anchor=1, bootstraps=0)
    assert ratings.rating == pytest.approx([400 * math.log10(odds), 0], abs=1e-4)


def test_the_weakest_is_the_anchor_if_nobody_else():
    ratings = rate([of_pair([1, 1, -1])], 2, bootstraps=20)
    assert ratings.anchor == 1
    assert ratings.rating[1] == ratings.low[1] == ratings.high[1] == 0
    assert ratings.low[0] <= ratings.rating[0] <= ratings.high[0]


def test_known_strengths_are_found_again():
    strengths = np.array([0.0, 1, 1.5, 3])
    random = np.random.default_rng(1)
    results = [of_pair(random.logistic(strengths[i] - strengths[j], size=4000), (i, j)) for i, j in combinations(range(4), 2)]
    ratings = rate(results, 4, anchor=0, bootstraps=100)
    assert ratings.rating / ELO == pytest.approx(strengths, abs=0.1)
    assert (ratings.low <= ratings.rating).all()
    assert (ratings.high - ratings.low)[1:].min() > 0


def test_the_bootstrap_is_as_wide_as_the_normal_approximation():
    wins = np.random.default_rng(2).random(2000) < 0.7
    ratings = rate([of_pair(np.where(wins, 1, -1))], 2, anchor=1, bootstraps=400)
    expected = 2 * 1.96 * ELO / math.sqrt(2000 * wins.mean() * (1 - wins.mean()))
    assert ratings.high[0] - ratings.low[0] == pytest.approx(expected, rel=0.15)
    again = rate([of_pair(np.where(wins, 1, -1))], 2, anchor=1, bootstraps=400)
    assert np.array_equal(ratings.low, again.low)


def test_the_bootstrap_draws_the_same_deals_for_all_pairs():
    """Two agents that do the same in every deal are level in every resample, however uncertain each is."""
    margins = np.random.default_rng(3).integers(-2, 3, 50)
    results = [of_pair(margins, (0, 1)), of_pair(margins, (0, 2)), of_pair(np.zeros(50), (1, 2))]
    ratings = rate(results, 3, anchor=1, bootstraps=50)
    assert ratings.high[0] - ratings.low[0] > 50
    assert [ratings.low[2], ratings.high[2]] == pytest.approx([0, 0], abs=1e-3)


def the_long_way(tables, agents):
    """Maximum likelihood with every order of those that tie written out."""

    def loss(r):
        r = np.concatenate([[0], r])
        total = sum(0.5 * (np.logaddexp(r[i], r[j]) - r[k]) for i, j in combinations(range(agents), 2) for k in (i, j))
        for members, scores in tables:
            for column in scores.T:
                orders = [o for o in permutations(range(len(members))) if all(column[a] >= column[b] for a, b in pairwise(o))]
                for order in orders:
                    for place in range(len(order) - 1):
                        left = [members[i] for i in order[place:]]
                        total += (np.logaddexp.reduce(r[left]) - r[left[0]]) / len(orders)
        return total

    found = minimize(loss, np.zeros(agents - 1), method="BFGS", options={"gtol": 1e-8})
    return np.concatenate([[0], found.x])


def test_plackett_luce_is_the_likelihood_of_all_orders_of_those_that_tie():
    random = np.random.default_rng(4)
    tables = [(members, random.integers(0, 3, (3, 6)).astype(float)) for members in combinations(range(4), 3)]
    tables.append(((3, 0, 2, 1), np.zeros((4, 6))))  # all tied
    ratings = rate([rankings(members, scores) for members, scores in tables], 4, anchor=0, bootstraps=0)
    assert ratings.rating / ELO == pytest.approx(the_long_way(tables, 4), abs=1e-4)


def test_plackett_luce_and_openskill_agree_on_the_order():
    models = pytest.importorskip("openskill.models")
    strengths = np.array([0.3, 2.0, 0.0, 1.2])
    scores = strengths[:, None] + np.random.default_rng(5).gumbel(size=(4, 600))
    ours = rate([rankings(range(4), scores)], 4, anchor=2, bootstraps=0)
    assert ours.rating / ELO == pytest.approx(strengths, abs=0.25)
    model = models.PlackettLuce()
    theirs = [[model.rating()] for _ in range(4)]
    for column in scores.T:
        theirs = model.rate(theirs, scores=column.tolist())
    assert np.argsort([team[0].mu for team in theirs]).tolist() == np.argsort(ours.rating).tolist()


def test_no_pair_needs_to_have_played():
    ratings = rate([of_pair([1, 1, 1, -1], (0, 1)), of_pair([1, 1, 1, -1], (1, 2))], 3, anchor=2, bootstraps=0)
    assert ratings.rating[0] > ratings.rating[1] > 0


@pytest.mark.parametrize(
    ("payoff", "weights"),
    [
        (CIRCLE, [1 / 3, 1 / 3, 1 / 3]),
        ([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]], [1, 0, 0]),
        ([[0, 0.001, 5], [-0.001, 0, 5], [-5, -5, 0]], [1, 0, 0]),
        ([[0, 0, 1], [0, 0, 1], [-1, -1, 0]], [0.5, 0.5, 0]),
        ([[0, 0, 1, -1], [0, 0, 1, -1], [-1, -1, 0, 1], [1, 1, -1, 0]], [1 / 6, 1 / 6, 1 / 3, 1 / 3]),  # two rocks share
        ([[0, 2, -1], [-2, 0, 1], [1, -1, 0]], [1 / 4, 1 / 4, 1 / 2]),
        ([[0.0]], [1]),
        (np.zeros((3, 3)), [1 / 3, 1 / 3, 1 / 3]),
    ],
)
def test_nash_averaging(payoff, weights):
    found, skill = nash_average(np.array(payoff, float))
    assert found == pytest.approx(weights, abs=1e-5)
    assert skill == pytest.approx(np.array(payoff) @ weights, abs=1e-4)


def test_no_agent_gains_on_the_nash_mixture():
    random = np.random.default_rng(6)
    for agents in (2, 3, 5, 9):
        payoff = random.normal(size=(agents, agents))
        payoff -= payoff.T
        weights, skill = nash_average(payoff)
        assert weights.sum() == pytest.approx(1)
        assert skill.max() < 1e-6
        assert np.abs(skill[weights > 1e-6]).max() < 1e-6


def test_the_cyclic_share():
    ratings = np.array([3.0, 1, -2])
    transitive = ratings[:, None] - ratings[None, :]
    assert cyclic_share(transitive) == pytest.approx(0, abs=1e-12)
    assert cyclic_share(CIRCLE) == pytest.approx(1)
    # Squared norms: 2 (2² + 5² + 3²) = 76 and 6 · 2² = 24; the parts are orthogonal.
    assert cyclic_share(transitive + 2 * CIRCLE) == pytest.approx(24 / 100)
    assert cyclic_part(transitive + 2 * CIRCLE) == pytest.approx(2 * CIRCLE)
    assert cyclic_share(np.zeros((2, 2))) == 0

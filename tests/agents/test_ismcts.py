"""`ismcts`: information-set tree search, from views alone."""

import random

import numpy as np
import pytest

import agents
from agents.search.ismcts import Ismcts
from agents.search.kernels.objective import MATCH_POINTS
from agents.search.objective import side_values
from pitchenv import Batch, Game, Rules, games, load_rules
from pitchenv.actions import action_name
from pitchenv.cards import CARD_NAMES
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.agents.searching import answer, answers_row_by_row, best_margin, open_deal, plays_legally, sees_no_hidden_cards
from tests.random_rules import random_rules

SPECS = ["ismcts:iterations=40", "ismcts:iterations=40,rollout=random", "ismcts:iterations=40,rollout=heuristic:untuned"]


@pytest.mark.parametrize("name", games())
def test_hidden_cards_make_no_difference(name: str) -> None:
    assert sees_no_hidden_cards(Ismcts(40), name, seed=6) > 4


@pytest.mark.parametrize("spec", SPECS)
def test_each_decision_stands_alone(spec: str) -> None:
    answers_row_by_row(agents.load(spec), load_rules("auction-3"), 30)


def test_another_seed_is_another_stream() -> None:
    batch = Batch("auction-5", 20, seed=2)
    policy, answers = Ismcts(30), []
    for seed in (1, 1, 2):
        policy.reset(batch.rules[0], 20, seed)
        answers.append(policy.values(batch.views(), batch.mask, batch.seat))
    assert np.array_equal(answers[0], answers[1], equal_nan=True)
    assert not np.array_equal(answers[0], answers[2], equal_nan=True)


@pytest.mark.parametrize("rollout", ["heuristic", "random"])
def test_plays_random_house_rules_legally(rollout: str) -> None:
    rng = random.Random(3)
    policy = Ismcts(12, rollout)
    assert sum(plays_legally(policy, Rules(**random_rules(rng)), seed) for seed in range(60)) > 300


def test_leads_the_ace_that_makes_the_bid() -> None:
    """With spades the pitcher has High, and Low from the king that must follow: the bid is made. With any other suit nothing is."""
    game = open_deal(["KS AC AD AH", "AS KC KD KH"], "bid 2, pass")
    policy = Ismcts(200)
    policy.reset(game.rules, 1, 1)
    assert action_name(answer(policy, game)) == "AS"


@pytest.mark.parametrize("rollout", ["heuristic", "random", "heuristic:untuned"])
def test_finds_the_best_play_where_nothing_is_hidden(rollout: str) -> None:
    pack = [card for card in range(52) if card % 13 >= 11]
    policy = Ismcts(4000, rollout)
    told_apart = 0
    for seed in range(3 if ":" in rollout else 10):
        random.Random(seed).shuffle(pack)
        game = open_deal([" ".join(CARD_NAMES[c] for c in hand) for hand in (pack[:4], pack[4:])], "bid 2, pass")
        policy.reset(game.rules, 1, seed)
        after = {}
        for action in game.legal_actions():
            after[action] = game.copy()
            after[action].apply(action)
        worth = {action: best_margin(next_one, 1) for action, next_one in after.items()}
        told_apart += min(worth.values()) < max(worth.values())
        assert worth[answer(policy, game)] == max(worth.values()), (seed, worth)
    assert told_apart > 0


def test_values_and_visit_shares() -> None:
    batch = Batch("auction-4-partners", 6, seed=1)
    policy = Ismcts(100)
    policy.reset(batch.rules[0], 6, 3)
    values = policy.values(batch.views(), batch.mask, batch.seat)
    shares = policy.probabilities(batch.views(), batch.mask, batch.seat)
    assert (np.isfinite(values) == batch.mask).all()
    assert (np.abs(values[batch.mask]) <= 8).all()
    assert shares.dtype == np.float32
    assert np.allclose(shares.sum(axis=1), 1)
    assert (shares[~batch.mask] == 0).all()
    assert np.allclose(shares * 100, np.round(shares * 100), atol=1e-3)
    chosen = policy.act(batch.views(), batch.mask, batch.seat)
    assert (shares[np.arange(6), chosen] >= shares.max(axis=1) / 2).all()


def test_flat_search_averages_the_same_worlds_for_every_action() -> None:
    """With depth 1, and few enough iterations to try each call equally often, the values are plain averages of rollouts by `heuristic`."""
    game = open_deal(["KS AC AD AH", "AS KC KD KH"], "bid 2, pass")
    policy = Ismcts(4 * 5, depth=1, exploration=1000.0)
    policy.reset(game.rules, 1, 1)
    values = policy.values(np.array([game.view(1)]), game.mask(1)[None].astype(bool), np.array([1]))[0]
    for action in game.legal_actions():
        played = game.copy()
        played.apply(action)
        while played.seat is not None:
            played.apply(answer(HeuristicPolicy(), played))
        assert values[action] == pytest.approx(played.scores[1] - played.scores[0])


@pytest.mark.parametrize(("own_score", "bonus"), [(0, 0), (3, MATCH_POINTS)])
def test_the_deal_that_decides_the_match_is_worth_more(own_score: int, bonus: int) -> None:
    hands = ["AS KS QS JS TS 2S", "2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D"]
    game = Game.from_deal("auction-3", [hand.split() for hand in hands], dealer=2, scores=[own_score, 2, 0])
    game.apply("bid 4")
    for trick in zip(*(hand.split() for hand in hands), strict=True):
        for card in trick:
            game.apply(card)
    assert game.over == (bonus > 0)
    assert side_values(np.array([game._match[0]])).tolist() == [[4 + bonus, *[-2 - bonus / 2] * 2, *[0] * 5]]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ismcts:iterations=0", "iterations = '0': allowed: a whole number, 1 … 1000000"),
        ("ismcts:iteration=5", "option 'iteration': unknown; did you mean 'iterations'?"),
        ("ismcts:1000", "'1000' is no option"),
        ("ismcts:rollout=heuristik", "agent 'heuristik': unknown; did you mean 'heuristic'?"),
        ("ismcts:exploration=-1", "exploration = '-1': allowed: a number, 0 … 1000"),
    ],
)
def test_a_bad_spec_is_one_clear_line(spec: str, said: str) -> None:
    with pytest.raises(agents.AgentError, match="agent") as refusal:
        agents.load(spec)
    assert said in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1

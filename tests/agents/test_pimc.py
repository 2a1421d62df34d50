"""`pimc:`: worlds solved with open hands, from views alone."""

import random

import numpy as np
import pytest

import agents
from agents import AgentError
from agents.search.pimc import Pimc, from_options
from pitchenv import Game, Rules, games, load_rules
from pitchenv.actions import ACTIONS, action_number
from pitchenv.cards import card
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.agents.brute_force import brute_force, brute_force_maxn
from tests.agents.searching import answer, answers_row_by_row, best_margin, open_deal, plays_legally, sees_no_hidden_cards
from tests.random_rules import random_rules


@pytest.mark.parametrize("name", games())
def test_hidden_cards_make_no_difference(name: str) -> None:
    assert sees_no_hidden_cards(Pimc(3, exact=16), name, seed=8) > 4


@pytest.mark.parametrize("options", [{"maxn": False}, {"inference": HeuristicPolicy()}])
def test_nor_do_they_with_options(options: dict) -> None:
    assert sees_no_hidden_cards(Pimc(3, exact=16, **options), "auction-3", seed=8) > 4


@pytest.mark.parametrize("spec", ["pimc:worlds=3,exact=12", "pimc:worlds=3,inference=heuristic,exact=12", "pimc:worlds=3,maxn=no,sure=0"])
def test_each_decision_stands_alone(spec: str) -> None:
    answers_row_by_row(agents.load(spec), load_rules("auction-3"), 20)


@pytest.mark.parametrize("maxn", [False, True])
def test_plays_random_house_rules_legally(maxn: bool) -> None:
    rng = random.Random(5)
    player = Pimc(2, exact=10, sure=0.0, maxn=maxn)
    assert sum(plays_legally(player, Rules.from_dict(random_rules(rng)), seed) for seed in range(20)) > 100


def one_row(game: Game) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mask = np.zeros((1, ACTIONS), np.bool_)
    mask[0, game.legal_actions()] = True
    return np.array([game.view(game.seat)]), mask, np.array([game.seat])


@pytest.mark.parametrize("maxn", [False, True])
def test_with_nothing_hidden_values_are_exact(maxn: bool) -> None:
    """All cards are dealt, to two: each knows the other's."""
    game = open_deal(["KS AC AD AH", "AS KC KD KH"], "bid 2, pass")
    player = Pimc(3, maxn=maxn)
    player.reset(game.rules, 1, 1)
    values = player.values(*one_row(game))[0]
    for action in game.legal_actions():
        after = game.copy()
        after.apply(action)
        assert values[action] == best_margin(after, game.seat)
    assert np.isnan(values[[card("KS"), ACTIONS - 1]]).all()
    assert answer(player, game) == card("AS")


def test_the_last_tricks_are_valued_exactly_for_either_side() -> None:
    """Every world is the deal itself where the looking seat has all unseen cards but one place for them."""
    for seed in range(30):
        game = Game(load_rules("auction-2", lowest_rank=12, hand_size=6, tricks=6), seed=seed)  # 12 cards: all are dealt
        rng = random.Random(seed)
        while game.phase != "ended":
            if game.phase == "play" and len(game.legal_actions()) > 1 and game.trump is not None:
                player = Pimc(2)
                player.reset(game.rules, 1, 1)
                values = player.values(*one_row(game))[0]
                for action in game.legal_actions():
                    after = game.copy()
                    after.apply(action)
                    value = brute_force(after._match)[0] if after.phase == "play" else _margin(after, game.pitcher)
                    assert values[action] == (value if game.seat == game.pitcher else -value)
            game.apply(rng.choice(game.legal_actions()))


def _margin(game: Game, side: int) -> float:
    change = game._match["public"]["change"][0]
    return float(change[side] - change[1 - side])


def test_maxn_values_are_those_of_every_side_for_itself() -> None:
    """Three players, all cards known: each side's margin by brute force."""
    rules = load_rules("auction-3", lowest_rank=12, hand_size=4, tricks=4)  # 12 cards
    for seed in range(10):
        game = Game(rules, seed=seed)
        rng = random.Random(seed)
        while game.phase != "play" or game.trump is None:
            game.apply(rng.choice(game.legal_actions()))
        player = Pimc(1)
        player.reset(rules, 1, 1)
        # A world that is the deal: what others hold is taken from the match itself.
        player._worlds = lambda view, match=game._match: (match.copy(), np.ones(1))  # type: ignore[method-assign]
        values = player.values(*one_row(game))[0]
        for action in game.legal_actions():
            after = game.copy()
            after.apply(action)
            np.testing.assert_allclose(values[action], brute_force_maxn(after._match)[0, game.seat])


def test_thinks_of_the_match() -> None:
    """At 6 of 7 points a deal that is won wins the match too."""
    hands = ["AS KS QS JS 2S 3S", "4C 5C 6C 7C 8C 9C"]
    values = []
    for scores in ([0, 0], [6, 6]):
        game = Game.from_deal("auction-2", [hand.split() for hand in hands], _rest(hands), dealer=1, scores=scores)
        player = Pimc(20)
        player.reset(game.rules, 1, 1)
        values.append(player.values(*one_row(game))[0])
    bid_four = action_number("bid 4")
    assert values[0][bid_four] == pytest.approx(4)
    assert values[1][bid_four] == pytest.approx(4 + 6)


def _rest(hands: list[str]) -> list[str]:
    held = " ".join(hands).split()
    return [rank + suit for suit in "CDHS" for rank in "23456789TJQKA" if rank + suit not in held]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("worlds=0", "worlds = '0': allowed: a whole number, 1 … 10000"),
        ("worlds=many", "worlds = 'many': allowed: a whole number"),
        ("exact=55", "exact = '55': allowed: a whole number, 1 … 54"),
        ("wordls=3", "option 'wordls': unknown; did you mean 'worlds'"),
        ("maxn=1", "maxn = '1': allowed: yes, no"),
        ("inference=", "inference = '': allowed: the folder of a run, or another agent"),
        ("inference=nobody", "agent 'nobody': unknown"),
    ],
)
def test_refusals(options: str, message: str) -> None:
    with pytest.raises(AgentError) as refused:
        agents.load(f"pimc:{options}")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_options() -> None:
    player = from_options("worlds=7,sure=2,exact=20")
    assert (player.worlds, player.sure, player.exact, player.maxn, player.inference) == (7, 2.0, 20, None, None)
    assert from_options("maxn=no").maxn is False
    assert isinstance(from_options("inference=heuristic").inference, HeuristicPolicy)

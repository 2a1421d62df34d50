"""Inference: the weights of worlds are Bayes' rule, with what a policy would have done in each of them."""

import math
import random
from typing import Any, Literal

import numpy as np
import pytest

import agents
import pitchenv
from agents.search.inference import open_choices, world_weights
from agents.search.worlds import sample_worlds, view_seeds
from pitchenv.cards import cards_in
from pitchenv.checks import InputError
from pitchenv.engine.state import HIDDEN_CARD, MATCH, VIEW
from tests.agents.enumerated import all_worlds, key_of, moment
from tests.agents.test_worlds import SMALL
from tests.conformance import ALL_RULES, content, random_deal

MOMENTS = [("three hands", 1, 6, 1), ("five hands", 0, 6, 0), ("three keep trump", 2, 11, 2), ("smear", 1, 7, 0), ("redraw", 3, 12, 1)]


def taste(hand: int, action: int) -> int:
    """How much the planted policy likes an action with a hand: an arbitrary number from 1 to 11."""
    return 1 + (hand % 1009 * 31 + action * 17) % 11


class Planted:
    """A policy whose probabilities are known: in proportion to `taste`."""

    reads: Literal["observation", "view"] = "view"

    def probabilities(self, inputs: Any, mask: Any, seat: Any) -> Any:
        assert (inputs["seat"] == seat).all()
        assert (inputs["public"]["turn"] == seat).all()
        liked = np.array([[taste(int(view["hand"]), action) for action in range(70)] for view in inputs]) * mask
        return (liked / liked.sum(axis=1, keepdims=True)).astype(np.float32)


def likelihood(world: pitchenv.Game, me: int, uniform: float) -> float:
    """The chance of what the others did openly, worked out by playing the deal again."""
    hidden, public = world._match["hidden"][0], world._match["public"][0]
    hands = [cards_in(int(mask)) for mask in hidden["first_hands"][: world.rules.players]]
    again = pitchenv.Game.from_deal(world.rules, hands, hidden["stock"][: public["stock_size"]].tolist(), dealer=world.dealer)
    chance = 1.0
    for seat, action in world.actions:
        legal = again.legal_actions()
        if seat != me and again.phase in ("auction", "trump", "play"):
            hand = sum(1 << c for c in again.hands[seat])
            share = taste(hand, action) / sum(taste(hand, a) for a in legal)
            chance *= (1 - uniform) * share + uniform / len(legal)
        again.apply(action)
    return chance


@pytest.mark.parametrize(("name", "seed", "moves", "seat"), MOMENTS)
def test_weights_are_bayes_rule(name, seed, moves, seat):
    """Over all worlds there are, and in the mean over those that are drawn."""
    game = moment(SMALL[name], seed, moves)
    fit = all_worlds(game, seat)
    view = np.array([game.view(seat)])
    chances = np.array([likelihood(world, seat, 0.1) for world in fit.values()])
    posterior = chances / chances.sum()
    assert posterior.max() > 2 * posterior.min()
    every = np.array([[world._match[0] for world in fit.values()]], MATCH)
    weights = world_weights(view, every, Planted(), uniform=0.1)
    assert weights.shape == every.shape
    np.testing.assert_allclose(weights[0], posterior, rtol=1e-5)
    drawn = sample_worlds(view, 3000, view_seeds(view, 1))
    weights = world_weights(view, drawn, Planted(), uniform=0.1)[0]
    assert math.isclose(weights.sum(), 1)
    found = dict.fromkeys(fit, 0.0)
    for world, weight in zip(drawn[0], weights, strict=True):
        found[key_of(game.rules, world)] += float(weight)
    assert max(abs(f - p) for f, p in zip(found.values(), posterior, strict=True)) < 0.02
    assert sum(abs(f - p) for f, p in zip(found.values(), posterior, strict=True)) < 0.25


def test_one_view_at_a_time_or_many_at_once():
    rng = random.Random(4)
    policy = agents.load("heuristic")
    game = pitchenv.Game("smear", seed=3)
    views = np.array([g.view(rng.randrange(4)) for g in random_deal(game, rng)] + [game.view(0)])
    worlds = sample_worlds(views, 5, view_seeds(views, 2))
    together = world_weights(views, worlds, policy)
    np.testing.assert_allclose(together.sum(axis=1), 1)
    for i in range(len(views)):
        np.testing.assert_array_equal(world_weights(views[i : i + 1], worlds[i : i + 1], policy)[0], together[i])
    assert (together[0] == 0.2).all()  # nobody has done anything yet
    assert (together != 0.2).any()


def test_a_deterministic_policy_and_its_own_play():
    """In the world that is, a player does what it does: no world weighs more than the true one."""
    policy = agents.load("heuristic")
    sharper = []
    for seed in range(6):
        game = pitchenv.Game("auction-4-partners", seed=seed)
        for _ in range(14):
            view, mask = np.array([game.view(game.seat)]), np.array([game.mask(game.seat)], np.bool_)
            game.apply(int(policy.act(view, mask, np.array([game.seat]))[0]))
        view = np.array([game.view(0)])
        worlds = np.concatenate([game._match[None], sample_worlds(view, 50, view_seeds(view, 1))], axis=1)
        weights = world_weights(view, worlds, policy)[0]
        assert weights[0] == weights.max()
        sharper.append(weights[0] * len(weights))
    assert np.mean(sharper) > 1.5


@pytest.mark.parametrize("name", ["auction-3", "oklahoma-4", "oklahoma-6", "smear", "oklahoma-4 with everything"])
def test_the_choices_seen_are_those_that_were_made(name):
    """In the true deal: the views of the seats that acted, at the moment they did."""
    rules = ALL_RULES[name]
    rng = random.Random(name)
    game = pitchenv.Game(rules, seed=8)
    for _ in random_deal(game, rng):
        pass
    game.next_deal()
    me, made = 1, []
    for now in random_deal(game, rng):
        before, seat, open_phase, several = now.copy(), now.seat, now.phase in ("auction", "trump", "play"), len(now.legal_actions()) > 1
        if open_phase and several and seat != me:
            made.append((before, seat, len(before.actions)))
    for moves in (len(game.actions), len(game.actions) // 2):
        at = next((b for b, _, n in made if n >= moves), game)
        seen, masks, actions, world_of = open_choices(np.array([at.view(me)]), at._match[None])
        expected = [(b, s, n) for b, s, n in made if n < len(at.actions)]
        assert len(seen) == len(expected)
        assert not world_of.any()
        for row, (before, seat, n) in enumerate(expected):
            wanted = before.view(seat)
            if at.phase == "ended":  # what the deal before it brought is forgotten by then
                for field in ("points", "change", "scored"):
                    wanted["public"][field] = 0
            assert content(seen[row : row + 1]) == content(np.array([wanted]))
            assert np.flatnonzero(masks[row]).tolist() == before.legal_actions()
            assert actions[row] == game.actions[n][1]


def test_policies_that_read_observations_and_worlds_of_no_choice():
    game = moment(ALL_RULES["auction-3"], 2, 12)
    views = np.array([game.view(0)])
    worlds = sample_worlds(views, 4, view_seeds(views, 1))
    _, masks, _, world_of = open_choices(views, worlds)
    chances = np.array([np.prod(1 / masks[world_of == k].sum(axis=1)) for k in range(4)])
    assert len(set(chances)) > 1
    np.testing.assert_allclose(world_weights(views, worlds, agents.load("random"))[0], chances / chances.sum(), rtol=1e-5)
    assert world_weights(views[:0], worlds[:0], Planted()).shape == (0, 4)


def test_bad_input():
    views = np.array([moment(ALL_RULES["smear"], 1, 20).view(0)])
    worlds = sample_worlds(views, 2, view_seeds(views, 1))
    broken = worlds.copy()
    broken[0, 1]["history"][:20] = HIDDEN_CARD
    for given, uniform, message in [
        (worlds, 0, "uniform = 0: allowed: above 0, up to 1"),
        (worlds, float("nan"), "uniform = nan: allowed: above 0, up to 1"),
        (worlds[0], 0.1, r"worlds = .*: allowed: an array \(1, k\) of MATCH records, k from 1"),
        (worlds[:, :0], 0.1, r"worlds = .*: allowed: an array \(1, k\) of MATCH records, k from 1"),
        (np.zeros((1, 2), VIEW), 0.1, r"worlds = .*: allowed: an array \(1, k\) of MATCH records, k from 1"),
        (broken, 0.1, r"worlds\[0, 1\]: cannot be played again from its first hands; allowed: worlds of sample_worlds"),
    ]:
        with pytest.raises(InputError, match=message):
            world_weights(views, given, Planted(), uniform)

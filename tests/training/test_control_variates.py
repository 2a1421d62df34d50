"""Control variates: whatever the value network, they change no expectation; with a good one the margin varies less."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

import pitchenv
from agents import AgentError
from agents.canonical import canonical_states
from agents.learned import PARTS, NetworkPolicy, TwoPartPolicy
from agents.networks import Actor, Critic
from pitchenv.checks import InputError
from pitchenv.observation import layout
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.random import RandomPolicy
from tests.training.conftest import small_config
from training.columns import live_columns
from training.control_variates import Corrections, ValueNetwork, side_weights
from training.duplicate import play_duplicate
from training.parts import fresh_matches, seatings
from training.players import Player, play_deals
from training.run import Run
from training.train import Stop, train

PARTNERS = pitchenv.load_rules("auction-4-partners")


def small_rules(name):
    """Two cards each, two bids: few ways to play a deal."""
    return pitchenv.load_rules(name, lowest_rank=12, hand_size=2, tricks=2, min_bid=3, dealer_must_bid=[3])


class First:
    reads = "observation"

    def reset(self, rules, size, seed):
        pass

    def act(self, inputs, mask, seat):
        return mask.argmax(axis=1)


def weighted(mask):
    """A policy's probabilities, by how high an action's number is."""
    weights = mask * (1.0 + np.arange(70) % 5)
    return weights / weights.sum(axis=-1, keepdims=True)


class Scripted:
    """States `weighted`, and takes the actions it is told."""

    reads = "view"
    samples = True
    script = ()

    def reset(self, rules, size, seed):
        pass

    def act(self, inputs, mask, seat):
        return np.array([self.script[0].pop(0)])

    def probabilities(self, inputs, mask, seat):
        return weighted(mask)


def skip_forced(game):
    while game.seat is not None and len(game.legal_actions()) == 1:
        game.apply(game.legal_actions()[0])
    return game


def choices(game):
    """(action, its chance, the game after it) at a choice."""
    mask = np.isin(np.arange(70), game.legal_actions())
    for action in np.flatnonzero(mask):
        after = game.copy()
        after.apply(int(action))
        yield int(action), weighted(mask)[action], skip_forced(after)


def ways_to_play(game):
    """Every way to play a deal to its end: (chance, actions)."""
    if game.seat is None:
        yield 1.0, []
        return
    for action, chance, after in choices(game):
        for rest, actions in ways_to_play(after):
            yield chance * rest, [action, *actions]


def margins_of(game, at_side):
    """Scores of agent 0's sides less those of agent 1's, of a finished deal."""
    scores = np.array(game.scores)
    return scores[at_side == 0].mean() - scores[at_side == 1].mean()


def random_network(rules, seed):
    torch.manual_seed(seed)
    size = len(np.concatenate(live_columns([rules], layout(rules.players), False)))
    return ValueNetwork({part: Critic(size, (8,)) for part in PARTS}, rules, 0.25)


class Exact:
    """The value of a state under `weighted` play, from the seat to act."""

    def __init__(self, rules):
        self.rules = rules

    def __call__(self, matches):
        return np.array([self.value(pitchenv.Game.from_record(self.rules, match)) for match in matches])

    def value(self, game):
        side = game.seat % self.rules.sides
        scores = self.scores(game)
        return scores[side] - np.delete(scores, side).mean()

    def scores(self, game):
        if game.seat is None:
            return np.array(game.scores)
        return sum(chance * self.scores(after) for _, chance, after in choices(game))


def every_play(rules, deal, at_side, value):
    """(chances, margins, corrections) of every way to play a deal, through the code that plays matches."""
    players = [Player(str(k), Scripted(), k) for k in (0, 1)]
    out = []
    for chance, actions in ways_to_play(skip_forced(pitchenv.Game.from_record(rules, deal[0]))):
        players[0].policy.script = players[1].policy.script = [list(actions)]
        watch = Corrections(value, players, rules, at_side[None])
        ended = play_deals(players, rules, deal.copy(), at_side[None], watch)
        assert watch.count == len(actions)
        game = pitchenv.Game.from_record(rules, ended[0])
        out.append((chance, margins_of(game, at_side), watch.decisions[0]))
    return np.array(out).T


@pytest.mark.parametrize(("name", "plays"), [("auction-2", 2), ("auction-3", 6)])
def test_over_all_ways_to_play_a_deal_the_corrections_come_to_nothing_whatever_the_network(name, plays):
    rules = small_rules(name)
    plan = seatings(2, rules.sides)
    assert len(plan) == plays
    deal = fresh_matches(rules, 3, 0, 1)
    for at_side in plan[:2]:
        chance, margin, correction = every_play(rules, deal, at_side, random_network(rules, 1))
        assert chance.sum() == pytest.approx(1)
        assert abs(correction).max() > 0.1
        assert (chance * correction).sum() == pytest.approx(0, abs=1e-6)
        assert (chance * (margin - correction)).sum() == pytest.approx((chance * margin).sum(), abs=1e-6)


def test_with_a_perfect_network_nothing_is_left_to_chance():
    rules = small_rules("auction-2")
    deal = fresh_matches(rules, 5, 0, 1)
    for at_side in seatings(2, 2):
        chance, margin, correction = every_play(rules, deal, at_side, Exact(rules))
        assert len(set(margin)) > 2
        assert margin - correction == pytest.approx((chance * margin).sum())


@pytest.mark.parametrize("name", ["auction-4-partners", "oklahoma-6", "auction-3", "smear"])
def test_the_luck_of_the_deal_cancels_over_the_seatings_and_is_fair_in_each(name):
    rules = pitchenv.load_rules(name)
    plan, deals = seatings(2, rules.sides), 1500
    at_side = plan.repeat(deals, axis=0)
    players = [Player(str(k), First(), k) for k in (0, 1)]
    watch = Corrections(random_network(rules, 2), players, rules, at_side)
    play_deals(players, rules, np.tile(fresh_matches(rules, 1, 0, deals), len(plan)), at_side, watch)
    chance = watch.chance.reshape(len(plan), deals)
    assert abs(chance.sum(axis=0)).max() < 1e-5
    assert abs(chance).max() > 0.5
    assert (abs(chance.mean(axis=1)) < 3.5 * chance.std(axis=1) / deals**0.5).all()
    assert not watch.decisions.any()


def test_weights_of_sides():
    assert side_weights(np.array([[0, 1], [1, 0]])).tolist() == [[1, -1], [-1, 1]]
    assert side_weights(np.array([[0, 1, 1], [1, 0, 0]])).tolist() == [[1, -0.5, -0.5], [-1, 0.5, 0.5]]


@cache
def trained(folder):
    run = Run.begin(
        small_config(iterations=4, checkpoint_every=4, deals_per_iteration=256, ppo={}, network={"critic_hidden": [64]}), folder
    )
    assert train(run, Stop())
    return ValueNetwork.of_run(folder, PARTNERS)


def sampled(seed):
    """Networks as they begin, drawing from their probabilities."""
    torch.manual_seed(seed)
    parts = (NetworkPolicy(Actor(layout(4).size, (16,), 70), PARTNERS, 4, greedy=False) for _ in PARTS)
    return TwoPartPolicy(*parts)


@pytest.mark.parametrize("good", [False, True])
def test_the_margin_is_the_plain_one_but_for_chance(good, tmp_path_factory):
    value = trained(tmp_path_factory.getbasetemp() / "control") if good else random_network(PARTNERS, 4)
    players = [Player("random", RandomPolicy(), 0), Player("sampled", sampled(1), 1)]
    plain = play_duplicate(players, PARTNERS, 800, seed=2)
    result = play_duplicate(players, PARTNERS, 800, seed=2, value=value)
    assert (result.control.margin, result.control.half_width) == (plain.margin, plain.half_width)
    corrections = plain.per_deal - result.per_deal
    assert result.margin == pytest.approx(result.per_deal.mean())
    assert abs(corrections.mean()) < 3 * corrections.std() / 800**0.5
    assert abs(result.margin - plain.margin) < result.half_width + plain.half_width
    assert result.control.decisions > 10_000
    variance = plain.per_deal.var(ddof=1) / result.per_deal.var(ddof=1)
    assert result.control.gain == pytest.approx(variance)
    assert result.control.gain > 1.5 if good else result.control.gain < 1
    assert result.control.gain_single > 1.5 if good else result.control.gain_single < 1
    assert np.array_equal(result.variance_ratios, plain.variance_ratios, equal_nan=True)


def test_who_does_not_draw_is_not_corrected():
    greedy = TwoPartPolicy(*(NetworkPolicy(Actor(layout(4).size, (16,), 70), PARTNERS, 4) for _ in PARTS))
    half = TwoPartPolicy(bidding=RandomPolicy(), play=HeuristicPolicy())
    assert [policy.samples for policy in (greedy, RandomPolicy(), sampled(1), half)] == [False, True, True, True]
    players = [Player("greedy", greedy, 0), Player("heuristic", HeuristicPolicy(), 1)]
    result = play_duplicate(players, PARTNERS, 50, seed=2, value=random_network(PARTNERS, 4))
    assert result.control.decisions == 0
    assert result.control.gain == 1
    assert result.margin == result.control.margin
    result = play_duplicate([Player("half", half, 0), players[1]], PARTNERS, 50, seed=2, value=random_network(PARTNERS, 4))
    assert 0 < result.control.decisions <= 50 * 2 * 2  # two seats, two plays, a call each


class Misstates(RandomPolicy):
    samples = True

    def __init__(self, how):
        super().__init__()
        self.how = how

    def probabilities(self, inputs, mask, seat):
        right = super().probabilities(inputs, mask, seat)
        first = np.eye(70)[mask.argmax(axis=1)]
        return {"shape": right[:, :60], "sum": right / 2, "illegal": np.full(mask.shape, 1 / 70), "never": first}[self.how]


@pytest.mark.parametrize("how", ["shape", "sum", "illegal", "never"])
def test_wrong_probabilities_are_refused_and_the_agent_named(how):
    says = "takes an action to which it gives no chance" if how == "never" else "probabilities are wrong"
    players = [Player("good", RandomPolicy(), 0), Player("bad", Misstates(how), 1)]
    with pytest.raises(AgentError, match=f"agent 'bad': {says}"):
        play_duplicate(players, PARTNERS, 4, seed=1, value=random_network(PARTNERS, 4))


def test_what_is_no_value_network_is_refused(tmp_path, small_run):
    with pytest.raises(InputError, match="not the folder of a run"):
        ValueNetwork.of_run(tmp_path, PARTNERS)
    with pytest.raises(InputError, match="not the folder of a run"):
        ValueNetwork.of_run(Path("x" * 300), PARTNERS)
    with pytest.raises(InputError, match="trained for other rules"):
        ValueNetwork.of_run(small_run, pitchenv.load_rules("smear"))
    several = {"games": ["auction-4-partners", "smear"]}
    for changes, says in (
        ({"parts": "play"}, "parts = 'play'"), ({"reward": "score"}, "reward = 'score'"), (several, "trained with several games"),
    ):  # fmt: skip
        folder = tmp_path / next(iter(changes))
        Run.begin(small_config(**changes), folder)
        with pytest.raises(InputError, match=says) as refusal:
            ValueNetwork.of_run(folder, PARTNERS)
        assert "\n" not in str(refusal.value)
    three = [Player(str(k), RandomPolicy(), k) for k in range(3)]
    with pytest.raises(InputError, match="control: 3 agents; allowed: 2"):
        play_duplicate(three, PARTNERS, 4, seed=1, value=random_network(PARTNERS, 4))


def test_values_are_points_of_the_critic_in_whole_states(small_run):
    """The same as in training: what the critic says of the live columns of a state, over the scale of the rewards."""
    run = Run.resume(small_run)
    value = ValueNetwork.of_run(small_run, run.rules)
    batch = pitchenv.Batch(run.rules, 40, seed=3)
    columns = np.concatenate(live_columns([run.rules], batch.layout, False))
    for moves in (0, 6):
        batch.play_random(moves)
        state, _, _ = canonical_states(batch.matches, np.arange(40), batch.layout)
        expected = np.empty(40)
        bidding = batch.matches["public"]["phase"] <= 1
        assert bidding.all() == (moves == 0)
        with torch.no_grad():
            for part, rows in (("bidding", bidding), ("play", ~bidding)):
                expected[rows] = run.learners[part].critic(torch.from_numpy(state[rows][:, columns])) / run.config.reward_scale
        assert value(batch.matches) == pytest.approx(expected, abs=1e-4)

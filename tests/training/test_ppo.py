"""The losses against numbers worked out by hand, and that they point the right way."""

import math

import numpy as np
import pytest
import torch

from agents.networks import NO_CHANCE, Actor
from training.config import PPOConfig
from training.learner import Sizes, TrainingError, check_finite
from training.ppo import PPOLearner, exact_advantages, losses, update
from training.rollout import Decisions


def certain_learner(logits: list[float], value: float) -> PPOLearner:
    """A learner whose networks give the same for every state."""
    learner = PPOLearner.create(Sizes(2, 3, len(logits)), (4,), (4,))
    for network, bias in ((learner.network, logits), (learner.critic, [value])):
        for parameter in network.parameters():
            torch.nn.init.zeros_(parameter)
        network.layers[-1].bias.data = torch.tensor(bias)
    return learner


def test_losses_by_hand() -> None:
    learner = certain_learner([0.0, math.log(3.0)], 2.0)  # probabilities ¼ and ¾
    loss = losses(
        learner, 0.2, torch.zeros(2, 3), torch.ones(2, 2, dtype=torch.bool), torch.tensor([1, 0]),
        torch.full((2, 2), math.log(0.5)), torch.tensor([1.0, 1.0]), torch.tensor([3.0, 5.0]),
    )  # fmt: skip
    # ratios 1.5 (clipped to 1.2) and 0.5 (the smaller counts)
    loss = {name: scalar.detach() for name, scalar in loss.items()}
    assert float(loss["policy"]) == pytest.approx(-(1.2 + 0.5) / 2)
    assert float(loss["value"]) == pytest.approx(0.5 * (1 + 9) / 2)
    assert float(loss["entropy"]) == pytest.approx(-(0.25 * math.log(0.25) + 0.75 * math.log(0.75)))
    assert float(loss["clip_fraction"]) == 1.0
    assert float(loss["approx_kl"]) == pytest.approx(((0.5 - math.log(1.5)) + (-0.5 - math.log(0.5))) / 2, rel=1e-5)


def test_exact_advantages_stand_for_all_actions() -> None:
    learner = certain_learner([0.0, math.log(3.0)], 2.0)  # probabilities ¼ and ¾
    loss = losses(
        learner, 0.2, torch.zeros(2, 3), torch.ones(2, 2, dtype=torch.bool), torch.tensor([1, 1]),
        torch.full((2, 2), math.log(0.5)), torch.tensor([9.0, 1.0]), torch.zeros(2), torch.tensor([[-2.0, 2.0], [torch.nan] * 2]),
    )  # fmt: skip
    # ratios ½ and 3/2: min(½ · −2, 0.8 · −2) = −1.6 and 1.2 · 2, each with chance ½; the other row as ever, 1.2 · 1
    assert float(loss["policy"].detach()) == pytest.approx(-((0.5 * -1.6 + 0.5 * 2.4) + 1.2) / 2)


def test_teachers_count_where_there_is_one() -> None:
    learner = certain_learner([0.0, math.log(3.0)], 2.0)  # probabilities ¼ and ¾
    taught = torch.tensor([[0.5, 0.5], [torch.nan] * 2]).log()
    loss = losses(
        learner, 0.2, torch.zeros(2, 3), torch.ones(2, 2, dtype=torch.bool), torch.tensor([1, 1]),
        torch.full((2, 2), math.log(0.5)), torch.zeros(2), torch.zeros(2), taught=taught,
    )  # fmt: skip
    assert float(loss["teacher_kl"].detach()) == pytest.approx(0.5 * (math.log(2) + math.log(2 / 3)) / 2)
    loss["teacher_kl"].backward()
    assert learner.network.layers[-1].bias.grad.tolist() == pytest.approx([-0.125, 0.125])  # (π − π_teacher) / 2 rows
    illegal = losses(
        learner, 0.2, torch.zeros(1, 3), torch.tensor([[True, False]]), torch.tensor([0]), torch.tensor([[0.0, -1e9]]), torch.zeros(1),
        torch.zeros(1), taught=torch.tensor([[0.0, -1e9]]),
    )  # fmt: skip
    assert float(illegal["teacher_kl"].detach()) == 0


def test_exact_advantages_are_over_what_was_expected() -> None:
    mask = torch.tensor([[True, True, False], [True, True, True]])
    values = torch.tensor([[1.0, 5.0, torch.nan], [torch.nan, 2.0, torch.nan]])
    chances = torch.tensor([[0.75, 0.25, 1e-30], [0.3, 0.3, 0.4]])
    zeros = np.zeros(2, np.int64)
    decisions = Decisions(torch.zeros(2, 1), mask, torch.zeros(2, dtype=torch.int64), chances.log(), zeros, zeros, zeros)
    advantages = exact_advantages(decisions, values, 0.5)
    assert advantages[0].tolist() == pytest.approx([-0.5, 1.5, 0])  # the policy expected 2
    assert advantages[1].isnan().all()  # known for one action alone


def test_losses_that_are_no_longer_finite_stop_the_training() -> None:
    learner = certain_learner([0.0, 0.0], math.inf)
    n = 4
    decisions = Decisions(
        torch.ones(n, 3),
        torch.ones(n, 2, dtype=torch.bool),
        torch.zeros(n, dtype=torch.int64),
        torch.zeros(n, 2),
        *(np.zeros(n, np.int64),) * 3,
    )
    loss = update(
        learner,
        decisions,
        np.ones(n, np.float32),
        np.ones(n, np.float32),
        PPOConfig(),
        1,
        1e-3,
        {},
        0.25,
        torch.Generator(),
        torch.device("cpu"),
    )
    with pytest.raises(TrainingError, match=r"losses of the play part: .*value.* no longer finite; the last checkpoint is kept") as fault:
        check_finite(loss, "play")
    assert "\n" not in str(fault.value)


def test_illegal_actions_have_no_chance_and_no_gradient() -> None:
    actor = Actor(3, (8,), 5)
    mask = torch.tensor([[True, False, True, False, False]])
    logits = actor(torch.ones(1, 3), mask)
    assert (logits[~mask] == NO_CHANCE).all()
    assert torch.softmax(logits, -1)[~mask].sum() == 0
    torch.log_softmax(logits, -1)[0, 0].backward()
    assert (actor.layers[-1].bias.grad[~mask[0]] == 0).all()


def test_update_makes_good_actions_likelier() -> None:
    torch.manual_seed(0)
    learner = PPOLearner.create(Sizes(2, 3, 4), (16,), (16,))
    state, mask = torch.rand(64, 3), torch.ones(64, 4, dtype=torch.bool)
    before = torch.log_softmax(learner.network(state[:, :2], mask), -1).detach()
    action = torch.arange(64) % 4
    decisions = Decisions(state, mask, action, before, np.arange(64), np.zeros(64, np.int64), np.zeros(64, np.int64))
    advantage = (action == 2).float().numpy() - 0.25
    figures = update(
        learner,
        decisions,
        advantage,
        advantage,
        PPOConfig(minibatches=2),
        4,
        1e-2,
        {},
        0.25,
        torch.Generator().manual_seed(1),
        torch.device("cpu"),
    )
    after = torch.log_softmax(learner.network(state[:, :2], mask), -1)
    assert (after[:, 2] > before[:, 2]).all()
    assert set(figures) == {"policy", "value", "entropy", "approx_kl", "clip_fraction", "explained_variance", "grad_norm"}

"""Deep Monte-Carlo: what it does in training, the regression, and that what is saved is a policy."""

import numpy as np
import pytest
import torch

from agents.networks import NO_CHANCE, Actor
from training.config import DMCConfig, TrainConfig
from training.dmc import DMCLearner, EpsilonGreedy, learn, update
from training.learner import TrainingError
from training.rollout import Decisions, Rollout

CPU = torch.device("cpu")


def fixed(values: list[float]) -> Actor:
    """A network with the same action values for every state."""
    network = Actor(2, (4,), len(values))
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    network.layers[-1].bias.data = torch.tensor(values)
    return network


def decisions(state: torch.Tensor, action: torch.Tensor, actions: int) -> Decisions:
    n = len(state)
    mask, zeros = torch.ones(n, actions, dtype=torch.bool), np.zeros(n, np.int64)
    return Decisions(state, mask, action, torch.zeros(n, actions), np.arange(n), zeros, zeros)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_the_best_legal_action_but_for_epsilon(epsilon: float) -> None:
    mask = torch.tensor([[True, True, True, True], [True, False, True, True]])
    chances = EpsilonGreedy(fixed([1.0, 5.0, 2.0, 3.0]), epsilon)(torch.zeros(2, 2), mask).exp()
    quarter, third = epsilon / 4, epsilon / 3
    assert chances[0].tolist() == pytest.approx([quarter, 1 - epsilon + quarter, quarter, quarter])
    assert chances[1].tolist() == pytest.approx([third, 0, third, 1 - epsilon + third])


def test_one_step_by_hand() -> None:
    learner = DMCLearner(fixed([1.0, 2.0]), DMCConfig(minibatches=1))
    figures = update(
        learner, decisions(torch.zeros(2, 3), torch.tensor([0, 1]), 2), torch.tensor([3.0, 6.0]), learner.config, 0.1,
        torch.Generator(), CPU,
    )  # fmt: skip
    assert figures["value"] == pytest.approx(0.5 * ((3 - 1) ** 2 + (6 - 2) ** 2) / 2)
    assert figures["explained_variance"] == pytest.approx(1 - 10 / 2.25)  # 2.25 is the variance of 3 and 6
    assert learner.network.layers[-1].bias.tolist() == pytest.approx([1.1, 2.1], abs=1e-3)  # Adam's first step is the learning rate


def test_values_become_mean_returns() -> None:
    torch.manual_seed(0)
    learner = DMCLearner(Actor(2, (16,), 3), DMCConfig(minibatches=4, epochs=100))
    state = torch.eye(2).repeat(150, 1)
    action = torch.arange(300) % 3
    return_ = state[:, 0] * 2 - action + torch.randn(300) * 0.1
    update(learner, decisions(torch.cat([state, torch.zeros(300, 1)], 1), action, 3), return_, learner.config, 1e-2, torch.Generator(), CPU)
    with torch.no_grad():
        values = learner.network.layers(torch.eye(2))
    assert values[0].tolist() == pytest.approx([2, 1, 0], abs=0.1)
    assert values[1].tolist() == pytest.approx([0, -1, -2], abs=0.1)


def test_what_is_saved_is_a_policy() -> None:
    learner = DMCLearner(fixed([1.0, 1.5]), DMCConfig(temperature=0.5))
    mask = torch.ones(1, 2, dtype=torch.bool)
    assert learner.policy()(torch.zeros(1, 2), mask).tolist() == [[2.0, 3.0]]
    assert learner.network(torch.zeros(1, 2), mask).tolist() == [[1.0, 1.5]]  # as it was
    assert learner.policy()(torch.zeros(1, 2), torch.tensor([[False, True]]))[0, 0] == NO_CHANCE


def test_values_that_are_no_longer_finite_stop_the_training() -> None:
    learners = {"play": DMCLearner(fixed([1.0, 2.0]), DMCConfig())}
    some = decisions(torch.zeros(2, 3), torch.tensor([0, 1]), 2)
    rollout = Rollout({"play": some}, np.array([[np.inf], [0]], np.float32), np.zeros(2), 2, np.full(2, -1))
    with pytest.raises(TrainingError, match="losses of the play part: value"):
        learn(learners, rollout, TrainConfig(), 1.0, torch.Generator(), CPU)

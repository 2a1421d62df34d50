"""Deep Monte-Carlo: the value of every action regressed on what came of the deal (Zha et al., "DouZero: mastering DouDizhu with
self-play deep reinforcement learning", ICML 2021, section 3).

Every decision is a sample: the action's value is moved towards the return of the deal, and the next deals are played by the action of the
highest value but for a share ε of uniform ones. Deals are short and pay once, so the return needs no bootstrapping. DouZero gives the
action to the network as an input, since there are thousands; here one head has a value for each of the 70.
"""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from agents.networks import NO_CHANCE, Actor
from training.config import DMCConfig, TrainConfig
from training.learner import Sizes, between, check_finite
from training.ranks import ALONE, Ranks
from training.rollout import Decisions, Rollout


class EpsilonGreedy(nn.Module):
    """The action of the highest value, but for a share ε of uniform ones, as log-probabilities (n, 70)."""

    def __init__(self, values: Actor, epsilon: float) -> None:
        super().__init__()
        self.values, self.epsilon = values, epsilon

    def forward(self, observation: Tensor, mask: Tensor) -> Tensor:
        best = self.values(observation, mask).argmax(-1, keepdim=True)
        chances = mask * (self.epsilon / mask.sum(-1, keepdim=True))
        chances.scatter_add_(1, best, torch.full_like(best, 1 - self.epsilon, dtype=chances.dtype))
        return torch.where(mask, chances.log().clamp_min(NO_CHANCE), NO_CHANCE)


class DMCLearner:
    """A network of action values, and its optimiser (see `training.learner.Learner`)."""

    def __init__(self, network: Actor, config: DMCConfig) -> None:
        self.network, self.config = network, config
        self.optimizer = torch.optim.Adam(network.parameters(), eps=1e-5, fused=True)

    def behaviour(self, left: float) -> nn.Module:
        return EpsilonGreedy(self.network, between(self.config.epsilon, self.config.epsilon_end, left))

    def policy(self) -> Actor:
        """The values over the temperature: the last layer divided by it."""
        actor = copy.deepcopy(self.network)
        with torch.no_grad():
            for parameter in actor.layers[-1].parameters():
                parameter.div_(self.config.temperature)
        return actor

    def to(self, device: torch.device) -> "DMCLearner":
        self.network.to(device)
        return self

    def state_dict(self) -> dict[str, Any]:
        return {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])

    def start_from(self, state: Mapping[str, Any]) -> None:
        self.network.load_state_dict(state["network"])


def create(sizes: Sizes, config: TrainConfig) -> DMCLearner:
    """A new learner."""
    return DMCLearner(Actor(sizes.observation, config.network.hidden, sizes.actions), config.dmc)


def learn(
    learners: Mapping[str, DMCLearner], rollout: Rollout, config: TrainConfig, left: float, random: torch.Generator, device: torch.device,
    ranks: Ranks = ALONE,
) -> dict[str, float]:  # fmt: skip
    """Regress every decision's value on its return (see `training.learner.Algorithm`)."""
    lr = between(config.dmc.lr, config.dmc.lr_end, left)
    scalars = {"charts/learning_rate": lr, "charts/epsilon": between(config.dmc.epsilon, config.dmc.epsilon_end, left)}
    for part, decisions in rollout.parts.items():
        return_ = torch.from_numpy(rollout.returns[decisions.deal, decisions.seat] * config.reward_scale)
        losses = update(learners[part], decisions, return_, config.dmc, lr, random, device, ranks)
        check_finite(losses, part)
        scalars |= {f"losses/{part}_{name}": value for name, value in losses.items()}
    return scalars


def update(
    learner: DMCLearner, decisions: Decisions, return_: Tensor, config: DMCConfig, lr: float, random: torch.Generator,
    device: torch.device, ranks: Ranks = ALONE,
) -> dict[str, float]:  # fmt: skip
    """Gradient steps on one part's decisions, all ranks' together, `return_` (n,) in scaled rewards; the mean squared error, and the
    share it explains. Without any decisions: nothing."""
    shares = ranks.minibatch_shares(len(decisions), config.minibatches)
    if not shares:
        return {}
    for group in learner.optimizer.param_groups:
        group["lr"] = lr
    network = learner.network
    state, action, target = (column.to(device) for column in (decisions.state, decisions.action, return_))
    state = state[:, : network.layers[0].in_features]
    parameters = list(network.parameters())
    total = norms = torch.zeros((), device=device)
    for _ in range(config.epochs):
        order = torch.randperm(len(decisions), generator=random).to(device)
        for rows, share in zip(order.tensor_split(len(shares)), shares, strict=True):
            learner.optimizer.zero_grad(set_to_none=True)
            if share:
                value = network.layers(state.index_select(0, rows)).gather(1, action[rows, None]).squeeze(1)
                loss = 0.5 * (value - target[rows]).square().mean()
                loss.backward()  # type: ignore[no-untyped-call]
                total = total + share * loss.detach()
            ranks.average_gradients(parameters, share)
            norms = norms + nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
            learner.optimizer.step()
    steps = config.epochs * len(shares)
    error = ranks.total({"error": float(total) / steps})["error"]
    variance = float(ranks.moments(return_.numpy())[1])
    explained = 1 - 2 * error / variance if variance > 0 else 0.0
    return {"value": error, "explained_variance": explained, "grad_norm": float(norms) / steps}

"""Proximal policy optimisation of one part, with a critic that sees all hands (Schulman et al. 2017; the details are those of CleanRL)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agents.networks import Actor, Critic
from pitchenv.checks import InputError
from training.config import PPOConfig
from training.gae import advantages
from training.rollout import Decisions, Rollout

VALUES_AT_ONCE = 4096  # rows


class TrainingError(InputError):
    """Training has come to nothing; one line."""


@dataclass
class Learner:
    """A part that learns: its networks and their optimiser."""

    actor: Actor
    critic: Critic
    optimizer: torch.optim.Adam

    @classmethod
    def create(
        cls, observation_size: int, state_size: int, actions: int, hidden: tuple[int, ...], critic_hidden: tuple[int, ...]
    ) -> "Learner":
        actor = Actor(observation_size, hidden, actions)
        critic = Critic(state_size, critic_hidden)
        return cls(actor, critic, torch.optim.Adam([*actor.parameters(), *critic.parameters()], eps=1e-5))

    def to(self, device: torch.device) -> "Learner":
        """Move the networks (before the optimiser has any state)."""
        self.actor.to(device)
        self.critic.to(device)
        return self

    def state_dict(self) -> dict[str, Any]:
        """All that training needs to go on."""
        return {"actor": self.actor.state_dict(), "critic": self.critic.state_dict(), "optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse."""
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        self.optimizer.load_state_dict(state["optimizer"])


def losses(
    learner: Learner, state: Tensor, mask: Tensor, action: Tensor, log_prob_old: Tensor, advantage: Tensor, return_: Tensor, clip: float
) -> dict[str, Tensor]:
    """The scalars of a minibatch of n decisions: `policy`, `value`, `entropy`, and what tells how far the policy has moved.

    policy = −mean min(ρ A, clip(ρ, 1 ± ε) A) with ρ = π(a|s) / π_old(a|s) (Schulman et al. 2017, eq. 7);
    approx_kl = mean (ρ − 1) − log ρ (Schulman, "Approximating KL divergence", 2020).
    """
    assert advantage.shape == return_.shape == action.shape == log_prob_old.shape == (len(state),)
    size = learner.actor.layers[0].in_features
    log_probs = torch.log_softmax(learner.actor(state[:, :size], mask), -1)
    log_ratio = log_probs.gather(1, action[:, None]).squeeze(1) - log_prob_old
    ratio = log_ratio.exp()
    policy = -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
    value = 0.5 * (learner.critic(state) - return_).square().mean()
    entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
    with torch.no_grad():
        approx_kl = ((ratio - 1) - log_ratio).mean()
        clip_fraction = ((ratio - 1).abs() > clip).float().mean()
    return {"policy": policy, "value": value, "entropy": entropy, "approx_kl": approx_kl, "clip_fraction": clip_fraction}


@torch.no_grad()
def values(critic: Critic, state: Tensor, device: torch.device) -> np.ndarray:
    """The critic's values (n,) of states (n, S)."""
    return torch.cat([critic(rows.to(device)).cpu() for rows in torch.split(state, VALUES_AT_ONCE)]).numpy()


def chained_advantages(
    learners: dict[str, Learner], rollout: Rollout, config: PPOConfig, device: torch.device
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(advantages, critic's targets) of each part, in scaled rewards. A seat's decisions of both parts are one chain: what a bid was
    worth shows in the value of the first card."""
    parts = {name: (d, values(learners[name].critic, d.state, device)) for name, d in rollout.parts.items() if len(d)}
    if not parts:
        return {}
    wave = np.concatenate([d.wave for d, _ in parts.values()])
    order = np.argsort(wave, kind="stable")
    value = np.concatenate([v for _, v in parts.values()])[order]
    deal, seat = (np.concatenate([getattr(d, name) for d, _ in parts.values()])[order] for name in ("deal", "seat"))
    in_order = advantages(value, deal, seat, wave[order], rollout.returns * np.float32(config.reward_scale), config.gae_lambda)
    advantage = np.empty_like(in_order)
    advantage[order] = in_order
    out, at = {}, 0
    for name, (d, v) in parts.items():
        own = advantage[at : at + len(d)]
        out[name] = (own, own + v)
        at += len(d)
    return out


def update(
    learner: Learner, decisions: Decisions, advantage: np.ndarray, target: np.ndarray, config: PPOConfig, epochs: int,
    lr: float, entropy_weight: float, random: torch.Generator, device: torch.device,
) -> dict[str, float]:  # fmt: skip
    """Some epochs of gradient steps on one part's decisions; returns the mean of each loss, and the critic's explained variance."""
    for group in learner.optimizer.param_groups:
        group["lr"] = lr
    spread = float(target.var())
    explained = 1 - float(advantage.var()) / spread if spread > 0 else 0.0  # target − value is the advantage
    scaled = torch.from_numpy((advantage - advantage.mean()) / (advantage.std() + 1e-8)).to(device)
    returns = torch.from_numpy(target).to(device)
    state, mask, action, log_prob = (
        column.to(device) for column in (decisions.state, decisions.mask, decisions.action, decisions.log_prob)
    )
    parameters = [*learner.actor.parameters(), *learner.critic.parameters()]
    sums: dict[str, Tensor] = {}
    steps = 0
    for _ in range(epochs):
        order = torch.randperm(len(decisions), generator=random).to(device)
        for rows in order.tensor_split(min(config.minibatches, len(decisions))):
            loss = losses(learner, state[rows], mask[rows], action[rows], log_prob[rows], scaled[rows], returns[rows], config.clip)
            learner.optimizer.zero_grad(set_to_none=True)
            (loss["policy"] + loss["value"] - entropy_weight * loss["entropy"]).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
            learner.optimizer.step()
            for name, scalar in loss.items():
                sums[name] = sums.get(name, torch.zeros((), device=device)) + scalar.detach()
            steps += 1
    if not all(torch.isfinite(total) for total in sums.values()):
        broken = ", ".join(name for name, total in sums.items() if not torch.isfinite(total))
        raise TrainingError(f"losses: {broken} no longer finite; the last checkpoint is kept; try a smaller ppo.lr")
    return {name: float(total) / steps for name, total in sums.items()} | {"explained_variance": explained}

"""Proximal policy optimisation, with a critic that sees all hands (Schulman et al., "Proximal policy optimization algorithms", 2017; the
details are those of CleanRL).

With a magnet the policy is also held to a slow copy of itself, by the reverse KL divergence: magnetic mirror descent with a moving magnet
(Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player zero-sum games", ICLR 2023; as an
addition to PPO in Rudolph et al., "Reevaluating policy gradient methods for imperfect-information games", 2025). With teachers it is also
drawn to their policies (`training.teachers`).
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from agents.networks import Actor, Critic
from training.config import PPOConfig, TrainConfig
from training.gae import advantages
from training.learner import Sizes, between, check_finite
from training.ranks import ALONE, Ranks
from training.rollout import Decisions, Rollout

VALUES_AT_ONCE = 4096  # rows


@dataclass
class PPOLearner:
    """An actor, a critic, and their optimiser (see `training.learner.Learner`)."""

    network: Actor
    critic: Critic
    optimizer: torch.optim.Adam
    magnet: Actor | None = None

    @classmethod
    def create(cls, sizes: Sizes, hidden: tuple[int, ...], critic_hidden: tuple[int, ...], magnet: bool = False) -> "PPOLearner":
        actor = Actor(sizes.observation, hidden, sizes.actions)
        critic = Critic(sizes.state, critic_hidden)
        optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], eps=1e-5, fused=True)
        return cls(actor, critic, optimizer, copy.deepcopy(actor).requires_grad_(False) if magnet else None)

    def behaviour(self, left: float) -> nn.Module:
        return self.network

    def policy(self) -> Actor:
        return self.network

    def to(self, device: torch.device) -> "PPOLearner":
        for network in self._networks().values():
            network.to(device)
        return self

    def _networks(self) -> dict[str, nn.Module]:
        return {"network": self.network, "critic": self.critic} | ({"magnet": self.magnet} if self.magnet else {})

    def state_dict(self) -> dict[str, Any]:
        return {name: network.state_dict() for name, network in self._networks().items()} | {"optimizer": self.optimizer.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for name, network in self._networks().items():
            network.load_state_dict(state[name])
        self.optimizer.load_state_dict(state["optimizer"])

    def start_from(self, state: Mapping[str, Any]) -> None:
        self.network.load_state_dict(state["network"])
        self.critic.load_state_dict(state["critic"])
        if self.magnet:
            self.magnet.load_state_dict(state["network"])

    @torch.no_grad()
    def move_magnet(self, rate: float) -> None:
        """Have the slow copy follow the policy by a part of the way."""
        if self.magnet:
            for slow, fast in zip(self.magnet.parameters(), self.network.parameters(), strict=True):
                slow.lerp_(fast, rate)


def create(sizes: Sizes, config: TrainConfig) -> PPOLearner:
    """A new learner."""
    return PPOLearner.create(sizes, config.network.hidden, config.network.critic_hidden, config.ppo.magnet > 0)


def learn(
    learners: Mapping[str, PPOLearner], rollout: Rollout, config: TrainConfig, left: float, random: torch.Generator, device: torch.device,
    ranks: Ranks = ALONE,
) -> dict[str, float]:  # fmt: skip
    """Some epochs of gradient steps on an iteration's deals (see `training.learner.Algorithm`)."""
    ppo = config.ppo
    lr = between(ppo.lr, ppo.lr_end, left)
    weights = {
        "entropy": -between(ppo.entropy, ppo.entropy_end, left),
        "magnet_kl": ppo.magnet,
        "teacher_kl": between(ppo.teaching, ppo.teaching_end, left),
    }
    scalars = {"charts/learning_rate": lr, "charts/entropy_weight": -weights["entropy"]}
    found = chained_advantages(learners, rollout, config, device)
    for part, decisions in rollout.parts.items():
        advantage, target = found.get(part, (np.zeros(0, np.float32),) * 2)
        epochs = ppo.bidding_epochs if part == "bidding" else ppo.epochs
        loss = update(learners[part], decisions, advantage, target, ppo, epochs, lr, weights, config.reward_scale, random, device, ranks)
        if not loss:
            continue
        check_finite(loss, part)
        learners[part].move_magnet(ppo.magnet_rate)
        scalars |= {f"losses/{part}_{name}": value for name, value in loss.items()}
    return scalars


def losses(
    learner: PPOLearner, clip: float, state: Tensor, mask: Tensor, action: Tensor, log_probs_old: Tensor, advantage: Tensor,
    return_: Tensor, exact: Tensor | None = None, taught: Tensor | None = None,
) -> dict[str, Tensor]:  # fmt: skip
    """The scalars of a minibatch of n decisions: `policy`, `value`, `entropy`, and what tells how far the policy has moved.

    policy = −mean min(ρ A, clip(ρ, 1 ± ε) A) with ρ = π(a|s) / π_old(a|s) (Schulman et al. 2017, eq. 7), in rows of `exact` (n, 70), the
    advantages of all actions, that have no nan, in its expectation over a ~ π_old;
    approx_kl = mean (ρ − 1) − log ρ (Schulman, "Approximating KL divergence", 2020);
    with a magnet, magnet_kl = mean KL(π || π_magnet), over all actions;
    with `taught` (n, 70), log π_teacher, nan in rows without one, teacher_kl = mean KL(π_teacher || π), 0 in those rows.
    """
    assert advantage.shape == return_.shape == action.shape == (len(state),)
    assert log_probs_old.shape == mask.shape
    observation = state[:, : learner.network.layers[0].in_features]
    logits = learner.network(observation, mask)
    log_probs, probs = torch.log_softmax(logits, -1), torch.softmax(logits, -1)  # exp is slow where a logarithm is −10⁹
    chosen = action[:, None]
    ratio = (log_probs.gather(1, chosen) - log_probs_old.gather(1, chosen)).squeeze(1).exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    if exact is not None:
        solved = ~exact[:, 0].isnan()
        r, a = torch.where(mask, log_probs - log_probs_old, 0.0)[solved].exp(), exact[solved]
        every = torch.minimum(r * a, r.clamp(1 - clip, 1 + clip) * a)
        gain = gain.masked_scatter(solved, (torch.softmax(log_probs_old[solved], -1) * every).sum(-1))
    policy = -gain.mean()
    value = 0.5 * (learner.critic(state) - return_).square().mean()
    entropy = -(probs * log_probs).sum(-1).mean()
    with torch.no_grad():
        approx_kl = ((ratio - 1) - ratio.log()).mean()
        clip_fraction = ((ratio - 1).abs() > clip).float().mean()
    out = {"policy": policy, "value": value, "entropy": entropy, "approx_kl": approx_kl, "clip_fraction": clip_fraction}
    if learner.magnet:
        with torch.no_grad():
            slow = torch.log_softmax(learner.magnet(observation, mask), -1)
        out["magnet_kl"] = (probs * (log_probs - slow)).sum(-1).mean()
    if taught is not None:
        known = ~taught[:, 0].isnan()
        theirs = taught[known]
        out["teacher_kl"] = (torch.softmax(theirs, -1) * (theirs - log_probs[known])).sum() / len(state)
    return out


@torch.no_grad()
def values(critic: Critic, state: Tensor, device: torch.device) -> np.ndarray:
    """The critic's values (n,) of states (n, S)."""
    return torch.cat([critic(rows.to(device)).cpu() for rows in torch.split(state, VALUES_AT_ONCE)]).numpy()


def chained_advantages(
    learners: Mapping[str, PPOLearner], rollout: Rollout, config: TrainConfig, device: torch.device
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
    in_order = advantages(value, deal, seat, wave[order], rollout.returns * np.float32(config.reward_scale), config.ppo.gae_lambda)
    advantage = np.empty_like(in_order)
    advantage[order] = in_order
    out, at = {}, 0
    for name, (d, v) in parts.items():
        own = advantage[at : at + len(d)]
        out[name] = (own, own + v)
        at += len(d)
    return out


def exact_advantages(decisions: Decisions, exact: Tensor, scale: float) -> Tensor:
    """The advantages of all actions (n, 70) where they are known exactly, 0 for illegal ones: what each comes to less what the policy that
    acted expected to come to, times `scale`; rows of nan elsewhere."""
    known = ~exact.isnan()
    solved = (known == decisions.mask).all(1, keepdim=True)
    value = torch.where(known, exact, 0.0)
    expected = (torch.softmax(decisions.log_probs, 1) * value).sum(1, keepdim=True)
    return torch.where(solved, (value - expected) * decisions.mask * scale, torch.nan)


def update(
    learner: PPOLearner, decisions: Decisions, advantage: np.ndarray, target: np.ndarray, config: PPOConfig, epochs: int,
    lr: float, weights: Mapping[str, float], reward_scale: float, random: torch.Generator, device: torch.device, ranks: Ranks = ALONE,
) -> dict[str, float]:  # fmt: skip
    """Some epochs of gradient steps on one part's decisions, all ranks' together; returns the mean of each loss, and the critic's
    explained variance. Without any decisions: nothing. `weights`: of the losses that count besides the policy's and the critic's."""
    shares = ranks.minibatch_shares(len(decisions), config.minibatches)
    if not shares:
        return {}
    for group in learner.optimizer.param_groups:
        group["lr"] = lr
    mean, variance = ranks.moments(advantage)
    spread = float(ranks.moments(target)[1])
    explained = 1 - float(variance) / spread if spread > 0 else 0.0  # target − value is the advantage
    std = float(np.sqrt(variance)) + 1e-8
    scaled, returns = torch.from_numpy((advantage - mean) / std), torch.from_numpy(target)
    columns = {
        "state": decisions.state, "mask": decisions.mask, "action": decisions.action, "log_probs_old": decisions.log_probs,
        "advantage": scaled, "return_": returns,
    }  # fmt: skip
    if decisions.exact is not None:
        columns["exact"] = exact_advantages(decisions, decisions.exact, reward_scale / std)
    if decisions.taught is not None:
        columns["taught"] = decisions.taught
    columns = {name: column.to(device) for name, column in columns.items()}
    parameters = [*learner.network.parameters(), *learner.critic.parameters()]
    sums: dict[str, Tensor] = {}
    for _ in range(epochs):
        order = torch.randperm(len(decisions), generator=random).to(device)
        for rows, share in zip(order.tensor_split(len(shares)), shares, strict=True):
            learner.optimizer.zero_grad(set_to_none=True)
            if share:
                loss = losses(learner, config.clip, **{name: column.index_select(0, rows) for name, column in columns.items()})
                whole = loss["policy"] + loss["value"]
                for name, weight in weights.items():
                    if name in loss:
                        whole = whole + weight * loss[name]
                whole.backward()  # type: ignore[no-untyped-call]
                for name, scalar in loss.items():
                    sums[name] = sums.get(name, torch.zeros((), device=device)) + share * scalar.detach()
            ranks.average_gradients(parameters, share)
            norm = nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
            sums["grad_norm"] = sums.get("grad_norm", torch.zeros((), device=device)) + norm / ranks.world
            learner.optimizer.step()
    means = ranks.total({name: float(total) / (epochs * len(shares)) for name, total in sums.items()})
    return means | {"explained_variance": explained}

"""sb3-contrib's MaskablePPO on the single-seat environment, with the networks and the settings of a configuration. Extra `[peers]`.

What differs from `training.ppo` favours it: one pair of networks for bidding and play, a critic that sees no more than the actor, suits as
they come, and opponents that play at random, which costs less than a network's forward pass. The environment asks for forced moves too:
the learner's steps with only one legal action are played and learned from like any other, but are no decisions.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from pitchenv import spaces
from pitchenv.rules import Rules
from pitchenv.single import PitchVectorEnv
from training.config import TrainConfig
from training.train import matrix_products


class SingleSeatTables(VecEnv):  # type: ignore[misc]
    """`PitchVectorEnv` as Stable-Baselines3 wants it; observations have the live columns alone, as the networks of `train`.

    `steps` and `decisions` count what the learner was asked so far, and what of it left a choice.
    """

    def __init__(self, rules: Rules, environments: int, columns: NDArray[np.int64], reward_scale: float) -> None:
        self.tables, self.columns, self.reward_scale = PitchVectorEnv(environments, rules), columns, reward_scale
        self.steps = self.decisions = 0
        self._infos: list[dict[str, Any]] = [{} for _ in range(environments)]  # nothing in them is read: no episode is cut short
        whole = spaces.observation_box(rules, 1)
        super().__init__(environments, type(whole)(whole.low[columns], whole.high[columns]), spaces.action_space())

    def reset(self) -> NDArray[np.float32]:
        observations, _ = self.tables.reset(seed=self._seeds)
        return observations.take(self.columns, 1)  # type: ignore[no-any-return]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self.steps += self.num_envs
        self.decisions += int(np.count_nonzero(self.tables.action_masks().sum(1) > 1))
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        observations, rewards, terminated, _, _ = self.tables.step(self._actions)
        return observations.take(self.columns, 1), (rewards * self.reward_scale).astype(np.float32), terminated, self._infos

    def close(self) -> None:
        self.tables.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.tables, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """One row of what a method of all tables returns for each."""
        return list(getattr(self.tables, method_name)(*arguments, **options))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


class MaskablePPOIterations:
    """A learner; a call collects `rows` steps, or the nearest multiple of the environments, learns from them and returns how many were
    decisions. Every epoch is cut into minibatches of `minibatch` rows."""

    def __init__(self, config: TrainConfig, columns: NDArray[np.int64], environments: int, rows: int, minibatch: int) -> None:
        ppo = config.ppo
        self.tables = SingleSeatTables(config.load_rules(), environments, columns, config.reward_scale)
        self._matmul = config.matmul
        networks = {"pi": list(config.network.hidden), "vf": list(config.network.critic_hidden)}
        self.model = MaskablePPO(
            "MlpPolicy", self.tables, learning_rate=ppo.lr, n_steps=max(1, round(rows / environments)), batch_size=minibatch,
            n_epochs=ppo.epochs, gamma=1.0, gae_lambda=ppo.gae_lambda, clip_range=ppo.clip, ent_coef=ppo.entropy,
            max_grad_norm=ppo.max_grad_norm, policy_kwargs={"net_arch": networks, "activation_fn": torch.nn.ReLU}, seed=config.seed,
            device="cpu",
        )  # fmt: skip

    def __call__(self) -> int:
        before = self.tables.decisions
        with matrix_products(self._matmul):
            steps = self.model.n_steps * self.tables.num_envs
            self.model.learn(steps, log_interval=2, reset_num_timesteps=False)  # one iteration, so nothing is logged
        return self.tables.decisions - before

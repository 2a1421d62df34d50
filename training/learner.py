"""What a part that learns is to the trainer, whatever the algorithm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import nn

from agents.networks import Actor
from pitchenv.checks import InputError
from training.config import TrainConfig
from training.ranks import Ranks
from training.rollout import Rollout


class TrainingError(InputError):
    """Training has come to nothing; one line."""


class Learner(Protocol):
    """The networks of a part, and their optimiser."""

    @property
    def network(self) -> Actor:
        """The network that acts; a starting point gives its weights to another learner's."""
        ...

    def behaviour(self, left: float) -> nn.Module:
        """(observation, mask) -> logits (n, 70) of what the learner does in training, where `left` of the run is still to come."""
        ...

    def policy(self) -> Actor:
        """The policy that has been learned: the likeliest action is the best, the softmax of its logits says how sure that is."""
        ...

    def to(self, device: torch.device) -> "Learner":
        """Move the networks (before the optimiser has any state)."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that training needs to go on."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The inverse."""
        ...

    def start_from(self, state: Mapping[str, Any]) -> None:
        """Take the networks, but not the optimiser, from another learner's state. Raises KeyError or RuntimeError where they don't fit."""
        ...


@dataclass(frozen=True)
class Sizes:
    """Of a part's networks."""

    observation: int  # columns that the actor reads, the first of a state
    state: int  # columns that a critic reads
    actions: int


class Algorithm(Protocol):
    """A module that learns: `training.ppo`, `training.dmc`."""

    def create(self, sizes: Sizes, config: TrainConfig) -> Learner:
        """A new learner, its weights drawn from torch's generator."""
        ...

    def learn(
        self, learners: Mapping[str, Any], rollout: Rollout, config: TrainConfig, left: float, random: torch.Generator,
        device: torch.device, ranks: Ranks,
    ) -> dict[str, float]:  # fmt: skip
        """Update the learners, by part, with an iteration's deals, those of all ranks; returns scalars for TensorBoard. Raises
        TrainingError, on all ranks alike."""
        ...


def between(start: float, end: float, left: float) -> float:
    """What a quantity that goes from start to end in a straight line is where `left` of the run is still to come."""
    return end + (start - end) * left


def check_finite(losses: Mapping[str, float], part: str) -> None:
    """Raise TrainingError if a loss is no number any more."""
    broken = ", ".join(name for name, value in losses.items() if value != value or value in (float("inf"), float("-inf")))
    if broken:
        raise TrainingError(f"losses of the {part} part: {broken} no longer finite; the last checkpoint is kept; try a smaller lr")

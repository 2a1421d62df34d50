"""The networks: a policy head over the 70 actions from an observation, a value from the full state."""

from itertools import pairwise

import torch
from torch import Tensor, nn

NO_CHANCE = -1e9  # logit of an action that is not legal


def mlp(inputs: int, hidden: tuple[int, ...], outputs: int, last_gain: float) -> nn.Sequential:
    """Linear layers with ReLU between, orthogonal weights (gain √2, the last `last_gain`) and zero biases.

    The initialisation is that of Andrychowicz et al., "What matters in on-policy reinforcement learning?" (2021), and CleanRL.
    """
    layers: list[nn.Module] = []
    sizes = [inputs, *hidden, outputs]
    for i, (a, b) in enumerate(pairwise(sizes)):
        linear = nn.Linear(a, b)
        last = i == len(sizes) - 2
        nn.init.orthogonal_(linear.weight, last_gain if last else 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [linear] if last else [linear, nn.ReLU()]
    return nn.Sequential(*layers)


class Actor(nn.Module):
    """Logits (n, 70) from observations (n, F)."""

    def __init__(self, observation_size: int, hidden: tuple[int, ...], actions: int) -> None:
        super().__init__()
        self.layers = mlp(observation_size, hidden, actions, 0.01)

    def forward(self, observation: Tensor, mask: Tensor) -> Tensor:
        """`mask` (n, 70) bool: legal actions; the logits of others are NO_CHANCE."""
        logits: Tensor = self.layers(observation)
        return torch.where(mask, logits, NO_CHANCE)


class Critic(nn.Module):
    """The expected return (n,) of the seat to act, from full states (n, S): it sees all hands, in training only."""

    def __init__(self, state_size: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.layers = mlp(state_size, hidden, 1, 1.0)

    def forward(self, state: Tensor) -> Tensor:
        value: Tensor = self.layers(state)
        return value.squeeze(-1)

"""Small runs for the tests of training."""

from pathlib import Path
from typing import Any

import pytest
import torch

from training.__main__ import main
from training.config import TrainConfig, from_dict
from training.run import Run
from training.train import Stop, train

torch.set_num_threads(1)

SMALL: dict[str, Any] = {
    "iterations": 4,
    "checkpoint_every": 1,
    "deals_per_iteration": 24,
    "ppo": {"minibatches": 4},
    "network": {"hidden": [16], "critic_hidden": [16]},
    "evaluation": {"every": 2, "deals": 8, "final_deals": 8},
}


def small_config(**changes: Any) -> TrainConfig:
    """A configuration that trains in a second."""
    config: TrainConfig = from_dict({**SMALL, **changes})
    return config


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished small run."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    assert train(Run.begin(small_config(), folder), Stop())
    return folder


@pytest.fixture(scope="session")
def equity_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match-equity table of few deals."""
    path = tmp_path_factory.mktemp("tables") / "equity.npz"
    assert main(["equity", "heuristic", "--deals", "300", "--out", str(path)]) == 0
    return path

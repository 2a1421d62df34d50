"""Checkpoints: what a run needs to go on, and the player it has come to. Written beside and renamed, so that none is ever half there."""

import io
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

import torch

from agents.learned import AGENT_FILE, CheckpointError, newest_checkpoint
from pitchenv.checks import read_json
from training.config import ConfigError, TrainConfig, from_dict
from training.files import write_file

CONFIG_FILE: Final = "config.json"
STATE_FILE: Final = "training_state.pt"
KEEP: Final = 3  # newest ones


def save_checkpoint(run: Path, iteration: int, state: dict[str, Any], agent: dict[str, str], networks: dict[str, bytes]) -> Path:
    """Write checkpoint `iteration` of a run: state, agent description, networks by part; older ones are cleared away."""
    folder = run / "checkpoints" / f"{iteration:08d}"
    beside = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    content = io.BytesIO()
    torch.save(state, content)
    write_file(beside / STATE_FILE, content.getvalue())
    save_agent(beside, agent, networks)
    if folder.exists():  # the same iteration again, with an evaluation more
        folder.rename(folder.with_name(folder.name + ".old"))
    beside.rename(folder)
    _sync(folder.parent)
    finished = sorted(p for p in folder.parent.iterdir() if p.name.isdigit())
    for left in [*finished[:-KEEP], *folder.parent.glob("*.old"), *folder.parent.glob("*.tmp")]:
        shutil.rmtree(left)
    return folder


def save_agent(folder: Path, agent: dict[str, str], networks: dict[str, bytes]) -> None:
    """Write a player to a folder: its networks by part, and last the description that says it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, network in networks.items():
        write_file(folder / f"{part}.safetensors", network)
    write_file(folder / AGENT_FILE, json.dumps(agent, indent=1).encode())


def _sync(folder: Path) -> None:
    """Have the names in a folder written to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load_checkpoint(run: Path) -> tuple[TrainConfig, dict[str, Any]]:
    """The configuration of a run and the state of its newest checkpoint. Raises CheckpointError."""
    if not os.path.isfile(run / CONFIG_FILE):
        raise CheckpointError(f"resume {str(run)!r}: not the folder of a run; allowed: a folder made by `python -m training train`")
    try:
        fields = read_json(run / CONFIG_FILE)
        if not isinstance(fields, dict):
            raise ConfigError("not a table of fields")
        config = from_dict(fields)
    except (OSError, ValueError) as fault:
        raise CheckpointError(f"resume {str(run)!r}: {CONFIG_FILE} is damaged: {' '.join(str(fault).split())}") from None
    path = newest_checkpoint(run) / STATE_FILE
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as fault:  # torch raises many kinds for a damaged file
        raise CheckpointError(f"checkpoint {str(path)!r}: damaged or missing: {' '.join(str(fault).split())[:160]}") from None
    if not isinstance(state, dict) or "iteration" not in state:
        raise CheckpointError(f"checkpoint {str(path)!r}: not the state of a training run")
    return config, state


def finished(config: TrainConfig, state: dict[str, Any]) -> bool:
    """Whether a run has its iterations, and the evaluation that comes after the last."""
    curve = state.get("curve")
    return bool(state["iteration"] >= config.iterations and curve and curve[-1]["deals"] == config.iterations * config.deals_per_iteration)

"""What a run's networks may start from: those of another run of the same game and the same kind."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.learned import CheckpointError
from pitchenv import Rules
from pitchenv.observation import LAYOUT_VERSION, Layout
from training.checkpoint import CONFIG_FILE, load_checkpoint
from training.columns import FIRST, live_columns
from training.config import ConfigError, TrainConfig
from training.learner import Learner

Columns = tuple[NDArray[np.int64], NDArray[np.int64]]  # as `live_columns` has them


def differences(state: Mapping[str, Any], games: Mapping[str, Rules]) -> Iterator[tuple[str, Any, Any]]:
    """Where a checkpoint's state is of another layout or for other rules: what it is, the state's value, and that of the rules."""
    if state.get("layout") != LAYOUT_VERSION:
        yield "layout", state.get("layout"), LAYOUT_VERSION
    theirs = state.get("games") or {}
    if len(theirs) != len(games):
        yield "games", list(theirs), list(games)
    for (name, rules), (_, found) in zip(games.items(), theirs.items(), strict=False):
        for rule, value in rules.to_dict().items():
            if found.get(rule) != value:
                yield rule if len(games) == 1 else f"{name}.{rule}", found.get(rule), value


def start_from(config: TrainConfig, games: Mapping[str, Rules], legend: Layout, learners: Mapping[str, Learner]) -> None:
    """Give the learners the networks of the run that the configuration starts from. Raises ConfigError where they don't fit.

    Where that run's deals all started from nothing and those of this one do not, they are blind to the score at first.
    """
    run = Path(config.start_from)
    what = f"start_from = {config.start_from!r}"
    if not os.path.isfile(run / CONFIG_FILE):
        raise ConfigError(f"{what}: not the folder of a run; allowed: a folder made by `python -m training train`")
    try:
        theirs, state = load_checkpoint(run)
    except CheckpointError as fault:
        raise ConfigError(f"{what}: {fault}") from None
    for name, found, value in differences(state, games):
        raise ConfigError(f"{what}: was trained for {name} = {found!r}; allowed: {value!r}, as configured")
    if theirs.algorithm != config.algorithm:
        raise ConfigError(f"{what}: has algorithm = {theirs.algorithm!r}; allowed: {config.algorithm!r}, as configured")
    for name in ("hidden", "critic_hidden", "canonical_suits"):
        found, value = getattr(theirs.network, name), getattr(config.network, name)
        if found != value:
            raise ConfigError(f"{what}: has network.{name} = {found!r}; allowed: {value!r}, as configured")
    found, value = theirs.start_scores, config.start_scores
    if (found, value) == ("spread", "zero"):
        raise ConfigError(f"{what}: has start_scores = {found!r}, and reads the score; allowed: {value!r}, as configured")
    narrow, wide = (live_columns(list(games.values()), legend, start == "spread") for start in (found, value))
    for part, learner in learners.items():
        if part not in (learned := state.get("learners") or {}):
            raise ConfigError(f"{what}: learned parts = {theirs.parts!r}; allowed: one with the {part} part")
        try:
            learner.start_from(_widened(learned[part], narrow, wide))
        except (KeyError, TypeError, AttributeError, RuntimeError) as fault:
            raise ConfigError(f"{what}: does not fit its configuration: {' '.join(str(fault).split())[:160]}") from None


def _widened(learned: Mapping[str, Any], narrow: Columns, wide: Columns) -> dict[str, Any]:
    """A learner's networks, which read `narrow` columns, as the same functions of `wide` ones."""
    out = dict(learned)
    for name, theirs, ours in (("network", narrow[0], wide[0]), ("critic", np.concatenate(narrow), np.concatenate(wide))):
        if name in out:
            weights = out[name][FIRST]
            wider = torch.zeros(len(weights), len(ours))
            wider[:, torch.from_numpy(np.searchsorted(ours, theirs))] = weights
            out[name] = {**out[name], FIRST: wider}
    return out

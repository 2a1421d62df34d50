"""Teachers: finished agents of single games, whose policy a run is drawn to in their games while it learns from its own deals (Schmitt et
al., "Kickstarting deep reinforcement learning", 2018).

A teacher's networks are brought to the columns that the run's own networks read, so that one state serves both.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

import agents
from agents import zoo
from agents.learned import PARTS, NetworkPolicy, TwoPartPolicy
from agents.networks import Actor
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.checks import InputError, read_json
from pitchenv.observation import Layout, layout
from pitchenv.policies import Policy
from training.columns import among_more_slots, in_columns
from training.config import ConfigError
from training.files import write_file
from training.frozen import freeze, load_frozen
from training.house_rules import HOUSE

PINNED_FILE: Final = "specs.json"  # of the folder with a run's teachers: who they were

Actors = dict[str, Actor]  # of a teacher, by part


def named_teachers(specs: Sequence[str]) -> list[Policy]:
    """The agents that specs name. Raises ConfigError."""
    found = []
    for spec in specs:
        try:
            found.append(agents.load(spec))
        except InputError as fault:
            raise ConfigError(f"teachers: {fault}") from None
    return found


def freeze_teachers(specs: Sequence[str], folder: Path) -> None:
    """Copy the agents that specs name into a folder, and note which they were. Raises InputError."""
    for k, spec in enumerate(specs):
        freeze(spec, folder / str(k))
    if specs:
        write_file(folder / PINNED_FILE, json.dumps([zoo.pinned(spec) for spec in specs]).encode())


def pinned_teachers(folder: Path) -> list[str]:
    """The specs of those that `freeze_teachers` has copied, zoo agents with their checksums; none where it has not."""
    try:
        return [str(spec) for spec in read_json(folder / PINNED_FILE)]
    except (OSError, ValueError, TypeError):
        return []


def load_teachers(specs: Sequence[str], folder: Path) -> list[Policy]:
    """Those that `freeze_teachers` has copied. Raises InputError."""
    return [load_frozen(folder / str(k)) for k in range(len(specs))]


def teachers_by_game(
    specs: Sequence[str], policies: Sequence[Policy], games: Mapping[str, Rules], canonical: bool, columns: NDArray[np.int64],
    legend: Layout,
) -> dict[Rules, Actors]:  # fmt: skip
    """The networks of teachers, for observations of which only some columns of the layout `legend` are kept, by the game they teach.

    Raises ConfigError for an agent that is not made of networks for one of the games, that reads more, whose suits are not as the run's,
    and for a second one of the same game.
    """
    found: dict[Rules, Actors] = {}
    names = [name for name in games if not name.startswith(HOUSE)]
    for spec, policy in zip(specs, policies, strict=True):
        what = f"teachers = {spec!r}"
        parts = policy.parts if isinstance(policy, TwoPartPolicy) else {}
        networks = {part: network for part, network in parts.items() if isinstance(network, NetworkPolicy) and not network.any_rules}
        suits = {network.canonical_suits for network in networks.values()}
        if len(networks) < len(PARTS) or networks["bidding"].rules != networks["play"].rules:
            raise ConfigError(f"{what}: not two networks for one game; allowed: a run that learned both parts of one game, or a zoo agent")
        rules = networks["play"].rules
        if rules not in games.values():
            raise ConfigError(f"{what}: was trained for a game that is not learned here; allowed: for one of {', '.join(names)}")
        if not all(tensor.isfinite().all() for network in networks.values() for tensor in network.actor.state_dict().values()):
            raise ConfigError(f"{what}: has weights that are no numbers; allowed: finite ones")
        if rules in found:
            raise ConfigError(f"{what}: the second one for its game; allowed: one for each")
        if suits != {canonical}:
            raise ConfigError(f"{what}: has network.canonical_suits = {not canonical}; allowed: {canonical}, as configured")
        try:
            found[rules] = {
                part: in_columns(network.actor, among_more_slots(layout(network.slots), legend), columns, legend)
                for part, network in networks.items()
            }
        except ValueError:
            raise ConfigError(f"{what}: reads more than the run does, as the score; allowed: with start_scores = 'spread'") from None
    return found


class Teachers:
    """What teachers would do at the decisions of a batch."""

    def __init__(self, teachers: Mapping[Rules, Actors], rules: Sequence[Rules], device: torch.device) -> None:
        """`rules`: of each match of the batch."""
        self._actors = [{part: actor.to(device) for part, actor in actors.items()} for actors in teachers.values()]
        number = {game: k for k, game in enumerate(teachers)}
        self._teacher = np.array([number.get(game, -1) for game in rules])

    @torch.no_grad()
    def log_probs(self, part: str, observation: torch.Tensor, mask: torch.Tensor, rows: NDArray[np.int64]) -> torch.Tensor:
        """The logarithms of the teachers' probabilities (n, 70) for observations (n, live columns) and legal actions (n, 70), on their
        device, in these rows of the batch (n,); nan in games without a teacher."""
        found = torch.full((len(rows), ACTIONS), torch.nan, device=observation.device)
        teacher = self._teacher[rows]
        for k in np.unique(teacher[teacher >= 0]):
            at = torch.from_numpy(np.flatnonzero(teacher == k)).to(observation.device)
            found[at] = torch.log_softmax(self._actors[k][part](observation[at], mask[at]), -1)
        return found

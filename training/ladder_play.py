"""A part of a ladder as a task for a worker: one table of agents, some deals, and an agent that breaks the rules is named."""

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import agents
from agents import AgentError
from pitchenv import Batch, Rules
from pitchenv.checks import InputError
from pitchenv.policies import Policy
from training.parts import play_part
from training.players import Player


class AgentFault(Exception):
    """An agent that can't go on: (its spec, the reason in one line)."""

    @property
    def agent(self) -> str:
        """Its spec."""
        return str(self.args[0])

    @property
    def reason(self) -> str:
        """What it did, without its name."""
        return str(self.args[1]).removeprefix(f"agent {self.agent!r}: ")


@dataclass(frozen=True)
class Part:
    """What is played and kept at a time: the deals `part · size` … `+ deals` of a seed, at one table, in all its seatings."""

    table: tuple[int, ...]  # the agents, by their numbers in the ladder
    specs: tuple[str, ...]
    digests: tuple[str | None, ...]  # of the checkpoints that the specs name
    rules: Rules
    seed: int
    part: int
    deals: int
    size: int  # deals in a whole part

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The agents two by two, in the order of the margins of `play`."""
        return list(combinations(self.table, 2))


class StrictPlayer(Player):
    """A player whose first illegal proposal ends the part."""

    def reset(self, rules: Rules, size: int, seed: Sequence[int]) -> None:
        """As `Player`. Raises AgentFault."""
        try:
            super().reset(rules, size, seed)
        except AgentError as fault:
            raise AgentFault(self.name, str(fault)) from fault

    def act(self, batch: Batch, rows: NDArray[np.intp], views: np.ndarray | None) -> NDArray[np.int64]:
        """As `Player`. Raises AgentFault."""
        try:
            actions = super().act(batch, rows, views)
        except AgentError as fault:
            raise AgentFault(self.name, str(fault)) from fault
        if self.illegal:
            raise AgentFault(self.name, "proposed an illegal action")
        return actions


_loaded: dict[tuple[str, str | None], Policy] = {}  # once in a process


def play(part: Part) -> NDArray[np.float64]:
    """The margins (pairs, deals), first over second, points a deal. Raises AgentFault; InputError if this process can't load an agent."""
    names = zip(part.specs, part.digests, strict=True)
    players = [StrictPlayer(spec, _load(spec, expected), number) for number, (spec, expected) in enumerate(names)]
    try:
        margins = play_part(players, part.rules, part.seed, part.part, part.deals, part.size).margins
    except AgentFault:
        _loaded.clear()  # whatever state it has left
        raise
    return np.array([margins[i, j] for i, j in combinations(range(len(players)), 2)])


def _load(spec: str, expected: str | None) -> Policy:
    if (spec, expected) not in _loaded:
        policy = agents.load(spec)
        if digest(spec) != expected:
            raise InputError(f"agent {spec!r}: its checkpoint is not the one that the ladder began with")
        _loaded[spec, expected] = policy
    return _loaded[spec, expected]


def runs_of(spec: str) -> list[Path]:
    """The folders of the runs in a spec that `agents.load` takes, read as it reads them: first by the names of players, then as a path."""
    name, _, rest = spec.partition(":")
    if name not in agents.PLAYERS:
        return [Path(spec)] if os.path.isdir(spec) else []
    if name == "sampled":
        return runs_of(rest)
    if name not in agents.SEARCHERS:
        return []
    from agents.search.options import read_options, split_subject

    known = importlib.import_module(f"agents.search.{agents.SEARCHERS[name]}").OPTIONS
    inner = []
    if name == "search":
        subject, rest = split_subject(name, rest, known, "RUN")
        inner.append(subject)
    inner += [value for value in read_options(name, rest, known).values() if isinstance(value, str)]  # their only texts are agents
    return [run for agent in inner for run in runs_of(agent)]


def digest(spec: str) -> str | None:
    """A hash of the newest checkpoints of all runs and of the agents of the zoo that a spec names; None if it names none."""
    runs, pinned = runs_of(spec), spec
    if "zoo:" in spec:
        from agents import zoo

        pinned = zoo.pinned(spec)
    if not runs and pinned == spec:
        return None
    from agents.learned import AGENT_FILE, newest_checkpoint

    mixed = sha256(pinned.encode())
    for run in runs:
        checkpoint = newest_checkpoint(run)
        for path in [checkpoint / AGENT_FILE, *sorted(checkpoint.glob("*.safetensors"))]:
            mixed.update(path.name.encode() + sha256(path.read_bytes()).digest())
    return mixed.hexdigest()

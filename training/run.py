"""A training run between iterations: all that a checkpoint holds, and what follows from the configuration."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

import agents
from agents.learned import PARTS, CheckpointError, NetworkPolicy, TwoPartPolicy, load_run, network_bytes, newest_checkpoint
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.observation import LAYOUT_VERSION, layout
from pitchenv.policies import Policy
from training.checkpoint import CONFIG_FILE, load_checkpoint, save_checkpoint
from training.columns import in_full_layout, live_columns
from training.config import ConfigError, TrainConfig
from training.duplicate import duplicate
from training.files import write_file
from training.frozen import freeze, load_frozen
from training.players import Player
from training.ppo import Learner

EVALUATION_SEED = 1_000_003  # deals of evaluations: the same in every run, none of them dealt in training
OPPONENTS = ("random", "heuristic")
OPPONENT_FOLDER = "opponent"  # of a run: the frozen opponent it learns against


def stream_seed(seed: int, *path: int) -> int:
    """A 63-bit seed for one purpose of a run: what follows from it does not depend on what was drawn before."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1, np.uint64)[0] >> 1)


def choose_device(wanted: str) -> torch.device:
    """The device of a configuration. Raises ConfigError when it is not there."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device = "cuda": this machine has none that torch can use; allowed: "cpu", "auto"')
    return torch.device("cuda" if wanted == "cuda" or (wanted == "auto" and torch.cuda.is_available()) else "cpu")


@dataclass
class Run:
    """See the module. `begin` makes a new one in a folder, `resume` goes on with what is there."""

    config: TrainConfig
    folder: Path
    rules: Rules
    device: torch.device
    learners: dict[str, Learner]
    partner: Policy | None  # plays the part that does not learn
    opponent: Policy | None  # plays the other sides
    iteration: int = 0
    decisions: int = 0
    cpu_seconds: float = 0.0  # that processes have spent on its iterations
    seconds: dict[str, float] = field(default_factory=dict)  # where the time went
    curve: list[dict[str, float]] = field(default_factory=list)  # evaluations so far

    @classmethod
    def begin(cls, config: TrainConfig, folder: Path) -> Self:
        """A new run, saved at once, so that whatever happens it can be resumed. Raises InputError; nothing is written then."""
        if os.path.exists(folder / CONFIG_FILE):
            raise ConfigError(f"run {str(folder)!r}: exists already; go on with --resume {folder}, or name another with --run")
        partner = None if config.parts == "both" else agents.load(config.partner)
        run = cls._prepare(config, folder, partner, agents.load(config.opponent) if config.opponent else None)
        if config.start_from:
            start_from(config, run.rules, run.learners)
        try:
            if not folder.name:
                raise OSError(0, "not a folder's name")
            folder.mkdir(parents=True, exist_ok=True)
            if config.opponent:
                freeze(config.opponent, folder / OPPONENT_FOLDER)
                run.opponent = load_frozen(folder / OPPONENT_FOLDER)
            write_file(folder / CONFIG_FILE, json.dumps(config.to_dict(), indent=1).encode())
        except OSError as fault:
            raise ConfigError(f"run {str(folder)!r}: cannot be written: {fault.strerror}") from None
        run.save()
        return run

    @classmethod
    def resume(cls, folder: Path) -> Self:
        """A run as its newest checkpoint has it. Raises InputError."""
        config, state = load_checkpoint(folder)
        partner = None if config.parts == "both" else load_run(newest_checkpoint(folder))
        run = cls._prepare(config, folder, partner, load_frozen(folder / OPPONENT_FOLDER) if config.opponent else None)
        run._load_state_dict(state)
        return run

    @classmethod
    def _prepare(cls, config: TrainConfig, folder: Path, partner: Policy | None, opponent: Policy | None) -> Self:
        torch.set_num_threads(config.threads)
        rules = config.load_rules()
        learning = PARTS if config.parts == "both" else (config.parts,)
        if isinstance(partner, TwoPartPolicy):
            partner = partner.parts["play" if config.parts == "bidding" else "bidding"]
        for spec, policy in ((config.partner, partner), (config.opponent, opponent)):
            if policy is not None:
                Player(spec, policy, 0).reset(rules, 1, [0])  # refuses one for other rules
        torch.manual_seed(stream_seed(config.seed, 0))
        (seen, hidden), net = live_columns(rules, layout(rules.players)), config.network
        device = choose_device(config.device)
        learners = {
            part: Learner.create(len(seen), len(seen) + len(hidden), ACTIONS, net.hidden, net.critic_hidden).to(device) for part in learning
        }
        return cls(config, folder, rules, device, learners, partner, opponent)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds. Random streams follow from the seed and the iteration, so that these two are their whole state."""
        return {
            "layout": LAYOUT_VERSION,
            "rules": self.rules.to_dict(),
            "iteration": self.iteration,
            "decisions": self.decisions,
            "cpu_seconds": self.cpu_seconds,
            "seconds": self.seconds,
            "curve": self.curve,
            "learners": {part: learner.state_dict() for part, learner in self.learners.items()},
        }

    def _load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse. Raises CheckpointError when the state is of another layout, other rules or other networks."""
        for name, ours in (("layout", LAYOUT_VERSION), ("rules", self.rules.to_dict())):
            if state.get(name) != ours:
                raise CheckpointError(f"checkpoint of {str(self.folder)!r}: {name} = {state.get(name)!r}; allowed, as configured: {ours!r}")
        try:
            for part, learner in self.learners.items():
                learner.load_state_dict(state["learners"][part])
            for name in ("iteration", "decisions", "cpu_seconds", "seconds", "curve"):
                setattr(self, name, state[name])
        except (KeyError, TypeError, AttributeError, ValueError, RuntimeError) as fault:
            said = " ".join(f"{type(fault).__name__}: {fault}".split())[:160]
            raise CheckpointError(f"checkpoint of {str(self.folder)!r}: does not fit its configuration: {said}") from None

    def save(self) -> Path:
        """Write a checkpoint: with every network that plays, so that the agent needs nothing from elsewhere but named players."""
        networks = {part: policy for part, policy in self.player().parts.items() if isinstance(policy, NetworkPolicy)}
        sources = {part: "network" if part in networks else self.config.partner for part in PARTS}
        contents = {part: network_bytes(policy, part) for part, policy in networks.items()}
        return save_checkpoint(self.folder, self.iteration, self.state_dict(), sources, contents)

    def player(self) -> TwoPartPolicy:
        """What has been learned so far (a copy, in the full layout, on the CPU), playing greedily."""
        legend = layout(self.rules.players)
        seen, _ = live_columns(self.rules, legend)
        players: dict[str, Policy] = {}
        for part in PARTS:
            if part in self.learners:
                actor = in_full_layout(self.learners[part].actor, seen, legend)
                canonical = self.config.network.canonical_suits
                players[part] = NetworkPolicy(actor, self.rules, self.rules.players, canonical_suits=canonical)
            elif self.partner is not None:
                players[part] = self.partner
        return TwoPartPolicy(**players)

    def evaluate(self, deals: int) -> dict[str, float]:
        """Margins over the opponents of `measured_against`, with the half-widths of their 95 % intervals, in points a deal."""
        figures: dict[str, float] = {}
        player = self.player()
        for name in self.measured_against:
            against = agents.load(name) if self.opponent is None else self.opponent
            result = duplicate(player, against, self.rules, deals, EVALUATION_SEED)
            figures |= {f"eval/vs_{name}": result.margin, f"eval/vs_{name}_half_width": result.half_width}
        return figures

    @property
    def measured_against(self) -> tuple[str, ...]:
        """Who `evaluate` plays against: fixed opponents, or the one of the run."""
        return OPPONENTS if self.opponent is None else ("opponent",)


def start_from(config: TrainConfig, rules: Rules, learners: dict[str, Learner]) -> None:
    """Give the learners the actors and critics of the run that the configuration starts from. Raises ConfigError where they don't fit."""
    run = Path(config.start_from)
    what = f"start_from = {config.start_from!r}"
    if not (run / CONFIG_FILE).is_file():
        raise ConfigError(f"{what}: not the folder of a run; allowed: a folder made by `python -m training train`")
    try:
        theirs, state = load_checkpoint(run)
    except CheckpointError as fault:
        raise ConfigError(f"{what}: {fault}") from None
    ours, trained_for = rules.to_dict(), state.get("rules") or {}
    for name, value in [("layout", LAYOUT_VERSION), *ours.items()]:
        if (found := state.get(name) if name == "layout" else trained_for.get(name)) != value:
            raise ConfigError(f"{what}: was trained for {name} = {found!r}; allowed: {value!r}, as configured")
    for name in ("hidden", "critic_hidden", "canonical_suits"):
        found, value = getattr(theirs.network, name), getattr(config.network, name)
        if found != value:
            raise ConfigError(f"{what}: has network.{name} = {found!r}; allowed: {value!r}, as configured")
    for part, learner in learners.items():
        if part not in (learned := state.get("learners") or {}):
            raise ConfigError(f"{what}: learned parts = {theirs.parts!r}; allowed: one with the {part} part")
        try:
            learner.actor.load_state_dict(learned[part]["actor"])
            learner.critic.load_state_dict(learned[part]["critic"])
        except (KeyError, TypeError, AttributeError, RuntimeError) as fault:
            raise ConfigError(f"{what}: does not fit its configuration: {' '.join(str(fault).split())[:160]}") from None

"""A training run between iterations: all that a checkpoint holds, and what follows from the configuration."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray

import agents
from agents.learned import PARTS, CheckpointError, NetworkPolicy, TwoPartPolicy, load_run, network_bytes, newest_checkpoint
from pitchenv import Rules
from pitchenv.actions import ACTIONS
from pitchenv.observation import LAYOUT_VERSION, Layout, layout
from pitchenv.policies import Policy
from training import dmc, ppo
from training.checkpoint import CONFIG_FILE, load_checkpoint, save_agent, save_checkpoint
from training.columns import in_full_layout, live_columns
from training.config import ConfigError, TrainConfig
from training.duplicate import duplicate
from training.equity_table import EquityTable, load_equity
from training.files import write_file, writing
from training.frozen import freeze, load_frozen
from training.ladder_play import runs_of
from training.learner import Algorithm, Learner, Sizes, TrainingError
from training.players import Player
from training.ranks import ALONE, Ranks, checksum
from training.starting_point import differences, start_from
from training.teachers import Actors, freeze_teachers, load_teachers, named_teachers, teachers_by_game

EVALUATION_SEED = 1_000_003  # deals of evaluations: the same in every run, none of them dealt in training
OPPONENTS = ("random", "heuristic")
EQUITY_FILE = "equity.npz"  # of a run: the table that its deals pay by
OPPONENT_FOLDER = "opponent"  # of a run: the frozen opponent it learns against
TEACHERS_FOLDER = "teachers"  # of a run: its frozen teachers


def stream_seed(seed: int, *path: int) -> int:
    """A 63-bit seed for one purpose of a run: what follows from it does not depend on what was drawn before."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1, np.uint64)[0] >> 1)


def choose_device(wanted: str, ranks: Ranks = ALONE) -> torch.device:
    """The device of a configuration; of several GPUs, each rank has one. Raises ConfigError when it is not there."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device = "cuda": this machine has none that torch can use; allowed: "cpu", "auto"')
    if wanted == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda") if ranks.world == 1 else torch.device("cuda", ranks.local % torch.cuda.device_count())


ALGORITHMS: Final[dict[str, Algorithm]] = {"ppo": ppo, "dmc": dmc}


@dataclass
class Run:
    """See the module. `begin` makes a new one in a folder, `resume` goes on with what is there."""

    config: TrainConfig
    folder: Path
    games: dict[str, Rules]  # by name; several are mixed
    device: torch.device
    learners: dict[str, Learner]
    partner: Policy | None  # plays the part that does not learn
    opponent: Policy | None  # plays the other sides
    teachers: dict[Rules, Actors] = field(default_factory=dict)  # by the game they teach, for the run's columns
    equity: EquityTable | None = None  # what deals pay by, if not points
    iteration: int = 0
    decisions: int = 0
    cpu_seconds: float = 0.0  # that processes have spent on its iterations
    seconds: dict[str, float] = field(default_factory=dict)  # where the time went
    curve: list[dict[str, float]] = field(default_factory=list)  # evaluations so far
    ranks: Ranks = ALONE  # the processes that train it, each with a Run; one of them writes
    saved_by: int = 0  # how many ranks trained it up to the checkpoint it was resumed from
    partner_spec: str = ""  # of the partner; where that is a part of a run that is no network, what it is there

    @classmethod
    def begin(cls, config: TrainConfig, folder: Path, ranks: Ranks = ALONE) -> Self:
        """A new run, saved at once, so that whatever happens it can be resumed. Raises InputError; nothing is written then."""
        if os.path.exists(folder / CONFIG_FILE):
            raise ConfigError(f"run {str(folder)!r}: exists already; go on with --resume {folder}, or name another with --run")
        partner = None if config.parts == "both" else agents.load(config.partner)
        if partner is not None and not isinstance(partner, TwoPartPolicy) and (runs_of(config.partner) or "zoo:" in config.partner):
            raise ConfigError(
                f"partner = {config.partner!r}: is built on networks that may change; allowed: their own player, or a named one"
            )
        opponent = agents.load(config.opponent) if config.opponent else None
        run = cls._prepare(config, folder, partner, opponent, named_teachers(config.teachers), ranks)
        if config.start_from:
            start_from(config, run.games, run.layout, run.learners)
        if config.equity:
            run.equity = load_equity(Path(config.equity), run.rules)
        with writing(f"run {str(folder)!r}"):
            if not folder.name:
                raise OSError(0, "not a folder's name")
            folder.mkdir(parents=True, exist_ok=True)
            if config.opponent:
                freeze(config.opponent, folder / OPPONENT_FOLDER)
                run.opponent = load_frozen(folder / OPPONENT_FOLDER)
            freeze_teachers(config.teachers, folder / TEACHERS_FOLDER)
            run._learn_from(load_teachers(config.teachers, folder / TEACHERS_FOLDER))  # the copies: who they are of may be trained on
            if run.equity:
                write_file(folder / EQUITY_FILE, run.equity.to_bytes())
            run.save()
            # Last, since it is what says that a run is there: one that was killed before can be begun again.
            write_file(folder / CONFIG_FILE, json.dumps(config.to_dict(), indent=1).encode())
        return run

    @classmethod
    def resume(cls, folder: Path, ranks: Ranks = ALONE) -> Self:
        """A run as its newest checkpoint has it. Raises InputError."""
        config, state = load_checkpoint(folder)
        partner = None if config.parts == "both" else load_run(newest_checkpoint(folder), greedy=not config.partner.startswith("sampled:"))
        opponent = load_frozen(folder / OPPONENT_FOLDER) if config.opponent else None
        run = cls._prepare(config, folder, partner, opponent, load_teachers(config.teachers, folder / TEACHERS_FOLDER), ranks)
        run.equity = load_equity(folder / EQUITY_FILE, run.rules) if config.equity else None
        run._load_state_dict(state)
        return run

    @classmethod
    def _prepare(
        cls, config: TrainConfig, folder: Path, partner: Policy | None, opponent: Policy | None, teachers: Sequence[Policy], ranks: Ranks
    ) -> Self:  # fmt: skip
        torch.set_num_threads(config.threads)
        partner_spec = config.partner
        if isinstance(partner, TwoPartPolicy):
            other = "play" if config.parts == "bidding" else "bidding"
            partner_spec = partner.named.get(other, partner_spec)
            partner = partner.parts[other]
        device, games = choose_device(config.device, ranks), config.load_games()
        run = cls(config, folder, games, device, {}, partner, opponent, ranks=ranks, partner_spec=partner_spec)
        ranks.share(config.deals_per_iteration, len(run.mixture))  # refuses a number that doesn't divide, or is too small
        if config.algorithm == "ppo" and config.ppo.exact_cards and all(rules.sides > 2 for rules in games.values()):
            raise ConfigError(f"ppo.exact_cards = {config.ppo.exact_cards}: with more than two sides; allowed: 0")
        for spec, policy in ((config.partner, partner), (config.opponent, opponent)):
            if policy is not None:
                Player(spec, policy, 0).reset(run.rules, 1, [0])  # refuses one for other rules
        run._learn_from(teachers)
        seen, hidden = run.columns
        torch.manual_seed(stream_seed(config.seed, 0))
        for part in PARTS if config.parts == "both" else (config.parts,):
            run.learners[part] = run.algorithm.create(Sizes(len(seen), len(seen) + len(hidden), ACTIONS), config).to(run.device)
        return run

    def _learn_from(self, teachers: Sequence[Policy]) -> None:
        canonical = self.config.network.canonical_suits
        self.teachers = teachers_by_game(self.config.teachers, teachers, self.games, canonical, self.columns[0], self.layout)

    @property
    def algorithm(self) -> Algorithm:
        """What its learners learn by."""
        return ALGORITHMS[self.config.algorithm]

    @property
    def rules(self) -> Rules:
        """Those of the game, of several the first."""
        return next(iter(self.games.values()))

    @property
    def mixture(self) -> list[Rules]:
        """What deals in turn are played by: the games, those of `config.games` as often as they weigh; each evenly spread, so that any
        stretch of deals has about its share of all."""
        weight = self.config.games_weight
        house = [name for name in self.games if name not in self.config.games] if self.config.games else []
        places = [(k / weight, name) for name in self.games if name not in house for k in range(weight)]
        places += [(k / len(house), name) for k, name in enumerate(house)]
        return [self.games[name] for _, name in sorted(places, key=lambda place: place[0])]

    @property
    def layout(self) -> Layout:
        """Of the observations: with seats for the largest game."""
        return layout(max(rules.players for rules in self.games.values()))

    @cached_property
    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What the networks read (see `training.columns`)."""
        return live_columns(list(self.games.values()), self.layout, self.config.start_scores == "spread")

    def stream(self, purpose: int) -> int:
        """The seed of this iteration's stream for a purpose, on each rank another one."""
        return stream_seed(self.config.seed, purpose, self.iteration, *self.ranks.path)

    def check_equal(self) -> None:
        """Raise TrainingError, on the first rank alone, if the ranks' networks or optimisers have come to differ."""
        sums = self.ranks.gather(checksum({part: learner.state_dict() for part, learner in self.learners.items()}))
        if others := [rank for rank, found in enumerate(sums) if found != sums[0]]:
            told = f"iteration {self.iteration}: networks of ranks {others} differ from rank 0's; allowed: processors of one kind for all"
            raise self.ranks.told_by(0, TrainingError(told))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds. Random streams follow from the seed, the iteration and the rank, so that these are their whole state."""
        return {
            "layout": LAYOUT_VERSION,
            "games": {name: rules.to_dict() for name, rules in self.games.items()},
            "algorithm": self.config.algorithm,
            "ranks": self.ranks.world,
            "iteration": self.iteration,
            "decisions": self.decisions,
            "cpu_seconds": self.cpu_seconds,
            "seconds": self.seconds,
            "curve": self.curve,
            "learners": {part: learner.state_dict() for part, learner in self.learners.items()},
        }

    def _load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse. Raises CheckpointError when the state is of another layout, other rules or other networks."""
        for what, theirs, ours in differences(state, self.games):
            raise CheckpointError(f"checkpoint of {str(self.folder)!r}: {what} = {theirs!r}; allowed, as configured: {ours!r}")
        try:
            for part, learner in self.learners.items():
                learner.load_state_dict(state["learners"][part])
            for name in ("iteration", "decisions", "cpu_seconds", "seconds", "curve"):
                setattr(self, name, state[name])
            self.saved_by = state.get("ranks", 1)
        except (KeyError, TypeError, AttributeError, ValueError, RuntimeError) as fault:
            said = " ".join(f"{type(fault).__name__}: {fault}".split())[:160]
            raise CheckpointError(f"checkpoint of {str(self.folder)!r}: does not fit its configuration: {said}") from None

    def save(self) -> Path:
        """Write a checkpoint: with every network that plays, so that the agent needs nothing from elsewhere but named players."""
        return save_checkpoint(self.folder, self.iteration, self.state_dict(), *self._agent())

    def _agent(self) -> tuple[dict[str, str], dict[str, bytes]]:
        """What the player's parts are, and the contents of its networks' files."""
        networks = {part: policy for part, policy in self.player().parts.items() if isinstance(policy, NetworkPolicy)}
        sources = {part: "network" if part in networks else self.partner_spec for part in PARTS}
        return sources, {part: network_bytes(policy, part) for part, policy in networks.items()}

    def keep_past(self) -> None:
        """Keep what has been learned so far as an opponent for later iterations, if it is time to."""
        if self.config.past_share and self.iteration % self.config.past_every == 0:
            save_agent(self._past(self.iteration), *self._agent())

    def past_opponent(self) -> Player | None:
        """One of the states kept, drawn for this iteration; None before there is one. It draws from its policy's probabilities."""
        config = self.config
        newest = self.iteration // config.past_every
        if not config.past_share or not newest:
            return None
        oldest = max(1, newest - config.past_kept + 1)
        chosen = oldest + stream_seed(config.seed, 3, self.iteration) % (newest - oldest + 1)
        policy = load_run(self._past(chosen * config.past_every), greedy=False)
        policy.parts |= {part: self.partner for part in PARTS if self.partner and part not in self.learners}  # the same as now
        return Player(f"past {chosen * config.past_every}", policy, 2)

    def _past(self, iteration: int) -> Path:
        return self.folder / "past" / f"{iteration:08d}"

    def player(self) -> TwoPartPolicy:
        """What has been learned so far (a copy, in the full layout, on the CPU), playing greedily."""
        legend, canonical = self.layout, self.config.network.canonical_suits
        players: dict[str, Policy] = {}
        for part in PARTS:
            if part in self.learners:
                actor = in_full_layout(self.learners[part].policy(), self.columns[0], legend)
                any_rules = bool(self.config.games)
                players[part] = NetworkPolicy(actor, self.rules, legend.slots, canonical_suits=canonical, any_rules=any_rules)
            elif self.partner is not None:
                players[part] = self.partner
        return TwoPartPolicy(**players)

    def evaluate(self, deals: int) -> dict[str, float]:
        """Margins over the opponents of `measured_against`, with the half-widths of their 95 % intervals, in points a deal.

        Of several games: each of those named with its share of the deals, other cards for each, and the mean over them.
        """
        figures: dict[str, float] = {}
        player = self.player()
        named = {name: self.games[name] for name in self.config.games} or self.games
        for name in self.measured_against:
            against = self.opponent if name == "opponent" and self.opponent else agents.load(name)
            results = {
                game: duplicate(player, against, rules, max(2, deals // len(named)), EVALUATION_SEED + k)
                for k, (game, rules) in enumerate(named.items())
            }
            if len(named) > 1:
                figures |= {f"games/{game}_vs_{name}": result.margin for game, result in results.items()}
            figures[f"eval/vs_{name}"] = float(np.mean([result.margin for result in results.values()]))
            figures[f"eval/vs_{name}_half_width"] = float(np.linalg.norm([result.half_width for result in results.values()]) / len(named))
        return figures

    @property
    def measured_against(self) -> tuple[str, ...]:
        """Who `evaluate` plays against: fixed opponents, or the one that all deals are played against."""
        return OPPONENTS if self.opponent is None or self.config.opponent_share < 1 else ("opponent",)

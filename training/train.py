"""`train`: PPO by self-play. Read top to bottom: prepare, then iterations of collect, update, report, save."""

import json
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import tyro

import agents
from agents.learned import PARTS, CheckpointError, NetworkPolicy, TwoPartPolicy, network_bytes
from agents.networks import Actor
from pitchenv import Batch, Rules
from pitchenv.actions import ACTIONS
from pitchenv.observation import layout
from pitchenv.policies import Policy
from training.checkpoint import CONFIG_FILE, load_checkpoint, save_checkpoint, write_file
from training.clock import Clock
from training.columns import in_full_layout, live_columns
from training.config import ConfigError, TrainConfig, load_config
from training.duplicate import duplicate
from training.metrics import Metrics, deal_statistics
from training.ppo import Learner, chained_advantages, update
from training.progress import Progress
from training.rollout import Collector

EVALUATION_SEED = 1_000_003  # deals of evaluations: the same in every run, none of them dealt in training
OPPONENTS = ("random", "heuristic")


def stream_seed(seed: int, *path: int) -> int:
    """A 63-bit seed for one purpose of a run: what follows from it does not depend on what was drawn before."""
    return int(np.random.SeedSequence([seed, *path]).generate_state(1, np.uint64)[0] >> 1)


@dataclass
class Run:
    """A training run between iterations: all that a checkpoint holds, and what follows from the configuration."""

    config: TrainConfig
    folder: Path
    rules: Rules
    device: torch.device
    learners: dict[str, Learner]
    partner: Policy | None
    iteration: int = 0
    decisions: int = 0
    cpu_seconds: float = 0.0  # that the process has spent on it, of all sessions
    curve: list[dict[str, float]] = field(default_factory=list)  # evaluations so far

    @classmethod
    def prepare(cls, config: TrainConfig, folder: Path) -> "Run":
        """A run at its beginning. Raises ConfigError."""
        torch.set_num_threads(config.threads)
        torch.set_float32_matmul_precision("medium" if config.matmul == "bfloat16" else "highest")
        rules = config.load_rules()
        learning = PARTS if config.parts == "both" else (config.parts,)
        partner = None if config.parts == "both" else agents.load(config.partner)
        torch.manual_seed(stream_seed(config.seed, 0))
        (seen, hidden), net = live_columns(rules, layout(rules.players)), config.network
        device = choose_device(config.device)
        learners = {
            part: Learner.create(len(seen), len(seen) + len(hidden), ACTIONS, net.hidden, net.critic_hidden).to(device) for part in learning
        }
        return cls(config, folder, rules, device, learners, partner)

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint holds. Random streams follow from the seed and the iteration, so that these two are their whole state."""
        return {
            "iteration": self.iteration, "decisions": self.decisions, "cpu_seconds": self.cpu_seconds, "curve": self.curve,
            "learners": {part: learner.state_dict() for part, learner in self.learners.items()},
        }  # fmt: skip

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse. Raises CheckpointError when the state is of other networks."""
        try:
            for part, learner in self.learners.items():
                learner.load_state_dict(state["learners"][part])
            self.iteration, self.decisions, self.curve = state["iteration"], state["decisions"], state["curve"]
            self.cpu_seconds = state["cpu_seconds"]
        except (KeyError, ValueError, RuntimeError) as fault:
            raise CheckpointError(
                f"checkpoint of {str(self.folder)!r}: does not fit its configuration: {' '.join(str(fault).split())[:160]}"
            ) from None

    def save(self) -> Path:
        """Write a checkpoint."""
        net = self.config.network
        networks = {
            part: network_bytes(self.actor(part), part, self.rules, self.rules.players, net.hidden, net.canonical_suits)
            for part in self.learners
        }
        sources = {part: "network" if part in self.learners else self.config.partner for part in PARTS}
        return save_checkpoint(self.folder, self.iteration, self.state_dict(), sources, networks)

    def actor(self, part: str) -> Actor:
        """A copy of what a part has learned, in the full layout."""
        legend = layout(self.rules.players)
        return in_full_layout(self.learners[part].actor, live_columns(self.rules, legend)[0], legend)

    def player(self) -> Policy:
        """What has been learned so far, playing greedily."""
        players: dict[str, Policy] = {}
        for part in PARTS:
            if part in self.learners:
                canonical = self.config.network.canonical_suits
                players[part] = NetworkPolicy(self.actor(part), self.rules, self.rules.players, canonical_suits=canonical)
            elif self.partner is not None:
                players[part] = self.partner
        return TwoPartPolicy(**players)

    def evaluate(self, deals: int) -> dict[str, float]:
        """Margins over the fixed opponents, with the half-widths of their 95 % intervals, in points a deal."""
        figures: dict[str, float] = {}
        for name in OPPONENTS:
            result = duplicate(self.player(), agents.load(name), self.rules, deals, EVALUATION_SEED)
            figures |= {f"eval/vs_{name}": result.margin, f"eval/vs_{name}_half_width": result.half_width}
        return figures


def choose_device(wanted: str) -> torch.device:
    """The device of a configuration. Raises ConfigError when it is not there."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ConfigError('device = "cuda": this machine has none that torch can use; allowed: "cpu", "auto"')
    return torch.device("cuda" if wanted == "cuda" or (wanted == "auto" and torch.cuda.is_available()) else "cpu")


def train(run: Run, stop: "Stop", resumed: bool = False) -> bool:
    """Iterate until the run has its length, or `stop` is asked for; returns whether it has."""
    config, ppo = run.config, run.config.ppo
    clock = Clock()
    metrics = Metrics(run.folder, config, run.iteration * ppo.deals_per_iteration + 1 if resumed else None)
    with clock("engine"):
        batch = Batch(
            run.rules, ppo.deals_per_iteration, reward=config.reward, start_scores=config.start_scores, restart=False, skip_forced=True
        )
    collector = Collector(
        batch,
        {part: learner.actor for part, learner in run.learners.items()},
        run.partner,
        config.network.canonical_suits,
        run.device,
        clock,
    )
    with Progress(config.iterations, run.iteration, ppo.deals_per_iteration) as progress:
        while run.iteration < config.iterations and not stop.asked:
            begun, cpu_begun = time.perf_counter(), time.process_time()
            left = 1 - run.iteration / config.iterations
            lr = ppo.lr_end + (ppo.lr - ppo.lr_end) * left
            entropy = ppo.entropy_end + (ppo.entropy - ppo.entropy_end) * left
            random = torch.Generator().manual_seed(stream_seed(config.seed, 1, run.iteration))
            rollout = collector.collect(stream_seed(config.seed, 2, run.iteration), random)
            scalars = deal_statistics(rollout.public, run.rules)
            with clock("update"):
                chain = chained_advantages(run.learners, rollout, ppo, run.device)
                for part, (advantage, target) in chain.items():
                    epochs = ppo.bidding_epochs if part == "bidding" else ppo.epochs
                    loss = update(run.learners[part], rollout.parts[part], advantage, target, ppo, epochs, lr, entropy, random, run.device)
                    scalars |= {f"losses/{part}_{name}": value for name, value in loss.items()}
            run.iteration += 1
            run.decisions += rollout.decisions
            deals = run.iteration * ppo.deals_per_iteration
            seconds = time.perf_counter() - begun
            scalars |= {
                "charts/learning_rate": lr, "charts/entropy_weight": entropy, "charts/decisions": run.decisions,
                "charts/deals_per_second": batch.size / seconds, "charts/decisions_per_second": rollout.decisions / seconds,
            }  # fmt: skip
            if run.iteration % config.evaluation.every == 0 and run.iteration < config.iterations:
                with clock("evaluation"):
                    figures = run.evaluate(config.evaluation.deals)
                run.curve.append({"deals": deals, "cpu_seconds": run.cpu_seconds + time.process_time() - cpu_begun, **figures})
                scalars |= figures
            run.cpu_seconds += time.process_time() - cpu_begun
            metrics.log(scalars, deals)
            progress.advance(run.iteration, run.curve[-1] if run.curve else {})
            if run.iteration % config.checkpoint_every == 0 and run.iteration < config.iterations:
                run.save()
    finished = run.iteration >= config.iterations
    if finished and not (run.curve and run.curve[-1]["deals"] == run.iteration * ppo.deals_per_iteration):
        with clock("evaluation"):
            figures = run.evaluate(config.evaluation.final_deals)
        run.curve.append({"deals": run.iteration * ppo.deals_per_iteration, "cpu_seconds": run.cpu_seconds, **figures})
        metrics.log(figures, run.iteration * ppo.deals_per_iteration)
    metrics.close()
    run.save()
    summary = {
        "finished": finished, "iterations": run.iteration, "decisions": run.decisions, "cpu_seconds": run.cpu_seconds,
        "curve": run.curve, "seconds": dict(clock.seconds),
    }  # fmt: skip
    write_file(run.folder / "summary.json", json.dumps(summary, indent=1).encode())
    progress.say("time: " + ", ".join(f"{name} {share:.0%}" for name, share in clock.shares().items()))
    return finished


class Stop:
    """Whether SIGINT or SIGTERM has asked the run to save and end; a second one ends it at once."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "Stop":
        self._before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        print("\nstopping after this iteration …", file=sys.stderr, flush=True)


def main(argv: list[str]) -> None:
    """The command."""
    if "--resume" in argv:
        run, resumed = _resumed(argv)
    else:
        run, resumed = _fresh(argv), False
    print(f"run {run.folder}: {run.config.game}, {run.config.parts}, {run.config.iterations} iterations of "
          f"{run.config.ppo.deals_per_iteration} deals on {run.device}", flush=True)  # fmt: skip
    with Stop() as stop:
        finished = train(run, stop, resumed)
    if finished:
        last = run.curve[-1]
        for name in OPPONENTS:
            print(f"{run.folder} over {name}: {last[f'eval/vs_{name}']:+.3f} ± {last[f'eval/vs_{name}_half_width']:.3f} points a deal")
    else:
        print(f"stopped at iteration {run.iteration} of {run.config.iterations} and saved")
        print(f"go on with: python -m training train --resume {run.folder}")


def _resumed(argv: list[str]) -> tuple[Run, bool]:
    at = argv.index("--resume")
    if len(argv) != 2 or at != 0:
        raise ConfigError("--resume: takes the folder of a run, and nothing else with it: its configuration is kept")
    folder = Path(argv[1])
    config, state = load_checkpoint(folder)
    run = Run.prepare(config, folder)
    run.load_state_dict(state)
    return run, True


def _fresh(argv: list[str]) -> Run:
    path = Path(argv[0]) if argv and not argv[0].startswith("-") else None
    rest = argv[1:] if path else argv
    default = load_config(path) if path else TrainConfig()

    def arguments(
        run: Path | None = None, config: Annotated[TrainConfig, tyro.conf.arg(name="")] = default
    ) -> tuple[Path | None, TrainConfig]:
        """Train a bidding network and a play network by self-play: train [CONFIG.toml] [options], or train --resume RUN.

        Every field of the configuration can be changed by an option. The run's folder gets checkpoints, TensorBoard events and
        summary.json.

        Args:
            run: Folder of the run; by default runs/ and the name of the configuration.
            config: The configuration.
        """
        return run, config

    folder, config = tyro.cli(arguments, args=rest, prog="python -m training train")
    folder = folder or Path("runs") / (path.stem if path else config.game)
    if (folder / CONFIG_FILE).exists():
        raise ConfigError(f"run {str(folder)!r}: exists already; go on with --resume {folder}, or name another with --run")
    run = Run.prepare(config, folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / CONFIG_FILE, json.dumps(config.to_dict(), indent=1).encode())
    return run

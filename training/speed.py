"""How fast training is on one core, and beside sb3-contrib's MaskablePPO in the same run: `python -m training.speed [options]`.

Decisions a second, learning included, start and evaluations left out: what left a choice, forced moves are not counted. PPO and deep
Monte-Carlo of this kit learn by self-play as the configuration says; with the extra `[peers]` MaskablePPO has the same networks, epochs
and minibatches, and as many steps an iteration, at its best number of environments: as it comes, with products in float32, and with those
of the configuration, which it has no option for (`training.sb3_peer` says what else it is given).
All take turns in one process with one thread. Rates are medians, by process CPU time, so that other work on the machine disturbs little;
for figures to publish leave the machine alone.
"""

import dataclasses
import importlib.util
import itertools
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch

from pitchenv.checks import InputError
from training.clock import Clock
from training.command_line import check_new_file, option_names, parse
from training.config import TrainConfig, load_config
from training.result_file import write_json
from training.rollout import Rollout
from training.run import Run
from training.timing import rates, until
from training.train import collector_of, matrix_products, opponents_of

PRODUCTS: Final = frozenset({"aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::mv", "aten::addmv"})  # forward and backward
PEER_MODULES: Final = ("sb3_contrib", "stable_baselines3")


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """How fast training is on one core, and beside MaskablePPO where the extra [peers] is installed."""

    config: Path = Path("configs/quick.toml")
    """What is trained: one game."""
    seconds: float = 10.0
    """How long each measurement takes at least; it is of whole iterations."""
    repetitions: int = 3
    """Of every measurement; the median counts."""
    environments: tuple[int, ...] = (256, 1024, 4096)
    """Numbers of environments that MaskablePPO is measured at; its best counts."""
    json: Path | None = None
    """File for the result."""


class Iterations:
    """A run of a configuration without what is not learning: no evaluations, logs or checkpoints. A call is one iteration; it returns the
    decisions that left a choice. Schedules stay at their start."""

    def __init__(self, config: TrainConfig, folder: Path) -> None:
        self.run = Run.begin(config, folder)
        self.clock = Clock({})
        self.collector = collector_of(self.run, self.clock)

    def __call__(self) -> int:
        rollout = self.collect()
        self.learn(rollout)
        return rollout.decisions

    def collect(self) -> Rollout:
        """The next iteration's deals."""
        run = self.run
        self.random = torch.Generator().manual_seed(run.stream(1))
        behaviour = {part: learner.behaviour(1.0) for part, learner in run.learners.items()}
        with matrix_products(run.config.matmul):
            return self.collector.collect(behaviour, run.stream(2), self.random, opponents_of(run))

    def learn(self, rollout: Rollout, matmul: str = "") -> None:
        """Update on them; `matmul`: as the configuration has it, if not given."""
        run = self.run
        with matrix_products(matmul or run.config.matmul), self.clock("update"):
            run.algorithm.learn(run.learners, rollout, run.config, 1.0, self.random, run.device, run.ranks)
        run.iteration += 1


def product_share(update: Callable[[], object]) -> float:
    """The part of an update's time that matrix products take, by torch's profiler: their own CPU time over that of everything, Python
    between them included. The profiler's cost, some microseconds an operation, counts as the rest."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")  # else it says on the terminal when it begins and ends
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile, torch.profiler.record_function("update"):
        update()
    own = {event.key: event.self_cpu_time_total for event in profile.key_averages()}
    whole = sum(own.values())
    return float(sum(time for name, time in own.items() if name in PRODUCTS) / whole) if whole else 0.0


def peers(config: TrainConfig, sizes: tuple[int, ...], like: Iterations, rollout: Rollout) -> dict[tuple[str, int], Any]:
    """MaskablePPO by kind of matrix products and number of environments, with what `like` learns from in an iteration: as many rows,
    minibatches as large as its largest; nothing where it is not installed."""
    if any(importlib.util.find_spec(module) is None for module in PEER_MODULES):
        return {}
    from training.sb3_peer import MaskablePPOIterations

    rows = [len(decisions) for decisions in rollout.parts.values()]
    minibatch = max(rows) // config.ppo.minibatches or 1
    columns = like.run.columns[0]
    kinds = {kind: dataclasses.replace(config, matmul=kind) for kind in ("float32", config.matmul)}
    every = itertools.product(kinds, sizes)
    return {(kind, size): MaskablePPOIterations(kinds[kind], columns, size, sum(rows), minibatch) for kind, size in every}


def measure(config: TrainConfig, arguments: Arguments, folder: Path) -> dict[str, Any]:
    """The figures, as `--json` writes them. Raises InputError."""
    ours = {name: Iterations(dataclasses.replace(config, algorithm=name), folder / name) for name in ("ppo", "dmc")}
    figures: dict[str, Any] = {}
    for name, training in ours.items():
        training()  # to warm up
        rollout = training.collect()
        shares = {kind: product_share(lambda: training.learn(rollout, kind)) for kind in ("bfloat16", "float32")}  # noqa: B023
        figures[name] = {"products_in_update": shares}
        training.clock.seconds.clear()
        if name == "ppo":
            others = peers(config, arguments.environments, training, rollout)
    works: dict[Any, Callable[[], int]] = {**ours, **others}
    measured = rates({str(name): until(work) for name, work in works.items()}, arguments.seconds, arguments.repetitions)
    for name, training in ours.items():
        figures[name] |= {"decisions_per_second": measured[name], "shares": training.clock.shares()}
    report: dict[str, Any] = {"ours": figures, "peers": {}}
    for (kind, size), other in others.items():
        rate, share = measured[str((kind, size))], other.tables.decisions / other.tables.steps
        report["peers"].setdefault(kind, {})[str(size)] = {"decisions_per_second": rate, "steps_per_second": rate / share}
    return report | {"ratios": {kind: compare(measured["ppo"], figures) for kind, figures in report["peers"].items()}}


def compare(rate: float, sizes: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The peer's best number of environments, and how many times faster than that a rate is: by decisions, and with all of the peer's
    steps taken for decisions."""
    best = max(sizes, key=lambda size: sizes[size]["decisions_per_second"])
    decisions, steps = (rate / sizes[best][f"{unit}_per_second"] for unit in ("decisions", "steps"))
    return {"best_environments": int(best), "decisions": decisions, "steps": steps}


def main(argv: list[str]) -> None:
    """Print and write the figures. Raises InputError."""
    arguments = parse(Arguments, argv, "speed", option_names(Arguments))
    if not 0 < arguments.seconds <= 3600 or arguments.repetitions < 1:
        raise InputError(f"seconds = {arguments.seconds}, repetitions = {arguments.repetitions}: allowed: above 0 up to 3600; from 1")
    if not arguments.environments or min(arguments.environments) < 1:
        raise InputError(f"environments = {arguments.environments}: allowed: numbers from 1")
    if arguments.json:
        check_new_file("json", arguments.json)
    config = dataclasses.replace(load_config(arguments.config), threads=1, device="cpu")
    if config.games:
        raise InputError(f"config = {str(arguments.config)!r}: several games; allowed: one game")
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        report = measure(config, arguments, Path(folder))
    machine = {
        "python": platform.python_version(), "torch": str(torch.__version__), "instructions": torch.backends.cpu.get_cpu_capability(),
        "load": [round(before, 2), round(os.getloadavg()[0], 2)],
    }  # fmt: skip
    say(config, machine, report)
    if arguments.json:
        given = {name: str(value) if isinstance(value, Path) else value for name, value in dataclasses.asdict(arguments).items()}
        write_json("json", arguments.json, {"machine": machine, "arguments": given, **report})


def say(config: TrainConfig, machine: Mapping[str, Any], report: Mapping[str, Any]) -> None:
    """Print the figures."""
    print(f"{config.game}, {config.deals_per_iteration} deals an iteration, products in {config.matmul}, one thread; machine: ", end="")
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    for name, figures in report["ours"].items():
        shares = ", ".join(f"{what} {share:.1%}" for what, share in figures["shares"].items())
        products = ", ".join(f"{share:.1%} in {kind}" for kind, share in figures["products_in_update"].items())
        print(f"{name.upper()}: {figures['decisions_per_second']:,.0f} decisions/s; {shares}; matrix products of the update: {products}")
    if not report["peers"]:
        print('MaskablePPO: not installed (pip install -e ".[train,peers]"), no ratio')
    for kind, sizes in report["peers"].items():
        for size, figures in sizes.items():
            print(f"MaskablePPO in {kind}, {size} environments: {figures['decisions_per_second']:,.0f} decisions/s, ", end="")
            print(f"{figures['steps_per_second']:,.0f} steps/s with forced moves")
        ratio = report["ratios"][kind]
        print(f"PPO / MaskablePPO in {kind} at its best, {ratio['best_environments']} environments: × {ratio['decisions']:.2f}; ", end="")
        print(f"were its forced moves decisions, × {ratio['steps']:.2f}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as fault:
        sys.exit(str(fault))

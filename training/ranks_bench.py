"""How much faster several ranks train than one, in one run: `python -m training.ranks_bench [options]`.

One rank, several together, and as many runs apart that know nothing of each other train in turn, each under torchrun. What the runs apart
come to, all added up, is the most that the machine lets so many processes do at once (its cores share caches, memory and often more); what
ranks together lack of it, they wait for each other. Every rank plays as many deals an iteration as the configuration says, so that
several learn from as many times more; with `--divide` they share that number instead, and what a gradient step costs whatever its
minibatch (the optimiser, the ranks' exchange) counts for more. A rate is the median of `charts/decisions_per_second` over the iterations
after the first two: learning included, start and evaluations left out. Figures are medians over rounds of ratios within a round.
It wants a core for every rank, and nothing else on the machine.
"""

import dataclasses
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from pitchenv.checks import InputError
from training.command_line import check_new_file, option_names, parse
from training.config import load_config
from training.ranks import Ranks
from training.result_file import write_json
from training.workers import ONE_THREAD, cores

WARM_UP: Final = 2  # iterations


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """How much faster several ranks train than one, and how much more as many runs apart do."""

    config: Path = Path("configs/quick.toml")
    """What is trained."""
    divide: bool = False
    """Share the configuration's deals an iteration among the ranks."""
    ranks: int = 2
    """How many, beside one."""
    iterations: int = 12
    """Of each run; the first two are not counted."""
    rounds: int = 3
    """Runs of each."""
    json: Path | None = None
    """File for the result."""


def decisions_a_second(config: Path, ranks: int, deals: int, iterations: int, runs: int = 1) -> float:
    """The rate of runs that are started together, added up: each of `ranks` ranks with `deals` an iteration. Raises InputError when one
    fails."""
    with tempfile.TemporaryDirectory() as folder:
        processes = [_begin(config, ranks, deals, iterations, Path(folder) / str(run)) for run in range(runs)]
        try:
            for process in processes:
                said = process.communicate()[1]
                if process.returncode:
                    raise InputError(f"{ranks} ranks: the run failed: {said.strip()[:400]}")
        finally:
            for process in processes:
                process.terminate()  # of those that are still there
        return sum(_rate(Path(folder) / str(run)) for run in range(runs))


def _begin(config: Path, ranks: int, deals: int, iterations: int, run: Path) -> "subprocess.Popen[str]":
    options = {
        "run": run, "iterations": iterations, "deals-per-iteration": deals, "evaluation.every": iterations, "evaluation.final-deals": 2,
    }  # fmt: skip
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m", "--"),
        *("training", "train", str(config), *(text for name, value in options.items() for text in (f"--{name}", str(value)))),
    ]
    return subprocess.Popen(command, env=os.environ | ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _rate(run: Path) -> float:
    events = EventAccumulator(str(run / "tensorboard")).Reload()
    return float(statistics.median(event.value for event in events.Scalars("charts/decisions_per_second")[WARM_UP:]))


def main(argv: list[str]) -> None:
    """Print and write rates and their ratios. Raises InputError."""
    arguments = parse(Arguments, argv, "ranks_bench", option_names(Arguments))
    for name, least in (("ranks", 2), ("iterations", WARM_UP + 1), ("rounds", 1)):
        if (value := getattr(arguments, name)) < least:
            raise InputError(f"{name} = {value}: allowed: from {least}")
    if arguments.json:
        check_new_file("json", arguments.json)
    number, config, iterations = arguments.ranks, arguments.config, arguments.iterations
    deals = load_config(config).deals_per_iteration
    if arguments.divide:
        Ranks(0, number).share(deals)
    rates: dict[str, list[float]] = {"one": [], "together": [], "apart": []}
    ratios: dict[str, list[float]] = {"together": [], "apart": []}
    for round_ in range(arguments.rounds):
        rates["one"].append(decisions_a_second(config, 1, deals, iterations))
        rates["together"].append(decisions_a_second(config, number, deals if arguments.divide else deals * number, iterations))
        rates["apart"].append(decisions_a_second(config, 1, deals, iterations, runs=number))
        for kind, found in ratios.items():
            found.append(rates[kind][-1] / rates["one"][-1])
        one, together, apart = (found[-1] for found in rates.values())
        print(
            f"round {round_ + 1}: {one:,.0f} decisions/s by one rank; {together:,.0f} by {number} ranks together, × {together / one:.2f}; "
            f"{apart:,.0f} by {number} runs apart, × {apart / one:.2f}",
            flush=True,
        )
    medians = {kind: statistics.median(found) for kind, found in ratios.items()}
    print(
        f"{number} processes on {cores()} cores (medians of {arguments.rounds}): "
        + ", ".join(f"{kind} × {ratio:.2f}" for kind, ratio in medians.items())
    )
    if arguments.json:
        given = {name: str(value) if isinstance(value, Path) else value for name, value in dataclasses.asdict(arguments).items()}
        write_json("json", arguments.json, {**given, "cores": cores(), "decisions_per_second": rates, "ratios": medians})


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as fault:
        sys.exit(str(fault))

"""How much faster several ranks train than one, in one run: `python -m training.ranks_bench [options]`.

One rank and several train in turn, each under torchrun. Every rank plays as many deals an iteration as the configuration says, so that
several learn from as many times more; with `--divide` they share that number instead, and what a gradient step costs whatever its
minibatch (the optimiser, the ranks' exchange) counts for more. A rate is the median of `charts/decisions_per_second` over the iterations
after the first two: learning included, start and evaluations left out. The figure is the median over rounds of the ratio within a round.
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
    """How much faster several ranks train than one."""

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


def decisions_a_second(config: Path, ranks: int, deals: int, iterations: int) -> float:
    """The rate of a run of its own, `deals` an iteration over all ranks. Raises InputError when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "run": f"{folder}/run", "iterations": iterations, "deals-per-iteration": deals, "evaluation.every": iterations,
            "evaluation.final-deals": 2,
        }  # fmt: skip
        command = [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), "-m", "--"),
            *("training", "train", str(config), *(text for name, value in options.items() for text in (f"--{name}", str(value)))),
        ]
        environment = os.environ | ONE_THREAD
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise InputError(f"{ranks} ranks: the run failed: {done.stderr.strip()[:400]}")
        events = EventAccumulator(f"{folder}/run/tensorboard").Reload()
        return float(statistics.median(event.value for event in events.Scalars("charts/decisions_per_second")[WARM_UP:]))


def main(argv: list[str]) -> None:
    """Print and write rates and their ratio. Raises InputError."""
    arguments = parse(Arguments, argv, "ranks_bench", option_names(Arguments))
    for name, least in (("ranks", 2), ("iterations", WARM_UP + 1), ("rounds", 1)):
        if (value := getattr(arguments, name)) < least:
            raise InputError(f"{name} = {value}: allowed: from {least}")
    if arguments.json:
        check_new_file("json", arguments.json)
    deals = load_config(arguments.config).deals_per_iteration
    if arguments.divide:
        Ranks(0, arguments.ranks).share(deals)
    rates: dict[int, list[float]] = {1: [], arguments.ranks: []}
    for round_ in range(arguments.rounds):
        for ranks, seen in rates.items():
            whole = deals if arguments.divide else deals * ranks
            seen.append(decisions_a_second(arguments.config, ranks, whole, arguments.iterations))
        one, several = (seen[-1] for seen in rates.values())
        print(
            f"round {round_ + 1}: {one:,.0f} decisions/s by one rank, {several:,.0f} by {arguments.ranks}: × {several / one:.2f}",
            flush=True,
        )
    ratio = statistics.median(several / one for one, several in zip(*rates.values(), strict=True))
    print(f"{arguments.ranks} ranks on {cores()} cores: × {ratio:.2f} (median of {arguments.rounds})")
    if arguments.json:
        given = {name: str(value) if isinstance(value, Path) else value for name, value in dataclasses.asdict(arguments).items()}
        report = {**given, "cores": cores(), "decisions_per_second": rates, "ratio": ratio}
        write_json("json", arguments.json, report)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as fault:
        sys.exit(str(fault))

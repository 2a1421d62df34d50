"""`python -m training bench`: how fast everything is, on one core, and beside other people's environments."""

import os
import platform
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import numpy as np

from pitchenv import Batch, Game, games, load_rules, pitch_v0
from pitchenv.actions import ACTIONS
from pitchenv.checks import InputError
from training.command_line import check_new_file, option_names, parse
from training.peers import AecEpisode, peers
from training.result_file import write_json
from training.timing import Run, rates, until

SIZES: Final = (64, 256, 1024, 4096, 16384)
UP_TO: Final = 1024  # the best of these sizes is compared with OpenSpiel
RANDOM_DECISIONS: Final = 500  # in each match, between two encodings of the batch
LIBRARIES: Final = ("numpy", "numba", "gymnasium", "pettingzoo", "open_spiel")


@dataclass(frozen=True)
class Arguments:
    """Measure decisions a second on one core, for every game: random play inside the engine, `Batch` with observation and mask, `Game` from
    Python, the PettingZoo environment raw and wrapped; and how long the first import and the first step take.

    With the extra `[peers]` installed also OpenSpiel and PettingZoo Classic, in turn in the same run, as ratios. Rates are medians, by
    process CPU time, so that other work on the machine disturbs little; for figures to publish leave the machine alone.
    """

    games: tuple[str, ...] = ()
    """Games of the table, or TOML files; none: every game."""

    seconds: float = 0.2
    """How long each measurement takes."""

    repetitions: int = 5
    """Of every measurement; the median counts."""

    quick: bool = False
    """A short look: one game, two batch sizes, one repetition, no start-up times."""

    json: Path | None = None
    """A file for the results."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "bench", option_names(Arguments)))


def run(arguments: Arguments) -> dict[str, Any]:
    """Measure, print as it goes, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    if not 0 < arguments.seconds <= 3600 or arguments.repetitions < 1:
        raise InputError(
            f"seconds = {arguments.seconds}, repetitions = {arguments.repetitions}: allowed: above 0 up to 3600, and at least 1"
        )
    if arguments.json is not None:
        check_new_file("json", arguments.json)
    names = arguments.games or (("auction-4-partners",) if arguments.quick else tuple(games()))
    for name in names:
        load_rules(name)
    sizes = (64, 256) if arguments.quick else SIZES
    repetitions = 1 if arguments.quick else arguments.repetitions
    results: dict[str, Any] = {"machine": _machine(), "games": {}}
    print(", ".join(f"{what} {value}" for what, value in results["machine"].items()))
    if not arguments.quick:
        results["start"] = start_times()
        _print_start(results["start"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers
        others = peers()
    if not others:
        print('peers are not installed (pip install -e ".[peers]"): no ratios')
    for name in names:
        measured = rates({**ours(name, sizes), **others}, arguments.seconds, repetitions)
        results["games"][name] = {"decisions a second": measured, "ratios": ratios(measured, sizes)}
        _print_game(name, results["games"][name], sizes)
    if arguments.json:
        write_json("json", arguments.json, results)
    return results


def ours(game: str, sizes: Sequence[int]) -> dict[str, Run]:
    """What is measured of one game, by name."""
    runs: dict[str, Run] = {}
    for size in sizes:
        runs[f"random play {size}"] = until(_RandomPlay(game, size))
    for size in sizes:
        step = _Step(game, size)
        runs[f"step {size}"] = step
        runs[f"zero-fill {size}"] = until(_ZeroFill(step.batch))
    runs["Game from Python"] = until(_Deal(game))
    runs["AEC raw"] = until(AecEpisode(pitch_v0.raw_env(rules=game)))
    runs["AEC wrapped"] = until(AecEpisode(pitch_v0.env(rules=game)))
    return runs


class _RandomPlay:
    """Random play inside the engine, without observations."""

    def __init__(self, game: str, size: int) -> None:
        self.batch = Batch(game, size)
        self.decisions = size * RANDOM_DECISIONS

    def __call__(self) -> int:
        self.batch.play_random(RANDOM_DECISIONS)
        return self.decisions


class _Step:
    """`Batch.step` with observation and mask, on random legal actions. Only the steps are timed, not the choosing."""

    def __init__(self, game: str, size: int) -> None:
        self.batch = Batch(game, size)
        self.noise = np.random.default_rng(1).integers(1, 256, (size, 2 * ACTIONS), np.uint8)
        self.batch.play_random(100)  # so that the matches are at different points

    def __call__(self, seconds: float) -> tuple[float, float]:
        batch, spent, steps, deadline = self.batch, 0.0, 0, time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            at = steps % ACTIONS
            actions = (batch.mask * self.noise[:, at : at + ACTIONS]).argmax(axis=1)
            begun = time.process_time()
            batch.step(actions)
            spent += time.process_time() - begun
            steps += 1
        return steps * batch.size, spent


class _ZeroFill:
    """The yardstick: merely zero-filling arrays as large as a batch's observation and mask."""

    def __init__(self, batch: Batch) -> None:
        self.arrays = (np.zeros_like(batch.observation), np.zeros_like(batch.mask))

    def __call__(self) -> int:
        for array in self.arrays:
            array.fill(0)
        return len(self.arrays[0])


class _Deal:
    """A deal played at random through `Game`, every action from Python; the decisions it had."""

    def __init__(self, game: str) -> None:
        self.rules = load_rules(game)
        self.random = random.Random(1)

    def __call__(self) -> int:
        game, decisions = Game(self.rules, self.random.getrandbits(32)), 0
        while legal := game.legal_actions():
            game.apply(self.random.choice(legal))
            decisions += 1
        return decisions


def ratios(measured: Mapping[str, float], sizes: Sequence[int]) -> dict[str, float]:
    """How the rates of one game stand to each other and to the peers' of the same run; peers that are not there have no ratio."""
    at_random = [measured[f"random play {size}"] for size in sizes]
    best_step = max(measured[f"step {size}"] for size in sizes if size <= UP_TO)
    out = {
        "random play, fastest batch size / slowest": max(at_random) / min(at_random),
        f"step / zero-fill, {sizes[-1]}": measured[f"step {sizes[-1]}"] / measured[f"zero-fill {sizes[-1]}"],
    }
    for peer in ("openspiel spades", "openspiel euchre"):
        with suppress(KeyError):
            out[f"random play, slowest batch size / {peer} in C++"] = min(at_random) / measured[f"{peer} in C++"]
            out[f"step, best size up to {UP_TO} / {peer} in C++"] = best_step / measured[f"{peer} in C++"]
            out[f"Game from Python / {peer} from Python"] = measured["Game from Python"] / measured[f"{peer} from Python"]
    for kind in ("raw", "wrapped"):
        with suppress(KeyError):
            out[f"AEC {kind} / hanabi_v5 {kind}"] = measured[f"AEC {kind}"] / measured[f"hanabi_v5 {kind}"]
    return out


# Starting up, each in a process of its own, by the clock on the wall

_IMPORT: Final = """
import time, numba, gymnasium, pettingzoo
begun = time.perf_counter()
import pitchenv
print(time.perf_counter() - begun)
"""
_FIRST_STEP: Final = """
import time, pitchenv
begun = time.perf_counter()
batch = pitchenv.Batch("auction-4-partners", 64)
batch.step(batch.mask.argmax(axis=1))
print(time.perf_counter() - begun)
"""


def start_times(repetitions: int = 3) -> dict[str, float]:
    """Seconds: importing pitchenv above importing numba, gymnasium and pettingzoo; the first step with an empty cache of compiled
    kernels, and with a full one. Medians of repetitions, but for the empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        cold = _seconds(_FIRST_STEP, cache)
        cached = float(np.median([_seconds(_FIRST_STEP, cache) for _ in range(repetitions)]))
        above = float(np.median([_seconds(_IMPORT, cache) for _ in range(repetitions)]))
    return {"import": above, "first step, compiling": cold, "first step, cached": cached}


def _seconds(script: str, cache: str) -> float:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(f"start-up: the script failed: {done.stderr.strip().splitlines()[-1]}")
    return float(done.stdout)


# Saying it


def _machine() -> dict[str, str]:
    found = {"python": platform.python_version(), "processor": _processor(), "load": f"{os.getloadavg()[0]:.2f}"}
    for library in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[library] = version(library)
    return found


def _processor() -> str:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


def _print_start(start: Mapping[str, float]) -> None:
    print(f"import pitchenv, above numba, gymnasium and pettingzoo: {start['import']:.2f} s")
    print(f"first step: compiling {start['first step, compiling']:.1f} s, from the cache {start['first step, cached']:.2f} s")


def _print_game(name: str, result: Mapping[str, Mapping[str, float]], sizes: Sequence[int]) -> None:
    measured, write = result["decisions a second"], _write
    print(f"\n{name}, decisions a second")
    print("  batch size       " + "".join(f"{size:>10}" for size in sizes))
    for kind in ("random play", "step", "zero-fill"):
        print(f"  {kind:<17}" + "".join(f"{write(measured[f'{kind} {size}']):>10}" for size in sizes))
    for kind, rate in measured.items():
        if kind.split()[0] not in ("random", "step", "zero-fill"):
            print(f"  {kind:<30}{write(rate):>10}")
    for kind, ratio in result["ratios"].items():
        print(f"  {ratio:8.2f} × {kind}")


def _write(rate: float) -> str:
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if rate >= unit:
            return f"{rate / unit:.3g} {name}"
    return f"{rate:.3g}"

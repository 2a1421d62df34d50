"""Rates of work, fairly compared: what is compared runs in turn, in the same process, and counts process CPU seconds."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

Run: TypeAlias = Callable[[float], tuple[float, float]]  # works for about so many seconds; how much was done, in how many CPU seconds


def until(work: Callable[[], float]) -> Run:
    """Repeat `work`, which says how much it did, until the time is up."""

    def run(seconds: float) -> tuple[float, float]:
        done, begun, deadline = 0.0, time.process_time(), time.perf_counter() + seconds
        while True:
            done += work()
            if time.perf_counter() >= deadline:
                break
        return done, time.process_time() - begun

    return run


def rates(runs: Mapping[str, Run], seconds: float, repetitions: int) -> dict[str, float]:
    """How much each does in a CPU second: medians over repetitions, in each of which all have had their turn, after one to warm up."""
    seen: dict[str, list[float]] = {name: [] for name in runs}
    for repetition in range(repetitions + 1):
        for name, run in runs.items():
            done, spent = run(seconds if repetition else min(seconds, 0.05))
            if repetition:
                seen[name].append(done / spent)
    return {name: statistics.median(values) for name, values in seen.items()}

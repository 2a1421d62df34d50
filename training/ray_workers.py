"""Tasks on a Ray cluster, many machines or this one. Extra `[cluster]`.

Every machine needs the same versions of this code and of what the tasks read (runs of training: at the same paths).
"""

import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from training.workers import WorkerDied, attempt, cores, packed, unpack_and_call

Task = TypeVar("Task")
Result = TypeVar("Result")


def on_ray(function: Callable[[Task], Result], tasks: Iterable[Task], workers: int | None) -> Iterator[tuple[int, Result | BaseException]]:
    """See `training.workers.run_tasks`; `workers` bounds the tasks under way at a time, None: the cores of the cluster."""
    import ray as ray_module

    ray: Any = ray_module  # typed in parts only
    ours = not ray.is_initialized()
    if ours:
        _join_or_start(ray, workers or cores())
    under_way: dict[Any, int] = {}
    try:
        remote = ray.remote(num_cpus=1, max_retries=1)(_do)
        todo = ((index, pickle.dumps((function, task))) for index, task in enumerate(tasks))
        most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        while True:
            while len(under_way) < most and (task := next(todo, None)):
                under_way[remote.remote(task[1], sys.path)] = task[0]
            if not under_way:
                return
            done, _ = ray.wait(list(under_way), num_returns=1)
            for reference in done:
                index = under_way.pop(reference)
                try:
                    yield index, pickle.loads(ray.get(reference))
                except ray.exceptions.RayError as fault:
                    yield index, WorkerDied(f"task {index}: {' '.join(str(fault).split())[:200]}")
    finally:
        for reference in under_way:
            ray.cancel(reference, force=True)
        if ours:
            ray.shutdown()


def _join_or_start(ray: Any, cpus: int) -> None:
    """The cluster that RAY_ADDRESS names or this machine belongs to; if there is none, one of this machine alone, while we need it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what it would warn of otherwise
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError:
        ray.init(num_cpus=cpus, include_dashboard=False, **quiet)


def _do(content: bytes, path: list[str]) -> bytes:
    """A task on a Ray worker. The bytes are read here, where the modules they name can be found."""
    sys.path += [folder for folder in path if folder not in sys.path]
    return packed(attempt(unpack_and_call, content))

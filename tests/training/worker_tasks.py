"""Tasks for the tests of workers, in a module that a worker imports quickly."""

import os
import signal
import time
from pathlib import Path


def sums(size):
    """A result that would show threads: a float32 product."""
    import torch

    a = torch.randn((size, 257), generator=torch.Generator().manual_seed(size))
    return float((a @ a.T).sum()), torch.get_num_threads(), os.environ["OMP_NUM_THREADS"]


class Awkward(Exception):
    """Pickles, but does not come back."""

    def __init__(self, what, why):
        super().__init__(f"{what}: {why}")


class Speechless(Awkward):
    """Neither comes back nor says anything."""

    def __str__(self):
        raise RuntimeError("no words")


def faulty(task):
    if task == 1:
        raise ValueError("one is not allowed")
    if task == 2:
        raise SystemExit(3)
    if task == 3:
        raise Awkward("three", "odd")
    if task == 6:
        raise Speechless("a", "b")
    return (lambda: None) if task == 4 else task


def note(folder, task):
    """Leave a note for every time the task is begun; kill this process `kills` times."""
    number, kills = task
    begun = len(list(Path(folder).glob(f"{number}-*")))
    (Path(folder) / f"{number}-{begun}-{os.getpid()}").touch()
    if begun < kills:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def begin_and_wait(folder, task):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

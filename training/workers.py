"""Independent tasks, done in this process, by several processes or by a Ray cluster, with results that are the same to the last bit.

A task's result may depend on the task alone, never on which process does it or what it did before; then it does not matter who does
what when. Every worker computes with one thread (with more, sums are taken in another order), this process too while it is at a task.
"""

import contextlib
import importlib.util
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final, TypeVar

from agents import said
from pitchenv.checks import InputError, check_keys, whole_number

Task = TypeVar("Task")
Result = TypeVar("Result")

BACKENDS: Final = ("processes", "ray")
MOST: Final = 4096  # workers
ONE_THREAD: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATIENCE: Final = 2.0  # seconds that a worker has to end before it is killed


class WorkerDied(RuntimeError):
    """A task whose process was killed, and the next one too: out of memory, a crash of native code, or a user's signal."""


def run_tasks(
    function: Callable[[Task], Result], tasks: Iterable[Task], *, workers: int | None = 1, backend: str = "processes", apart: bool = False
) -> Iterator[tuple[int, Result | BaseException]]:
    """Yield (index of the task, what `function` gave for it) as they are finished; an exception that it raised is given back as its result.

    `function` and tasks must pickle: a function of a module, or a `functools.partial` of one. `workers`: 1, in this process, or with
    `apart` in one of its own, so that this one outlives a crash; more, processes that are started as they are needed; None, as many as
    there are cores (on Ray: in the cluster). A task is taken from the
    iterable only when a worker is free for it, so a caller may stop at any result (close the iterator, or drop it): what is under way is
    given up then. A task whose process dies is done once more by another; after that its result is `WorkerDied`. Raises InputError with
    one line.
    """
    check_backend(backend)
    if workers is not None:
        whole_number("workers", workers, 1, MOST)
    if backend == "ray":
        from training.ray_workers import on_ray

        return on_ray(function, tasks, workers)
    count = workers or cores()
    return _here(function, tasks) if count == 1 and not apart else _in_processes(function, tasks, count)


def check_backend(backend: str) -> None:
    """Raise InputError if there is no such backend, or Ray is asked for and not installed."""
    check_keys([backend], BACKENDS, InputError, "backend")
    if backend == "ray" and importlib.util.find_spec("ray") is None:
        raise InputError("backend = 'ray': Ray is not installed (pip install -e '.[cluster]'); allowed without it: 'processes'")


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """SIGTERM ends what is within as Ctrl-C does, so that workers and bars are cleared away. For the main thread of a command."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def attempt(function: Callable[[Task], Result], task: Task) -> Result | BaseException:
    """The result of a task, or what it raised; SystemExit too, which an agent of a user's may raise."""
    try:
        with one_thread():
            return function(task)
    except (Exception, SystemExit) as fault:
        return fault


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """One thread for matrix products within, also of a library that is first imported there."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 1
    if torch and threads != 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if torch and threads != 1:
            torch.set_num_threads(threads)


def packed(result: object) -> bytes:
    """A result as bytes that can be read again; an exception that can't be, as a RuntimeError that says the same."""
    try:
        content = pickle.dumps(result)
        if isinstance(result, BaseException):
            pickle.loads(content)  # exceptions with arguments of their own may pickle and not come back
        return content
    except Exception as fault:
        return pickle.dumps(RuntimeError(said(result if isinstance(result, BaseException) else fault)))


def _here(function: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[tuple[int, Result | BaseException]]:
    for index, task in enumerate(tasks):
        yield index, attempt(function, task)


class _Worker:
    """A process that does the tasks it is sent, one after another, and the task it is at."""

    def __init__(self) -> None:
        context = get_context("spawn")  # a forked copy of torch's or Numba's threads may hang
        self.pipe, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=_work, args=(theirs,), daemon=True)
        with one_thread():  # the environment it starts with
            self.process.start()
        theirs.close()  # so that the pipe ends with the process
        self.task: tuple[int, bytes] | None = None

    def start(self, task: tuple[int, bytes]) -> None:
        self.task = task
        with contextlib.suppress(OSError):  # it has died; that is found out where answers are awaited
            self.pipe.send_bytes(task[1])

    def answer(self) -> bytes | None:
        """What it has sent, or None if it died without."""
        try:
            return self.pipe.recv_bytes() if self.pipe.poll() else None
        except (EOFError, OSError):
            return None

    def end(self) -> str:
        """Clear it away; returns what it died of."""
        self.process.terminate()
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        code = self.process.exitcode or 0
        self.pipe.close()
        self.process.close()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def _in_processes(function: Callable[[Task], Result], tasks: Iterable[Task], count: int) -> Iterator[tuple[int, Result | BaseException]]:
    todo = ((index, pickle.dumps((function, task))) for index, task in enumerate(tasks))
    again: deque[tuple[int, bytes]] = deque()
    idle: list[_Worker] = []
    busy: list[_Worker] = []
    died: set[int] = set()  # tasks with which a process has died
    try:
        while True:
            while len(busy) < count and (task := again.popleft() if again else next(todo, None)):
                worker = idle.pop() if idle else _Worker()
                busy.append(worker)
                worker.start(task)
            if not busy:
                return
            ready = connection.wait([end for worker in busy for end in (worker.pipe, worker.process.sentinel)])
            finished: list[tuple[int, Any]] = []
            for worker in [w for w in busy if w.pipe in ready or w.process.sentinel in ready]:
                assert worker.task is not None
                index, answer = worker.task[0], worker.answer()
                busy.remove(worker)
                if answer is not None:
                    idle.append(worker)
                    finished.append((index, pickle.loads(answer)))
                elif index not in died:
                    died.add(index)
                    again.append(worker.task)
                    worker.end()
                else:
                    finished.append((index, WorkerDied(f"task {index}: its process ended by {worker.end()}, and so did the one before")))
            yield from finished
    finally:
        for worker in [*busy, *idle]:
            worker.end()


def _work(pipe: Connection) -> None:
    """The life of a worker: tasks from the pipe until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody; the parent decides
    threading.Thread(target=_leave_with_the_parent, daemon=True).start()
    while True:
        try:
            content = pipe.recv_bytes()
            pipe.send_bytes(packed(attempt(unpack_and_call, content)))
        except (EOFError, OSError):
            return


def unpack_and_call(content: bytes) -> Any:
    """A pickled function of a pickled task."""
    function, task = pickle.loads(content)  # may import whatever the function needs
    return function(task)


def _leave_with_the_parent() -> None:
    """End at once when the parent does, however it ended, also in the middle of a long task."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)

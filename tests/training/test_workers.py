"""Tasks in this process, in several, on Ray: the same results; what goes wrong is given back, and nothing is left running."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pitchenv.checks import InputError
from tests.training.worker_tasks import faulty, note, sums
from training import workers as workers_module
from training.workers import WorkerDied, cores, run_tasks


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_the_same_whoever_does_the_tasks(workers):
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        sizes = [300, 5, 77, 8, 300]
        results = dict(run_tasks(sums, iter(sizes), workers=workers))
        assert torch.get_num_threads() == 2
        torch.set_num_threads(1)
        expected = {}
        for index, size in enumerate(sizes):
            a = torch.randn((size, 257), generator=torch.Generator().manual_seed(size))
            expected[index] = (float((a @ a.T).sum()), 1, "1")
    finally:
        torch.set_num_threads(before)
    assert results == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_task_raises_is_its_result(workers):
    results = dict(run_tasks(faulty, range(6), workers=workers))
    assert results[0] == 0
    assert results[5] == 5
    assert isinstance(results[1], ValueError)
    assert str(results[1]) == "one is not allowed"
    assert isinstance(results[2], SystemExit)
    assert "three: odd" in str(results[3])
    if workers > 1:
        assert str(results[3]) == "Awkward: three: odd"
        assert isinstance(results[4], RuntimeError)


def test_a_task_whose_process_is_killed_is_done_once_more_and_then_given_up(tmp_path):
    results = dict(run_tasks(partial(note, tmp_path), [(0, 0), (1, 1), (2, 9), (3, 0)], workers=2))
    died = results.pop(2)
    assert results == {0: 0, 1: 1, 3: 3}
    assert isinstance(died, WorkerDied)
    assert str(died) == "task 2: its process ended by signal 9, and so did the one before"
    assert [len(list(tmp_path.glob(f"{task}-*"))) for task in range(4)] == [1, 2, 2, 1]


def test_apart_even_one_worker_is_a_process_of_its_own():
    [(_, here)], [(_, apart)] = (list(run_tasks(eval, ["__import__('os').getpid()"], apart=apart)) for apart in (False, True))
    assert here == os.getpid() != apart


def test_an_exception_whose_text_fails_is_given_back_by_its_name():
    [(_, fault)] = run_tasks(faulty, [6], apart=True)
    assert isinstance(fault, RuntimeError)
    assert str(fault) == "Speechless"


def test_tasks_are_taken_only_as_workers_become_free():
    taken = []
    tasks = (taken.append(number) or number for number in range(100))
    results = run_tasks(abs, tasks, workers=2)
    assert not taken
    next(results)
    results.close()
    assert len(taken) <= 4


def test_on_ray_all_is_as_in_processes(tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        options = {"workers": 2, "backend": "ray"}
        assert dict(run_tasks(sums, [300, 5, 77], **options)) == dict(run_tasks(sums, [300, 5, 77]))
        results = dict(run_tasks(faulty, range(4), **options))
        assert (results[0], str(results[1]), str(results[3])) == (0, "one is not allowed", "Awkward: three: odd")
        results = dict(run_tasks(partial(note, tmp_path), [(0, 0), (1, 1), (2, 9)], **options))
        assert isinstance(results.pop(2), WorkerDied)
        assert results == {0: 0, 1: 1}
        assert len(list(tmp_path.glob("2-*"))) == 2
        some = run_tasks(abs, iter(range(10)), **options)
        next(some)
        some.close()
        assert ray.is_initialized()  # a cluster that was there stays
    finally:
        ray.shutdown()


def gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_running(how, tmp_path):
    """Two workers in the middle of long tasks; only the parent gets the signal, a group's Ctrl-C aside."""
    code = (
        "from functools import partial\n"
        "from tests.training.worker_tasks import begin_and_wait\n"
        "from training.workers import interrupted_by_sigterm, run_tasks\n"
        "if __name__ == '__main__':\n"
        "    with interrupted_by_sigterm():\n"
        f"        list(run_tasks(partial(begin_and_wait, {str(tmp_path)!r}), range(5), workers=2))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    root = Path(workers_module.__file__).parent.parent
    parent = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(root)}, stderr=subprocess.PIPE, cwd=root)
    try:
        deadline = time.monotonic() + 60
        while len(pids := [int(p.name) for p in tmp_path.iterdir() if p.name.isdigit()]) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(pids) == 2
        parent.send_signal(how)
        parent.wait(10)
    finally:
        parent.kill()
    said = parent.stderr.read().decode()
    parent.stderr.close()
    assert ("KeyboardInterrupt" in said) == (how != signal.SIGKILL)
    deadline = time.monotonic() + 10
    while not all(map(gone, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(map(gone, pids))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"workers": 0}, "workers = 0: allowed: 1 … 4096"),
        ({"workers": 2.5}, "workers = 2.5: allowed: a whole number, 1 … 4096"),
        ({"backend": "rai"}, "backend 'rai': unknown; did you mean 'ray'?; allowed: processes, ray"),
    ],
)
def test_wrong_input_is_refused_before_anything_is_done(options, says):
    with pytest.raises(InputError, match=says.replace("?", r"\?")):
        run_tasks(abs, [1], **options)


def test_ray_absent_when_asked_for(monkeypatch):
    monkeypatch.setattr(workers_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="backend = 'ray': Ray is not installed") as refusal:
        run_tasks(abs, [1], backend="ray")
    assert "\n" not in str(refusal.value)


def test_cores():
    assert 1 <= cores() <= os.cpu_count()

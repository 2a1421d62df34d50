"""Training by several processes, real ones under torchrun: equal to one where it should be, and among themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.learned import newest_checkpoint
from tests.training.conftest import SMALL, small_config
from tests.training.rank_tasks import ONE_SIDED, ROWS, UNEVEN, global_batch
from training.checkpoint import load_checkpoint
from training.config import ConfigError
from training.ranks import ALONE, Ranks, checksum
from training.run import Run, stream_seed
from training.train import Stop, train

CONFIG = f"""
iterations = {SMALL["iterations"]}
checkpoint_every = 1
deals_per_iteration = {SMALL["deals_per_iteration"]}
ppo.minibatches = 4
network = {{ hidden = [16], critic_hidden = [16] }}
evaluation = {{ every = 2, deals = 8, final_deals = 8 }}
"""


def torchrun(processes: int, *argv: str) -> subprocess.CompletedProcess[str]:
    """Have so many run a module with arguments; the two dashes keep torchrun from taking `--run` for an option of its own."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes), "-m", "--", *argv]
    with subprocess.Popen(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            said, told = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            process.terminate()  # a kill would leave its children
            raise
    return subprocess.CompletedProcess(command, process.returncode, said, told)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """What two ranks left in a folder, how they ended, and what each has seen."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "small.toml").write_text(CONFIG)
    done = torchrun(2, "tests.training.rank_tasks", str(folder))
    paths = [folder / f"rank-{rank}.json" for rank in range(2)]
    assert all(path.exists() for path in paths), done.stderr
    return folder, done, [json.loads(path.read_text()) for path in paths]


def test_one_rank_is_a_plain_run_to_the_last_bit(tmp_path: Path) -> None:
    config = tmp_path / "small.toml"
    config.write_text(CONFIG)
    done = torchrun(1, "training", "train", str(config), "--run", str(tmp_path / "torchrun"))
    assert done.returncode == 0, done.stderr
    plain = Run.begin(small_config(), tmp_path / "plain")
    assert train(plain, Stop())
    for part in ("bidding", "play"):
        ours, theirs = (newest_checkpoint(tmp_path / run) / f"{part}.safetensors" for run in ("plain", "torchrun"))
        assert ours.read_bytes() == theirs.read_bytes()
    one, other = (load_checkpoint(tmp_path / run)[1] for run in ("plain", "torchrun"))
    assert checksum(one["learners"]) == checksum(other["learners"])
    assert [point["eval/vs_random"] for point in one["curve"]] == [point["eval/vs_random"] for point in other["curve"]]


def test_streams_are_the_ranks_own_and_the_firsts_are_a_plain_runs(two: Any) -> None:
    run = Run.resume(two[0] / "halves")
    seeds = {run.stream(2)}
    assert seeds == {stream_seed(run.config.seed, 2, run.iteration)}
    for rank in range(8):
        run.ranks = Ranks(rank, 8)
        seeds |= {run.stream(1), run.stream(2)}
    assert len(seeds) == 16
    assert checksum({"a": torch.zeros(2)}) != checksum({"a": torch.tensor([0.0, 1.0])})


def test_gradients_are_the_mean_over_all_rows(two: Any) -> None:
    for seen in two[2]:
        assert seen["gradients"] == pytest.approx({"halves": 0, "uneven": 0, "one-sided": 0, "messages": 0}, abs=1e-6)


def test_advantages_are_normalised_over_the_global_batch(two: Any) -> None:
    whole = global_batch()[1]
    for seen in two[2]:
        for moments in seen["moments"]:
            assert moments == pytest.approx([float(whole.mean()), float(whole.var())], rel=1e-6)
    assert abs(whole[: UNEVEN[0]].mean() - whole.mean()) > 0.5  # the halves' are others
    mean, variance = ALONE.moments(whole)
    assert (mean, np.sqrt(variance)) == (whole.mean(), whole.std())  # to the last bit


def test_an_update_is_that_of_one_process_on_the_global_batch(two: Any) -> None:
    for seen in two[2]:
        for distance in seen["steps"]:  # two algorithms, two ways to divide the rows
            assert distance == pytest.approx({"parameters": 0, "figures": 0}, abs=1e-5)
        assert seen["alone"]["parameters"] > 1e-3
    assert sum(UNEVEN) == sum(ONE_SIDED) == ROWS


def test_every_rank_has_as_many_minibatches(two: Any) -> None:
    first, second = (seen["shares"] for seen in two[2])
    assert first == [[1, 1, 1, 1], [2 / 3, 2 / 3, 2 / 3, 1], []]
    assert second == [[0, 0, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0], []]


def test_sums_and_votes(two: Any) -> None:
    for seen in two[2]:
        assert seen["total"] == {"both": 3, "rank 0": 2, "rank 1": 2}
        assert seen["any"] == [False, True]


def test_networks_and_optimisers_are_equal_on_all_ranks(two: Any) -> None:
    first, second = two[2]
    for name in ("whole", "stopped", "resumed", "tiny"):
        assert first[name] == second[name]
    assert first["stopped"][0] == 2  # which only the second was asked for
    assert (first["whole"][0], first["tiny"][0]) == (4, 2)


def test_networks_that_differ_are_told_of_once(two: Any) -> None:
    first, second = (seen["differing"] for seen in two[2])
    assert first.startswith("TrainingError: iteration 2: networks of ranks [1] differ from rank 0's; allowed: ")
    assert second == "SystemExit: 2"


def test_resumed_is_bit_equal_to_never_stopped(two: Any) -> None:
    folder, _, (first, _) = two
    assert first["resumed"] == first["whole"]
    whole, halves = (load_checkpoint(folder / run)[1] for run in ("whole", "halves"))
    assert checksum(whole["learners"]) == checksum(halves["learners"]) == first["whole"][1]
    assert whole["decisions"] == halves["decisions"] == first["whole"][2]


def test_losses_that_are_no_longer_finite_on_one_rank_stop_all(two: Any) -> None:
    first, second = two[2]
    assert "losses of the play part" in first["broken"]
    assert first["broken"] == second["broken"]


def test_one_rank_speaks_and_writes(two: Any) -> None:
    folder = two[0]
    assert (folder / "said-0").read_text().startswith(f"run {folder / 'command'}: auction-4-partners")
    assert not (folder / "said-1").read_text()
    assert len(list((folder / "command" / "tensorboard").iterdir())) == 1
    names = {path.name for path in (folder / "command").iterdir()}
    assert names == {"checkpoints", "config.json", "lock", "summary.json", "tensorboard"}
    assert sorted(path.name for path in (folder / "whole" / "past").iterdir()) == [f"{n:08d}" for n in range(1, 5)]
    assert not list(folder.rglob("*.tmp"))


def test_deals_that_do_not_divide(two: Any) -> None:
    folder, done, _ = two
    line = "deals_per_iteration = 25: does not divide among 2 ranks; allowed: a multiple of 2"
    assert done.stderr.splitlines().count(line) == 1
    assert done.returncode != 0
    assert not (folder / "refused").exists()
    with pytest.raises(ConfigError, match="deals_per_iteration = 24: does not divide among 5 ranks"):
        Run.resume(folder / "command", Ranks(0, 5))


def test_going_on_with_another_number_of_ranks(two: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from training.train import main

    main(["--resume", str(two[0] / "command")])
    assert "ranks: 2 until now, 1 from here" in capsys.readouterr().out


def test_alone_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.setenv(name, {"RANK": "0", "WORLD_SIZE": "1"}[name])
    with Ranks.joined() as ranks:
        assert ranks is ALONE
        assert not torch.distributed.is_initialized()

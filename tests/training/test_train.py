"""Training runs, small ones: they learn, save, can be stopped, and play."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import agents
from agents.learned import CheckpointError, NetworkPolicy, load_network, load_run, newest_checkpoint
from pitchenv import Batch, load_rules
from pitchenv.policies.random import RandomPolicy
from tests.training.runs import StopAt, begin, refuse, weights
from training.__main__ import main
from training.checkpoint import load_checkpoint
from training.duplicate import duplicate
from training.run import Run
from training.train import Stop, train


def test_it_learns(tmp_path: Path) -> None:
    run = begin(
        tmp_path / "run", iterations=12, checkpoint_every=12, deals_per_iteration=256, ppo={"minibatches": 8},
        network={"hidden": [64], "critic_hidden": [64]}, evaluation={"every": 20, "deals": 8, "final_deals": 400},
    )  # fmt: skip
    untrained = duplicate(run.player(), RandomPolicy(), run.rules, 400, 5)
    assert train(run, Stop())
    trained = duplicate(load_run(tmp_path / "run"), RandomPolicy(), run.rules, 400, 5)
    assert trained.margin - trained.half_width > untrained.margin + untrained.half_width + 0.5
    assert trained.illegal == {"A": 0, "B": 0}


def test_what_a_run_leaves_behind(small_run: Path) -> None:
    events = EventAccumulator(str(small_run / "tensorboard"))
    events.Reload()
    tags = set(events.Tags()["scalars"])
    assert tags >= {
        "charts/learning_rate", "charts/decisions_per_second", "charts/deals_per_second", "losses/bidding_policy", "losses/play_value",
        "losses/play_entropy", "losses/play_approx_kl", "losses/play_explained_variance", "bidding/level", "bidding/made_rate",
        "bidding/set_rate", "play/pitchers_points", "eval/vs_random", "eval/vs_random_half_width", "eval/vs_heuristic",
    }  # fmt: skip
    assert "configuration/text_summary" in events.Tags()["tensors"]
    steps = [event.step for event in events.Scalars("charts/learning_rate")]
    assert steps == [24, 48, 72, 96]
    summary = json.loads((small_run / "summary.json").read_text())
    assert summary["iteration"] == 4
    assert [point["deals"] for point in summary["curve"]] == [48, 96]
    assert not list(small_run.rglob("*.tmp"))
    assert len(list((small_run / "checkpoints").iterdir())) == 3  # the newest ones


def test_a_run_is_an_agent(small_run: Path) -> None:
    rules = load_rules("auction-4-partners")
    agent = agents.load(str(small_run))
    batch = Batch(rules, 64, seed=3)
    agent.reset(rules, 64, 0)
    for _ in range(40):
        views = batch.views()
        chances = agent.probabilities(views, batch.mask, batch.seat)  # type: ignore[attr-defined]
        assert chances.sum(1) == pytest.approx(np.ones(64), abs=1e-5)
        assert (chances[~batch.mask] == 0).all()
        actions = agent.act(views, batch.mask, batch.seat)
        assert (chances[np.arange(64), actions] == chances.max(1)).all()
        batch.step(actions)


@pytest.mark.parametrize("start", ["zero", "spread"])
def test_the_score_counts_if_deals_started_from_several(tmp_path: Path, start: str) -> None:
    """A network that has seen one score alone must not do something else at another."""
    player = begin(tmp_path / "run", start_scores=start).player()
    batch = Batch(player.parts["play"].rules, 40, seed=1)  # type: ignore[attr-defined]
    batch.play_random(9)
    here = batch.views()
    there = here.copy()
    there["public"]["scores"][:, :2] += 3
    chances = [player.probabilities(views, batch.mask, batch.seat) for views in (here, there)]
    assert np.array_equal(*chances) == (start == "zero")


def test_one_part_can_be_replaced(small_run: Path, tmp_path: Path) -> None:
    checkpoint = newest_checkpoint(small_run)
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    (mixed / "play.safetensors").write_bytes((checkpoint / "play.safetensors").read_bytes())
    (mixed / "agent.json").write_text(json.dumps({"bidding": "heuristic", "play": "network"}))
    agent = agents.load(str(mixed))
    result = duplicate(agent, agents.load("random"), load_rules("auction-4-partners"), 10, 1)
    assert result.illegal == {"A": 0, "B": 0}


def test_sampled_play_draws_from_the_probabilities(small_run: Path) -> None:
    rules = load_rules("auction-4-partners")
    policy = load_network(newest_checkpoint(small_run) / "bidding.safetensors", "bidding", greedy=False)
    batch = Batch(rules, 1, seed=1)
    views, mask, seat = (np.repeat(x, 20_000, axis=0) for x in (batch.views(), batch.mask, batch.seat))
    policy.reset(rules, 20_000, 1)
    drawn = np.bincount(policy.act(views, mask, seat), minlength=70) / 20_000
    assert drawn == pytest.approx(policy.probabilities(views[:1], mask[:1], seat[:1])[0], abs=0.02)


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_signal_saves_and_says_how_to_go_on(tmp_path: Path, kind: signal.Signals) -> None:
    config = tmp_path / "small.toml"
    config.write_text(
        "iterations = 100000\ncheckpoint_every = 100000\ndeals_per_iteration = 24\n[network]\nhidden = [16]\ncritic_hidden = [16]\n"
        "[evaluation]\nevery = 100000\n"
    )
    run = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "training", "train", str(config), "--run", str(run)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline()
    while "run " not in first:
        first = process.stdout.readline()
    while not list((run / "tensorboard").glob("*")):  # it has begun to iterate
        time.sleep(0.1)
    time.sleep(2)
    process.send_signal(kind)
    rest = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    assert f"python -m training train --resume {run}" in rest
    stopped = load_checkpoint(run)[1]["iteration"]
    resumed = Run.resume(run)
    assert not train(resumed, StopAt(resumed, stopped + 2))
    assert load_checkpoint(run)[1]["iteration"] == stopped + 2
    assert main(["train", "--resume", str(run), "--ppo.lr", "1"]) == 2  # a resumed run keeps its configuration


def test_a_run_is_never_overwritten(capsys: pytest.CaptureFixture[str], small_run: Path) -> None:
    before = weights(small_run)
    refuse(capsys, ["train", "--run", str(small_run)], "exists already", "--resume")
    assert weights(small_run) == before


def test_one_process_at_a_time_trains_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = begin(tmp_path / "run")
    assert not train(run, StopAt(run, 2))
    before = {path: path.read_bytes() for path in sorted(run.folder.rglob("*")) if path.is_file()}
    taken = "import fcntl, sys; f = open(sys.argv[1], 'ab'); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
    argv = [sys.executable, "-c", taken, str(run.folder / "lock")]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        refuse(capsys, ["train", "--resume", str(run.folder)], str(run.folder), "another process is training it; allowed: to wait")
        assert {path: path.read_bytes() for path in sorted(run.folder.rglob("*")) if path.is_file()} == before
        other.kill()
    assert train(Run.resume(run.folder), Stop())  # the lock ends with its process


def test_networks_for_other_rules(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refuse(capsys, ["match", str(small_run), "random", "--rules", "setback", "--deals", "10"], "other rules")
    policy = load_network(newest_checkpoint(small_run) / "play.safetensors", "play")
    with pytest.raises(CheckpointError, match=r"target = 11: .*other rules.* allowed: 7"):
        policy.reset(load_rules("auction-4-partners", target=11), 1, 0)
    insisted = NetworkPolicy(policy.actor, policy.rules, policy.slots, any_rules=True)
    insisted.reset(load_rules("auction-4-partners", target=11), 1, 0)
    with pytest.raises(CheckpointError, match="slots for 4"):
        insisted.reset(load_rules("auction-5"), 1, 0)


def test_cuda_asked_for_and_absent(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    refuse(capsys, ["train", "--run", str(tmp_path / "r"), "--device", "cuda"], "cuda", "cpu")
    assert not (tmp_path / "r").exists()


def test_unknown_config_key_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.toml"
    config.write_text("iteration = 3")
    refuse(capsys, ["train", str(config)], "'iteration'", "did you mean 'iterations'")
    refuse(capsys, ["train", "--ppo.lrr", "1"], "'--ppo.lrr'", "did you mean '--ppo.lr'")
    refuse(capsys, ["train", "--ppo.lr", "fast"], "lr", "fast")
    refuse(capsys, ["train", "--ppo.lr", "-1"], "lr = -1.0", "greater than 0")
    refuse(capsys, ["train", "--parts", "al"], "'al'", "'bidding'")
    refuse(capsys, ["train", "--set", "widow=99"], "widow = 99", "0 … 52")
    refuse(capsys, ["trian"], "'trian'", "'train'")


def test_every_game_trains(tmp_path: Path) -> None:
    for game in ("oklahoma-4", "oklahoma-6", "auction-3", "smear"):
        run = begin(tmp_path / game, game=game, iterations=1, evaluation={"every": 5, "deals": 2, "final_deals": 4})
        assert train(run, Stop())
        assert set(run.curve[-1]) >= {"eval/vs_random", "eval/vs_heuristic"}


def test_the_first_checkpoint_is_there_at_once(tmp_path: Path) -> None:
    begin(tmp_path / "run")  # and the process dies
    resumed = Run.resume(tmp_path / "run")
    assert resumed.iteration == 0
    assert train(resumed, Stop())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_cuda(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", device="cuda")
    assert not train(run, StopAt(run, 2))
    assert train(Run.resume(run.folder), Stop())

"""Runs go on bit-equal to ones that were never stopped, and refuse what they can't go on from."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import agents
from agents.learned import CheckpointError, newest_checkpoint
from tests.training.conftest import small_config
from tests.training.runs import StopAt, begin, copy_run, figures, refuse, weights
from training.checkpoint import CONFIG_FILE, finished, load_checkpoint
from training.run import Run
from training.train import Stop, train


@pytest.mark.parametrize("parts", ["both", "bidding", "play"])
def test_resumed_is_bit_equal_to_never_stopped(tmp_path: Path, parts: str) -> None:
    whole = begin(tmp_path / "whole", parts=parts, start_scores="spread")
    assert train(whole, Stop())
    first = begin(tmp_path / "halves", parts=parts, start_scores="spread")
    assert not train(first, StopAt(first, 2))
    torch.rand(7)  # what else happens in the process does not matter
    second = Run.resume(tmp_path / "halves")
    assert second.iteration == 2
    assert train(second, Stop())
    assert weights(tmp_path / "whole") == weights(tmp_path / "halves")
    assert figures(whole) == figures(second)
    assert len(weights(tmp_path / "whole")) == (2 if parts == "both" else 1)
    one, two = load_checkpoint(tmp_path / "whole")[1], load_checkpoint(tmp_path / "halves")[1]
    for part, learner in one["learners"].items():
        for key, tensor in learner["critic"].items():
            assert torch.equal(tensor, two["learners"][part]["critic"][key])
        for number, slot in learner["optimizer"]["state"].items():
            assert torch.equal(slot["exp_avg_sq"], two["learners"][part]["optimizer"]["state"][number]["exp_avg_sq"])


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": "dmc"},
        {"past_share": 0.25, "past_every": 1, "past_kept": 2},
        {"opponent": "heuristic", "opponent_share": 0.25, "past_share": 0.25, "past_every": 1, "ppo": {"magnet": 0.1}},
        {"games": ["smear", "auction-3", "oklahoma-6"], "house_rules": 3},
        {"parts": "bidding", "play_values": "exact", "game": "smear"},
        {"reward": "equity", "start_scores": "spread", "equity": "table"},
    ],
)
def test_every_way_to_learn_resumes_bit_equal(tmp_path: Path, changes: dict[str, Any], equity_table: Path) -> None:
    if "equity" in changes:
        changes = {**changes, "equity": str(equity_table)}
    whole, first = begin(tmp_path / "whole", **changes), begin(tmp_path / "halves", **changes)
    assert train(whole, Stop())
    assert not train(first, StopAt(first, 2))
    second = Run.resume(first.folder)
    assert train(second, Stop())
    assert weights(whole.folder) == weights(first.folder)
    assert figures(whole) == figures(second)


@pytest.mark.parametrize("spec", ["{run}", "sampled:{run}", "random"])
def test_resumed_against_an_opponent_is_bit_equal(small_run: Path, tmp_path: Path, spec: str) -> None:
    moved = tmp_path / "frozen"
    copy_run(small_run, moved)
    config = {"opponent": spec.format(run=moved), "start_from": str(moved), "reward": "score"}
    whole, first = begin(tmp_path / "whole", **config), begin(tmp_path / "halves", **config)
    assert weights(whole.folder) == weights(small_run)  # the starting point
    moved.rename(tmp_path / "elsewhere")  # neither is needed any more
    assert train(whole, Stop())
    assert not train(first, StopAt(first, 2))
    second = Run.resume(first.folder)
    assert train(second, Stop())
    assert weights(whole.folder) == weights(first.folder) != weights(small_run)
    assert figures(whole) == figures(second)
    assert set(whole.curve[-1]) == {"deals", "cpu_seconds", "eval/vs_opponent", "eval/vs_opponent_half_width"}


@pytest.mark.parametrize("at", [1, 2])
def test_an_evaluation_that_was_cut_off_is_made_up_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """The iteration before it has been saved by then, the last one of a run too."""
    changes = {"iterations": 2, "checkpoint_every": 1, "evaluation": {"every": 1, "deals": 4, "final_deals": 8}}
    whole, killed = begin(tmp_path / "whole", **changes), begin(tmp_path / "killed", **changes)
    assert train(whole, Stop())
    evaluate = Run.evaluate

    def kill(run: Run, deals: int) -> dict[str, float]:
        if run.iteration == at:
            raise KeyboardInterrupt
        return evaluate(run, deals)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "evaluate", kill)
        with pytest.raises(KeyboardInterrupt):
            train(killed, Stop())
    config, state = load_checkpoint(killed.folder)
    assert (state["iteration"], len(state["curve"])) == (at, at - 1)
    assert not finished(config, state)
    second = Run.resume(killed.folder)
    assert train(second, Stop())
    assert finished(*load_checkpoint(killed.folder))
    assert figures(second) == figures(whole)
    assert weights(killed.folder) == weights(whole.folder)


def test_killed_before_it_has_begun_it_can_be_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(run: Run) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Run, "save", kill)
        with pytest.raises(KeyboardInterrupt):
            begin(tmp_path / "run")
    assert train(begin(tmp_path / "run"), Stop())


def test_a_full_disk_costs_no_more_than_what_came_after_the_last_checkpoint(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"iterations": 3, "checkpoint_every": 1}
    whole = begin(tmp_path / "whole", **options)
    assert train(whole, Stop())
    folder = begin(tmp_path / "run", **options).folder
    save = Run.save

    def full(run: Run) -> Path:
        if run.iteration == 2:
            raise OSError(28, "No space left on device")
        return save(run)

    monkeypatch.setattr(Run, "save", full)
    refuse(capsys, ["train", "--resume", str(folder)], "cannot be written: No space left on device", f"go on with --resume {folder}")
    monkeypatch.setattr(Run, "save", save)
    resumed = Run.resume(folder)
    assert resumed.iteration == 1
    assert train(resumed, Stop())
    assert weights(folder) == weights(tmp_path / "whole")


def test_resume_of_what_is_no_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    refuse(capsys, ["train", "--resume", str(tmp_path)], str(tmp_path), "not the folder of a run")
    refuse(capsys, ["train", "--resume", str(tmp_path / "none")], "none", "not the folder of a run")
    (tmp_path / CONFIG_FILE).write_text(json.dumps(small_config().to_dict()))
    refuse(capsys, ["train", "--resume", str(tmp_path)], "holds no checkpoint")
    (tmp_path / CONFIG_FILE).write_text("[]")
    refuse(capsys, ["train", "--resume", str(tmp_path)], "config.json is damaged")
    (tmp_path / CONFIG_FILE).write_text("[" * 100_000)
    refuse(capsys, ["train", "--resume", str(tmp_path)], "config.json is damaged", "nested too deeply")
    refuse(capsys, ["train", "--resume", "x" * 300], "not the folder of a run")
    (tmp_path / CONFIG_FILE).write_text('{"iterations": ')
    refuse(capsys, ["train", "--resume", str(tmp_path)], "config.json is damaged")


def test_truncated_state(capsys: pytest.CaptureFixture[str], small_run: Path, tmp_path: Path) -> None:
    state = copy_run(small_run, tmp_path / "run") / "training_state.pt"
    state.write_bytes(state.read_bytes()[:-100])
    refuse(capsys, ["train", "--resume", str(tmp_path / "run")], "training_state.pt", "damaged")
    state.unlink()
    refuse(capsys, ["train", "--resume", str(tmp_path / "run")], "training_state.pt", "missing")
    torch.save({"weights": torch.zeros(3)}, state)
    refuse(capsys, ["train", "--resume", str(tmp_path / "run")], "not the state of a training run")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda content: content[: len(content) // 2], "damaged"),
        (lambda content: b"no weights at all", "damaged"),
        (lambda content: content.replace(b'pitchenv-policy-1', b'somebody-policy-9'), "not a network of this kit"),
        (lambda content: content.replace(b'\\"layout\\": 1', b'\\"layout\\": 7'), "layout = 7"),
        (lambda content: content.replace(b'\\"part\\": \\"play\\"', b'\\"part\\": \\"plai\\"'), "part = 'plai'"),
    ],
)  # fmt: skip
def test_damaged_and_foreign_networks(small_run: Path, tmp_path: Path, damage: Any, words: str) -> None:
    path = copy_run(small_run, tmp_path / "run") / "play.safetensors"
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    with pytest.raises(CheckpointError, match=words) as fault:
        agents.load(str(tmp_path / "run"))
    assert "\n" not in str(fault.value)
    path.unlink()
    with pytest.raises(CheckpointError, match="no such file"):
        agents.load(str(tmp_path / "run"))


def test_resume_under_other_rules_or_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house = tmp_path / "house.toml"
    house.write_text("target = 9")
    run = begin(tmp_path / "run", game=str(house))
    house.write_text("target = 10")  # edited since
    refuse(capsys, ["train", "--resume", str(run.folder)], "target = 9", "allowed, as configured: 10")
    house.write_text("target = 9")
    path = newest_checkpoint(run.folder) / "training_state.pt"
    state = torch.load(path, weights_only=True)
    torch.save({**state, "layout": 0}, path)
    refuse(capsys, ["train", "--resume", str(run.folder)], "layout = 0", "allowed")
    torch.save({**state, "learners": {"bidding": 3, "play": []}}, path)
    refuse(capsys, ["train", "--resume", str(run.folder)], "does not fit its configuration")

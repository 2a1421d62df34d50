"""Exploiters: a planted weakness is found, what is reported is not flattered, and a stopped search goes on as if it had not been."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch

import agents
from agents import zoo
from agents.learned import newest_checkpoint
from pitchenv import Batch, load_rules
from pitchenv.checks import InputError
from tests.training.conftest import SMALL, small_config
from training import best_response
from training.__main__ import main as command
from training.best_response import Arguments, gain, main, run
from training.checkpoint import load_checkpoint
from training.duplicate import duplicate
from training.frozen import freeze, frozen_spec, load_frozen
from training.run import Run
from training.train import Stop

PARTNERS = load_rules("auction-4-partners")


class First:
    """Passes, and plays its lowest card of the first suit: its trumps too, without need."""

    reads: Literal["observation", "view"] = "observation"

    def reset(self, rules: Any, size: int, seed: int) -> None:
        pass

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return mask.argmax(1)


class Last(First):
    """Bids all it can."""

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return 69 - mask[:, ::-1].argmax(1)


def toml(path: Path, **fields: Any) -> Path:
    """A configuration file of small networks."""
    lines, tables = [], []
    for name, value in {**SMALL, **fields}.items():
        if isinstance(value, dict):
            tables += [f"[{name}]", *(f"{key} = {json.dumps(v)}" for key, v in value.items())]
        else:
            lines.append(f"{name} = {json.dumps(value)}")
    path.write_text("\n".join(lines + tables))
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return toml(tmp_path / "small.toml")


def networks(folder: Path) -> dict[str, bytes]:
    """All networks below a folder, byte for byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.safetensors")}


def test_a_planted_weakness_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = toml(tmp_path / "c.toml", checkpoint_every=100, deals_per_iteration=256, ppo={"minibatches": 8},
                  network={"hidden": [32], "critic_hidden": [32]}, evaluation={"every": 100, "deals": 2, "final_deals": 2})  # fmt: skip
    report = run(
        Arguments(f"{__name__}:First", tmp_path / "out", config=config, iterations=8, seeds=1, deals=500, json=tmp_path / "out.json")
    )
    assert report is not None
    assert json.loads((tmp_path / "out.json").read_text()) == report
    (row,) = report["exploiters"]
    assert (row["name"], row["start"], row["deals_trained"]) == ("scratch-1", "scratch", 8 * 256)
    best = report["best"]
    assert report["lower_bound"] == best["gain"] - best["half_width"] > 0.5
    untrained = agents.load(tmp_path / "out" / "scratch-1" / "checkpoints" / "00000000")
    before = gain(untrained, First(), PARTNERS, 500, 1)
    assert report["lower_bound"] > before.mean() + 0.5  # it is the training that has found it
    text = capsys.readouterr().out
    assert "lower bound on the exploitability" in text
    assert f"{report['lower_bound']:.3f} points a deal" in text


@pytest.mark.parametrize("name", ["auction-4-partners", "setback"])
def test_with_two_sides_the_gain_is_the_margin_of_duplicate_play(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = load_rules(name)
    expected = duplicate(Last(), First(), rules, 40, 5).per_deal
    assert gain(Last(), First(), rules, 40, 5) == pytest.approx(expected)
    monkeypatch.setattr(best_response, "AT_ONCE", 14)
    assert gain(Last(), First(), rules, 40, 5) == pytest.approx(expected)
    assert (gain(Last(), Last(), rules, 40, 5) == 0).all()


@pytest.mark.parametrize("name", ["auction-3", "oklahoma-6"])
def test_with_more_sides_the_exploiter_has_one(name: str) -> None:
    rules = load_rules(name)
    expected = []
    for start in (Batch(rules, 10, 5).game(i) for i in range(10)):
        margins = []
        for alone in range(rules.sides):
            game = start.copy()
            while game.seat is not None:
                game.apply(game.legal_actions()[-1 if game.seat % rules.sides == alone else 0])
            rest = [score for side, score in enumerate(game.scores) if side != alone]
            margins.append(game.scores[alone] - np.mean(rest))
        expected.append(np.mean(margins))
    assert gain(Last(), First(), rules, 10, 5) == pytest.approx(expected)
    assert gain(Last(), Last(), rules, 10, 5) == pytest.approx(np.zeros(10))


def test_stopped_it_goes_on_and_ends_the_same(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def command(out: str, **changes: Any) -> dict[str, Any] | None:
        return run(Arguments("random", tmp_path / out, **{"config": small, "iterations": 3, "seeds": 2, "deals": 20, **changes}))

    def gains(report: dict[str, Any] | None) -> Any:
        assert report is not None
        return [(row["name"], row["gain"]) for row in report["exploiters"]], report["best"]

    whole = command("whole")

    class AfterFourAsks(Stop):
        left = 4

        @property
        def asked(self) -> bool:  # type: ignore[override]
            AfterFourAsks.left -= 1
            return AfterFourAsks.left < 0

        @asked.setter
        def asked(self, value: bool) -> None:
            pass

    with monkeypatch.context() as patched:
        patched.setattr(best_response, "Stop", AfterFourAsks)
        assert command("halves") is None
    done = {path.name: load_checkpoint(path)[1]["iteration"] for path in sorted((tmp_path / "halves").glob("scratch-*"))}
    assert done == {"scratch-1": 3, "scratch-2": 1}

    def never(config: Any, folder: Path) -> Run:
        raise AssertionError(f"{folder} is begun again")

    with monkeypatch.context() as patched:
        patched.setattr(Run, "begin", never)
        assert gains(command("halves")) == gains(whole)
        again = networks(tmp_path / "halves")
        assert gains(command("halves")) == gains(whole)  # and nothing is trained a second time
        assert networks(tmp_path / "halves") == again
    assert networks(tmp_path / "whole") == again
    more = command("halves", seeds=3)  # what there is stays
    assert more is not None
    assert [row["name"] for row in more["exploiters"]] == ["scratch-1", "scratch-2", "scratch-3"]
    assert gains(more)[0][:2] == gains(whole)[0]


def test_ended_before_the_first_checkpoint(small: Path, tmp_path: Path) -> None:
    arguments = Arguments("random", tmp_path / "out", config=small, iterations=1, seeds=1, deals=10)
    first = run(arguments)
    assert first is not None
    scratch = tmp_path / "out" / "scratch-1"
    (scratch / "config.json").unlink()  # which is written after the first checkpoint
    for checkpoint in (scratch / "checkpoints").iterdir():
        checkpoint.rename(checkpoint.with_name(checkpoint.name + ".tmp"))
    second = run(arguments)
    assert second is not None
    assert second["best"] == first["best"]


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["agent", "scratch-1", "own-1", "agent.tmp", "notes"])
def test_what_lies_in_the_folder_is_left_alone(small: Path, small_run: Path, tmp_path: Path, name: str) -> None:
    theirs = tmp_path / "theirs" / name
    shutil.copytree(small_run, theirs)
    before = snapshot(tmp_path / "theirs")
    for agent in ("random", str(theirs), f"sampled:{theirs}"):
        with pytest.raises(InputError, match="theirs': not empty and no best-response of this kit; allowed: a new folder") as fault:
            run(Arguments(agent, theirs.parent, config=small, iterations=1, seeds=1, deals=10))
        assert "\n" not in str(fault.value)
        assert snapshot(tmp_path / "theirs") == before


def test_an_exploiters_name_that_is_taken(small: Path, tmp_path: Path) -> None:
    assert run(Arguments("random", tmp_path / "out", config=small, iterations=1, seeds=1, deals=10))
    taken = tmp_path / "out" / "scratch-2"
    taken.mkdir()
    (taken / "config.json").write_text("{}")
    (taken / "notes").write_text("precious")
    with pytest.raises(InputError, match=r"scratch-2.: holds no checkpoint"):
        run(Arguments("random", tmp_path / "out", config=small, iterations=1, seeds=2, deals=10))
    assert snapshot(taken) == {"config.json": b"{}", "notes": b"precious"}


class Killed(BaseException):
    """Nothing after it is done."""


@pytest.mark.parametrize("after", ["the first file", "the copy", "the spec"])
def test_killed_while_the_agent_is_frozen(
    small: Path, small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: str
) -> None:
    def die(*_: Any, **__: Any) -> None:
        raise Killed

    arguments = Arguments(str(small_run), tmp_path / "out", config=small, iterations=1, seeds=1, deals=10)
    with monkeypatch.context() as patched:
        if after == "the first file":
            patched.setattr("training.frozen.shutil.copy", die)
        elif after == "the copy":
            patched.setattr("training.frozen.json.dumps", die)
        else:
            patched.setattr(best_response, "write_file", die)
        with pytest.raises(Killed):
            run(arguments)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"agent"}
    assert run(arguments)
    assert networks(tmp_path / "out" / "agent") == {
        f"0/checkpoints/{newest_checkpoint(small_run).name}/{name}": content
        for name, content in networks(newest_checkpoint(small_run)).items()
    }


def test_only_a_frozen_agent_is_replaced(small_run: Path, tmp_path: Path) -> None:
    freeze("random", tmp_path / "agent")
    freeze(str(small_run), tmp_path / "agent")
    before = snapshot(tmp_path)
    assert networks(newest_checkpoint(tmp_path / "agent" / "0")) == networks(newest_checkpoint(small_run))
    (tmp_path / "link").symlink_to(tmp_path / "agent")
    for spec, folder in [(str(tmp_path / "agent" / "0"), "agent"), ("random", "link"), ("random", "agent/0")]:
        with pytest.raises(InputError, match="something else lies there; allowed: a new folder"):
            freeze(spec, tmp_path / folder)
        assert snapshot(tmp_path / "agent") == {name[6:]: content for name, content in before.items()}


@pytest.mark.parametrize("spec", ["zoo:little", "sampled:zoo:little", "search:zoo:little,worlds=2"])
def test_a_zoo_agent_is_copied(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    """It may be replaced by a better one while exploiters are trained."""
    monkeypatch.setenv(zoo.FOLDERS, str(tmp_path))
    content = zoo.packed(agents.load(small_run))
    (tmp_path / "little.safetensors").write_bytes(content)
    card = {"format": zoo.CARD_FORMAT, "name": "little", "sha256": hashlib.sha256(content).hexdigest()}
    (tmp_path / "little.json").write_text(json.dumps(card))
    expected = duplicate(agents.load(spec), agents.load("heuristic"), PARTNERS, 6, 1)
    freeze(spec, tmp_path / "agent")
    (tmp_path / "little.safetensors").unlink()
    assert duplicate(load_frozen(tmp_path / "agent"), agents.load("heuristic"), PARTNERS, 6, 1).margin == expected.margin
    freeze(frozen_spec(tmp_path / "agent"), tmp_path / "again")  # as the opponent of an exploiter


def test_from_its_own_weights_and_from_scratch(small_run: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(small_run, source)
    report = run(Arguments(str(source), out, iterations=1, seeds=1, deals=10))
    assert report is not None
    assert [row["name"] for row in report["exploiters"]] == ["own-1", "scratch-1"]
    agent, learned = networks(newest_checkpoint(small_run)), load_checkpoint(small_run)
    for name, its_own in (("own-1", True), ("scratch-1", False)):
        first = out / name / "checkpoints" / "00000000"
        assert (networks(first) == agent) == its_own
        critic = torch.load(first / "training_state.pt", weights_only=True)["learners"]["play"]["critic"]
        assert all(torch.equal(tensor, learned[1]["learners"]["play"]["critic"][key]) for key, tensor in critic.items()) == its_own
        assert load_checkpoint(out / name)[0].network == learned[0].network  # trained as the agent was
        (opponent,) = (out / name / "opponent").glob("*/checkpoints/*")
        assert networks(opponent) == agent
        assert not list(opponent.glob("*.pt"))
    shutil.rmtree(source)  # the copy is enough
    more = run(Arguments(str(source), out, iterations=1, seeds=2, deals=10))
    assert more is not None
    assert [row["name"] for row in more["exploiters"]] == ["own-1", "own-2", "scratch-1", "scratch-2"]
    assert more["exploiters"][0]["gain"] == report["exploiters"][0]["gain"]


def test_an_agent_that_learned_one_part(tmp_path: Path, small_run: Path) -> None:
    half = Run.begin(small_config(parts="bidding", partner=str(small_run)), tmp_path / "half")
    report = run(Arguments(str(half.folder), tmp_path / "out", iterations=1, seeds=1, deals=10))
    assert report is not None
    play = newest_checkpoint(small_run) / "play.safetensors"
    assert (newest_checkpoint(tmp_path / "out" / "own-1") / "play.safetensors").read_bytes() == play.read_bytes()
    assert load_checkpoint(tmp_path / "out" / "scratch-1")[0].parts == "both"


def test_exploiters_have_no_exact_critic(tmp_path: Path) -> None:
    """It would have them learn against one who plays late cards without a fault, and there is none for three sides and more."""
    config = toml(tmp_path / "exact.toml", ppo={"exact_cards": 8})
    report = run(Arguments("random", tmp_path / "out", config=config, rules="auction-3", iterations=1, seeds=1, deals=10))
    assert report is not None
    assert load_checkpoint(tmp_path / "out" / "scratch-1")[0].ppo.exact_cards == 0


def test_an_agent_built_on_a_run(tmp_path: Path, small_run: Path) -> None:
    config = toml(tmp_path / "8.toml", network={"hidden": [8], "critic_hidden": [8]})
    report = run(Arguments(f"sampled:{small_run}", tmp_path / "out", config=config, iterations=1, seeds=1, deals=10))
    assert report is not None
    assert [row["start"] for row in report["exploiters"]] == ["own", "scratch"]
    assert load_checkpoint(tmp_path / "out" / "own-1")[0].network.hidden == (16,)  # its own
    assert load_checkpoint(tmp_path / "out" / "scratch-1")[0].network.hidden == (8,)


def test_the_best_is_measured_on_deals_that_did_not_choose_it(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def luck(exploiter: Any, agent: Any, rules: Any, deals: int, seed: int) -> np.ndarray:
        asked.append(seed)
        return np.arange(deals) / deals + [0.0, 1.0, -2.0][len(asked) - 1]

    monkeypatch.setattr(best_response, "gain", luck)
    report = run(Arguments("random", tmp_path / "out", config=small, iterations=1, seeds=2, deals=10))
    assert report is not None
    assert asked[0] == asked[1] != asked[2]
    assert [row["gain"] for row in report["exploiters"]] == pytest.approx([0.45, 1.45])
    assert report["best"]["name"] == "scratch-2"
    assert report["best"]["gain"] == pytest.approx(-1.55)
    assert report["lower_bound"] == 0  # the agent itself gains that much


def test_bad_input_is_one_line(small: Path, small_run: Path, tmp_path: Path) -> None:
    def refuse(*words: str, **changes: Any) -> None:
        good = {"agent": "random", "out": tmp_path / "out", "config": small, "iterations": 1, "seeds": 1, "deals": 10}
        with pytest.raises(InputError) as fault:
            run(Arguments(**{**good, **changes}))
        assert "\n" not in str(fault.value)
        for word in words:
            assert word in str(fault.value)

    refuse("iterations = 0", "1 …", iterations=0)
    refuse("seeds = 0", "1 …", seeds=0)
    refuse("deals = 1", "2 …", deals=1)
    refuse("seed = -1", "0 …", seed=-1)
    refuse("'smeer'", "'smear'", rules="smeer")
    refuse("'widw'", "'widow'", changes=("widw=2",))
    refuse("'heuristik'", "'heuristic'", agent="heuristik")
    refuse(str(small_run), "other rules", agent=str(small_run), rules="smear")
    refuse("config", "cannot be read", config=tmp_path / "none.toml")
    refuse("json", "/nowhere/x.json", json=Path("/nowhere/x.json"))
    assert not (tmp_path / "out").exists()
    refuse(f"agent '{'x' * 300}'", "unknown", agent="x" * 300)
    refuse("cannot be written", out=tmp_path / ("x" * 300))
    refuse("out = '/proc/none'", "cannot be written", out=Path("/proc/none"))
    assert run(Arguments("random", tmp_path / "out", config=small, iterations=1, seeds=1, deals=10))
    refuse("agent = 'random'", "allowed: the same, or another folder", agent="heuristic")
    refuse("json", "the best_response.json of out", json=tmp_path / "out" / ".." / "out" / "best_response.json")
    refuse("iterations = 1", iterations=2)
    refuse("seed = 1", seed=2)
    for damaged in ("[3]", "[" * 100_000):
        (tmp_path / "out" / "best_response.json").write_text(damaged)
        refuse("best_response.json is damaged")
    with pytest.raises(InputError, match="'--iteration': unknown; did you mean '--iterations'"):
        main(["random", "--out", "x", "--iteration", "3"])


def test_a_run_ends_with_its_exploiters_if_asked(tmp_path: Path) -> None:
    path = toml(tmp_path / "c.toml", rules={"target": 9}, reward="score", algorithm="dmc", past_share=0.5, past_every=1)
    assert command(["train", str(path), "--run", str(tmp_path / "run"), "--exploiters", "1"]) == 0
    report = json.loads((tmp_path / "run" / "best_response.json").read_text())
    assert report["rules"]["target"] == 9
    assert [row["start"] for row in report["exploiters"]] == ["own", "scratch"]
    assert report["deals"] == 8
    config, state = load_checkpoint(tmp_path / "run" / "exploiters" / "own-1")
    assert config.reward == "margin"  # what a gain is measured in
    assert (state["algorithm"], state["iteration"]) == ("dmc", 1)
    assert not (tmp_path / "run" / "exploiters" / "own-1" / "exploiters").exists()
    assert command(["train", "--resume", str(tmp_path / "run")]) == 0  # nothing is left to do

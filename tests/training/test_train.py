"""Training runs, small ones: they learn, save, stop, go on bit-equal, and refuse what they can't use."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import agents
from agents.learned import CheckpointError, NetworkPolicy, TwoPartPolicy, load_network, load_run, newest_checkpoint
from pitchenv import Batch, load_rules
from pitchenv.engine.state import ENDED
from pitchenv.policies.random import RandomPolicy
from tests.training.conftest import small_config
from training.__main__ import main
from training.checkpoint import CONFIG_FILE, load_checkpoint
from training.clock import Clock
from training.config import ConfigError
from training.duplicate import duplicate
from training.equity_table import load_equity
from training.ranks import Ranks
from training.run import EVALUATION_SEED, Run
from training.train import Stop, collector_of, opponents_of, train


def begin(folder: Path, **changes: Any) -> Run:
    """A new small run in its folder."""
    return Run.begin(small_config(**changes), folder)


def weights(run: Path) -> dict[str, bytes]:
    """The networks of a run's newest checkpoint, byte for byte."""
    return {path.name: path.read_bytes() for path in newest_checkpoint(run).glob("*.safetensors")}


def figures(run: Run) -> list[dict[str, float]]:
    """A run's curve without the time it took."""
    return [{name: value for name, value in point.items() if name != "cpu_seconds"} for point in run.curve]


class StopAt(Stop):
    """Asks to stop when the run has come to an iteration."""

    def __init__(self, run: Run, iteration: int) -> None:
        self.run, self.at = run, iteration

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return self.run.iteration >= self.at


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


def refuse(capsys: pytest.CaptureFixture[str], argv: list[str], *words: str) -> None:
    """The command ends with exit code 2 and one line that has these words."""
    assert main(argv) == 2
    message = capsys.readouterr().err.strip()
    assert len(message.splitlines()) == 1
    for word in words:
        assert word in message


def test_resume_of_what_is_no_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    refuse(capsys, ["train", "--resume", str(tmp_path)], str(tmp_path), "not the folder of a run")
    refuse(capsys, ["train", "--resume", str(tmp_path / "none")], "none", "not the folder of a run")
    (tmp_path / CONFIG_FILE).write_text(json.dumps(small_config().to_dict()))
    refuse(capsys, ["train", "--resume", str(tmp_path)], "holds no checkpoint")
    (tmp_path / CONFIG_FILE).write_text("[]")
    refuse(capsys, ["train", "--resume", str(tmp_path)], "config.json is damaged")
    (tmp_path / CONFIG_FILE).write_text('{"iterations": ')
    refuse(capsys, ["train", "--resume", str(tmp_path)], "config.json is damaged")


def test_a_run_is_never_overwritten(capsys: pytest.CaptureFixture[str], small_run: Path) -> None:
    before = weights(small_run)
    refuse(capsys, ["train", "--run", str(small_run)], "exists already", "--resume")
    assert weights(small_run) == before


def copy_run(run: Path, to: Path) -> Path:
    """A copy that may be damaged; returns its newest checkpoint."""
    import shutil

    shutil.copytree(run, to)
    return newest_checkpoint(to)


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


def test_a_partner_that_is_a_run_is_copied_into_the_checkpoint(small_run: Path, tmp_path: Path) -> None:
    moved = tmp_path / "partner"
    copy_run(small_run, moved)
    run = begin(tmp_path / "run", parts="bidding", partner=str(moved))
    moved.rename(tmp_path / "elsewhere")
    assert weights(run.folder)["play.safetensors"] == weights(small_run)["play.safetensors"]
    resumed = Run.resume(run.folder)
    assert train(resumed, Stop())
    assert weights(run.folder)["play.safetensors"] == weights(small_run)["play.safetensors"]
    assert duplicate(agents.load(run.folder), agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_a_partner_that_is_a_run_with_a_named_player(tmp_path: Path) -> None:
    begin(tmp_path / "source", parts="bidding")  # heuristic plays its cards
    run = begin(tmp_path / "run", parts="bidding", partner=str(tmp_path / "source"))
    assert json.loads((newest_checkpoint(run.folder) / "agent.json").read_text()) == {"bidding": "network", "play": "heuristic"}
    assert train(Run.resume(run.folder), Stop())
    assert duplicate(agents.load(run.folder), agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_a_partner_that_draws_its_actions_does_so_when_resumed(small_run: Path, tmp_path: Path) -> None:
    for name, partner, greedy in (("drawn", f"sampled:{small_run}", False), ("greedy", str(small_run), True)):
        run = begin(tmp_path / name, parts="bidding", partner=partner)
        for one in (run, Run.resume(run.folder)):
            assert isinstance(one.partner, NetworkPolicy)
            assert one.partner.greedy == greedy


def test_earlier_states_play_the_other_part_as_the_run_does(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", parts="bidding", partner=str(small_run), past_share=0.5, past_every=1, iterations=2)
    assert train(run, Stop())
    past = run.past_opponent()
    assert past is not None
    assert isinstance(past.policy, TwoPartPolicy)
    assert past.policy.parts["play"] is run.partner
    assert not past.policy.parts["bidding"].greedy  # type: ignore[attr-defined]


def test_what_can_not_be_learned_with(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "--run", str(tmp_path / "a")]
    partner = f"search:{small_run},worlds=2"
    refuse(capsys, [*argv, "--parts", "bidding", "--partner", partner], "partner", partner, "that run itself")
    refuse(capsys, [*argv, "--game", "auction-3", "--ppo.exact-cards", "12"], "ppo.exact_cards = 12", "more than two sides", "allowed: 0")
    assert not (tmp_path / "a").exists()


class Cheater(RandomPolicy):
    """Proposes what is not legal."""

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return mask.argmin(1)


def test_partners_that_can_not_be_used(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refuse(capsys, ["train", "--run", str(tmp_path / "a"), "--parts", "play", "--partner", "heuristik"], "'heuristik'", "'heuristic'")
    argv = ["train", "--run", str(tmp_path / "a"), "--game", "smear", "--parts", "play", "--partner", str(small_run)]
    refuse(capsys, argv, "other rules")
    assert not (tmp_path / "a").exists()
    run = begin(tmp_path / "b", parts="bidding", partner=f"{__name__}:Cheater")
    with pytest.raises(agents.AgentError, match=r"Cheater.*proposes illegal actions"):
        train(run, Stop())


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


@pytest.mark.parametrize(("share", "names"), [(0.5, ("random", "heuristic")), (1.0, ("opponent",))])
def test_figures_are_over_those_they_name(tmp_path: Path, share: float, names: tuple[str, ...]) -> None:
    run = begin(tmp_path / "run", opponent="heuristic", opponent_share=share)
    figures = run.evaluate(40)
    assert set(figures) == {f"eval/vs_{name}{end}" for name in names for end in ("", "_half_width")}
    for name in names:
        against = agents.load("heuristic" if name == "opponent" else name)
        assert figures[f"eval/vs_{name}"] == duplicate(run.player(), against, run.rules, 40, EVALUATION_SEED).margin


def test_one_part_learns_against_an_opponent(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", parts="play", partner=str(small_run), opponent="heuristic", iterations=1)
    assert train(run, Stop())
    assert weights(run.folder)["bidding.safetensors"] == weights(small_run)["bidding.safetensors"]
    assert weights(run.folder)["play.safetensors"] != weights(small_run)["play.safetensors"]


def test_starting_points_bring_actors_and_critics_alone(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "run", start_from=str(small_run))
    source = load_checkpoint(small_run)[1]["learners"]
    for part, learner in run.learners.items():
        state = learner.state_dict()
        for network in ("network", "critic"):
            assert all(torch.equal(tensor, source[part][network][key]) for key, tensor in state[network].items())
        assert state["optimizer"]["state"] == {}
    assert run.iteration == 0


def test_starting_points_that_do_not_fit(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--network.hidden", "16", "--network.critic-hidden", "16"]
    argv = ["train", "--run", str(tmp_path / "a"), "--start-from"]
    refuse(capsys, [*argv, str(tmp_path)], "start_from", str(tmp_path), "not the folder of a run")
    refuse(capsys, [*argv, str(small_run), *small, "--set", "target=11"], "start_from", "target = 7", "allowed: 11")
    refuse(capsys, [*argv, str(small_run), *small, "--game", "smear"], "start_from", "trained for", "allowed")
    refuse(capsys, [*argv, str(small_run)], "start_from", "network.hidden = (16,)", "allowed: (256, 256)")
    with pytest.raises(ConfigError, match=r"network\.canonical_suits = True; allowed: False"):
        begin(tmp_path / "a", start_from=str(small_run), network={"hidden": [16], "critic_hidden": [16], "canonical_suits": False})
    bidding = begin(tmp_path / "bidding", parts="bidding")
    refuse(capsys, [*argv, str(bidding.folder), *small], "start_from", "parts = 'bidding'", "the play part")
    state = copy_run(small_run, tmp_path / "damaged") / "training_state.pt"
    whole = torch.load(state, weights_only=True)
    torch.save({**whole, "layout": 0}, state)
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "layout = 0", "allowed: 1")
    torch.save({**whole, "learners": {"bidding": {"network": 3}, "play": 4}}, state)
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "does not fit")
    state.write_bytes(b"nothing")
    refuse(capsys, [*argv, str(tmp_path / "damaged"), *small], "start_from", "training_state.pt", "damaged")
    assert not (tmp_path / "a").exists()


def test_opponents_that_can_not_be_used(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "--run", str(tmp_path / "a"), "--opponent"]
    refuse(capsys, [*argv, "heuristik"], "'heuristik'", "'heuristic'")
    refuse(capsys, [*argv, str(small_run), "--game", "smear"], str(small_run), "other rules")
    assert not (tmp_path / "a").exists()
    run = begin(tmp_path / "b", opponent=f"{__name__}:Cheater")
    with pytest.raises(agents.AgentError, match=r"opponent .*Cheater.*proposes illegal actions"):
        train(run, Stop())
    (run.folder / "opponent" / "spec.json").unlink()
    refuse(capsys, ["train", "--resume", str(run.folder)], "spec.json", "missing or damaged")


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


@pytest.mark.parametrize("changes", [{"algorithm": "dmc"}, {"past_share": 0.3, "past_every": 3, "ppo": {"minibatches": 8, "magnet": 0.05}}])
def test_the_other_ways_learn_too(tmp_path: Path, changes: dict[str, Any]) -> None:
    run = begin(
        tmp_path / "run", **{"ppo": {"minibatches": 8}, **changes}, iterations=16, checkpoint_every=16, deals_per_iteration=256,
        network={"hidden": [64], "critic_hidden": [64]}, evaluation={"every": 20, "deals": 8, "final_deals": 400},
    )  # fmt: skip
    untrained = duplicate(run.player(), RandomPolicy(), run.rules, 400, 5)
    assert train(run, Stop())
    trained = duplicate(load_run(tmp_path / "run"), RandomPolicy(), run.rules, 400, 5)
    assert trained.margin - trained.half_width > untrained.margin + untrained.half_width + 0.4


@pytest.fixture(scope="session")
def equity_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match-equity table of few deals."""
    path = tmp_path_factory.mktemp("tables") / "equity.npz"
    assert main(["equity", "heuristic", "--deals", "300", "--out", str(path)]) == 0
    return path


def test_equity_is_what_deals_pay(tmp_path: Path, equity_table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = begin(tmp_path / "run", reward="equity", start_scores="spread", equity=str(equity_table))
    collector = collector_of(run, Clock({}))
    behaviour = {part: learner.behaviour(1.0) for part, learner in run.learners.items()}
    rollout = collector.collect(behaviour, 1, torch.Generator().manual_seed(1))
    table = load_equity(run.folder / "equity.npz", run.rules)
    assert rollout.returns == pytest.approx(table.returns(rollout.public))
    assert rollout.returns.sum(1) == pytest.approx(np.zeros(24), abs=1e-4)
    assert not np.array_equal(rollout.returns[:, 0], (rollout.public["change"][:, 0] - rollout.public["change"][:, 1]))
    small = ["--network.hidden", "16", "--network.critic-hidden", "16"]
    argv = ["train", "--run", str(tmp_path / "a"), *small, "--reward", "equity", "--equity"]
    refuse(capsys, [*argv, str(equity_table), "--game", "smear"], "made for", "allowed")
    refuse(capsys, [*argv, str(tmp_path / "none")], "none", "cannot be read")
    refuse(capsys, ["train", "--run", str(tmp_path / "a"), "--reward", "equity"], "equity = ''", "a table")
    assert not (tmp_path / "a").exists()


def test_exact_play_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = begin(tmp_path / "run", parts="bidding", play_values="exact", game="setback")
    collector = collector_of(run, Clock({}))
    rollout = collector.collect({"bidding": run.learners["bidding"].behaviour(1.0)}, 1, torch.Generator().manual_seed(1))
    assert (rollout.public["phase"] == ENDED).all()
    change = rollout.public["change"].astype(np.float32)
    assert (rollout.returns[:, 0] == change[:, 0] - change[:, 1]).all()
    assert rollout.decisions == len(rollout.parts["bidding"])
    refuse(capsys, ["train", "--run", str(tmp_path / "a"), "--play-values", "exact"], "play_values = 'exact'", "parts = 'bidding'")


def test_earlier_states_are_opponents(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", past_share=0.25, past_every=2, past_kept=1)
    assert run.past_opponent() is None
    assert not train(run, StopAt(run, 3))
    past = run.past_opponent()
    assert past is not None
    assert past.name == "past 2"
    assert not past.policy.parts["play"].greedy  # type: ignore[attr-defined]
    (opponent,) = opponents_of(run)
    assert opponent.deals == slice(0, 6)  # a quarter of 24
    kept = agents.load(tmp_path / "run" / "past" / "00000002")
    assert duplicate(kept, agents.load("random"), run.rules, 4, 1).illegal == {"A": 0, "B": 0}


def test_one_network_for_several_games(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", games=["smear", "auction-3", "oklahoma-6"], house_rules=2, iterations=2)
    assert list(run.games) == ["smear", "auction-3", "oklahoma-6", "house-1", "house-2"]
    assert train(run, Stop())
    assert {"games/smear_vs_random", "games/oklahoma-6_vs_heuristic", "eval/vs_heuristic"} <= set(run.curve[-1])
    agent = agents.load(tmp_path / "run")
    for game in ("auction-2", "oklahoma-4", "smear"):  # others than it has seen, too
        assert duplicate(agent, agents.load("random"), load_rules(game), 6, 1).illegal == {"A": 0, "B": 0}
    with pytest.raises(agents.AgentError, match="slots for"):
        duplicate(agent, agents.load("random"), load_rules("auction-7", players=8, sides=8), 6, 1)


def test_more_games_than_deals(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"deals_per_iteration = 24: for 25 games; allowed: from 25"):
        begin(tmp_path / "a", games=["smear"], house_rules=24)
    with pytest.raises(ConfigError, match=r"deals_per_iteration = 24: for 13 games on each of 2 ranks; allowed: from 26"):
        Run.begin(small_config(games=["smear"], house_rules=12), tmp_path / "a", Ranks(0, 2))
    assert not (tmp_path / "a").exists()


def test_a_starting_point_of_another_algorithm(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--network.hidden", "16", "--network.critic-hidden", "16"]
    argv = ["train", "--run", str(tmp_path / "a"), "--start-from", str(small_run), *small, "--algorithm", "dmc"]
    refuse(capsys, argv, "start_from", "algorithm = 'ppo'", "allowed: 'dmc'")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_cuda(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", device="cuda")
    assert not train(run, StopAt(run, 2))
    assert train(Run.resume(run.folder), Stop())

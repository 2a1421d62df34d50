"""The speed of training: that what is said to be measured is, not how fast anything is."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pitchenv.checks import InputError
from pitchenv.observation import layout
from tests.training.conftest import small_config
from training import speed
from training.columns import live_columns
from training.config import TrainConfig
from training.speed import Iterations, compare, product_share

CONFIG = """
deals_per_iteration = 24
ppo.minibatches = 4
dmc.minibatches = 4
network = { hidden = [16], critic_hidden = [16] }
"""
QUICK = ["--seconds", "0.01", "--repetitions", "1"]


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    file = tmp_path / "small.toml"
    file.write_text(CONFIG)
    return file


@pytest.mark.parametrize("algorithm", ["ppo", "dmc"])
def test_an_iteration_learns_and_counts_its_decisions(algorithm: str, tmp_path: Path) -> None:
    training = Iterations(small_config(algorithm=algorithm, dmc={"minibatches": 4}), tmp_path / "run")
    before = {name: tensor.clone() for name, tensor in training.run.learners["play"].policy().state_dict().items()}
    seen: list[int] = []
    collect = training.collector.collect

    def counted(*arguments: Any) -> Any:
        rollout = collect(*arguments)
        seen.append(sum(len(decisions) for decisions in rollout.parts.values()))
        return rollout

    training.collector.collect = counted  # type: ignore[method-assign]
    assert [training(), training()] == seen  # all parts learn: every decision is a row
    assert min(seen) >= 24 * 4  # some cards at each deal, by each of its four seats
    assert seen[0] != seen[1]  # other deals
    after = training.run.learners["play"].policy().state_dict()
    assert any(not torch.equal(after[name], tensor) for name, tensor in before.items())
    shares = training.clock.shares()
    assert {"engine", "inference", "update"} == set(shares)
    assert sum(shares.values()) == pytest.approx(1)
    assert min(shares.values()) > 0


def test_matrix_products_are_told_from_the_rest() -> None:
    large, small = torch.ones(300, 300), torch.ones(8)

    def products() -> None:
        for _ in range(20):
            torch.addmm(large, large, large)

    def rest() -> None:
        for _ in range(20):
            torch.sort(large)

    assert product_share(lambda: torch.sort(small)) == 0
    assert product_share(products) > 0.5
    assert 0 < product_share(lambda: (products(), rest())) < product_share(products)


def test_products_of_the_backward_pass_count() -> None:
    layer, rows = torch.nn.Linear(300, 300), torch.ones(300, 300)
    out = layer(rows).sum()
    assert product_share(lambda: out.backward()) > 0


def test_the_peer_is_compared_at_its_best() -> None:
    sizes = {
        "64": {"decisions_per_second": 2.0, "steps_per_second": 9.0}, "256": {"decisions_per_second": 4.0, "steps_per_second": 5.0},
    }  # fmt: skip
    assert compare(10.0, sizes) == {"best_environments": 256, "decisions": 2.5, "steps": 2.0}


def test_without_the_peer_there_is_no_ratio(
    config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    speed.main(["--config", str(config_file), *QUICK, "--json", str(tmp_path / "speed.json")])
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if "MaskablePPO" in line] == ['MaskablePPO: not installed (pip install -e ".[train,peers]"), no ratio']
    report = json.loads((tmp_path / "speed.json").read_text())
    assert report["peers"] == report["ratios"] == {}
    assert len(report["machine"]["load"]) == 2
    assert set(report["ours"]) == {"ppo", "dmc"}
    for name, figures in report["ours"].items():
        assert f"{name.upper()}: {figures['decisions_per_second']:,.0f} decisions/s" in "\n".join(said)
        assert figures["decisions_per_second"] > 0
        assert sum(figures["shares"].values()) == pytest.approx(1)
        assert set(figures["products_in_update"]) == {"float32", "bfloat16"}
        assert all(0 < share < 1 for share in figures["products_in_update"].values())


def test_beside_the_peer(config_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib")
    speed.main(["--config", str(config_file), *QUICK, "--environments", "4", "8", "--json", str(tmp_path / "speed.json")])
    report = json.loads((tmp_path / "speed.json").read_text())
    assert {kind: set(sizes) for kind, sizes in report["peers"].items()} == {kind: {"4", "8"} for kind in ("float32", "bfloat16")}
    for kind, sizes in report["peers"].items():
        assert all(0 < figures["decisions_per_second"] < figures["steps_per_second"] for figures in sizes.values())
        assert report["ratios"][kind] == compare(report["ours"]["ppo"]["decisions_per_second"], sizes)
    assert "PPO / MaskablePPO in float32 at its best" in capsys.readouterr().out


def peer(config: TrainConfig, environments: int = 4) -> Any:
    pytest.importorskip("sb3_contrib")
    from training.sb3_peer import MaskablePPOIterations

    rules = config.load_rules()
    return MaskablePPOIterations(config, live_columns([rules], layout(rules.players), False)[0], environments, rows=40, minibatch=10)


def test_the_peer_plays_legally_and_learns() -> None:
    training = peer(small_config())
    tables, model = training.tables, training.model
    asked: list[int] = []
    step = tables.step_async

    def checked(actions: Any) -> None:
        mask = tables.tables.action_masks()
        assert mask[np.arange(4), actions].all()
        asked.extend(mask.sum(1).tolist())
        step(actions)

    tables.step_async = checked
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    decisions = training()
    assert len(asked) == tables.steps == 40
    assert decisions == tables.decisions == sum(legal > 1 for legal in asked)
    assert 0 < decisions < 40  # last cards are forced
    assert training() > 0
    assert tables.steps == 80
    assert any(not torch.equal(new, old) for new, old in zip(model.policy.parameters(), before, strict=True))


def test_the_peer_has_the_same_networks(tmp_path: Path) -> None:
    config = small_config()
    policy = peer(config).model.policy
    actor = Iterations(config, tmp_path / "run").run.learners["play"].policy()
    theirs = [module for module in [*policy.mlp_extractor.policy_net, policy.action_net] if isinstance(module, torch.nn.Linear)]
    assert [module.weight.shape for module in theirs] == [
        module.weight.shape for module in actor.layers if isinstance(module, torch.nn.Linear)
    ]
    critic = [module.out_features for module in [*policy.mlp_extractor.value_net, policy.value_net] if isinstance(module, torch.nn.Linear)]
    assert critic == [*config.network.critic_hidden, 1]
    assert policy.optimizer.param_groups[0]["lr"] == config.ppo.lr


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--seconds", "0"], "seconds = 0.0"),
        (["--repetitions", "0"], "repetitions = 0"),
        (["--environments", "0"], "environments = (0,)"),
        (["--config", "no/such.toml"], "no/such.toml"),
        (["--json", "no/such/folder.json"], "json = 'no/such/folder.json'"),
        (["--second", "1"], "'--second'"),
    ],
)
def test_wrong_input_is_one_line(argv: list[str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        speed.main(argv)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_games_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "several.toml"
    file.write_text('games = ["smear", "setback"]')
    with pytest.raises(InputError, match="several games; allowed: one game"):
        speed.main(["--config", str(file)])

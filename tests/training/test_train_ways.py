"""What a run learns by and for: algorithms, what deals pay, several games at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import agents
from agents.learned import load_run
from pitchenv import load_rules
from pitchenv.engine.state import ENDED
from pitchenv.policies.random import RandomPolicy
from tests.training.conftest import small_config
from tests.training.runs import begin, refuse
from training.clock import Clock
from training.config import ConfigError
from training.duplicate import duplicate
from training.equity_table import load_equity
from training.ranks import Ranks
from training.run import Run
from training.train import Stop, collector_of, train


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


def test_games_are_measured_on_different_cards(tmp_path: Path) -> None:
    """Else the half width of their mean, as of independent figures, would be too small."""
    (tmp_path / "longer.toml").write_text('base = "smear"\ntarget = 99\n')  # the same in a deal
    run = begin(tmp_path / "run", games=["smear", str(tmp_path / "longer.toml")])
    figures = run.evaluate(40)
    games = [value for name, value in figures.items() if name.startswith("games/") and name.endswith("vs_random")]
    assert len(games) == 2
    assert games[0] != games[1]
    assert figures["eval/vs_random"] == pytest.approx(np.mean(games))


def test_a_run_without_ppo_is_not_bound_by_its_options(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", game="auction-3", algorithm="dmc", ppo={"exact_cards": 8}, iterations=1)
    assert train(run, Stop())


def test_more_games_than_deals(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"deals_per_iteration = 24: for games of weight 25; allowed: from 25"):
        begin(tmp_path / "a", games=["smear"], house_rules=24)
    with pytest.raises(ConfigError, match=r"deals_per_iteration = 24: for games of weight 13 on each of 2 ranks; allowed: from 26"):
        Run.begin(small_config(games=["smear"], house_rules=12), tmp_path / "a", Ranks(0, 2))
    assert not (tmp_path / "a").exists()

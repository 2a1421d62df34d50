"""Teachers: a run of several games that is drawn to what finished agents of single games do."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

import agents
from agents.canonical import canonical_states, original_actions
from agents.learned import PARTS, CheckpointError, TwoPartPolicy
from pitchenv import Batch, load_rules
from pitchenv.engine.state import TRUMP
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.training.conftest import SMALL
from tests.training.runs import StopAt, begin, figures, refuse, weights
from training.__main__ import main
from training.columns import live_columns
from training.config import ConfigError
from training.duplicate import duplicate
from training.run import Run
from training.teachers import Teachers, teachers_by_game
from training.train import Stop, train

CPU = torch.device("cpu")
GAMES = {name: load_rules(name) for name in ("auction-3", "smear", "oklahoma-6")}


def test_teachers_say_what_they_would_do_themselves() -> None:
    names = ("oklahoma-6", "auction-3")
    policies = {name: agents.load(f"zoo:{name}") for name in names}
    batch = Batch(list(GAMES.values()), 60, seed=3)
    (seen, _), legend = live_columns(list(GAMES.values()), batch.layout, False), batch.layout
    assert legend.slots == 6
    narrowed = teachers_by_game(names, list(policies.values()), GAMES, True, seen, legend)
    teachers = Teachers(narrowed, batch.rules, CPU)
    told = Counter[tuple[str, str]]()
    for _ in range(30):
        state, mask, to = canonical_states(batch.matches, np.arange(60), legend)
        bidding = batch.matches["public"]["phase"] <= TRUMP
        for part, rows in zip(PARTS, (np.flatnonzero(bidding), np.flatnonzero(~bidding)), strict=True):
            found = teachers.log_probs(part, torch.from_numpy(state[np.ix_(rows, seen)]), torch.from_numpy(mask[rows]), rows)
            for name, rules in GAMES.items():
                at = np.array([batch.rules[row] == rules for row in rows], np.bool_)
                if name not in policies:
                    assert found[at].isnan().all()
                    continue
                policy = policies[name]
                assert isinstance(policy, TwoPartPolicy)
                policy.reset(rules, 60, 1)
                own = policy.probabilities(batch.views()[rows[at]], batch.mask[rows[at]], batch.seat[rows[at]])
                assert found[at].exp().numpy() == pytest.approx(np.take_along_axis(own, original_actions(to[rows[at]]), 1), abs=1e-5)
                told[name, part] += int(at.sum())
        batch.play_random(1)
    assert all(told[name, part] > 50 for name in names for part in PARTS)


def test_what_is_taught_is_learned(tmp_path: Path) -> None:
    few = {
        "game": "auction-3", "iterations": 8, "deals_per_iteration": 256, "network": {"hidden": [64], "critic_hidden": [16]},
        "ppo": {"minibatches": 16, "lr": 3e-3}, "checkpoint_every": 8, "evaluation": {"every": 8, "deals": 8, "final_deals": 8},
    }  # fmt: skip
    alone, taught = begin(tmp_path / "alone", **few), begin(tmp_path / "taught", **few, teachers=["zoo:auction-3"])
    assert train(alone, Stop())
    assert train(taught, Stop())
    by_itself, with_teacher = (duplicate(run.player(), HeuristicPolicy(), run.rules, 1000, 5) for run in (alone, taught))
    assert with_teacher.margin - with_teacher.half_width > by_itself.margin + by_itself.half_width + 0.3


def test_games_come_as_they_weigh(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", games=["smear", "auction-3"], house_rules=3, games_weight=4)
    assert Counter(run.mixture) == {rules: 1 if name.startswith("house") else 4 for name, rules in run.games.items()}
    assert run.mixture[:4] == [run.games[name] for name in ("smear", "auction-3", "house-1", "smear")]  # evenly, not in blocks
    with pytest.raises(ConfigError, match=r"deals_per_iteration = 24: for games of weight 43; allowed: from 43"):
        begin(tmp_path / "other", games=["smear", "auction-3"], house_rules=3, games_weight=20)


def test_a_run_keeps_its_teachers(small_run: Path, tmp_path: Path) -> None:
    teacher = shutil.copytree(small_run, tmp_path / "teacher")
    changes = {"games": ["auction-4-partners", "oklahoma-6"], "house_rules": 2, "games_weight": 3, "teachers": [str(teacher)]}
    whole, first = begin(tmp_path / "whole", **changes), begin(tmp_path / "halves", **changes)
    shutil.rmtree(teacher)
    assert train(whole, Stop())
    assert not train(first, StopAt(first, 2))
    second = Run.resume(first.folder)
    assert train(second, Stop())
    assert weights(whole.folder) == weights(second.folder)
    assert figures(whole) == figures(second)
    shutil.rmtree(tmp_path / "halves" / "teachers")
    with pytest.raises(CheckpointError, match=r"spec.json.*missing or damaged"):
        Run.resume(first.folder)


def test_teachers_are_the_copies_from_the_first_deal_on(small_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = begin(tmp_path / "other", seed=2)  # what the teacher has become when it is copied
    load, loaded = agents.load, agents.load(str(other.folder))
    monkeypatch.setattr(agents, "load", lambda spec: loaded if spec == str(small_run) else load(spec))
    run = begin(tmp_path / "run", teachers=[str(small_run)])
    for part, actor in Run.resume(run.folder).teachers[run.rules].items():
        assert all(torch.equal(a, b) for a, b in zip(actor.parameters(), run.teachers[run.rules][part].parameters(), strict=True))


def test_exploiters_have_no_teachers(small_run: Path, tmp_path: Path) -> None:
    run = begin(tmp_path / "one", teachers=[str(small_run)], exploiters=1, iterations=1)
    several = begin(tmp_path / "several", games=["auction-4-partners", "smear"], house_rules=2, games_weight=3, teachers=[str(small_run)])
    for agent in (run, several):
        assert train(agent, StopAt(agent, 1)) is (agent is run)
        out = tmp_path / f"{agent.folder.name}-exploited"
        argv = ["best-response", str(agent.folder), "--out", str(out), "--iterations", "1", "--seeds", "1", "--deals", "2"]
        assert main(argv) == 0
        configs = [json.loads(path.read_text()) for path in out.glob("*-1/config.json")]
        assert configs
        assert all(not config["teachers"] and config["games_weight"] == 1 for config in configs)


def test_who_can_not_teach(small_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["train", "--run", str(tmp_path / "a"), "--game", "auction-4-partners", "--teachers"]
    refuse(capsys, [*argv, "heuristic"], "teachers = 'heuristic'", "not two networks for one game", "zoo agent")
    refuse(capsys, [*argv, "zoo:family"], "teachers = 'zoo:family'", "not two networks for one game")
    refuse(capsys, [*argv, "zoo:smear"], "teachers = 'zoo:smear'", "not learned here", "auction-4-partners")
    refuse(capsys, [*argv, "zoo:smeer"], "'zoo:smeer'", "teachers", "did you mean")
    refuse(capsys, [*argv, str(small_run), "zoo:auction-4-partners"], "'zoo:auction-4-partners'", "the second one")
    refuse(capsys, [*argv, str(small_run), "--network.no-canonical-suits"], "network.canonical_suits = True", "allowed: False")
    spread = begin(tmp_path / "spread", start_scores="spread", iterations=1)
    assert train(spread, Stop())
    refuse(capsys, [*argv, str(spread.folder)], str(spread.folder), "reads more than the run does", "start_scores = 'spread'")
    suits = begin(tmp_path / "suits", parts="bidding", partner=str(small_run), network={**SMALL["network"], "canonical_suits": False})
    refuse(capsys, [*argv, str(suits.folder)], str(suits.folder), "canonical_suits", "allowed: True")  # its other part is as it should be
    broken = begin(tmp_path / "broken", parts="play", partner=str(small_run))
    torch.nn.init.constant_(broken.learners["play"].network.layers[0].weight, torch.nan)
    broken.save()
    refuse(capsys, [*argv, str(broken.folder)], str(broken.folder), "weights that are no numbers")
    refuse(capsys, [*argv, str(small_run), "--algorithm", "dmc"], "teachers", "algorithm = 'dmc'", "allowed: with 'ppo'")
    assert not (tmp_path / "a").exists()

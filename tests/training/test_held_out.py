"""What is held out was not trained on; figures are those of duplicate play; and only an agent for any rules is taken."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents import zoo
from pitchenv import Rules, games, load_rules
from pitchenv.checks import InputError
from tests.training.conftest import small_config
from training.duplicate import duplicate
from training.held_out import Arguments, GameResult, games_trained_on, in_words, load_for_any_rules, main, report_of, run, said
from training.house_rules import random_games
from training.intervals import interval
from training.run import Run

CONFIG = {"games": ["smear", "auction-3", "oklahoma-6"], "house_rules": 3}


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of several games as it begins: networks for any rules that know nothing."""
    folder = tmp_path_factory.mktemp("runs") / "family"
    Run.begin(small_config(**CONFIG), folder)
    return folder


def test_the_command(family: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    # The seed of the training: without those that were trained on, its house rules would come first.
    main([str(family), "--number", "16", "--seed", "1", "--deals", "6", "--json", str(path)])
    report = json.loads(path.read_text())
    assert said(report) == capsys.readouterr().out.splitlines()
    trained = list(games_trained_on(str(family)).values())
    drawn = random_games(16, 1, without=trained)
    assert set(trained[3:]) <= set(random_games(16, 1, without=trained[:3]).values())
    played = {game["name"]: Rules.from_dict(game["rules"]) for game in report["games"]}
    assert played == {name: rules for name, rules in drawn.items() if rules.players <= 6}
    assert report["left_out"] == sum(rules.players > 6 for rules in drawn.values()) > 0
    assert not set(played.values()) & {*trained, *map(load_rules, games())}
    assert report["trained_on"] == 6
    # The figures are those of a match of the same seed.
    policy, heuristic = agents.load(family), agents.load("heuristic")
    for game in report["games"][:2] + report["games"][-1:]:
        match = duplicate(policy, heuristic, played[game["name"]], 6, game["seed"])
        assert (game["margin"], game["half_width"], game["plays"]) == (match.margin, match.half_width, match.plays)
    assert [game["seed"] for game in report["games"]] == [int(name.removeprefix("house-")) for name in played]
    margins = np.array([game["margin"] for game in report["games"]])
    assert (report["mean"], report["half_width"]) == interval(margins)
    assert report["ahead"] == sum(game["margin"] > game["half_width"] for game in report["games"])
    assert report["behind"] == sum(game["margin"] < -game["half_width"] for game in report["games"]) > 0


def test_a_zoo_agent_says_what_it_was_trained_on(family: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(zoo.FOLDERS, str(tmp_path))
    policy, slots = load_for_any_rules(str(family))
    assert slots == 6
    content = zoo.packed(policy)
    (tmp_path / "little.safetensors").write_bytes(content)
    card: dict[str, Any] = {"format": zoo.CARD_FORMAT, "name": "little", "sha256": hashlib.sha256(content).hexdigest()}
    path = tmp_path / "little.json"
    trained = games_trained_on(str(family))
    path.write_text(json.dumps({**card, "training": {"games": {name: rules.to_dict() for name, rules in trained.items()}}}))
    assert len(trained) == 6
    for spec in ("zoo:little", "sampled:zoo:little", f"zoo:little@{card['sha256'][:8]}", f"sampled:{family}"):
        assert load_for_any_rules(spec)[1] == 6
        assert games_trained_on(spec) == trained
    path.write_text(json.dumps({**card, "training": {"config": {}}}))
    with pytest.raises(InputError, match=r"agent 'zoo:little': does not say what it was trained on; allowed: one with training.games"):
        games_trained_on("zoo:little")


def test_a_run_says_what_its_newest_checkpoint_was_trained_on(family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what its configuration comes to by now, such as by files of house rules that have changed."""
    monkeypatch.setattr("training.config.random_games", lambda number, seed, without: {"house-1": load_rules("smear", widow=2)})
    assert len(small_config(**CONFIG).load_games()) == 4
    assert len(games_trained_on(str(family))) == 6


def test_a_checkpoint_without_its_run_is_refused(family: Path) -> None:
    alone = family / "checkpoints" / "00000000"
    with pytest.raises(InputError, match=r"agent '.*': does not say what it was trained on: .*; allowed: a folder made by") as refused:
        run(Arguments(str(alone)))
    assert "\n" not in str(refused.value)


def test_rules_in_words() -> None:
    assert in_words(load_rules("smear")) == "smear"
    assert in_words(load_rules("smear", widow=2, win="made_bid")) == "smear with widow = 2, win = made_bid"
    assert in_words(load_rules("auction-5", keep_trump=True)) == "auction-5 with keep_trump = true"
    for rules in random_games(30, 3).values():
        name, _, changes = in_words(rules).partition(" with ")
        fields = dict(change.split(" = ") for change in changes.split(", "))
        base, ours = load_rules(name).to_dict(), rules.to_dict()
        assert list(fields) == [field for field in ours if ours[field] != base[field]]
        assert len(fields) <= 6  # as drawn, or nearer to another game


def test_who_is_ahead(family: Path) -> None:
    """With an interval above 0, not a margin above it."""
    rules = load_rules("smear", widow=2)
    figures = [(0.3, 0.1), (0.1, 0.2), (-0.1, 0.2), (-0.5, 0.2), (0.4, 0.1)]
    found = [GameResult(f"house-{i}", rules, in_words(rules), 2, *figure, illegal=i) for i, figure in enumerate(figures)]
    report = report_of(Arguments("zoo:x", number=7), found, 2, 9, 1.0)
    assert (report["ahead"], report["behind"], report["left_out"]) == (2, 1, 2)
    assert report["mean"] == pytest.approx(0.04)
    lines = said(report)
    assert lines[1] == "house-0: +0.300 ± 0.100, smear with widow = 2"
    assert lines[2] == "house-1: +0.100 ± 0.200, smear with widow = 2; illegal proposals: 1"
    assert lines[-2:] == [
        "ahead with an interval above 0 in 2 of 5, behind with one below 0 in 1",
        "left out, for more players than it has seats for: 2 of 7",
    ]


@pytest.mark.parametrize("spec", ["heuristic", "random", "ismcts:iterations=3"])
def test_an_agent_that_is_not_trained_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match=rf"agent '{spec}': not for any rules; allowed: a run that was trained with several games"):
        run(Arguments(spec))


def test_a_run_of_one_game_is_refused(small_run: Path) -> None:
    with pytest.raises(InputError, match=r"not for any rules; allowed: ") as refused:
        run(Arguments(str(small_run)))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"number": 1}, r"number = 1: allowed: 2 … 1000"),
        ({"number": 1001}, r"number = 1001: allowed: 2 … 1000"),
        ({"deals": 1}, r"deals = 1: allowed: 2 … 10000000"),
        ({"json": Path("no-such-folder") / "a.json"}, r"json = .*: cannot be written; allowed: a file in a folder that exists"),
        ({"agent": "zoo:no-such"}, r"agent 'zoo:no-such': unknown"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        run(Arguments(**{"agent": "heuristic", **changes}))
    assert "\n" not in str(refused.value)


def test_fewer_than_two_that_it_has_seats_for(family: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seven = {f"house-{i}": load_rules("auction-7", widow=i) for i in range(1, 3)}
    monkeypatch.setattr("training.held_out.random_games", lambda number, seed, without: seven)
    with pytest.raises(InputError, match=r"number = 2: 0 of them for up to 6 players; allowed: enough for two of them"):
        run(Arguments(str(family), number=2))


def test_options_are_checked() -> None:
    with pytest.raises(InputError, match=r"option '--nomber': unknown; did you mean '--number'"):
        main(["heuristic", "--nomber", "4"])

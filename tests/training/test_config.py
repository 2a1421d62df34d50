"""Configurations: files, command line, and one line for whatever is wrong."""

from pathlib import Path

import pytest

from pitchenv import games, load_rules
from training.config import ConfigError, TrainConfig, from_dict, load_config

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.rglob("*.toml")), ids=lambda path: str(path.relative_to(CONFIGS).with_suffix("")))
def test_configs_that_ship_are_whole(path: Path) -> None:
    config = load_config(path)
    assert from_dict(config.to_dict()) == config
    if path.stem in games():
        assert not config.games
        assert config.load_rules() == load_rules(path.stem)


def test_there_is_one_for_every_game() -> None:
    assert {path.stem for path in CONFIGS.glob("*.toml")} >= {*games(), "quick"}
    assert {path.stem for path in CONFIGS.glob("zoo/*.toml")} == {*games(), "family"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"iteration": 3}, ["'iteration'", "'iterations'"]),
        ({"ppo": {"learning_rate": 1e-3}}, ["'ppo.learning_rate'", "ppo.lr"]),
        ({"ppo": {"lr": "fast"}}, ["ppo.lr", "'fast'"]),
        ({"ppo": {"epochs": 0}}, ["ppo.epochs", "0", "1 … 100"]),
        ({"ppo": 3}, ["ppo", "3", "table"]),
        ({"reward_scale": float("inf")}, ["reward_scale", "inf"]),
        ({"ppo": {"entropy": float("nan")}}, ["ppo.entropy", "nan"]),
        ({"parts": "all"}, ["parts", "'all'", "'bidding'"]),
        ({"seed": True}, ["seed", "True"]),
        ({"opponent": 3}, ["opponent", "3"]),
        ({"start_form": "runs/a"}, ["'start_form'", "'start_from'"]),
        ({"network": {"hidden": [0]}}, ["network.hidden", "0"]),
        ({"dmc": {"epsilon": 1.5}}, ["dmc.epsilon", "1.5"]),
        ({"algorithm": "dqn"}, ["algorithm", "'dqn'", "'ppo'", "'dmc'"]),
        ({"opponent": "heuristic", "opponent_share": 0.7, "past_share": 0.4}, ["past_share = 0.4", "opponent_share = 0.7", "up to 1"]),
        ({"house_rules": 3}, ["house_rules = 3", "with games"]),
        ({"games": "smear"}, ["games = 'smear'", "allowed: a list"]),
        ({"games_weight": 2}, ["games_weight = 2", "with house_rules"]),
        ({"games": ["smear", "setback"], "games_weight": 0}, ["games_weight", "0", "1 … 10000"]),
        ({"teachers": ["zoo:smear"], "algorithm": "dmc"}, ["teachers = ('zoo:smear',)", "'dmc'", "'ppo'"]),
        ({"games": ["smear", "setback"], "opponent": "random"}, ["opponent = 'random'", "several games"]),
        ({"games": ["smear", "setback"], "parts": "play"}, ["parts = 'play'", "'both'"]),
        ({"games": ["smear", "smear"]}, ["games = ('smear', 'smear')", "several"]),
        ({"ppo": {"exact_cards": 12}, "reward": "score"}, ["ppo.exact_cards = 12", "'score'", "'margin'"]),
        ({"exact_play_cards": 0}, ["exact_play_cards", "0", "1 … 30"]),
    ],
)
def test_bad_fields_are_one_line(fields: dict, words: list[str]) -> None:
    with pytest.raises(ConfigError) as fault:
        from_dict(fields)
    message = str(fault.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("iterations = ", ["not TOML"]),
        ("iterations = " + "[" * 5000, ["nested too deeply"]),
        ('game = "smeer"', ["'smeer'", "'smear'"]),
        ("[rules]\nwidow = 60", ["widow", "60"]),
        ("[rules]\nwidw = 2", ["'widw'", "'widow'"]),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=words[0]) as fault:
        load_config(path)
    assert "\n" not in str(fault.value)
    for word in words:
        assert word in str(fault.value)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")


def test_lr_in_scientific_notation_is_a_number(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[ppo]\nlr = 1e-4\n")
    assert load_config(path).ppo.lr == 1e-4
    assert load_config(path).ppo.epochs == TrainConfig().ppo.epochs

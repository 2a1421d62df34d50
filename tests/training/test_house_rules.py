"""Random house rules: they make sense, differ, and are the same for the same seed."""

from typing import Any

import pytest

from pitchenv import Rules, games, load_rules
from training.house_rules import as_played, random_games


def test_they_are_games_of_their_own() -> None:
    found = random_games(60, 5)
    table = [load_rules(name) for name in games()]
    assert len(found) == len(set(found.values())) == 60
    for rules in found.values():
        assert rules not in table
        assert Rules.from_dict(rules.to_dict()) == rules


def test_the_same_for_the_same_seed() -> None:
    assert random_games(20, 1) == random_games(20, 1)
    assert list(random_games(30, 1).values())[:20] == list(random_games(20, 1).values())
    assert not set(random_games(20, 1).values()) & set(random_games(20, 2).values())


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("auction-7", {"discards_count": True, "joker_pips": 1}),  # nobody discards, and there is no joker
        ("smear", {"target": 52, "win": "any"}),
        ("auction-3", {"thrown_in": "next_dealer"}),
        ("auction-2", {"first_lead": "trump"}),  # the first card led makes trump
        ("smear", {"joker_pips": 0}),  # without a joker
        ("auction-5", {"keep_trump": True}),
    ],
)
def test_fields_that_mean_nothing_in_a_deal(game: str, changes: dict[str, Any]) -> None:
    assert as_played(load_rules(game, **changes)) == as_played(load_rules(game))


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("oklahoma-4", {"joker_pips": 1}),
        ("oklahoma-4", {"discards_count": True}),
        ("oklahoma-4", {"first_lead": "trump"}),
        ("oklahoma-4", {"keep_trump": True}),
        ("smear", {"keep_trump": False}),
        ("smear", {"high_low": "in_play"}),
        ("auction-4", {"low_to": "holder"}),
        ("auction-4", {"game": "trump_ten"}),
        ("auction-4", {"dealer_steals": "any"}),
        ("auction-4-partners", {"min_bid": 2}),
        ("auction-6", {"follow": "suit_or_trump"}),
    ],
)
def test_fields_that_mean_something_in_a_deal(game: str, changes: dict[str, Any]) -> None:
    assert as_played(load_rules(game, **changes)) != as_played(load_rules(game))


def test_no_two_are_the_same_in_a_deal() -> None:
    assert len({as_played(rules) for rules in random_games(100, 1).values()}) == 100


def test_those_that_were_trained_on_are_left_out() -> None:
    trained = [*random_games(20, 1).values(), *map(load_rules, games())]
    held_out = random_games(20, 1, without=trained)
    assert len(held_out) == 20
    assert not {as_played(rules) for rules in trained} & {as_played(rules) for rules in held_out.values()}

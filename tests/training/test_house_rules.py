"""Random house rules: they make sense, differ, and are the same for the same seed."""

import dataclasses

from pitchenv import Rules, games, load_rules
from training.house_rules import random_games


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


def in_a_deal(rules: Rules) -> Rules:
    """The rules with one end of a match for all."""
    return dataclasses.replace(rules, target=21, win="any", overshoot="counts")


def test_no_two_are_the_same_in_a_deal() -> None:
    found = [in_a_deal(rules) for rules in random_games(200, 1).values()]
    assert len(set(found)) == 200


def test_those_that_were_trained_on_are_left_out() -> None:
    trained = [*random_games(20, 1).values(), *map(load_rules, games())]
    held_out = random_games(20, 1, without=trained)
    assert len(held_out) == 20
    assert not {in_a_deal(rules) for rules in trained} & {in_a_deal(rules) for rules in held_out.values()}

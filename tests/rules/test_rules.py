"""`Rules` and `load_rules`: any field of any game may be changed, and what is senseless is refused in one line."""

import copy
import dataclasses
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import pitchenv
from tests.random_rules import CHOICES, FIELDS, FLAGS, NUMBERS, refusals
from tests.rules.table import PLAIN, house

SMEAR = pitchenv.load_rules("smear")


def refusal(**changes) -> str:
    """The message, which must be a single line."""
    with pytest.raises(pitchenv.RulesError) as refused:
        house(**changes)
    message = str(refused.value)
    assert message.strip()
    assert "\n" not in message.strip()
    return message


# A value


def test_a_refusal_and_an_illegal_action_are_value_errors():
    assert issubclass(pitchenv.RulesError, ValueError)
    assert issubclass(pitchenv.IllegalAction, ValueError)


def test_rules_are_frozen():
    with pytest.raises((AttributeError, TypeError, ValueError)):
        SMEAR.widow = 2
    assert SMEAR.widow == 3


def test_rules_are_compared_and_hashed_by_value():
    same, other = pitchenv.load_rules("smear"), pitchenv.load_rules("smear", widow=2)
    assert same == SMEAR
    assert hash(SMEAR) == hash(same)
    assert other != SMEAR
    assert len({SMEAR, same, other}) == 2


@pytest.mark.parametrize("game", sorted(pitchenv.games()))
def test_to_dict_and_back(game):
    rules = pitchenv.load_rules(game)
    as_dict = rules.to_dict()
    assert set(as_dict) == set(FIELDS)
    assert pitchenv.Rules.from_dict(as_dict) == rules
    assert pitchenv.Rules.from_dict(json.loads(json.dumps(as_dict))) == rules
    assert pitchenv.Rules(**as_dict) == rules


def test_changing_the_dict_leaves_the_rules():
    as_dict = SMEAR.to_dict()
    as_dict["widow"] = 0
    assert SMEAR.widow == 3


# Every field may be changed for every game

# Values that fit every game of the table, two of each so that one of them is a change.
OTHER_VALUES = {
    "players": [2, 3],
    "sides": [2, 3],
    "lowest_rank": [2, 3],
    "jokers": [0, 1],
    "off_jack": [True, False],
    "hand_size": [6, 5],
    "widow": [0, 1],
    "redraw": [0, 1],
    "tricks": [6, 5],
    "joker_pips": [2, 3],
    "min_bid": [1, 2],
    "target": [5, 31],
    "dealer_must_bid": [(2,), (2, 3)],
    **{name: list(allowed) for name, allowed in CHOICES.items()},
    **{name: [True, False] for name in ("keep_trump", "discards_count", "trump_three")},
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("game", sorted(pitchenv.games()))
def test_every_field_may_be_changed_for_every_game(game, field):
    base = pitchenv.load_rules(game).to_dict()
    changes = [value for value in OTHER_VALUES[field] if value != getattr(pitchenv.load_rules(game), field)]
    assert changes
    for value in changes:
        changed = base | {field: value}
        # What depends on the field goes along where the change alone makes no sense.
        if field == "players":
            changed["sides"] = value
        if field == "sides":
            changed["players"] = 6
            changed |= {"hand_size": 6, "tricks": 6, "widow": 0, "redraw": 0, "lowest_rank": 2}
        if field in ("hand_size", "tricks"):
            changed |= {"hand_size": value, "tricks": value, "redraw": 0}
        if field in ("jokers", "off_jack", "redraw", "trump"):
            changed |= {"keep_trump": False} | ({"hand_size": 6, "redraw": 0} if field == "trump" else {})
            changed |= {"trump": "declared"} if field == "redraw" else {}
        if field in ("lowest_rank", "jokers", "keep_trump"):
            changed["widow"] = 0
        if field == "keep_trump":
            changed |= {"jokers": 0, "off_jack": False}
        if field == "auction":
            changed["dealer_steals"] = "never"
        if field == "dealer_steals":
            changed["auction"] = "once"
        if field == "min_bid":
            changed["dealer_must_bid"] = ()
        rules = pitchenv.load_rules(game, **{name: changed[name] for name in changed if changed[name] != base[name]})
        assert getattr(rules, field) == value


@pytest.mark.parametrize("value", [(2, 3), [2, 3]])
def test_dealer_must_bid_may_be_a_list(value):
    assert pitchenv.load_rules("setback", dealer_must_bid=value).dealer_must_bid == (2, 3)


# Refusals

SENSELESS = [
    pytest.param({"players": 4, "sides": 3}, "sides", "3", id="sides do not divide players"),
    pytest.param({"players": 5, "sides": 2}, "sides", "2", id="two sides of five"),
    pytest.param({"players": 4, "sides": 8}, "sides", "8", id="more sides than players"),
    pytest.param({"hand_size": 14}, "hand_size", "14", id="56 cards of 52"),
    pytest.param({"hand_size": 6, "widow": 29}, "widow", "29", id="53 cards of 52"),
    pytest.param({"hand_size": 9, "lowest_rank": 7}, "hand_size", "9", id="36 cards of 32"),
    pytest.param({"hand_size": 5, "tricks": 6}, "hand_size", "5", id="hands under tricks"),
    pytest.param({"dealer_must_bid": (1, 2), "min_bid": 2}, "dealer_must_bid", "1", id="forced under min_bid"),
    pytest.param({"dealer_must_bid": (4, 5)}, "dealer_must_bid", "5", id="forced over the maximum"),
    pytest.param({"min_bid": 5}, "min_bid", "5", id="min_bid over the maximum"),
    pytest.param({"min_bid": 8, "trump_three": True}, "min_bid", "8", id="min_bid over seven"),
    pytest.param({"auction": "rounds", "dealer_steals": "any"}, "dealer_steals", "any", id="stealing in rounds"),
    pytest.param({"auction": "rounds", "dealer_steals": "max_only"}, "dealer_steals", "max_only", id="max_only too"),
    pytest.param({"auction": "rounds", "dealer_steals": "below_max"}, "dealer_steals", "below_max", id="and below_max"),
    pytest.param({"trump": "pitched", "redraw": 1}, "redraw", "1", id="pitched with a redraw"),
    pytest.param({"trump": "pitched", "hand_size": 7}, "hand_size", "7", id="pitched with other hands than tricks"),
    pytest.param(
        {"trump": "pitched", "jokers": 2, "hand_size": 2, "tricks": 2},
        "tricks",
        "2",
        id="pitched, maybe only jokers",
    ),
    pytest.param({"trump": "pitched", "keep_trump": True, "jokers": 1}, "keep_trump", "True", id="pitched, jokers"),
    pytest.param({"trump": "pitched", "keep_trump": True, "off_jack": True}, "keep_trump", "True", id="and off-jack"),
    pytest.param({"redraw": 8, "hand_size": 6}, "redraw", "8", id="32 cards of a stock of 28"),
    pytest.param({"redraw": 1, "hand_size": 6, "widow": 25}, "redraw", "1", id="4 cards of 28 less a widow of 25"),
]


@pytest.mark.parametrize(("changes", "field", "value"), SENSELESS)
def test_senseless_combinations_are_refused(changes, field, value):
    assert refusals(PLAIN | changes)
    message = refusal(**changes)
    assert field in message
    assert value.lower() in message.lower()


# One step from each refusal, and some of the odd things that are allowed.
SENSIBLE = [
    {"players": 6, "sides": 3},
    {"players": 8, "sides": 4},
    {"hand_size": 13},
    {"hand_size": 6, "widow": 28},
    {"hand_size": 8, "lowest_rank": 7},
    {"hand_size": 6, "tricks": 6},
    {"dealer_must_bid": (2, 3), "min_bid": 2},
    {"dealer_must_bid": (1, 4)},
    {"min_bid": 4},
    {"min_bid": 10, "trump_three": True, "jokers": 2, "off_jack": True},
    {"auction": "once", "dealer_steals": "any"},
    {"trump": "pitched", "redraw": 0},
    {"trump": "pitched", "jokers": 2, "hand_size": 3, "tricks": 3},
    {"trump": "pitched", "keep_trump": True, "widow": 28},
    {"trump": "pitched", "jokers": 2, "off_jack": True},
    {"trump": "pitched", "first_lead": "trump"},
    {"keep_trump": True, "jokers": 2, "off_jack": True, "redraw": 3},
    {"redraw": 7, "hand_size": 6},
    {"redraw": 1, "hand_size": 6, "widow": 24},
    {"redraw": 7, "hand_size": 13, "tricks": 6},
    {"redraw": 5, "hand_size": 2, "tricks": 2},
    {"off_jack": True, "lowest_rank": 13, "hand_size": 2, "tricks": 2},
    {"trump_three": True, "lowest_rank": 7},
    {"game": "trump_ten", "lowest_rank": 11, "hand_size": 4, "tricks": 4},
    {"joker_pips": 10, "jokers": 0},
    {"discards_count": True, "game": "trump_ten"},
    {"thrown_in": "next_dealer", "dealer_must_bid": (2,)},
    {"win": "highest", "overshoot": "capped"},
    {"players": 2, "sides": 2, "hand_size": 27, "jokers": 2, "tricks": 13},
    {"players": 2, "sides": 2, "hand_size": 1, "tricks": 1, "jokers": 2, "widow": 52},
    {"players": 2, "sides": 2, "hand_size": 27, "jokers": 2, "tricks": 1, "redraw": 26},
    {"players": 8, "sides": 8, "lowest_rank": 13, "hand_size": 1, "tricks": 1},
]


@pytest.mark.parametrize("changes", SENSIBLE)
def test_nothing_else_is_refused(changes):
    assert not refusals(PLAIN | changes)
    rules = house(**changes)
    assert {name: getattr(rules, name) for name in changes} == changes


@pytest.mark.parametrize("field", NUMBERS)
@pytest.mark.parametrize("beyond", [-1, 1, -1000, 10**6])
def test_numbers_out_of_range_are_refused(field, beyond):
    low, high = NUMBERS[field]
    value = (low if beyond < 0 else high) + beyond
    message = refusal(**{field: value})
    assert field in message
    assert str(value) in message
    assert str(low if beyond < 0 else high) in message.replace(str(value), "")


@pytest.mark.parametrize("field", CHOICES)
@pytest.mark.parametrize("value", ["sometimes", "", 3, None])
def test_unknown_choices_are_refused_and_the_known_ones_named(field, value):
    message = refusal(**{field: value})
    assert field in message
    assert str(value) in message
    assert all(allowed in message for allowed in CHOICES[field])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("players", "four"),
        ("players", 4.5),
        ("players", None),
        ("hand_size", [6]),
        ("jokers", "HJ"),
        ("target", 7.25),
        ("dealer_must_bid", "two"),
        ("dealer_must_bid", ("two",)),
        ("dealer_must_bid", (2.5,)),
        ("dealer_must_bid", None),
        *[(flag, value) for flag in FLAGS for value in ("perhaps", 7, None)],
    ],
)
def test_values_of_another_type_are_refused(field, value):
    message = refusal(**{field: value})
    assert field in message
    shown = value[0] if isinstance(value, tuple | list) else value
    assert str(shown) in message


@pytest.mark.parametrize("make", [pitchenv.Rules, lambda **f: pitchenv.Rules.from_dict(f)])
def test_an_unknown_field_is_refused(make):
    with pytest.raises((ValueError, TypeError)) as refused:
        make(**PLAIN, widoww=3)
    assert "widoww" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: pitchenv.Rules.from_dict(None), "rules = None: allowed: a dict"),
        (lambda: pitchenv.Rules.from_dict([1]), "rules = [1]: allowed: a dict"),
        (lambda: pitchenv.Rules(4), "Rules(4): a value without a name; allowed: fields by name"),
        (lambda: pitchenv.Rules(players="4"), "players = '4': allowed: a whole number, 2 … 8"),
        (lambda: pitchenv.Rules(players=True), "players = True: allowed: a whole number, 2 … 8"),
        (lambda: pitchenv.Rules(players=9), "players = 9: allowed: 2 … 8"),
        (lambda: pitchenv.Rules(dealer_must_bid=(2, 11)), "dealer_must_bid = (2, 11): allowed: 1 … 10"),
        (lambda: pitchenv.Rules(dealer_must_bid=(2.5,)), "dealer_must_bid = (2.5,): allowed: a whole number, 1 … 10"),
        (lambda: pitchenv.Rules(dealer_must_bid="two"), "dealer_must_bid = 'two': allowed: a list of whole numbers, 1 … 10"),
        (lambda: pitchenv.Rules(widow=29), "widow = 29: 4 hands of 6 leave fewer of the 52 cards of the pack; allowed: 0 … 28"),
        (
            lambda: pitchenv.Rules(hand_size=14, widow=1),
            "hand_size = 14: 4 hands need more than the 52 cards of the pack; allowed: at most 13",
        ),
        (lambda: pitchenv.load_rules(4), "game 4: unknown; allowed: "),
        (lambda: pitchenv.load_rules(["smear"]), "game ['smear']: unknown; allowed: "),
        (lambda: pitchenv.load_rules("a\0b.toml"), "rules file 'a\\x00b.toml': allowed: the path of a file"),
        (lambda: pitchenv.load_rules("smear", trump=numpy.arange(1000)), "trump = array("),
    ],
)
def test_what_is_refused_is_named_with_what_is_allowed(make, line):
    with pytest.raises(pitchenv.RulesError) as refused:
        make()
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


HASHES = """
import pickle, sys, pitchenv
rules = pickle.loads(sys.stdin.buffer.read()) if sys.argv[1] == "load" else pitchenv.load_rules("smear", target=9)
if sys.argv[1] == "load":
    assert {rules: 1}[pitchenv.load_rules("smear", target=9)]
    assert not rules.packed.flags.writeable
else:
    assert {rules: rules.packed}
    sys.stdout.buffer.write(pickle.dumps(rules))
"""


def test_a_pickle_finds_its_equals_in_another_process():
    """Hashes of texts differ from process to process."""
    data = b""
    for seed, what in (("1", "dump"), ("2", "load")):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        data = subprocess.run([sys.executable, "-c", HASHES, what], input=data, capture_output=True, check=True, env=env).stdout
    for twin in (copy.copy(SMEAR), copy.deepcopy(SMEAR), pickle.loads(pickle.dumps(SMEAR))):
        assert twin == SMEAR
        assert hash(twin) == hash(SMEAR)
        assert not twin.packed.flags.writeable


# load_rules


def test_load_rules_takes_changes():
    rules = pitchenv.load_rules("smear", widow=2, target=21)
    assert rules == pitchenv.Rules(**(SMEAR.to_dict() | {"widow": 2, "target": 21}))


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("smeer", {}, ["smeer", "smear"]),
        ("auction-8", {}, ["auction-8"]),
        ("smear", {"widoww": 2}, ["widoww"]),
        ("smear", {"widow": 99}, ["widow", "99"]),
        ("smear", {"sides": 3}, ["sides", "3"]),
    ],
)
def test_load_rules_refuses_in_one_line(name, changes, words):
    with pytest.raises(pitchenv.RulesError) as refused:
        pitchenv.load_rules(name, **changes)
    message = str(refused.value)
    assert "\n" not in message
    assert all(word in message for word in words)


def toml_text(fields: dict) -> str:
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())


def test_house_rules_from_a_file_change_a_game(tmp_path):
    path = tmp_path / "my-house.toml"
    path.write_text('base = "smear"\nwidow = 2\nwin = "made_bid"\ndealer_must_bid = [2, 3]\nkeep_trump = false\n')
    changed = {"widow": 2, "win": "made_bid", "dealer_must_bid": (2, 3), "keep_trump": False}
    assert pitchenv.load_rules(str(path)) == pitchenv.load_rules("smear", **changed)


def test_house_rules_from_a_file_may_give_every_field(tmp_path):
    path = tmp_path / "whole.toml"
    path.write_text(toml_text(pitchenv.load_rules("oklahoma-6", game="trump_ten").to_dict()))
    assert pitchenv.load_rules(str(path)) == pitchenv.load_rules("oklahoma-6", game="trump_ten")


def test_changes_come_on_top_of_the_file(tmp_path):
    path = tmp_path / "my-house.toml"
    path.write_text('base = "smear"\nwidow = 2\n')
    assert pitchenv.load_rules(str(path), widow=1, target=11) == pitchenv.load_rules("smear", widow=1, target=11)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('base = "smeer"\n', ["smeer"], id="unknown game"),
        pytest.param('base = "smear"\nwidoww = 2\n', ["widoww"], id="unknown field"),
        pytest.param('base = "smear"\nwidow = 53\n', ["widow", "53"], id="out of range"),
        pytest.param('base = "smear"\nwidow = "two"\n', ["widow", "two"], id="ill-typed"),
        pytest.param('base = "smear"\nsides = 3\n', ["sides", "3"], id="senseless"),
        pytest.param('base = "smear"\nwidow = \n', ["my-house.toml"], id="no TOML"),
    ],
)
def test_a_file_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "my-house.toml"
    path.write_text(text)
    with pytest.raises(pitchenv.RulesError) as refused:
        pitchenv.load_rules(str(path))
    message = str(refused.value)
    assert "\n" not in message
    assert all(word in message for word in words)


def test_a_missing_file_is_named():
    with pytest.raises((ValueError, OSError)) as refused:
        pitchenv.load_rules("nowhere/my-house.toml")
    assert "my-house.toml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rules_have_exactly_the_fields_of_the_rulebook():
    assert {field.name for field in dataclasses.fields(pitchenv.Rules)} == set(FIELDS)

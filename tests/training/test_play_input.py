"""What a person may type for an action, and what is said to what they may not."""

import random

import pytest
from rich.console import Console

import pitchenv
from pitchenv.actions import action_name, action_number
from pitchenv.checks import InputError
from tests.conformance import ALL_RULES, random_deal
from tests.training.play_person import Person
from training.play import Arguments, run
from training.play_input import menu_of, understand
from training.play_screen import Screen


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("AS", "AS"), ("as", "AS"), (" a s ", "AS"), ("A♠", "AS"), ("1", "AS"), ("a", "AS"), ("10d", "TD"), ("t♦", "TD"), ("t", "TD"),
        ("h", "HJ"), ("high joker", "HJ"), ("diam", "TD"), ("♣", "4C"), ("4c", "4C"), ("done", "done"), ("do", "done"), ("0", "done"),
    ],
)  # fmt: skip
def test_what_a_card_may_be_called(typed, meant):
    legal = [action_number(name) for name in ("AS", "KS", "TD", "4C", "HJ", "done")]
    assert understand(typed, menu_of(legal, legal[:-1]), 0) == action_number(meant)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("bid 3", "bid 3"), ("b3", "bid 3"), ("3", "bid 3"), ("BID3", "bid 3"), ("pass", "pass"), ("p", "pass"), ("0", "pass")],
)
def test_what_a_call_may_be_called(typed, meant):
    legal = [action_number(name) for name in ("pass", "bid 3", "bid 4")]
    assert understand(typed, menu_of(legal, []), 0) == action_number(meant)


@pytest.mark.parametrize("typed", ["trump H", "h", "hearts", "he", "♥", "3", "TRUMP h"])
def test_what_a_trump_suit_may_be_called(typed):
    legal = [action_number(f"trump {suit}") for suit in "CDHS"]
    assert action_name(understand(typed, menu_of(legal, []), 0)) == "trump H"


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("s", "'s': may mean AS or KS; type one of them"),
        ("9", "'9': no number that can be chosen now; a card needs its suit too, such as 9C; allowed: AS, KS, TD, 4C"),
        ("2c", "2C is not in your hand; allowed: AS, KS, TD, 4C"),
        ("9h", "9H is against the rules now; allowed: AS, KS, TD, 4C"),
        ("bid 3", "bid 3 is against the rules now; allowed: AS, KS, TD, 4C"),
        ("d'oh", "not understood; allowed: AS, KS, TD, 4C (or help)"),
        ("x" * 10_000, "not understood"),
        ("٣", "no number that can be chosen now"),
    ],
)
def test_what_cannot_be_understood_is_explained_in_one_line(typed, says):
    legal = [action_number(name) for name in ("AS", "KS", "TD", "4C")]
    hand = sum(1 << card for card in [*legal, action_number("9H")])
    with pytest.raises(InputError) as refusal:
        understand(typed, menu_of(legal, legal), hand)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("name", ALL_RULES)
def test_every_legal_action_can_be_typed_by_name_and_by_number(name):
    rng = random.Random(2)
    for game in random_deal(pitchenv.Game(ALL_RULES[name], seed=1), rng):
        legal = game.legal_actions()
        view = game.view(game.seat)
        menu = menu_of(legal, Screen(Console(), game.rules, game.seat).hand(view))
        assert sorted(menu.values()) == legal
        for number, action in menu.items():
            assert understand(number, menu, int(view["hand"])) == understand(action_name(action).lower(), menu, int(view["hand"])) == action


def test_wrong_input_is_explained_and_asked_again(monkeypatch):
    person = Person(monkeypatch, "bid 9", "nonsense", "\udcff", " ", "help", "pass", then="")
    run(Arguments(seed=5, deals=1))
    assert "bid 9 is against the rules now; allowed: pass, bid 3, bid 4" in person.said[1]
    assert "'nonsense': not understood; allowed: pass, bid 3, bid 4 (or help)" in person.said[2]
    assert "not understood" in person.said[3]
    assert "Hand      7S  4S  3S  |  AH  8H  |  AD\nYou may   pass, bid 3, bid 4\n" in person.said[4]  # the table again
    assert "quit         leave the table" in person.said[5]
    assert "Auction   pass      bid 2     bid 2     pass" in person.said[6]
    assert person.text.endswith("You leave the table.\n")

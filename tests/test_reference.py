"""The reference itself, without the engine: what any game of the family keeps to, whatever its rules."""

import random
from collections import Counter
from types import SimpleNamespace

import pytest

from tests.random_rules import CHOICES, FIELDS, FLAGS, NUMBERS, random_rules, refusals, spoil
from tests.reference import (
    ACTIONS,
    CARDS,
    NUMBER,
    PIPS,
    SUITS,
    ReferenceMatch,
    maximum_bid,
    pack,
    trump_order,
)


def dealt(rules: SimpleNamespace, rng: random.Random) -> tuple[list[list[str]], list[str]]:
    cards = pack(rules)
    rng.shuffle(cards)
    size = rules.hand_size
    hands = [cards[seat * size : (seat + 1) * size] for seat in range(rules.players)]
    return hands, cards[rules.players * size :]


def test_the_action_table():
    assert len(ACTIONS) == len(NUMBER) == 70
    assert [NUMBER[text] for text in ("2C", "AS", "HJ", "LJ", "pass", "bid 1", "bid 10", "trump C", "done")] == [
        *[0, 51, 52, 53, 54, 55, 64, 65, 69]
    ]


def test_the_pack_holds_eighty_pips():
    assert sum(PIPS.get(card[0], 0) for card in CARDS if card not in ("HJ", "LJ")) == 80


@pytest.mark.parametrize("suit", SUITS)
def test_trump_order_has_sixteen_cards_with_the_off_jack_and_fifteen_without(suit):
    assert (len(trump_order(suit, True)), len(trump_order(suit, False))) == (16, 15)
    assert trump_order(suit, True)[:4] == [rank + suit for rank in "AKQJ"]


@pytest.mark.parametrize("seed", range(4))
def test_random_matches_keep_to_what_every_game_keeps_to(seed):
    rng = random.Random(seed)
    endings: Counter[str] = Counter()
    for _ in range(150):
        rules = SimpleNamespace(**random_rules(rng))
        match = ReferenceMatch(rules, *dealt(rules, rng), dealer=rng.randrange(rules.players))
        for deals in range(1, 6):
            before = list(match.scores)
            play_deal(match, rng)
            assert match.deals_played == deals
            away = [card for cards in (*match.discards, *match.hands) for card in cards]
            assert sorted([*away, *match.stock, *match.winner_of]) == sorted(pack(rules))
            if match.points is None:
                endings["thrown in"] += 1
                assert match.scores == before
                assert not rules.dealer_must_bid
                assert not match.over
            else:
                check_points(match, before)
                endings["made" if match.points[match.pitcher % rules.sides] >= match.bid else "set"] += 1
            if match.over:
                endings["won"] += 1
                break
            match.next_deal(*dealt(rules, rng))
    assert min(endings[ending] for ending in ("thrown in", "made", "set", "won")) >= 10


def play_deal(match: ReferenceMatch, rng: random.Random) -> None:
    passes = rng.random()
    for _ in range(2000):
        if match.phase == "ended":
            return
        legal = match.legal_actions()
        assert legal
        assert len(set(legal)) == len(legal)
        match.apply("pass" if "pass" in legal and rng.random() < passes else rng.choice(legal))
    raise AssertionError("the deal does not end")


def check_points(match: ReferenceMatch, before: list[int]) -> None:
    rules = match.rules
    assert 0 <= sum(match.points) <= maximum_bid(rules)
    assert len(match.winner_of) == rules.players * rules.tricks
    for side in range(rules.sides):
        change = match.scores[side] - before[side]
        if side == match.pitcher % rules.sides:
            assert change in (match.points[side], -match.bid)
        else:
            assert 0 <= change <= match.points[side]


def test_every_value_of_every_field_comes_up():
    rng = random.Random(1)
    seen: dict[str, set] = {name: set() for name in FIELDS}
    for _ in range(6000):
        fields = random_rules(rng)
        assert refusals(fields) == []
        for name, value in fields.items():
            seen[name].add(value)
    for name, allowed in CHOICES.items():
        assert seen[name] == set(allowed)
    for name in FLAGS:
        assert seen[name] == {False, True}
    for name, (low, high) in NUMBERS.items():
        if name in ("widow", "target", "redraw"):
            # No pack covers a redraw of 27, and large targets are drawn thinly.
            assert low in seen[name]
            assert len(seen[name]) > 20
        else:
            assert seen[name] == set(range(low, high + 1))


def test_every_refusal_comes_up():
    rng = random.Random(2)
    seen = {at_fault for _ in range(6000) for at_fault in refusals(spoil(random_rules(rng), rng))}
    alone = {(name,) for name in (*NUMBERS, *CHOICES, "dealer_must_bid")}
    together = {
        ("hand_size", "widow", "players"),
        ("hand_size", "tricks"),
        ("dealer_steals", "auction"),
        ("redraw", "trump"),
        ("hand_size", "tricks", "trump"),
        ("tricks", "jokers", "trump"),
        ("keep_trump", "jokers", "off_jack", "trump"),
    }
    assert seen == alone | together

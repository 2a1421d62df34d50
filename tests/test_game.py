"""`Game`: one match for people, scripts and tests. (What the rules say is in `tests/rules`.)"""

import copy
import pickle
import random
import re

import numpy as np
import pytest

import pitchenv
from pitchenv import Game, IllegalAction
from pitchenv.actions import ACTION_NAMES, action_name, action_number
from pitchenv.cards import CARD_NAMES, card, pack
from pitchenv.checks import InputError
from tests.conformance import ALL_RULES, random_deal

HANDS = [["AS", "KS", "2H", "3H", "4H", "JD"], ["QS", "JS", "TH", "9H", "8H", "7D"]]


PLAYED = "AS JS KS QS 2H TH 9H 3H 8H 4H 7D JD"  # after a bid of 1 by seat 0


def small(**changes) -> Game:
    """A deal of auction-2 with given hands; seat 0 is to call first."""
    return Game.from_deal(pitchenv.load_rules("auction-2", **changes), HANDS, dealer=1)


def names(numbers):
    return [CARD_NAMES[c] for c in numbers]


@pytest.mark.parametrize("name", ALL_RULES)
def test_a_match_from_beginning_to_end(name):
    rules, rng = ALL_RULES[name], random.Random(name)
    game = Game(rules, seed=3)
    in_pack = pack(rules.lowest_rank, rules.jokers)
    assert game.rules == rules
    assert game.scores == [0] * rules.sides
    assert game.points is None
    assert game.winner is None
    for deal in range(4):
        assert game.phase == "auction"
        assert game.deals_played == deal
        assert not game.actions
        assert game.seat == (game.dealer + 1) % rules.players
        assert sorted([c for hand in game.hands for c in hand] + game.stock) == in_pack
        assert all(len(hand) == rules.hand_size for hand in game.hands)
        assert (game.pitcher, game.bid, game.trump, game.trick) == (None, None, None, [None] * rules.players)
        before, dealer, taken = game.scores, game.dealer, []
        for _ in random_deal(game, rng):
            assert game.legal_actions() == sorted(set(game.legal_actions())) != []
            assert not game.over
            assert 0 <= game.seat < rules.players
            assert all(type(a) is int for a in game.legal_actions())
            taken.append(game.seat)
        assert (game.phase, game.seat, game.legal_actions()) == ("ended", None, [])
        assert [seat for seat, _ in game.actions] == taken
        assert game.deals_played == deal + 1
        assert len(game.deals) == deal + 1
        thrown_in = game.pitcher is None
        assert (game.points is None) == thrown_in
        assert game.scores == before or not thrown_in
        if game.over:
            assert 0 <= game.winner < rules.sides
            with pytest.raises(ValueError, match=f"next_deal: the match is over, side {game.winner} has won"):
                game.next_deal()
            return
        game.next_deal()
        stays = thrown_in and rules.thrown_in == "same_dealer"
        assert game.dealer == (dealer if stays else (dealer + 1) % rules.players)


def test_the_same_seed_is_the_same_match_and_others_are_others():
    def played(seed):
        game, rng, seen = Game("oklahoma-6", seed=seed), random.Random(1), []
        for _ in range(2):
            seen += [game.hands, game.stock, game.dealer]
            for _ in random_deal(game, rng):
                pass
            game.next_deal()
        return seen

    assert played(5) == played(5)
    assert played(5) != played(6)
    assert Game("smear", seed=-1).hands == Game("smear", seed=2**64 - 1).hands


def test_a_seed_means_these_cards_on_every_machine():
    """Written down when the engine was new: results that are published with a seed stay what they were."""
    game = Game("auction-4-partners", seed=1)
    assert game.dealer == 1
    assert [" ".join(names(hand)) for hand in game.hands] == [
        "7C 8C 2D 4D 8H AS",
        "7D AD 2H 4H 9S TS",
        "2C KC 3D 5D QD 3H",
        "5C TD 5H 3S QS KS",
    ]
    assert " ".join(names(game.stock[:6])) == "JH AC 9D QH TH 7H"


def test_what_is_played_does_not_change_what_is_dealt_next():
    hands = set()
    for seed in range(4):
        game, rng = Game("auction-3", seed=8), random.Random(seed)
        for _ in random_deal(game, rng):
            pass
        if not game.over and game.pitcher is not None:
            game.next_deal()
            hands.add(str(game.hands))
    assert len(hands) == 1


def test_actions_as_numbers_and_text():
    for number, text in enumerate(ACTION_NAMES):
        assert action_number(number) == action_number(text) == action_number(np.int32(number)) == number
        assert action_name(number) == text
    by_text, by_number = small(), small()
    for text in ("bid 3", "pass", "AS", "JS", "2H", "TH"):
        by_text.apply(text)
        by_number.apply(np.int64(action_number(text)))
    assert by_text._match.tobytes() == by_number._match.tobytes()
    assert by_text.seat == 1
    assert by_text.trump == 3
    assert by_text.pitcher == 0
    assert by_text.bid == 3


@pytest.mark.parametrize(
    ("action", "line"),
    [
        ("QS", "action 'QS': not legal for seat 1 in the play phase; allowed: JS"),
        ("AS", "action 'AS': not legal for seat 1 in the play phase; allowed: JS"),
        ("pass", "action 'pass': not legal for seat 1 in the play phase; allowed: JS"),
        ("done", "action 'done': not legal for seat 1 in the play phase; allowed: JS"),
        (70, "action 70: not an action; a whole number from 0 to 69 or its text"),
        (-1, "action -1: not an action; a whole number from 0 to 69 or its text"),
        (2**70, f"action {2**70}: not an action; a whole number from 0 to 69 or its text"),
        (1.0, "action 1.0: not an action; a whole number from 0 to 69 or its text"),
        (np.arange(70).reshape(7, 10), "action array([[ 0, 1, 2,"),
        pytest.param(10**5000, "action <int>: not an action; a whole number from 0 to 69 or its text", id="huge"),
        (True, "action True: not an action; a whole number from 0 to 69 or its text"),
        (None, "action None: not an action; a whole number from 0 to 69 or its text"),
        ("11S", "action '11S': not an action; a card such as AS, pass, bid 1 … bid 10, trump C|D|H|S, or done"),
        ("", "action '': not an action; a card such as AS, pass, bid 1 … bid 10, trump C|D|H|S, or done"),
    ],
)
def test_an_illegal_action_raises_and_the_match_is_unchanged(action, line):
    game = Game.from_deal("auction-2", [["AS", "KS", "2H", "3H", "4H", "JD"], ["QD", "JS", "TH", "9H", "8H", "7D"]], dealer=1)
    for text in ("bid 3", "pass", "AS"):
        game.apply(text)
    before = game._match.tobytes()
    with pytest.raises(IllegalAction) as refusal:
        game.apply(action)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)
    assert isinstance(refusal.value, ValueError)
    assert game._match.tobytes() == before
    game.apply("JS")


def test_acting_after_the_end():
    game = small(target=1)
    for text in ("bid 1", "pass", *PLAYED.split()):
        game.apply(text)
    assert game.over
    assert game.winner == 0
    before = game._match.tobytes()
    with pytest.raises(IllegalAction, match=r"^action 'AS': the match is over; allowed: none$"):
        game.apply("AS")
    unfinished = small(target=1000)
    for text in ("bid 1", "pass", *PLAYED.split()):
        unfinished.apply(text)
    with pytest.raises(IllegalAction, match=r"^action 'pass': the deal has ended; next_deal\(\) deals the next; allowed: none$"):
        unfinished.apply("pass")
    assert game._match.tobytes() == before
    with pytest.raises(ValueError, match="next_deal: this deal is in the auction phase; allowed: when it has ended"):
        small().next_deal()


def test_given_deals():
    game = Game.from_deal("auction-2", HANDS, stock=["2C", "3C"], dealer=0, scores=[3, -2], seed=5)
    assert [names(hand) for hand in game.hands] == [sorted(hand, key=card) for hand in HANDS]
    assert (names(game.stock), game.dealer, game.seat, game.scores) == (["2C", "3C"], 0, 1, [3, -2])
    rest = small().stock
    assert len(rest) == 40
    assert rest == sorted(rest)
    by_number = Game.from_deal("auction-2", [[card(c) for c in hand] for hand in HANDS], dealer=1)
    assert by_number._match.tobytes() == small()._match.tobytes()


def test_given_cards_for_a_later_deal():
    game = small(target=1000)
    for text in ("bid 1", "pass", *PLAYED.split()):
        game.apply(text)
    before = game._match.tobytes()
    for cards, line in (
        (([["AS"], HANDS[1]],), "hands[0]: 1 cards given; allowed: hand_size = 6"),
        (([[None] * 6, HANDS[1]],), "card None: not a card"),
        ((5,), "hands = 5: allowed: a list of hands, one a seat"),
        ((None, ["5D"]), "stock = ['5D']: given without hands; allowed: None, or both"),
    ):
        with pytest.raises(InputError) as refusal:
            game.next_deal(*cards)
        assert str(refusal.value).startswith(line)
        assert game._match.tobytes() == before
        assert len(game.deals) == 1
    game.next_deal(HANDS[::-1], stock=["5D"])
    assert names(game.hands[1]) == sorted(HANDS[0], key=card)
    assert names(game.stock) == ["5D"]
    assert game.phase == "auction"
    assert len(game.deals) == 2


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"hands": HANDS[:1]}, "hands: 1 given; allowed: 2, one a seat"),
        ({"hands": [HANDS[0], HANDS[1][:5]]}, "hands[1]: 5 cards given; allowed: hand_size = 6"),
        ({"hands": [HANDS[0], HANDS[0]]}, "hands or stock: AS is given twice"),
        ({"stock": ["2C", "AS"]}, "hands or stock: AS is given twice"),
        ({"stock": ["HJ"]}, "hands or stock: HJ is not in the pack of these rules"),
        ({"hands": [HANDS[0], ["1S", *HANDS[1][1:]]]}, "card '1S': not a card; ranks are 23456789TJQKA, suits CDHS, jokers HJ and LJ"),
        ({"hands": None}, "hands = None: allowed: a list of hands, one a seat"),
        ({"hands": ["AS KS", HANDS[1]]}, "hands[0] = 'AS KS': allowed: a list of cards"),
        ({"hands": [HANDS[0], 5]}, "hands[1] = 5: allowed: a list of cards"),
        *(
            ({"hands": [[card_, *HANDS[0][1:]], HANDS[1]]}, f"card {card_!r}: not a card; a whole number from 0 to 53 or a name such as AS")
            for card_ in (-1, 54, 1.0, None, True)
        ),
        ({"stock": "AS"}, "stock = 'AS': allowed: a list of cards"),
        ({"stock": 5}, "stock = 5: allowed: a list of cards"),
        ({"dealer": 2}, "dealer = 2: allowed: 0 … 1"),
        *(({"dealer": dealer}, f"dealer = {dealer!r}: allowed: a whole number, 0 … 1") for dealer in (1.0, True, None, "1")),
        ({"scores": 3}, "scores = 3: allowed: a list of 2 numbers, one a side"),
        ({"scores": "12"}, "scores = '12': allowed: a list of 2 numbers, one a side"),
        ({"scores": [0, 10**6 + 1]}, "scores[1] = 1000001: allowed: -1000000 … 1000000"),
        *(({"scores": [score, 0]}, f"scores[0] = {score!r}: allowed: a whole number, -1000000") for score in (2.0, True, None, "1")),
        ({"seed": 1.5}, "seed = 1.5: allowed: a whole number"),
        ({"scores": [1]}, "scores = [1]: allowed: 2 numbers, one a side"),
        ({"rules": "auction-9"}, "game 'auction-9': unknown; did you mean 'auction-"),
    ],
)
def test_senseless_deals_are_refused_in_one_line(changes, line):
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        Game.from_deal(**{"rules": "auction-2", "hands": HANDS} | changes)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


def test_a_short_stock_must_do_for_widow_and_redraw():
    game = Game("smear", seed=1)
    with pytest.raises(ValueError, match="stock: 2 cards given; allowed: at least 3, for widow and redraw"):
        Game.from_deal("smear", game.hands, stock=game.stock[:2])
    Game.from_deal("smear", game.hands, stock=game.stock[:3])


@pytest.mark.parametrize("clone", [Game.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_copies_are_independent_and_go_on_alike(clone):
    game, rng = Game(pitchenv.load_rules("smear", target=1000), seed=5), random.Random(1)
    for _ in random_deal(game, rng):
        pass
    game.next_deal()
    for _ in range(5):
        game.apply(rng.choice(game.legal_actions()))
    twin, before = clone(game), game._match.tobytes()
    for _ in random_deal(twin, random.Random(2)):
        pass
    assert game._match.tobytes() == before
    assert len(twin.deals) == len(game.deals) == 2
    for _ in random_deal(game, random.Random(2)):
        pass
    assert game._match.tobytes() == twin._match.tobytes()
    assert game.scores == twin.scores
    assert str(game) == str(twin)
    game.next_deal()
    twin.next_deal()
    assert game.hands == twin.hands


def test_what_is_handed_out_is_the_callers_own():
    game = small()
    for text in ("bid 3", "pass", "AS"):
        game.apply(text)
    handed = [
        game.hands,
        game.stock,
        game.scores,
        game.legal_actions(),
        game.trick,
        game.actions,
        game.mask(1),
        game.observe(1),
        game.state(),
    ]
    before = game._match.tobytes()
    for thing in handed:
        thing[:] = [0] if isinstance(thing, list) else 0
    assert game._match.tobytes() == before
    assert game.hands
    assert game.legal_actions()
    assert game.mask(1).any()


def test_the_mask_is_that_of_the_seat():
    game = small()
    assert game.mask(0).dtype == np.int8
    assert game.mask(0).shape == (70,)
    assert np.flatnonzero(game.mask(0)).tolist() == game.legal_actions()
    assert not game.mask(1).any()


@pytest.mark.parametrize("seed", [1.0, "1", True, None, np.float64(2)])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match=re.escape(f"seed = {seed!r}: allowed: a whole number")):
        Game("auction-2", seed=seed)
    assert Game("auction-2", seed=np.int32(5)).hands == Game("auction-2", seed=5).hands


@pytest.mark.parametrize(
    ("seat", "kind"), [(-1, ""), (2, ""), (1.0, "a whole number, "), ("0", "a whole number, "), (None, "a whole number, ")]
)
@pytest.mark.parametrize("look", ["view", "observe", "mask", "state"])
def test_a_seat_is_one_at_the_table(look, seat, kind):
    with pytest.raises(InputError, match=re.escape(f"seat = {seat!r}: allowed: {kind}0 … 1")):
        getattr(small(), look)(seat)
    assert getattr(small(), look)(np.int64(1)).tobytes() == getattr(small(), look)(1).tobytes()


@pytest.mark.parametrize("slots", [0, 2, 7, 9, 8.0, True, "8"])
@pytest.mark.parametrize("look", ["observe", "state"])
def test_slots_are_as_many_as_players_or_more(look, slots):
    game = Game(pitchenv.Rules(players=8, sides=4), seed=1)
    with pytest.raises(InputError) as refusal:
        getattr(game, look)(0, slots)
    kind = "" if type(slots) is int else "a whole number, "
    assert str(refusal.value) == f"slots = {slots!r}: allowed: {kind}8 … 8"


def test_it_says_what_it_is():
    game = small()
    assert repr(game) == "Game(auction, seat 0 to act, deal 1, scores [0, 0])"
    assert "AS KS" in str(game)

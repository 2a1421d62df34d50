"""Words, the pack, and the order of the cards."""

from itertools import combinations

import pytest

import pitchenv
from tests.reference import ACTIONS
from tests.rules.table import bought, deal, finished, house, legal, names, play

ALL_JOKERS = {"jokers": 2, "off_jack": True}


@pytest.mark.parametrize(
    ("players", "sides"),
    [(2, 2), (3, 3), (4, 2), (4, 4), (5, 5), (6, 2), (6, 3), (6, 6), (7, 7), (8, 4), (8, 8)],
)
def test_seat_plays_for_side_seat_modulo_sides(players, sides):
    others = ["2C", "3C", "4C", "5C", "6C", "7C", "8C"]
    for seat in range(players):
        hands = [*others[:seat], "AS", *others[seat : players - 1]]
        game = bought(deal("|".join(hands), dealer=(seat - 1) % players, sides=sides))
        assert game.seat == seat
        for turn in range(players):
            game.apply(hands[(seat + turn) % players])
        # A lone ace of trump is High and Low, and its four pips are Game.
        assert list(game.points) == [3 if side == seat % sides else 0 for side in range(sides)]


@pytest.mark.parametrize("players", [2, 3, 4, 7, 8])
def test_next_seat_to_the_left_of_seat_s_is_s_plus_1(players):
    game = deal("|".join(["2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C"][:players]))
    for seat in range(players):
        assert game.seat == seat
        game.apply("pass")


@pytest.mark.parametrize(
    ("lowest_rank", "jokers", "size"),
    [(2, 0, 52), (2, 1, 53), (2, 2, 54), (3, 0, 48), (7, 0, 32), (9, 2, 26), (12, 0, 12), (13, 0, 8)],
)
def test_pack_has_four_suits_from_the_lowest_rank_to_ace_and_the_jokers(lowest_rank, jokers, size):
    rules = house(players=2, sides=2, hand_size=3, tricks=3, lowest_rank=lowest_rank, jokers=jokers)
    game = pitchenv.Game(rules, seed=1)
    cards = [*game.hands[0], *game.hands[1], *game.stock]
    ranks = "23456789TJQKA"[lowest_rank - 2 :]
    expected = {rank + suit for rank in ranks for suit in "CDHS"} | set(["HJ", "LJ"][:jokers])
    assert len(cards) == size
    assert names(cards) == expected


@pytest.mark.parametrize(("lowest_rank", "jokers", "stranger"), [(7, 0, "6H"), (2, 0, "HJ"), (2, 1, "LJ"), (13, 2, "QS")])
def test_a_card_outside_the_pack_cannot_be_dealt(lowest_rank, jokers, stranger):
    with pytest.raises(ValueError, match=stranger):
        deal(f"AS | {stranger}", lowest_rank=lowest_rank, jokers=jokers)


TRUMP_HIGH_TO_LOW = [
    "AS",
    "KS",
    "QS",
    "JS",
    "JC",
    "HJ",
    "LJ",
    "TS",
    "9S",
    "8S",
    "7S",
    "6S",
    "5S",
    "4S",
    "3S",
    "2S",
]
PLAIN_HIGH_TO_LOW = ["AH", "KH", "QH", "JH", "TH", "9H", "8H", "7H", "6H", "5H", "4H", "3H", "2H"]


def leader_after(led: str, played: str, **changes) -> int:
    """Two seats and spades as trump: who wins the trick and so leads to the next."""
    return play(bought(deal(f"{led} 2D | {played} 3D", **changes)), led, played).seat


@pytest.mark.parametrize(("high", "low"), list(combinations(TRUMP_HIGH_TO_LOW, 2)))
def test_order_of_trump(high, low):
    assert leader_after(high, low, **ALL_JOKERS) == 0
    assert leader_after(low, high, **ALL_JOKERS) == 1


@pytest.mark.parametrize(("high", "low"), list(combinations(PLAIN_HIGH_TO_LOW, 2)))
def test_order_of_the_other_suits(high, low):
    assert leader_after(high, low, **ALL_JOKERS) == 0
    assert leader_after(low, high, **ALL_JOKERS) == 1


@pytest.mark.parametrize(("trump", "off"), [("C", "S"), ("D", "H"), ("H", "D"), ("S", "C")])
def test_off_jack_is_the_jack_of_the_same_colour(trump, off):
    for suit in sorted(set("CDHS") - {trump}):
        other = min(set("CDHS") - {trump, suit})
        game = bought(deal(f"2{suit} 2{other} | J{suit} 3{other}", off_jack=True, follow="suit"), trump=trump)
        play(game, f"2{suit}")
        is_off_jack = suit == off
        # The off-jack does not follow the suit printed on it, so its holder, void in that suit, is free.
        assert legal(game) == ({f"J{suit}", f"3{other}"} if is_off_jack else {f"J{suit}"})


def test_a_suit_whose_jack_is_the_off_jack_has_no_jack():
    game = play(bought(deal("TC 2D | JC QC", off_jack=True, follow="suit")), "TC")
    assert legal(game) == {"QC"}
    game = play(bought(deal("TC 2D | JC QC", off_jack=False, follow="suit")), "TC")
    assert legal(game) == {"JC", "QC"}


@pytest.mark.parametrize("card", ["JC", "HJ", "LJ"])
def test_off_jack_and_jokers_follow_a_lead_of_trump(card):
    game = play(bought(deal(f"2S 2D | {card} 3D", follow="suit", **ALL_JOKERS)), "2S")
    assert legal(game) == {card}


@pytest.mark.parametrize("card", ["JC", "HJ", "LJ"])
def test_a_lead_of_off_jack_or_joker_is_a_lead_of_trump(card):
    game = play(bought(deal(f"{card} 2D | 2S 9C", follow="suit", **ALL_JOKERS)), card)
    assert legal(game) == {"2S"}


@pytest.mark.parametrize("card", ["JC", "HJ", "LJ"])
def test_off_jack_and_jokers_are_trumps_for_the_first_lead_and_the_discard(card):
    game = bought(deal(f"{card} 2D | 3D 4D", first_lead="trump", **ALL_JOKERS))
    assert legal(game) == {card}
    game = bought(deal(f"{card} 2D | 3D 4D", tricks=1, keep_trump=True, **ALL_JOKERS))
    assert game.phase == "discard"
    assert legal(game) == {"2D"}


# Seat 1 takes seat 0's leads with low trumps and leads in turn, and seat 0 takes those: High is seat 0's, Low seat 1's.
@pytest.mark.parametrize(
    ("hands", "points"),
    [
        pytest.param("AH 3S | 2S KH", [1, 2], id="ace beats king"),
        pytest.param("AH 3S 4C 5S | 2S KH 4S JD", [1, 1], id="ace 4 = king 3 + jack 1"),
        pytest.param("KH 3S 4C 5S | 2S QH 4S JH", [1, 1], id="king 3 = queen 2 + jack 1"),
        pytest.param("QH 3S 4C 5S | 2S JH 4S JD", [1, 1], id="queen 2 = jack 1 + jack 1"),
        pytest.param("TH 3S 4C 5S 6C 7S | 2S AH 4S AD 6S QD", [1, 1], id="ten 10 = aces 8 + queen 2"),
        pytest.param("TH 3S 4C 5S 6C 7S | 2S AH 4S AD 6S JD", [1, 2], id="ten 10 beats aces 8 + jack 1"),
        pytest.param("TH 3S 4C 5S 6C 7S | 2S AH 4S AD 6S KD", [2, 1], id="ten 10 loses to aces 8 + king 3"),
        pytest.param("JH 3S | 2S 9H", [1, 2], id="jack beats nine"),
        pytest.param("9H 3S | 2S 2H", [1, 1], id="nine = two = 0"),
    ],
)
def test_pips(hands, points):
    assert list(finished(hands).points) == points


@pytest.mark.parametrize(("card", "points"), [("9H", [3, 1]), ("JH", [2, 1]), ("QH", [2, 2])])
def test_off_jack_has_one_pip(card, points):
    # Seat 1 wins the heart with the two of trump, seat 0 the off-jack: a point of its own, and High.
    assert list(finished(f"{card} JC | 2S 4D", off_jack=True).points) == points


@pytest.mark.parametrize(
    ("joker_pips", "card", "points"),
    [
        (0, "9H", [2, 1]),
        (0, "JH", [2, 2]),
        (1, "9H", [3, 1]),
        (1, "JH", [2, 1]),
        (3, "QH", [3, 1]),
        (3, "KH", [2, 1]),
        (3, "AH", [2, 2]),
        (10, "AH", [3, 1]),
        (10, "TH", [2, 1]),
    ],
)
@pytest.mark.parametrize("joker", ["HJ", "LJ"])
def test_a_joker_has_joker_pips(joker, joker_pips, card, points):
    # Seat 1 wins the heart with the two of trump, seat 0 the joker: a point of its own, and High.
    game = finished(f"{card} {joker} | 2S 4D", jokers=2, joker_pips=joker_pips)
    assert list(game.points) == points


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "2C"),
        (8, "TC"),
        (12, "AC"),
        (13, "2D"),
        (25, "AD"),
        (26, "2H"),
        (38, "AH"),
        (39, "2S"),
        (48, "JS"),
        (51, "AS"),
        (52, "HJ"),
        (53, "LJ"),
    ],
)
def test_numbers_of_cards(number, text):
    assert ACTIONS[number] == text
    game = bought(deal(f"{text} 3C | 4C 5C", jokers=2))
    assert sorted(game.legal_actions()) == sorted([number, 1])
    game.apply(number)
    assert list(game.hands[0]) == [1]


def test_numbers_of_the_other_actions():
    biggest = {"jokers": 2, "off_jack": True, "trump_three": True}
    game = deal("AS KS | 2C 3C", tricks=1, redraw=1, stock="4C 5C", **biggest)
    assert list(game.legal_actions()) == [54, *range(55, 65)]
    play(game, "bid 1", "pass")
    assert list(game.legal_actions()) == [65, 66, 67, 68]
    play(game, "trump H")
    assert game.trump == 2
    assert list(game.legal_actions()) == [50, 51, 69]


@pytest.mark.parametrize("as_number", [False, True])
def test_actions_may_be_given_as_numbers_or_as_text(as_number):
    game = deal("AS KS | 2C 3C", tricks=1)
    for text in ["bid 2", "bid 4", "trump D", "3C", "KS", "2C", "AS"]:
        game.apply(ACTIONS.index(text) if as_number else text)
    assert game.phase == "ended"
    # Without a trump the club led wins, and the ace's four pips are Game.
    assert list(game.points) == [0, 1]


def test_a_card_action_puts_away_in_the_exchange_and_plays_in_the_tricks():
    game = bought(deal("AS KS 2H | 2C 3C 4C", tricks=1, redraw=1, stock="5C 6C"))
    assert (game.phase, names(game.hands[0])) == ("redraw", {"AS", "KS", "2H"})
    play(game, "2H", "done", "done")
    assert (game.phase, names(game.hands[0])) == ("discard", {"AS", "KS", "5C"})
    play(game, "5C", "KS", "2C", "3C")
    assert (game.phase, names(game.hands[0])) == ("play", {"AS"})
    play(game, "AS")
    assert names(game.hands[0]) == set()
    assert game.seat == 1


def test_a_reduced_game_of_two_players_with_two_cards_from_queen_up():
    game = finished("AS QH | KS KH", lowest_rank=12)
    # High is the ace, Low the king it caught; 4 + 3 pips against the 3 + 2 of the heart trick.
    assert list(game.points) == [3, 0]

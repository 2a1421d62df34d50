"""Phase 8: the points. Spades are trump, seat 0 leads, every seat plays its hand from left to right.

Two seats make two sides, so the points are seat 0's and seat 1's; with `low_to="winner"` unless a row says otherwise.
"""

import pytest

from tests.rules.table import bought, deal, finished, play, play_left_to_right

PACK = {"high_low": "pack"}
HOLDER = {"low_to": "holder"}
WINNER = {"low_to": "winner"}
THREE = {"trump_three": True}
TEN = {"game": "trump_ten"}
OFF_JACK = {"off_jack": True}
JOKERS = {"jokers": 2}


@pytest.mark.parametrize(
    ("hands", "changes", "points"),
    [
        # High and Low in play: the heart trick goes to seat 1 without pips, Game to seat 0.
        pytest.param("AS 2H | 3S 3H", {}, [3, 0], id="ace High, three Low"),
        pytest.param("KS 2H | 3S 3H", {}, [3, 0], id="king High when the ace is not in play"),
        pytest.param("TS 2H | 9S 3H", {}, [3, 0], id="ten High, nine Low"),
        pytest.param("3S 2H | 4S 3H", {}, [0, 2], id="four High takes three Low, no pips"),
        # High and Low by the pack.
        pytest.param("AS 2H | 2S 3H", PACK, [3, 0], id="ace and two"),
        pytest.param("KS 2H | 2S 3H", PACK, [2, 0], id="no ace, no High"),
        pytest.param("AS 2H | 3S 3H", PACK, [2, 0], id="no two, no Low"),
        pytest.param("KS 2H | 3S 3H", PACK, [1, 0], id="neither"),
        pytest.param("AS 9H | 7S TH", PACK | {"lowest_rank": 7}, [2, 1], id="seven is Low of a pack from seven up"),
        pytest.param("AS 9H | 8S TH", PACK | {"lowest_rank": 7}, [1, 1], id="eight is not"),
        pytest.param("AS KH | KS AH", PACK | {"lowest_rank": 13}, [2, 0], id="king is Low of a pack from king up"),
        # Who gets Low.
        pytest.param("AS 2H | 3S 3H", HOLDER, [2, 1], id="Low to its holder"),
        pytest.param("AS 2H | 3S 3H", WINNER, [3, 0], id="Low to its winner"),
        pytest.param("3S 2H | 4S 3H", HOLDER, [1, 1], id="Low led and lost, to its holder"),
        pytest.param("AS 9H | 7S TH", PACK | HOLDER | {"lowest_rank": 7}, [1, 2], id="pack Low to its holder"),
        # Jack.
        pytest.param("JS 2H | 3S 3H", {}, [4, 0], id="jack brought home"),
        pytest.param("QS 9H | JS 8D", {}, [4, 0], id="jack caught"),
        pytest.param("QS 9H | JS 8D", HOLDER, [3, 1], id="jack caught, Low to its holder"),
        pytest.param("2S 9H | JS 8D", {}, [0, 4], id="jack taken with"),
        pytest.param("AS 2H | JH 3H", {}, [3, 0], id="a jack of another suit is none"),
        # Off-jack.
        pytest.param("AS 2H | JC 3H", OFF_JACK, [4, 0], id="off-jack caught, and Low"),
        pytest.param("AS 2H | JC 3H", OFF_JACK | HOLDER, [3, 1], id="off-jack caught, Low to its holder"),
        pytest.param("AS 2H | JC 3H", {}, [3, 0], id="jack of clubs without the off-jack"),
        pytest.param("AS 2H | JD 3H", OFF_JACK, [3, 0], id="jack of the other colour"),
        pytest.param("JC 2H | 3S 3H", OFF_JACK, [4, 0], id="off-jack High"),
        pytest.param("JS 2H | JC 3H", OFF_JACK, [5, 0], id="both jacks"),
        pytest.param("AS JC | 3S 3C", OFF_JACK, [4, 0], id="Low is the three, under the off-jack"),
        # Jokers.
        pytest.param("AS 2H | HJ LJ", JOKERS, [3, 2], id="a joker each, the low one Low"),
        pytest.param("HJ 2H | LJ 3H", JOKERS, [4, 0], id="high joker High catches low joker Low"),
        pytest.param("HJ 2H | LJ 3H", JOKERS | {"joker_pips": 2}, [5, 0], id="and Game with joker pips"),
        pytest.param("HJ 2H | TS 3H", JOKERS, [4, 0], id="a joker is above the ten"),
        pytest.param("AS 2H | HJ 3H", {"jokers": 1}, [4, 0], id="the one joker of a pack"),
        # Three of trump.
        pytest.param("AS 2H | 3S 3H", THREE, [6, 0], id="three caught"),
        pytest.param("3S 2H | 4S 3H", THREE, [0, 5], id="three lost"),
        pytest.param("3S 2H | 4S 3H", THREE | HOLDER, [1, 4], id="three lost, Low to its holder"),
        pytest.param("AS 2H | 4S 3H", THREE, [3, 0], id="three of another suit is none"),
        pytest.param("AS 2S | 3S 3H", {}, [3, 0], id="three without the rule"),
        # Game by pips.
        pytest.param("AS 2H | 3S AH", {}, [2, 0], id="a tie scores nobody"),
        pytest.param("AS 2H | 3S TH", {}, [2, 1], id="ten pips beat four"),
        pytest.param("3S 2H | 9S 3H", {}, [0, 2], id="no pips at all is a tie"),
        # Game as the ten of trump.
        pytest.param("AS 2H | TS 3H", TEN, [3, 0], id="ten caught"),
        pytest.param("2S 9H | TS 8D", TEN, [0, 3], id="ten brought home"),
        pytest.param("AS 2H | 3S TH", TEN, [2, 0], id="ten of another suit is none"),
        pytest.param("AS 2H | 3S 3H", TEN, [2, 0], id="pips decide nothing"),
        # One card, several points; no card, none.
        pytest.param("AS 2H | 3C 3H", {}, [3, 0], id="a lone ace is High and Low"),
        pytest.param("5S 2H | 3C 3H", {}, [2, 0], id="a lone five is High and Low"),
        pytest.param("JS 2H | 3C 3H", {}, [4, 0], id="a lone jack is High, Low, Jack, and Game"),
        pytest.param("JC 2H | 3C 3H", OFF_JACK, [4, 0], id="a lone off-jack"),
        pytest.param("HJ 2H | 3C 3H", JOKERS, [3, 0], id="a lone joker is High, Low and its point"),
        pytest.param("TS 2H | 3C 3H", TEN, [3, 0], id="a lone ten is High, Low and Game"),
        pytest.param("3S 2H | 3C 3H", THREE, [5, 0], id="a lone three"),
        pytest.param("AS 2H | 3C 3H", PACK, [2, 0], id="a lone ace is not the Low of the pack"),
        pytest.param("2S 2H | 3C 3H", PACK, [1, 0], id="a lone two is the Low of the pack alone"),
        pytest.param("KH 2H | 3H 3C", {}, [1, 0], id="no trump in play: neither High nor Low"),
        pytest.param("KH 2H | 3H 3C", PACK | HOLDER, [1, 0], id="no trump in play, by the pack"),
    ],
)
def test_points_of_two_seats(hands, changes, points):
    assert list(finished(hands, **changes).points) == points


# Seat 0 takes three pips, seat 1 three, and seat 3 two.
FOUR_HANDS = "KS 2H 3D | 3S KH 4D | 4S 5H 2D | 5S 3H QD"


@pytest.mark.parametrize(
    ("sides", "points"),
    [pytest.param(2, [2, 1], id="partners add up"), pytest.param(4, [2, 0, 0, 0], id="solo ties")],
)
def test_game_goes_to_the_side_with_strictly_more_pips_than_every_other(sides, points):
    assert list(finished(FOUR_HANDS, sides=sides).points) == points


@pytest.mark.parametrize(
    ("hands", "points"),
    [
        pytest.param("AS 2H | 3S AH | 4S 3H", [2, 0, 0], id="tied at the top"),
        pytest.param("AS 2H | 3S 4H | 4S 3H", [3, 0, 0], id="tied below the top"),
        pytest.param("AS 2H | 3S KH | 4S QH", [2, 1, 0], id="five beat four"),
    ],
)
def test_game_of_three_sides(hands, points):
    assert list(finished(hands).points) == points


@pytest.mark.parametrize(
    ("changes", "points"),
    [
        pytest.param(WINNER, [7, 0, 0], id="all to the side that wins the trick"),
        pytest.param(HOLDER, [6, 0, 1], id="Low to the side that held it"),
    ],
)
def test_points_go_to_the_side_of_the_seat(changes, points):
    # Seat 3 plays for side 0 and wins High 1, off-jack 1, three 3 and Game 1; the two is held by seat 5 of side 2.
    game = finished("3S | 4S | 5S | AS | JC | 2S", sides=3, **OFF_JACK, **THREE, **changes)
    assert list(game.points) == points


def test_low_won_by_the_partner_of_its_holder():
    # Seat 2 takes seat 0's two: side 0 has High, Low and Game either way.
    for low_to in ("holder", "winner"):
        assert list(finished("2S | 3S | AS | 4S", low_to=low_to).points) == [3, 0]


@pytest.mark.parametrize(
    ("hands", "discards", "changes", "points"),
    [
        pytest.param("KS 2H AS | 3S 3H 4C", "AS 4C", {}, [3, 0], id="the ace put away is not High"),
        pytest.param("KS 2H AS | 3S 3H 4C", "AS 4C", PACK, [1, 0], id="nor by the pack"),
        pytest.param("AS 2H 4C | 3S 3H 2S", "4C 2S", {}, [3, 0], id="the two put away is not Low"),
        pytest.param("AS 2H 4C | 3S 3H 2S", "4C 2S", PACK | HOLDER, [2, 0], id="nor by the pack, for nobody"),
        pytest.param("AS 2H JS | 3S 3H 4C", "JS 4C", {}, [3, 0], id="a jack put away"),
        pytest.param("AS 2H JC | 3S 3H 4C", "JC 4C", OFF_JACK, [3, 0], id="an off-jack put away"),
        pytest.param("AS 2H HJ | 3S 3H LJ", "HJ LJ", JOKERS, [3, 0], id="jokers put away"),
        pytest.param("AS 2H 3S | 4S 3H 4C", "3S 4C", THREE, [3, 0], id="a three of trump put away"),
        pytest.param("AS 2H TS | 3S 3H 4C", "TS 4C", TEN, [2, 0], id="a ten of trump put away"),
        pytest.param("KH 2H AS | 3H 3C 2S", "AS 2S", {}, [1, 0], id="all trumps put away"),
    ],
)
def test_cards_put_away_are_not_in_play(hands, discards, changes, points):
    game = play(bought(deal(hands, tricks=2, **changes)), *discards.split())
    assert list(play_left_to_right(game, hands).points) == points


@pytest.mark.parametrize(("high_low", "points"), [("in_play", [3, 0]), ("pack", [2, 0])])
def test_cards_left_in_the_stock_are_not_in_play(high_low, points):
    game = bought(deal("AS 2H | 3S 3H", stock="2S JS", high_low=high_low))
    assert list(play_left_to_right(game, "AS 2H | 3S 3H").points) == points


def test_low_taken_from_the_widow_is_held_by_the_pitcher():
    game = bought(deal("AS 9H | 3S TH", stock="2S", widow=1, low_to="holder"))
    # Seat 1 takes the two with the three and leads a heart, which the ace trumps.
    play(game, "9H", "2S", "3S", "TH", "AS")
    assert list(game.points) == [3, 0]


def test_a_pitched_trump_decides_the_points():
    # Hearts are pitched: High king, Low and Jack fall to it; the ace of spades is worth its pips alone.
    assert list(finished("KH 2C | JH AS", trump="pitched").points) == [4, 0]

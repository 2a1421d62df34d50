"""Phase 7: the tricks. Spades are trump and seat 0 leads."""

import pytest

from tests.rules.table import bought, deal, legal, names, play

FOLLOW = ["suit_or_trump", "suit", "suit_may_trump"]
WITH_ALL = {"jokers": 2, "off_jack": True}


# Leading


@pytest.mark.parametrize("pitcher", [0, 1, 2, 3])
def test_the_pitcher_leads_to_the_first_trick_any_card(pitcher):
    hands = ["AS 2H", "3S 3H", "4S 4H", "5S 5H"]
    game = deal("|".join(hands))
    play(game, *["pass"] * pitcher, "bid 2", *["pass"] * (3 - pitcher), "trump S")
    assert (game.phase, game.seat, legal(game)) == ("play", pitcher, set(hands[pitcher].split()))


@pytest.mark.parametrize(
    ("hand", "first_lead", "leads"),
    [
        ("AS 2H 2C", "any", {"AS", "2H", "2C"}),
        ("AS 2H 2C", "trump", {"AS"}),
        ("AS 2H 9S", "trump", {"AS", "9S"}),
        ("AH 2H 2C", "trump", {"AH", "2H", "2C"}),
        ("JC 2H 2C", "trump", {"JC"}),
        ("HJ LJ 2C", "trump", {"HJ", "LJ"}),
        ("JC HJ 2S", "trump", {"JC", "HJ", "2S"}),
    ],
)
def test_first_lead(hand, first_lead, leads):
    game = bought(deal(f"{hand} | 3D 4D 5D", first_lead=first_lead, **WITH_ALL))
    assert legal(game) == leads


def test_first_lead_trump_with_pitched_trump_leaves_the_choice():
    game = bought(deal("AS 2H 2C | 3D 4D 5D", first_lead="trump", trump="pitched"))
    assert legal(game) == {"AS", "2H", "2C"}


def test_first_lead_trump_binds_the_first_trick_alone():
    game = bought(deal("AS 2S 2H 2C | 3D 4D 5D 6D", first_lead="trump"))
    play(game, "AS", "3D")
    assert legal(game) == {"2S", "2H", "2C"}


def test_the_winner_leads_to_the_next_trick_any_card():
    game = bought(deal("2H 3C 5C | AH 9S 4D | 3H 4C 6C", first_lead="trump"))
    play(game, "2H", "AH", "3H")
    assert (game.seat, legal(game)) == (1, {"9S", "4D"})
    play(game, "4D", "4C", "3C")
    assert (game.seat, legal(game)) == (1, {"9S"})


# Course


@pytest.mark.parametrize("players", [2, 3, 4, 5, 8])
def test_play_goes_clockwise_each_seat_one_card(players):
    cards = ["2C 2D", "3C 3D", "4C 4D", "5C 5D", "6C 6D", "7C 7D", "8C 8D", "9C 9D"][:players]
    game = deal("|".join(cards))
    play(game, "pass", "bid 2", *["pass"] * (players - 2), "trump S")
    for turn in range(players):
        seat = (1 + turn) % players
        assert game.seat == seat
        game.apply(cards[seat].split()[0])
    # The highest club wins: the last seat's.
    assert game.seat == players - 1


@pytest.mark.parametrize("tricks", [1, 2, 5])
def test_there_are_tricks_tricks(tricks):
    game = bought(deal("AS KS QS TS 9S | 2C 3C 4C 5C 6C", tricks=tricks))
    cards = 0
    while game.phase != "ended":
        cards += game.phase == "play"
        game.apply(game.legal_actions()[-1])
    assert cards == 2 * tricks
    assert (game.seat, game.legal_actions()) == (None, [])


def test_a_card_played_leaves_the_hand():
    game = play(bought(deal("AS KS | 2C 3C")), "KS")
    assert names(game.hands[0]) == {"AS"}


# Winning


@pytest.mark.parametrize(
    ("trick", "winner"),
    [
        pytest.param("5H 9H TH", 2, id="highest of the suit led"),
        pytest.param("5H 9H 2H", 1, id="in the middle"),
        pytest.param("9H 5H 2H", 0, id="the lead itself"),
        pytest.param("5H 9C AC", 0, id="a higher card of another suit loses"),
        pytest.param("AH 2S KH", 1, id="a trump beats the ace led"),
        pytest.param("AH 2S 3S", 2, id="the higher of two trumps"),
        pytest.param("AH 3S 2S", 1, id="the lower overtrumped"),
        pytest.param("9S AH 2S", 0, id="a trump led"),
        pytest.param("9S AH TS", 2, id="a higher trump"),
        pytest.param("AC JC KC", 1, id="off-jack trumps its printed suit"),
        pytest.param("AH LJ KH", 1, id="a joker trumps"),
        pytest.param("AH LJ HJ", 2, id="high joker over low"),
        pytest.param("HJ JC JS", 2, id="jack over off-jack over jokers"),
        pytest.param("HJ JC TS", 1, id="off-jack over jokers"),
        pytest.param("TS LJ 9S", 1, id="low joker over ten"),
    ],
)
def test_highest_trump_wins_or_else_the_highest_card_of_the_suit_led(trick, winner):
    first, second, third = trick.split()
    game = bought(deal(f"{first} 2D | {second} 3D | {third} 4D", **WITH_ALL))
    play(game, first, second, third)
    assert game.seat == winner


def test_without_the_off_jack_it_is_a_card_of_its_printed_suit():
    game = play(bought(deal("AC 2D | JC 3D | KC 4D", off_jack=False)), "AC", "JC", "KC")
    assert game.seat == 0


# Following: the card led, the hand of the next seat, and what it may play under each of the three rules.


@pytest.mark.parametrize(
    ("led", "hand", "suit_or_trump", "suit", "suit_may_trump"),
    [
        pytest.param("5H", "9H 2S 3C", "9H 2S", "9H", "9H 2S", id="suit and trump"),
        pytest.param("5H", "9H TH 3C", "9H TH", "9H TH", "9H TH", id="suit, no trump"),
        pytest.param("5H", "2S 3C 4D", "2S", "2S 3C 4D", "2S 3C 4D", id="void in the suit led, with trump"),
        pytest.param("5H", "2C 3C 4D", "2C 3C 4D", "2C 3C 4D", "2C 3C 4D", id="neither"),
        pytest.param("5S", "2S 9H 3C", "2S", "2S", "2S", id="trump led"),
        pytest.param("5S", "9H TH 3C", "9H TH 3C", "9H TH 3C", "9H TH 3C", id="trump led, none held"),
        pytest.param("5C", "JC 9C 3D", "JC 9C", "9C", "JC 9C", id="off-jack in hand, its printed suit led"),
        pytest.param("5C", "JC 3D 4D", "JC", "JC 3D 4D", "JC 3D 4D", id="off-jack alone is no club"),
        pytest.param("5H", "JC 9H 3D", "JC 9H", "9H", "JC 9H", id="off-jack is trump"),
        pytest.param("5S", "JC 9C 3D", "JC", "JC", "JC", id="off-jack follows trump"),
        pytest.param("JC", "2S 9C 3D", "2S", "2S", "2S", id="off-jack led"),
        pytest.param("JC", "9C AC 3D", "9C AC 3D", "9C AC 3D", "9C AC 3D", id="off-jack led, printed suit held"),
        pytest.param("5H", "HJ 9H 3D", "HJ 9H", "9H", "HJ 9H", id="joker is trump"),
        pytest.param("5H", "HJ LJ 3D", "HJ LJ", "HJ LJ 3D", "HJ LJ 3D", id="void with jokers"),
        pytest.param("5S", "HJ 9H 3D", "HJ", "HJ", "HJ", id="joker follows trump"),
        pytest.param("LJ", "2S 9H 3D", "2S", "2S", "2S", id="joker led"),
        pytest.param("HJ", "LJ JC 3D", "LJ JC", "LJ JC", "LJ JC", id="joker led, joker and off-jack held"),
        pytest.param("HJ", "9H 9C 3D", "9H 9C 3D", "9H 9C 3D", "9H 9C 3D", id="joker led, no trump held"),
    ],
)
def test_following(led, hand, suit_or_trump, suit, suit_may_trump):
    for rule, may_play in zip(FOLLOW, (suit_or_trump, suit, suit_may_trump), strict=True):
        game = play(bought(deal(f"{led} 6D 7D | {hand}", follow=rule, **WITH_ALL)), led)
        assert legal(game) == set(may_play.split()), rule


@pytest.mark.parametrize(
    ("follow", "third_may_play"),
    [("suit_or_trump", {"KH", "4S"}), ("suit", {"KH"}), ("suit_may_trump", {"KH", "4S"})],
)
def test_the_suit_led_binds_every_seat_whatever_was_played_on_it(follow, third_may_play):
    game = bought(deal("5H 2C 3C | 9S 2D 3D | KH 4S 4D", follow=follow))
    play(game, "5H", "9S")
    assert (game.seat, legal(game)) == (2, third_may_play)


@pytest.mark.parametrize("follow", FOLLOW)
def test_following_a_pitched_lead(follow):
    game = play(bought(deal("5H 6D 7D | 9H 2S 3C", trump="pitched", follow=follow)), "5H")
    assert legal(game) == {"9H"}


@pytest.mark.parametrize("follow", FOLLOW)
def test_trump_of_a_pitched_game_stays_trump_in_later_tricks(follow):
    game = play(bought(deal("KH 6D 7C | 9H 2H 3D", trump="pitched", follow=follow)), "KH", "9H", "6D")
    assert legal(game) == ({"3D"} if follow == "suit" else {"2H", "3D"})
    play(game, "3D", "7C")
    assert game.phase == "play"
    play(game, "2H")
    # High and Game are the king's, the lone two caught the club and is Low.
    assert list(game.points) == [2, 1]

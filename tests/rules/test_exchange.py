"""Phases 3 to 6: widow, trump, redraw and discard."""

import numpy as np
import pytest

from tests.rules.table import bought, deal, finished, legal, names, play, play_left_to_right

TRUMPS = {"trump C", "trump D", "trump H", "trump S"}


# Widow


@pytest.mark.parametrize(("widow", "taken"), [(0, set()), (1, {"5C"}), (3, {"5C", "9H", "2D"}), (6, {"5C", "9H", "2D", "KD", "7H", "8H"})])
@pytest.mark.parametrize("pitcher", [0, 1])
def test_the_pitcher_takes_the_top_of_the_stock(pitcher, widow, taken):
    game = deal("AS KS | 3S 4S", stock="5C 9H 2D KD 7H 8H 6H", widow=widow)
    play(game, *["pass"] * pitcher, "bid 1", *["pass"] * (1 - pitcher))
    dealt = [{"AS", "KS"}, {"3S", "4S"}]
    assert names(game.hands[pitcher]) == dealt[pitcher] | taken
    assert names(game.hands[1 - pitcher]) == dealt[1 - pitcher]


def test_the_widow_is_not_taken_before_the_auction_is_over():
    game = play(deal("AS KS | 3S 4S", stock="5C", widow=1), "bid 1")
    assert names(game.hands[0]) == {"AS", "KS"}


# Trump


@pytest.mark.parametrize("suit", "CDHS")
def test_the_pitcher_names_any_suit(suit):
    game = play(deal("AS KS | 3S 4S"), "bid 1", "bid 2")
    assert (game.phase, game.seat, game.trump) == ("trump", 1, None)
    assert legal(game) == TRUMPS
    play(game, f"trump {suit}")
    assert (game.phase, game.trump) == ("play", "CDHS".index(suit))


def test_trump_is_named_after_the_widow_is_taken():
    game = play(deal("AS KS | 3S 4S", stock="5C", widow=1), "bid 1", "pass")
    assert (game.phase, names(game.hands[0])) == ("trump", {"AS", "KS", "5C"})


@pytest.mark.parametrize(("card", "trump"), [("2C", 0), ("9D", 1), ("AH", 2), ("TS", 3)])
def test_pitched_trump_is_the_suit_of_the_first_card_led(card, trump):
    game = bought(deal(f"{card} 3C | 4C 5C", trump="pitched"))
    assert (game.phase, game.seat, game.trump) == ("play", 0, None)
    play(game, card)
    assert game.trump == trump
    play(game, "4C")
    assert game.trump == trump


def test_a_jack_pitched_is_the_jack_of_trump_and_never_the_off_jack():
    game = play(bought(deal("JC 2D | JS 3C", trump="pitched", off_jack=True)), "JC")
    assert game.trump == 0
    assert legal(game) == {"JS", "3C"}


@pytest.mark.parametrize(
    ("jokers", "hand", "leads"),
    [
        (1, "HJ 2S", {"2S"}),
        (2, "HJ LJ 2S", {"2S"}),
        (2, "LJ 9H 2S", {"9H", "2S"}),
        (2, "3H 9H 2S", {"3H", "9H", "2S"}),
    ],
)
def test_a_joker_cannot_be_led_to_the_first_trick_of_pitched_trump(jokers, hand, leads):
    others = ["3C", "4C", "5C"][: len(hand.split())]
    game = bought(deal(f"{hand} | {' '.join(others)}", trump="pitched", jokers=jokers))
    assert legal(game) == leads
    play(game, "2S", "3C")
    assert (game.seat, legal(game)) == (0, set(hand.split()) - {"2S"})


def test_a_joker_may_be_led_to_the_first_trick_of_declared_trump():
    assert legal(bought(deal("HJ 2S | 3C 4C", jokers=1))) == {"HJ", "2S"}


# Redraw


def test_without_a_redraw_there_is_no_such_phase():
    assert bought(deal("AS KS | 3S 4S", redraw=0)).phase == "play"


def test_redraw_goes_round_from_the_pitcher_and_each_seat_says_done():
    game = deal("AS KS | 3S 4S | 5S 6S | 7S 8S", stock="2C 3C 4C 5C", redraw=1)
    play(game, "pass", "pass", "bid 2", "pass", "trump S")
    for seat in (2, 3, 0, 1):
        assert (game.phase, game.seat) == ("redraw", seat)
        game.apply("done")
    assert (game.phase, game.seat) == ("play", 2)


def test_each_seat_discards_up_to_redraw_cards_and_still_says_done():
    game = bought(deal("AS KS QS 2H | 3S 4S 5S 6S", stock="2C 3C 4C 5C", redraw=2))
    assert legal(game) == {"AS", "KS", "QS", "2H", "done"}
    play(game, "2H")
    assert legal(game) == {"AS", "KS", "QS", "done"}
    play(game, "KS")
    assert (game.phase, game.seat, legal(game)) == ("redraw", 0, {"done"})


@pytest.mark.parametrize(
    ("discards", "hand"),
    [([], {"AS", "KS", "2H"}), (["2H"], {"AS", "KS", "9D"}), (["2H", "KS"], {"AS", "9D", "4C"})],
)
def test_a_seat_is_dealt_as_many_as_it_discarded_from_the_top(discards, hand):
    game = bought(deal("AS KS 2H | 3S 4S 5S", stock="9D 4C 5C 6C", redraw=2))
    play(game, *discards)
    assert names(game.hands[0]) == {"AS", "KS", "2H"} - set(discards)
    play(game, "done")
    assert names(game.hands[0]) == hand


def test_a_seat_draws_before_the_next_one_discards_and_below_what_was_drawn():
    game = bought(deal("AS KS | 3S 4S", stock="9D 4C 5C 6C", widow=1, redraw=1))
    assert names(game.hands[0]) == {"AS", "KS", "9D"}
    play(game, "9D", "done")
    assert (game.seat, names(game.hands[0])) == (1, {"AS", "KS", "4C"})
    play(game, "3S", "done")
    assert names(game.hands[1]) == {"4S", "5C"}


def test_cards_are_dealt_while_the_stock_lasts():
    # Eight cards from king up: two are left, seat 0 takes both and seat 1 plays on with what it kept.
    hands = "KS KH KD | AS AH AD"
    game = bought(deal(hands, stock="KC AC", lowest_rank=13, tricks=1, redraw=2))
    play(game, "KH", "KD", "done")
    assert names(game.hands[0]) == {"KS", "KC", "AC"}
    play(game, "AH", "AD", "done")
    assert names(game.hands[1]) == {"AS"}
    play(game, "KC", "AC")
    assert (game.phase, game.seat) == ("play", 0)


def test_a_stock_of_one_is_dealt_to_a_seat_that_discarded_two():
    hands = "KS KH KD | AS AH AD"
    game = bought(deal(hands, stock="KC AC", lowest_rank=13, tricks=1, redraw=2))
    play(game, "KD", "done")
    assert names(game.hands[0]) == {"KS", "KH", "KC"}
    play(game, "AH", "AD", "done")
    assert names(game.hands[1]) == {"AS", "AC"}


def test_a_seat_without_cards_can_only_say_done():
    game = bought(deal("AS KS | 3S 4S", stock="2C 3C 4C 5C 6C 7C", tricks=2, redraw=3))
    play(game, "AS", "KS")
    assert (game.phase, legal(game)) == ("redraw", {"done"})
    play(game, "done")
    assert (game.seat, names(game.hands[0])) == (1, {"2C", "3C"})


def test_after_the_redraw_the_discard_brings_everyone_down_to_tricks():
    game = bought(deal("AS KS 2H | 3S 4S 5S", stock="9D 4C", tricks=2, redraw=1))
    play(game, "2H", "done", "done")
    assert (game.phase, game.seat, legal(game)) == ("discard", 0, {"AS", "KS", "9D"})
    play(game, "9D")
    assert (game.phase, game.seat, legal(game)) == ("discard", 1, {"3S", "4S", "5S"})


# Discard


def test_discard_goes_round_from_the_pitcher_one_card_a_decision():
    game = deal("AS KS QS | 2C 3C 4C | 5C 6C 7C", tricks=1)
    play(game, "pass", "bid 2", "pass", "trump S")
    for seat, first, second in [(1, "2C", "4C"), (2, "5C", "6C"), (0, "QS", "KS")]:
        hand = names(game.hands[seat])
        assert (game.phase, game.seat, legal(game)) == ("discard", seat, hand)
        game.apply(first)
        assert (game.phase, game.seat, legal(game)) == ("discard", seat, hand - {first})
        game.apply(second)
    assert (game.phase, game.seat) == ("play", 1)
    assert [names(hand) for hand in game.hands] == [{"AS"}, {"3C"}, {"7C"}]


def test_a_seat_with_no_more_than_tricks_cards_has_no_discard():
    game = bought(deal("AS KS | 3S 4S", stock="2C 9D 8D", widow=3))
    assert (game.phase, game.seat, legal(game)) == ("discard", 0, {"AS", "KS", "2C", "9D", "8D"})
    play(game, "2C", "9D", "8D")
    assert (game.phase, game.seat) == ("play", 0)


def test_without_a_widow_pitched_trump_has_no_discard():
    assert bought(deal("AS KS | 3S 4S", trump="pitched", keep_trump=True)).phase == "play"


def test_discards_lie_face_down_but_their_number_is_public():
    def after(*discards: str):
        return play(bought(deal("AS KS 2H 3H | 3S 4S 5S 6S", stock="9D 8D 7D 6D", redraw=2)), *discards, "done")

    # Other cards drawn or kept would show in the play; which card lies face down does not show to seat 1.
    low, high, two = after("2H"), after("AS"), after("2H", "AS")
    assert np.array_equal(low.observe(1), high.observe(1))
    assert not np.array_equal(low.observe(1), two.observe(1))
    assert not np.array_equal(low.observe(0), high.observe(0))


# keep_trump, declared


@pytest.mark.parametrize(
    ("hand", "keep_trump", "may_discard"),
    [
        pytest.param("AS KS 3H 4H", True, {"3H", "4H"}, id="as many trumps as tricks"),
        pytest.param("AS 2H 3H 4H", True, {"2H", "3H", "4H"}, id="fewer trumps"),
        pytest.param("AH 2H 3H 4H", True, {"AH", "2H", "3H", "4H"}, id="no trump"),
        pytest.param("AS KS 2S 4H", True, {"AS", "KS", "2S", "4H"}, id="more trumps than tricks"),
        pytest.param("AS KS QS JS", True, {"AS", "KS", "QS", "JS"}, id="only trumps"),
        pytest.param("AS KS 3H 4H", False, {"AS", "KS", "3H", "4H"}, id="without the rule"),
    ],
)
def test_keep_trump(hand, keep_trump, may_discard):
    game = bought(deal(f"{hand} | 3C 4C 5C 6C", tricks=2, keep_trump=keep_trump))
    assert (game.phase, legal(game)) == ("discard", may_discard)


def test_keep_trump_binds_card_by_card():
    game = bought(deal("AS KS 2S 4H | 3C 4C 5C 6C", tricks=2, keep_trump=True))
    play(game, "2S")
    assert legal(game) == {"4H"}


def test_keep_trump_binds_every_seat():
    game = bought(deal("AS KS 3H 4H | QS 4C 5C 6C", tricks=2, keep_trump=True))
    play(game, "3H", "4H")
    assert (game.seat, legal(game)) == (1, {"4C", "5C", "6C"})


@pytest.mark.parametrize(
    ("hand", "off_jack", "may_discard"),
    [
        ("AS JC 3H 4H", True, {"3H", "4H"}),
        ("AS JC 3H 4H", False, {"JC", "3H", "4H"}),
        ("LJ HJ 3H 4H", True, {"3H", "4H"}),
        ("AS JC LJ 4H", True, {"AS", "JC", "LJ", "4H"}),
    ],
)
def test_keep_trump_counts_off_jack_and_jokers_as_trumps(hand, off_jack, may_discard):
    game = bought(deal(f"{hand} | 3C 4C 5C 6C", tricks=2, keep_trump=True, off_jack=off_jack, jokers=2))
    assert legal(game) == may_discard


@pytest.mark.parametrize(
    ("hand", "may_discard"),
    [
        ("AS KS 3H", {"3H", "done"}),
        ("AS 2H 3H", {"2H", "3H", "done"}),
        ("AS KS QS", {"AS", "KS", "QS", "done"}),
    ],
)
def test_keep_trump_binds_in_the_redraw(hand, may_discard):
    game = bought(deal(f"{hand} | 4C 5C 6C", stock="7C 8C 9C TC", tricks=2, redraw=2, keep_trump=True))
    assert (game.phase, legal(game)) == ("redraw", may_discard)


def test_keep_trump_in_the_redraw_counts_the_hand_as_it_is_now():
    game = bought(deal("AS KS QS | 4C 5C 6C", stock="7C 8C 9C TC", tricks=2, redraw=2, keep_trump=True))
    play(game, "QS")
    assert legal(game) == {"done"}


# keep_trump, pitched: hand and widow of the pitcher, who has three cards too many; what he has discarded, what he may.


@pytest.mark.parametrize(
    ("hand", "widow", "discarded", "may_discard"),
    [
        pytest.param("AS KS 2H", "3H 4H 5C", "", {"AS", "KS", "2H", "3H", "4H", "5C"}, id="another suit is whole"),
        pytest.param("AS KS 2H", "3H 4H 5C", "AS", {"KS", "2H", "3H", "4H", "5C"}, id="two suits are whole"),
        pytest.param("AS KS 2H", "3H 4H 5C", "AS 2H", {"KS", "3H", "4H"}, id="the last whole suit stays"),
        pytest.param("AS KS 2H", "3H 4H 5C", "AS 5C", {"KS"}, id="the last open suit stays at tricks"),
        pytest.param("AS KS QS", "JS TS 2S", "AS KS", {"QS", "JS", "TS", "2S"}, id="one suit, any card"),
        pytest.param("AS KS QS", "JS 2H 3H", "AS 2H", {"3H"}, id="a broken suit may go down to tricks"),
        pytest.param("AS KS QS", "JS 2H 3H", "2H 3H", {"AS", "KS", "QS", "JS"}, id="four down to three"),
        pytest.param("AS KS QS", "2C 2H 3H", "AS", {"KS", "QS", "2C", "2H", "3H"}, id="tricks of a suit, one gone"),
        pytest.param("AS KS QS", "2C 2H 3H", "AS KS", {"QS", "2C", "2H", "3H"}, id="either of two whole suits"),
    ],
)
def test_keep_trump_with_pitched_trump_leaves_a_suit_open(hand, widow, discarded, may_discard):
    game = bought(deal(f"{hand} | 6C 7C 8C", stock=widow, trump="pitched", widow=3, keep_trump=True))
    play(game, *discarded.split())
    assert (game.phase, game.seat, legal(game)) == ("discard", 0, may_discard)


@pytest.mark.parametrize(
    ("hand", "widow", "discarded", "may_lead"),
    [
        pytest.param("AS KS 2H", "3H 4H 5C", "AS 2H KS", {"5C"}, id="broken hearts are closed"),
        pytest.param("AS KS 2H", "3H 4H 5C", "AS KS 5C", {"2H", "3H", "4H"}, id="whole hearts"),
        pytest.param("AS KS 2H", "3H 4H 5C", "2H 3H 4H", {"AS", "KS", "5C"}, id="two whole suits"),
        pytest.param("AS KS 2H", "3H 4H 5C", "2H 3H AS", {"5C"}, id="only the whole suit"),
        pytest.param("AS KS QS", "2S 2H 3H", "2H 3H 2S", {"AS", "KS", "QS"}, id="broken, but tricks are left"),
        pytest.param("AS KS QS", "2C 2H 3H", "AS 2H 3H", {"2C"}, id="two of three spades left are closed"),
        pytest.param("AS KS QS", "JS TS 2S", "AS KS QS", {"JS", "TS", "2S"}, id="six of a suit"),
    ],
)
def test_keep_trump_with_pitched_trump_binds_the_first_lead(hand, widow, discarded, may_lead):
    game = bought(deal(f"{hand} | 6C 7C 8C", stock=widow, trump="pitched", widow=3, keep_trump=True))
    play(game, *discarded.split())
    assert (game.phase, game.seat, legal(game)) == ("play", 0, may_lead)


def test_without_keep_trump_the_pitcher_leads_what_he_likes():
    game = bought(deal("AS KS 2H | 6C 7C 8C", stock="3H 4H 5C", trump="pitched", widow=3))
    play(game, "AS", "2H")
    assert legal(game) == {"KS", "3H", "4H", "5C"}
    play(game, "5C")
    assert legal(game) == {"KS", "3H", "4H"}


def test_keep_trump_with_pitched_trump_binds_the_first_lead_alone():
    game = bought(deal("AS KS 2H | 6D 7D 8D", stock="3H 4H 5C", trump="pitched", widow=3, keep_trump=True))
    play(game, "AS", "2H", "3H", "5C", "6D")
    assert (game.seat, legal(game)) == (0, {"KS", "4H"})


# discards_count: without it seat 0 (ace) and seat 1 (ace) tie for Game; High and Low are seat 0's.


@pytest.mark.parametrize(
    ("hands", "discards", "changes", "points"),
    [
        pytest.param("AS 2H TC | 3S AH 4C", "TC 4C", {}, [3, 0], id="the pitcher's ten"),
        pytest.param("AS 2H TC | 3S AH 4C", "TC 4C", {"discards_count": False}, [2, 0], id="not without the rule"),
        pytest.param("AS 2H JC | 3S AH 4C", "JC 4C", {}, [3, 0], id="the pitcher's jack"),
        pytest.param("AS 2H 9C | 3S AH 4C", "9C 4C", {}, [2, 0], id="the pitcher's nine"),
        pytest.param("AS 2H 9C | 3S AH TC", "9C TC", {}, [2, 0], id="another seat's ten counts for nobody"),
        pytest.param("AS 2H HJ | 3S AH 4C", "HJ 4C", {"jokers": 1, "joker_pips": 1}, [3, 0], id="pips of a joker"),
        pytest.param("AS 2H JS | 3S AH JC", "JS JC", {"off_jack": True}, [3, 0], id="pips only, not the jack's point"),
        pytest.param("AS 2H TS | 3S AH 4C", "TS 4C", {"game": "trump_ten"}, [2, 0], id="not for the ten of trump"),
        pytest.param("AS 2H 3H | 3S AH 4C", "3H 4C", {"trump_three": True}, [5, 0], id="three of trump is in play"),
        pytest.param("AS 2H 3S | 4S AH 4C", "3S 4C", {"trump_three": True}, [2, 0], id="three of trump put away"),
        pytest.param(
            "AS 2H 4C | 3S AH 5C | 4S 3H TC | 5S 4H 6C",
            "4C 5C TC 6C",
            {},
            [2, 0],
            id="his partner's ten does not",
        ),
    ],
)
def test_discards_count(hands, discards, changes, points):
    game = bought(deal(hands, stock="TD TH", tricks=2, **({"discards_count": True} | changes)))
    play(game, *discards.split())
    assert list(play_left_to_right(game, hands).points) == points


@pytest.mark.parametrize(("discards_count", "points"), [(True, [3, 0]), (False, [2, 0])])
def test_cards_put_away_in_the_redraw_count_too(discards_count, points):
    hands = "AS 2H TC | 3S AH 4C"
    game = bought(deal(hands, stock="9C 8C", tricks=2, redraw=1, discards_count=discards_count))
    play(game, "TC", "done", "done", "9C", "4C")
    assert list(play_left_to_right(game, hands).points) == points


@pytest.mark.parametrize("discards_count", [True, False])
def test_what_is_left_in_the_stock_counts_for_nobody(discards_count):
    assert list(finished("AS 2H | 3S AH", discards_count=discards_count).points) == [2, 0]
    game = bought(deal("AS 2H | 3S AH", stock="TC TD TH", discards_count=discards_count))
    assert list(play_left_to_right(game, "AS 2H | 3S AH").points) == [2, 0]

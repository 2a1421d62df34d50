"""Phase 2: the auction."""

import pytest

import pitchenv
from tests.rules.table import deal, legal, play

MAX_FOUR = {"pass", "bid 1", "bid 2", "bid 3", "bid 4"}


def auction(players: int = 4, **changes) -> pitchenv.Game:
    """One card each, the dealer by default the last seat: seat 0 speaks first."""
    cards = ["2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C"][:players]
    return deal("|".join(cards), **changes)


def bids(*levels: int) -> set[str]:
    return {f"bid {level}" for level in levels}


@pytest.mark.parametrize("dealer", [0, 1, 2, 3])
def test_it_starts_left_of_the_dealer_and_goes_clockwise(dealer):
    game = auction(dealer=dealer)
    for turn in range(1, 5):
        assert (game.phase, game.seat) == ("auction", (dealer + turn) % 4)
        game.apply("pass")


@pytest.mark.parametrize(
    ("changes", "levels"),
    [
        ({}, [1, 2, 3, 4]),
        ({"min_bid": 2}, [2, 3, 4]),
        ({"min_bid": 4}, [4]),
        ({"off_jack": True}, [1, 2, 3, 4, 5]),
        ({"jokers": 1}, [1, 2, 3, 4, 5]),
        ({"jokers": 2}, [1, 2, 3, 4, 5, 6]),
        ({"trump_three": True}, [1, 2, 3, 4, 5, 6, 7]),
        ({"off_jack": True, "jokers": 2}, [1, 2, 3, 4, 5, 6, 7]),
        ({"off_jack": True, "jokers": 2, "trump_three": True, "min_bid": 2}, [2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ({"game": "trump_ten"}, [1, 2, 3, 4]),
    ],
)
def test_a_seat_passes_or_bids_from_min_bid_to_the_number_of_points(changes, levels):
    assert legal(auction(**changes)) == {"pass"} | bids(*levels)


@pytest.mark.parametrize(
    ("changes", "top"),
    [
        ({"lowest_rank": 13}, 4),
        ({"off_jack": True, "lowest_rank": 12}, 5),
        ({"trump_three": True, "lowest_rank": 4}, 7),
    ],
)
def test_a_point_whose_card_the_pack_lacks_still_counts_in_the_maximum(changes, top):
    game = deal("AS | KS", **changes)
    assert legal(game) == {"pass"} | bids(*range(1, top + 1))


@pytest.mark.parametrize("standing", [1, 2, 3])
def test_a_bid_is_higher_than_the_standing_bid(standing):
    game = play(auction(), f"bid {standing}")
    assert legal(game) == {"pass"} | bids(*range(standing + 1, 5))
    play(game, "pass")
    assert legal(game) == {"pass"} | bids(*range(standing + 1, 5))


# Once round


@pytest.mark.parametrize(
    ("actions", "pitcher", "bid"),
    [
        (["bid 1", "pass", "pass", "pass"], 0, 1),
        (["bid 1", "bid 2", "pass", "bid 3"], 3, 3),
        (["pass", "bid 3", "pass", "pass"], 1, 3),
        (["pass", "pass", "bid 2", "pass"], 2, 2),
        (["pass", "pass", "pass", "bid 1"], 3, 1),
        (["bid 1", "bid 2", "bid 3", "pass"], 2, 3),
    ],
)
def test_once_each_seat_has_one_turn_and_it_ends_after_the_dealers(actions, pitcher, bid):
    game = auction(auction="once")
    for seat, action in enumerate(actions):
        assert (game.phase, game.seat) == ("auction", seat)
        game.apply(action)
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", pitcher, pitcher, bid)


# Rounds


@pytest.mark.parametrize(
    ("turns", "pitcher", "bid"),
    [
        pytest.param(["0 bid 1", "1 pass", "2 pass", "3 pass"], 0, 1, id="all others pass"),
        pytest.param(["0 pass", "1 pass", "2 bid 3", "3 pass"], 2, 3, id="over at the last pass"),
        pytest.param(["0 pass", "1 pass", "2 pass", "3 bid 2"], 3, 2, id="the dealer alone"),
        pytest.param(["0 bid 1", "1 pass", "2 bid 2", "3 pass", "0 pass"], 2, 2, id="a second round"),
        pytest.param(["0 bid 1", "1 bid 2", "2 pass", "3 pass", "0 bid 3", "1 pass"], 0, 3, id="two bid on"),
        pytest.param(["0 bid 1", "1 pass", "2 pass", "3 bid 2", "0 bid 3", "3 pass"], 0, 3, id="passed skipped"),
        pytest.param(["0 bid 1", "1 bid 2", "2 bid 3", "3 pass", "0 pass", "1 bid 4"], 1, 4, id="up to the maximum"),
    ],
)
def test_rounds_go_round_until_all_but_one_have_passed_and_a_pass_is_final(turns, pitcher, bid):
    game = auction(auction="rounds")
    for turn in turns:
        seat, action = turn.split(maxsplit=1)
        assert (game.phase, game.seat) == ("auction", int(seat))
        game.apply(action)
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", pitcher, pitcher, bid)


# The maximum


@pytest.mark.parametrize("kind", ["once", "rounds"])
@pytest.mark.parametrize("passes", [0, 1, 2, 3])
def test_a_bid_of_the_maximum_ends_the_auction_at_once(kind, passes):
    game = play(auction(auction=kind), *["pass"] * passes, "bid 4")
    assert (game.phase, game.pitcher, game.bid) == ("trump", passes, 4)


def test_below_max_stealing_leaves_the_maximum_final():
    game = play(auction(dealer_steals="below_max"), "bid 4")
    assert (game.phase, game.pitcher, game.bid) == ("trump", 0, 4)


# Stealing


@pytest.mark.parametrize(
    ("dealer_steals", "standing", "dealer_may"),
    [
        ("never", 1, {"pass", "bid 2", "bid 3", "bid 4"}),
        ("never", 3, {"pass", "bid 4"}),
        ("below_max", 1, {"pass", "bid 1", "bid 2", "bid 3", "bid 4"}),
        ("below_max", 3, {"pass", "bid 3", "bid 4"}),
        ("max_only", 1, {"pass", "bid 2", "bid 3", "bid 4"}),
        ("max_only", 3, {"pass", "bid 4"}),
        ("max_only", 4, {"pass", "bid 4"}),
        ("any", 1, {"pass", "bid 1", "bid 2", "bid 3", "bid 4"}),
        ("any", 3, {"pass", "bid 3", "bid 4"}),
        ("any", 4, {"pass", "bid 4"}),
    ],
)
def test_what_the_dealer_may_bid_over_a_standing_bid(dealer_steals, standing, dealer_may):
    game = play(auction(dealer_steals=dealer_steals), f"bid {standing}", "pass", "pass")
    assert (game.phase, game.seat) == ("auction", 3)
    assert legal(game) == dealer_may


@pytest.mark.parametrize(("dealer_steals", "standing"), [("below_max", 2), ("any", 2), ("any", 4), ("max_only", 4)])
def test_the_dealer_who_bids_the_same_takes_it(dealer_steals, standing):
    game = play(auction(dealer_steals=dealer_steals), "pass", f"bid {standing}", "pass", f"bid {standing}")
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", 3, 3, standing)


@pytest.mark.parametrize(("dealer_steals", "standing"), [("below_max", 2), ("any", 2), ("any", 4), ("max_only", 4)])
def test_the_dealer_who_does_not_steal_leaves_it_to_the_bidder(dealer_steals, standing):
    game = play(auction(dealer_steals=dealer_steals), "pass", f"bid {standing}", "pass", "pass")
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", 1, 1, standing)


@pytest.mark.parametrize("dealer_steals", ["below_max", "max_only", "any"])
def test_only_the_dealer_steals(dealer_steals):
    game = play(auction(dealer_steals=dealer_steals), "bid 2")
    assert legal(game) == {"pass", "bid 3", "bid 4"}


@pytest.mark.parametrize("dealer_steals", ["max_only", "any"])
def test_the_seats_up_to_the_dealer_can_only_pass_over_the_maximum(dealer_steals):
    game = play(auction(dealer_steals=dealer_steals), "bid 4")
    for seat in (1, 2):
        assert (game.phase, game.seat, legal(game)) == ("auction", seat, {"pass"})
        game.apply("pass")
    assert (game.phase, game.seat, legal(game)) == ("auction", 3, {"pass", "bid 4"})


@pytest.mark.parametrize("dealer_steals", ["max_only", "any"])
def test_the_maximum_that_can_be_stolen_is_that_of_the_game(dealer_steals):
    game = play(auction(dealer_steals=dealer_steals, jokers=1), "bid 4")
    assert legal(game) == {"pass", "bid 5"}
    play(game, "bid 5", "pass")
    assert (game.seat, legal(game)) == (3, {"pass", "bid 5"})


# Nobody bids


@pytest.mark.parametrize("kind", ["once", "rounds"])
@pytest.mark.parametrize(
    ("must_bid", "dealer_may"),
    [((2,), bids(2)), ((2, 3, 4), bids(2, 3, 4)), ((1, 4), bids(1, 4)), ((), MAX_FOUR)],
)
def test_when_all_others_passed_the_dealer_must_choose_among_dealer_must_bid(kind, must_bid, dealer_may):
    game = play(auction(auction=kind, dealer_must_bid=must_bid), "pass", "pass", "pass")
    assert (game.phase, game.seat) == ("auction", 3)
    assert legal(game) == dealer_may
    level = max(must_bid, default=3)
    play(game, f"bid {level}")
    assert (game.phase, game.pitcher, game.bid) == ("trump", 3, level)


@pytest.mark.parametrize("dealer_steals", ["below_max", "max_only", "any"])
def test_stealing_gives_the_forced_dealer_nothing_more(dealer_steals):
    game = play(auction(dealer_steals=dealer_steals, dealer_must_bid=(2, 3)), "pass", "pass", "pass")
    assert legal(game) == bids(2, 3)


@pytest.mark.parametrize("kind", ["once", "rounds"])
def test_the_dealer_is_not_forced_once_something_is_bid(kind):
    game = play(auction(auction=kind, dealer_must_bid=(2, 3)), "bid 1", "pass", "pass")
    assert legal(game) == {"pass", "bid 2", "bid 3", "bid 4"}


@pytest.mark.parametrize("kind", ["once", "rounds"])
def test_the_others_are_never_forced(kind):
    game = auction(auction=kind, dealer_must_bid=(2, 3))
    for _ in range(3):
        assert legal(game) == MAX_FOUR
        play(game, "pass")


@pytest.mark.parametrize("kind", ["once", "rounds"])
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize(("thrown_in", "step"), [("same_dealer", 0), ("next_dealer", 1)])
def test_when_the_dealer_passes_too_the_cards_are_thrown_in(kind, players, thrown_in, step):
    for dealer in range(players):
        game = auction(players, dealer=dealer, auction=kind, thrown_in=thrown_in)
        scores = list(game.scores)
        play(game, *["pass"] * players)
        assert (game.phase, game.seat, game.points, game.legal_actions()) == ("ended", None, None, [])
        assert (list(game.scores), game.over, game.winner, game.deals_played) == (scores, False, None, 1)
        game.next_deal()
        assert (game.phase, game.dealer) == ("auction", (dealer + step) % players)
        assert game.seat == (dealer + step + 1) % players


def test_two_players_bid_against_each_other():
    game = auction(2, auction="rounds")
    for seat, action in [(0, "bid 1"), (1, "bid 2"), (0, "bid 3"), (1, "pass")]:
        assert game.seat == seat
        game.apply(action)
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", 0, 0, 3)


@pytest.mark.parametrize("players", [3, 5, 8])
def test_rounds_of_other_numbers_of_players(players):
    game = play(auction(players, auction="rounds"), "bid 1", *["pass"] * (players - 2))
    assert (game.phase, game.seat) == ("auction", players - 1)
    play(game, "bid 2")
    assert (game.phase, game.seat) == ("auction", 0)
    play(game, "pass")
    assert (game.phase, game.seat, game.pitcher, game.bid) == ("trump", players - 1, players - 1, 2)


def test_pitching_is_bidding_the_maximum_and_then_leading():
    game = deal("AS | 2C", trump="pitched")
    assert not legal(game) & {"AS", "2C"}
    play(game, "bid 4")
    assert (game.phase, game.seat, legal(game)) == ("play", 0, {"AS"})

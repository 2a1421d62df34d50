"""Phase 1: the deal."""

from collections import Counter

import pytest

import pitchenv
from tests.rules.table import deal, house, names


@pytest.mark.parametrize(
    ("players", "hand_size", "widow", "jokers"),
    [(4, 9, 0, 2), (6, 8, 6, 2), (7, 6, 0, 0), (2, 27, 0, 2), (2, 1, 52, 2)],
)
def test_each_seat_gets_hand_size_cards_and_the_rest_is_the_stock(players, hand_size, widow, jokers):
    tricks = min(hand_size, 6)
    rules = house(players=players, sides=players, hand_size=hand_size, tricks=tricks, widow=widow, jokers=jokers)
    for seed in range(20):
        game = pitchenv.Game(rules, seed=seed)
        assert [len(hand) for hand in game.hands] == [hand_size] * players
        dealt = [card for hand in game.hands for card in hand]
        assert len(game.stock) == 52 + jokers - players * hand_size
        assert len(set(dealt) | set(game.stock)) == 52 + jokers


def test_the_pack_is_shuffled():
    rules = house(players=2, sides=2, hand_size=6)
    games = [pitchenv.Game(rules, seed=seed) for seed in range(4000)]
    hands = Counter(card for game in games for card in game.hands[0])
    tops = Counter(game.stock[0] for game in games)
    # Of 4000 deals a card is in a hand 461.5 +- 20.2 times and on top of the stock 76.9 +- 8.7 times: five deviations.
    assert len(hands) == 52
    assert all(abs(count - 461.5) < 101 for count in hands.values())
    assert len(tops) == 52
    assert all(abs(count - 76.9) < 44 for count in tops.values())


@pytest.mark.parametrize("players", [2, 3, 4, 8])
def test_the_first_dealer_is_drawn_at_random(players):
    rules = house(players=players, sides=players)
    dealers = Counter(pitchenv.Game(rules, seed=seed).dealer for seed in range(1600))
    share = 1600 / players
    assert sorted(dealers) == list(range(players))
    # Five deviations of the widest case, 1600 draws with probability a half.
    assert all(abs(count - share) < 100 for count in dealers.values())


def test_successive_deals_of_a_match_differ():
    game = pitchenv.Game(house(target=1000), seed=3)
    hands = []
    for _ in range(5):
        hands.append(tuple(tuple(hand) for hand in game.hands))
        while game.phase != "ended":
            game.apply(game.legal_actions()[0])
        game.next_deal()
    assert len(set(hands)) == 5


def test_the_same_seed_deals_the_same_match():
    rules = house()
    games = [pitchenv.Game(rules, seed=seed) for seed in (7, 7, 8)]
    assert games[0].hands == games[1].hands
    assert games[0].dealer == games[1].dealer
    assert games[0].hands != games[2].hands


def test_a_chosen_deal_is_dealt_as_given():
    game = deal("AS 2H | 3S 3H", stock="9C 2D", dealer=0, scores=[4, -3])
    assert [names(hand) for hand in game.hands] == [{"AS", "2H"}, {"3S", "3H"}]
    assert list(game.stock)[:2] == [7, 13]
    assert (game.dealer, list(game.scores), game.phase, game.seat) == (0, [4, -3], "auction", 1)
    assert (game.pitcher, game.bid, game.trump, game.points) == (None, None, None, None)


def test_a_chosen_deal_without_a_stock_has_the_rest_of_the_pack_in_the_order_of_card_numbers():
    rules = house(players=2, sides=2, hand_size=1, tricks=1, lowest_rank=13, jokers=1)
    game = pitchenv.Game.from_deal(rules, hands=[["AD"], ["KS"]], stock=None, dealer=0, scores=[0, 0], seed=0)
    assert list(game.stock) == [11, 12, 24, 37, 38, 51, 52]


@pytest.mark.parametrize(
    ("hands", "stock", "changes", "named"),
    [
        pytest.param("AS 2H | AS 3H", "", {}, "AS", id="one card twice"),
        pytest.param("AS 2H | 3S 3H", "AS", {}, "AS", id="in a hand and in the stock"),
        pytest.param("AS 2H | 3S", "", {}, "hand_size", id="a hand too small"),
        pytest.param("AS 2H | 3S 3H 4H", "", {}, "hand_size", id="a hand too large"),
        pytest.param("AS 2H | 3S 1H", "", {}, "1H", id="no card"),
        pytest.param("AS 9H | 6H 8H", "", {"lowest_rank": 7}, "6H", id="under the lowest rank"),
        pytest.param("AS 2H | 3S 3H", "7C", {"widow": 2}, "stock", id="a stock too small for the widow"),
        pytest.param("AS 2H | 3S 3H", "7C 8C", {"redraw": 2}, "stock", id="a stock too small for the redraw"),
        pytest.param("AS 2H | 3S 3H", "", {"dealer": 2}, "dealer", id="no such dealer"),
        pytest.param("AS 2H | 3S 3H", "", {"scores": [1, 2, 3]}, "scores", id="a score too many"),
    ],
)
def test_an_impossible_deal_is_refused(hands, stock, changes, named):
    with pytest.raises(ValueError, match=named):
        deal(hands, stock=stock, **changes)

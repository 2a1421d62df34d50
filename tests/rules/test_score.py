"""Phase 9: the score.

Two deals of one trick are enough. In `GOOD` the pitcher's lone ace is High, Low and Game: 3 points to side 0. In
`POOR` his two is caught by a king and only Low is his: 1 point to side 0, High and Game to side 1.
"""

import pytest

from tests.rules.table import deal, finished, play

GOOD = "AS | 2C | 3C | 4C"
POOR = "2S | KS | 3C | 4C"
HOLDER = {"low_to": "holder", "target": 1000}


@pytest.mark.parametrize(
    ("hands", "bid", "before", "after"),
    [
        pytest.param(GOOD, 1, [0, 0], [3, 0], id="points above the bid are added"),
        pytest.param(GOOD, 3, [0, 0], [3, 0], id="the bid just made"),
        pytest.param(GOOD, 4, [0, 0], [-4, 0], id="set back by the bid, the points lost"),
        pytest.param(GOOD, 4, [2, 5], [-2, 5], id="below zero"),
        pytest.param(GOOD, 4, [-6, -7], [-10, -7], id="further below zero"),
        pytest.param(GOOD, 2, [-6, -7], [-3, -7], id="up from below zero"),
        pytest.param(POOR, 1, [0, 0], [1, 2], id="both sides score"),
        pytest.param(POOR, 2, [0, 0], [-2, 2], id="the others score when the pitcher is set"),
        pytest.param(POOR, 4, [10, -1], [6, 1], id="added to what there was"),
    ],
)
def test_score(hands, bid, before, after):
    game = finished(hands, bid, scores=before, **HOLDER)
    assert list(game.points) == ([3, 0] if hands == GOOD else [1, 2])
    assert list(game.scores) == after


@pytest.mark.parametrize(("bid", "after"), [(1, [3, 0]), (3, [3, 0]), (4, [-4, 0])])
def test_the_partners_points_reach_the_bid_too(bid, after):
    # Seat 2 catches the two of its partner: High, Low and Game of side 0.
    assert list(finished("2S | 3C | KS | 4C", bid, **HOLDER).scores) == after


@pytest.mark.parametrize(
    ("hands", "bid", "after"),
    [
        pytest.param("2S | KS | 3C", 1, [1, 2, 0], id="made"),
        pytest.param("2S | KS | 3C", 2, [-2, 2, 0], id="set"),
        pytest.param("KS | 3S | 2S", 3, [-3, 0, 1], id="set by one point"),
        pytest.param("KS | 3S | 2S", 2, [2, 0, 1], id="made, Low elsewhere"),
    ],
)
def test_every_other_side_adds_its_points(hands, bid, after):
    assert list(finished(hands, bid, **HOLDER).scores) == after


def test_a_seat_that_won_the_auction_late_is_the_pitcher():
    game = deal("2C | 3C | AS | 4C", **HOLDER)
    play(game, "bid 1", "bid 2", "pass", "bid 4", "trump S", "4C", "2C", "3C", "AS")
    # Seat 3 bid four; its partner has nothing and seat 2 of the other side all three points.
    assert list(game.scores) == [3, -4]


@pytest.mark.parametrize("win", ["pitcher", "any"])
@pytest.mark.parametrize(
    ("overshoot", "hands", "bid", "before", "after"),
    [
        pytest.param("counts", POOR, 1, [0, 6], [1, 8], id="counts"),
        pytest.param("capped", POOR, 1, [0, 6], [1, 7], id="capped at the target"),
        pytest.param("capped", POOR, 1, [0, 5], [1, 7], id="just there"),
        pytest.param("capped", POOR, 1, [0, 4], [1, 6], id="below"),
        pytest.param("capped", POOR, 2, [0, 6], [-2, 7], id="capped when the pitcher is set"),
        pytest.param("capped", POOR, 1, [0, 9], [1, 9], id="already above: not raised, not lowered"),
        pytest.param("capped", GOOD, 1, [6, 0], [9, 0], id="the pitcher is not capped"),
        pytest.param("capped", GOOD, 1, [8, 0], [11, 0], id="the pitcher above the target is not"),
    ],
)
def test_overshoot(win, overshoot, hands, bid, before, after):
    game = finished(hands, bid, scores=before, low_to="holder", target=7, win=win, overshoot=overshoot)
    assert list(game.scores) == after


def test_a_capped_side_has_reached_the_target():
    game = finished(POOR, 1, scores=[0, 6], low_to="holder", target=7, win="any", overshoot="capped")
    assert (game.winner, game.over) == (1, True)


def test_points_are_none_until_a_deal_is_done():
    game = deal(GOOD, **HOLDER)
    for action in ["bid 1", "pass", "pass", "pass", "trump S", "AS", "2C", "3C", "4C"]:
        assert game.points is None
        assert list(game.scores) == [0, 0]
        game.apply(action)
    assert (list(game.points), list(game.scores)) == ([3, 0], [3, 0])


def test_a_deal_thrown_in_scores_nothing():
    game = play(deal(GOOD, scores=[6, -2], **HOLDER), "pass", "pass", "pass", "pass")
    assert (game.phase, game.points, list(game.scores)) == ("ended", None, [6, -2])

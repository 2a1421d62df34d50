"""A match: deals follow one another until a side wins.

`GOOD` gives 3 points to the pitcher's side 0 (the lone ace is High, Low and Game), `POOR` 1 to it and 2 to side 1 (the
two that is caught stays Low of its holder; the king is High and Game). The target is 7.
"""

import pytest

import pitchenv
from tests.rules.table import deal, finished, house, play

GOOD = "AS | 2C | 3C | 4C"
POOR = "2S | KS | 3C | 4C"
SOLO = "2S | KS | 3C"


@pytest.mark.parametrize(
    ("win", "hands", "bid", "before", "after", "winner"),
    [
        pytest.param("any", GOOD, 1, [3, 0], [6, 0], None, id="any: one short"),
        pytest.param("any", GOOD, 1, [4, 0], [7, 0], 0, id="any: just there"),
        pytest.param("any", GOOD, 1, [6, 0], [9, 0], 0, id="any: beyond"),
        pytest.param("any", GOOD, 4, [6, 0], [2, 0], None, id="any: set"),
        pytest.param("any", POOR, 1, [0, 5], [1, 7], 1, id="any: the other side is there"),
        pytest.param("any", POOR, 2, [0, 5], [-2, 7], 1, id="any: the other side is there, bid not made"),
        pytest.param("any", POOR, 1, [6, 5], [7, 7], 0, id="any: both, the pitcher's side wins"),
        pytest.param("any", POOR, 1, [6, 9], [7, 11], 0, id="any: both, though it has less"),
        pytest.param("any", POOR, 2, [9, 5], [7, 7], 0, id="any: there in spite of the set-back"),
        pytest.param("any", POOR, 1, [0, 0], [1, 2], None, id="any: nobody"),
        pytest.param("any", SOLO, 1, [0, 5, 7], [1, 7, 7], None, id="any: tied above the pitcher"),
        pytest.param("any", SOLO, 1, [0, 6, 7], [1, 8, 7], 1, id="any: the highest of the others"),
        pytest.param("any", SOLO, 1, [6, 5, 9], [7, 7, 9], 0, id="any: the pitcher before higher ones"),
        pytest.param("highest", GOOD, 1, [4, 0], [7, 0], 0, id="highest: just there"),
        pytest.param("highest", GOOD, 1, [3, 0], [6, 0], None, id="highest: one short"),
        pytest.param("highest", POOR, 1, [0, 5], [1, 7], 1, id="highest: the other side"),
        pytest.param("highest", POOR, 1, [6, 5], [7, 7], None, id="highest: tied"),
        pytest.param("highest", POOR, 1, [6, 9], [7, 11], 1, id="highest: pitcher's side has less"),
        pytest.param("highest", POOR, 1, [7, 5], [8, 7], 0, id="highest: pitcher's side has more"),
        pytest.param("highest", POOR, 2, [9, 5], [7, 7], None, id="highest: tied after a set-back"),
        pytest.param("highest", SOLO, 1, [6, 6, 7], [7, 8, 7], 1, id="highest: of three"),
        pytest.param("highest", SOLO, 1, [6, 4, 7], [7, 6, 7], None, id="highest: tied with the third"),
        pytest.param("pitcher", GOOD, 1, [4, 0], [7, 0], 0, id="pitcher: just there"),
        pytest.param("pitcher", GOOD, 1, [3, 0], [6, 0], None, id="pitcher: one short"),
        pytest.param("pitcher", POOR, 1, [0, 5], [1, 7], None, id="pitcher: another side cannot win"),
        pytest.param("pitcher", POOR, 1, [6, 9], [7, 11], 0, id="pitcher: it alone can"),
        pytest.param("pitcher", POOR, 2, [9, 5], [7, 7], 0, id="pitcher: whether made or not"),
        pytest.param("pitcher", POOR, 2, [8, 9], [6, 11], None, id="pitcher: set back below"),
        pytest.param("made_bid", GOOD, 3, [4, 0], [7, 0], 0, id="made_bid: made"),
        pytest.param("made_bid", POOR, 1, [6, 9], [7, 11], 0, id="made_bid: made, though it has less"),
        pytest.param("made_bid", POOR, 2, [9, 5], [7, 7], None, id="made_bid: not made"),
        pytest.param("made_bid", POOR, 1, [0, 5], [1, 7], None, id="made_bid: another side cannot win"),
        pytest.param("made_bid", GOOD, 1, [3, 0], [6, 0], None, id="made_bid: one short"),
    ],
)
def test_who_wins(win, hands, bid, before, after, winner):
    game = finished(hands, bid, scores=before, win=win, low_to="holder")
    assert list(game.scores) == after
    assert (game.winner, game.over) == (winner, winner is not None)


@pytest.mark.parametrize("target", [1, 2, 3, 4, 11, 1000])
def test_target(target):
    game = finished(GOOD, win="any", target=target)
    assert game.winner == (0 if target <= 3 else None)


@pytest.mark.parametrize("win", ["any", "highest", "pitcher", "made_bid"])
def test_a_deal_thrown_in_cannot_end_the_match(win):
    game = play(deal(GOOD, scores=[9, 8], win=win), *["pass"] * 4)
    assert (game.phase, game.winner, game.over) == ("ended", None, False)


@pytest.mark.parametrize("thrown_in", ["same_dealer", "next_dealer"])
@pytest.mark.parametrize("dealer", [0, 1, 2, 3])
def test_the_deal_passes_to_the_left_after_every_deal_that_was_played(thrown_in, dealer):
    game = deal("AS | KS | QS | TS", dealer=dealer, thrown_in=thrown_in, target=1000)
    play(game, "bid 1", *["pass"] * 3, "trump S")
    while game.phase != "ended":
        game.apply(game.legal_actions()[0])
    game.next_deal()
    assert (game.phase, game.dealer, game.seat) == ("auction", (dealer + 1) % 4, (dealer + 2) % 4)


def test_another_deal_is_played_after_a_tie():
    game = finished(POOR, 1, scores=[6, 5], win="highest", low_to="holder")
    assert (game.over, game.deals_played) == (False, 1)
    game.next_deal()
    assert (game.phase, list(game.scores), game.dealer) == ("auction", [7, 7], 0)
    assert (game.pitcher, game.bid, game.trump) == (None, None, None)


def test_scores_and_deals_add_up_over_a_match():
    game = pitchenv.Game(house(hand_size=6, tricks=6, target=20, win="any", dealer_must_bid=(2,)), seed=5)
    scores = [0, 0]
    deals = 0
    while not game.over:
        pitcher, bid = None, None
        while game.phase != "ended":
            if game.phase == "play":
                pitcher, bid = game.pitcher, game.bid
            actions = game.legal_actions()
            game.apply(actions[0] if game.phase == "auction" else actions[len(actions) // 2])
        deals += 1
        for side in (0, 1):
            made = side != pitcher % 2 or game.points[side] >= bid
            scores[side] += game.points[side] if made else -bid
        assert (list(game.scores), game.deals_played) == (scores, deals)
        if not game.over:
            game.next_deal()
    assert deals > 1
    assert game.winner is not None
    assert game.scores[game.winner] >= 20


def test_deals_thrown_in_are_deals_played():
    game = deal(GOOD)
    for deals in (1, 2, 3):
        play(game, *["pass"] * 4)
        assert game.deals_played == deals
        game.next_deal()
    assert game.dealer == 3


def test_nothing_can_be_done_after_the_end():
    game = finished(GOOD, scores=[6, 0])
    assert (game.over, game.phase, game.seat, game.legal_actions()) == (True, "ended", None, [])
    for action in ("pass", "AS", "done"):
        with pytest.raises(pitchenv.IllegalAction):
            game.apply(action)
    assert (list(game.scores), game.winner, game.deals_played) == ([9, 0], 0, 1)


@pytest.mark.parametrize("action", ["bid 5", "AS", "trump S", "done", "2S", "HJ", "nonsense", 70, -1, 59, "bid"])
def test_an_illegal_action_is_refused_and_changes_nothing(action):
    game = deal(GOOD)
    before = game.legal_actions(), game.seat, game.phase
    with pytest.raises(pitchenv.IllegalAction):
        game.apply(action)
    assert (game.legal_actions(), game.seat, game.phase) == before
    assert list(game.scores) == [0, 0]
    play(game, "bid 1")
    assert game.seat == 1

"""What one seat may know, with perfect recall; and a match again from that and a guess of the rest."""

import random

import numpy as np
import pytest

import pitchenv
from pitchenv.cards import CARDS, cards_in, mask_of
from pitchenv.engine.state import HIDDEN, HIDDEN_CARD, VIEW
from tests.conformance import ALL_RULES, random_deal
from tests.hidden import with_other_hidden_cards


@pytest.mark.parametrize("name", ALL_RULES)
def test_a_view_holds_all_that_the_seat_has_seen(name):
    rules = ALL_RULES[name]
    rng = random.Random(name)
    for seed in range(2):
        first = pitchenv.Game(rules, seed=seed)
        dealt = [set(hand) for hand in first.hands]
        for game in random_deal(first, rng):
            for seat in range(rules.players):
                view = game.view(seat)
                assert view.dtype == VIEW
                assert view["seat"] == seat
                assert set(cards_in(int(view["first_hand"]))) == dealt[seat]
                assert cards_in(int(view["hand"])) == game.hands[seat]
                assert cards_in(int(view["put_away"])) == game.put_away[seat]
                played = {a for s, a in game.actions if s == seat and a < CARDS} - set(game.put_away[seat])
                held = set(game.hands[seat]) | set(game.put_away[seat]) | played
                assert set(cards_in(int(view["drawn"]))) == held - dealt[seat]
                put_away = {(s, a) for s in range(rules.players) for a in game.put_away[s]}
                history = [HIDDEN_CARD if (s, a) in put_away and s != seat else a for s, a in game.actions]
                assert view["history"][: len(history)].tolist() == history
                assert view["public"]["history_seats"][: len(history)].tolist() == [s for s, _ in game.actions]
                assert view["public"] == game.view((seat + 1) % rules.players)["public"]


def guess_from(game: pitchenv.Game) -> np.ndarray:
    """The hidden half of a match, as the guess that a search would make."""
    hidden = np.zeros((), HIDDEN)
    hidden[()] = game._match["hidden"][0]
    return hidden[()]


@pytest.mark.parametrize("name", ALL_RULES)
def test_a_match_again_from_a_view_and_the_rest(name):
    rules = ALL_RULES[name]
    rng = random.Random(name)
    for seed in range(2):
        for game in random_deal(pitchenv.Game(rules, seed=seed), rng):
            seat = rng.randrange(rules.players)
            world = with_other_hidden_cards(game, seat, rng)
            wrong = guess_from(world)
            wrong["hands"][seat] = wrong["first_hands"][seat] = mask_of([0])  # the seat's own cards come from the view
            again = pitchenv.Game.from_view(game.view(seat), wrong, rules)
            assert again.view(seat).tobytes() == game.view(seat).tobytes()
            assert (again.hands, again.stock, again.put_away) == (world.hands, world.stock, world.put_away)
            assert again.legal_actions() == world.legal_actions()
            assert (again.state() == world.state()).all()


@pytest.mark.parametrize("name", ["oklahoma-4", "smear", "auction-4-partners"])
def test_the_true_rest_gives_the_match_itself_and_it_plays_on_alike(name):
    rules = ALL_RULES[name]
    rng = random.Random(3)
    for seed in range(3):
        for game in random_deal(pitchenv.Game(rules, seed=seed), rng):
            again = pitchenv.Game.from_view(game.view(game.seat), guess_from(game), rules)
            ahead = game.copy()
            while ahead.phase != "ended":
                action = rng.choice(ahead.legal_actions())
                assert again.legal_actions() == ahead.legal_actions()
                assert again.seat == ahead.seat
                ahead.apply(action)
                again.apply(action)
            assert (again.points, again.scores, again.winner) == (ahead.points, ahead.scores, ahead.winner)
            if not ahead.over:
                again.next_deal()
                ahead.next_deal()
                assert (again.hands, again.dealer) == (ahead.hands, ahead.dealer)


def test_a_view_is_the_callers_own():
    game = pitchenv.Game("smear", seed=1)
    view = game.view(2)
    before = view.tobytes()
    game.apply("pass")
    assert view.tobytes() == before
    view["hand"] = 0
    assert game.hands[2]


@pytest.mark.parametrize("seat", [-1, 4])
def test_a_seat_that_is_not_there(seat):
    game = pitchenv.Game("smear", seed=1)
    for look in (game.view, game.observe):
        with pytest.raises(ValueError, match=f"seat = {seat}: allowed: 0 … 3"):
            look(seat)

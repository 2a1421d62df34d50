"""Names change nothing: other names for the suits, or other chairs for the same people, give the same match under those names."""

import itertools
import random

import numpy as np
import pytest

import pitchenv
from pitchenv.actions import TRUMP_0
from pitchenv.cards import CARDS, HIGH_JOKER, SUITS, same_colour
from pitchenv.observation import layout
from tests.conformance import ALL_RULES
from tests.random_rules import random_rules


def relabelled_actions(suits: list[int]) -> np.ndarray:
    """For every action the one that it becomes when suit s is called `suits[s]`."""
    actions = np.arange(70)
    for suit in range(SUITS):
        actions[suit * 13 : suit * 13 + 13] = suits[suit] * 13 + np.arange(13)
        actions[TRUMP_0 + suit] = TRUMP_0 + suits[suit]
    return actions


def relabelled_state(state: np.ndarray, slots: int, suits: list[int]) -> np.ndarray:
    """A full state (observation, then the hidden rest) under other names of the suits."""
    legend = layout(slots)
    cards = relabelled_actions(suits)[:CARDS]
    out = state.copy()
    for piece in legend.pieces:
        old = state[legend.slices[piece.name]].reshape(-1, len(piece.columns))
        new = out[legend.slices[piece.name]].reshape(-1, len(piece.columns))
        if len(piece.columns) == CARDS:
            new[:, cards] = old
        elif piece.name in ("trump", "voids", "trick"):  # the first four columns are the suits
            new[:, suits] = old[:, :SUITS]
    old, new = (s[legend.size :].reshape(-1, CARDS) for s in (state, out))
    new[:, cards] = old
    return out


def suit_names(rules: pitchenv.Rules) -> list[list[int]]:
    """All ways to rename the suits; with an off-jack those that keep pairs of a colour together."""
    every = [list(p) for p in itertools.permutations(range(SUITS))]
    return [p for p in every if not rules.off_jack or all(p[same_colour(s)] == same_colour(p[s]) for s in range(SUITS))]


RANDOM_RULES = {f"random rules {n}": pitchenv.Rules(**random_rules(random.Random(n))) for n in range(40)}


@pytest.mark.parametrize("name", ALL_RULES | RANDOM_RULES)
def test_other_names_for_the_suits(name):
    rules = (ALL_RULES | RANDOM_RULES)[name]
    rng = random.Random(name)
    names = suit_names(rules)
    assert len(names) == (8 if rules.off_jack else 24)
    for seed, suits in enumerate(rng.sample(names, 6)):
        other = relabelled_actions(suits)
        game = pitchenv.Game(rules, seed=seed)
        twin = pitchenv.Game.from_deal(
            rules, [[int(other[c]) for c in hand] for hand in game.hands], [int(other[c]) for c in game.stock], dealer=game.dealer
        )
        while game.phase != "ended":
            legal = game.legal_actions()
            assert sorted(other[legal].tolist()) == twin.legal_actions()
            seat = rng.randrange(rules.players)
            assert (twin.state(seat) == relabelled_state(game.state(seat), rules.players, suits)).all()
            action = rng.choice(legal)
            game.apply(action)
            twin.apply(int(other[action]))
            assert (twin.phase, twin.seat) == (game.phase, game.seat)
        assert (twin.points, twin.scores, twin.winner) == (game.points, game.scores, game.winner)
        assert (twin.state() == relabelled_state(game.state(), rules.players, suits)).all()


@pytest.mark.parametrize("name", ALL_RULES | RANDOM_RULES)
def test_other_chairs(name):
    """Everybody moves `turn` places to the left: everybody sees the same, and the sides' results move with them."""
    rules = (ALL_RULES | RANDOM_RULES)[name]
    rng = random.Random(name)
    players, sides = rules.players, rules.sides
    for seed in range(4):
        turn = rng.randrange(1, players)
        game = pitchenv.Game(rules, seed=seed)
        scores = [rng.randint(-3, rules.target - 1) for _ in range(sides)]
        start = {"stock": game.stock, "dealer": game.dealer, "scores": scores}
        game = pitchenv.Game.from_deal(rules, game.hands, **start)
        moved = start | {"dealer": (game.dealer + turn) % players, "scores": [scores[(s - turn) % sides] for s in range(sides)]}
        twin = pitchenv.Game.from_deal(rules, [game.hands[(s - turn) % players] for s in range(players)], **moved)
        while game.phase != "ended":
            assert twin.seat == (game.seat + turn) % players
            assert twin.legal_actions() == game.legal_actions()
            seat = rng.randrange(players)
            assert (twin.state((seat + turn) % players) == game.state(seat)).all()
            assert (twin.mask((seat + turn) % players) == game.mask(seat)).all()
            action = rng.choice(game.legal_actions())
            game.apply(action)
            twin.apply(action)
        assert twin.scores == [game.scores[(s - turn) % sides] for s in range(sides)]
        assert twin.points == (game.points and [game.points[(s - turn) % sides] for s in range(sides)])
        assert twin.winner == (None if game.winner is None else (game.winner + turn) % sides)
        assert all((twin.state((s + turn) % players) == game.state(s)).all() for s in range(players))


def test_with_an_off_jack_colours_matter():
    """A renaming that breaks up a colour is no symmetry: the first test would notice a missing off-jack."""
    rules = pitchenv.Rules(players=2, sides=2, off_jack=True, trump="declared", hand_size=2, tricks=2)

    def second_may_play(jack: str) -> list[str]:
        game = pitchenv.Game.from_deal(rules, [["AS", "2D"], [jack, "3D"]], dealer=1)
        for action in ("bid 2", "pass", "trump S", "AS"):
            game.apply(action)
        return [pitchenv.actions.action_name(a) for a in game.legal_actions()]

    assert second_may_play("JC") == ["JC"]
    assert second_may_play("JH") == ["3D", "JH"]


def test_renaming_leaves_jokers_and_calls_alone():
    assert relabelled_actions([3, 2, 1, 0])[HIGH_JOKER:TRUMP_0].tolist() == list(range(HIGH_JOKER, TRUMP_0))

"""Canonical suits: the same hand under other suit names is the same to a network, and its answer comes back under those names."""

import itertools

import numpy as np
import pytest

from agents.canonical import canonical_observations, canonical_states, original_actions, rename_cards
from pitchenv import Batch, Game, games, load_rules
from pitchenv.cards import CARD_NAMES, cards_in
from pitchenv.observation import layout

COLOURS_KEPT = [p for p in itertools.permutations(range(4)) if p[0] + p[3] == 3]


def renamed(action: int, to: tuple[int, ...]) -> int:
    """An action under other suit names."""
    if action < 52:
        return to[action // 13] * 13 + action % 13
    return 65 + to[action - 65] if 65 <= action < 69 else action


@pytest.mark.parametrize("name", games())
def test_suit_names_do_not_matter(name: str) -> None:
    rules = load_rules(name)
    rng = np.random.default_rng(1)
    permutations = COLOURS_KEPT if rules.off_jack else list(itertools.permutations(range(4)))
    for seed in range(8):
        game = Game(rules, seed)
        to = permutations[rng.integers(len(permutations))]
        twin = Game.from_deal(
            rules, [[renamed(c, to) for c in hand] for hand in game.hands], [renamed(c, to) for c in game.stock], game.dealer
        )
        while game.seat is not None:
            names = []
            for one in (game, twin):
                observation, suits = canonical_observations(one._view(one.seat), rules.players)
                names.append((observation.tobytes(), original_actions(suits)[0], one.mask(one.seat)))
            key = one_suit_tied(game)
            if not key:
                assert names[0][0] == names[1][0]
                assert [renamed(a, to) for a in names[0][1]] == names[1][1].tolist()
                assert (names[0][2][names[0][1]] == names[1][2][names[1][1]]).all()
            action = int(rng.choice(game.legal_actions()))
            game.apply(action)
            twin.apply(renamed(action, to))


def one_suit_tied(game: Game) -> bool:
    """Whether two suits of the seat's first hand hold the same ranks, so that their order is by name."""
    hand = int(game.view(game.seat)["first_hand"])
    held = [hand >> 13 * s & 0x1FFF for s in range(4)]
    return len(set(held)) < 4


@pytest.mark.parametrize("name", ["auction-4-partners", "oklahoma-6", "smear"])
@pytest.mark.parametrize("rename", [True, False])
def test_states_agree_with_the_batch(name: str, rename: bool) -> None:
    batch = Batch(name, 40, seed=2, restart=False)
    rng = np.random.default_rng(0)
    for _ in range(60):
        live = np.flatnonzero(batch.seat >= 0)
        if not live.size:
            break
        state, mask, to = canonical_states(batch.matches, live, batch.layout, rename)
        original = original_actions(to)
        assert (np.take_along_axis(batch.mask[live], original, 1) == mask).all()
        if rename:
            observation, names = canonical_observations(batch.views()[live], batch.layout.slots)
            assert (names == to).all()
            assert (state[:, : batch.layout.size] == observation).all()
        else:
            assert (state == batch.state[live]).all()
        actions = np.zeros(40, np.int64)
        actions[live] = (rng.random((live.size, 70)) * batch.mask[live]).argmax(1)
        batch.step(actions)


def test_trump_comes_first_and_colours_stay_together() -> None:
    game = Game("oklahoma-4", seed=5)
    game.apply("bid 2")
    for _ in range(3):
        game.apply("pass")
    game.apply("trump H")
    observation, to = canonical_observations(game._view(game.seat), 4)
    assert to[0, 2] == 0  # hearts are called clubs
    assert to[0, 1] == 3  # diamonds, which hold the off-jack, spades
    assert layout(4).piece(observation, "trump")[0].tolist() == [1, 0, 0, 0]


def test_cards_by_name() -> None:
    to = np.array([1, 0, 3, 2])
    mask = sum(1 << CARD_NAMES.index(c) for c in ("AC", "2D", "TH", "HJ", "LJ"))
    assert [CARD_NAMES[c] for c in cards_in(rename_cards(mask, to))] == ["2C", "AD", "TS", "HJ", "LJ"]

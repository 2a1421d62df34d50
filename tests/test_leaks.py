"""Nothing hidden leaks: what a seat is given is the same to the byte whatever the cards are that it cannot know."""

import random

import numpy as np
import pytest

import pitchenv
from pitchenv import pitch_v0, single
from pitchenv.engine.state import HIDDEN, VIEW
from pitchenv.render import seat_text, table_text
from tests.conformance import ALL_RULES, random_deal
from tests.hidden import swapped, with_other_hidden_cards
from tests.random_rules import random_rules


def given_to(game: pitchenv.Game, seat: int) -> list[bytes]:
    """All that the library hands out to a seat."""
    parts = [game.view(seat).tobytes(), game.observe(seat).tobytes(), game.observe(seat, slots=8).tobytes(), game.mask(seat).tobytes()]
    return [*parts, seat_text(game, seat).encode()]


@pytest.mark.parametrize("name", ALL_RULES)
def test_no_seat_can_tell_other_hidden_cards(name):
    rules = ALL_RULES[name]
    rng = random.Random(name)
    told_apart = 0
    for seed in range(2):
        for game in random_deal(pitchenv.Game(rules, seed=seed), rng):
            for seat in {game.seat, rng.randrange(rules.players)}:
                twin = with_other_hidden_cards(game, seat, rng)
                assert given_to(twin, seat) == given_to(game, seat)
                if (twin.hands, twin.put_away, twin.stock) != (game.hands, game.put_away, game.stock):
                    told_apart += 1
                    assert (twin.state() != game.state()).any()
                    assert (twin.state(seat) != game.state(seat)).any()
                    assert table_text(twin) != table_text(game)
    assert told_apart > 12


def test_no_seat_can_tell_other_hidden_cards_under_random_rules():
    rng = random.Random(8)
    for seed in range(60):
        rules = pitchenv.Rules(**random_rules(rng))
        for game in random_deal(pitchenv.Game(rules, seed=seed), rng):
            if rng.random() < 0.15:
                seat = rng.choice([game.seat, rng.randrange(rules.players)])
                assert given_to(with_other_hidden_cards(game, seat, rng), seat) == given_to(game, seat)


@pytest.mark.parametrize("name", ["oklahoma-4", "smear", "oklahoma-6"])
def test_nothing_is_left_of_the_deal_before(name):
    """What others put away in an earlier deal of the match stays unknown: the next deal looks as if it were the first at those scores."""
    rng = random.Random(1)
    rules = pitchenv.load_rules(name, target=1000)
    game = pitchenv.Game(rules, seed=2)
    for _ in range(3):
        for _ in random_deal(game, rng):
            pass
        game.next_deal()
        alone = pitchenv.Game.from_deal(rules, game.hands, game.stock, game.dealer, game.scores)
        for field in ("points", "change", "scored", "deals_played"):
            alone._match["public"][field] = game._match["public"][field]
        for seat in range(rules.players):
            assert game.view(seat).tobytes() == alone.view(seat).tobytes()


def test_what_the_seat_may_know_is_seen():
    """The other way round: the test above would notice a seat's own cards."""
    game = pitchenv.Game("auction-4-partners", seed=1)
    twin = with_other_hidden_cards(game, 0, random.Random(1))
    for seat in range(1, 4):
        assert all(a != b for a, b in zip(given_to(game, seat)[:3], given_to(twin, seat)[:3], strict=True))


def test_a_view_has_no_part_of_the_hidden_half():
    def leaves(dtype):
        return [f"{name}.{leaf}" for name in dtype.names for leaf in (leaves(dtype[name]) if dtype[name].names else [""])]

    assert not any(leaf.split(".")[0] in ("hidden", "hands", "first_hands", "stock", "seed") for leaf in leaves(VIEW))
    assert set(VIEW.names) & set(HIDDEN.names) == {"put_away"}  # the seat's own
    assert VIEW["put_away"].shape == ()


def seen_in_env(env, seat: int) -> list:
    agent = f"player_{seat}"
    observation = env.observe(agent)
    return [observation["observation"].tobytes(), observation["action_mask"].tobytes(), env.infos[agent], seat_text(env.game, seat)]


@pytest.mark.parametrize("name", ALL_RULES)
def test_paired_deals_through_the_environment(name):
    """Two whole deals that differ in two cards, played alike: the same to a seat until one of the two is shown to it."""
    rules = ALL_RULES[name]
    rng = random.Random(name)
    one, two = pitch_v0.raw_env(rules=rules), pitch_v0.raw_env(rules=rules)
    pairs = 0
    for seed in range(24):
        game = pitchenv.Game(rules, seed=seed)
        for _ in random_deal(game, rng):
            pass
        moves, seat = rng.randint(1, len(game.actions) - 1), rng.randrange(rules.players)
        changed = swapped(game, seat, moves, rng)
        if changed is None:
            continue
        hands, stock, actions = changed
        one.reset(seed=seed)
        two.reset(seed=seed + 1000, options={"hands": hands, "stock": stock, "dealer": game.dealer})
        assert one.game.hands != two.game.hands
        for (_, action), other in zip(game.actions, actions, strict=False):
            assert seen_in_env(one, seat) == seen_in_env(two, seat)
            hidden = [(env.game.hands, env.game.put_away, env.game.stock) for env in (one, two)]
            assert (one.state() != two.state()).any() == (hidden[0] != hidden[1])
            one.step(action)
            try:
                two.step(other)
            except pitchenv.IllegalAction:  # with these cards the others could not have played so
                break
        else:
            assert seen_in_env(one, seat) == seen_in_env(two, seat)
            pairs += 1
    assert pairs > 4


def test_the_gymnasium_observation_is_that_of_the_learners_seat():
    env = single.PitchEnv("oklahoma-4")
    rng = random.Random(1)
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        ended = False
        while not ended:
            twin = with_other_hidden_cards(env.game, info["seat"], rng)
            assert observation.tobytes() == twin.observe(info["seat"]).tobytes()
            assert np.array_equal(info["action_mask"], twin.mask(info["seat"]))
            observation, _, ended, _, info = env.step(rng.choice(np.flatnonzero(info["action_mask"]).tolist()))

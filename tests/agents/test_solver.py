"""The solver against brute force with the engine's own rules, its switches against each other, and hands whose value is plain to see."""

import random

import numpy as np
import pytest

import pitchenv
from agents.search.kernels.alphabeta import ALL_SWITCHES, search
from agents.search.solver import Solver
from pitchenv import Batch, Game, Rules, load_rules
from pitchenv.cards import card
from pitchenv.checks import InputError
from pitchenv.engine.state import MATCH, PLAY
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.agents.brute_force import brute_force, brute_force_maxn, endings
from tests.random_rules import random_rules

EVERY_SWITCH = range(ALL_SWITCHES + 1)


@pytest.fixture(scope="module")
def endings_and_rules() -> tuple[np.ndarray, list[Rules]]:
    """Over 10,000 endings over all games and random combinations of all fields: up to 4 cards a hand with four players, more with fewer."""
    rng = random.Random(1)
    games = [load_rules(name) for name in pitchenv.games()] * 12 + [Rules.from_dict(random_rules(rng)) for _ in range(600)]
    ways = np.array([3] * 4 + [40] * 6 + [1500] * 4 + [14_000])
    found = [endings(rules, len(ways), 1000 * i, ways) for i, rules in enumerate(games)]
    # Where four hold four cards each there are 24 ⁴ ways; a few of those too.
    found += [endings(load_rules(name), 2, 7, np.full(2, 24**4)) for name in ("auction-4-partners", "smear", "oklahoma-4", "auction-4")]
    games += [load_rules(name) for name in ("auction-4-partners", "smear", "oklahoma-4", "auction-4")]
    return np.concatenate(found), [rules for rules, some in zip(games, found, strict=True) for _ in some]


@pytest.mark.parametrize("match_points", [0, 6])
def test_equals_brute_force(endings_and_rules, match_points):
    many_endings, _ = endings_and_rules
    assert len(many_endings) >= 10_000
    assert (many_endings["public"]["rules"]["sides"] > 2).sum() > 2000
    expected = brute_force(many_endings, match_points)
    assert len(np.unique(expected)) > 50
    for switches in (0, ALL_SWITCHES):
        np.testing.assert_allclose(Solver(match_points=match_points, switches=switches).solve(many_endings), expected)


def test_every_card_equals_brute_force(endings_and_rules):
    """The value after a card is the value of the match in which it has been played."""
    some = [(rules, record) for record, rules in zip(*endings_and_rules, strict=True)][::6]
    games = [Game.from_record(rules, record) for rules, record in some]
    values = Solver().cards(np.concatenate([game._match for game in games]))
    for row, game in zip(values, games, strict=True):
        assert np.flatnonzero(~np.isnan(row)).tolist() == game.legal_actions()
    after = [(i, action, game.copy()) for i, game in enumerate(games) for action in game.legal_actions()]
    for _, action, game in after:
        game.apply(action)
    expected = brute_force(np.concatenate([game._match for *_, game in after]))
    np.testing.assert_allclose([values[i, action] for i, action, _ in after], expected)


def test_maxn_equals_brute_force(endings_and_rules):
    matches, _ = endings_and_rules
    matches = matches[matches["public"]["held"].sum(axis=1) <= 12]
    values = Solver().maxn(matches)
    np.testing.assert_allclose(values, brute_force_maxn(matches), atol=1e-9)
    np.testing.assert_allclose(values.sum(axis=1), 0, atol=1e-9)
    two = matches["public"]["rules"]["sides"] == 2
    pitchers = matches["public"]["pitcher"] % 2
    np.testing.assert_allclose(values[np.arange(len(values)), pitchers][two], Solver().solve(matches[two]))  # minimax
    assert len(matches) > 5000


def full_deals(game: str, n: int) -> np.ndarray:
    """Fresh deals after auction and exchange by `heuristic`."""
    batch = Batch(game, n, 5, restart=False)
    policy = HeuristicPolicy()
    ready = []
    while (batch.seat >= 0).any():
        batch.step(policy.act(batch.views(), batch.mask, batch.seat))
        public = batch.matches["public"]
        ready.append(batch.matches[(public["phase"] == PLAY) & (public["first_lead_at"] == public["moves"])].copy())
    return np.concatenate(ready)


def test_all_switches_agree_on_full_deals():
    deals = np.concatenate(
        [full_deals(game, n) for game, n in (("auction-4-partners", 400), ("auction-3", 250), ("smear", 300), ("auction-2", 200))]
    )
    assert len(deals) >= 1000
    values = [Solver(switches=switches).solve(deals) for switches in EVERY_SWITCH]
    for switches, other in enumerate(values):
        np.testing.assert_array_equal(values[-1], other, err_msg=str(switches))
    assert len(np.unique(values[-1])) > 8


def test_the_value_is_that_of_the_best_card():
    deals = full_deals("auction-4-partners", 100)
    solver = Solver()
    cards = solver.cards(deals)
    np.testing.assert_array_equal(solver.solve(deals), np.nanmax(cards, axis=1))  # the pitcher leads


def test_a_solver_used_before_gives_the_same():
    """Nothing of one deal is found in another."""
    deals = full_deals("smear", 60)
    used = Solver()
    used.cards(full_deals("auction-4-partners", 60))
    np.testing.assert_array_equal(used.cards(deals), np.concatenate([Solver().cards(deals[i : i + 1]) for i in range(len(deals))]))


def two_handed(hands: list[str], bid: int, **changes: object) -> Game:
    """The last tricks of two players, seat 1 the pitcher with spades as trump."""
    cards = [hand.split() for hand in hands]
    rules = Rules(
        **{**load_rules("auction-2").to_dict(), "hand_size": len(cards[0]), "tricks": len(cards[0]), "trump": "declared", **changes}
    )
    game = Game.from_deal(rules, cards, [], dealer=0, scores=[0, 0])
    for action in (f"bid {bid}", "pass", "trump S"):
        game.apply(action)
    return game


@pytest.mark.parametrize(
    ("hands", "bid", "best", "value"),
    [
        # The ace draws the queen, and the jack is safe: all four points.
        (["QS 2C", "AS JS"], 3, "AS", 4),
        # The deuce draws the king, at the price of High and Low; the jack then takes the ace of clubs, and Game with it.
        (["KS AC", "JS 2S"], 2, "2S", 2 - 2),
        # With a bid of 3 that is a set-back, whatever is led; to lose only High and Low besides is still best.
        (["KS AC", "JS 2S"], 3, "2S", -3 - 2),
    ],
)
def test_hands_plain_to_see(hands, bid, best, value):
    game = two_handed(hands, bid)
    solver = Solver()
    assert solver.solve(game._match)[0] == brute_force(game._match)[0] == value
    assert np.nanargmax(solver.cards(game._match)[0]) == card(best)


def test_one_signature_alone():
    """A second one would be loaded from Numba's cache with a call to nowhere (see `alphabeta`)."""
    Solver().solve(full_deals("auction-2", 3))
    assert len(search.signatures) <= 1


def test_refusals():
    with pytest.raises(InputError, match=r"matches\[0\].phase = 'auction': allowed: 'play'"):
        Solver().solve(Batch("auction-2", 2, 1).matches)
    with pytest.raises(InputError, match="allowed: MATCH records"):
        Solver().solve(np.zeros((2, 2), MATCH))
    with pytest.raises(InputError, match=r"matches\[0\]: 24 cards in hand; allowed for maxn: at most 18"):
        Solver().maxn(full_deals("auction-4", 2))

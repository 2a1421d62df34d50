"""Exact play against a slow twin: `Game`, the rule-based player and the solver asked anew before every card."""

import random

import numpy as np
import pytest

import pitchenv
from agents.search.kernels.alphabeta import search
from agents.search.solver import Solver
from pitchenv import Batch, Game, Rules, load_rules
from pitchenv.checks import InputError
from pitchenv.engine.state import ENDED, MATCH, NOBODY, PLAY, THROWN_IN, TRUMP
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.agents.searching import answer
from tests.random_rules import random_rules
from training.exact_play import EXACT, EXACT_MAXN, ExactPlay, deal_returns

SOLVER, HEURISTIC = Solver(), HeuristicPolicy()
MOST = 20  # cards that the solver is asked about with rules of every kind: some can't be solved quickly from further back


def after_bidding(rules: Rules | str, n: int, seed: int = 1) -> np.ndarray:
    """Deals whose bidding, at random, is over: MATCH (n,)."""
    batch = Batch(rules, n, seed, start_scores="spread", restart=False)
    rng = np.random.default_rng(seed)
    ready = np.zeros(n, MATCH)
    while (batch.seat != NOBODY).any():
        bidding = batch.matches["public"]["phase"] <= TRUMP
        ready[bidding] = batch.matches[bidding]
        batch.step(np.where(batch.mask, rng.random(batch.mask.shape), -1).argmax(1))
        ready[bidding] = batch.matches[bidding]
    return ready


def held(game: Game) -> int:
    return sum(map(len, game.hands))


def slow_finish(game: Game, exact: int, exact_maxn: int) -> tuple[Game, np.ndarray | None]:
    """The deal played out, and the margins by side that the solver promised where it took over (None: it never did)."""
    sides, promised = game.rules.sides, None
    limit = exact if sides == 2 else exact_maxn
    while game.phase != "ended":
        legal = game.legal_actions()
        if game.phase != "play" or game.trump is None or held(game) > limit:
            game.apply(answer(HEURISTIC, game))
            continue
        assert game.seat is not None
        assert game.pitcher is not None
        side, pitchers = game.seat % sides, game.pitcher % sides
        if sides == 2:
            values = SOLVER.cards(game._match)[0] * (1 if side == pitchers else -1)
            if promised is None:
                promised = np.where(np.arange(2) == side, 1, -1) * np.nanmax(values)
            game.apply(int(np.nanargmax(values)))
            continue
        if promised is None:
            promised = SOLVER.maxn(game._match)[0, :sides]
        after = [margins_after(game, card) for card in legal]
        game.apply(legal[max(range(len(legal)), key=lambda k: (after[k][side], *after[k]))])
    return game, promised


def margins_after(game: Game, card: int) -> list[float]:
    """By side, after a card; by maxⁿ."""
    game = game.copy()
    game.apply(card)
    if game.phase != "ended":
        margins: list[float] = SOLVER.maxn(game._match)[0, : game.rules.sides].tolist()
        return margins
    return margins_of(game._match["public"][0], game.rules).tolist()


def margins_of(public: np.ndarray, rules: Rules) -> np.ndarray:
    change = public["change"][: rules.sides].astype(float)
    margins: np.ndarray = change - (change.sum() - change) / (rules.sides - 1)
    return margins


def check(rules: Rules, deals: np.ndarray, exact: int = EXACT, exact_maxn: int = EXACT_MAXN) -> int:
    """Every deal's margins by side are those of the slow twin, and what the solver promised; returns in how many it did."""
    finished = deals.copy()
    ExactPlay(exact, exact_maxn).finish(finished)
    assert (finished["public"]["phase"] == ENDED).all()
    solved = 0
    for before, after in zip(deals, finished, strict=True):
        twin, promised = slow_finish(Game.from_record(rules, before), exact, exact_maxn)
        if after["public"]["scored"] == THROWN_IN:
            continue
        margins = margins_of(after["public"], rules)
        np.testing.assert_allclose(margins, margins_of(twin._match["public"][0], rules), atol=1e-9)
        if promised is not None:
            solved += 1
            np.testing.assert_allclose(margins, promised, atol=1e-9)
    return solved


@pytest.mark.parametrize("name", pitchenv.games())
def test_equals_the_slow_twin(name):
    rules = load_rules(name)
    assert check(rules, after_bidding(rules, 4 if name == "oklahoma-4" else 40)) >= 4


def test_equals_the_slow_twin_under_any_rules():
    rng = random.Random(3)
    solved = 0
    for seed in range(200):
        rules = Rules.from_dict(random_rules(rng))
        solved += check(rules, after_bidding(rules, 2, seed), MOST if rules.max_bid <= 4 else 14, 8)
    assert solved > 200


@pytest.mark.parametrize("name", ["auction-4-partners", "smear", "auction-3"])
def test_goes_on_from_the_middle_of_a_trick(name):
    rules = load_rules(name)
    deals = after_bidding(rules, 40)
    rng, ready = np.random.default_rng(1), []
    for record in deals:
        game = Game.from_record(rules, record)
        for _ in range(rng.integers(4, 14)):
            if game.phase != "ended":
                game.apply(int(rng.choice(game.legal_actions())))
        ready.append(game._match)
    some = np.concatenate(ready)
    assert ((some["public"]["phase"] == PLAY) & (some["public"]["winning"] != NOBODY)).any()
    assert check(rules, some) > 10


def test_the_end_of_a_deal_does_not_hang_on_what_was_played_before():
    """The same cards, whatever the table of positions holds, whatever stands beside it, games mixed."""
    deals = np.concatenate([after_bidding(name, 60) for name in ("auction-4-partners", "setback", "auction-3", "oklahoma-6")])
    player = ExactPlay()
    together = deals.copy()
    player.finish(together)
    order = np.random.default_rng(2).permutation(len(deals))
    again = deals[order]
    player.finish(again[:100])
    player.finish(again[100:])
    assert (again == together[order]).all()
    player.finish(again)  # all have ended
    assert (again == together[order]).all()


def test_one_signature_alone():
    """A second one would be loaded from Numba's cache with a call to nowhere (see `agents.search.kernels.alphabeta`)."""
    ExactPlay().finish(after_bidding("auction-2", 3))
    assert len(search.signatures) <= 1


@pytest.mark.parametrize("reward", ["margin", "score"])
def test_returns_are_those_of_a_batch(reward):
    """Rules of all sorts in one batch, thrown-in deals and empty slots too."""
    games = ["setback", "auction-3", "oklahoma-6", "auction-7", load_rules("smear", overshoot="capped")]
    batch = Batch(games, 400, 1, slots=8, reward=reward, start_scores="spread", restart=False)
    paid, rng = np.zeros_like(batch.reward), np.random.default_rng(1)
    while (batch.seat != NOBODY).any():
        batch.step(np.where(batch.mask, rng.random(batch.mask.shape), -1).argmax(1))
        paid += batch.reward
    public = batch.matches["public"]
    assert (public["scored"] == THROWN_IN).any()
    returns = deal_returns(public, reward, 8)
    assert returns.dtype == np.float32
    np.testing.assert_array_equal(returns, paid)
    np.testing.assert_array_equal(deal_returns(public[1::5], reward, 4), paid[1::5, :4])


def test_refusals():
    player = ExactPlay()
    with pytest.raises(InputError, match=r"matches\[0\].phase = 'auction': allowed: redraw, discard, play, ended"):
        player.finish(Batch("auction-2", 2, 1).matches)
    with pytest.raises(InputError, match="allowed: MATCH records"):
        player.finish(np.zeros((2, 2), MATCH))
    with pytest.raises(InputError, match=r"exact_maxn = 19: allowed: .*18"):
        ExactPlay(exact_maxn=19)
    with pytest.raises(InputError, match=r"public\[0\].phase = 'auction': allowed: ended"):
        deal_returns(Batch("auction-2", 2, 1).matches["public"], "margin", 2)
    with pytest.raises(InputError, match=r"reward 'win': unknown.*allowed: margin, score"):
        deal_returns(np.zeros(0, MATCH)["public"], "win", 2)

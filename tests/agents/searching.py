"""What every player that searches must hold, checked for each of them by its own tests."""

import random

import numpy as np

from pitchenv import Batch, Game, Rules, load_rules
from pitchenv.actions import ACTIONS, action_name
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.hidden import with_other_hidden_cards

# Two players, kings and aces alone, all dealt: each knows all cards from the first.
OPEN_RULES = load_rules("auction-2", lowest_rank=13, hand_size=4, tricks=4)


def answer(policy: Policy, game: Game) -> int:
    """What a policy does in the place of the seat to act."""
    assert game.seat is not None
    mask = np.zeros((1, ACTIONS), np.bool_)
    mask[0, game.legal_actions()] = True
    return int(policy.act(np.array([game.view(game.seat)]), mask, np.array([game.seat]))[0])


def sees_no_hidden_cards(policy: Policy, name: str, seed: int) -> int:
    """Every decision of a deal is the same with other hidden cards; returns in how many they were different ones."""
    rng = random.Random(seed)
    game, others = Game(name, seed=seed), 0
    policy.reset(game.rules, 1, 5)
    heuristic = HeuristicPolicy()
    while game.phase != "ended":
        assert game.seat is not None
        if len(game.legal_actions()) > 1:
            twin = with_other_hidden_cards(game, game.seat, rng)
            others += twin.hands != game.hands
            action = answer(policy, game)
            assert action in game.legal_actions()
            assert answer(policy, twin) == action, (game.phase, action_name(action))
        game.apply(answer(heuristic, game))
    return others


def answers_row_by_row(policy: Policy, rules: Rules, rows: int) -> None:
    """The same view and seed, the same action, whatever stands beside it; another seed is another stream."""
    batch = Batch(rules, rows, seed=4, skip_forced=True)
    batch.play_random(2)
    views, mask, seat = batch.views(), batch.mask.copy(), batch.seat.copy()
    policy.reset(rules, rows, 9)
    together = policy.act(views, mask, seat)
    assert mask[np.arange(rows), together].all()
    assert len(set(together.tolist())) > 1
    some = np.arange(rows)[::-2]
    policy.reset(rules, len(some), 9)
    assert policy.act(views[some], mask[some], seat[some]).tolist() == together[some].tolist()


def plays_legally(policy: Policy, rules: Rules, seed: int, matches: int = 1) -> int:
    """Play deals to their ends by the policy at all seats; an illegal action raises. Returns the number of decisions with a choice."""
    batch = Batch(rules, matches, seed=seed, start_scores="spread", restart=False)
    policy.reset(rules, matches, seed)
    choices = 0
    while (live := np.flatnonzero(batch.seat >= 0)).size:
        actions = np.zeros(matches, np.int64)
        actions[live] = policy.act(batch.views()[live], batch.mask[live], batch.seat[live])
        choices += int((batch.mask[live].sum(axis=1) > 1).sum())
        batch.step(actions)
    return choices


def open_deal(hands: list[str], before: str) -> Game:
    """A deal of `OPEN_RULES` by seat 0, after some actions."""
    game = Game.from_deal(OPEN_RULES, [hand.split() for hand in hands], [], dealer=0)
    for action in before.split(", "):
        game.apply(action)
    return game


def best_margin(game: Game, side: int) -> float:
    """What a first deal with open hands is worth to a side of two, best play by both."""
    if game.phase == "ended":
        return float(game.scores[side] - game.scores[1 - side])
    after = []
    for action in game.legal_actions():
        next_one = game.copy()
        next_one.apply(action)
        after.append(best_margin(next_one, side))
    return max(after) if game.seat == side else min(after)

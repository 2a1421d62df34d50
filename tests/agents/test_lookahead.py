"""`search:`: one step of look-ahead on a policy, from views alone."""

import random
from typing import Any, Literal

import numpy as np
import pytest

import agents
from agents.search.lookahead import Comparison, LookAhead, from_options
from agents.search.objective import MATCH_POINTS
from agents.search.playout import play_out
from agents.search.solver import Solver
from pitchenv import Batch, Game, Rules, games, load_rules
from pitchenv.actions import ACTIONS, action_name
from pitchenv.engine.state import PLAY
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.random import RandomPolicy
from tests.agents.searching import answer, answers_row_by_row, open_deal, plays_legally, sees_no_hidden_cards
from tests.random_rules import random_rules

ACES = sum(1 << (suit * 13 + 12) for suit in range(4))


class FirstLegal:
    """Takes the legal action with the lowest number; likelier ones have lower numbers."""

    reads: Literal["observation", "view"] = "observation"

    def reset(self, rules: Rules, size: int, seed: int) -> None:
        pass

    def act(self, inputs: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> np.ndarray:
        actions: np.ndarray = mask.argmax(axis=1)
        return actions

    def probabilities(self, inputs: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> np.ndarray:
        chances = mask * 0.5 ** np.cumsum(mask, axis=1)
        shares: np.ndarray = (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)
        return shares


@pytest.mark.parametrize("name", games())
def test_hidden_cards_make_no_difference(name: str) -> None:
    assert sees_no_hidden_cards(LookAhead(HeuristicPolicy(), worlds=4), name, seed=7) > 4


@pytest.mark.parametrize(
    "spec",
    [
        "search:heuristic,worlds=4",
        "search:random,worlds=3",
        "search:random,worlds=4,inference=no,sure=0",
        "search:random,worlds=3,exact=9",
        "search:heuristic,worlds=3,again=2",
    ],
)
def test_each_decision_stands_alone(spec: str) -> None:
    answers_row_by_row(agents.load(spec), load_rules("auction-3" if "exact" not in spec else "setback"), 20)


@pytest.mark.parametrize("policy", [HeuristicPolicy(), FirstLegal()])
def test_plays_random_house_rules_legally(policy: Any) -> None:
    rng = random.Random(4)
    player = LookAhead(policy, worlds=2, sure=0.0)
    assert sum(plays_legally(player, Rules(**random_rules(rng)), seed) for seed in range(20)) > 100


@pytest.mark.parametrize("inference", [True, False])
def test_leads_the_ace_that_makes_the_bid(inference: bool) -> None:
    """The bare policy leads the king of clubs; nothing is hidden, so the look ahead is sure that the ace of spades is better."""
    game = open_deal(["KS AC AD AH", "AS KC KD KH"], "bid 2, pass")
    player = LookAhead(FirstLegal(), worlds=5, inference=inference)
    player.reset(game.rules, 1, 1)
    assert action_name(answer(FirstLegal(), game)) == "KC"
    assert action_name(answer(player, game)) == "AS"
    values = player.values(np.array([game.view(1)]), game.mask(1)[None].astype(bool), np.array([1]))[0]
    tried = {action_name(int(a)): values[a] for a in np.flatnonzero(np.isfinite(values))}
    # High and Low, and Game to the other; else all three to the other and the bid lost.
    assert tried == {"AS": pytest.approx(1.0), "KC": pytest.approx(-5.0), "KD": pytest.approx(-5.0), "KH": pytest.approx(-5.0)}


@pytest.mark.parametrize("name", ["auction-4-partners", "smear", "oklahoma-6"])
def test_late_worlds_are_solved(name: str) -> None:
    """What a deal whose hidden cards are all known comes to is what the solver says, whatever the policy would do."""
    rules, solver = load_rules(name), Solver(match_points=MATCH_POINTS)
    player = LookAhead(RandomPolicy(), worlds=2, sure=0.0, exact=30, inference=False)
    batch = Batch(rules, 12, seed=5, restart=False, skip_forced=True)
    solved = 0
    while (batch.seat >= 0).any():
        for i in np.flatnonzero((batch.matches["public"]["phase"] == PLAY) & (batch.matches["public"]["held"].sum(axis=1) <= 9)):
            player.reset(rules, 1, 1)
            view, mask, seat = batch.views()[i : i + 1], batch.mask[i : i + 1], batch.seat[i : i + 1]
            world = batch.matches[i : i + 1]
            player._draw = lambda view, count, seeds, world=world: (world, np.ones(1))  # type: ignore[method-assign, misc]
            own = world["public"]["turn"] % rules.sides == world["public"]["pitcher"] % rules.sides
            expected = np.where(own, 1, -1)[:, None] * solver.cards(world)
            if rules.sides == 2:
                assert player.values(view, mask, seat)[0, :54] == pytest.approx(expected[0], nan_ok=True)
                best = player.act(view, mask, seat)[0]
                assert expected[0, best] == np.nanmax(expected)
            else:  # played out
                assert mask[0, player.act(view, mask, seat)[0]]
            solved += 1
        batch.step((np.random.default_rng(solved).random(batch.mask.shape) * batch.mask).argmax(1))
    assert solved > 20


def test_it_does_as_the_bare_policy_unless_another_action_is_ahead_by_so_many_standard_errors() -> None:
    batch = Batch("auction-4-partners", 60, seed=3, skip_forced=True)
    views, mask, seat = batch.views(), batch.mask.copy(), batch.seat.copy()
    own = HeuristicPolicy().act(views, mask, seat)
    changed = []
    for sure in (0.0, 1.0, 100.0):
        player = LookAhead(HeuristicPolicy(), worlds=10, sure=sure)
        player.reset(batch.rules[0], 60, 2)
        chosen = player.act(views, mask, seat)
        values = player.values(views, mask, seat)
        at = np.arange(60)
        assert (values[at, chosen] >= values[at, own]).all()
        changed.append(int((chosen != own).sum()))
    assert changed[0] > changed[1] > changed[2] >= 0
    assert changed[2] < 5  # where every world agrees


@pytest.mark.parametrize(("second", "choice"), [([0.0, -1.0, 2.0], 2), ([0.0, -1.0, -2.0], 0), ([0.0, 3.0, 2.0], 1)])
def test_actions_that_came_out_ahead_are_tried_again(second: list[float], choice: int) -> None:
    batch = Batch("auction-4-partners", 1, seed=1)
    view, mask, seat = batch.views(), batch.mask, batch.seat
    legal = np.flatnonzero(mask[0])
    assert len(legal) == 5  # pass, four bids
    player = LookAhead(FirstLegal(), worlds=3, again=5)
    player.reset(batch.rules[0], 1, 1)
    tried: list[tuple[list[int], int]] = []
    values = [dict(zip(legal, [0.0, 1.0, 2.0, -1.0, -3.0], strict=True)), dict(zip(legal, second, strict=False))]

    def compare(actions: np.ndarray, own: int, seat: int, worlds: np.ndarray, weights: np.ndarray) -> Comparison:
        means = np.array([values[len(tried)][action] for action in actions])
        tried.append((actions.tolist(), round(float(1 / (weights.min())))))
        return Comparison(means, means - means[actions == own], np.full(len(actions), 0.1))

    player._compare = compare  # type: ignore[method-assign]
    assert player.act(view, mask, seat)[0] == legal[choice]
    assert [actions for actions, _ in tried] == [legal.tolist(), legal[:3].tolist()]
    assert [number for _, number in tried] == [3, 15]
    tried.clear()
    assert player.values(view, mask, seat)[0, legal].tolist() == [*second, -1.0, -3.0]
    tried.clear()
    values[0] = dict(zip(legal, [0.0, -1.0, -1.0, -1.0, -1.0], strict=True))
    assert player.act(view, mask, seat)[0] == legal[0]
    assert len(tried) == 1


@pytest.mark.parametrize("inference", [True, False])
def test_the_second_try_is_in_other_worlds(inference: bool) -> None:
    """Those of the first have chosen who is tried again: they may not judge it, too."""
    batch = Batch("auction-4-partners", 1, seed=1)
    player = LookAhead(FirstLegal(), worlds=40, again=1, inference=inference)
    player.reset(batch.rules[0], 1, 1)
    found: list[set[bytes]] = []

    def compare(actions: np.ndarray, own: int, seat: int, worlds: np.ndarray, weights: np.ndarray) -> Comparison:
        found.append({world["hands"].tobytes() for world in worlds["hidden"]})
        ahead = np.where(actions == own, 0.0, 1.0)
        return Comparison(ahead, ahead, np.zeros(len(actions)))

    player._compare = compare  # type: ignore[method-assign]
    player.act(batch.views(), batch.mask, batch.seat)
    assert [len(worlds) > 20 for worlds in found] == [True, True]
    assert not found[0] & found[1]


@pytest.mark.parametrize("spec", ["search:random,worlds=10000,again=100", "pimc:worlds=10000,inference=random", "pimc:worlds=10000"])
def test_no_option_asks_for_more_worlds_than_there_may_be(spec: str) -> None:
    player = agents.load(spec)
    batch = Batch("auction-2", 1, seed=1, skip_forced=True)
    for _ in range(30):
        if batch.matches["public"]["held"][0].sum() == 4 and batch.mask[0].sum() > 1:
            break
        batch.step(batch.mask.argmax(1))
    player.reset(batch.rules[0], 1, 1)
    assert batch.mask[0, player.act(batch.views(), batch.mask, batch.seat)[0]]


def test_where_one_world_says_it_all_the_own_action_stands() -> None:
    batch = Batch("auction-4-partners", 1, seed=1)
    tried = np.flatnonzero(batch.mask[0])[:2]
    for sure, choice in ((1.0, 0), (0.0, 1)):  # with 0, what is ahead is taken
        player = LookAhead(FirstLegal(), worlds=1, inference=False, sure=sure, top=2)
        player._outcomes = lambda matches, side: np.array([0.0, 1.0])  # type: ignore[method-assign]
        player.reset(batch.rules[0], 1, 1)
        assert player.act(batch.views(), batch.mask, batch.seat)[0] == tried[choice]


def test_only_the_likeliest_actions_are_tried() -> None:
    batch = Batch("auction-4-partners", 5, seed=3)
    player = LookAhead(FirstLegal(), worlds=2, top=2)
    player.reset(batch.rules[0], 5, 2)
    tried = np.isfinite(player.values(batch.views(), batch.mask, batch.seat))
    assert tried.sum(axis=1).tolist() == [2] * 5
    assert [np.flatnonzero(row).tolist() for row in tried] == [np.flatnonzero(row)[:2].tolist() for row in batch.mask]


def test_inference_prefers_worlds_in_which_the_others_would_have_done_as_they_did() -> None:
    """A bidder who bids on an ace alone: nearly all worlds after the bid give it one."""

    class BidsOnAces(RandomPolicy):
        reads: Literal["observation", "view"] = "view"

        def probabilities(self, inputs: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> np.ndarray:
            wanted = np.where((inputs["hand"] & ACES) != 0, 56, 54)  # bid 2, or pass
            chances = np.zeros((len(inputs), ACTIONS), np.float32)
            chances[np.arange(len(inputs)), np.where(mask[np.arange(len(inputs)), wanted], wanted, mask.argmax(axis=1))] = 1
            return chances

    hands = ["2C 3C 4C 5C 6C 7C", "AS 2S 3S 4S 5S 6S", "2D 3D 4D 5D 6D 7D", "2H 3H 4H 5H 6H 7H"]
    game = Game.from_deal("auction-4-partners", [hand.split() for hand in hands], dealer=0)
    game.apply("bid 2")
    view, seeds = np.array([game.view(2)]), np.array([5], np.uint64)
    with_ace = []
    for inference in (True, False):
        player = LookAhead(BidsOnAces(), worlds=100, inference=inference)
        player.reset(game.rules, 1, 1)
        worlds, shares = player._draw(view, 100, seeds)
        assert len(worlds) == len(shares) <= 100
        assert shares.sum() == pytest.approx(1)
        with_ace.append(shares[worlds["hidden"]["hands"][:, 1] & ACES != 0].sum())
    assert with_ace[0] > 0.9
    assert 0.2 < with_ace[1] < 0.65  # 43 % of hands of 6 out of 46 cards hold one of 4 aces


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("search:", "nothing in the place of RUN"),
        ("search:worlds=30", "'worlds=30' in the place of RUN; allowed: search:RUN"),
        ("search:heuristic,worlds=0", "worlds = '0': allowed: a whole number, 1 … 10000"),
        ("search:heuristic,worlds=many", "worlds = 'many'"),
        ("search:heuristic,world=3", "option 'world': unknown; did you mean 'worlds'?"),
        ("search:heuristic,inference=runs/x", "inference = 'runs/x': allowed: yes, no"),
        ("search:runs/none,worlds=3", "agent 'runs/none': does not exist"),
    ],
)
def test_a_bad_spec_is_one_clear_line(spec: str, said: str) -> None:
    with pytest.raises(agents.AgentError, match="agent") as refusal:
        agents.load(spec)
    assert said in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


def test_the_spec_says_all() -> None:
    player = from_options("heuristic:untuned,worlds=7,inference=no,top=3,sure=0.5")
    assert (player.worlds, player.inference, player.top, player.sure) == (7, False, 3, 0.5)


def test_with_more_than_two_sides_exact_changes_nothing() -> None:
    """Nothing can be solved there: the worlds stay as many, and are played out."""
    batch = Batch("auction-3", 12, seed=3, skip_forced=True)
    for _ in range(8):
        batch.step(batch.mask.argmax(1))
    players = [LookAhead(FirstLegal(), worlds=3, inference=False, sure=0.0, exact=exact) for exact in (0, 12)]
    found = []
    for player in players:
        player.reset(load_rules("auction-3"), batch.size, 5)
        found.append(player.values(batch.views(), batch.mask, batch.seat))
    assert (batch.matches["public"]["held"].sum(1) <= 12).any()
    np.testing.assert_array_equal(found[0], found[1])


class BreaksTheRules(FirstLegal):
    """Answers the same whatever is legal."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, inputs: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> np.ndarray:
        return np.full_like(seat, self.answer, np.int64) if isinstance(self.answer, int) else np.array(self.answer)


@pytest.mark.parametrize("wrong", [0, -1, 70, 10**6, [[54]], []])
def test_a_policy_that_acts_illegally_is_told_of(wrong: Any) -> None:
    """In its own choice and where it plays worlds out."""
    batch = Batch("auction-3", 1, seed=3)
    policy = BreaksTheRules(wrong)
    view = batch.views()
    search = LookAhead(policy, worlds=2, inference=False)
    search.reset(batch.rules[0], 1, 0)
    for asked in (lambda: search.act(view, batch.mask, batch.seat), lambda: play_out(policy, batch.matches.copy())):
        with pytest.raises(agents.AgentError, match="'BreaksTheRules': proposes illegal actions; allowed: a player that keeps to the mask"):
            asked()

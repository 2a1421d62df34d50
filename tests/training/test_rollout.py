"""What a rollout records, decision by decision, and that advantages of two parts are one chain."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest
import torch

from agents.canonical import canonical_states
from agents.search.solver import Solver
from pitchenv import Batch, load_rules
from pitchenv.actions import ACTIONS
from pitchenv.engine.state import PLAY
from pitchenv.policies.random import RandomPolicy
from training.clock import Clock
from training.columns import live_columns
from training.config import PPOConfig, TrainConfig
from training.exact_values import ExactValues
from training.learner import Sizes
from training.players import Player
from training.ppo import PPOLearner, chained_advantages, values
from training.rollout import Collector, Decisions, Opponent, Rollout

CPU = torch.device("cpu")


def collect(
    deals: int = 40, game: str = "auction-4-partners", opponents: Sequence[Opponent] = (), exact: ExactValues | None = None
) -> tuple[dict[str, PPOLearner], Batch, Rollout]:
    rules = load_rules(game)
    batch = Batch(rules, deals, restart=False, skip_forced=True)
    seen, hidden = columns = live_columns([rules], batch.layout, False)
    torch.manual_seed(1)
    sizes = Sizes(len(seen), len(seen) + len(hidden), ACTIONS)
    learners = {part: PPOLearner.create(sizes, (16,), (16,)) for part in ("bidding", "play")}
    actors = {part: learner.network for part, learner in learners.items()}
    collector = Collector(batch, columns, True, CPU, Clock({}), exact=exact)
    return learners, batch, collector.collect(actors, 7, torch.Generator().manual_seed(3), opponents)


def test_rows_are_the_decisions_of_the_deals() -> None:
    learners, batch, rollout = collect()
    assert rollout.decisions == sum(len(d) for d in rollout.parts.values())
    change = rollout.public["change"].astype(np.float32)
    for seat in range(4):  # the margin of two sides
        assert (rollout.returns[:, seat] == change[:, seat % 2] - change[:, 1 - seat % 2]).all()
    for part, decisions in rollout.parts.items():
        size = learners[part].network.layers[0].in_features
        with torch.no_grad():
            log_probs = torch.log_softmax(learners[part].network(decisions.state[:, :size], decisions.mask), -1)
        assert torch.allclose(log_probs, decisions.log_probs, atol=1e-5)
        assert decisions.exact is None
        assert decisions.mask.gather(1, decisions.action[:, None]).all()
        assert (decisions.mask.sum(1) > 1).all()  # single legal actions are not asked for
        assert (np.diff(decisions.wave) >= 0).all()
    # Played again by its record, every deal asks the same seats in the same order for the same canonical choices.
    twin = Batch(load_rules("auction-4-partners"), len(batch), seed=7, restart=False, skip_forced=True)
    histories, moves = batch.matches["history"], batch.matches["public"]["moves"]
    wave = 0
    while (rows := np.flatnonzero(twin.seat >= 0)).size:
        _, mask, _ = canonical_states(twin.matches, rows, twin.layout)
        at = twin.matches["public"]["moves"][rows]
        actions = np.zeros(len(batch), np.int64)
        actions[rows] = histories[rows, at]
        recorded = {
            (int(deal), int(seat)): bool(torch.equal(m, torch.from_numpy(mask[k])))
            for k, deal in enumerate(rows)
            for d in rollout.parts.values()
            for m, seat in [(d.mask[i], d.seat[i]) for i in np.flatnonzero((d.wave == wave) & (d.deal == deal))]
        }
        assert recorded == {(int(deal), int(twin.seat[deal])): True for deal in rows}
        twin.step(actions)
        wave += 1
    assert (twin.matches["public"]["moves"] == moves).all()


class First:
    """Always the first legal action."""

    reads: Literal["observation", "view"] = "view"

    def reset(self, rules: Any, size: int, seed: int) -> None:
        pass

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        assert (inputs["seat"] == seat).all()
        return mask.argmax(1)


@pytest.mark.parametrize("game", ["auction-4-partners", "auction-3", "oklahoma-6"])
def test_against_an_opponent_one_side_learns(game: str) -> None:
    deals = 30
    _, batch, rollout = collect(deals, game, [Opponent(Player("first", First(), 1), np.arange(deals))])
    rules = batch.rules[0]
    sides = rules.sides
    learners = np.arange(deals) % sides  # every side equally often
    twin = Batch(rules, deals, seed=7, restart=False, skip_forced=True)
    expected, others, wave = set(), 0, 0
    while (rows := np.flatnonzero(twin.seat >= 0)).size:
        actions = np.zeros(deals, np.int64)
        actions[rows] = batch.matches["history"][rows, twin.matches["public"]["moves"][rows]]
        for deal in rows:
            if twin.seat[deal] % sides == learners[deal]:
                expected.add((int(deal), int(twin.seat[deal]), wave))
            else:  # the opponent's
                assert actions[deal] == twin.mask[deal].argmax()
                others += 1
        twin.step(actions)
        wave += 1
    recorded = [row for d in rollout.parts.values() for row in zip(d.deal.tolist(), d.seat.tolist(), d.wave.tolist(), strict=True)]
    assert len(recorded) == len(set(recorded))
    assert set(recorded) == expected
    assert rollout.decisions == len(expected) + others
    assert others > deals
    change = rollout.public["change"].astype(np.float32)
    own = rollout.returns[np.arange(deals), learners]
    rest = (change.sum(1) - change[np.arange(deals), learners]) / (sides - 1)
    assert own == pytest.approx(change[np.arange(deals), learners] - rest)


def test_an_opponent_may_read_observations() -> None:
    assert collect(6, opponents=[Opponent(Player("random", RandomPolicy(), 1), np.arange(6))])[2].decisions > 6


def decisions(deal: list[int], seat: list[int], wave: list[int]) -> Decisions:
    """Rows of states that say nothing."""
    n = len(deal)
    return Decisions(
        torch.arange(n, dtype=torch.float32)[:, None].repeat(1, 3), torch.ones(n, 2, dtype=torch.bool), torch.zeros(n, dtype=torch.int64),
        torch.zeros(n, 2), np.array(deal), np.array(seat), np.array(wave),
    )  # fmt: skip


def test_a_bid_is_worth_what_the_first_card_is() -> None:
    learners = {part: PPOLearner.create(Sizes(2, 3, 2), (4,), (4,)) for part in ("bidding", "play")}
    rollout = Rollout(
        {"bidding": decisions([0, 1, 0], [0, 1, 1], [0, 0, 1]), "play": decisions([1, 0, 1], [1, 0, 1], [1, 2, 2])},
        np.array([[8, 4], [2, 12]], np.float32),
        np.zeros(2),
        6,
        np.full(2, -1),
    )
    v = {part: values(learners[part].critic, d.state, CPU) for part, d in rollout.parts.items()}
    out = chained_advantages(learners, rollout, TrainConfig(ppo=PPOConfig(gae_lambda=0.5), reward_scale=0.25), CPU)
    b, p = v["bidding"], v["play"]
    # deal 0: seat 0 bids, then plays; seat 1 bids alone. Deal 1: seat 1 bids, then plays twice.
    play_0 = 2 - p[1]
    play_1b = 3 - p[2]
    play_1a = (p[2] - p[0]) + 0.5 * play_1b
    expected_play = [play_1a, play_0, play_1b]
    expected_bidding = [(p[1] - b[0]) + 0.5 * play_0, (p[0] - b[1]) + 0.5 * play_1a, 1 - b[2]]
    assert out["play"][0] == pytest.approx(expected_play, abs=1e-5)
    assert out["bidding"][0] == pytest.approx(expected_bidding, abs=1e-5)
    assert out["bidding"][1] == pytest.approx(np.array(expected_bidding) + b, abs=1e-5)


def test_nothing_learned_from_no_decisions() -> None:
    learners = {"play": PPOLearner.create(Sizes(2, 3, 2), (4,), (4,))}
    rollout = Rollout({"play": decisions([], [], [])}, np.zeros((1, 2), np.float32), np.zeros(1), 0, np.full(1, -1))
    assert chained_advantages(learners, rollout, TrainConfig(), CPU) == {}


@pytest.mark.parametrize("game", ["auction-4-partners", "smear", "auction-3"])
def test_late_cards_are_valued_by_the_solver(game: str) -> None:
    _, batch, rollout = collect(20, game, exact=ExactValues(12))
    two_sides = batch.rules[0].sides == 2
    twin = Batch(load_rules(game), 20, seed=7, restart=False, skip_forced=True)
    solver, solved, wave = Solver(), 0, 0
    while (rows := np.flatnonzero(twin.seat >= 0)).size:
        public = twin.matches["public"]
        assert rollout.parts["bidding"].exact is None
        for d in [rollout.parts["play"]]:
            assert d.exact is not None
            for i in np.flatnonzero(d.wave == wave):
                deal = d.deal[i : i + 1]
                late = two_sides and public["phase"][deal][0] == PLAY and public["held"][deal].sum() <= 12
                assert bool(d.exact[i].isnan().all()) != late
                if late:  # the same values, and of the legal ones alone, though suits have other names there
                    sign = 1 if public["turn"][deal] % 2 == public["pitcher"][deal] % 2 else -1
                    expected = sign * solver.cards(twin.matches[deal])[0]
                    assert (~d.exact[i].isnan() == d.mask[i]).all()
                    assert sorted(d.exact[i][d.mask[i]].tolist()) == sorted(expected[~np.isnan(expected)].tolist())
                    played = batch.matches["history"][deal, public["moves"][deal]][0]
                    assert float(d.exact[i, d.action[i]]) == expected[played]
                    solved += 1
        actions = np.zeros(20, np.int64)
        actions[rows] = batch.matches["history"][rows, public["moves"][rows]]
        twin.step(actions)
        wave += 1
    assert (solved > 40) == two_sides

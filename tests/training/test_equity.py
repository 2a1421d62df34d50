"""The match-equity table: closed forms, whole matches of the engine, every win rule, and what deals are worth by it."""

import math
import re
from functools import cache

import numpy as np
import pytest

from pitchenv import Batch, Rules, load_rules
from pitchenv.engine import single
from pitchenv.engine.state import THROWN_IN
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import TUNED
from pitchenv.policies.random import RandomPolicy
from training import equity
from training.equity_outcomes import Outcomes, deal_outcomes, outcomes_of
from training.equity_solve import winners
from training.equity_table import EquityError, EquityTable, load_equity
from training.parts import fresh_matches
from training.players import AgentError, Player, play_deals

WINS = ("any", "highest", "pitcher", "made_bid")


def score_blind() -> Player:
    """The heuristic player without its rules of thumb about the score: deals come out alike at all scores, as a table takes them to."""
    parameters = TUNED.copy()
    parameters["danger"] = parameters["press"] = 0
    return Player("score-blind", HeuristicPolicy(parameters), 0)


@cache
def table_of(rules: Rules, deals: int = 10000) -> EquityTable:
    return EquityTable.solve(rules, deal_outcomes(score_blind(), rules, deals, 5))


def one_point_a_deal(sides: int) -> Outcomes:
    """Half of all deals bring the pitcher's side a point, the other half nobody anything."""
    return Outcomes(np.array([1, 0]), np.zeros((2, sides - 1), np.int64), np.array([0.5, 0.5]), 100, 0)


def first_to(needs: tuple[int, ...]) -> float:
    """The problem of points: the probability that side 0 is the first to have what it needs, points going to all sides evenly.

    Pascal and Fermat's sum for any number of sides: over how often the others have scored when side 0 gets its last point.
    """
    own, *others = needs
    total = 0.0
    for scored in np.ndindex(*others):
        ways = math.factorial(own - 1 + sum(scored)) / math.factorial(own - 1) / math.prod(math.factorial(k) for k in scored)
        total += ways / len(needs) ** (own + sum(scored))
    return total


def frequencies(rules: Rules, player: Player, starts: list[list[int]], matches: int, mean: bool = True) -> np.ndarray:
    """How often each side wins whole matches of the engine from some scores: (starts, sides); or of each, (starts, matches, sides)."""
    dealt = fresh_matches(rules, 9, 0, len(starts) * matches)
    dealt["public"]["scores"][:, : rules.sides] = np.repeat(starts, matches, axis=0)
    player.reset(rules, len(dealt), [9])
    at_side = np.zeros((len(dealt), rules.sides), np.int64)
    going_on = np.arange(len(dealt))
    while len(going_on):
        dealt[going_on] = play_deals([player], rules, dealt[going_on], at_side[going_on])
        going_on = going_on[dealt["public"]["winner"][going_on] < 0]
        for i in going_on:
            single.deal_next(dealt, i)
    won = dealt["public"]["winner"][:, None] == np.arange(rules.sides)
    every = won.reshape(len(starts), matches, rules.sides)
    return every.mean(axis=1) if mean else every


# Closed forms


@pytest.mark.parametrize("win", WINS)
@pytest.mark.parametrize("sides", [2, 3])
def test_the_problem_of_points(win, sides):
    rules = Rules(players=sides, sides=sides, target=4, win=win)
    table = EquityTable.solve(rules, one_point_a_deal(sides))
    assert table.method == "exact"
    for needs in np.ndindex(*(4,) * sides):
        needs = tuple(1 + n for n in needs)
        found = table.equity(4 - np.array([needs]))[0]
        assert found[0] == pytest.approx(first_to(needs), abs=1e-5)


def test_a_set_back_and_a_tie_by_hand():
    """Target 1. The pitcher has 1 point and the other side 1 (a), or it is set back 1 (b)."""
    outcomes = Outcomes(np.array([1, -1]), np.array([[1], [0]]), np.array([0.5, 0.5]), 10, 0)
    by_any, by_highest = (EquityTable.solve(Rules(players=2, target=1, win=win), outcomes) for win in ("any", "highest"))
    scores = np.array([[0, 0], [0, -1], [1, 1]])
    # "any": after (a) the pitcher has won from 0. From 0 and −1, whoever pitches: (a) leaves side 0 with 1 and side 1 with 0.
    # x = P(0 and −1) = 1/2 + 1/4 P(−1, −1) + 1/4 P(0, −2), and of these the first is 1/2.
    x, deeper = by_any.equity(np.array([[0, -1], [0, -2]]))[:, 0]
    assert by_any.equity(scores)[0, 0] == pytest.approx(0.5)
    assert x == pytest.approx(1 / 2 + 1 / 8 + deeper / 4, abs=1e-5)
    # "highest": from 0 and 0, (a) ties both at 1; from there (a) ties again, and (b) leaves the other side alone above the target.
    assert by_highest.equity(scores)[2] == pytest.approx([0.5, 0.5])
    ahead = by_highest.equity(np.array([[2, 1]]))[0, 0]  # 3 and 2 wins; a set-back ties at 1 (x = 1/2), the other's wins
    assert ahead == pytest.approx(1 / 2 + 1 / 8 + 1 / 4, abs=1e-5)


@pytest.mark.parametrize(("overshoot", "expected"), [("counts", 1 / 2), ("capped", 3 / 4)])
def test_the_cap_at_the_target_by_hand(overshoot, expected):
    """Target 2; the pitcher has 1 point and the other side 3. From 1 and 0, side 1 pitching lets side 0 win: 4 (or 2) to 1.
    Side 0 pitching comes to 2 and 3, which loses, or, capped, to 2 and 2, which is even."""
    outcomes = Outcomes(np.array([1]), np.array([[3]]), np.array([1.0]), 10, 0)
    table = EquityTable.solve(Rules(players=2, target=2, win="highest", overshoot=overshoot), outcomes)
    assert table.equity(np.array([[1, 0]]))[0, 0] == pytest.approx(expected, abs=1e-5)


# Against the engine


@pytest.mark.parametrize("win", WINS)
def test_winners_are_the_engines(win):
    rules = load_rules("auction-3", win=win, target=3)
    matches = fresh_matches(rules, 2, 0, 3000)
    matches["public"]["scores"][:, :3] = np.random.default_rng(1).integers(-2, 6, (3000, 3))
    player = score_blind()
    player.reset(rules, 3000, [1])
    public = play_deals([player], rules, matches, np.zeros((3000, 3), np.int64))["public"]
    pitcher = public["pitcher"] % 3
    made = public["change"][np.arange(3000), pitcher] > 0
    found = winners(rules, public["scores"][:, :3], pitcher, made)
    assert len(np.unique(found)) == 4
    assert (found == public["winner"]).all()


@pytest.mark.parametrize(
    ("game", "changes", "starts"),
    [
        ("auction-4-partners", {}, [[5, 2], [9, 5]]),
        ("auction-4-partners", {"win": "made_bid", "target": 11}, [[9, 6], [13, 10]]),
        ("smear", {"overshoot": "capped"}, [[8, 12], [14, 11]]),
        ("setback", {}, [[6, 1], [11, 11]]),
        ("auction-3", {"win": "highest"}, [[5, 2, 0], [7, 7, 3]]),
        ("auction-3", {}, [[5, 2, -1], [8, 6, 6]]),
    ],
)
def test_matches_are_won_as_often_as_the_table_says(game, changes, starts):
    rules, matches = load_rules(game, **changes), 2000
    won = frequencies(rules, score_blind(), starts, matches)
    expected = table_of(rules).equity(np.array(starts))
    noise = np.sqrt(expected * (1 - expected) / matches)
    assert (np.abs(won - expected) < 3.5 * noise + 0.01).all()  # beside noise: the dealers of more than two sides


@pytest.mark.parametrize(
    ("game", "changes", "start", "least"),
    [
        ("auction-4-partners", {}, [6, 6], 0.05),
        ("setback", {}, [10, 10], 0.05),
        ("setback", {"win": "any", "dealer_must_bid": [], "min_bid": 3}, [8, 8], 0.0),
    ],
)
def test_with_two_sides_it_matters_who_deals(game, changes, start, least):
    rules, matches = load_rules(game, **changes), 4000
    dealt = fresh_matches(rules, 9, 0, matches)["public"]["dealer"] % 2
    won = frequencies(rules, score_blind(), [start], matches, mean=False)[0, :, 0]
    expected = table_of(rules).equity(np.array([start, start]), dealer=np.array([0, 1]))
    assert expected[:, 0].sum() == pytest.approx(1, abs=1e-5)  # the same for the side that deals
    assert abs(expected[0, 0] - 0.5) >= least
    for side in (0, 1):
        mine = won[dealt == side]
        assert abs(mine.mean() - expected[side, 0]) < 3.5 * 0.5 / len(mine) ** 0.5 + 0.01
    assert table_of(rules).equity(np.array([start]))[0, 0] == pytest.approx(0.5, abs=1e-5)  # dealer not known


@pytest.mark.parametrize(
    ("game", "changes", "starts"),
    [
        ("auction-7", {}, [[5, 2, 0, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1, -3]]),
        ("auction-5", {"win": "any", "target": 11}, [[8, 5, 5, 2, -2], [10, 10, 9, 9, 6]]),
    ],
)
def test_a_race_of_many_sides_is_close_to_matches_of_the_engine(game, changes, starts):
    rules, matches = load_rules(game, **changes), 1000
    table = table_of(rules)
    assert table.method == "race"
    won = frequencies(rules, score_blind(), starts, matches)
    expected = table.equity(np.array(starts))
    assert (np.abs(won - expected) < 3.5 * np.sqrt(expected * (1 - expected) / matches) + 0.025).all()


# What holds for every table


@pytest.mark.parametrize("method", ["exact", "race"])
@pytest.mark.parametrize(("game", "win"), [("setback", "any"), *(("auction-3", win) for win in WINS)])
def test_probabilities_symmetric_and_monotone(game, win, method):
    rules = load_rules(game, win=win)
    table = EquityTable.solve(rules, deal_outcomes(score_blind(), rules, 2000, 3), method)
    scores = np.random.default_rng(2).integers(-15, rules.target + 6, (400, rules.sides))
    found = table.equity(scores)
    assert found.shape == scores.shape
    assert found.dtype == np.float64
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(table.equity(scores[:, ::-1]), found[:, ::-1], atol=2e-6)
    np.testing.assert_allclose(table.equity(np.full((1, rules.sides), 3)), 1 / rules.sides, atol=2e-6)
    for k in range(-6, rules.target - 1):
        one, two = (table.equity(np.column_stack([np.full(400, own), scores[:, 1:]]))[:, 0] for own in (k, k + 1))
        assert (two >= one - 2e-6).all()


def test_ended_matches():
    table = EquityTable.solve(Rules(players=3, sides=3, target=4), one_point_a_deal(3))
    found = table.equity(np.array([[4, 0, 1], [4, 0, 1], [0, 0, 0]]), np.array([0, -1, 2]))
    assert found[0].tolist() == [1, 0, 0]
    assert 0.5 < found[1, 0] < 1  # only as pitcher does a side win, so that it may be past the target and not have won
    assert found[2].tolist() == [0, 0, 1]


# Returns


def ended_deals(rules: Rules, size: int, **options: object) -> Batch:
    """Single deals of the score-blind player from spread scores; their rewards are margins."""
    batch = Batch(rules, size, 3, restart=False, start_scores="spread", **options)  # type: ignore[arg-type]
    player, rewards = score_blind(), np.zeros_like(batch.reward)
    player.reset(rules, size, [1])
    while len(live := np.flatnonzero(batch.seat >= 0)):
        actions = np.zeros(size, np.int64)
        actions[live] = player.act(batch, live, batch.views())
        batch.step(actions)
        rewards += batch.reward
    batch.reward[:] = rewards
    return batch


def test_returns_by_seat():
    rules = load_rules("oklahoma-6", target=5, win="pitcher", dealer_must_bid=[], min_bid=6)
    table = EquityTable.solve(rules, deal_outcomes(score_blind(), rules, 400, 1))
    batch = ended_deals(rules, 400, slots=8)
    public = batch.matches["public"]
    found = table.returns(public, batch.layout.slots)
    assert found.shape == batch.reward.shape
    assert found.dtype == np.float32
    assert not found[:, 6:].any()
    np.testing.assert_array_equal(found[:, :3], found[:, 3:6])  # partners sit three places apart
    np.testing.assert_allclose(found[:, :3].sum(axis=1), 0, atol=1e-5)
    thrown_in = public["scored"] == THROWN_IN
    assert 0 < thrown_in.sum() < 400
    assert not found[thrown_in].any()
    won = np.flatnonzero(public["winner"] == 1)
    assert len(won)
    before = table.equity(public["scores"][won, :3] - public["change"][won, :3])[:, 1]  # of three sides the dealer does not count
    np.testing.assert_allclose(found[won, 1], table.scale * (1 - before) * 3 / 2, rtol=1e-5)


@pytest.mark.parametrize("thrown_in", ["same_dealer", "next_dealer"])
def test_returns_know_who_dealt_and_who_deals_next(thrown_in):
    rules = load_rules("setback", thrown_in=thrown_in)
    table, public = table_of(rules), ended_deals(rules, 400).matches["public"].copy()
    public["scored"][:20], public["change"][:20] = THROWN_IN, 0
    public["winner"][:20] = -1
    going_on = np.flatnonzero(public["winner"] == -1)
    after, dealer = public["scores"][going_on, :2], public["dealer"][going_on] % 2
    before = table.equity(after - public["change"][going_on, :2], dealer=dealer)[:, 0]
    again = (public["scored"][going_on] == THROWN_IN) & (thrown_in == "same_dealer")
    expected = table.equity(after, dealer=np.where(again, dealer, 1 - dealer))[:, 0] - before
    np.testing.assert_allclose(table.returns(public)[going_on, 0], 2 * table.scale * expected, atol=1e-5)
    assert (abs(table.returns(public)[:20, 0]) > 1e-3).any() == (thrown_in == "next_dealer")


def test_returns_are_as_large_as_points():
    rules = load_rules("setback")
    batch = ended_deals(rules, 3000)
    found = table_of(rules).returns(batch.matches["public"])
    assert np.corrcoef(found[:, 0], batch.reward[:, 0])[0, 1] > 0.8
    assert 0.85 < found.std() / batch.reward.std() < 1.15


# Outcomes


def test_outcomes_of_deals():
    rules = load_rules("smear")
    found = deal_outcomes(Player("random", RandomPolicy(), 0), rules, 3000, 1)
    again = deal_outcomes(Player("random", RandomPolicy(), 0), rules, 3000, 1)
    assert found.deals == 3000
    assert 0 < found.thrown_in < 3000
    assert found.weight.sum() == pytest.approx(1)
    assert found.pitcher.min() < 0 < found.pitcher.max()
    assert found.others.min() >= 0
    assert (found.weight == again.weight).all()
    every = list(found.placements())
    assert sum(p for _, _, p in every) == pytest.approx(1)
    for dealer in (0, 1):
        assert sum(p for _, _, p in found.placements(dealer)) == pytest.approx(1)
    batch = ended_deals(rules, 2000)
    public = batch.matches["public"]
    of_batch = outcomes_of(public, 2)
    scored = public["scored"] != THROWN_IN
    change = np.take_along_axis(public["change"][:, :2], (public["pitcher"] % 2)[:, None], 1)[scored]
    assert of_batch.weight @ of_batch.pitcher == pytest.approx(change.mean())


def test_players_that_make_no_distribution_are_refused():
    class Passes:
        reads = "observation"

        def reset(self, rules, size, seed):
            pass

        def act(self, inputs, mask, seat):
            return np.where(mask[:, 54], 54, mask.argmax(axis=1))

    class Wild(Passes):
        def act(self, inputs, mask, seat):
            return np.full(len(mask), 69)

    with pytest.raises(AgentError, match=r"^agent 'p': every one of 40 deals was thrown in; allowed: a player that bids$"):
        deal_outcomes(Player("p", Passes(), 0), load_rules("setback"), 40, 1)
    with pytest.raises(AgentError, match=r"^agent 'w': proposes illegal actions"):
        deal_outcomes(Player("w", Wild(), 0), load_rules("setback"), 40, 1)


# Files and the command


def test_command_makes_a_file_that_loads(tmp_path, capsys):
    path = tmp_path / "equity.npz"
    equity.main(["heuristic", "--rules", "setback", "--set", "target=5", "--deals", "400", "--out", str(path)])
    printed = capsys.readouterr().out
    assert "400 deals, 0.0% thrown in" in printed
    assert "the other side needs" in printed
    rules = load_rules("setback", target=5)
    table = load_equity(path, rules)
    assert table.rules == rules
    assert table.made_from == {"deals": 400, "thrown_in": 0, "agent": "heuristic", "seed": 1}
    rows = [[float(x) for x in line.split()] for line in printed.splitlines() if re.fullmatch(r"\s*\d+(\s+\d+\.\d)+\s*", line)]
    assert len(rows) == 5
    assert rows[0][5] == pytest.approx(100 * table.equity(np.array([[4, 0]]))[0, 0], abs=0.06)
    twin = EquityTable.solve(rules, deal_outcomes(Player("h", HeuristicPolicy(TUNED), 0), rules, 400, 1))
    assert (twin.values == table.values).all()
    assert twin.scale == table.scale


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["heuristic"], "--out: missing; allowed: a file for the table"),
        (["heuristic", "--out", "nowhere/x.npz"], "out = 'nowhere/x.npz': cannot be written; allowed: a file in a folder that exists"),
        (["heuristic", "--out", "x.npz", "--deals", "0"], "deals = 0: allowed: 1 … 10000000"),
        (["heuristik", "--out", "x.npz"], "agent 'heuristik': unknown; did you mean 'heuristic'?"),
        (["heuristic", "--out", "x.npz", "--rules", "smeer"], "game 'smeer': unknown; did you mean 'smear'?"),
    ],
)
def test_command_refuses_in_one_line(arguments, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        equity.main(arguments)
    assert "\n" not in str(refusal.value)


def test_files_that_cannot_be_used_are_refused_in_one_line(tmp_path):
    path = tmp_path / "equity.npz"
    table = EquityTable.solve(load_rules("setback"), one_point_a_deal(2))
    whole = table.to_bytes()
    path.write_bytes(whole)
    with pytest.raises(EquityError, match=r"made for target = 11; allowed: 15, as in the rules of the game$"):
        load_equity(path, load_rules("setback", target=15))
    with pytest.raises(EquityError, match=r"cannot be read: No such file"):
        load_equity(tmp_path / "other.npz")
    damaged = [whole[:1000], b"", b"text", whole[:300] + b"\0\0\0\0" + whole[304:]]
    short = EquityTable(table.rules, "exact", table.low, table.high - 1, table.values, table.scale)
    three = EquityTable(table.rules, "exact", table.low, table.high, table.values.repeat(3, axis=0), table.scale)
    nan = EquityTable(table.rules, "exact", table.low, table.high, table.values * np.nan, table.scale)
    for content in [*damaged, short.to_bytes(), three.to_bytes(), nan.to_bytes()]:
        path.write_bytes(content)
        with pytest.raises(EquityError, match=r"^match-equity table .*damaged, or no such table") as refusal:
            load_equity(path)
        assert "\n" not in str(refusal.value)


def test_a_changed_byte_is_noticed_or_harmless(tmp_path):
    path = tmp_path / "equity.npz"
    table = EquityTable.solve(load_rules("setback", target=2), one_point_a_deal(2))
    whole = table.to_bytes()
    for at in range(0, len(whole), 23):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        try:
            found = load_equity(path)
        except EquityError:
            continue
        assert found.rules == table.rules
        assert (found.values == table.values).all()


def test_what_does_not_fit_is_refused():
    table = EquityTable.solve(load_rules("setback"), one_point_a_deal(2))
    with pytest.raises(EquityError, match=r"^scores: int64 of shape \(3, 3\); allowed: integers \(n, 2\)$"):
        table.equity(np.zeros((3, 3), np.int64))
    with pytest.raises(EquityError, match=r"^outcomes: of a game with 3 sides; allowed: 2, as in the rules$"):
        EquityTable.solve(load_rules("setback"), one_point_a_deal(3))
    with pytest.raises(EquityError, match=r"^outcomes: no deal was scored; allowed: at least one$"):
        EquityTable.solve(load_rules("setback"), outcomes_of(fresh_matches(load_rules("setback"), 1, 0, 5)["public"], 2))

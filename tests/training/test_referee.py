"""A referee one can trust: intervals hold what they say, equals are equal, what is there is found, and nothing depends on who plays."""

import json
from itertools import pairwise, permutations

import numpy as np
import pytest

import pitchenv
import training.__main__
from agents.learned import TwoPartPolicy
from pitchenv.engine.state import VIEW
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.random import RandomPolicy
from training import parts as parts_module
from training.cross_play import MixedSide
from training.duplicate import duplicate, play_duplicate
from training.intervals import bounds, interval
from training.match import Arguments, run
from training.parts import PART, fresh_matches, part_size, play_part, seatings
from training.players import Player
from training.referee import MIN_DEALS, Match, in_order, narrow_enough

PARTNERS = pitchenv.load_rules("auction-4-partners")


class Sometimes:
    """Another policy, but at random with a chance `q`, the same seed the same draws."""

    reads = "view"

    def __init__(self, policy, q):
        self.policy, self.q = policy, q

    def reset(self, rules, size, seed):
        self.random = np.random.default_rng(seed)

    def act(self, inputs, mask, seat):
        actions = self.policy.act(inputs, mask, seat)
        strays = np.flatnonzero(self.random.random(len(actions)) < self.q)
        actions[strays] = (self.random.random((len(strays), 70)) * mask[strays]).argmax(axis=1)
        return actions


class First:
    reads = "view"

    def reset(self, rules, size, seed):
        pass

    def act(self, inputs, mask, seat):
        assert inputs.dtype == VIEW
        return mask.argmax(axis=1)


class Last(First):
    def act(self, inputs, mask, seat):
        return 69 - mask[:, ::-1].argmax(axis=1)


# Intervals


@pytest.mark.parametrize("name", ["random", "mild"])
def test_of_two_copies_of_a_stochastic_agent_19_in_20_intervals_hold_0(name):
    """2,000 matches, each of 25 deals: one long match in pieces."""
    pair = [RandomPolicy() if name == "random" else Sometimes(First(), 0.2) for _ in range(2)]
    per_deal = duplicate(*pair, PARTNERS, 2000 * 25, seed=1).per_deal.reshape(2000, 25)
    assert np.unique(per_deal).size > 10
    held = np.mean([abs(mean) <= width for mean, width in map(interval, per_deal)])
    assert 0.935 <= held <= 0.965
    some = [bounds(values, "bootstrap") for values in per_deal[:300]]
    assert 0.89 <= np.mean([low <= 0 <= high for low, high in some]) <= 0.98


def test_intervals_that_end_when_they_are_narrow_enough_hold_the_truth_as_often():
    """From real margins, resampled: until is such that about 700 deals are needed."""
    margins = duplicate(RandomPolicy(), HeuristicPolicy(), PARTNERS, 4000, seed=1).per_deal
    truth, random = margins.mean(), np.random.default_rng(1)
    until = 1.96 * margins.std() / 700**0.5
    held, lengths = [], []
    for _ in range(2000):
        played = []
        while not played or not narrow_enough(np.concatenate(played)[None], until, "t"):
            played.append(random.choice(margins, PART))
        mean, half = interval(np.concatenate(played))
        assert half <= until
        assert len(played) * PART >= MIN_DEALS
        held.append(abs(mean - truth) <= half)
        lengths.append(len(played) * PART)
    assert 0.935 <= np.mean(held) <= 0.965
    assert min(lengths) < max(lengths)
    assert np.mean(lengths) == pytest.approx(700, rel=0.1)


def test_the_bootstrap_is_another_interval_of_the_same():
    values = np.random.default_rng(1).exponential(size=400)
    mean, width = interval(values)
    low, high = bounds(values, "bootstrap")
    assert bounds(values) == (mean - width, mean + width)
    assert (low, high) == bounds(values, "bootstrap")
    assert low == pytest.approx(mean - width, abs=0.03)
    assert high == pytest.approx(mean + width, abs=0.03)
    assert high - mean > mean - low  # it is skewed
    assert bounds(np.full(9, 0.1), "bootstrap") == pytest.approx((0.1, 0.1))


# Margins


@pytest.mark.parametrize("name", ["auction-4-partners", "auction-3", "oklahoma-6", "smear"])
def test_identical_deterministic_agents_differ_by_exactly_0_in_every_deal(name):
    result = duplicate(HeuristicPolicy(), HeuristicPolicy(), pitchenv.load_rules(name), 100, seed=1)
    assert not result.per_deal.any()
    assert (result.margin, result.half_width, result.lows[0, 1], result.highs[0, 1]) == (0, 0, 0, 0)
    assert np.isnan(result.variance_ratios).all()  # infinitely many


def test_a_planted_weakness_is_found_and_grows():
    """To play at random now and then costs, the more the oftener."""
    results = [duplicate(HeuristicPolicy(), Sometimes(HeuristicPolicy(), q), PARTNERS, 3000, seed=1) for q in (0, 0.05, 0.2, 0.6)]
    assert results[0].margin == 0
    for less, more in pairwise(results):
        assert more.margin - more.half_width > less.margin + less.half_width
    assert duplicate(HeuristicPolicy(), RandomPolicy(), PARTNERS, 1000, seed=1).margin > results[-1].margin


def test_an_advantage_known_from_every_deal_there_is_is_found():
    """One card each of eight: 112 deals with their dealers, all equally likely."""
    rules = pitchenv.load_rules("auction-2", lowest_rank=13, hand_size=1, tricks=1)
    pack = [11, 12, 24, 25, 37, 38, 50, 51]
    margins = []
    for hands in permutations(pack, 2):
        for dealer in (0, 1):
            for at_side in ((0, 1), (1, 0)):
                game = pitchenv.Game.from_deal(rules, [[card] for card in hands], dealer=dealer)
                while game.seat is not None:
                    game.apply(game.legal_actions()[-1 if at_side[game.seat] else 0])
                margins.append(game.scores[at_side.index(0)] - game.scores[at_side.index(1)])
    known = np.mean(margins)
    assert known != 0
    result = duplicate(First(), Last(), rules, 4000, seed=1)
    assert abs(result.margin - known) <= result.half_width
    assert result.half_width < abs(known) / 2


def test_the_cards_are_the_same_for_every_pairing_and_any_number_of_agents():
    dealt = []

    class Notes(First):
        def act(self, inputs, mask, seat):
            opening = inputs["public"]["moves"] == 0
            dealt[-1].update((row["public"]["dealer"].item(), row["hand"].item()) for row in inputs[opening])
            return super().act(inputs, mask, seat)

    rules, pool = pitchenv.load_rules("auction-3"), [Notes(), Notes(), Last(), RandomPolicy(), HeuristicPolicy(), First(), Notes()]
    for number in (2, 3, 4, 5, 6, 7):
        dealt.append(set())
        result = play_duplicate([Player(str(k), policy, k) for k, policy in enumerate(pool[:number])], rules, 30, seed=8)
        assert result.margins.shape == (number, number)
        assert np.allclose(result.margins, -result.margins.T)
    expected = {(m["public"]["dealer"].item(), m["hidden"]["hands"][m["public"]["turn"]].item()) for m in fresh_matches(rules, 8, 0, 30)}
    assert all(found == expected for found in dealt)


def test_what_duplicate_play_gains_is_reported():
    """Against a match of as many plays, of independent deals."""
    result = duplicate(Sometimes(HeuristicPolicy(), 0.05), HeuristicPolicy(), PARTNERS, 2000, seed=1)
    scores = []
    for seating in seatings(2, 2):
        players = [Player("a", Sometimes(HeuristicPolicy(), 0.05), 0), Player("b", HeuristicPolicy(), 1)]
        part = play_part(players, PARTNERS, 1, 0, 2000, keep=True)
        change = part.kept.deals["public"]["change"][(part.kept.at_side == seating).all(axis=1)]
        scores.append(change[:, list(seating).index(0)] - change[:, list(seating).index(1)])
    alone = np.mean([margins.var(ddof=1) for margins in scores])
    assert result.per_deal == pytest.approx(np.mean(scores, axis=0))
    assert result.variance_ratios[0, 1] == pytest.approx(alone / (2 * result.per_deal.var(ddof=1)))
    assert result.variance_ratios[0, 1] == pytest.approx(result.variance_ratios[1, 0])
    assert result.variance_ratios[0, 1] > 3


# Parts and workers


def test_a_part_depends_on_its_number_alone():
    def players():
        return [Player("random", RandomPolicy(), 0), Player("mild", Sometimes(First(), 0.3), 1)]

    in_order_ = [play_part(players(), PARTNERS, 3, part, 10, 10).margins for part in range(3)]
    same = players()
    for part in (2, 0, 1):
        assert np.array_equal(play_part(same, PARTNERS, 3, part, 10, 10).margins, in_order_[part])
    assert not np.array_equal(in_order_[0], in_order_[1])


def test_slow_agents_have_small_parts():
    slow = RandomPolicy()
    slow.slow = True
    assert part_size([RandomPolicy(), HeuristicPolicy()], 2) == parts_module.AT_ONCE // 2
    assert part_size([RandomPolicy(), slow], 2) == PART
    assert part_size([TwoPartPolicy(First(), First()), First()], 3) > PART
    assert part_size([TwoPartPolicy(First(), slow), First()], 3) == PART
    assert part_size([MixedSide([slow, First()]), First()], 2) == PART


AGENTS = """
import numpy as np
from pitchenv.policies.random import RandomPolicy

class Slow(RandomPolicy):
    slow = True
    samples = True

class Weak(Slow):
    def act(self, inputs, mask, seat):
        return np.full(len(mask), 54) if self._random.random() < 0.5 else super().act(inputs, mask, seat)

class Crashes(Slow):
    def reset(self, rules, size, seed):
        super().reset(rules, size, seed)
        self.parts_played = getattr(self, "parts_played", 0) + 1

    def act(self, inputs, mask, seat):
        if len(inputs) < 100 and self.parts_played:
            raise RuntimeError("out of cards")
        return super().act(inputs, mask, seat)
"""


@pytest.fixture
def own_agents(tmp_path, monkeypatch):
    (tmp_path / "referee_agents.py").write_text(AGENTS)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_any_number_of_workers_gives_the_same_result_to_the_last_bit(own_agents, tmp_path, small_run):
    written = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        argv = ["referee_agents:Slow", "referee_agents:Weak", "--deals", "150", "--workers", str(workers)]
        argv += ["--json", str(folder / "out.json"), "--records", str(folder / "games.jsonl"), "--control", str(small_run)]
        assert training.__main__.main(["match", *argv]) == 0
        report = json.loads((folder / "out.json").read_text())
        del report["seconds"]
        written.append((report, (folder / "games.jsonl").read_bytes()))
    assert written[0] == written[1]
    report = written[0][0]
    assert report["illegal"]["referee_agents:Weak"] > report["illegal"]["referee_agents:Slow"] == 0
    assert report["control"]["decisions"] > 1000
    assert len(written[0][1].splitlines()) == 150 * 2


def test_an_agent_that_crashes_is_named(own_agents, capsys):
    argv = ["match", "random", "referee_agents:Crashes", "--deals", "20"]
    assert training.__main__.main(argv) == 2
    assert capsys.readouterr().err == "agent 'referee_agents:Crashes': act raised RuntimeError: out of cards\n"


def test_parts_come_in_order_and_failures_in_their_turn(monkeypatch):
    match = Match(("a", "b"), ("random", "random"), PARTNERS, 1)
    monkeypatch.setattr("training.referee.part_size", lambda policies, sides: 10)
    fault = RuntimeError("dead")
    monkeypatch.setattr("training.referee.play_task", lambda task: task.part)
    finished = [(2, fault), (1, Part(1)), (0, Part(0)), (3, Part(3))]
    monkeypatch.setattr("training.referee.run_tasks", lambda function, tasks, workers: (one for one in finished))
    parts = in_order(match, False, 40, workers=2)
    assert [next(parts).number, next(parts).number] == [0, 1]
    with pytest.raises(RuntimeError, match="dead"):
        next(parts)


class Part:
    kept, deals = None, 10

    def __init__(self, number):
        self.number = number


# The command


def test_until_goes_on_until_the_intervals_are_narrow(own_agents, capsys):
    until = 0.19
    report = run(Arguments(("random", "referee_agents:Slow", "random"), rules="auction-3", until=until, deals=3000))
    widths = np.array(report["half_width"])
    assert report["reached"]
    assert MIN_DEALS <= report["deals"] < 3000
    assert report["deals"] % PART == 0
    assert widths.max() <= until
    before = run(Arguments(("random", "referee_agents:Slow", "random"), rules="auction-3", deals=report["deals"] - PART))
    assert report["deals"] == MIN_DEALS or np.max(before["half_width"]) > until
    capsys.readouterr()


def test_until_ends_at_the_most_deals(capsys):
    report = run(Arguments(("random", "heuristic"), until=0.001, deals=600))
    assert (report["deals"], report["until"], report["reached"]) == (600, 0.001, False)
    assert "the most deals were played and an interval is still wider than ± 0.001" in capsys.readouterr().out


def test_the_bootstrap_is_said(tmp_path, capsys):
    report = run(Arguments(("random", "heuristic"), deals=200, bootstrap=True, json=tmp_path / "x.json"))
    assert json.loads((tmp_path / "x.json").read_text()) == report
    assert report["interval"] == "bootstrap"
    low, high = report["low"][0][1], report["high"][0][1]
    assert low < report["margin"][0][1] < high
    assert report["half_width"][0][1] == (high - low) / 2
    assert (report["low"][1][0], report["high"][1][0]) == (-high, -low)
    said = capsys.readouterr().out
    assert f"({low:+.3f} … {high:+.3f}) points a deal" in said
    assert "95 % intervals (bootstrap)" in said


def test_gains_are_said(small_run, capsys):
    report = run(Arguments(("random", "random"), deals=100, control=small_run))
    said = capsys.readouterr().out
    assert report["interval"] == "t"
    assert f"as sure as {report['variance_ratio'][0][1]:.2f} times as many plays of independent deals" in said
    control = report["control"]
    assert control["run"] == str(small_run)
    assert control["plain_half_width"] > 0
    assert f"as sure as {control['gain']:.2f} times as many deals" in said
    assert report["margin"][0][1] != control["plain_margin"]


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--until", "0"], "until = 0.0: allowed: a half width above 0"),
        (["--until", "nan"], "until = nan"),
        (["--until", "0.1", "--deals", "100"], "deals = 100: allowed with until: at least 512"),
        (["--workers", "0"], "workers = 0: allowed: 1 … "),
        (["--bootstrap", "--deals", "2000000"], "deals = 2000000: allowed with bootstrap: at most 1000000"),
        (["--control", "none"], "control = 'none': not the folder of a run"),
        (["random", "--control", "none"], "control = 'none': 3 agents given; allowed with it: 2"),
    ],
)
def test_wrong_input_is_one_line(argv, says, capsys):
    assert training.__main__.main(["match", "random", "random", *argv]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out

"""Duplicate play: who is ahead, by exactly how much, how sure that is; and what an agent may not do."""

import json
import math

import numpy as np
import pytest

import pitchenv
import training.__main__
from pitchenv.engine.state import VIEW
from pitchenv.observation import layout
from pitchenv.policies.heuristic import HEURISTIC_VERSION, HeuristicPolicy
from pitchenv.policies.random import RandomPolicy
from pitchenv.records import read_records, replay_file
from training import parts as parts_module
from training.duplicate import duplicate, play_duplicate, play_matches
from training.intervals import interval, student_t
from training.match import Arguments, main, run
from training.match_report import _rate
from training.parts import fresh_matches, orders, seatings
from training.players import AgentError, Player


class First:
    """The first legal action: passes, and plays low cards."""

    reads = "observation"

    def reset(self, rules, size, seed):
        self.rules = rules

    def act(self, inputs, mask, seat):
        assert inputs.shape == (len(mask), layout(self.rules.players).size)
        assert inputs.dtype == np.float32
        assert mask.sum(axis=1).min() > 1
        assert seat.shape == (len(mask),)
        return mask.argmax(axis=1)


class Last(First):
    """The last legal action: bids all it can."""

    reads = "view"

    def act(self, inputs, mask, seat):
        assert inputs.dtype == VIEW
        assert (inputs["seat"] == seat).all()
        return 69 - mask[:, ::-1].argmax(axis=1)


class Middle(First):
    """The middle one of the legal actions."""

    def act(self, inputs, mask, seat):
        return np.array([legal[len(legal) // 2] for legal in map(np.flatnonzero, mask)])


CHOOSE = {First: lambda legal: legal[0], Last: lambda legal: legal[-1], Middle: lambda legal: legal[len(legal) // 2]}


class OutOfTurn(First):
    """Proposes a pass, a card it may not have, or no action at all."""

    def __init__(self, action=54):
        self.action = action

    def act(self, inputs, mask, seat):
        self.proposed = getattr(self, "proposed", 0) + int((~mask[:, self.action]).sum() if 0 <= self.action < 70 else len(mask))
        return np.full(len(mask), self.action)


class Wrong(First):
    def __init__(self, how):
        self.how = how

    def act(self, inputs, mask, seat):
        return {"shape": np.zeros((len(mask), 1), int), "dtype": mask.argmax(axis=1).astype(float), "none": None}[self.how]


class Refuses(First):
    def reset(self, rules, size, seed):
        raise ValueError("smear is not for me")


class Raises(First):
    def act(self, inputs, mask, seat):
        raise RuntimeError("no idea\nwhat to play")


def by_hand(rules, plan, policies, deals, seed):
    """The margin of the first agent over the second in each deal, with one `Game` a play."""
    margins = []
    sides = orders(fresh_matches(rules, seed, 0, deals), len(policies), rules.sides)
    for start, order in zip((pitchenv.Batch(rules, deals, seed).game(i) for i in range(deals)), sides, strict=True):
        plays = []
        for at_side in np.array(plan)[:, order]:
            game = start.copy()
            while game.seat is not None:
                game.apply(CHOOSE[policies[at_side[game.seat % rules.sides]]](game.legal_actions()))
            scores = [[s for s, a in zip(game.scores, at_side, strict=True) if a == agent] for agent in (0, 1)]
            if all(scores):
                plays.append(np.mean(scores[0]) - np.mean(scores[1]))
        margins.append(np.mean(plays))
    return margins


@pytest.mark.parametrize("name", ["auction-4-partners", "oklahoma-6", "auction-3", "auction-5", "smear"])
def test_the_margin_is_that_of_every_play_by_hand(name):
    rules = pitchenv.load_rules(name)
    expected = by_hand(rules, seatings(2, rules.sides).tolist(), (First, Last), 12, seed=4)
    result = duplicate(First(), Last(), rules, 12, seed=4)
    assert result.per_deal == pytest.approx(expected)
    assert result.margin == pytest.approx(np.mean(expected))
    assert result.half_width == pytest.approx(2.201 * np.std(expected, ddof=1) / math.sqrt(12), rel=1e-3)
    assert result.plays == (2 if rules.sides == 2 else 2 * rules.sides)
    assert np.array_equal(result.margins, -result.margins.T)
    assert result.illegal == {"A": 0, "B": 0}


@pytest.mark.parametrize("name", ["auction-3", "auction-4", "auction-4-partners"])
def test_three_agents(name):
    rules = pitchenv.load_rules(name)
    policies = (First, Last, Middle)
    players = [Player(policy.__name__, policy(), i) for i, policy in enumerate(policies)]
    result = play_duplicate(players, rules, 6, seed=2)
    assert result.per_deal == pytest.approx(by_hand(rules, seatings(3, rules.sides).tolist(), policies, 6, seed=2))


@pytest.mark.parametrize("name", ["auction-4-partners", "oklahoma-6", "auction-7", "setback"])
def test_identical_deterministic_agents_differ_by_exactly_nothing(name):
    result = duplicate(Last(), Last(), pitchenv.load_rules(name), 200, seed=1)
    assert (result.per_deal == 0).all()
    assert (result.margin, result.half_width) == (0, 0)


def test_seatings_are_balanced():
    assert seatings(2, 2).tolist() == [[0, 1], [1, 0]]
    alone = seatings(2, 3).tolist()
    assert sorted(alone) == sorted([[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert len(seatings(3, 3)) == 6
    assert len(seatings(4, 4)) == 8
    for agents in range(2, 7):
        for sides in range(2, 8):
            plan = seatings(agents, sides)
            held = np.array([(plan == agent).sum(axis=0) for agent in range(agents)])
            assert (held == held[0, 0]).all() or (agents == 2 and (held == len(plan) // 2).all()), (agents, sides)
            assert len(np.unique(plan, axis=0)) == len(plan) or 2 < agents < sides
            together = {(a, b): sum(a in row and b in row for row in plan.tolist()) for a in range(agents) for b in range(a)}
            assert len(set(together.values())) == 1


@pytest.mark.parametrize(("agents", "game"), [(3, "auction-4"), (4, "auction-4"), (5, "auction-5"), (7, "auction-5"), (3, "auction-6")])
def test_nobody_sits_beside_one_agent_more_often_than_another(agents, game):
    rules = pitchenv.load_rules(game)
    plan = seatings(agents, rules.sides)
    dealt = fresh_matches(rules, 1, 0, 1500)
    seated = plan[:, orders(dealt, agents, rules.sides)]
    assert np.array_equal(seated[:, :30], plan[:, orders(dealt[:30], agents, rules.sides)])  # each deal by itself
    for apart in range(1, rules.sides):
        beside = np.zeros((agents, agents))
        np.add.at(beside, (seated, np.roll(seated, -apart, axis=2)), 1)
        others = beside[~np.eye(agents, dtype=bool)]
        assert others.min() > 0.9 * others.mean()
        assert others.max() < 1.1 * others.mean()


@pytest.mark.parametrize("place", [1, 2])
def test_copies_of_an_agent_are_worth_the_same_wherever_they_are_named(place):
    """A third, much weaker agent is worth points to whoever sits where it helps: neither copy may have more of it."""
    policies = [HeuristicPolicy(), HeuristicPolicy()]
    policies.insert(place, RandomPolicy())
    players = [Player(str(i), policy, i) for i, policy in enumerate(policies)]
    result = play_duplicate(players, pitchenv.load_rules("auction-4"), 3000, seed=1)
    copies = [i for i in range(3) if i != place]
    assert abs(result.margins[copies[0], copies[1]]) < 1.3 * result.half_widths[copies[0], copies[1]]
    assert result.half_widths[copies[0], copies[1]] < 0.025


def test_the_deals_do_not_depend_on_how_many_are_in_memory(monkeypatch):
    rules = pitchenv.load_rules("smear")
    whole = duplicate(First(), Last(), rules, 50, seed=9)
    monkeypatch.setattr(parts_module, "AT_ONCE", 16)
    parts = duplicate(First(), Last(), rules, 50, seed=9)
    assert np.array_equal(whole.per_deal, parts.per_deal)
    assert np.array_equal(whole.per_deal[:20], duplicate(First(), Last(), rules, 20, seed=9).per_deal)
    assert not np.array_equal(whole.per_deal, duplicate(First(), Last(), rules, 50, seed=10).per_deal)


def test_a_known_advantage_is_found():
    """To bid all one can with any hand is worse than to play at random, and that is worse than a player who counts."""
    rules = pitchenv.load_rules("auction-4-partners")
    result = duplicate(RandomPolicy(), Last(), rules, 500, seed=1)
    assert result.margin - result.half_width > 0
    result = duplicate(Last(), RandomPolicy(), rules, 500, seed=1)
    assert result.margin + result.half_width < 0


def test_agents_of_the_same_kind_have_their_own_random_numbers():
    rules = pitchenv.load_rules("auction-4-partners")
    result = duplicate(RandomPolicy(), RandomPolicy(), rules, 400, seed=1)
    assert result.per_deal.any()
    assert abs(result.margin) < 3 * result.half_width
    assert np.array_equal(result.per_deal, duplicate(RandomPolicy(), RandomPolicy(), rules, 400, seed=1).per_deal)


@pytest.mark.parametrize("action", [54, 0, 70, -1])
def test_illegal_proposals_are_counted_and_the_first_legal_action_taken(action):
    rules = pitchenv.load_rules("auction-4-partners")
    culprit = OutOfTurn(action)
    result = duplicate(First(), culprit, rules, 20, seed=3, names=("good", "bad"))
    assert culprit.proposed > 0
    assert result.illegal == {"good": 0, "bad": culprit.proposed}
    if action in (70, -1):
        assert (result.per_deal == 0).all()


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Wrong("shape"), r"agent 'bad': act gave shape \(\d+, 1\)"),
        (Wrong("dtype"), "agent 'bad': act gave .* dtype float64; allowed: integers"),
        (Wrong("none"), r"agent 'bad': act gave shape \(\)"),
        (Refuses(), "agent 'bad': smear is not for me"),
        (Raises(), "agent 'bad': act raised RuntimeError: no idea what to play"),
    ],
)
def test_an_agent_that_cannot_play_is_named(policy, says):
    with pytest.raises(AgentError, match=says) as refusal:
        duplicate(First(), policy, pitchenv.load_rules("smear"), 4, seed=1, names=("good", "bad"))
    assert "\n" not in str(refusal.value)


def test_what_an_agent_reads_must_be_said():
    policy = First()
    policy.reads = "match"
    with pytest.raises(AgentError, match="agent 'cheat': reads = 'match'; allowed: 'observation', 'view'"):
        Player("cheat", policy, 0)


@pytest.mark.parametrize("name", ["smear", "oklahoma-6"])
def test_whole_matches(name):
    rules = pitchenv.load_rules(name)
    kept = []
    players = [Player("First", First(), 0), Player("Last", Last(), 1)]
    wins = play_matches(players, rules, 5, seed=3, keep=lambda part: kept.extend(part.by_play()))
    plan = seatings(2, rules.sides)
    assert len(kept) == 5 * len(plan)
    assert wins.undecided == 0
    won = [[], []]
    for number, (deals, at_side) in enumerate(kept):
        game = pitchenv.Batch(rules, 5, seed=3).game(number % 5)
        assert at_side.tolist() == plan[number // 5].tolist()
        while not game.over:
            if game.phase == "ended":
                game.next_deal()
            else:
                game.apply(CHOOSE[(First, Last)[at_side[game.seat % rules.sides]]](game.legal_actions()))
        assert [deal["history"].tobytes() for deal in deals] == [deal["history"].tobytes() for deal in game.deals]
        for agent in (0, 1):
            if (at_side == agent).sum() == 1:  # alone against the rest
                won[agent].append(at_side[game.winner] == agent)
    assert wins.win_rate == pytest.approx([np.mean(won[0]), np.mean(won[1])])
    assert wins.deals_a_match == pytest.approx(np.mean([len(deals) for deals, _ in kept]))


def test_equal_agents_win_equally_often():
    rules = pitchenv.load_rules("auction-3", win="any")
    players = [Player(str(i), Last(), i) for i in (0, 1)]
    wins = play_matches(players, rules, 30, seed=1)
    assert wins.win_rate == pytest.approx([1 / 3, 1 / 3])
    assert wins.half_widths == pytest.approx([0, 0])


def test_a_match_that_nobody_wins_is_shared(monkeypatch):
    monkeypatch.setattr(parts_module, "MAX_DEALS", 1)
    players = [Player(str(i), First(), i) for i in (0, 1)]
    wins = play_matches(players, pitchenv.load_rules("setback", dealer_must_bid=[2]), 3, seed=1)
    assert wins.undecided == 6
    assert wins.win_rate.tolist() == [0.5, 0.5]
    assert wins.deals_a_match == 1


def test_intervals():
    for freedom, value in ((1, 12.706), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (10**6, 1.960)):
        assert student_t(freedom) == pytest.approx(value, abs=0.0005)
    assert interval(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx((2.5, 3.182 * 1.29099 / 2), abs=0.01)
    with pytest.raises(ValueError, match="1 values: an interval needs at least 2"):
        interval(np.zeros(1))
    # Of many intervals around means of a skewed variable about 95 % hold the truth.
    draws = np.random.default_rng(1).exponential(size=(2000, 60))
    held = np.mean([abs(mean - 1) <= width for mean, width in map(interval, draws)])
    assert 0.92 < held < 0.97


# The command


def test_the_command_writes_the_result_and_the_records(tmp_path, capsys):
    json_file, records = tmp_path / "out.json", tmp_path / "games.jsonl"
    argv = ["random", "random", "--rules", "smear", "--set", "widow=2", "win=made_bid", "--deals", "20", "--matches", "3"]
    main([*argv, "--json", str(json_file), "--records", str(records)])
    report = json.loads(json_file.read_text())
    house = pitchenv.load_rules("smear", widow=2, win="made_bid")
    assert report["agents"] == ["random", "random (2)"]
    assert report["rules"] == house.to_dict()
    assert report["deals"] == 20
    assert report["illegal"] == {"random": 0, "random (2)": 0}
    assert report["versions"] == {"pitchenv": pitchenv.__version__, "heuristic": HEURISTIC_VERSION}
    assert report["seconds"] > 0
    (zero, ahead), (behind, nought) = report["margin"]
    assert zero == nought == 0
    assert ahead == -behind
    (_, width), (same, _) = report["half_width"]
    assert width == same > 0
    assert len(report["matches"]["win_rate"]) == 2
    assert report["matches"]["matches"] == 3
    said = capsys.readouterr().out
    assert f"random over random (2): {ahead:+.3f} ± {width:.3f} points a deal" in said

    games = list(replay_file(records))
    assert len(games) == 2 * 20 + 2 * 3
    assert all(game.rules == house for game in games)
    lines = list(read_records(records))
    assert lines[0]["agents"] == ["random", "random (2)"] * 2
    assert lines[20]["agents"] == ["random (2)", "random"] * 2
    margins = [(game.scores[0] - game.scores[1]) * (1 if at < 20 else -1) for at, game in enumerate(games[:40])]
    assert np.mean(margins) == pytest.approx(ahead)
    assert all(game.over or game.deals_played == 100 for game in games[40:])


def test_more_than_two_agents(capsys):
    report = run(Arguments(("random", "heuristic", "random"), rules="auction-3", deals=10))
    assert np.array(report["margin"]).shape == (3, 3)
    assert report["agents"] == ["random", "heuristic", "random (2)"]
    said = capsys.readouterr().out
    assert said.count(" over ") == 3
    assert "independent deals, of the first two agents" in said


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["random"], "agents: 1 given; allowed: two or more"),
        (["random"] * 24, "agents: 24 given; allowed: 2 … 7"),
        (["random", "heurisitc"], "agent 'heurisitc'"),
        (["random", "random", "--rules", "smaer"], "game 'smaer': unknown; did you mean 'smear'?"),
        (["random", "random", "--rules", "none.toml"], "cannot be read"),
        (["random", "random", "--set", "widows=2"], "rule field 'widows': unknown; did you mean 'widow'?"),
        (["random", "random", "--set", "widow"], "set 'widow': allowed: FIELD=VALUE"),
        (["random", "random", "--set", "widow=two"], "widow = 'two'"),
        (["random", "random", "--deals", "1"], "deals = 1: allowed: at least 2"),
        (["random", "random", "--matches", "1"], "matches = 1"),
        (["random", "random", "--json", "none/x.json"], "json = 'none/x.json': cannot be written; allowed: a file in a folder"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(argv, says, capsys):
    assert training.__main__.main(["match", *argv]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_as_many_agents_as_are_allowed():
    report = run(Arguments(("random",) * 7, deals=2))
    assert report["plays"] == 42
    assert len(report["agents"]) == 7


def test_one_file_for_two_things_is_refused(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    for other in (tmp_path / "x", tmp_path / "sub" / ".." / "x", tmp_path / "link" / "x", tmp_path / "x.tmp"):
        with pytest.raises(ValueError, match=r"records = '.*x.*': the same file as json; allowed: another"):
            main(["random", "random", "--deals", "2", "--json", str(tmp_path / "x"), "--records", str(other)])
    assert not (tmp_path / "x").exists()


def test_no_impossible_win_rate_is_shown(capsys):
    report = run(Arguments(("random", "random"), deals=2, matches=2, seed=1))
    said = capsys.readouterr().out
    for rate, width in zip(report["matches"]["win_rate"], report["matches"]["half_width"], strict=True):
        assert width > 1
        assert f"wins {rate:.1%} (0.0% … 100.0%)" in said


def test_how_a_win_rate_is_shown():
    assert _rate(0.4, 0.12) == "40.0% ± 12.0%"
    assert _rate(0.4, 0.7) == "40.0% (0.0% … 100.0%)"
    assert _rate(0.9, 0.2) == "90.0% (70.0% … 100.0%)"
    assert _rate(1.0, 0.0) == "100.0% ± 0.0%"


def test_records_that_are_there_already_are_not_touched(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("precious\n")
    with pytest.raises(ValueError, match="exists already; allowed: a new file"):
        main(["random", "random", "--records", str(path)])
    assert path.read_text() == "precious\n"

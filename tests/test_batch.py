"""`Batch`: many matches stepped together are the same matches alone, whatever stands beside them."""

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pitchenv
from pitchenv import Batch, Game, IllegalAction, load_rules
from pitchenv.checks import InputError
from pitchenv.observation import observe
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.conformance import ALL_RULES, content, digest, expected_reward

NAMES = list(ALL_RULES)


def choices(batch: Batch, step: int) -> np.ndarray:
    """A legal action in every match that depends on its number, the step and the mask alone."""
    actions = np.zeros(batch.size, np.int64)
    for i in range(batch.size):
        legal = np.flatnonzero(batch.mask[i])
        if len(legal):
            actions[i] = legal[random.Random(f"{i} {step}").randrange(len(legal))]
    return actions


def check_row(batch: Batch, i: int, game: Game) -> None:
    """Match i of a batch is this game, and its buffers hold what the game says."""
    twin = batch.game(i)
    assert content(twin._match) == content(game._match)
    assert batch.seat[i] == (-1 if game.seat is None else game.seat)
    assert np.flatnonzero(batch.mask[i]).tolist() == game.legal_actions()
    if game.seat is not None:
        slots = batch.layout.slots
        assert (batch.observation[i] == game.observe(game.seat, slots)).all()
        assert (batch.state[i] == game.state(game.seat, slots)).all()
        assert content(batch.views()[i]) == content(game.view(game.seat))


@pytest.mark.parametrize("name", NAMES)
def test_a_match_in_a_batch_is_the_game_alone(name):
    rules = ALL_RULES[name]
    batch = Batch(rules, 3, seed=5, episode="match", reward="score", max_deals=1000)
    games = [batch.game(i) for i in range(3)]
    assert content(games[0]._match) == content(Game(rules, seed=5)._match)
    assert batch.observation.dtype == np.float32
    assert batch.mask.dtype == np.bool_
    assert batch.reward.dtype == np.float32
    for step in range(70):
        actions = choices(batch, step)
        batch.step(actions)
        for i, game in enumerate(games):
            before = game.scores
            game.apply(int(actions[i]))
            paid = [0.0] * rules.players
            if game.phase == "ended":
                paid = expected_reward(game, before, "score")
                assert bool(batch.terminated[i]) == game.over
                if game.over:
                    games[i] = game = batch.game(i)  # the next match
                else:
                    game.next_deal()
            else:
                assert not batch.terminated[i]
            assert batch.reward[i].tolist() == paid
            assert not batch.truncated[i]
            check_row(batch, i, game)


@pytest.mark.parametrize("name", ["oklahoma-4", "smear", "auction-5"])
def test_the_size_of_the_batch_changes_nothing(name):
    small, large = Batch(name, 2, seed=9), Batch(name, 50, seed=9)
    for step in range(80):
        assert content(small.matches) == content(large.matches[:2])
        small.step(choices(small, step))
        large.step(choices(large, step))
        assert (small.reward == large.reward[:2]).all()
        assert (small.terminated == large.terminated[:2]).all()
    small.play_random(100)
    large.play_random(100)
    assert content(small.matches) == content(large.matches[:2])


def test_games_mixed_in_one_batch_are_those_of_batches_of_their_own():
    kinds = ["auction-2", "oklahoma-6", pitchenv.load_rules("smear", widow=2)]
    mixed = Batch(kinds, 7, seed=3, slots=8)
    assert mixed.layout.slots == 8
    assert [r.players for r in mixed.rules] == [2, 6, 4, 2, 6, 4, 2]
    alone = [Batch(kind, 7, seed=3, slots=8) for kind in kinds]
    for step in range(60):
        actions = choices(mixed, step)
        mixed.step(actions)
        for k, batch in enumerate(alone):
            batch.step(choices(batch, step))
            for name in ("observation", "mask", "seat", "reward", "terminated", "truncated", "matches", "state"):
                assert content(getattr(mixed, name)[k::3]) == content(getattr(batch, name)[k::3])


@pytest.mark.parametrize("reward", ["margin", "score"])
@pytest.mark.parametrize("name", ["auction-3", "oklahoma-6", "setback"])
def test_deals_are_paid_and_begin_anew(name, reward):
    rules = ALL_RULES[name]
    batch = Batch(rules, 8, seed=1, reward=reward)
    ended = 0
    for step in range(120):
        games, actions = [batch.game(i) for i in range(8)], choices(batch, step)
        batch.step(actions)
        for i, game in enumerate(games):
            game.apply(int(actions[i]))
            assert bool(batch.terminated[i]) == (game.phase == "ended")
            assert not batch.truncated[i]
            expected = expected_reward(game, [0] * rules.sides, reward) if game.phase == "ended" else [0.0] * rules.players
            assert np.allclose(batch.reward[i], expected, atol=1e-6)
            if reward == "margin":
                assert abs(batch.reward[i, : rules.sides].sum()) < 1e-5
            if game.phase == "ended":
                ended += 1
                fresh = batch.game(i)
                assert fresh.deals_played == 0
                assert fresh.scores == [0] * rules.sides
                assert not fresh.actions
    assert ended >= 8


def test_matches_are_paid_when_they_are_won_and_not_when_they_are_cut_off():
    for name, max_deals in (("setback in rounds", 5), ("a small solo game", 9)):
        rules = ALL_RULES[name]
        batch = Batch(rules, 12, seed=2, episode="match", reward="win", max_deals=max_deals)
        ends = {"terminated": 0, "truncated": 0}
        for step in range(400):
            games, actions = [batch.game(i) for i in range(12)], choices(batch, step)
            batch.step(actions)
            for i in range(12):
                games[i].apply(int(actions[i]))
                assert bool(batch.terminated[i]) == games[i].over
                cut = games[i].phase == "ended" and not games[i].over and games[i].deals_played == max_deals
                assert bool(batch.truncated[i]) == cut
                expected = expected_reward(games[i], [0] * rules.sides, "win") if games[i].over else [0.0] * rules.players
                assert np.allclose(batch.reward[i], expected)
            ends["terminated"] += int(batch.terminated.sum())
            ends["truncated"] += int(batch.truncated.sum())
        assert min(ends.values()) > 0


def test_without_restart_finished_matches_stay_and_take_any_action():
    batch = Batch("auction-4-partners", 6, seed=1, restart=False)
    done = np.zeros(6, bool)
    for step in range(40):
        actions = choices(batch, step)
        actions[done] = -7
        before = batch.matches.copy()
        batch.step(actions)
        assert content(batch.matches[done]) == content(before[done])
        assert not batch.reward[done].any()
        assert not batch.terminated[done].any()
        done |= batch.terminated
        assert (batch.seat[done] == -1).all()
        assert not batch.mask[done].any()
        assert not batch.observation[done].any()
        assert (batch.seat[~done] >= 0).all()
        assert not batch.state[done].any()
        assert not content(batch.views()[done]).strip(b"\0")
    assert done.all()


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("name", ["smear", "oklahoma-4", "auction-7", "eight at the table"])
def test_skip_forced_takes_single_legal_actions_and_nothing_else(name, restart):
    """Every decision has a choice, and playing the skipped ones by hand gives the same match and the same rewards."""
    rules = ALL_RULES[name]
    batch = Batch(rules, 5, seed=4, skip_forced=True, restart=restart)
    skipped = 0
    for step in range(50):
        going = batch.seat >= 0
        assert (batch.mask[going].sum(axis=1) > 1).all()
        games, actions = [batch.game(i) for i in range(5)], choices(batch, step)
        batch.step(actions)
        for i in np.flatnonzero(going):
            game = games[i]
            game.apply(int(actions[i]))
            while len(game.legal_actions()) == 1:
                game.apply(game.legal_actions()[0])
                skipped += 1
            assert bool(batch.terminated[i]) == (game.phase == "ended")
            if game.phase == "ended":
                assert np.allclose(batch.reward[i], expected_reward(game, [0] * rules.sides, "margin"), atol=1e-6)
            if game.phase != "ended" or not restart:
                assert content(batch.game(i)._match) == content(game._match)
    assert skipped > 20


def test_from_games_takes_copies_of_chosen_matches():
    games = [Game("smear", seed=1), Game("oklahoma-6", seed=2), Game("smear", seed=3)]
    games[0].apply("pass")
    while games[2].phase != "ended":
        games[2].apply(games[2].legal_actions()[0])
    batch = Batch.from_games(games)
    assert batch.layout.slots == 6
    assert batch.rules == [game.rules for game in games]
    for i, game in enumerate(games):
        check_row(batch, i, game)
    before = [content(game._match) for game in games]
    batch.step(choices(batch, 0))
    assert [content(game._match) for game in games] == before
    again = Batch.from_matches([game.rules for game in games], np.concatenate([game._match for game in games]))
    again.step(choices(again, 0))
    assert content(again.matches) == content(batch.matches)
    assert (again.observation == batch.observation).all()
    with pytest.raises(ValueError, match=r"games = \[\]: allowed: at least one"):
        Batch.from_games([])


def test_reset_where_begins_new_episodes_there_alone():
    batch = Batch("auction-3", 6, seed=1)
    for step in range(5):
        batch.step(choices(batch, step))
    before = batch.matches.copy()
    where = np.array([True, False, False, True, False, True])
    batch.reset(where)
    assert content(batch.matches[~where]) == content(before[~where])
    for i in np.flatnonzero(where):
        assert batch.game(i).deals_played == 0
        assert not batch.game(i).actions
        assert batch.matches[i]["hidden"]["seed"] != before[i]["hidden"]["seed"]
        check_row(batch, i, batch.game(i))
    batch.reset(seed=1)
    assert content(batch.matches) == content(Batch("auction-3", 6, seed=1).matches)
    everywhere = batch.copy()
    batch.reset()
    everywhere.reset(np.ones(6, bool))
    assert content(batch.matches) == content(everywhere.matches)


def test_a_copy_is_independent_and_goes_on_alike():
    batch = Batch(["smear", "auction-2"], 4, seed=1, episode="match")
    for step in range(10):
        batch.step(choices(batch, step))
    twin = batch.copy()
    buffers = ("observation", "mask", "seat", "reward", "state", "matches")
    kept = {name: content(getattr(batch, name)) for name in buffers}
    for step in range(30):
        twin.step(choices(twin, step))
    assert {name: content(getattr(batch, name)) for name in buffers} == kept
    for step in range(30):
        batch.step(choices(batch, step))
    assert all(content(getattr(batch, name)) == content(getattr(twin, name)) for name in buffers)


def test_start_scores_spread_over_what_matches_reach():
    batch = Batch("setback", 4000, seed=1, start_scores="spread")
    scores = batch.matches["public"]["scores"][:, :2]
    assert scores.min() == -8
    assert scores.max() == 10
    counts = np.bincount(scores.ravel() + 8)
    assert len(counts) == 19
    assert counts.min() > 0.8 * counts.mean()
    assert abs(np.corrcoef(scores.T)[0, 1]) < 0.06  # sides independent (standard error 0.016)
    assert not batch.matches["public"]["scores"][:, 2:].any()
    batch.play_random(200)
    assert len(np.unique(batch.matches["public"]["scores"][:, :2])) == 19  # later episodes too


@pytest.mark.parametrize("win", ["pitcher", "made_bid"])
def test_start_scores_past_the_target_where_only_the_pitcher_wins(win):
    scores = Batch(load_rules("setback", win=win), 4000, seed=1, start_scores="spread").matches["public"]["scores"][:, :2]
    assert (scores.min(), scores.max()) == (-8, 14)
    assert np.bincount(scores.ravel() + 8).min() > 0.8 * scores.size / 23


@pytest.mark.parametrize("name", pitchenv.games())
def test_matches_seldom_begin_a_deal_beyond_the_spread(name):
    rules = load_rules(name)
    reached = Batch(name, 4000, seed=1, start_scores="spread").matches["public"]["scores"][:, : rules.sides]
    batch, player = Batch(name, 300, seed=2, episode="match", max_deals=30, restart=False), HeuristicPolicy()
    player.reset(rules, 300, 1)
    scores = []
    while (live := np.flatnonzero(batch.seat >= 0)).size:
        public = batch.matches["public"]
        scores.append(public["scores"][(public["moves"] == 0) & (batch.seat >= 0)][:, : rules.sides])
        actions = np.zeros(300, np.int64)
        actions[live] = player.act(batch.views()[live], batch.mask[live], batch.seat[live])
        batch.step(actions)
    beyond = [((some < reached.min()) | (some > reached.max())).any(axis=1) for some in scores]
    assert np.concatenate(beyond).mean() < 0.04
    assert not Batch("setback", 50, seed=1).matches["public"]["scores"].any()


def test_first_dealers_and_cards_are_evenly_drawn():
    batch = Batch("auction-5", 20_000, seed=7)
    dealers = np.bincount(batch.matches["public"]["dealer"], minlength=5) / batch.size
    assert np.allclose(dealers, 0.2, atol=0.015)  # 5 standard errors
    hands = batch.matches["hidden"]["hands"][:, :5]
    for card in (0, 17, 51):
        share = (hands >> card & 1).mean(axis=0)
        assert np.allclose(share, 6 / 52, atol=0.012)
    assert len(np.unique(hands[:, 0])) > 19_900


PLAY = """
from pitchenv import Batch
from tests.conformance import digest
batch = Batch(["oklahoma-4", "smear", "auction-7"], 30, seed=11, episode="match", reward="score")
print(digest(batch.play_random(300), batch.matches, batch.observation))
"""


def test_play_random_is_the_same_in_any_process_and_leaves_legal_matches():
    batch = Batch(["oklahoma-4", "smear", "auction-7"], 30, seed=11, episode="match", reward="score")
    here = digest(batch.play_random(300), batch.matches, batch.observation)
    there = subprocess.run([sys.executable, "-c", PLAY], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    assert there.stdout.strip() == here
    for i in range(30):
        check_row(batch, i, batch.game(i))
        hands = [c for pile in batch.game(i).hands for c in pile]
        assert len(hands) == len(set(hands))
    before = batch.matches.copy()
    batch.play_random(3)
    other = Batch.from_matches(batch.rules, before, restart=True, episode="match", reward="score")
    other.play_random(3)
    assert content(other.matches) != content(batch.matches)  # every call draws anew


def test_play_random_counts_episodes_and_stops_without_restart():
    batch = Batch("auction-2", 10, seed=1, restart=False)
    assert batch.play_random(1000) == 10
    assert (batch.seat == -1).all()
    assert batch.play_random(1000) == 0
    assert 10 * 1000 / 20 < Batch("auction-2", 10, seed=1).play_random(1000) < 10 * 1000 / 12


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_integers_of_any_kind_are_actions(dtype):
    batch, twin = Batch("smear", 3, seed=1), Batch("smear", 3, seed=1)
    actions = choices(batch, 0)
    batch.step(actions)
    twin.step(np.repeat(actions.astype(dtype), 2)[::2])
    assert content(batch.matches) == content(twin.matches)


@pytest.mark.parametrize(
    ("actions", "line"),
    [
        ([54, 0, 54], r"actions\[1\] = '2C': not legal for seat \d; allowed: pass, bid 2, bid 3, bid 4; no match is changed"),
        ([54, 54, 70], r"actions\[2\] = 70: not legal"),
        ([-1, 54, 54], r"actions\[0\] = -1: not legal"),
        ([54, 54], r"actions of shape \(2,\) and dtype int64: allowed: integers \(3,\)"),
        ([54.0, 54.0, 54.0], r"actions of shape \(3,\) and dtype float64: allowed: integers \(3,\)"),
        ([True, True, True], r"actions of shape \(3,\) and dtype bool: allowed: integers \(3,\)"),
    ],
)
def test_what_is_not_legal_is_refused_before_any_match_changes(actions, line):
    batch = Batch("smear", 3, seed=1)
    before = content(batch.matches), batch.observation.tobytes(), batch.mask.tobytes()
    with pytest.raises(IllegalAction, match=line) as refusal:
        batch.step(np.array(actions))
    assert "\n" not in str(refusal.value)
    assert (content(batch.matches), batch.observation.tobytes(), batch.mask.tobytes()) == before


@pytest.mark.parametrize(
    ("arguments", "options", "line"),
    [
        (("smear", 0), {}, "size = 0: allowed: 1 … 2147483647"),
        (("smear", 2.0), {}, "size = 2.0: allowed: a whole number, 1 … 2147483647"),
        (("smear", True), {}, "size = True: allowed: a whole number"),
        (([], 2), {}, "rules = []: allowed: at least one game"),
        ((4, 2), {}, "rules = 4: allowed: a list of games"),
        (([None], 2), {}, "game None: unknown; allowed: "),
        (("smear", 2, 1.5), {}, "seed = 1.5: allowed: a whole number"),
        (("smear", 2, "1"), {}, "seed = '1': allowed: a whole number"),
        (("smear", 2), {"slots": 4.0}, "slots = 4.0: allowed: a whole number, 4 … 8"),
        (("smear", 2), {"slots": 0}, "slots = 0: allowed: 4 … 8"),
        (("smear", 2), {"restart": 1}, "restart = 1: allowed: True, False"),
        (("smear", 2), {"skip_forced": "yes"}, "skip_forced = 'yes': allowed: True, False"),
        (("smear", 2), {"foo": 1}, "option 'foo': unknown; allowed: episode, reward, max_deals"),
        (("smear", 2), {"restrat": True}, "option 'restrat': unknown; did you mean 'restart'?"),
        (("smear", 2), {"max_deals": 0}, "max_deals = 0: allowed: 1 … 2147483647"),
        (("smeer", 2), {}, "game 'smeer': unknown; did you mean 'smear'?"),
        (("smear", 2), {"slots": 3}, "slots = 3: allowed: 4 … 8"),
        (("smear", 2), {"slots": 9}, "slots = 9: allowed: 4 … 8"),
        (("smear", 2), {"start_scores": "wide"}, "start_scores 'wide': unknown; allowed: zero, spread"),
        (("smear", 2), {"reward": "win"}, 'reward = "win": pays at the end of a match'),
        (("smear", 2), {"max_deals": 1.5}, "max_deals = 1.5: allowed: a whole number, 1 … 2147483647"),
    ],
)
def test_senseless_arguments_are_refused_in_one_line(arguments, options, line):
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        Batch(*arguments, **options)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


def everything(batch: Batch) -> tuple[bytes, ...]:
    return tuple(content(getattr(batch, name)) for name in ("matches", "observation", "mask", "seat", "reward", "terminated", "truncated"))


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda b: b.reset(np.ones(2, bool)), "where: bool of shape (2,); allowed: bool (3,)"),
        (lambda b: b.reset(np.ones(3, int)), "where: int64 of shape (3,); allowed: bool (3,)"),
        (lambda b: b.reset([1, 0, 1]), "where: int64 of shape (3,); allowed: bool (3,)"),
        (lambda b: b.reset(np.ones(3, bool), seed=1), "seed = 1: given with where; allowed: one of the two"),
        (lambda b: b.reset(seed=True), "seed = True: allowed: a whole number"),
        (lambda b: b.reset(seed=2.0), "seed = 2.0: allowed: a whole number"),
        (lambda b: b.play_random(-1), "decisions = -1: allowed: 0 … 2147483647"),
        (lambda b: b.play_random(2.5), "decisions = 2.5: allowed: a whole number, 0 … 2147483647"),
        (lambda b: Batch.from_games([1]), "games[0] = 1: allowed: a Game"),
        (lambda b: Batch.from_games(1), "games = 1: allowed: a list of Game"),
        (lambda b: Batch.from_matches(b.rules[:2], b.matches), "rules: 2 given; allowed: 3, one a match"),
        (
            lambda b: Batch.from_matches([], b.matches[:0]),
            "matches = an array of shape (0,): allowed: an array (N,) of MATCH records, N from 1",
        ),
        (lambda b: Batch.from_matches(b.rules, np.zeros(3)), "matches = an array of shape (3,): allowed: an array (N,) of MATCH records"),
        (lambda b: Batch.from_matches(b.rules, None), "matches = None: allowed: an array (N,) of MATCH records"),
        (lambda b: Batch.from_matches(["smear"] * 3, b.matches), "rules[0] = 'smear': allowed: a Rules"),
        (
            lambda b: Batch.from_matches([*b.rules[:2], pitchenv.load_rules("smear", target=9)], b.matches),
            "rules[2].target = 9: allowed: as in matches[2]",
        ),
        (lambda b: Batch.from_matches([pitchenv.load_rules("auction-8")], b.matches), "game 'auction-8': unknown"),
        (lambda b: Batch.from_matches(b.rules, b.matches, slots=2), "slots = 2: allowed: 4 … 8"),
    ],
)
def test_senseless_calls_are_refused_in_one_line_and_change_nothing(call, line):
    batch = Batch("smear", 3, seed=1)
    for step in range(5):
        batch.step(choices(batch, step))
    before = everything(batch)
    with pytest.raises(InputError) as refusal:
        call(batch)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)
    assert everything(batch) == before


def test_numbers_of_numpy_are_numbers():
    batch = Batch("smear", np.int64(2), seed=np.uint8(3), slots=np.int32(5), episode="match", max_deals=np.int16(2))
    assert content(batch.matches) == content(Batch("smear", 2, seed=3, slots=5, episode="match", max_deals=2).matches)
    batch.play_random(np.int8(5))


@pytest.mark.parametrize(("where", "seed"), [(np.array([True, False, False, True]), None), (None, 5), (None, None)])
def test_reset_clears_what_the_last_step_said_where_it_resets(where, seed):
    batch = Batch("auction-2", 4, seed=1)
    batch.reward[:], batch.terminated[:], batch.truncated[:] = 3, True, True  # as after a step that ended them all
    batch.reset(where, seed)
    reset = np.ones(4, bool) if where is None else where
    assert (batch.reward == np.where(reset, 0, 3)[:, None]).all()
    assert batch.terminated.tolist() == batch.truncated.tolist() == (~reset).tolist()


@pytest.mark.parametrize("name", ["smear", "auction-7"])
def test_play_random_leaves_every_match_at_a_choice_where_forced_moves_are_skipped(name):
    batch = Batch(name, 40, seed=3, skip_forced=True)
    for decisions in (0, 1, 2, 7):
        batch.play_random(decisions)
        assert (batch.mask.sum(axis=1) > 1).all()


def test_ended_games_begin_anew_where_they_are_asked_to():
    ended, last, fresh = (Game("auction-4-partners", seed=seed) for seed in (1, 2, 3))
    while ended.seat is not None:
        ended.apply(ended.legal_actions()[-1])
    while not (last.phase == "play" and all(len(hand) == 1 for hand in last.hands)):
        last.apply(last.legal_actions()[-1])
    batch = Batch.from_games([ended, last, fresh], restart=True, skip_forced=True)
    assert (batch.seat >= 0).all()
    assert [batch.game(i).phase for i in range(3)] == ["auction"] * 3
    assert batch.mask.any(1).all()
    assert Batch.from_games([ended, last, fresh], skip_forced=True).seat[:2].tolist() == [-1, -1]


def test_empty_views_are_observed_as_zeros():
    batch = Batch("auction-4-partners", 2, seed=1, restart=False)
    while (batch.seat >= 0).any():
        batch.step(batch.mask.argmax(1))
    assert not observe(batch.views(), 4).any()

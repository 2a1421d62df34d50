"""The Gymnasium environments, by Gymnasium's own checks and by ours."""

import pickle
import random
import re
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import pitchenv
from pitchenv.checks import InputError
from pitchenv.render import seat_text
from pitchenv.single import PitchEnv, PitchVectorEnv
from tests.conformance import ALL_RULES, GAMES, expected_reward

INFO = {"action_mask", "seat", "deals_played", "points", "score", "illegal"}


@pytest.fixture(autouse=True)
def _no_warning_of_ours():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class LowestLegal:
    """Plays the legal action with the lowest number; needs no random numbers, so that tables can be compared."""

    reads = "observation"

    def reset(self, rules, size, seed):
        self.rules = rules

    def act(self, inputs, mask, seat):
        assert inputs.dtype == np.float32
        assert mask.dtype == np.bool_
        assert len(inputs) == len(mask) == len(seat)
        return mask.argmax(axis=1)


class Fixed:
    """Says always the same, legal or not."""

    def __init__(self, says, reads="view"):
        self.says, self.reads = says, reads

    def reset(self, rules, size, seed):
        pass

    def act(self, inputs, mask, seat):
        return np.full(len(inputs), self.says)


def choose(mask, rng):
    return rng.choice(np.flatnonzero(mask).tolist())


@pytest.mark.parametrize("observation", ["box", "dict"])
@pytest.mark.parametrize("game", GAMES)
def test_gymnasium_check(game, observation, capsys):
    check_env(gymnasium.make("pitch/Pitch-v0", rules=game, observation=observation).unwrapped)
    env = gymnasium.make("pitch/Pitch-v0", rules=game, observation=observation, episode="match", reward="win", max_deals=2, seat=0)
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", ALL_RULES)
def test_episodes_of_one_learner(name):
    rules, rng = ALL_RULES[name], random.Random(1)
    env = gymnasium.make("pitch/Pitch-v0", rules=rules, opponents="random")  # the checker that make adds stays on
    seats = set()
    for seed in [3, 4, 5, None, None]:
        observation, info = env.reset(seed=seed)
        inner, seat, ended, kept = env.unwrapped, info["seat"], False, []
        seats.add(seat)
        while not ended:
            game = inner.game
            assert game.seat == seat
            assert set(info) == INFO
            mask = env.unwrapped.action_masks()
            assert mask.dtype == np.bool_
            assert np.flatnonzero(mask).tolist() == game.legal_actions()
            assert info["action_mask"].dtype == np.int8
            assert (info["action_mask"] == mask).all()
            assert (observation == game.observe(seat)).all()
            kept += [(what, what.tobytes()) for what in (observation, mask, info["action_mask"])]
            observation, reward, ended, truncated, info = env.step(choose(mask, rng))
            assert not truncated
            assert type(reward) is float
            if not ended:
                assert reward == 0
        game = inner.game
        assert reward == pytest.approx(expected_reward(game, [0] * rules.sides, "margin")[seat])
        assert game.phase == "ended"
        assert not info["action_mask"].any()
        assert not inner.action_masks().any()
        assert (observation == game.observe(seat)).all()
        assert all(what.tobytes() == before for what, before in kept), "what was handed out is never rewritten"
    assert len(seats) > 1  # drawn for every episode


@pytest.mark.parametrize("reward", ["margin", "score", "win"])
def test_episodes_of_a_match(reward):
    rules, rng = ALL_RULES["smear to the end"], random.Random(2)
    ends = set()
    for max_deals in (3, 100):
        env = PitchEnv(rules, episode="match", reward=reward, max_deals=max_deals, seat=1)
        for seed in range(4):
            _, info = env.reset(seed=seed)
            ended, total = False, 0.0
            while not ended:
                _, paid, terminated, truncated, info = env.step(choose(info["action_mask"], rng))
                ended = terminated or truncated
                total += paid
            ends.add((terminated, truncated))
            game, expected, scores = env.game, 0.0, [0, 0]
            assert len(game.deals) == game.deals_played == info["deals_played"]
            for record in game.deals:
                deal = pitchenv.Game.from_record(rules, record)
                expected += expected_reward(deal, scores, reward)[1]
                scores = deal.scores
            assert total == pytest.approx(expected)
            assert (terminated, truncated) == (game.over, not game.over)
            assert info["score"] == game.scores[1]
            assert len(game.record()["deals"]) == game.deals_played
    assert ends == {(True, False), (False, True)}


def test_the_same_seed_is_the_same_episode():
    one, two = PitchEnv("smear"), PitchEnv("smear")
    for seed in (5, None, 6):
        a, b = one.reset(seed=seed), two.reset(seed=seed)
        rng = random.Random(1)
        while True:
            assert (a[0] == b[0]).all()
            assert a[-1].keys() == b[-1].keys()
            if len(a) == 5 and a[2]:
                break
            action = choose(a[-1]["action_mask"], rng)
            a, b = one.step(action), two.step(action)
    assert one.game.hands == two.game.hands
    fresh, other = PitchEnv("smear"), PitchEnv("smear")
    fresh.reset()
    other.reset()
    assert fresh.game._hidden["seed"] != other.game._hidden["seed"]


def test_the_seed_is_that_of_game_and_options_lay_out_cards():
    env = PitchEnv("auction-3", opponents=LowestLegal(), seat=2)
    env.reset(seed=4)
    assert (
        env.game.deals[0]["hidden"]["first_hands"].tolist() == pitchenv.Game("auction-3", seed=4).deals[0]["hidden"]["first_hands"].tolist()
    )
    given = pitchenv.Game("auction-3", seed=9)
    env.reset(seed=4, options={"hands": given.hands, "dealer": 1, "scores": [1, 2, -3], "unknown": 0})
    assert (env.game.hands, env.game.dealer, env.game.scores, env.game.seat) == (given.hands, 1, [1, 2, -3], 2)


@pytest.mark.parametrize("observation", ["box", "dict"])
def test_observations_as_box_or_dict(observation):
    env = PitchEnv("auction-2", observation=observation)
    seen, info = env.reset(seed=1)
    assert env.observation_space.contains(seen)
    vector = seen["observation"] if observation == "dict" else seen
    assert (vector == env.game.observe(info["seat"])).all()
    if observation == "dict":
        assert (seen["action_mask"] == env.action_masks()).all()
        assert seen["action_mask"].dtype == np.int8


@pytest.mark.parametrize(("reward", "price"), [("margin", 8), ("score", 4)])
def test_in_a_match_it_costs_what_all_deals_to_come_could(reward, price):
    env = PitchEnv("auction-4-partners", reward=reward, episode="match", max_deals=6)
    _, info = env.reset(seed=1)
    rng = random.Random(2)
    while info["deals_played"] < 2:
        info = env.step(choose(info["action_mask"], rng))[4]
    paid, terminated = env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))[1:3]
    assert (paid, terminated) == (-4 * price, True)


@pytest.mark.parametrize(
    ("rules", "reward", "episode", "price"),
    [("smear", "margin", "deal", 8), ("oklahoma-6", "score", "deal", 10), ("auction-3", "win", "match", 1)],
)
def test_an_illegal_action_ends_the_episode_at_a_price(rules, reward, episode, price):
    env = PitchEnv(rules, reward=reward, episode=episode)
    _, info = env.reset(seed=1)
    before = env.game._match.tobytes()
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    observation, paid, terminated, truncated, info = env.step(illegal)
    assert (paid, terminated, truncated, info["illegal"]) == (-price, True, False, 1)
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    assert env.game._match.tobytes() == before
    assert (observation == env.game.observe(info["seat"])).all()
    _, info = env.reset()
    assert info["illegal"] == 0
    assert info["action_mask"].any()


@pytest.mark.parametrize("action", [-1, 70, 2.5, "AS?", None, True, np.array([3])])
def test_what_is_no_action_is_an_error_and_changes_nothing(action):
    env = PitchEnv()
    env.reset(seed=1)
    before = env.game._match.tobytes()
    with pytest.raises(pitchenv.IllegalAction) as refusal:
        env.step(action)
    assert "\n" not in str(refusal.value)
    assert "not an action" in str(refusal.value)
    assert env.game._match.tobytes() == before
    assert env.action_masks().any()


def test_acting_outside_an_episode_is_refused():
    env, vector = PitchEnv("auction-2"), PitchVectorEnv(2, "auction-2", render_mode="ansi")
    calls = (lambda: env.step(54), env.action_masks, lambda: env.game)
    for act in (*calls, lambda: vector.step(np.array([54, 54])), vector.action_masks, vector.render):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"allowed: reset\(\)"):
            act()
    env.reset(seed=1)
    env.step(int(np.flatnonzero(~env.action_masks())[0]))
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"allowed: reset\(\)"):
        env.step(54)


@pytest.mark.parametrize(
    ("kwargs", "line"),
    [
        ({"rules": "smeer"}, "game 'smeer': unknown; did you mean 'smear'?"),
        ({"opponents": "heuristics"}, "policy 'heuristics': unknown; did you mean 'heuristic'?; allowed: random, heuristic"),
        ({"opponents": ["random"]}, "opponents: 1 given; allowed: one, or 3, one a seat from the left neighbour on, without partners"),
        ({"opponents": object}, "policy <class 'object'>: has no 'reads'; allowed: random, heuristic, or a pitchenv.policies.Policy"),
        ({"opponents": Fixed(0, reads="match")}, "Fixed.reads 'match': unknown; allowed: observation, view"),
        ({"seat": 4}, "seat = 4: allowed: None (drawn for every episode), 0 … 3"),
        ({"seat": 1.0}, "seat = 1.0: allowed: None (drawn for every episode), a whole number, 0 … 3"),
        ({"observation": "vector"}, "observation 'vector': unknown; allowed: box, dict"),
        ({"render_mode": "rgb_array"}, "render_mode 'rgb_array': unknown; allowed: ansi"),
        ({"reward": "win"}, 'reward = "win": pays at the end of a match'),
    ],
)
@pytest.mark.parametrize("make", [PitchEnv, PitchVectorEnv])
def test_senseless_arguments_are_refused_in_one_line(make, kwargs, line):
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        make(**kwargs)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("says", "line"),
    [
        (0, r"Fixed.act: action '2C': not legal for seat \d; allowed: pass, bid 1"),
        (99, r"Fixed.act: action 99: not legal for seat \d; allowed: pass, bid 1"),
        (1.5, r"Fixed.act: float64 of shape \(1,\); allowed: integers \(1,\)"),
    ],
)
def test_a_policy_that_does_not_act_legally_is_named(says, line):
    env = PitchEnv(opponents=Fixed(says), seat=0)
    with pytest.raises(pitchenv.IllegalAction, match=line):
        env.reset(seed=1, options={"dealer": 0})


class Recorder(LowestLegal):
    def __init__(self):
        self.seats = set()

    def act(self, inputs, mask, seat):
        self.seats |= set(seat.tolist())
        return super().act(inputs, mask, seat)


def test_who_plays_which_seat():
    def play(rules, seat, **who):
        env = PitchEnv(rules, seat=seat, **who)
        _, info = env.reset(seed=1)
        rng, ended = random.Random(1), False
        while not ended:
            _, _, ended, _, info = env.step(choose(info["action_mask"], rng))

    one, two = Recorder(), Recorder()
    play("oklahoma-6", 4, opponents=one, partners=two)  # three sides: seat 1 is the partner
    assert (one.seats, two.seats) == ({0, 2, 3, 5}, {1})
    each = [Recorder() for _ in range(3)]
    play("smear", 2, opponents=each)
    assert [recorder.seats for recorder in each] == [{3}, {0}, {1}]


@pytest.mark.parametrize("opponents", ["random", "heuristic"])
def test_named_opponents_play(opponents):
    env = gymnasium.make("pitch/Pitch-v0", rules="auction-4-partners", opponents=opponents)
    _, info = env.reset(seed=1)
    rng, ended = random.Random(1), False
    while not ended:
        _, _, ended, _, info = env.step(choose(info["action_mask"], rng))


def test_render_is_what_the_learner_sees(capsys):
    env = gymnasium.make("pitch/Pitch-v0", render_mode="ansi", seat=3)
    env.reset(seed=1)
    assert env.render() == seat_text(env.unwrapped.game, 3)
    human = PitchEnv(render_mode="human", seat=3)
    human.reset(seed=1)
    assert capsys.readouterr().out == seat_text(human.game, 3) + "\n"


def test_an_environment_can_be_pickled():
    env = PitchEnv("smear", seat=1)
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    assert (twin.reset(seed=5)[0] == env.reset(seed=5)[0]).all()


# The vector environment


def rows(size, episode="deal", **kwargs):
    """A vector environment, and as many single ones."""
    kwargs = {"rules": "smear", "opponents": LowestLegal(), "episode": episode} | kwargs
    return PitchVectorEnv(size, **kwargs), [PitchEnv(**kwargs) for _ in range(size)]


@pytest.mark.parametrize("observation", ["box", "dict"])
@pytest.mark.parametrize(("episode", "illegal"), [("deal", 0.0), ("match", 0.0), ("deal", 0.2)])
def test_every_row_is_a_single_environment_that_restarts_in_the_same_step(observation, episode, illegal):
    size, rng = 5, random.Random(3)
    vector, singles = rows(size, episode, observation=observation, max_deals=2)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    twin = SyncVectorEnv([lambda env=env: env for env in singles], autoreset_mode=AutoresetMode.SAME_STEP)
    seen, info = vector.reset(seed=7)
    same, said = twin.reset(seed=7)
    ends = 0
    for _ in range(60):
        assert gymnasium.utils.env_checker.data_equivalence(seen, same, exact=True)
        assert info.keys() == said.keys()
        assert gymnasium.utils.env_checker.data_equivalence(dict(sorted(info.items())), dict(sorted(said.items())))
        assert vector.observation_space.contains(seen)
        assert vector.action_masks().any(axis=1).all(), "every row always has a legal action"
        actions = np.array([rng.randrange(70) if rng.random() < illegal else choose(mask, rng) for mask in vector.action_masks()])
        seen, *paid, info = vector.step(actions)
        same, *also, said = twin.step(actions)
        for mine, theirs in zip(paid, also, strict=True):
            assert mine.dtype == theirs.dtype
            assert (mine == theirs).all()
        ends += int(paid[1].sum() + paid[2].sum())
    assert ends > 3


def test_make_vec_makes_ours():
    vector = gymnasium.make_vec("pitch/Pitch-v0", num_envs=4, rules="oklahoma-6", opponents="random")
    assert isinstance(vector, PitchVectorEnv)
    assert vector.num_envs == 4
    assert vector.single_action_space == gymnasium.spaces.Discrete(70)
    seen, info = vector.reset(seed=1)
    assert vector.observation_space.contains(seen)
    assert seen.shape == (4, *vector.single_observation_space.shape)
    rng, kept = random.Random(1), []
    for _ in range(60):
        kept.append((seen, seen.tobytes()))
        assert (info["action_mask"] == vector.action_masks()).all()
        seen, _, terminated, _, info = vector.step(np.array([choose(mask, rng) for mask in info["action_mask"]]))
        for row in np.flatnonzero(terminated):
            assert not info["final_info"]["action_mask"][row].any()
            assert info["final_obs"][row].shape == vector.single_observation_space.shape
    assert all(what.tobytes() == before for what, before in kept), "what was handed out is never rewritten"
    vector.close()
    sync = gymnasium.make_vec("pitch/Pitch-v0", num_envs=2, vectorization_mode="sync", rules="smear")
    sync.reset(seed=1)
    sync.close()


def test_resetting_some_rows():
    vector, _ = rows(3)
    first, _ = vector.reset(seed=[5, 6, 7])
    again, _ = vector.reset(seed=[7, 7, 7], options={"reset_mask": np.array([True, False, False])})
    assert (again[0] == first[2]).all()
    assert (again[1:] == first[1:]).all()
    third, _ = vector.reset(options={"reset_mask": np.array([False, True, True])})
    assert (third[0] == again[0]).all()
    assert (third[1] != again[1]).any()


@pytest.mark.parametrize(
    ("actions", "line"),
    [
        ([54, 70], r"actions\[1\] = 70: not an action; a whole number from 0 to 69"),
        ([-1, 54], r"actions\[0\] = -1: not an action"),
        ([54], r"actions: int64 of shape \(1,\); allowed: integers \(2,\)"),
        ([54.0, 54.0], r"actions: float64 of shape \(2,\); allowed: integers \(2,\)"),
    ],
)
def test_the_vector_environment_refuses_what_is_no_action(actions, line):
    vector, _ = rows(2)
    vector.reset(seed=1)
    before = vector._tables.matches.tobytes()
    with pytest.raises(pitchenv.IllegalAction, match=line):
        vector.step(np.array(actions))
    assert vector._tables.matches.tobytes() == before


@pytest.mark.parametrize("seed", [1.0, "1", True, -1])
def test_a_seed_is_a_whole_number(seed):
    vector, (env,) = rows(1)
    for reset, name in ((env.reset, "seed"), (vector.reset, "seed"), (lambda seed: vector.reset(seed=[seed]), "seed[0]")):
        with pytest.raises(InputError, match=re.escape(f"{name} = {seed!r}: allowed: a whole number from 0")):
            reset(seed=seed)
    assert (env.reset(seed=np.int64(3))[0] == vector.reset(seed=[np.int32(3)])[0][0]).all()
    assert (env.reset(seed=np.array(3))[0] == vector.reset(seed=np.array(3))[0][0]).all()


class Failing(LowestLegal):
    """Fails when it is asked for the `after`-th time."""

    def __init__(self):
        self.after = self.asked = 0

    def act(self, inputs, mask, seat):
        self.asked += 1
        if self.asked == self.after:
            raise RuntimeError("out of order")
        return super().act(inputs, mask, seat)


def table(env):
    """All that an environment's tables hold."""
    tables = env._tables
    buffers = (tables.matches, tables.seat, tables.ended, tables.illegal, env.action_masks())
    return [buffer.tobytes() for buffer in buffers] + [[deal.tobytes() for deal in deals] for deals in tables._finished]


@pytest.mark.parametrize(
    "make", [lambda **kwargs: PitchEnv(**kwargs), lambda **kwargs: PitchVectorEnv(3, **kwargs)], ids=["single", "vector"]
)
@pytest.mark.parametrize(
    "options",
    [{"hands": [["AS"]]}, {"scores": [1, 2.5]}, {"dealer": 9}, {"stock": ["AS", "AS"]}, ["dealer"], {"dealer": 0, "scores": [None, 1]}],
)
def test_refused_reset_options_change_nothing(make, options):
    env = make(rules="smear", opponents=Failing(), episode="match")
    env.reset(seed=1)
    before = table(env)
    for seed in (None, 5):
        with pytest.raises(InputError) as refusal:
            env.reset(seed=seed, options=options)
        assert "\n" not in str(refusal.value)
        assert table(env) == before


@pytest.mark.parametrize(
    "make", [lambda **kwargs: PitchEnv(**kwargs), lambda **kwargs: PitchVectorEnv(3, **kwargs)], ids=["single", "vector"]
)
def test_an_opponent_that_fails_changes_nothing(make):
    policy, failed = Failing(), {"step": 0, "reset": 0}
    env = make(rules="smear", opponents=policy, episode="match")

    def attempt(what, call):
        before, policy.after = table(env), policy.asked + 1
        try:
            call()
        except RuntimeError:
            assert table(env) == before
            failed[what] += 1
        policy.after = 0

    for seed in range(5):
        env.reset(seed=seed)
        attempt("reset", lambda: env.reset(seed=100))
        for _ in range(5):
            action = env.action_masks().argmax(axis=-1)
            attempt("step", lambda action=action: env.step(action))
            env.step(env.action_masks().argmax(axis=-1))
    assert all(failed.values())


def test_after_an_opponent_failed_at_the_next_episode_a_reset_is_needed():
    policy = Failing()
    vector = PitchVectorEnv(1, "auction-2", opponents=policy, seat=0)

    def give_up():
        for seed in range(100):  # until it is the opponent that opens the next episode
            policy.after = 0
            vector.reset(seed=seed)
            policy.after = policy.asked + 1
            vector.step(np.flatnonzero(~vector.action_masks()[0])[:1])

    with pytest.raises(RuntimeError, match="out of order"):
        give_up()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"allowed: reset\(\)"):
        vector.step(np.array([54]))
    policy.after = 0
    vector.reset(seed=1)
    vector.step(vector.action_masks().argmax(axis=1))


def test_a_reset_mask_is_left_as_it_is():
    vector, _ = rows(3)
    where = np.array([True, False, False])
    vector.reset(seed=1, options={"reset_mask": where})
    assert where.tolist() == [True, False, False]


def test_a_policy_that_reads_views_costs_no_observation(monkeypatch):
    env = PitchEnv("auction-4-partners", opponents=Fixed(54), seat=3)

    def no_observation(*_):
        raise AssertionError("encoded")

    monkeypatch.setattr(env._tables, "look", no_observation)
    with pytest.raises(AssertionError, match="encoded"):  # for the learner alone, after the three others have passed
        env.reset(seed=1, options={"dealer": 3})
    assert env.game.actions == [(0, 54), (1, 54), (2, 54)]


def test_the_vector_environment_refuses_senseless_resets():
    vector, _ = rows(2)
    with pytest.raises(ValueError, match="seed: 3 given; allowed: one, or 2, one an environment"):
        vector.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match=r"reset_mask: int64 of shape \(2,\); allowed: bool \(2,\)"):
        vector.reset(options={"reset_mask": np.array([1, 0])})
    with pytest.raises(ValueError, match="num_envs = 0: allowed: a whole number from 1"):
        PitchVectorEnv(0)
    with pytest.raises(InputError, match="num_envs = True: allowed: a whole number from 1"):
        PitchVectorEnv(True)
    with pytest.raises(InputError, match="options = 5: allowed: a dict"):
        vector.reset(options=5)


def test_the_vector_environment_renders_every_table():
    vector = gymnasium.make_vec("pitch/Pitch-v0", num_envs=2, render_mode="ansi", seat=1)
    vector.reset(seed=3)
    assert [text.splitlines()[0] for text in vector.render()] == [seat_text(vector._tables.game(i), 1).splitlines()[0] for i in range(2)]

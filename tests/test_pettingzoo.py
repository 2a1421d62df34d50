"""The PettingZoo environment, by PettingZoo's own tests and by ours."""

import copy
import pickle
import random
import re
import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import pitchenv
from pitchenv import pitch_v0
from pitchenv.checks import InputError
from tests.conformance import ALL_RULES, GAMES, check_episode, check_moment

SOME = ["auction-4-partners", "oklahoma-6", "smear", "auction-2"]

# What api_test says of every environment that is not its own and has a Dict observation, or a mask that is zero for a seat not to act.
SAID_OF_ALL = (
    "Observation space for each agent probably should be",
    "Observation is not a NumPy array",
    "Action mask numpy array is all zeros",
)


@pytest.fixture(autouse=True)
def _no_warning_of_ours():
    """A warning is an error in every test here, Gymnasium's and PettingZoo's too."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def play_at_random(env, rng, steps=10**9):
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated or steps == 0:
            return agent
        env.step(rng.choice(np.flatnonzero(observation["action_mask"]).tolist()))
        steps -= 1
    return None


def step_at_random(env, rng):
    env.step(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()))


@pytest.mark.parametrize("make", [pitch_v0.env, pitch_v0.raw_env])
@pytest.mark.parametrize("game", GAMES)
def test_pettingzoo_api(game, make, capsys):
    for message in SAID_OF_ALL:
        warnings.filterwarnings("ignore", message)
    api_test(make(rules=game), num_cycles=40)
    api_test(make(rules=game, episode="match", max_deals=3, reward="win"), num_cycles=40)


@pytest.mark.parametrize("game", SOME)
def test_pettingzoo_seed(game):
    seed_test(lambda: pitch_v0.env(rules=game, episode="match", max_deals=2), num_cycles=100)


@pytest.mark.parametrize("game", SOME)
def test_pettingzoo_render(game, capsys):
    render_test(lambda render_mode=None: pitch_v0.env(rules=game, render_mode=render_mode))
    assert "Legal" in capsys.readouterr().out  # what "human" prints


@pytest.mark.parametrize("game", SOME)
def test_pettingzoo_state(game):
    env = pitch_v0.env(rules=game)
    check_state_space(env)
    check_state(env, num_cycles=10)


@pytest.mark.parametrize("name", ALL_RULES)
def test_conformance_of_deals(name):
    env = pitch_v0.env(rules=ALL_RULES[name])
    rng = random.Random(1)
    for seed in range(3):
        check_episode(env, rng, seed=seed)
    check_episode(env, rng)


@pytest.mark.parametrize("reward", ["margin", "score", "win"])
@pytest.mark.parametrize("name", ["smear to the end", "setback in rounds", "a small solo game", "oklahoma-6 by suit"])
def test_conformance_of_matches(name, reward):
    env = pitch_v0.raw_env(rules=ALL_RULES[name], episode="match", reward=reward, max_deals=6)
    rng = random.Random(2)
    for seed in range(2):
        check_episode(env, rng, reward, seed=seed)


def test_a_match_that_is_cut_off_is_truncated_and_one_that_is_won_terminates():
    env = pitch_v0.env(rules="setback", episode="match", reward="win", max_deals=1)
    env.reset(seed=1)
    play_at_random(env, random.Random(1))
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert not any(env.rewards.values())
    env = pitch_v0.env(rules=pitchenv.load_rules("setback", target=1), episode="match", reward="win")
    env.reset(seed=1)
    play_at_random(env, random.Random(1))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert sorted(env.rewards.values()) == [-1, -1, 1, 1]


PRINT_EPISODES = """
import random
from pitchenv import pitch_v0
from tests.conformance import check_episode
env = pitch_v0.env(rules="oklahoma-4", episode="match", max_deals=2)
print(check_episode(env, random.Random(5), seed=9), check_episode(env, random.Random(6)))
"""


def test_the_same_seed_is_the_same_episode_in_any_process():
    said = [
        subprocess.run(
            [sys.executable, "-c", PRINT_EPISODES], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
        ).stdout
        for _ in range(2)
    ]
    env = pitch_v0.env(rules="oklahoma-4", episode="match", max_deals=2)
    here = f"{check_episode(env, random.Random(5), seed=9)} {check_episode(env, random.Random(6))}\n"
    assert said == [here, here]


def test_a_seed_deals_what_game_deals_and_the_stream_goes_on_as_a_batch_does():
    env = pitch_v0.env(rules="auction-5")
    batch = pitchenv.Batch("auction-5", 1, seed=4)
    env.reset(seed=4)
    assert env.game.hands == pitchenv.Game("auction-5", seed=4).hands
    for _ in range(3):
        assert env.game.hands == batch.game(0).hands
        env.reset()
        batch.reset()


def test_without_a_seed_deals_differ_and_reset_keeps_the_rules():
    one, two = pitch_v0.env(rules="oklahoma-6"), pitch_v0.env(rules="oklahoma-6")
    one.reset()
    two.reset()
    assert one.game.hands != two.game.hands
    first = one.game
    one.reset()
    assert one.game.hands != first.hands
    assert one.game.rules == first.rules == pitchenv.load_rules("oklahoma-6")
    one.reset(seed=3, options={"rules": "smear", "what": 1})
    assert one.game.rules == pitchenv.load_rules("oklahoma-6")


def test_options_give_cards_dealer_and_scores():
    given = pitchenv.Game("auction-4-partners", seed=11)
    env = pitch_v0.env()
    env.reset(seed=5, options={"hands": given.hands, "stock": given.stock, "dealer": 2, "scores": [3, -4], "unknown": None})
    assert (env.game.hands, env.game.stock, env.game.dealer, env.game.scores) == (given.hands, given.stock, 2, [3, -4])
    assert env.agent_selection == "player_3"
    drawn = pitchenv.Game("auction-4-partners", seed=5)
    env.reset(seed=5, options={"dealer": (drawn.dealer + 1) % 4})
    assert env.game.hands == drawn.hands
    assert env.game.dealer == (drawn.dealer + 1) % 4
    env.reset(seed=5, options={})
    assert env.game.hands == drawn.hands
    assert env.game.dealer == drawn.dealer
    assert env.game.scores == [0, 0]


def test_given_cards_are_those_of_the_first_deal_only():
    env = pitch_v0.raw_env(rules="auction-2", episode="match", max_deals=2)
    given = pitchenv.Game("auction-2", seed=11)
    env.reset(seed=5, options={"hands": given.hands})
    while env.game.deals_played == 0:
        env.step(env.game.legal_actions()[0])
    other = pitchenv.Game("auction-2", seed=5)
    while other.phase != "ended":
        other.apply(other.legal_actions()[0])
    other.next_deal()
    assert env.game.hands == other.hands  # the seed's second deal


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"dealer": 4}, "dealer = 4: allowed: 0 … 3"),
        ({"dealer": "me"}, "dealer = 'me': allowed: a whole number, 0 … 3"),
        ({"scores": [1, 2, 3]}, "scores = [1, 2, 3]: allowed: 2 numbers, one a side"),
        ({"scores": [1, 2 * 10**6]}, "scores[1] = 2000000: allowed: -1000000 … 1000000"),
        ({"scores": [1, 0.5]}, "scores[1] = 0.5: allowed: a whole number, -1000000 … 1000000"),
        ({"scores": "me"}, "scores = 'me': allowed: a list of 2 numbers, one a side"),
        ({"hands": 7}, "hands = 7: allowed: a list of hands, one a seat"),
        (["dealer"], "options = ['dealer']: allowed: a dict"),
        ({"hands": [["AS"]]}, "hands: 1 given; allowed: 4, one a seat"),
        ({"stock": ["AS", "AS"]}, "hands or stock: AS is given twice"),
    ],
)
def test_senseless_options_are_refused_in_one_line(options, line):
    env = pitch_v0.raw_env()
    env.reset(seed=0)
    before = env.game
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        env.reset(seed=1, options=options)
    assert str(refusal.value) == line
    assert env.game is before


@pytest.mark.parametrize("action", [-1, 70, 10**9, 2.0, "KS", None, True, np.float32(3)])
def test_raw_env_refuses_what_is_no_legal_action_and_changes_nothing(action):
    env = pitch_v0.raw_env()
    env.reset(seed=2)
    before, agent = env.game._match.tobytes(), env.agent_selection
    with pytest.raises(pitchenv.IllegalAction) as refusal:
        env.step(action)
    assert "\n" not in str(refusal.value)
    assert re.search("allowed: |not an action", str(refusal.value))
    assert env.game._match.tobytes() == before
    assert env.agent_selection == agent
    assert not any(env.terminations.values())
    assert not any(env.rewards.values())
    play_at_random(env, random.Random(1))
    assert all(env.terminations.values())


def test_raw_env_names_what_is_allowed():
    env = pitch_v0.raw_env(rules="smear")
    env.reset(seed=2)
    with pytest.raises(
        pitchenv.IllegalAction, match=r"action 'AS': not legal for seat \d in the auction phase; allowed: pass, bid 2, bid 3, bid 4"
    ):
        env.step(pitchenv.actions.action_number("AS"))


@pytest.mark.parametrize(
    ("rules", "reward", "episode", "price"),
    [
        ("auction-4-partners", "margin", "deal", 8),
        ("oklahoma-6", "margin", "match", 100 * 20),
        ("oklahoma-6", "score", "deal", 10),
        ("auction-3", "win", "match", 1),
    ],
)
@pytest.mark.parametrize("steps", [0, 3])
def test_an_illegal_action_ends_the_episode_at_a_price_by_side(rules, reward, episode, price, steps):
    env = pitch_v0.env(rules=rules, reward=reward, episode=episode)
    env.reset(seed=3)
    offender = play_at_random(env, random.Random(3), steps)
    before = env.game._match.tobytes()
    illegal = next(a for a in range(70) if a not in env.game.legal_actions())
    env.step(illegal)
    assert env.game._match.tobytes() == before
    spaces = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
    check_moment(env, spaces)
    sides = pitchenv.load_rules(rules).sides
    side = env.possible_agents.index(offender) % sides
    by_seat = [-price if seat % sides == side else price / (sides - 1) for seat in range(len(env.possible_agents))]
    assert list(env.rewards.values()) == by_seat == list(env._cumulative_rewards.values())
    assert sum(by_seat[:sides]) == pytest.approx(0)
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    assert [info["illegal"] for info in env.infos.values()] == [int(a == offender) for a in env.possible_agents]
    paid = {}
    for agent in env.agent_iter():
        observation, paid[agent], terminated, _, _ = env.last()
        assert terminated
        assert not observation["action_mask"].any()
        env.step(None)
    assert list(paid.values()) == by_seat
    assert list(paid) == env.possible_agents
    env.reset()
    assert not any(env.terminations.values())
    assert not any(env.rewards.values())
    assert not any(i["illegal"] for i in env.infos.values())
    play_at_random(env, random.Random(4))
    assert all(env.terminations.values())


def test_an_action_outside_the_space_is_an_error_in_env_and_changes_nothing():
    env = pitch_v0.env()
    env.reset(seed=2)
    before = env.game._match.tobytes()
    for action in (70, -1, 1.5, None):
        with pytest.raises(AssertionError, match="action is not in action space"):
            env.step(action)
    assert env.game._match.tobytes() == before
    assert not any(env.terminations.values())


def test_acting_after_the_end_and_before_the_beginning_is_refused():
    env = pitch_v0.raw_env()
    for call in (lambda: env.step(0), env.forfeit, lambda: env.game, lambda: env.state(), env.last, lambda: env.observe("player_0")):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"allowed: reset\(\)"):
            call()
    env.reset(seed=1)
    play_at_random(env, random.Random(1))
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(54)
    for call in (env.forfeit, lambda: [env.step(None) for _ in range(5)]):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"allowed: reset\(\)"):
            call()


@pytest.mark.parametrize("agent", ["player_9", 0, None, ["player_0"]])
def test_an_agent_that_is_not_there(agent):
    env = pitch_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(InputError, match=re.escape(f"agent {agent!r}: unknown")) as refusal:
        env.observe(agent)
    assert str(refusal.value).endswith("allowed: player_0, player_1, player_2, player_3")


@pytest.mark.parametrize("seed", [1.0, "1", True])
def test_a_seed_is_a_whole_number(seed):
    env = pitch_v0.raw_env()
    env.reset(seed=1)
    before = env.game
    with pytest.raises(InputError, match=re.escape(f"seed = {seed!r}: allowed: a whole number")):
        env.reset(seed=seed)
    assert env.game is before


def test_reset_in_the_middle_of_the_last_steps():
    env = pitch_v0.env(rules="auction-3")
    env.reset(seed=1)
    play_at_random(env, random.Random(1))
    env.step(None)
    assert len(env.agents) == 2
    check_episode(env, random.Random(2), seed=5)


def test_it_is_registered_by_name():
    env = pettingzoo.make("aec", "pitch/pitch-v0", rules="smear", episode="match")
    env.reset(seed=1)
    assert env.game.rules == pitchenv.load_rules("smear")
    assert str(env) == "pitch_v0"
    assert type(env) is type(pitch_v0.env())


def test_metadata_spaces_and_defaults():
    env = pitch_v0.env()
    assert env.metadata["name"] == "pitch_v0"
    assert env.metadata["render_modes"] == ["ansi", "human"]
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["render_fps"] > 0
    assert env.rules == pitchenv.load_rules("auction-4-partners")
    assert env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    assert env.action_space("player_0") == gymnasium.spaces.Discrete(70)
    assert env.observation_space("player_0")["action_mask"].dtype == np.int8


@pytest.mark.parametrize(
    ("kwargs", "line"),
    [
        ({"rules": "smeer"}, "game 'smeer': unknown; did you mean 'smear'?"),
        ({"episode": "game"}, "episode 'game': unknown; allowed: deal, match"),
        ({"reward": "wins"}, "reward 'wins': unknown; did you mean 'win'?"),
        ({"reward": "win"}, 'reward = "win": pays at the end of a match; allowed with episode = "deal": margin, score'),
        ({"max_deals": 0}, "max_deals = 0: allowed: 1 … 2147483647"),
        ({"render_mode": "rgb_array"}, "render_mode = 'rgb_array': allowed: None, ansi, human"),
    ],
)
def test_senseless_arguments_are_refused_in_one_line(kwargs, line):
    with pytest.raises(ValueError, match=re.escape(line)) as refusal:
        pitch_v0.env(**kwargs)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


def test_render_shows_the_table():
    env = pitch_v0.env(rules="auction-4-partners", render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == str(env.game)


def test_an_environment_can_be_pickled_and_copied():
    env = pitch_v0.env(rules=pitchenv.load_rules("oklahoma-4", redraw=2), episode="match", max_deals=7, reward="score", render_mode="ansi")
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        twin.reset(seed=8)
        env.reset(seed=8)
        assert twin.render() == env.render()
        assert twin.rules == env.rules
        assert check_episode(twin, random.Random(1), "score", seed=8) == check_episode(env, random.Random(1), "score", seed=8)


def test_a_copy_goes_on_from_where_it_is():
    env = pitch_v0.env(rules="smear", episode="match", max_deals=3)
    env.reset(seed=5)
    rng = random.Random(2)
    for _ in range(40):
        step_at_random(env, rng)
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        before = str(env.unwrapped.game)
        seen = []
        for one in (twin, copy.deepcopy(env)):
            steps, choice = [], random.Random(4)
            for agent in one.agent_iter():
                observation, reward, termination, truncation, info = one.last()
                over = termination or truncation
                action = None if over else choice.choice(np.flatnonzero(observation["action_mask"]).tolist())
                steps.append((agent, observation["observation"].tobytes(), reward, over, info, action))
                one.step(action)
            one.reset()  # the matches to come are the same too
            seen.append((steps, one.state().tobytes()))
        assert seen[0] == seen[1]
        assert len(seen[0][0]) > 20
        assert str(env.unwrapped.game) == before


@pytest.mark.parametrize("reward", ["margin", "score", "win"])
def test_an_illegal_action_costs_what_the_rest_of_a_match_could(reward):
    for episode, deals in (("match", 5), ("match", 2), ("deal", 1)):
        if (reward, episode) == ("win", "deal"):
            continue
        env = pitch_v0.env(rules="auction-4-partners", episode=episode, reward=reward, max_deals=max(deals, 2))
        env.reset(seed=1)
        rng = random.Random(3)
        while env.unwrapped.game.deals_played < (1 if episode == "match" else 0):
            step_at_random(env, rng)
        offender = env.agent_selection
        env.step(int(env.observe(offender)["action_mask"].argmin()))
        left = deals - 1 if episode == "match" else 1
        assert env.rewards[offender] == -{"margin": 8.0 * left, "score": 4.0 * left, "win": 1.0}[reward]
        assert sum(env.rewards.values()) == 0


def test_a_truth_value_is_no_action():
    env = pitch_v0.env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action = True: allowed: 0 … 69"):
        env.step(True)
    assert env.agents == env.possible_agents


def test_given_hands_leave_a_stock_that_is_shuffled():
    hands = pitchenv.Game("oklahoma-4", seed=3).hands
    stocks = []
    for seed in (1, 1, 2):
        env = pitch_v0.raw_env(rules="oklahoma-4")
        env.reset(seed=seed, options={"hands": hands})
        assert env.game.hands == hands
        stocks.append(env.game.stock)
    assert stocks[0] == stocks[1] != stocks[2]
    assert sorted(stocks[0]) == sorted(stocks[2]) != stocks[0]


def test_a_match_record_can_be_written_from_it():
    env = pitch_v0.raw_env(rules="auction-2", episode="match", max_deals=3)
    env.reset(seed=1)
    play_at_random(env, random.Random(1))
    record = env.game.record()
    assert len(record["deals"]) == env.game.deals_played

"""Episodes: a match cut off after `max_deals`, and the episode of a single deal."""

from pitchenv import pitch_v0
from tests.reference import NUMBER


def passed_out(env, deals: int) -> None:
    """Everybody passes; smear has no forced dealer."""
    for _ in range(4 * deals):
        env.step(NUMBER["pass"])


def test_thrown_in_deals_count_towards_max_deals_and_the_cut_is_no_end():
    env = pitch_v0.raw_env(rules="smear", episode="match", max_deals=3)
    env.reset(seed=1)
    passed_out(env, 2)
    assert not any(env.truncations.values())
    passed_out(env, 1)
    assert all(env.truncations.values())
    assert len(env.truncations) == 4
    assert not any(env.terminations.values())


def test_a_thrown_in_deal_ends_the_episode_of_a_single_deal_with_nothing_scored():
    env = pitch_v0.raw_env(rules="smear", episode="deal")
    env.reset(seed=1)
    passed_out(env, 1)
    assert all(env.terminations.values())
    assert len(env.terminations) == 4
    assert set(env.rewards.values()) == {0}


def test_the_episode_of_a_single_deal_ends_after_it():
    env = pitch_v0.raw_env(rules="smear", episode="deal", reward="score")
    env.reset(seed=2)
    pitcher = int(env.agent_selection.removeprefix("player_"))
    env.step(NUMBER["bid 2"])
    while not any(env.terminations.values()):
        # The lowest legal number: the others pass.
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert all(env.terminations.values())
    rewards = [env.rewards[f"player_{seat}"] for seat in range(4)]
    assert rewards[0] == rewards[2]
    assert rewards[1] == rewards[3]
    assert rewards[pitcher] == -2 or rewards[pitcher] >= 2


def test_the_dealer_of_a_single_deal_is_drawn_at_random():
    env = pitch_v0.raw_env(rules="smear", episode="deal")
    first = set()
    for seed in range(60):
        env.reset(seed=seed)
        first.add(env.agent_selection)
    assert first == {"player_0", "player_1", "player_2", "player_3"}

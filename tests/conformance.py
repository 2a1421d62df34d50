"""Games to try, random play, and a conformance check that any AEC environment of the kit can be put through."""

import hashlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import pitchenv

ACTIONS = 70
HOUSE_RULES: dict[str, pitchenv.Rules] = {
    "oklahoma-4 with everything": pitchenv.load_rules(
        "oklahoma-4", keep_trump=True, first_lead="trump", follow="suit_or_trump", game="trump_ten", discards_count=True
    ),
    "oklahoma-6 by suit": pitchenv.load_rules("oklahoma-6", follow="suit", discards_count=True, joker_pips=1, low_to="winner"),
    "smear to the end": pitchenv.load_rules("smear", widow=1, win="made_bid", overshoot="capped", target=5),
    "setback in rounds": pitchenv.load_rules("setback", auction="rounds", dealer_steals="never", target=4),
    "a small solo game": pitchenv.Rules(players=3, sides=3, lowest_rank=11, hand_size=3, tricks=3, widow=2, target=3, win="any"),
    "eight at the table": pitchenv.Rules(players=8, sides=4, jokers=2, off_jack=True, hand_size=5, tricks=4, trump="declared", redraw=1),
}
GAMES: dict[str, pitchenv.Rules] = {name: pitchenv.load_rules(name) for name in pitchenv.games()}
ALL_RULES = GAMES | HOUSE_RULES


def random_deal(game: pitchenv.Game, rng: random.Random) -> Iterator[pitchenv.Game]:
    """Play a deal at random; yields the game before every decision."""
    while game.phase != "ended":
        yield game
        game.apply(rng.choice(game.legal_actions()))


def expected_reward(game: pitchenv.Game, before: list[int], reward: str) -> list[float]:
    """What a deal that has just ended pays each seat, written out from the words of the design."""
    sides, players = game.rules.sides, game.rules.players
    change = [now - then for now, then in zip(game.scores, before, strict=True)]
    if reward == "score":
        by_side = [float(c) for c in change]
    elif reward == "margin":
        by_side = [change[s] - sum(change[o] for o in range(sides) if o != s) / (sides - 1) for s in range(sides)]
    else:
        by_side = [0.0] * sides if game.winner is None else [1.0 if s == game.winner else -1 / (sides - 1) for s in range(sides)]
    return [by_side[seat % sides] for seat in range(players)]


def content(array: np.ndarray) -> bytes:
    """The bytes of an array, with zeros in the gaps between the fields of records (NumPy's copies leave them undefined)."""
    clean = np.zeros(array.shape, array.dtype)
    clean[...] = array
    return clean.tobytes()


def digest(*parts: Any) -> str:
    """A short fingerprint of arrays and plain values."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(content(part) if isinstance(part, np.ndarray) else repr(part).encode())
    return sha.hexdigest()[:16]


def check_moment(env: Any, spaces: dict[str, Any]) -> dict[str, np.ndarray]:
    """All that must hold between any two steps; returns the observation of every agent."""
    seen = {}
    over = not env.agents or any(env.terminations.values()) or any(env.truncations.values())
    to_act = None if over else env.agent_selection
    for agent in env.possible_agents:
        assert env.observation_space(agent) is spaces[agent][0]
        assert env.action_space(agent) is spaces[agent][1]
        seen[agent] = env.observe(agent)
        assert env.observation_space(agent).contains(seen[agent])
        mask, vector = seen[agent]["action_mask"], seen[agent]["observation"]
        assert mask.dtype == np.int8
        assert mask.shape == (ACTIONS,)
        assert vector.dtype == np.float32
        assert bool(mask.any()) == (agent == to_act)
        if agent == to_act:
            assert np.flatnonzero(mask).tolist() == env.unwrapped.game.legal_actions()
    state = env.state()
    assert env.unwrapped.state_space.contains(state)
    for table in (env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos):
        assert set(table) == set(env.agents)
    ended = {env.terminations[a] or env.truncations[a] for a in env.agents}
    assert len(ended) <= 1, "all agents end in the same step"
    for info in env.infos.values():
        assert set(info) == {"deals_played", "points", "score", "illegal"}
        assert all(type(v) is int for v in info.values())
    return seen


def check_episode(env: Any, rng: random.Random, reward: str = "margin", **reset: Any) -> str:
    """Play one episode at random and check all that can be checked on the way; returns its fingerprint."""
    env.reset(**reset)
    spaces = {agent: (env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents}
    returns = dict.fromkeys(env.possible_agents, 0.0)
    through_last = dict.fromkeys(env.possible_agents, 0.0)
    expected = np.zeros(len(env.possible_agents))
    kept, trail = [], []
    scores, deals = env.unwrapped.game.scores, 0
    for agent in env.agent_iter():
        seen = check_moment(env, spaces)
        for what in seen.values():
            kept += [(array, array.tobytes()) for array in what.values()]
        observation, last_reward, terminated, truncated, info = env.last()
        assert all((observation[key] == seen[agent][key]).all() for key in observation)
        through_last[agent] += last_reward
        trail.append(digest(agent, *observation.values(), last_reward, terminated, truncated, sorted(info.items()), env.state()))
        if terminated or truncated:
            env.step(None)
            continue
        env.step(rng.choice(np.flatnonzero(observation["action_mask"]).tolist()))
        for name, paid in env.rewards.items():
            returns[name] += paid
        game = env.unwrapped.game
        played = game.deals_played
        if played > deals:
            deals = played
            expected += expected_reward(game, scores, reward)
            scores = game.scores
        else:
            assert not any(env.rewards.values()), "nothing is paid while a deal goes on"
    assert not env.agents
    check_moment(env, spaces)
    assert through_last == returns
    assert np.allclose([returns[name] for name in env.possible_agents], expected)
    for array, before in kept:
        assert array.tobytes() == before, "what was handed out is never rewritten"
    return digest(*trail)

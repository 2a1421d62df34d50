"""Other people's environments, measured as ours are: OpenSpiel's spades and euchre, and PettingZoo Classic's Hanabi. Extra `[peers]`."""

import random
from typing import Any

import numpy as np

from training.timing import Run, until

SPIEL_GAMES = ("spades", "euchre")
SAMPLE = 300  # games that give the mean number of decisions in a game of random play


def peers() -> dict[str, Run]:
    """What is installed of them, by name; every run counts decisions, none counts chance."""
    return {**_openspiel(), **_hanabi()}


def _openspiel() -> dict[str, Run]:
    try:
        import pyspiel
    except ImportError:
        return {}
    runs: dict[str, Run] = {}
    for name in SPIEL_GAMES:
        game = pyspiel.load_game(name)
        runs[f"openspiel {name} in C++"] = until(_CppBots(pyspiel, game))
        runs[f"openspiel {name} from Python"] = until(_Playout(game))
    return runs


class _Playout:
    """A game from the root, every step taken from Python; the decisions it had."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.random = random.Random(1)

    def __call__(self) -> int:
        state, decisions = self.game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(self.random.choices(outcomes, chances)[0])
            else:
                state.apply_action(self.random.choice(state.legal_actions()))
                decisions += 1
        return decisions


class _CppBots:
    """A game among uniformly random bots that never comes back to Python; the decisions such a game has on average."""

    def __init__(self, pyspiel: Any, game: Any) -> None:
        self.pyspiel, self.game, self.seed = pyspiel, game, 0
        self.bots = [pyspiel.make_uniform_random_bot(player, player) for player in range(game.num_players())]
        playout = _Playout(game)
        self.decisions = sum(playout() for _ in range(SAMPLE)) / SAMPLE

    def __call__(self) -> float:
        self.seed += 1
        self.pyspiel.evaluate_bots(self.game.new_initial_state(), self.bots, self.seed)
        return self.decisions


def _hanabi() -> dict[str, Run]:
    try:
        from pettingzoo.classic import hanabi_v5

        return {"hanabi_v5 raw": until(AecEpisode(hanabi_v5.raw_env())), "hanabi_v5 wrapped": until(AecEpisode(hanabi_v5.env()))}
    except ImportError:  # the environment imports what it needs when it is made
        return {}


class AecEpisode:
    """An episode of a PettingZoo AEC environment by masked random play; the decisions it had."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.random = np.random.default_rng(1)
        env.reset(seed=1)  # once: a seeded reset may build everything anew

    def __call__(self) -> int:
        decisions = 0
        self.env.reset()
        for _ in self.env.agent_iter():
            observation, _, terminated, truncated, _ = self.env.last()
            if terminated or truncated:
                self.env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            self.env.step(int(legal[self.random.integers(len(legal))]))
            decisions += 1
        return decisions

"""pitchenv: the Pitch family of card games (Auction Pitch, Setback, Smear, Oklahoma Ten Point) for reinforcement learning."""

import gymnasium as _gymnasium
import pettingzoo as _pettingzoo

from pitchenv.actions import IllegalAction
from pitchenv.batch import Batch
from pitchenv.game import Game
from pitchenv.games import games, load_rules
from pitchenv.rules import Rules, RulesError

__version__ = "0.1.0"
__all__ = ["Batch", "Game", "IllegalAction", "Rules", "RulesError", "games", "load_rules"]


def _register() -> None:
    """Make the environments known by name; they are imported when they are made."""
    if "pitch/Pitch-v0" not in _gymnasium.registry:
        _gymnasium.register("pitch/Pitch-v0", entry_point="pitchenv.single:PitchEnv", vector_entry_point="pitchenv.single:PitchVectorEnv")
    if hasattr(_pettingzoo, "aec_registry") and "pitch/pitch-v0" not in _pettingzoo.aec_registry:
        _pettingzoo.register("aec", "pitch/pitch-v0", entry_point="pitchenv.pitch_v0:env")


_register()

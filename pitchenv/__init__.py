"""pitchenv: the Pitch family of card games (Auction Pitch, Setback, Smear, Oklahoma Ten Point) for reinforcement learning."""

from pitchenv.actions import IllegalAction
from pitchenv.batch import Batch
from pitchenv.game import Game
from pitchenv.games import games
from pitchenv.rules import Rules, RulesError, load_rules

__version__ = "0.1.0"
__all__ = ["Batch", "Game", "IllegalAction", "Rules", "RulesError", "games", "load_rules"]

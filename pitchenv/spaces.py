"""The Gymnasium spaces of the environments: bounded boxes around what the observation's legend can hold."""

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from pitchenv.actions import ACTIONS
from pitchenv.cards import CARDS
from pitchenv.engine import encode as code
from pitchenv.observation import layout
from pitchenv.rules import SCORE_LIMIT, Rules


def action_space() -> Discrete:
    """`Discrete(70)`: the same for every game of the family."""
    return Discrete(ACTIONS)


def observation_box(rules: Rules, deals: int) -> Box:
    """The observation vector, float32 (F,), of episodes of at most `deals` deals."""
    legend = layout(rules.players)
    low, high = np.zeros(legend.size, np.float32), np.ones(legend.size, np.float32)
    high[legend.slices["redrawn"]] = high[legend.slices["discarded"]] = CARDS / code.EXCHANGE_UNIT
    high[legend.slices["pips"]] = (80 + rules.jokers * rules.joker_pips) / code.PIPS_UNIT
    high[legend.slices["rules"]] = 1000 / code.TARGET_UNIT  # the largest of them: a target of 1000
    reach = SCORE_LIMIT + rules.max_bid * deals
    low[legend.slices["score_needed"]] = (rules.target - reach) / rules.target
    high[legend.slices["score_needed"]] = (rules.target + reach) / rules.target
    return Box(low, high, dtype=np.float32)


def state_box(rules: Rules, deals: int) -> Box:
    """The full state, float32 (S,): an observation, then the hidden rest."""
    seen, hidden = observation_box(rules, deals), layout(rules.players).hidden_size
    low, high = np.zeros(hidden, np.float32), np.ones(hidden, np.float32)
    return Box(np.concatenate([seen.low, low]), np.concatenate([seen.high, high]), dtype=np.float32)


def masked_observation(rules: Rules, deals: int) -> Dict:
    """An observation with its action mask, int8 (70,): all zero for a seat that is not to act."""
    return Dict({"observation": observation_box(rules, deals), "action_mask": Box(0, 1, (ACTIONS,), np.int8)})

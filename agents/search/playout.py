"""Deals played to their ends by one policy at all seats, many at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import playout as kernels
from pitchenv.actions import ACTIONS
from pitchenv.engine.state import MATCH, VIEW
from pitchenv.observation import observe
from pitchenv.policies import Policy


def play_out(policy: Policy, matches: NDArray[Any]) -> None:
    """Play the deals of `matches`, MATCH (n,) on the same rules, to their ends, in place, a decision of each at a time.

    Single legal actions are taken without asking. The policy must have been reset, and must act legally.
    """
    n = len(matches)
    rows, seats = np.empty(n, np.int64), np.empty(n, np.int64)
    views, mask = np.zeros(n, VIEW), np.empty((n, ACTIONS), np.bool_)
    slots = int(matches["public"]["rules"]["players"][0]) if n else 0
    while live := kernels.choices(matches, rows, views, mask, seats):
        inputs = views[:live] if policy.reads == "view" else observe(views[:live], slots)
        actions = np.ascontiguousarray(policy.act(inputs, mask[:live], seats[:live]), np.int64)
        kernels.take(matches, rows[:live], actions)


def branches(worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[Any]:
    """Every one of `worlds`, MATCH (w,), after each of `actions` (a,), which must be legal: MATCH (a · w,), action by action."""
    matches = np.zeros(len(worlds) * len(actions), MATCH)
    kernels.branch(worlds, actions, matches)
    return matches

"""Deals played to their ends by one policy at all seats, many at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import AgentError
from agents.search.kernels import playout as kernels
from pitchenv.actions import ACTIONS
from pitchenv.engine.state import MATCH, VIEW
from pitchenv.observation import observe
from pitchenv.policies import Policy


def play_out(policy: Policy, matches: NDArray[Any]) -> None:
    """Play the deals of `matches`, MATCH (n,) on the same rules, to their ends, in place, a decision of each at a time.

    Single legal actions are taken without asking. The policy must have been reset. Raises AgentError if it acts illegally.
    """
    n = len(matches)
    rows, seats = np.empty(n, np.int64), np.empty(n, np.int64)
    views, mask = np.zeros(n, VIEW), np.empty((n, ACTIONS), np.bool_)
    slots = int(matches["public"]["rules"]["players"][0]) if n else 0
    while live := kernels.choices(matches, rows, views, mask, seats):
        inputs = views[:live] if policy.reads == "view" else observe(views[:live], slots)
        kernels.take(matches, rows[:live], legal_actions(policy, inputs, mask[:live], seats[:live]))


def legal_actions(policy: Policy, inputs: NDArray[Any], mask: NDArray[np.bool_], seats: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """What a policy does (n,), see `Policy.act`; kernels take what they are given. Raises AgentError for anything illegal."""
    actions = np.ascontiguousarray(policy.act(inputs, mask, seats), np.int64)
    within = actions.shape == (len(mask),) and bool(((actions >= 0) & (actions < ACTIONS)).all())
    if not within or not mask[np.arange(len(mask)), actions].all():
        raise AgentError(f"agent {type(policy).__name__!r}: proposes illegal actions; allowed: a player that keeps to the mask")
    return actions


def branches(worlds: NDArray[Any], actions: NDArray[np.int64]) -> NDArray[Any]:
    """Every one of `worlds`, MATCH (w,), after each of `actions` (a,), which must be legal: MATCH (a · w,), action by action."""
    matches = np.zeros(len(worlds) * len(actions), MATCH)
    kernels.branch(worlds, actions, matches)
    return matches

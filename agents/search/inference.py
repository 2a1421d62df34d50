"""Inference: worlds in which the others would have acted as they did count for more.

Policy-based inference, after Rebstock, Solinas, Buro and Sturtevant, "Policy Based Inference in Trick-Taking Card Games" (2019): a world's
weight is the product, over what the other seats did openly, of a policy's probability of doing so with the cards that the world gives them.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned import inputs_for, probabilities_of
from agents.search.kernels import worlds_replay as kernels
from agents.search.worlds import checked_views
from pitchenv.actions import ACTIONS
from pitchenv.checks import InputError, shown
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import MATCH, VIEW
from pitchenv.policies import Policy

UNIFORM_SHARE: Final = 0.05


def world_weights(views: NDArray[Any], worlds: NDArray[Any], policy: Policy, uniform: float = UNIFORM_SHARE) -> NDArray[np.float64]:
    """How likely each world is, by what the other seats have done: float64 (n, k), rows sum to 1.

    `views`: `VIEW` (n,) on one game's rules; `worlds`: `MATCH` (n, k), those of `sample_worlds`, which makes all equally likely beforehand.
    The weight of a world is proportional to Π p'(action), over the calls, trump named and cards played by others where they had a choice,
    with p' = (1 − uniform) · p + uniform / (number of legal actions): one surprise does not rule a world out. Discards are not weighed
    (nobody saw them). `policy` answers for every seat, in one batch; one without `probabilities` is taken to be sure of what it does.
    Raises InputError for worlds that are no records of whole deals, and for `uniform` outside 0 … 1 (without 0).
    """
    views = checked_views(views)
    if not isinstance(worlds, np.ndarray) or worlds.dtype != MATCH or worlds.ndim != 2 or len(worlds) != len(views) or not worlds.shape[1]:
        raise InputError(f"worlds = {shown(worlds)}: allowed: an array ({len(views)}, k) of MATCH records, k from 1")
    if not 0 < uniform <= 1:
        raise InputError(f"uniform = {shown(uniform)}: allowed: above 0, up to 1")
    seen, masks, actions, world_of = open_choices(views, worlds)
    mixed: NDArray[np.float64] = np.ones(len(seen))
    if len(seen):
        chances = probabilities_of(policy, inputs_for(policy, seen), masks, seen["seat"])[np.arange(len(seen)), actions]
        legal: NDArray[np.float64] = masks.sum(axis=1).astype(np.float64)
        mixed = (1 - uniform) * chances.astype(np.float64) + uniform / legal
    sums: NDArray[Any] = np.bincount(world_of, np.log(mixed), worlds.size)
    logs = sums.reshape(worlds.shape)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    normalised: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normalised


Choices = tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]


def open_choices(views: NDArray[Any], worlds: NDArray[Any]) -> Choices:
    """What the other seats chose openly, in worlds (n, k) of `views` (n,): calls, naming trump and cards, where there was a choice.

    Returns, a row a choice: what the seat saw, `VIEW` (m,); the legal actions, bool (m, 70); the action taken, int64 (m,); and the number
    of the world, i · k + j for `worlds[i, j]`, int64 (m,). Raises InputError for a world that can't be played again.
    """
    announce_compiling("the search", kernels.__file__)
    most = kernels.count_open_actions(views) * worlds.shape[1]
    seen, masks, actions = np.zeros(most, VIEW), np.zeros((most, ACTIONS), np.bool_), np.zeros(most, np.int64)
    ends = np.zeros(worlds.size, np.int64)
    unfit = kernels.replay_all(worlds, views["seat"], np.zeros(1, MATCH), seen, masks, actions, ends)
    if unfit >= 0:
        i, j = divmod(unfit, worlds.shape[1])
        raise InputError(f"worlds[{i}, {j}]: cannot be played again from its first hands; allowed: worlds of sample_worlds")
    rows = int(ends[-1]) if len(ends) else 0
    world_of = np.repeat(np.arange(worlds.size), np.diff(ends, prepend=0))
    return seen[:rows], masks[:rows], actions[:rows], world_of

"""Policies at the table: each under a name, with its own random stream, and with what it proposes checked."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from agents import AgentError, said
from pitchenv import Batch, Rules
from pitchenv.actions import ACTIONS
from pitchenv.policies import Policy

Watch = Callable[[Batch, NDArray[np.int64], NDArray[np.int64], np.ndarray | None], None]
AGENT_STREAM = 1  # keeps the agents' random numbers apart from those of the deals


class Player:
    """A policy under a name. Illegal proposals are counted, and replaced by the first legal action.

    Raises AgentError, one line that names it, where the policy does not keep to the protocol.
    """

    def __init__(self, name: str, policy: Policy, number: int) -> None:
        self.name = name
        self.policy = policy
        self.number = number
        self.illegal = 0
        if getattr(policy, "reads", None) not in ("observation", "view"):
            raise AgentError(f"agent {name!r}: reads = {getattr(policy, 'reads', None)!r}; allowed: 'observation', 'view'")

    def reset(self, rules: Rules, size: int, seed: Sequence[int]) -> None:
        """Before a run of `size` matches. Players of the same policy and seed get different random streams."""
        mixed = np.random.SeedSequence([AGENT_STREAM, self.number, *(int(s) % 2**64 for s in seed)])
        try:
            self.policy.reset(rules, size, int(mixed.generate_state(1)[0]))
        except ValueError as fault:  # a refusal, such as of a checkpoint for other rules
            raise AgentError(f"agent {self.name!r}: {said(fault, named=False)}") from fault
        except (Exception, SystemExit) as fault:
            raise AgentError(f"agent {self.name!r}: reset raised {said(fault)}") from fault

    def act(self, batch: Batch, rows: NDArray[np.intp], views: np.ndarray | None) -> NDArray[np.int64]:
        """Legal actions for some rows of a batch."""
        seen = batch.observation if self.policy.reads == "observation" else views
        assert seen is not None
        mask = batch.mask[rows]
        try:
            actions = np.asarray(self.policy.act(seen[rows], mask, batch.seat[rows]))
        except (Exception, SystemExit) as fault:
            raise AgentError(f"agent {self.name!r}: act raised {said(fault)}") from fault
        if actions.shape != rows.shape or actions.dtype.kind not in "iu":
            raise AgentError(
                f"agent {self.name!r}: act gave shape {actions.shape} and dtype {actions.dtype}; allowed: integers of shape {rows.shape}"
            )
        legal = batch.mask[rows, np.clip(actions, 0, ACTIONS - 1)] & (actions >= 0) & (actions < ACTIONS)
        self.illegal += int(np.count_nonzero(~legal))
        return np.where(legal, actions, batch.mask[rows].argmax(axis=1)).astype(np.int64)


def play_deals(
    players: Sequence[Player], rules: Rules, matches: np.ndarray, at_side: NDArray[np.integer], watch: Watch | None = None
) -> np.ndarray:
    """Play the deals that lie in `matches`, an array of `MATCH` (n,), to their ends; returns the ended records.

    `at_side` (n, sides) says which player each side of each match is. Single legal actions are taken without asking.
    `watch` is called before every step with the batch, which player acts in each match (−1: it has ended), what they do, and the views if
    any player reads them.
    """
    batch = Batch.from_matches([rules] * len(matches), matches, skip_forced=True)
    view_readers = {k for k, player in enumerate(players) if player.policy.reads == "view"}
    actions = np.zeros(len(matches), np.int64)
    everybody = np.arange(len(matches))
    while (batch.seat >= 0).any():
        to_act = np.where(batch.seat >= 0, at_side[everybody, batch.seat % rules.sides], -1)
        views = batch.views() if view_readers.intersection(to_act.tolist()) else None
        for k, player in enumerate(players):
            rows = np.flatnonzero(to_act == k)
            if len(rows):
                actions[rows] = player.act(batch, rows, views)
        if watch:
            watch(batch, to_act, actions, views)
        batch.step(actions)
    return batch.matches

"""Control variates from a frozen value network: the luck of the agents' own dice (and of the deal) taken out of a margin, without bias.

The form is that of AIVAT (Burch, Schmid, Moravčík, Morrill and Bowling, "AIVAT: a new variance reduction technique for agent
evaluation in imperfect information games", AAAI 2018), with one world for the hidden cards, the true one. Let f(s) be any estimate of
the margin of agent A over agent B from the full state s, equal to the true margin where the deal has ended. Where the agent to act
draws action a from probabilities π that it states, the correction

    f(s a) − Σ_b π(b | s) f(s b)

has expectation 0 given s, whatever f is. So the margin less the sum of its corrections has the expectation of the margin, and where f is
good it varies less. An agent that is deterministic, or does not say what it draws from, gets no correction.

Chance deals the cards: its correction is f(s₀) − E f(s₀). Over the seatings of two agents its sum is exactly 0, as they play the same
deal with A and B exchanged: duplicate play has done that part already. Of single deals it is a gain. There E f(s₀) = 0: the state is seen
from the seat that is first to act, all seats are dealt alike, the dealer is drawn at random, and the weights with which the value of the
first to act enters f (`side_weights`) sum to 0 over the sides. The network must be fixed before the deals are looked at, and not trained
on them; a run's is.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray

from agents import AgentError
from agents.canonical import canonical_states
from agents.learned import PARTS, TwoPartPolicy
from agents.networks import Critic
from pitchenv import Batch, Rules
from pitchenv.batch import as_bytes, batch_options
from pitchenv.checks import InputError
from pitchenv.engine import seated, table
from pitchenv.engine.state import MATCH, NOBODY, SEATS, TRUMP
from pitchenv.observation import LAYOUT_VERSION, layout
from training.checkpoint import CONFIG_FILE, load_checkpoint
from training.columns import live_columns
from training.players import Player

STATES_AT_ONCE: Final = 4096


class ValueNetwork:
    """The critics of a run, frozen: how many points the side of the seat to act is expected to come out ahead of the mean of the others'.

    `critics` by part read the live columns of the full state, with those of the score if `scores`; their values are divided by `scale`,
    that of the rewards in training.
    """

    def __init__(
        self, critics: Mapping[str, Critic], rules: Rules, scale: float, canonical_suits: bool = True, scores: bool = False
    ) -> None:
        self.critics = {part: critic.eval() for part, critic in critics.items()}
        self.rules, self.scale, self.canonical_suits = rules, scale, canonical_suits
        self._layout = layout(rules.players)
        self._columns = np.concatenate(live_columns([rules], self._layout, scores))

    @classmethod
    def of_run(cls, run: Path, rules: Rules) -> Self:
        """Those of its newest checkpoint. Raises InputError for what is no run, was trained on other rules, or has not what is needed."""
        if not os.path.isfile(run / CONFIG_FILE):
            raise InputError(f"control = {str(run)!r}: not the folder of a run; allowed: a folder made by `python -m training train`")
        config, state = load_checkpoint(run)
        for name, value, allowed in (("parts", config.parts, "both"), ("reward", config.reward, "margin")):
            if value != allowed:
                raise InputError(f"control = {str(run)!r}: {name} = {value!r}; allowed: a run with {name} = {allowed!r}")
        if config.games:
            raise InputError(f"control = {str(run)!r}: was trained with several games; allowed: a run of one game")
        if config.load_rules() != rules:
            raise InputError(f"control = {str(run)!r}: its critics were trained for other rules; allowed: a run of the rules of the match")
        if state.get("layout") != LAYOUT_VERSION:
            raise InputError(f"control = {str(run)!r}: layout = {state.get('layout')!r}; allowed: {LAYOUT_VERSION}")
        scores = config.start_scores == "spread"
        size = len(np.concatenate(live_columns([rules], layout(rules.players), scores)))
        critics = {part: Critic(size, config.network.critic_hidden) for part in PARTS}
        try:
            for part, critic in critics.items():
                critic.load_state_dict(state["learners"][part]["critic"])
        except (KeyError, TypeError, RuntimeError) as fault:
            said = " ".join(f"{type(fault).__name__}: {fault}".split())[:160]
            raise InputError(f"control = {str(run)!r}: its checkpoint does not fit its configuration: {said}") from None
        return cls(critics, rules, config.reward_scale, config.network.canonical_suits, scores)

    @torch.no_grad()
    def __call__(self, matches: np.ndarray) -> NDArray[np.float64]:
        """Points (n,) for the side of the seat to act in each of an array of `MATCH` (n,), none of which has ended."""
        out = np.empty(len(matches))
        bidding = matches["public"]["phase"] <= TRUMP
        for part, rows in zip(PARTS, (np.flatnonzero(bidding), np.flatnonzero(~bidding)), strict=True):
            for at in range(0, len(rows), STATES_AT_ONCE):
                some = rows[at : at + STATES_AT_ONCE]
                state, _, _ = canonical_states(matches, some, self._layout, self.canonical_suits)
                out[some] = self.critics[part](torch.from_numpy(state.take(self._columns, 1))).numpy()
        return out / self.scale


@dataclass(frozen=True)
class ControlPart:
    """The margins of agent 0 over agent 1 with control variates, in one part. It pickles."""

    margins: NDArray[np.float64]  # (deals,): the mean over the deal's plays of the margin less its corrections
    sums: NDArray[np.float64]  # (plays,), over the deals: of the margin less its corrections, that of chance too
    squares: NDArray[np.float64]  # (plays,), of its square
    decisions: int  # that were corrected


class Corrections:
    """Watches a part of two agents' deals being played (see `training.players.play_deals`), and adds up the corrections of each play.

    After it `decisions` and `chance`, (plays,) float64, are the sums of the agents' corrections and the correction of chance, in points of
    the margin of agent 0 over agent 1.
    """

    def __init__(self, value: ValueNetwork, players: Sequence[Player], rules: Rules, at_side: NDArray[np.int64]) -> None:
        if len(players) != 2:
            raise InputError(f"control: {len(players)} agents; allowed: 2")
        self.value, self.players, self.rules = value, players, rules
        self.weights = side_weights(at_side)
        self.decisions = np.zeros(len(at_side))
        self.chance: NDArray[np.float64] | None = None
        self.count = 0
        self._options = batch_options(restart=False, skip_forced=True)

    def __call__(self, batch: Batch, to_act: NDArray[np.int64], actions: NDArray[np.int64], views: np.ndarray | None) -> None:
        """Before each step: who acts in each match (−1: it has ended), and what they do."""
        if self.chance is None:
            self.chance = self._margin(batch.matches, np.arange(len(to_act)))
        for k, player in enumerate(self.players):
            rows = np.flatnonzero(to_act == k)
            if len(rows):
                for some, chances in drawn_from(player, batch, rows, views):
                    self._correct(batch, some, chances, actions[some], player.name)

    def _correct(self, batch: Batch, rows: NDArray[np.intp], chances: NDArray[np.float64], actions: NDArray[np.int64], name: str) -> None:
        if (chances[np.arange(len(rows)), actions] <= 0).any():
            raise AgentError(f"agent {name!r}: takes an action to which it gives no chance; allowed: what its probabilities allow")
        decision, action = map(np.ascontiguousarray, np.nonzero(chances))
        f = self._margin(self._children(batch.matches, rows[decision], action), rows[decision])
        expected = np.bincount(decision, weights=chances[decision, action] * f, minlength=len(rows))
        self.decisions[rows] += f[action == actions[decision]] - expected
        self.count += len(rows)

    def _children(self, matches: np.ndarray, rows: NDArray[np.intp], actions: NDArray[np.int64]) -> np.ndarray:
        """Copies of some matches, one action on, with the forced ones that follow it."""
        children = _records(matches, rows)
        everyone = np.arange(len(children))
        seated.take_all(children, everyone, actions, self._options, np.zeros((len(children), SEATS), np.float32))
        table.skip_all(children, self._options, np.zeros(SEATS, np.float32))
        return children

    def _margin(self, matches: np.ndarray, plays: NDArray[np.intp]) -> NDArray[np.float64]:
        """f: the margin (n,) of agent 0 over agent 1 that the network expects of each match; the true one of those that have ended."""
        public, sides = matches["public"], self.rules.sides
        margin = np.empty(len(matches))
        live = public["turn"] != NOBODY
        if live.any():
            at = np.flatnonzero(live)
            margin[at] = self.value(_records(matches, at)) * self.weights[plays[at], public["turn"][at] % sides]
        ended = ~live
        of_first = self.weights[plays[ended]] > 0
        change = public["change"][ended, :sides]
        margin[ended] = _mean_where(change, of_first) - _mean_where(change, ~of_first)
        return margin

    def summary(self, margins: NDArray[np.float64]) -> ControlPart:
        """What is kept of a part, from the margins (plays, deals) of agent 0 over agent 1 as played."""
        assert self.chance is not None
        corrected = margins - self.decisions.reshape(margins.shape)
        alone = corrected - self.chance.reshape(margins.shape)
        return ControlPart(corrected.mean(axis=0), alone.sum(axis=1), (alone**2).sum(axis=1), self.count)


def side_weights(at_side: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the value v of a side is multiplied by for an estimate of the margin of agent 0 over agent 1; (plays, sides) as `at_side`.

    With s sides, one agent has one of them and the other the rest. From the lone side the margin is v itself, or −v if it is agent 1's.
    From one of the rest it is ∓v / (s − 1): its best linear predictor where no side is known to differ from another. The weights of a
    play sum to 0.
    """
    mine = at_side == 0
    held = np.where(mine, mine.sum(axis=1, keepdims=True), (~mine).sum(axis=1, keepdims=True))
    weights: NDArray[np.float64] = np.where(mine, 1.0, -1.0) / np.where(held == 1, 1, at_side.shape[1] - 1)
    return weights


def drawn_from(
    player: Player, batch: Batch, rows: NDArray[np.intp], views: np.ndarray | None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
    """Those of some rows of a batch at which a player draws its action, and from what probabilities (n, 70); they sum to 1.

    A policy draws from the `probabilities` it states if it says so by an attribute `samples`. Raises AgentError where they are no
    probabilities of legal actions.
    """
    for policy, some in _sampling_parts(player.policy, batch, rows):
        mask = batch.mask[some]
        seen = batch.observation if policy.reads == "observation" else views
        assert seen is not None  # a player that reads views is there
        chances = np.asarray(policy.probabilities(seen[some], mask, batch.seat[some]), np.float64)
        legal = chances.shape == mask.shape and not chances[~mask].any() and (chances >= 0).all()
        if not legal or (abs(chances.sum(axis=1) - 1) > 1e-3).any():
            raise AgentError(f"agent {player.name!r}: probabilities are wrong; allowed: (n, 70), 0 where not legal, rows that sum to 1")
        yield some, chances / chances.sum(axis=1, keepdims=True)


def _sampling_parts(policy: Any, batch: Batch, rows: NDArray[np.intp]) -> Iterator[tuple[Any, NDArray[np.intp]]]:
    if isinstance(policy, TwoPartPolicy):
        bidding = batch.matches["public"]["phase"][rows] <= TRUMP
        for part, some in zip(PARTS, (rows[bidding], rows[~bidding]), strict=True):
            if len(some):
                yield from _sampling_parts(policy.parts[part], batch, some)
    elif getattr(policy, "samples", False):
        yield policy, rows


def _records(matches: np.ndarray, rows: NDArray[np.intp]) -> np.ndarray:
    """Copies of some records."""
    copies: np.ndarray = as_bytes(matches).reshape(len(matches), MATCH.itemsize)[rows].view(MATCH)[:, 0]
    return copies


def _mean_where(values: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Row means (n,) of the marked entries of (n, k)."""
    means: NDArray[np.float64] = (values * where).sum(axis=1) / where.sum(axis=1)
    return means

"""Whole deals of self-play, or against a frozen opponent: every decision of the learning parts, with what it returned in the end."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents import AgentError
from agents.canonical import canonical_states, original_actions
from agents.learned import PARTS
from pitchenv import Batch, Rules
from pitchenv.engine.state import NOBODY, TRUMP
from training.clock import Clock
from training.players import Player
from training.teachers import Teachers

Array = NDArray[Any]


@dataclass
class Decisions:
    """The decisions of one part in one iteration, in the order they were taken; n of them.

    Rows of one wave (`waves[w]` to `waves[w + 1]`) belong to different deals.
    """

    state: torch.Tensor  # (n, live columns of S) float32: full states; what the actor sees comes first
    mask: torch.Tensor  # (n, 70) bool
    action: torch.Tensor  # (n,) int64
    log_probs: torch.Tensor  # (n, 70) float32, of all actions when this one was taken
    deal: NDArray[np.int64]  # (n,) index of the deal
    seat: NDArray[np.int64]  # (n,)
    wave: NDArray[np.int64]  # (n,) in which step of the batch
    exact: torch.Tensor | None = None  # (n, 70) float32: what actions come to with open hands, in points; nan where not known
    taught: torch.Tensor | None = None  # (n, 70) float32: log-probabilities of the game's teacher; nan where it has none

    def __len__(self) -> int:
        return len(self.action)


class Buffer:
    """Rows that grow, kept from one iteration to the next so that nothing is allocated twice."""

    def __init__(self, width: int, actions: int, more: Sequence[str] = ()) -> None:
        """`more`: the names of further columns of a number for each action."""
        self._columns: dict[str, Array] = {
            "state": np.zeros((0, width), np.float32),
            "mask": np.zeros((0, actions), np.bool_),
            "action": np.zeros(0, np.int64),
            "log_probs": np.zeros((0, actions), np.float32),
            "deal": np.zeros(0, np.int64),
            "seat": np.zeros(0, np.int64),
            "wave": np.zeros(0, np.int64),
        }
        self._columns |= {name: np.zeros((0, actions), np.float32) for name in more}
        self._used = 0

    def clear(self) -> None:
        """Forget all rows."""
        self._used = 0

    def append(self, **rows: Array) -> None:
        """Add rows to every column."""
        end = self._used + len(rows["action"])
        for name, values in rows.items():
            column = self._columns[name]
            if end > len(column):
                column = np.empty((max(end, 3 * len(column) // 2), *column.shape[1:]), column.dtype)
                column[: self._used] = self._columns[name][: self._used]
                self._columns[name] = column
            column[self._used : end] = values
        self._used = end

    def decisions(self) -> Decisions:
        """The rows so far, without a copy."""
        used = {name: column[: self._used] for name, column in self._columns.items()}
        tensors = ("state", "mask", "action", "log_probs", "exact", "taught")
        return Decisions(**{name: torch.from_numpy(v) if name in tensors else v for name, v in used.items()})  # type: ignore[arg-type]


@dataclass
class Rollout:
    """One iteration's deals."""

    parts: dict[str, Decisions]  # of the parts that learn
    returns: NDArray[np.float32]  # (deals, slots): what each seat got
    public: Array  # (deals,) PUBLIC records of the deals as they ended
    decisions: int  # that were no forced moves, of all parts
    learning_side: NDArray[np.int64]  # (deals,): the side that learns where the others are an opponent, −1 where all do


@dataclass(frozen=True)
class Opponent:
    """A frozen player at some of the deals: it has every side of them but the one that learns."""

    player: Player
    deals: NDArray[np.int64]  # of the batch


class Collector:
    """Plays deals with the learning networks at every seat, and a frozen policy where a part does not learn.

    Against an opponent they have one side of the deal (the sides in turn); only the decisions of
    the side that learns are recorded.
    """

    def __init__(
        self, batch: Batch, columns: tuple[Array, Array], canonical_suits: bool, device: torch.device, clock: Clock,
        partner: Player | None = None, after_bidding: Callable[[Array], None] | None = None,
        returns: Callable[[Array], NDArray[np.float32]] | None = None, exact: Callable[[Array], NDArray[np.float32]] | None = None,
        teachers: Teachers | None = None,
    ) -> None:  # fmt: skip
        """`columns`: what of a state the networks read, the observation's and the hidden ones (`training.columns`).

        `after_bidding`: plays deals, an array of `MATCH`, from the end of the bidding to their ends, in place, if no player is asked to.
        `returns`: what ended deals, an array of `PUBLIC` (n,), bring each seat, (n, slots); if not given the rewards of the batch.
        `exact`: what the actions of the seats to act, in an array of `MATCH` (n,), come to with open hands, (n, 70).
        `teachers`: who is asked what they would do, too."""
        self._columns, self._seen = np.concatenate(columns), len(columns[0])
        self.batch, self.canonical_suits, self.device, self.clock, self.partner = batch, canonical_suits, device, clock, partner
        self.after_bidding, self.returns, self.exact, self.teachers = after_bidding, returns, exact, teachers
        self._sides = np.array([rules.sides for rules in batch.rules])
        self._in_turn = np.zeros(batch.size, np.int64)  # the side that learns where others don't
        dealt = Counter[Rules]()
        for i, rules in enumerate(batch.rules):
            self._in_turn[i] = dealt[rules] % rules.sides
            dealt[rules] += 1
        self._buffers: dict[str, Buffer] = {}

    @torch.no_grad()
    def collect(self, actors: Mapping[str, nn.Module], seed: int, random: torch.Generator, opponents: Sequence[Opponent] = ()) -> Rollout:
        """Play every deal of the batch, dealt from a seed, to its end. `actors` (by part, those that learn) map observations (n, live
        columns) and masks (n, 70) to the logits that actions are drawn from."""
        batch = self.batch
        with self.clock("engine"):
            batch.reset(seed=seed)
        for player in [self.partner, *(opponent.player for opponent in opponents)]:
            if player is not None:
                player.reset(batch.rules[0], batch.size, [seed])
        for part in actors:
            self._buffers.setdefault(part, Buffer(len(self._columns), batch.mask.shape[1], self._more(part))).clear()
        returns = np.zeros_like(batch.reward)
        actions = np.zeros(batch.size, np.int64)
        learning_side = np.full(batch.size, -1)  # all of them
        for opponent in opponents:
            learning_side[opponent.deals] = self._in_turn[opponent.deals]
        wave = decisions = 0
        while (live := self._live()).any():
            decisions += int(live.sum())
            frozen = live & (learning_side >= 0) & (batch.seat % self._sides != learning_side)
            for opponent in opponents:
                rows = opponent.deals[frozen[opponent.deals]]
                if rows.size:
                    actions[rows] = self._ask("opponent", opponent.player, rows)
            bidding = batch.matches["public"]["phase"] <= TRUMP
            for part, mine in zip(PARTS, (live & ~frozen & bidding, live & ~frozen & ~bidding), strict=True):
                rows = np.flatnonzero(mine)
                if not rows.size:
                    continue
                if part not in actors:
                    assert self.partner is not None
                    actions[rows] = self._ask("partner", self.partner, rows)
                    continue
                with self.clock("engine"):
                    whole, mask, to = canonical_states(batch.matches, rows, batch.layout, self.canonical_suits)
                    state = whole.take(self._columns, 1)
                with self.clock("inference"):
                    on_device = torch.from_numpy(state).to(self.device)[:, : self._seen]
                    mask_on_device = torch.from_numpy(mask).to(self.device)
                    logits = actors[part](on_device, mask_on_device)
                    log_probs = torch.log_softmax(logits, -1).cpu()
                    chosen = torch.multinomial(torch.softmax(logits, -1).cpu(), 1, generator=random)
                original = original_actions(to)
                actions[rows] = np.take_along_axis(original, chosen.numpy(), 1)[:, 0]
                more = {}
                if self.exact and "exact" in self._more(part):
                    with self.clock("solver"):
                        more["exact"] = np.take_along_axis(self.exact(batch.matches[rows]), original, 1)
                if self.teachers:
                    with self.clock("teachers"):
                        more["taught"] = self.teachers.log_probs(part, on_device, mask_on_device, rows).cpu().numpy()
                self._buffers[part].append(
                    **more, state=state, mask=mask, action=chosen.squeeze(1).numpy(), log_probs=log_probs.numpy(), deal=rows,
                    seat=batch.seat[rows], wave=np.full(len(rows), wave),
                )  # fmt: skip
            with self.clock("engine"):
                batch.step(actions)
            returns += batch.reward  # zero but in the step that ends a deal
            wave += 1
        if self.after_bidding:
            with self.clock("play"):
                self.after_bidding(batch.matches)
        if self.returns:
            returns = self.returns(batch.matches["public"])
        parts = {part: self._buffers[part].decisions() for part in actors}
        return Rollout(parts, returns, batch.matches["public"].copy(), decisions, learning_side)

    def _more(self, part: str) -> tuple[str, ...]:
        """Which columns a part's decisions have for the solver and for teachers; the solver values no bids."""
        solved, taught = self.exact is not None and part == "play", self.teachers is not None
        return ("exact",) * solved + ("taught",) * taught

    def _live(self) -> Array:
        """Where somebody is still to be asked, (deals,) bool."""
        if self.after_bidding:
            self.batch.seat[self.batch.matches["public"]["phase"] > TRUMP] = NOBODY  # so that the batch steps over them
        return self.batch.seat >= 0

    def _ask(self, role: str, player: Player, rows: Array) -> Array:
        """What a frozen player does; its illegal proposals would make the deals worthless."""
        with self.clock(role):
            actions = player.act(self.batch, rows, self.batch.views() if player.policy.reads == "view" else None)
        if player.illegal:
            raise AgentError(f"{role} {player.name!r}: proposes illegal actions; allowed: a player that keeps to the mask")
        return actions

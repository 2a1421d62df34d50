"""Matches in which one seat is the learner's and policies play the others: what the Gymnasium environments are made of."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pitchenv import seating
from pitchenv.actions import ACTIONS, IllegalAction, action_name
from pitchenv.batch import batch_options
from pitchenv.checks import InputError, check_keys, shown, whole_number
from pitchenv.compiling import announce_compiling
from pitchenv.engine import seated
from pitchenv.engine.state import MATCH, NOBODY, VIEW
from pitchenv.engine.table import GOES_ON, TERMINATED, TRUNCATED
from pitchenv.game import Game
from pitchenv.observation import layout
from pitchenv.policies import Policy
from pitchenv.rules import Rules

Rows = NDArray[np.int64]
Player = str | Policy
POLICY_NAMES: Final = ("random", "heuristic")
READS: Final = ("observation", "view")


def player(spec: Player) -> Policy:
    """A policy from a name, or as it is. Raises InputError with one line."""
    if not isinstance(spec, str):
        for name in ("reads", "reset", "act"):
            if not hasattr(spec, name):
                allowed = f"{', '.join(POLICY_NAMES)}, or a pitchenv.policies.Policy"
                raise InputError(f"policy {shown(spec)}: has no {name!r}; allowed: {allowed}")
        check_keys([spec.reads], READS, InputError, f"{type(spec).__name__}.reads")
        return spec
    check_keys([spec], POLICY_NAMES, InputError, "policy")
    if spec == "random":
        from pitchenv.policies.random import RandomPolicy

        return RandomPolicy()
    from pitchenv.policies.heuristic import HeuristicPolicy

    return HeuristicPolicy()


def other_players(rules: Rules, opponents: Player | Sequence[Player], partners: Player | None) -> list[Policy]:
    """Who plays the seats left of the learner's, in order: `opponents` is one for all or one each, `partners` plays on its own side."""
    others = rules.players - 1
    if isinstance(opponents, list | tuple):
        if len(opponents) != others or partners is not None:
            raise InputError(
                f"opponents: {len(opponents)} given; allowed: one, or {others}, one a seat from the left neighbour on, without partners"
            )
        return [player(spec) for spec in opponents]
    against: Policy = player(opponents)  # type: ignore[arg-type]
    beside = against if partners is None else player(partners)
    return [beside if slot % rules.sides == 0 else against for slot in range(1, rules.players)]


class Tables:
    """`size` matches on the same rules. `matches` are the records, `seat` (size,) the learner's seat in each, `ended` (size,) how its
    episode ended (GOES_ON, TERMINATED or TRUNCATED), `illegal` (size,) whether by an illegal action."""

    def __init__(
        self,
        rules: Rules,
        size: int,
        *,
        seat: int | None,
        opponents: Player | Sequence[Player],
        partners: Player | None,
        episode: str,
        reward: str,
        max_deals: int,
        keep_deals: bool = False,
    ) -> None:
        announce_compiling()
        if seat is not None:
            seat = whole_number("seat", seat, 0, rules.players - 1, also="None (drawn for every episode), ")
        self.rules, self.size = rules, size
        self._options = batch_options(episode, reward, max_deals)
        self._whole_match, self._max_deals, self._keep_deals = episode == "match", int(max_deals), keep_deals
        self._reward = reward
        self._fixed_seat = seat
        by_slot = other_players(rules, opponents, partners)
        self.policies = list({id(policy): policy for policy in by_slot}.values())
        index = {id(policy): i for i, policy in enumerate(self.policies)}
        self._policy_of_slot = np.array([-1] + [index[id(policy)] for policy in by_slot])  # slot 0 is the learner
        self.layout = layout(rules.players)
        self.matches = np.zeros(size, MATCH)
        self.matches["public"]["rules"] = rules.packed[0]
        self.seat = np.zeros(size, np.int64)
        self.ended = np.full(size, TERMINATED, np.int8)
        self.illegal = np.zeros(size, np.bool_)
        self._rewards = np.zeros((size, rules.players))
        self._scratch = np.zeros(1, VIEW)
        self._finished: list[list[np.ndarray]] = [[] for _ in range(size)]

    @property
    def _turn(self) -> NDArray[np.int8]:
        """Who is to act in every match; NOBODY where the deal has ended."""
        return self.matches["public"]["turn"]

    @property
    def _bytes(self) -> NDArray[np.uint8]:
        """The same memory as `matches`, a row of bytes each: NumPy copies records slowly, field by field."""
        return self.matches.view(np.uint8).reshape(self.size, MATCH.itemsize)

    def _seed_policies(self, seed: int) -> None:
        for i, policy in enumerate(self.policies):
            policy.reset(self.rules, self.size, int(np.random.SeedSequence([seed, i]).generate_state(1, np.uint64)[0] >> 1))

    def begin(
        self,
        rows: Rows,
        seeds: Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
        policy_seed: int | None = None,
    ) -> None:
        """New episodes in some matches, up to the learner's turn: from a seed each, as `Game(rules, seed)`, or the next of its stream.

        `policy_seed` begins the policies' own random numbers anew. Options that are refused and an opponent that fails raise, with nothing
        changed.
        """
        with self._all_or_nothing(rows):
            seated.start_next_all(self.matches, rows)
            for row, seed in zip(rows, seeds or [], strict=False):
                if seed is not None:
                    self.matches[row] = Game(self.rules, seed)._match[0]
            if options is not None:
                for row in rows:
                    self.matches[row] = seating.lay_out(self.game(row), options)._match[0]
            if self._fixed_seat is None:
                seated.draw_seats(self.matches, rows, self.seat)
            else:
                self.seat[rows] = self._fixed_seat
            self.ended[rows] = GOES_ON
            self.illegal[rows] = False
            for row in rows if self._keep_deals else ():
                self._finished[row] = []
            if policy_seed is not None:
                self._seed_policies(policy_seed)
            self._play_others(rows)

    @contextmanager
    def _all_or_nothing(self, rows: Rows) -> Iterator[None]:
        """Whatever fails within, an opponent too, leaves the matches of these rows as they were."""
        kept = self._bytes[rows]
        seat, ended, illegal = self.seat[rows], self.ended[rows], self.illegal[rows]
        finished = [list(self._finished[row]) for row in rows] if self._keep_deals else []
        try:
            yield
        except BaseException:
            self._bytes[rows] = kept
            self.seat[rows], self.ended[rows], self.illegal[rows] = seat, ended, illegal
            for row, deals in zip(rows, finished, strict=False):
                self._finished[row] = deals
            raise

    def step(self, actions: NDArray[np.int64]) -> NDArray[np.float64]:
        """The learner's action (size,) in every match, and all that the others do until its next turn or the end of the episode; returns
        the learner's rewards (size,). An illegal action ends the episode at the price of `seating.penalty`; its match stays as it is.
        An opponent that fails raises, with nothing changed."""
        rows = np.arange(self.size)
        allowed = np.empty(self.size, np.bool_)
        seated.legal_all(self.matches, rows, actions, allowed)
        self._rewards[:] = 0
        with self._all_or_nothing(rows):
            self._take(rows[allowed], actions[allowed])
            self._play_others(rows[allowed])
        rewards: NDArray[np.float64] = self._rewards[rows, self.seat]
        left = self._max_deals - self.matches["public"]["deals_played"][~allowed] if self._whole_match else 1
        rewards[~allowed] = -seating.penalty(self.rules, self._reward, left)
        self.illegal = ~allowed
        self.ended[~allowed] = TERMINATED
        return rewards

    def _play_others(self, rows: Rows) -> None:
        """The policies play until the learner is to act or the episode has ended."""
        while True:
            rows = rows[(self.ended[rows] == GOES_ON) & (self._turn[rows] != self.seat[rows])]
            if not len(rows):
                return
            turn = self._turn[rows].astype(np.int64)
            policy_of = self._policy_of_slot[(turn - self.seat[rows]) % self.rules.players]
            actions = np.empty(len(rows), np.int64)
            for i, policy in enumerate(self.policies):
                its = policy_of == i
                if its.any():
                    actions[its] = self._ask(policy, rows[its], turn[its])
            self._take(rows, actions)

    def _ask(self, policy: Policy, rows: Rows, seats: Rows) -> NDArray[np.int64]:
        """What a policy does in some matches. Raises IllegalAction with one line where that is not legal."""
        inputs: NDArray[Any]
        if policy.reads == "view":
            inputs, mask = np.zeros(len(rows), VIEW), np.empty((len(rows), ACTIONS), np.bool_)
            seated.view_all(self.matches, rows, seats, inputs, mask)
        else:
            inputs, mask = self.look(rows, seats)
        actions = np.asarray(policy.act(inputs, mask, seats))
        if actions.shape != rows.shape or actions.dtype.kind not in "iu":
            raise IllegalAction(f"{type(policy).__name__}.act: {actions.dtype} of shape {actions.shape}; allowed: integers {rows.shape}")
        inside = (actions >= 0) & (actions < ACTIONS)
        wrong = ~inside | ~mask[np.arange(len(rows)), np.where(inside, actions, 0)]
        if wrong.any():
            k = int(wrong.argmax())
            allowed = ", ".join(action_name(a) for a in np.flatnonzero(mask[k]).tolist())
            said = repr(action_name(int(actions[k]))) if inside[k] else str(actions[k])
            raise IllegalAction(f"{type(policy).__name__}.act: action {said}: not legal for seat {seats[k]}; allowed: {allowed}")
        return actions

    def _take(self, rows: Rows, actions: NDArray[np.int64]) -> None:
        """Legal actions in some matches, with all that follows where they end a deal."""
        seated.take_all(self.matches, rows, actions, self._options, self._rewards)
        closed = rows[self._turn[rows] == NOBODY]
        if not len(closed):
            return
        if not self._whole_match:
            self.ended[closed] = TERMINATED
            return
        public = self.matches["public"]
        over, cut = public["over"][closed] == 1, public["deals_played"][closed] >= self._max_deals
        self.ended[closed] = np.where(over, TERMINATED, np.where(cut, TRUNCATED, GOES_ON))
        go_on = closed[~over & ~cut]
        for row in go_on if self._keep_deals else ():
            self._finished[row].append(self.matches[row : row + 1].copy())
        seated.redeal_all(self.matches, go_on)

    def look(self, rows: Rows, seats: Rows) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Observations (n, F) and masks (n, 70) of seats in some matches, in new arrays; no action where the episode has ended."""
        observations, mask = np.empty((len(rows), self.layout.size), np.float32), np.empty((len(rows), ACTIONS), np.bool_)
        seated.look_all(self.matches, rows, seats, self._scratch, self.layout.at, observations, mask)
        mask[self.ended[rows] != GOES_ON] = False
        return observations, mask

    def info(self, rows: Rows, mask: NDArray[np.bool_]) -> dict[str, np.ndarray]:
        """What the environments say beside an observation, (n, …) each; the learner's own side's points and score."""
        public, at = self.matches["public"], (rows, self.seat[rows] % self.rules.sides)
        return {
            "action_mask": mask.view(np.int8).copy(),
            "seat": self.seat[rows],
            "deals_played": public["deals_played"][rows].astype(np.int64),
            "points": public["points"][at].astype(np.int64),
            "score": public["scores"][at].astype(np.int64),
            "illegal": self.illegal[rows].astype(np.int64),
        }

    def game(self, row: int) -> Game:
        """A copy of a match, with its earlier deals where they are kept."""
        game = Game.from_record(self.rules, self.matches[row])
        game._finished = list(self._finished[row])
        return game

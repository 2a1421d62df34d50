"""`Batch`: many matches stepped together, in place."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Self, TypedDict, Unpack

import numpy as np

from pitchenv.actions import ACTIONS, IllegalAction, action_name
from pitchenv.checks import InputError, check_keys, sequence, shown, whole_number, yes_or_no
from pitchenv.compiling import announce_compiling
from pitchenv.engine import table
from pitchenv.engine.state import MATCH, NOBODY, RULES, VIEW
from pitchenv.game import Game
from pitchenv.games import load_rules
from pitchenv.observation import Layout, layout
from pitchenv.rules import Rules

EPISODES: Final = ("deal", "match")
REWARDS: Final = ("margin", "score", "win")
START_SCORES: Final = ("zero", "spread")
MOST: Final = 2**31 - 1  # of anything that is counted


class BatchOptions(TypedDict, total=False):
    """The options of a batch beside its slots, for type checkers; what they mean is told in `Batch`."""

    episode: str
    reward: str
    max_deals: int
    start_scores: str
    restart: bool
    skip_forced: bool


def batch_options(
    episode: str = "deal",
    reward: str = "margin",
    max_deals: int = 100,
    start_scores: str = "zero",
    restart: bool = True,
    skip_forced: bool = False,
) -> np.ndarray:
    """The checked options of a batch as an array of one `table.OPTIONS` record. Raises InputError with one line."""
    check_keys([episode], EPISODES, InputError, "episode")
    check_keys([reward], REWARDS, InputError, "reward")
    check_keys([start_scores], START_SCORES, InputError, "start_scores")
    if reward == "win" and episode == "deal":
        raise InputError('reward = "win": pays at the end of a match; allowed with episode = "deal": margin, score')
    options = np.zeros(1, table.OPTIONS)
    options["episode"] = EPISODES.index(episode)
    options["reward"] = REWARDS.index(reward)
    options["max_deals"] = whole_number("max_deals", max_deals, 1, MOST)
    options["spread"] = start_scores == "spread"
    options["restart"] = yes_or_no("restart", restart)
    options["skip_forced"] = yes_or_no("skip_forced", skip_forced)
    return options


def as_bytes(records: np.ndarray) -> np.ndarray:
    """An array of records as the bytes it is, without a copy: NumPy copies records field by field, slowly and without their padding."""
    return np.ascontiguousarray(records).view(np.uint8)


class Batch:
    """N matches, stepped together and in place; the rules of all may differ.

    Buffers, rewritten by every `step` (copy what is to be kept):

    - `observation` (N, F) float32 and `mask` (N, 70) bool of the seat to act, `seat` (N,) int8. Where an episode has ended and does not
      restart: zeros, no legal action, seat −1.
    - `reward` (N, slots) float32 by seat number (not relative), `terminated`, `truncated` (N,) bool: of the last step. With `restart`
      (the default) a finished episode begins anew within the same step: its reward stands beside the first observation of the next.
    - `state` (N, S) float32: the full state seen from the seat to act, observation first; computed when asked for.

    `rules` is one game (a `Rules` or a name) or a list, given out in turn: match i has `rules[i % len(rules)]`. `episode`: one "deal" or a
    whole "match", cut off after `max_deals`. `reward`: "margin", "score" or "win". `start_scores`: "zero", or "spread" over what matches
    reach. `skip_forced`: single legal actions are taken at once, so that every decision has a choice. Match i of a seed is the same in a
    batch of any size. Raises InputError (a ValueError) with one line for what is not allowed.
    """

    def __init__(
        self,
        rules: Rules | str | Sequence[Rules | str],
        size: int,
        seed: int = 0,
        *,
        slots: int | None = None,
        **options: Unpack[BatchOptions],
    ) -> None:
        games = [rules] if isinstance(rules, Rules | str | Path) else sequence("rules", rules, "games")
        if not games:
            raise InputError("rules = []: allowed: at least one game")
        size = whole_number("size", size, 1, MOST)
        seed = whole_number("seed", seed)
        kinds = [load_rules(game) for game in games]
        self._allocate([kinds[i % len(kinds)] for i in range(size)], slots, options)
        self.reset(seed=seed)

    def _allocate(self, rules: list[Rules], slots: int | None, options: BatchOptions) -> None:
        announce_compiling()
        check_keys(options, (*BatchOptions.__annotations__, "slots"), InputError, "option")
        self._options = batch_options(**options)
        self.rules: list[Rules] = rules  # by match
        self.size = size = len(rules)
        most = max(r.players for r in set(rules))
        self.layout: Layout = layout(most if slots is None else slots, most)
        self.matches = np.zeros(size, MATCH)
        packed = {r: r.packed[0] for r in set(rules)}
        self.matches["public"]["rules"] = packed[rules[0]] if len(packed) == 1 else np.array([packed[r] for r in rules])
        self.observation = np.zeros((size, self.layout.size), np.float32)
        self.mask = np.zeros((size, ACTIONS), np.bool_)
        self.seat = np.full(size, -1, np.int8)
        self.reward = np.zeros((size, self.layout.slots), np.float32)
        self.terminated = np.zeros(size, np.bool_)
        self.truncated = np.zeros(size, np.bool_)
        self._legal = np.zeros((size, 2), np.int64)
        self._scratch = np.zeros(1, VIEW)
        self._unpaid = np.zeros(8, np.float32)  # rewards that nobody gets
        self._state: np.ndarray | None = None
        self._state_is_current = False
        self._random_calls = 0

    @classmethod
    def from_games(cls, games: Iterable[Game], *, slots: int | None = None, **options: Unpack[BatchOptions]) -> Self:
        """Chosen matches (copies), for duplicate play and search. They do not restart unless asked to; then those that have ended, or that
        single legal actions end, do so at once, and nobody is paid. Raises InputError."""
        if not isinstance(games, Iterable):
            raise InputError(f"games = {shown(games)}: allowed: a list of Game")
        games = list(games)
        for i, game in enumerate(games):
            if not isinstance(game, Game):
                raise InputError(f"games[{i}] = {shown(game)}: allowed: a Game")
        if not games:
            raise InputError("games = []: allowed: at least one")
        records = np.concatenate([as_bytes(game._match) for game in games]).view(MATCH)
        return cls.from_matches([game.rules for game in games], records, slots=slots, **options)

    @classmethod
    def from_matches(
        cls, rules: Sequence[Rules], matches: np.ndarray, *, slots: int | None = None, **options: Unpack[BatchOptions]
    ) -> Self:
        """The same from an array of `MATCH` records (N,) and the rules of each, which must be those in the record. Raises InputError."""
        if not isinstance(matches, np.ndarray) or matches.dtype != MATCH or matches.ndim != 1 or not len(matches):
            what = f"an array of shape {matches.shape}" if isinstance(matches, np.ndarray) else shown(matches)
            raise InputError(f"matches = {what}: allowed: an array (N,) of MATCH records, N from 1")
        given = sequence("rules", rules, "Rules")
        if len(given) != len(matches):
            raise InputError(f"rules: {len(given)} given; allowed: {len(matches)}, one a match")
        for i, game in enumerate(given):
            if not isinstance(game, Rules):
                raise InputError(f"rules[{i}] = {shown(game)}: allowed: a Rules")
        batch = cls.__new__(cls)
        batch._allocate(given, slots, {"restart": False, **options})
        theirs, ours = matches["public"]["rules"], batch.matches["public"]["rules"]
        if (theirs != ours).any():
            at = int((theirs != ours).argmax())
            field = next(name for name in RULES.names or () if theirs[name][at] != ours[name][at])
            raise InputError(f"rules[{at}].{field} = {getattr(given[at], field)!r}: allowed: as in matches[{at}]")
        as_bytes(batch.matches)[:] = as_bytes(matches)
        if batch._options["skip_forced"][0]:
            table.skip_all(batch.matches, batch._options, batch._unpaid)
        if batch._options["restart"][0]:
            table.restart_where(batch.matches, batch.matches["public"]["turn"] == NOBODY, batch._options, batch._unpaid)
        batch._encode()
        return batch

    def __len__(self) -> int:
        return self.size

    def reset(self, where: np.ndarray | None = None, seed: int | None = None) -> None:
        """Begin new episodes: in every match from a seed, or where `where` (N,) bool says from the matches' own random states.

        `reward`, `terminated` and `truncated` are cleared there. Raises InputError, also for both at once.
        """
        chosen = np.ones(self.size, np.bool_) if where is None else np.ascontiguousarray(where)
        if chosen.shape != (self.size,) or chosen.dtype != np.bool_:
            raise InputError(f"where: {chosen.dtype} of shape {chosen.shape}; allowed: bool ({self.size},)")
        if seed is None:
            table.restart_where(self.matches, chosen, self._options, self._unpaid)
        elif where is not None:
            raise InputError(f"seed = {shown(seed)}: given with where; allowed: one of the two")
        else:
            table.seed_all(self.matches, np.uint64(whole_number("seed", seed) % 2**64), self._options, self._unpaid)
            self._random_calls = 0
        for buffer in (self.reward, self.terminated, self.truncated):
            buffer[chosen] = 0
        self._encode()

    def _encode(self) -> None:
        self._state_is_current = False
        table.encode_all(self.matches, self._scratch, self.layout.at, self.observation, self.mask, self._legal, self.seat)

    def step(self, actions: np.ndarray) -> None:
        """Take one action a match, integers (N,). An illegal one raises IllegalAction before any match is changed.

        The action of a match whose episode has ended is not looked at.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.size,) or actions.dtype.kind not in "iu":
            raise IllegalAction(f"actions of shape {actions.shape} and dtype {actions.dtype}: allowed: integers ({self.size},)")
        actions = np.ascontiguousarray(actions, np.int64)  # any other kind of array would have the kernels compiled anew
        at = table.first_illegal(actions, self._legal, self.seat)
        if at >= 0:
            raise self._refusal(at, actions[at])
        self._state_is_current = False
        table.step_all(
            self.matches, actions, self._options, self._scratch, self.layout.at, self.observation,
            self.mask, self._legal, self.seat, self.reward, self.terminated, self.truncated,
        )  # fmt: skip

    def _refusal(self, at: int, action: int) -> IllegalAction:
        name = repr(action_name(action)) if 0 <= action < ACTIONS else str(action)
        allowed = ", ".join(action_name(a) for a in self.game(at).legal_actions())
        return IllegalAction(f"actions[{at}] = {name}: not legal for seat {self.seat[at]}; allowed: {allowed}; no match is changed")

    @property
    def state(self) -> np.ndarray:
        """The full state (N, S) seen from the seat to act: observation, then hands and cards put away by slot, and the stock."""
        if self._state is None:
            self._state = np.zeros((self.size, self.layout.state_size), np.float32)
        if not self._state_is_current:
            table.hidden_all(self.matches, self.layout.slots, self.observation, self._state)
            self._state_is_current = True
        return self._state

    def views(self) -> np.ndarray:
        """What the seat to act may know, a new array of `VIEW` (N,); empty records where an episode has ended."""
        views = np.zeros(self.size, VIEW)
        table.views_all(self.matches, views)
        return views

    def game(self, i: int) -> Game:
        """A copy of match i."""
        return Game.from_record(self.rules[i], self.matches[i])

    def copy(self) -> Self:
        """An independent copy: every match, buffers too."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update({k: v.copy() if isinstance(v, np.ndarray) else v for k, v in self.__dict__.items()})
        as_bytes(twin.matches)[:] = as_bytes(self.matches)
        return twin

    def play_random(self, decisions: int) -> int:
        """That many uniformly random legal actions in every match, inside the engine; returns how many episodes ended.

        With `skip_forced` these are choices. Observations are not made on the way, only at the end; rewards are not kept.
        Raises InputError.
        """
        decisions = whole_number("decisions", decisions, 0, MOST)
        self._random_calls += 1
        ended: int = table.play_random(self.matches, decisions, self._random_calls, self._options, self._unpaid)
        self._encode()
        return ended

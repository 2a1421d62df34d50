"""The Gymnasium environments: one learner, the other seats played by policies; `PitchEnv` and its vector twin `PitchVectorEnv`.

| | |
| --- | --- |
| action space | `Discrete(70)`, see `pitchenv.actions` |
| observation | `Box` float32 (F,), see `pitchenv.observation`; with `observation="dict"` `{"observation": …, "action_mask": int8 (70,)}` |
| mask | `action_masks()` bool, and `info["action_mask"]` int8 |
| reward | the learner's side's, when a deal (`margin`, `score`) or the match (`win`) ends; see `pitchenv.pitch_v0.raw_env` |
| illegal action | ends it at the price of the worst to come: 1 ("win"), or 2 × ("margin") or once ("score") the highest bid a deal |
| episode | one deal, or a match of at most `max_deals` deals |

`opponents`: "random", "heuristic" or a `Policy` for all other seats, or a list of one for each, from the left neighbour on. `partners`: one
for the other seats of the learner's side. `seat`: the learner's, or None: drawn for every episode. A step is the learner's action and all
that the others do until its next turn. `info`: `action_mask`, `seat`, `deals_played`, `points` and `score` of the own side, `illegal`.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from pitchenv import spaces
from pitchenv.actions import ACTIONS, IllegalAction, action_number
from pitchenv.checks import InputError, check_keys, mapping, whole_number
from pitchenv.engine.table import GOES_ON, TERMINATED, TRUNCATED
from pitchenv.game import Game
from pitchenv.games import load_rules
from pitchenv.rules import Rules
from pitchenv.tables import Player, Tables

OBSERVATIONS = ("box", "dict")


def _check(observation: str, render_mode: str | None, render_modes: list[str]) -> None:
    check_keys([observation], OBSERVATIONS, InputError, "observation")
    if render_mode is not None:
        check_keys([render_mode], render_modes, InputError, "render_mode")


def _seed(seed: Any, name: str = "seed") -> int | None:
    """A seed as Gymnasium wants it."""
    return None if seed is None else whole_number(name, seed, 0)


def _begun(begun: bool, what: str) -> None:
    if not begun:
        raise ResetNeeded(f"{what}: the episode has not begun; allowed: reset()")


class PitchEnv(gymnasium.Env[Any, Any]):
    """One learner at one table; `gymnasium.make("pitch/Pitch-v0", rules=…)`."""

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 2}  # noqa: RUF012 (as declared by Gymnasium)

    def __init__(
        self,
        rules: Rules | str = "auction-4-partners",
        *,
        opponents: Player | Sequence[Player] = "random",
        partners: Player | None = None,
        seat: int | None = None,
        episode: str = "deal",
        reward: str = "margin",
        max_deals: int = 100,
        observation: str = "box",
        render_mode: str | None = None,
    ) -> None:
        _check(observation, render_mode, self.metadata["render_modes"])
        self.rules, self.render_mode, self._as_dict = load_rules(rules), render_mode, observation == "dict"
        self._tables = Tables(
            self.rules, 1, seat=seat, opponents=opponents, partners=partners, episode=episode, reward=reward, max_deals=max_deals,
            keep_deals=True,
        )  # fmt: skip
        self._row = np.zeros(1, np.int64)
        self._begun = False
        self._mask: NDArray[np.bool_]
        deals = max_deals if episode == "match" else 1
        self.action_space = spaces.action_space()
        space = spaces.masked_observation if self._as_dict else spaces.observation_box
        self.observation_space = space(self.rules, deals)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: from `seed`, the match of `Game(rules, seed)`; without one, the next of the stream that the last seed began.

        `options` may give `hands` by seat, `stock`, `dealer` and `scores`, which then replace those drawn; other keys are left alone.
        """
        seed = _seed(seed)
        super().reset(seed=seed)
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**62))
        self._tables.begin(self._row, [seed], options, policy_seed=seed)
        self._begun = True
        return self._seen()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The learner's action, then the others' until its next turn. One outside the action space raises IllegalAction."""
        if self._tables.ended[0] != GOES_ON:
            raise ResetNeeded("step: no episode is going on; allowed: reset()")
        number = action_number(action.item() if isinstance(action, np.ndarray) and action.shape == () else action)
        reward = self._tables.step(np.array([number]))
        ended = self._tables.ended[0]
        return *self._seen()[:1], float(reward[0]), bool(ended == TERMINATED), bool(ended == TRUNCATED), self._last_info

    def _seen(self) -> tuple[Any, dict[str, Any]]:
        """Observation and info now, all of it new."""
        observations, mask = self._tables.look(self._row, self._tables.seat)
        info = self._tables.info(self._row, mask)
        self._mask = mask[0]
        self._last_info = {key: value[0] if value.ndim > 1 else int(value[0]) for key, value in info.items()}
        if self.render_mode == "human":
            self.render()
        seen = {"observation": observations[0], "action_mask": mask[0].view(np.int8).copy()} if self._as_dict else observations[0]
        return seen, self._last_info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (70,), a new array; none once the episode has ended."""
        _begun(self._begun, "action_masks")
        return self._mask.copy()

    @property
    def game(self) -> Game:
        """A copy of the match: all of it, for tools and records."""
        _begun(self._begun, "game")
        return self._tables.game(0)

    def render(self) -> str | None:  # type: ignore[override]
        """What the learner sees as text: returned ("ansi") or printed ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn('render: no render_mode was chosen; render_mode="ansi" | "human"')
            return None
        from pitchenv.render import seat_text

        text = seat_text(self.game, int(self._tables.seat[0]))
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None


class PitchVectorEnv(VectorEnv[Any, Any, Any]):
    """One learner at `num_envs` tables; `gymnasium.make_vec("pitch/Pitch-v0", num_envs=…, rules=…)`.

    Row i of `reset(seed)` is the match of `PitchEnv.reset(seed + i)`. Autoreset mode SAME_STEP: the step that ends an episode hands out the
    first observation of the next (so that every row always has a legal action), with the last one in `info["final_obs"]` and what was said
    beside it in `info["final_info"]`.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 2, "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = "auction-4-partners",
        *,
        opponents: Player | Sequence[Player] = "random",
        partners: Player | None = None,
        seat: int | None = None,
        episode: str = "deal",
        reward: str = "margin",
        max_deals: int = 100,
        observation: str = "box",
        render_mode: str | None = None,
    ) -> None:
        _check(observation, render_mode, self.metadata["render_modes"])
        num_envs = whole_number("num_envs", num_envs, 1)
        self.num_envs, self.rules, self.render_mode, self._as_dict = num_envs, load_rules(rules), render_mode, observation == "dict"
        self._tables = Tables(
            self.rules, num_envs, seat=seat, opponents=opponents, partners=partners, episode=episode, reward=reward, max_deals=max_deals,
        )  # fmt: skip
        self._rows = np.arange(num_envs)
        self._begun = False
        deals = max_deals if episode == "match" else 1
        self.single_action_space = spaces.action_space()
        space = spaces.masked_observation if self._as_dict else spaces.observation_box
        self.single_observation_space = space(self.rules, deals)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes everywhere, or where `options["reset_mask"]` (num_envs,) bool says; else as `PitchEnv.reset`.

        `seed`: a number s stands for s, s + 1, …; or one each.
        """
        seeds: list[int | None]
        if isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim):
            seeds = [_seed(s, f"seed[{i}]") for i, s in enumerate(seed)]
        else:
            first = _seed(seed)
            seeds = [None if first is None else first + i for i in self._rows.tolist()]
        if len(seeds) != self.num_envs:
            raise InputError(f"seed: {len(seeds)} given; allowed: one, or {self.num_envs}, one an environment")
        given = {} if options is None else mapping("options", options)
        where = np.array(given.get("reset_mask", np.ones(self.num_envs, np.bool_)))  # a copy
        if where.shape != (self.num_envs,) or where.dtype != np.bool_:
            raise InputError(f"reset_mask: {where.dtype} of shape {where.shape}; allowed: bool ({self.num_envs},)")
        super().reset(seed=seeds[0])
        if not self._begun:
            seeds = [int(self.np_random.integers(2**62)) if s is None else s for s in seeds]
            where[:] = True
        rows = np.flatnonzero(where)
        self._tables.begin(rows, [seeds[row] for row in rows], options, policy_seed=seeds[0])
        self._begun = True
        return self._seen()

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """The learner's action at every table, integers (num_envs,). One outside the action space raises IllegalAction, nothing changes."""
        if (self._tables.ended != GOES_ON).any():  # before the first reset, or an opponent failed when the next episode was to begin
            raise ResetNeeded("step: no episode is going on; allowed: reset()")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise IllegalAction(f"actions: {chosen.dtype} of shape {chosen.shape}; allowed: integers ({self.num_envs},)")
        if ((chosen < 0) | (chosen >= ACTIONS)).any():
            at = int(((chosen < 0) | (chosen >= ACTIONS)).argmax())
            raise IllegalAction(f"actions[{at}] = {chosen[at]}: not an action; a whole number from 0 to {ACTIONS - 1}")
        rewards = self._tables.step(chosen.astype(np.int64))
        terminated, truncated = self._tables.ended == TERMINATED, self._tables.ended == TRUNCATED
        final = self._restart(np.flatnonzero(self._tables.ended != GOES_ON))
        observations, info = self._seen()
        return observations, rewards, terminated, truncated, info | final

    def _restart(self, rows: NDArray[np.int64]) -> dict[str, Any]:
        """New episodes where they have ended; what was seen and said at the end, as Gymnasium's own vector environments hand it out."""
        if not len(rows):
            return {}
        last, mask = self._tables.look(rows, self._tables.seat[rows])
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row, observation, none in zip(rows, last, mask.view(np.int8), strict=True):
            final_obs[row] = {"observation": observation, "action_mask": none} if self._as_dict else observation
        ended = np.zeros(self.num_envs, np.bool_)
        ended[rows] = True
        final_info: dict[str, np.ndarray] = {}
        for key, value in self._tables.info(rows, mask).items():
            final_info[key] = np.zeros((self.num_envs, *value.shape[1:]), value.dtype)
            final_info[key][rows] = value
            final_info[f"_{key}"] = ended.copy()
        self._tables.begin(rows)
        return {"final_obs": final_obs, "_final_obs": ended, "final_info": final_info, "_final_info": ended.copy()}

    def _seen(self) -> tuple[Any, dict[str, Any]]:
        """Observations and infos now, all of it new."""
        observations, self._mask = self._tables.look(self._rows, self._tables.seat)
        info: dict[str, Any] = self._tables.info(self._rows, self._mask)
        info |= {f"_{key}": np.ones(self.num_envs, np.bool_) for key in info}
        seen = {"observation": observations, "action_mask": self._mask.view(np.int8).copy()} if self._as_dict else observations
        return seen, info

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal actions, bool (num_envs, 70), a new array."""
        _begun(self._begun, "action_masks")
        return self._mask.copy()

    def render(self) -> tuple[str, ...] | None:
        """What the learner sees at every table, as text."""
        if self.render_mode is None:
            gymnasium.logger.warn('render: no render_mode was chosen; render_mode="ansi"')
            return None
        _begun(self._begun, "render")
        from pitchenv.render import seat_text

        return tuple(seat_text(self._tables.game(row), int(self._tables.seat[row])) for row in self._rows.tolist())

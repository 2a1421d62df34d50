"""The PettingZoo environment: agents `player_0` … act one at a time (AEC).

| | |
| --- | --- |
| agents | `player_0` … `player_{players − 1}`; the number is the seat |
| action space | `Discrete(70)`, see `pitchenv.actions` |
| observation | `{"observation": float32 (F,), "action_mask": int8 (70,)}`, see `pitchenv.observation` |
| action mask | all zero for a seat that is not to act |
| rewards | by side, when a deal (`margin`, `score`) or the match (`win`) ends; see `raw_env` |
| state | float32 (S,): what seat 0 sees, then all that is hidden |
| episode | one deal, or a match of at most `max_deals` deals |
"""

import secrets
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, BaseWrapper, OrderEnforcingWrapper

from pitchenv import seating, spaces
from pitchenv.actions import ACTIONS, IllegalAction, action_number
from pitchenv.batch import batch_options
from pitchenv.checks import InputError, check_keys
from pitchenv.engine import seated
from pitchenv.engine.state import VIEW
from pitchenv.game import Game
from pitchenv.games import load_rules
from pitchenv.observation import layout
from pitchenv.rules import Rules

Observation = dict[str, np.ndarray]


def env(**kwargs: Any) -> AECEnv[str, Observation, int]:
    """`raw_env` behind the standard wrappers. An illegal action ends the episode (see `IllegalActionEndsEpisode`); one outside the
    action space, or anything before `reset`, is an error."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(IllegalActionEndsEpisode(raw_env(**kwargs))))


class IllegalActionEndsEpisode(BaseWrapper[str, Observation, int]):  # type: ignore[misc]  # PettingZoo ships no types
    """An illegal action ends the episode for everybody: `raw_env.forfeit`. (PettingZoo's own wrapper punishes the offender alone, which is
    neither fair to its partner's learner nor zero-sum.)"""

    def step(self, action: int) -> None:
        """Take an action; any number of the action space."""
        if isinstance(action, bool | np.bool_):  # a slip of the caller's, not of the player's
            raise InputError(f"action = {action}: allowed: 0 … {ACTIONS - 1}")
        try:
            self.env.step(action)
        except IllegalAction:
            self.unwrapped.forfeit()  # type: ignore[attr-defined]

    def __str__(self) -> str:
        return str(self.env)


class raw_env(AECEnv[str, Observation, int]):  # type: ignore[misc]
    """A deal or a match, one turn at a time. An illegal action raises IllegalAction and changes nothing.

    - `rules`: a `Rules` or the name of a game. `episode`: "deal" (dealer drawn, scores 0) or "match", truncated after `max_deals` deals.
    - `reward`: each seat gets its side's. "score": the change of its score in a deal; "margin": that minus the mean of the other sides';
      "win": at the end of a match, +1 to the winner's side and −1/(sides − 1) to the others, 0 when it is cut off.
    - `render_mode`: "ansi" (`render()` returns the whole table as text) or "human" (it is printed after every step).

    `infos`: `deals_played`, `points` (own side's, of the last completed deal; 0 without one), `score` (own side's), `illegal` (1 for an
    agent whose illegal action ended the episode). All agents end in the same step. `game` is the match itself: all of it, for tools.
    A pickle or a deep copy goes on from where the environment is, the matches to come the same.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "pitch_v0",
        "render_modes": ["ansi", "human"],
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: Rules | str = "auction-4-partners",
        *,
        episode: str = "deal",
        reward: str = "margin",
        max_deals: int = 100,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode = {render_mode!r}: allowed: None, {', '.join(self.metadata['render_modes'])}")
        self.rules = load_rules(rules)
        self.render_mode = render_mode
        self._options = batch_options(episode, reward, max_deals)
        self._whole_match, self._max_deals = episode == "match", int(max_deals)
        self._reward = reward
        players = self.rules.players
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        deals = max_deals if self._whole_match else 1
        self.observation_spaces = {agent: spaces.masked_observation(self.rules, deals) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.action_space() for agent in self.possible_agents}
        self.state_space = spaces.state_box(self.rules, deals)
        self.agents: list[str] = []
        self._layout = layout(players)
        self._at, self._size = self._layout.at, self._layout.size
        self._scratch = np.zeros(1, VIEW)
        self._paid = np.zeros(players)
        self._game: Game | None = None
        self._ended = True

    @property
    def game(self) -> Game:
        """The match being played; a new object after each reset."""
        if self._game is None:
            raise ResetNeeded("the episode has not begun; allowed: reset()")
        return self._game

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._game is not None:
            self._match = self._game._match  # the same record, which a copy has torn from its game

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """The space of an agent's observations; the same object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """`Discrete(70)`; the same object at each call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode: from `seed`, the match of `Game(rules, seed)`; without one, the next of the stream that the last seed began.

        `options` may give `hands` by seat, `stock`, `dealer` and `scores`, which then replace those drawn; other keys are left alone.
        """
        if seed is not None or self._game is None:
            game = Game(self.rules, secrets.randbits(64) if seed is None else seed)
        else:
            game = seating.next_game(self.rules, self._game)
        self._game = seating.lay_out(game, options)
        self._match = self._game._match
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._inform()
        self._ended = self._rewarded = False
        self._skip_agent_selection = None
        self.agent_selection = self.possible_agents[self._first_seat()]
        self._show()

    def _first_seat(self) -> int:
        seat = self.game.seat
        assert seat is not None
        return seat

    def step(self, action: int | None) -> None:
        """Take the action of `agent_selection`; None once the episode has ended. Raises IllegalAction and changes nothing."""
        if self._ended:
            if not self.agents:
                raise ResetNeeded("step: no episode is going on; allowed: reset()")
            self._was_dead_step(action)
            return
        number = action_number(action)  # type: ignore[arg-type]
        turn = seated.take(self._match, 0, number)
        if turn == seated.ILLEGAL:
            raise self.game._refusal(number)
        self._cumulative_rewards[self.agent_selection] = 0.0
        if self._rewarded:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._rewarded = False
        if turn >= 0:
            self.agent_selection = self.possible_agents[turn]
        else:
            self._close_deal()
        if self.render_mode == "human":
            self._show()

    def _close_deal(self) -> None:
        """Pay for the deal that has ended, then deal again or end the episode."""
        game = self.game
        seated.pay_deal(self._match, 0, self._options, self._paid)
        self._pay(self._paid.tolist())
        if not self._whole_match or game.over:
            self._end(self.terminations)
        elif game.deals_played >= self._max_deals:
            self._end(self.truncations)
        else:
            game.next_deal()
            self.agent_selection = self.possible_agents[self._first_seat()]
        self._inform()

    def _pay(self, by_seat: list[float]) -> None:
        self.rewards = dict(zip(self.agents, by_seat, strict=True))
        self._rewarded = True
        self._accumulate_rewards()

    def _end(self, how: dict[str, bool]) -> None:
        """End the episode for everybody at once."""
        how.update(dict.fromkeys(self.agents, True))
        self._ended = True
        self.agent_selection = self.agents[0]

    def _inform(self, offender: str | None = None) -> None:
        """New `infos`; those handed out before stay as they are."""
        points, scores, sides = self.game.points, self.game.scores, self.rules.sides
        self.infos = {
            agent: {
                "deals_played": self.game.deals_played,
                "points": points[seat % sides] if points else 0,
                "score": scores[seat % sides],
                "illegal": int(agent == offender),
            }
            for agent, seat in self._seats.items()
        }

    def forfeit(self) -> None:
        """End the episode as an illegal action of `agent_selection` does in `env()`: everybody terminates; its side loses the penalty,
        every other side gets that divided by (sides − 1). The penalty is 1 with "win"; else, for every deal that the episode could still
        have, 2 × the maximum bid with "margin", the maximum bid with "score". The match stays as it is."""
        if self._ended:
            raise ResetNeeded("forfeit: no episode is going on; allowed: reset()")
        offender, sides = self.agent_selection, self.rules.sides
        side = self._seats[offender] % sides
        self._cumulative_rewards[offender] = 0.0
        left = self._max_deals - self.game.deals_played if self._whole_match else 1
        price = seating.penalty(self.rules, self._reward, left)
        self._pay([-price if seat % sides == side else price / (sides - 1) for seat in self._seats.values()])
        self._end(self.terminations)
        self._inform(offender)

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, terminated, truncated and info of `agent_selection`."""
        if self._game is None:
            raise ResetNeeded("last: the episode has not begun; allowed: reset()")
        agent = self.agent_selection
        seen = self.observe(agent) if observe else None
        return seen, self._cumulative_rewards[agent], self.terminations[agent], self.truncations[agent], self.infos[agent]

    def observe(self, agent: str) -> Observation:
        """What an agent sees now, in new arrays; works for every agent at every moment, the end included."""
        observation, mask = np.empty(self._size, np.float32), np.empty(ACTIONS, np.int8)
        try:
            match, seat = self._match, self._seats[agent]
        except (AttributeError, KeyError, TypeError):
            self.game  # noqa: B018 (raises before the first reset)
            check_keys([agent], self.possible_agents, InputError, "agent")
            raise
        seated.look(match, 0, seat, self._scratch, self._at, observation, mask)
        if self._ended:
            mask[:] = 0  # after an illegal action the match itself could go on
        return {"observation": observation, "action_mask": mask}

    def state(self) -> np.ndarray:
        """The full state, float32 (S,), a new array: what seat 0 sees, then all hands and cards put away by seat, and the stock."""
        return self.game.state()

    def render(self) -> str | None:  # type: ignore[override]
        """The whole table as text: returned ("ansi") or printed ("human")."""
        if self.render_mode is None:
            gymnasium.logger.warn('render: no render_mode was chosen; env(render_mode="ansi" | "human")')
            return None
        from pitchenv.render import table_text

        text = table_text(self.game)
        if self.render_mode == "ansi":
            return text
        print(text, flush=True)
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Nothing is held open."""

"""What the decisions of a recorded match were worth: with all hands open, by exact solution, and in the eyes of an agent.

Costs are points of the deal's margin for the side that acts: its best action's value less that of the action it took, 0 for a best one.
Open hands know what the seat could not, so that they say what a choice has cost as the cards lay; good players pay some of that too. The
solver sees the tricks only. Players that search also count what a match is worth to them that the deal decides (`agents.search.objective`);
the solver does not. With more than two sides it has the pitcher's side play against all the others together, and a card of one of
those is worth what it takes from the pitcher.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents import AgentError
from agents.learned import inputs_for
from pitchenv import Batch, Game, Rules
from pitchenv.actions import ACTIONS, action_name, action_number
from pitchenv.cards import CARDS
from pitchenv.engine.state import MATCH, PLAY
from training.players import Player

SAME: Final = 1e-6  # values that differ by less are equal
OpenHands = Callable[
    [np.ndarray], NDArray[np.float64]
]  # MATCH (n,), in the tricks: (n, 54) margins of the pitcher's side, nan where not legal


@dataclass
class Decision:
    """A choice that a seat had, with more than one legal action."""

    turn: int  # which action of the deal, from 1
    seat: int
    phase: str
    action: int  # that was taken
    solver_values: dict[int, float] | None = None  # by action, for the side that acts; None outside the tricks
    choice: int | None = None  # the agent's
    chances: dict[int, float] | None = None  # by action, the agent's probabilities, where it states them
    agent_values: dict[int, float] | None = None  # by action, the agent's expectations, where it has them

    @property
    def solver_best(self) -> list[int]:
        """The best actions with open hands."""
        values = self.solver_values or {}
        return [action for action, value in values.items() if value > max(values.values()) - SAME]

    @property
    def solver_cost(self) -> float | None:
        """What the action cost with open hands."""
        return _cost(self.solver_values, self.action)

    @property
    def agent_cost(self) -> float | None:
        """What the action cost by the agent's expectations."""
        return _cost(self.agent_values, self.action)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, actions by name."""
        plain: dict[str, Any] = {"turn": self.turn, "seat": self.seat, "phase": self.phase, "action": action_name(self.action)}
        if self.solver_values is not None:
            best = [action_name(a) for a in self.solver_best]
            plain["solver"] = {"best": best, "cost": self.solver_cost, "values": _named(self.solver_values)}
        if self.choice is not None:
            plain["agent"] = {
                "action": action_name(self.choice),
                "cost": self.agent_cost,
                "probabilities": _named(self.chances),
                "values": _named(self.agent_values),
            }
        return plain


@dataclass
class Deal:
    """The decisions of one deal, in order."""

    number: int  # in the match, from 1
    dealer: int
    pitcher: int | None = None
    bid: int | None = None
    points: list[int] | None = None  # by side; None when thrown in, or not finished
    decisions: list[Decision] = field(default_factory=list)


def _cost(values: dict[int, float] | None, action: int) -> float | None:
    if values is None or action not in values:
        return None
    cost = max(values.values()) - values[action]
    return cost if cost > SAME else 0.0


def _named(values: dict[int, float] | None) -> dict[str, float] | None:
    return None if values is None else {action_name(action): value for action, value in values.items()}


def analyse(
    record: dict[str, Any], rules: Rules, solve: OpenHands, agent: Player | None, only: int | None = None, number: int = 1
) -> list[Deal]:
    """The decisions of a record that replays on these rules, of all its deals or of number `only`. Raises AgentError.

    The agent's random numbers follow from the `number` of the match and that of the deal, whatever else is analysed.
    """
    deals, matches = _decisions(record, rules, only)
    decisions = [decision for deal in deals for decision in deal.decisions]
    if decisions:
        _solve(decisions, matches, rules, solve)
        if agent is not None:
            at = 0
            for deal in deals:
                ask(deal.decisions, matches[at : at + len(deal.decisions)], rules, agent, (number, deal.number))
                at += len(deal.decisions)
    return deals


def _decisions(record: dict[str, Any], rules: Rules, only: int | None) -> tuple[list[Deal], np.ndarray]:
    """The deals of a record replayed, and the match before each of their decisions, MATCH (n,)."""
    deals: list[Deal] = []
    states: list[np.ndarray] = []
    game: Game | None = None
    for number, played in enumerate(record["deals"], start=1):
        if game is None:
            game = Game.from_deal(rules, played["hands"], played["stock"], played["dealer"], record["start_scores"])
        else:
            game.next_deal(played["hands"], played["stock"])
        deal = Deal(number, game.dealer)
        for turn, text in enumerate(played["actions"], start=1):
            action = action_number(text)
            if only in (None, number) and len(game.legal_actions()) > 1:
                assert game.seat is not None
                deal.decisions.append(Decision(turn, game.seat, game.phase, action))
                states.append(game.deals[-1])
            game.apply(action)
        deal.pitcher, deal.bid, deal.points = game.pitcher, game.bid, game.points
        if only in (None, number):
            deals.append(deal)
    matches = np.zeros(len(states), MATCH)
    for i, state in enumerate(states):
        matches[i] = state
    return deals, matches


def _solve(decisions: list[Decision], matches: np.ndarray, rules: Rules, solve: OpenHands) -> None:
    public = matches["public"]
    rows = np.flatnonzero(public["phase"] == PLAY)
    if not len(rows):
        return
    own = public["turn"][rows] % rules.sides == public["pitcher"][rows] % rules.sides
    values = solve(matches[rows]) * np.where(own, 1, -1)[:, None]
    for i, of_cards in zip(rows, values, strict=True):
        decisions[i].solver_values = {card: float(of_cards[card]) for card in range(CARDS) if not np.isnan(of_cards[card])}


def ask(decisions: list[Decision], matches: np.ndarray, rules: Rules, agent: Player, seed: tuple[int, int]) -> None:
    """What the agent would have done in every place of a deal, and how it sees the actions."""
    if not decisions:
        return
    batch = Batch.from_matches([rules] * len(matches), matches)
    agent.reset(rules, len(matches), seed)
    views = batch.views()
    choices = agent.act(batch, np.arange(len(matches)), views)
    chances = _stated(agent, "probabilities", views, batch.mask, batch.seat)
    values = _stated(agent, "values", views, batch.mask, batch.seat)
    for i, decision in enumerate(decisions):
        decision.choice = int(choices[i])
        legal = np.flatnonzero(batch.mask[i]).tolist()
        if chances is not None:
            decision.chances = {action: float(chances[i, action]) for action in legal}
        if values is not None:
            decision.agent_values = {action: float(values[i, action]) for action in legal if not np.isnan(values[i, action])} or None


def _stated(agent: Player, what: str, views: np.ndarray, mask: np.ndarray, seat: np.ndarray) -> NDArray[np.floating[Any]] | None:
    """(n, 70) of a method that a player may have; None where it has not."""
    method = getattr(agent.policy, what, None)
    if method is None:
        return None
    try:
        found = np.asarray(method(inputs_for(agent.policy, views), mask, seat))
    except (Exception, SystemExit) as fault:
        raise AgentError(f"agent {agent.name!r}: {what} raised {' '.join(f'{type(fault).__name__}: {fault}'.split())}") from fault
    if found.shape != (len(mask), ACTIONS) or found.dtype.kind != "f":
        allowed = f"floats of shape {(len(mask), ACTIONS)}"
        raise AgentError(f"agent {agent.name!r}: {what} gave shape {found.shape} and dtype {found.dtype}; allowed: {allowed}")
    return found


def by_seat(decisions: list[Decision], players: int) -> list[dict[str, Any]]:
    """For each seat: its decisions, how many the solver and the agent had an opinion on, and what they cost in all."""
    sums = []
    for seat in range(players):
        own = [d for d in decisions if d.seat == seat]
        solver = [d.solver_cost for d in own if d.solver_cost is not None]
        agent = [d.agent_cost for d in own if d.agent_cost is not None]
        asked = [d for d in own if d.choice is not None]
        sums.append({
            "seat": seat, "decisions": len(own), "solved": len(solver), "solver_cost": sum(solver),
            "agent_agrees": sum(d.choice == d.action for d in asked) if asked else None,
            "agent_cost": sum(agent) if agent else None,
        })  # fmt: skip
    return sums

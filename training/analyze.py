"""`python -m training analyze RECORD`: what each decision of a recorded match was worth, in points."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

import agents
from pitchenv import Game, Rules
from pitchenv.actions import action_name
from pitchenv.checks import InputError
from pitchenv.records import read_records, replay, rules_text
from training.analysis import Deal, Decision, OpenHands, analyse, by_seat
from training.command_line import check_new_file, option_names, parse
from training.players import Player
from training.result_file import check_another, write_json


@dataclass(frozen=True)
class Arguments:
    """Say for each decision of recorded matches what the action taken and the best ones were worth: by the exact solution with all hands
    open (in the tricks), and by an agent. Costs are points of the deal's margin for the side that acts. Single legal actions are left out.

    Example: python -m training analyze games.jsonl --match 1 --deal 2 --agent pimc:worlds=30
    """

    record: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORD")]
    """A file of match records (JSON Lines), such as `match --records` writes."""

    match: int | None = None
    """Which match of the file, from 1; by default all."""

    deal: int | None = None
    """Which deal of the match, from 1; by default all."""

    agent: Annotated[str, tyro.conf.arg(metavar="AGENT")] = ""
    """An agent to ask what it would have done, and, where it says so, with what chance and what it expects of every action: random,
    heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N, search:RUN,worlds=N, or module:Class of your own."""

    json: Path | None = None
    """A file for all of it."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "analyze", option_names(Arguments, without=("record",))))


def run(arguments: Arguments) -> dict[str, Any]:
    """Analyse, print, write what was asked for, and return what `--json` writes. Raises InputError with one line."""
    for name, value in (("match", arguments.match), ("deal", arguments.deal)):
        if value is not None and value < 1:
            raise InputError(f"{name} = {value}: allowed: whole numbers from 1")
    if arguments.json:
        check_new_file("json", arguments.json)
        check_another("json", arguments.json, "the record", arguments.record)
    agent = Player(arguments.agent, agents.load(arguments.agent), 0) if arguments.agent else None
    matches = []
    chosen = _chosen(arguments)
    solve = open_hands()
    for number, record, game in chosen:
        deals = analyse(record, game.rules, solve, agent, arguments.deal, number)
        names = _names(record, game.rules)
        matches.append(_report(number, game.rules, names, deals))
        _show(number, game.rules, names, deals, arguments.agent)
    report: dict[str, Any] = {"record": str(arguments.record), "agent": arguments.agent or None, "matches": matches}
    if agent is not None and agent.illegal:
        report["illegal"] = agent.illegal
        print(f"illegal proposals of {agent.name}: {agent.illegal}, replaced by the first legal action")
    if arguments.json:
        write_json("json", arguments.json, report)
    return report


def open_hands() -> OpenHands:
    """The exact solver; imported when it is needed, since it compiles."""
    from agents.search.solver import Solver

    return Solver().cards


def _chosen(arguments: Arguments) -> list[tuple[int, dict[str, Any], Game]]:
    """(number, record, match as it ended) of the matches asked for. Raises RecordError for one that does not replay."""
    where = f"records file {str(arguments.record)!r}"
    found, last = [], 0
    for last, record in enumerate(read_records(arguments.record), start=1):
        if arguments.match in (None, last):
            found.append((last, record, replay(record, f"{where}, line {last}")))
    if not last:
        raise InputError(f"{where}: holds no match")
    if not found:
        raise InputError(f"match = {arguments.match}: {where} has {last}; allowed: 1 … {last}")
    for number, record, _ in found:
        if arguments.deal is not None and arguments.deal > (deals := len(record["deals"])):
            raise InputError(f"deal = {arguments.deal}: match {number} has {deals}; allowed: 1 … {deals}")
    return found


def _names(record: dict[str, Any], rules: Rules) -> list[str]:
    """The agents by seat, where the record has them."""
    names = record.get("agents")
    known = isinstance(names, list) and len(names) == rules.players and all(isinstance(name, str) for name in names)
    return list(names) if known and names else []


def _report(number: int, rules: Rules, names: list[str], deals: list[Deal]) -> dict[str, Any]:
    """What `--json` writes of a match."""
    every = [decision for deal in deals for decision in deal.decisions]
    return {
        "match": number,
        "rules": rules_text(rules),
        "agents": names or None,
        "deals": [
            {
                "deal": deal.number, "dealer": deal.dealer, "pitcher": deal.pitcher, "bid": deal.bid, "points": deal.points,
                "decisions": [decision.to_dict() for decision in deal.decisions], "by_seat": by_seat(deal.decisions, rules.players),
            }
            for deal in deals
        ],
        "by_seat": by_seat(every, rules.players),
    }  # fmt: skip


def _show(number: int, rules: Rules, names: list[str], deals: list[Deal], agent: str) -> None:
    """A table for each deal, and what each seat's decisions cost in all."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 200  # nothing is cut short in a file
    for deal in deals:
        bid = "" if deal.bid is None else f", seat {deal.pitcher} pitches for {deal.bid}"
        points = "" if deal.points is None else f", points by side {deal.points}"
        console.print(f"match {number}, deal {deal.number}: dealer seat {deal.dealer}{bid}{points}")
        table = Table("turn", "seat", *(["player"] if names else []), "phase", "action", "best, open hands", "cost", box=None)
        for column in ("agent's choice", "its chance of the action", "cost by it") if agent else ():
            table.add_column(column)
        for decision in deal.decisions:
            table.add_row(*_row(decision, names, bool(agent)))
        console.print(table)
    if rules.sides > 2:
        console.print("open hands: the pitcher's side against all the others together")
    for row in by_seat([decision for deal in deals for decision in deal.decisions], rules.players):
        name = f" ({names[row['seat']]})" if names else ""
        said = f"seat {row['seat']}{name}: {row['solver_cost']:.2f} points in {row['solved']} decisions of the tricks, with open hands"
        if agent:
            agreed = "" if row["agent_agrees"] is None else f"; {agent} agrees with {row['agent_agrees']} of {row['decisions']}"
            cost = "" if row["agent_cost"] is None else f", cost by it {row['agent_cost']:.2f}"
            said += agreed + cost
        console.print(said)


def _row(decision: Decision, names: list[str], asked: bool) -> list[str]:
    row = [str(decision.turn), str(decision.seat), *([names[decision.seat]] if names else []), decision.phase, action_name(decision.action)]
    row += [" ".join(map(action_name, decision.solver_best)), _points(decision.solver_cost)]
    if asked and decision.choice is not None:
        chance = "" if decision.chances is None else f"{decision.chances.get(decision.action, 0.0):.0%}"
        row += [action_name(decision.choice), chance, _points(decision.agent_cost)]
    return row


def _points(cost: float | None) -> str:
    return "" if cost is None else "0" if cost == 0 else f"{cost:.2f}"

"""`python -m training equity AGENT`: how likely a side is to win the match, from any score, between players of that kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console
from rich.table import Table

import agents
from pitchenv.checks import whole_number
from training.command_line import check_new_file, option_names, parse, rules_of
from training.equity_outcomes import deal_outcomes
from training.equity_table import EquityTable
from training.players import Player
from training.result_file import write_result

COLUMNS = 11  # of the printed table: at most so many scores of the others
MOST_DEALS = 10_000_000


@dataclass(frozen=True)
class Arguments:
    """Make a match-equity table: the probability that a side wins the match, from every score, by dynamic programming over how deals of
    self-play come out. Training takes it as the reward of a deal, so that bids depend on the score as they should.

    Example: python -m training equity heuristic --rules setback --out runs/setback-equity.npz
    """

    agent: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="AGENT")]
    """Who plays every seat: heuristic, a run folder, or any other agent spec."""

    out: Path
    """A file for the table."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set target=11 win=made_bid"""

    deals: int = 20_000
    """Deals to play, in whole matches."""

    seed: int = 1
    """Of the deals and of the agent's random numbers."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "equity", ["--set", *option_names(Arguments, without=("agent", "changes"))]))


def run(arguments: Arguments) -> EquityTable:
    """Make the table, print it, write it, and return it. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    deals = whole_number("deals", arguments.deals, 1, MOST_DEALS)
    check_new_file("out", arguments.out)
    player = Player(arguments.agent, agents.load(arguments.agent), 0)
    outcomes = deal_outcomes(player, rules, deals, arguments.seed)
    table = EquityTable.solve(rules, outcomes, agent=arguments.agent, seed=arguments.seed)
    show(Console(), table, float(outcomes.weight @ (outcomes.pitcher > 0)))
    write_result("out", arguments.out, table.to_bytes())
    return table


def show(console: Console, table: EquityTable, made: float) -> None:
    """Print the table by points needed: one side against the others, who all need the same."""
    rules, facts = table.rules, table.made_from
    thrown_in = facts["thrown_in"] / facts["deals"]
    console.print(f"{facts['deals']:,} deals, {thrown_in:.1%} thrown in; of the others the pitcher made {made:.1%}", highlight=False)
    how = "dynamic programming over all scores" if table.method == "exact" else "a race of sides that move independently"
    console.print(f"by {how}, {table.low} … {table.high}; returns are equity times {table.scale:.2f}", highlight=False)
    others = "the other side" if rules.sides == 2 else "each other side"
    title = f"Probability to win the match, per cent.\nRows: points that a side needs; columns: points that {others} needs"
    printed = Table(title=title, title_style="", title_justify="left", box=None, padding=(0, 0, 0, 1))
    printed.add_column("", justify="right")
    columns = np.unique(np.linspace(1, rules.target, min(COLUMNS, rules.target)).round().astype(int))
    for needed in columns:
        printed.add_column(str(needed), justify="right")
    for needed in range(1, rules.target + 1):
        scores = np.repeat(rules.target - columns[:, None], rules.sides, axis=1)
        scores[:, 0] = rules.target - needed
        printed.add_row(str(needed), *(f"{100 * p:.1f}" for p in table.equity(scores)[:, 0]))
    console.print(printed)
    if len(table.values) == 2 and table.method == "exact":
        even = np.full((1, 2), rules.target - 1)
        deals = 100 * table.equity(even, dealer=np.zeros(1, np.int64))[0, 0]
        console.print(f"Averaged over the dealer; where both need 1, the side that deals wins {deals:.1f} %.", highlight=False)

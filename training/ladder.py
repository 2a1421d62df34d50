"""`python -m training ladder AGENT AGENT … --out FOLDER`: everybody against everybody, on all cores, to be gone on with after any kill."""

import heapq
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

import agents
from pitchenv import Rules
from pitchenv.checks import InputError
from pitchenv.policies import Policy
from training.command_line import option_names, parse, rules_of
from training.ladder_play import AgentFault, Part, digest, play
from training.ladder_report import progress, show, write_tables
from training.ladder_results import Standings, standings
from training.ladder_store import Settings, Store
from training.parts import part_size
from training.workers import MOST as MOST_WORKERS
from training.workers import WorkerDied, check_backend, interrupted_by_sigterm, run_tasks

MOST_AGENTS: Final = 64
MOST_TABLES: Final = 10_000  # of as many agents as there are sides
MOST_DEALS: Final = 10_000_000


@dataclass(frozen=True)
class Arguments:
    """Play a full round robin, and say who is how strong: payoffs with intervals, ratings, and whether a rating tells the whole story.

    Every pair plays the same deals in duplicate, as `match` does. With more than two sides there are also tables of as many agents as there
    are sides. Each finished part is kept in the folder at once: the same command goes on after a kill, without playing anything again, and
    ends with the same tables; more deals or more agents in the same folder build on what is there.

    Example: python -m training ladder random heuristic runs/mine --rules smear --deals 5000 --out ladders/smear
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT AGENT …")]
    """Two or more, each once: random, heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N,
    search:RUN,worlds=N, or module:Class of your own (changes of its code go
    unnoticed: take another folder then)."""

    out: Path
    """The folder: a new one, or one to go on with. The results are table.json, table.csv, pairs.csv, table.md and heatmap.png."""

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    deals: int = 10_000
    """Deals of every pair, each played in every seating."""

    seed: int = 1
    """Of the deals and of the agents' random numbers. The same seed, the same deals, whoever plays."""

    workers: int = 0
    """Processes; 0: as many as there are cores."""

    backend: Literal["processes", "ray"] = "processes"
    """Where the workers are: processes of this machine, or a Ray cluster (extra [cluster]), one of this machine alone if none runs."""

    retry: bool = False
    """Let agents that dropped out play again, all their games anew."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    arguments = parse(Arguments, argv, "ladder", ["--set", *option_names(Arguments, without=("agents", "changes"))])
    with interrupted_by_sigterm():
        run(arguments)


def run(arguments: Arguments) -> Standings:
    """Play what is missing, write the tables, print and return the standings. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    policies = _check(arguments, rules)
    wanted = Settings(arguments.agents, tuple(map(digest, arguments.agents)), rules, arguments.deals, arguments.seed)
    with Store.open(arguments.out, wanted) as store:
        if arguments.retry:
            store.retry()
        console = Console()
        ladder = Ladder(store, policies, console)
        try:
            ladder.play(arguments.workers or None, arguments.backend)
        except KeyboardInterrupt:
            print(f"{len(ladder.margins)} parts are kept in {arguments.out}; the same command goes on", file=sys.stderr)
            raise
        found = ladder.standings()
        names = write_tables(store, found)
    show(console, store, found)
    print(f"written to {arguments.out}: {', '.join(names)}")
    return found


def _check(arguments: Arguments, rules: Rules) -> dict[str, Policy]:
    """The agents, loaded, and everything else that can be refused before the first deal."""
    specs = arguments.agents
    if not 2 <= len(specs) <= MOST_AGENTS:
        raise InputError(f"agents: {len(specs)} given; allowed: 2 … {MOST_AGENTS}")
    for spec in specs:
        if specs.count(spec) > 1:
            raise InputError(f"agents: {spec!r} is named {specs.count(spec)} times; allowed: each agent once")
    if rules.sides > 2 and (tables := comb(len(specs), rules.sides)) > MOST_TABLES:
        most = max(n for n in range(len(specs)) if comb(n, rules.sides) <= MOST_TABLES)
        raise InputError(f"agents: {len(specs)} given; allowed: at most {most}, as {tables} tables of {rules.sides} are too many")
    if not 2 <= arguments.deals <= MOST_DEALS:
        raise InputError(f"deals = {arguments.deals}: allowed: 2 … {MOST_DEALS}")
    if not 0 <= arguments.workers <= MOST_WORKERS:
        raise InputError(f"workers = {arguments.workers}: allowed: 0 (all cores), or 1 … {MOST_WORKERS}")
    check_backend(arguments.backend)
    return {spec: agents.load(spec) for spec in specs}


class Ladder:
    """The games of a ladder, and what they come to.

    An agent that fails or breaks the rules drops out, and all its games are void. So that who drops out, and for what, does not depend on
    the speed of workers, parts count as played in a fixed order: a fault takes effect once every part before it is done, and is none if
    another agent of its part has dropped out before.
    """

    def __init__(self, store: Store, policies: dict[str, Policy], console: Console) -> None:
        self.store, self.settings, self.policies, self.console = store, store.settings, policies, console
        self.margins: dict[Part, NDArray[np.float64]] = {}  # of what has been played, (pairs, deals)

    def play(self, workers: int | None, backend: str) -> None:
        """Play and keep all that is missing. Raises InputError."""
        for tables in (self.pairs, self.full_tables):
            while missing := self._missing(tables()):  # again after an agent has dropped out, as fewer may sit at other tables
                self._play(missing, workers, backend)

    def agents(self) -> list[int]:
        """Those that have not dropped out, by number."""
        return [number for number, spec in enumerate(self.settings.specs) if spec not in self.store.voided]

    def pairs(self) -> list[tuple[int, ...]]:
        """Who plays whom."""
        return list(combinations(self.agents(), 2))

    def full_tables(self) -> list[tuple[int, ...]]:
        """With more than two sides, every set of as many agents as there are sides, or all agents if they are fewer."""
        seated = min(len(self.agents()), self.settings.rules.sides)
        return list(combinations(self.agents(), seated)) if seated > 2 else []

    def parts(self, table: tuple[int, ...]) -> list[Part]:
        """All parts of a table, played or not."""
        settings = self.settings
        specs = tuple(settings.specs[number] for number in table)
        size = part_size([self.policies[spec] for spec in specs], settings.rules.sides)
        digests = tuple(settings.digests[number] for number in table)
        return [
            Part(table, specs, digests, settings.rules, settings.seed, part, min(size, settings.deals - at), size)
            for part, at in enumerate(range(0, settings.deals, size))
        ]

    def standings(self) -> Standings:
        """What it all comes to. Raises InputError if fewer than two agents are left."""
        left = self.agents()
        if len(left) < 2:
            out = "; ".join(f"{spec!r} {reason}" for spec, reason in self.store.voided.items())
            raise InputError(f"agents: {len(left)} left of {len(self.settings.specs)}: {out}; allowed: two or more that can play")
        place = {number: at for at, number in enumerate(left)}

        def of(table: tuple[int, ...]) -> NDArray[np.float64]:
            return np.concatenate([self.margins[part] for part in self.parts(table)], axis=1)

        pairs = {(place[i], place[j]): of((i, j))[0] for i, j in self.pairs()}
        tables = []
        for table in self.full_tables():
            below_first = of(table)[: len(table) - 1]  # the first agent over each other
            scores = np.concatenate([np.zeros((1, below_first.shape[1])), -below_first])
            tables.append((tuple(place[number] for number in table), scores))
        return standings([self.settings.specs[number] for number in left], pairs, tables)

    def _missing(self, tables: list[tuple[int, ...]]) -> list[Part]:
        """The parts that are neither in memory nor in the folder, the first deals first."""
        missing = []
        for part in [part for table in tables for part in self.parts(table) if part not in self.margins]:
            margins = self.store.read(part)
            if margins is None:
                missing.append(part)
            else:
                self.margins[part] = margins
        return sorted(missing, key=lambda part: (part.part * part.size, part.table))

    def _play(self, parts: list[Part], workers: int | None, backend: str) -> None:
        for name in self.store.damaged:
            self.console.print(f"{name}: damaged, played again", highlight=False, soft_wrap=True)
        self.store.damaged.clear()
        sent: list[int] = []
        under_way: set[int] = set()

        def coming() -> Iterator[Part]:
            for number, part in enumerate(parts):
                if not self.store.voided.keys() & set(part.specs):
                    sent.append(number)
                    under_way.add(number)
                    yield part

        faults: list[tuple[int, AgentFault]] = []
        with progress(self.console, len(parts), len(self.margins)) as advance:
            for index, result in run_tasks(play, coming(), workers=workers, backend=backend, apart=True):
                number = sent[index]
                under_way.discard(number)
                if isinstance(result, WorkerDied):
                    result = _culprit(parts[number], result, backend)
                if isinstance(result, AgentFault):
                    heapq.heappush(faults, (number, result))
                elif isinstance(result, BaseException):
                    raise result
                else:
                    self.store.write(parts[number], result)
                    self.margins[parts[number]] = result
                while faults and faults[0][0] < min(under_way, default=len(parts)):
                    number, fault = heapq.heappop(faults)
                    self._drop_out(parts[number], fault)
                advance()

    def _drop_out(self, part: Part, fault: AgentFault) -> None:
        if self.store.voided.keys() & set(part.specs):
            return
        others = ", ".join(spec for spec in part.specs if spec != fault.agent)
        self.store.void(fault.agent, f"{fault.reason} (against {others}, part {part.part})")
        self.console.print(f"agent {fault.agent!r}: {self.store.voided[fault.agent]}; its games are void", highlight=False, soft_wrap=True)


def _culprit(part: Part, died: WorkerDied, backend: str) -> AgentFault:
    """Whose fault it is that the processes that played a part died. Raises InputError, which ends the ladder for now, if nobody's.

    Each agent plays the part in a process of its own, from its place and with its random numbers, against agents that crash nothing.
    """
    for harmless in ("heuristic", "random"):
        for place, spec in enumerate(part.specs):
            alone = replace(
                part,
                specs=tuple(spec if at == place else harmless for at in range(len(part.specs))),
                digests=tuple(digest if at == place else None for at, digest in enumerate(part.digests)),
            )
            [(_, result)] = run_tasks(play, [alone], workers=1, backend=backend, apart=True)
            if isinstance(result, AgentFault):
                return result
            if isinstance(result, WorkerDied):
                return AgentFault(spec, f"killed its process: {str(result).partition(': ')[2]}")
    raise InputError(
        f"agents {', '.join(part.specs)}: the process that played their part {part.part} was killed twice ({died}), and none of them does "
        "that alone: out of memory, or together they crash it; what has been played is kept, and the same command goes on"
    )

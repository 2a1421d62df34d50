"""`python -m training play`: a person at the table against any agents, in the terminal."""

import contextlib
import io
import secrets
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.text import Text

import agents
from pitchenv import Batch, Game, Rules
from pitchenv.checks import InputError, whole_number
from pitchenv.records import FORMAT, match_record, read_records, write_records
from training.command_line import check_new_file, option_names, parse, rules_of
from training.parts import fresh_matches
from training.play_input import menu_of, understand
from training.play_screen import HELP, Screen
from training.players import Player

MOST: int = 10_000  # matches, or deals
PERSON = "person"  # their name in records


class Leave(Exception):
    """The person has left the table."""


@dataclass(frozen=True)
class Arguments:
    """Play against agents in the terminal: type cards and bids, `?` for a hint, `help` for more. You are shown what your seat may know and
    nothing else; the agents too. Single legal actions are taken for you.

    Example: python -m training play --rules smear --set widow=2 --opponents pimc:worlds=10 --record games.jsonl
    """

    rules: str = "auction-4-partners"
    """A game of the table, or a TOML file of house rules."""

    changes: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="FIELD=VALUE")] = ()
    """Fields of the rules to change, for example: --set widow=2 win=made_bid"""

    seat: int = 0
    """Where you sit, from 0."""

    opponents: Annotated[str, tyro.conf.arg(metavar="AGENT")] = "heuristic"
    """Who plays against you: random, heuristic, zoo:NAME, a run folder, sampled:RUN, pimc:worlds=N, ismcts:iterations=N,
    search:RUN,worlds=N, or module:Class of your own."""

    partners: Annotated[str | None, tyro.conf.arg(metavar="AGENT")] = None
    """Who plays on your side, where there are partners; heuristic if not given."""

    hint: Annotated[str | None, tyro.conf.arg(metavar="AGENT")] = None
    """Whom a hint asks; if not given, the agent that plays your partners, or without any your opponents."""

    hints: bool = False
    """A hint at each of your turns, without asking for it by `?`."""

    seed: int | None = None
    """Of the deals and of the agents' random numbers; by default another each time. The same seed, the same cards: those of
    `match --matches` too."""

    matches: int = 1
    """Matches to play."""

    deals: int | None = None
    """Leave after so many deals, thrown-in ones too, whether the match is over or not."""

    record: Path | None = None
    """A file for the match records (JSON Lines), which `analyze` reads: new, or of records, to which these are added."""


def main(argv: Sequence[str]) -> None:
    """Run the command. Raises InputError with one line on wrong input."""
    run(parse(Arguments, argv, "play", ["--set", *option_names(Arguments, without=("changes",))]))


def run(arguments: Arguments) -> list[dict[str, Any]]:
    """Play until the matches are over or the person leaves; returns the records of what was played. Raises InputError with one line."""
    rules = rules_of(arguments.rules, arguments.changes)
    _check(arguments, rules)
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 200  # nothing is broken in two in a file
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # what can't be read is wrong input like any other
    table = Table(arguments, rules, Screen(console, rules, arguments.seat))
    try:
        with _every_signal_interrupts():
            table.play()
    except (Leave, KeyboardInterrupt):
        table.keep()
        table.screen.say()
        table.screen.say("You leave the table.")
    except BaseException:
        table.keep()
        raise
    if arguments.record and table.records:
        deals = sum(len(record["deals"]) for record in table.records)
        table.screen.say(f"Recorded in {arguments.record}: {deals} deal{'s' * (deals != 1)}")
    elif arguments.record:
        table.screen.say("Nothing was played: nothing is recorded")
    for player in {*table.players.values(), table.adviser}:
        if player.illegal:
            table.screen.say(f"illegal proposals of {player.name}: {player.illegal}, replaced by the first legal action")
    return table.records


def _check(arguments: Arguments, rules: Rules) -> None:
    """Everything that can be refused before the agents are loaded."""
    whole_number("seat", arguments.seat, 0, rules.players - 1)
    if arguments.partners is not None and rules.sides == rules.players:
        raise InputError(f"partners = {arguments.partners!r}: everybody plays alone by these rules; allowed: without partners")
    whole_number("matches", arguments.matches, 1, MOST)
    if arguments.deals is not None:
        whole_number("deals", arguments.deals, 1, MOST)
    if arguments.record:
        check_new_file("record", arguments.record)
        if arguments.record.exists():
            if not arguments.record.is_file():
                raise InputError(f"record = {str(arguments.record)!r}: not a file; allowed: a new file, or one of match records")
            for number, record in enumerate(read_records(arguments.record), start=1):
                if record.get("format") != FORMAT:
                    raise InputError(f"record = {str(arguments.record)!r}: line {number} is no match record; allowed: format {FORMAT!r}")


class Table:
    """A person's seat, the players of the others, and the matches between them."""

    def __init__(self, arguments: Arguments, rules: Rules, screen: Screen) -> None:
        self.arguments, self.rules, self.screen, self.me = arguments, rules, screen, arguments.seat
        self.seed = secrets.randbelow(10**6) if arguments.seed is None else arguments.seed
        partners = arguments.partners or "heuristic"
        together = [seat for seat in range(rules.players) if seat != self.me and rules.side(seat) == rules.side(self.me)]
        opponents = Player(arguments.opponents, agents.load(arguments.opponents), 0)
        self.players = {seat: opponents for seat in range(rules.players) if seat != self.me}
        if together:
            self.players |= dict.fromkeys(together, Player(partners, agents.load(partners), 1))
        advice = arguments.hint or (partners if together else arguments.opponents)
        self.adviser = Player(advice, agents.load(advice), 2)  # a player of its own: to ask it changes nobody's dice
        self.records: list[dict[str, Any]] = []
        self._going_on: Game | None = None
        self._deals_left = arguments.deals
        for player in {*self.players.values(), self.adviser}:
            player.reset(rules, 1, (self.seed, 0))  # what can't play this game is refused before the first deal

    def play(self) -> None:
        """All matches. Raises Leave; AgentError."""
        self._welcome()
        for number in range(self.arguments.matches):
            for player in set(self.players.values()):
                player.reset(self.rules, 1, (self.seed, number))
            game = Game.from_record(self.rules, fresh_matches(self.rules, self.seed, number, 1)[0])
            self._going_on = game
            while True:
                self._deal(game, number)
                if self._deals_left is not None:
                    self._deals_left -= 1
                if game.over or self._deals_left == 0:
                    break
                game.next_deal()
            self.keep()
            if self._deals_left == 0:
                return

    def keep(self) -> None:
        """Put the match on the table, where anything was done in it, among the records, and in the file. Raises RecordError."""
        game = self._going_on
        if game is None:
            return
        deals = game.deals if game.actions else game.deals[:-1]
        if deals:
            names = [PERSON if seat == self.me else self.players[seat].name for seat in range(self.rules.players)]
            record = match_record(self.rules, deals, agents=names)
            if self.arguments.record:
                write_records(self.arguments.record, [record], append=True)
            self.records.append(record)
        self._going_on = None  # not before it is kept: the person may interrupt

    def _welcome(self) -> None:
        screen, rules = self.screen, self.rules
        others = {player: [screen.names[s] for s in self.players if self.players[s] is player] for player in set(self.players.values())}
        seats = "; ".join(f"{', '.join(names)}: {player.name}" for player, names in sorted(others.items(), key=lambda item: item[0].number))
        first = f"first to {rules.target}" if self.arguments.matches == 1 else f"{self.arguments.matches} matches, each to {rules.target}"
        screen.say(Text(f"{self.arguments.rules}{' with changes' if self.arguments.changes else ''}, {first}. Seed {self.seed}", "bold"))
        screen.say(f"You sit at seat {self.me}. {seats}.")
        screen.say("Type ? for a hint, help for more.")

    def _deal(self, game: Game, number: int) -> None:
        """One deal, to its end."""
        self.screen.begin(game.view(self.me))
        while game.phase != "ended":
            game.apply(self._ask(game, number) if game.seat == self.me else self._act(game))
            self.screen.show(game.view(self.me))

    def _act(self, game: Game) -> int:
        """What the player whose turn it is does."""
        legal = game.legal_actions()
        if len(legal) == 1:
            return legal[0]
        assert game.seat is not None
        batch = Batch.from_games([game])
        player = self.players[game.seat]
        slow = getattr(player.policy, "slow", False) and self.screen.console.is_terminal
        with self.screen.console.status(f"{self.screen.names[game.seat]} thinks") if slow else contextlib.nullcontext():
            return int(player.act(batch, np.zeros(1, np.intp), batch.views())[0])

    def _ask(self, game: Game, number: int) -> int:
        """What the person does. Raises Leave."""
        view, legal, screen = game.view(self.me), game.legal_actions(), self.screen
        if len(legal) == 1:
            screen.say("You: ", screen.action(legal[0]), ", the only choice", style="dim")
            return legal[0]
        menu = menu_of(legal, screen.hand(view))
        screen.turn(view, menu)
        if self.arguments.hints:
            self._hint(game, number)
        while True:
            typed = read_line(screen.prompt).strip()
            match typed.lower():
                case "quit" | "exit":
                    raise Leave
                case "?" | "hint":
                    self._hint(game, number)
                case "log" | "history":
                    screen.history(view)
                case "help":
                    screen.say(HELP)
                case "":
                    screen.turn(view, menu)
                case _:
                    try:
                        return understand(typed, menu, int(view["hand"]))
                    except InputError as fault:
                        screen.say(str(fault), style="red")

    def _hint(self, game: Game, number: int) -> None:
        """What the adviser would do, how likely it is to do what, and what it expects of it, where it says so."""
        from training.analysis import Decision, ask  # brings torch

        assert game.seat is not None
        decision = Decision(len(game.actions) + 1, game.seat, game.phase, action=-1)
        ask([decision], game._match, self.rules, self.adviser, (number, game.deals_played * 100 + len(game.actions)))
        self.screen.hint(self.adviser.name, decision)


def read_line(prompt: str) -> str:
    """What a person types. Raises Leave at the end of the input."""
    if sys.stdin is None:
        raise Leave
    try:
        if sys.stdin.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401 (lines can be edited)
            return input(prompt)
    except EOFError:
        raise Leave from None
    line = sys.stdin.readline()
    print(prompt + line.rstrip("\n"))  # a script reads like what a person saw
    if not line:
        raise Leave
    return line


@contextlib.contextmanager
def _every_signal_interrupts() -> Iterator[None]:
    """SIGTERM, and the terminal's closing, end what is within as Ctrl-C does, so that what was played is kept. For the main thread."""
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    before = {signum: signal.signal(signum, signal.default_int_handler) for name in names if (signum := getattr(signal, name, None))}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)

"""How things at the table are written: names, cards, and lines under each other."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pitchenv import Rules
from pitchenv.actions import action_name
from pitchenv.cards import CARD_NAMES, CARDS, SUIT_NAMES
from pitchenv.render import cards_by_suit
from training.play_input import SYMBOLS, Menu
from training.play_points import View

LABEL: Final = 10  # columns
STYLES: Final = ("green", "bright_red", "bright_red", "bold")  # of the suits


class Page:
    """What the lines about a table are made of, for who sits at `seat`. On a terminal in colour, with the suits as pictures; else plain."""

    def __init__(self, console: Console, rules: Rules, seat: int) -> None:
        self.console, self.rules, self.me = console, rules, seat
        self._pretty = console.is_terminal and console.encoding.startswith("utf")
        self._order = [(seat + i) % rules.players for i in range(rules.players)]  # clockwise from the left of the page
        partners = [s for s in self._order[1:] if s % rules.sides == seat % rules.sides]
        self.names = [f"Seat {s}" for s in range(rules.players)]
        for s in partners:
            self.names[s] = "Partner" if len(partners) == 1 else f"Part. {s}"
        self.names[seat] = "You"
        self.sides = [self._side_name(side) for side in range(rules.sides)]
        self.side_order = [(seat + i) % rules.sides for i in range(rules.sides)]  # the person's first

    # Names

    def _side_name(self, side: int) -> str:
        rules = self.rules
        if rules.sides == rules.players:
            return self.names[side]
        if side == rules.side(self.me):
            return "We"
        return "They" if rules.sides == 2 else "Seats " + "+".join(str(s) for s in range(side, rules.players, rules.sides))

    def card(self, card: int) -> Text:
        """A card: its name, or on a terminal its rank and suit in colour."""
        name = CARD_NAMES[card]
        if not self._pretty:
            return Text(name)
        return Text(name, "magenta") if card >= 52 else Text(name[0] + SYMBOLS[card // 13], STYLES[card // 13])

    def action(self, action: int) -> Text:
        """An action in the words it is typed in; a card as a card."""
        return self.card(action) if action < CARDS else Text(action_name(action))

    def suit(self, suit: int) -> Text:
        """A suit by name."""
        return Text(f"{SYMBOLS[suit]} {SUIT_NAMES[suit]}" if self._pretty else SUIT_NAMES[suit], STYLES[suit])

    # Lines

    def say(self, *parts: str | Text | tuple[str, str], style: str = "") -> None:
        """A line of its own."""
        self.console.print(Text.assemble(*parts, style=style))

    def line(self, label: str, *parts: str | Text) -> None:
        """A line behind a label, with what is too long below itself."""
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=LABEL - 1)
        grid.add_column()
        grid.add_row(Text(label, "dim"), Text.assemble(*parts))
        self.console.print(grid)

    def row(self, label: str | Text, label_width: int, cells: Iterable[str | Text], width: int) -> None:
        """A label and cells of a width, in columns."""
        text = Text.assemble(label)
        text.append(" " * (label_width - text.cell_len))
        for cell in cells:
            end = text.cell_len + width
            text.append(cell)
            text.append(" " * max(1, end - text.cell_len))
        text.rstrip()
        self.console.print(text)

    def by_seat(self, label: str, cells: Mapping[int, str | Text]) -> None:
        """A row with a column for each seat, yours first, then clockwise."""
        self.row(Text(label, "dim"), LABEL, [cells.get(seat, "") for seat in self._order], min(10, (80 - LABEL) // self.rules.players))

    def heads(self) -> None:
        """Who sits at each column."""
        self.by_seat("", {seat: Text(self.names[seat], "bold" if seat == self.me else "dim") for seat in self._order})

    def hand(self, view: View) -> list[int]:
        """The cards in hand as they lie: trump first, each suit from its highest card down."""
        return [card for suit in cards_by_suit(view["public"], int(view["hand"])) for card in suit]

    def cards(self, view: View, mask: int, menu: Menu | None = None) -> Text:
        """Cards by suit, those of the menu with their numbers."""
        numbers = {action: f"{number}:" for number, action in (menu or {}).items()}
        by_suit = [
            Text("  ").join(Text.assemble((numbers.get(card, ""), "dim"), self.card(card)) for card in suit)
            for suit in cards_by_suit(view["public"], mask)
        ]
        return Text("  |  ").join(by_suit)

    def by_side(self, label: str | Text, cells: Sequence[str | Text]) -> None:
        """A row with a column for each side, in `side_order`."""
        self.row(label, 13, cells, 8 if self.rules.sides > 4 else 11)

    def scores_text(self, view: View) -> str:
        """The scores of the match, and what it goes to."""
        return f"{self.each_side(view['public']['scores'].tolist())} of {self.rules.target}"

    def each_side(self, numbers: Sequence[int]) -> str:
        """A number for each side, by name."""
        return ", ".join(f"{self.sides[side]} {numbers[side]}" for side in self.side_order)

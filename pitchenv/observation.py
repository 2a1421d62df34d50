"""The observation vector's legend: named pieces over one flat float32 vector, from which sizes, slices and docs are derived.

Layout number 1. It depends on nothing but the number of seat slots: slot 0 is the seat that looks, slot 1 its left neighbour, absent
seats last. The kernel that writes the vector is `pitchenv.engine.encode`.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

import numpy as np

from pitchenv.cards import CARD_NAMES, CARDS, RANK_LETTERS, SUIT_LETTERS, SUIT_NAMES
from pitchenv.checks import InputError, shown, whole_number
from pitchenv.engine import encode as code
from pitchenv.engine import table
from pitchenv.engine.state import PHASES, SEATS, VIEW

LAYOUT_VERSION: Final = 1  # changes when learning results could

RULE_COLUMNS: Final = (
    *(f"players {n}" for n in range(2, 9)), *(f"sides {n}" for n in range(2, 9)), "lowest_rank / 13", "jokers / 2", "off_jack",
    "hand_size / 13", "widow / 13", "redraw / 13", "tricks / 13", "trump pitched", "keep_trump", "discards_count",
    "auction rounds", "min_bid / 10", *(f"dealer must bid {n}" for n in range(1, 11)),
    *(f"dealer steals {how}" for how in ("never", "below_max", "max_only", "any")), "thrown in: next dealer", "first lead trump",
    *(f"follow {how}" for how in ("suit_or_trump", "suit", "suit_may_trump")), "high_low pack", "low to winner", "trump_three",
    "game trump_ten", "joker_pips / 10", "target / 21", *(f"win {how}" for how in ("any", "highest", "pitcher", "made_bid")),
    "overshoot capped",
)  # fmt: skip
POINT_CARDS: Final = ("ace", "lowest", "jack", "off-jack", "high joker", "low joker", "three", "ten")


TRICK_COLUMNS: Final = (*SUIT_NAMES, *RANK_LETTERS, "HJ", "LJ")


@dataclass(frozen=True)
class Piece:
    """One named piece: `size` numbers, `rows` × `columns` (rows are seat or side slots, or one)."""

    name: str
    meaning: str
    columns: tuple[str, ...]
    rows: int = 1
    row_name: str = ""  # "seat" or "side"
    unit: float = 0.0  # an entry counts this many; 0: entries are flags

    @property
    def size(self) -> int:
        return self.rows * len(self.columns)

    @property
    def shape(self) -> tuple[int, ...]:
        """(rows, columns), without the ones of length 1."""
        return tuple(n for n in (self.rows, len(self.columns)) if n > 1) or (1,)


def _pieces(slots: int) -> tuple[Piece, ...]:
    def by_seat(name: str, meaning: str, columns: tuple[str, ...] = ("",), unit: float = 0.0) -> Piece:
        return Piece(name, meaning, columns, slots, "seat", unit)

    def by_side(name: str, meaning: str, columns: tuple[str, ...] = ("",), unit: float = 0.0) -> Piece:
        return Piece(name, meaning, columns, slots, "side", unit)

    levels = tuple(str(b) for b in range(1, 11))
    return (
        by_seat("to_act", "whose turn it is"),
        Piece("phase", "which phase the deal is in; all zero when it has ended", PHASES[:-1]),
        Piece("hand", "own hand", CARD_NAMES),
        Piece("put_away", "own cards put away in redraw and discard", CARD_NAMES),
        by_seat("played", "cards played, those on the table too", CARD_NAMES),
        by_seat("trick", "the card on the table: its printed suit and its rank, or which joker", TRICK_COLUMNS),
        by_seat("leader", "who led the trick on the table (play goes clockwise from there)"),
        by_seat("winning", "who is winning the trick on the table"),
        Piece("tricks_done", "tricks completed: that many ones", tuple(str(n) for n in range(1, 14))),
        Piece("trump", "the trump suit", SUIT_NAMES),
        Piece("trump_known", "trump is known", ("",)),
        by_seat("bids", "the levels this seat has bid", levels),
        by_seat("passed", "has passed"),
        Piece("standing_bid", "the standing bid", levels),
        by_seat("pitcher", "the pitcher; in the auction, who has the standing bid"),
        by_seat("dealer", "the dealer"),
        by_seat("redrawn", "cards exchanged in the redraw, in sixths", unit=code.EXCHANGE_UNIT),
        by_seat("discarded", "cards discarded down to the number of tricks, in sixths", unit=code.EXCHANGE_UNIT),
        by_seat("voids", "suits it is known to be out of, by what it has played and the follow rule", tuple(SUIT_LETTERS)),
        by_side("pips", "pips taken in tricks, of 80", unit=code.PIPS_UNIT),
        by_side("point_cards", "cards of trump taken in tricks", POINT_CARDS),
        by_side("high_so_far", "has played the highest trump played so far"),
        by_side("low_so_far", "has played (or taken, where Low goes to the winner) the lowest trump played so far"),
        by_side("points_needed", "needs at most so many points to reach the target", tuple(str(n) for n in range(code.NEEDED_COLUMNS))),
        by_side("score_needed", "points still needed, as a part of the target", unit=1.0),
        by_seat("present", "this slot has a player"),
        by_seat("partner", "plays for the same side as the seat that looks (slot 0 too)"),
        Piece("rules", "the rules", RULE_COLUMNS),
    )


@dataclass(frozen=True)
class Layout:
    """Where everything is in an observation for `slots` seats. Get one with `layout(slots)`."""

    slots: int
    version: int = LAYOUT_VERSION

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces in order."""
        pieces = _pieces(self.slots)
        assert tuple(piece.name for piece in pieces) == code.PIECES
        return pieces

    @cached_property
    def at(self) -> np.ndarray:
        """Where each piece begins, int64, one more than pieces: the last is `size`."""
        return np.cumsum([0] + [piece.size for piece in self.pieces])

    @cached_property
    def slices(self) -> dict[str, slice]:
        """The slice of each piece by name."""
        return {piece.name: slice(int(a), int(b)) for piece, a, b in zip(self.pieces, self.at, self.at[1:], strict=False)}

    @cached_property
    def size(self) -> int:
        """F: the length of an observation."""
        return int(self.at[-1])

    @property
    def hidden_size(self) -> int:
        """H: the length of the hidden rest: hands by slot, cards put away by slot, stock."""
        return (2 * self.slots + 1) * CARDS

    @property
    def state_size(self) -> int:
        """S = F + H: the full state is an observation followed by the hidden rest."""
        return self.size + self.hidden_size

    def piece(self, vector: np.ndarray, name: str) -> np.ndarray:
        """One piece of a vector (…, F), in its own shape: (…, *shape)."""
        shape = next(piece.shape for piece in self.pieces if piece.name == name)
        return vector[..., self.slices[name]].reshape(*vector.shape[:-1], *shape)

    def table(self) -> str:
        """The legend as a Markdown table."""
        lines = ["| entries | piece | shape | meaning |", "| --- | --- | --- | --- |"]
        for piece in self.pieces:
            where = self.slices[piece.name]
            rows = f"{piece.row_name} × " if piece.row_name and len(piece.columns) > 1 else piece.row_name
            shape = f"{rows}{len(piece.columns)}" if not piece.row_name or len(piece.columns) > 1 else rows
            lines.append(f"| {where.start} … {where.stop - 1} | `{piece.name}` | {shape} | {piece.meaning} |")
        return "\n".join(lines)

    def describe(self, vector: np.ndarray) -> str:
        """A vector (F,) in words: a line a piece that has something in it. Seats and sides are relative: 0 is one's own."""
        if vector.shape != (self.size,):
            raise InputError(f"vector of shape {vector.shape}: not an observation for {self.slots} slots; allowed: ({self.size},)")
        lines = []
        for piece in self.pieces:
            block = vector[self.slices[piece.name]].reshape(piece.rows, len(piece.columns))
            rows = [_row_in_words(piece, row) for row in block]
            said = [f"{piece.row_name} {i}: {row}".replace(": yes", "") if piece.row_name else row for i, row in enumerate(rows) if row]
            if said:
                lines.append(f"{piece.name}: {'; '.join(said)}")
        return "\n".join(lines)


def _row_in_words(piece: Piece, row: np.ndarray) -> str:
    words = []
    for column, value in zip(piece.columns, row, strict=True):
        if value:
            number = f"{value * piece.unit:.4g}" if piece.unit else "" if value == 1 and " / " not in column else f"{value:.3g}"
            words.append(" ".join(w for w in (column, number) if w) or "yes")
    return " ".join(words) if piece.name != "rules" else ", ".join(words)


_layout = cache(Layout)


def layout(slots: int, players: int = 2) -> Layout:
    """The layout for a number of seat slots, `players` … 8; always the same object for a number. Raises InputError."""
    return _layout(whole_number("slots", slots, players, SEATS))


def observe(views: np.ndarray, slots: int) -> np.ndarray:
    """The observations float32 (N, F) of an array of `VIEW` (N,), in the layout for `slots` seats, as many as players or more; zeros for
    empty records, as `Batch.views` gives where an episode has ended.

    Raises InputError.
    """
    if not isinstance(views, np.ndarray) or views.dtype != VIEW or views.ndim != 1:
        raise InputError(f"views = {shown(views)}: allowed: an array (N,) of VIEW records")
    legend = layout(slots, max(2, int(views["public"]["rules"]["players"].max(initial=0))))
    observation = np.empty((len(views), legend.size), np.float32)
    table.observe_all(views, legend.at, observation)
    return observation

"""What trump does to the cards: which suit each belongs to, and what beats what. Tables, made once from the rulebook's words."""

from typing import Any, Final

import numpy as np

from pitchenv.cards import ACE, CARDS, HIGH_JOKER, JACK, LOW_JOKER, SUITS, mask_of, number, same_colour
from pitchenv.engine.kernel import kernel

NO_SUIT: Final = -1


def _belongs_to(card: int, trump: int, off_jack: bool) -> int:
    if card in (HIGH_JOKER, LOW_JOKER):
        return trump  # NO_SUIT while trump is not known
    if off_jack and trump != NO_SUIT and card == number(JACK, same_colour(trump)):
        return trump
    return card // 13


def _trump_order(trump: int) -> list[int]:
    """Low to high; the off-jack stands in it also where it is not in use, since then it never comes up as a trump."""
    tens_down = [number(rank, trump) for rank in range(2, JACK)]
    jacks = [LOW_JOKER, HIGH_JOKER, number(JACK, same_colour(trump)), number(JACK, trump)]
    return tens_down + jacks + [number(rank, trump) for rank in range(JACK + 1, ACE + 1)]


# A row of each table for both values of `off_jack` and, within them, trump NO_SUIT (not known yet) to spades.
_ROWS = [(off_jack, trump) for off_jack in (False, True) for trump in range(-1, SUITS)]
SUIT_OF = np.array([[_belongs_to(c, trump, oj) for c in range(CARDS)] for oj, trump in _ROWS], np.int8)
SUIT_CARDS = np.array([[mask_of(c for c in range(CARDS) if row[c] == s) for s in range(SUITS)] for row in SUIT_OF], np.int64)

TRUMP_BASE: Final = 32  # a trump is stronger than any other card
STRENGTH = np.array(
    [
        [TRUMP_BASE + _trump_order(trump).index(c) if trump != NO_SUIT and SUIT_OF[i][c] == trump else c % 13 for c in range(CARDS)]
        for i, (_, trump) in enumerate(_ROWS)
    ],
    np.int8,
)


@kernel
def row(off_jack: int, trump: int) -> int:
    """Which row of the tables holds."""
    return off_jack * 5 + trump + 1


@kernel
def suit_of(off_jack: int, trump: int, card: int) -> int:
    """The suit a card belongs to; NO_SUIT for a joker while trump is not known."""
    return SUIT_OF[row(off_jack, trump), card]


@kernel
def suit_cards(off_jack: int, trump: int, suit: int) -> int:
    """The mask of the cards that belong to a suit, jokers and off-jack with trump."""
    return SUIT_CARDS[row(off_jack, trump), suit]


@kernel
def strength(off_jack: int, trump: int, card: int) -> int:
    """Rank within its suit, trumps above all: comparable between trumps, and between cards of the suit led."""
    return STRENGTH[row(off_jack, trump), card]


@kernel
def pack_cards(r: Any) -> int:
    """The mask of the cards that are in use by packed rules."""
    ranks = (1 << 13) - (1 << (r.lowest_rank - 2))
    cards = ((1 << r.jokers) - 1) << HIGH_JOKER
    for suit in range(SUITS):
        cards |= ranks << (13 * suit)
    return cards

"""Cards as numbers, names and bit masks.

A card is `suit * 13 + (rank - 2)` for the 52 plain cards (suits clubs, diamonds, hearts, spades; ranks 2 to 14, the ace
high), 52 the high joker and 53 the low joker. A set of cards is a mask: an integer with bit `card` set. Fifty-four bits
fit a signed 64-bit integer, which Numba mixes with ordinary integers without surprises (unsigned ones turn into floats).
"""

import operator
from collections.abc import Iterable
from typing import Final, SupportsIndex

from pitchenv.checks import InputError, shown

CARDS: Final = 54
SUITS: Final = 4
CLUBS, DIAMONDS, HEARTS, SPADES = range(SUITS)
HIGH_JOKER: Final = 52
LOW_JOKER: Final = 53
JACK, QUEEN, KING, ACE = 11, 12, 13, 14

RANK_LETTERS: Final = "23456789TJQKA"
SUIT_LETTERS: Final = "CDHS"
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")
CARD_NAMES: Final = tuple(rank + suit for suit in SUIT_LETTERS for rank in RANK_LETTERS) + ("HJ", "LJ")
_NUMBERS: Final = {name: number for number, name in enumerate(CARD_NAMES)}


def card(card: SupportsIndex | str) -> int:
    """A card as a number, from a name or a number: `"TD"` is 21. Raises InputError for anything else."""
    if isinstance(card, str):
        if card in _NUMBERS:
            return _NUMBERS[card]
        raise InputError(f"card {shown(card)}: not a card; ranks are {RANK_LETTERS}, suits {SUIT_LETTERS}, jokers HJ and LJ")
    try:
        number_ = -1 if isinstance(card, bool) else operator.index(card)
    except TypeError:
        number_ = -1
    if not 0 <= number_ < CARDS:
        raise InputError(f"card {shown(card)}: not a card; a whole number from 0 to {CARDS - 1} or a name such as AS")
    return number_


def number(rank: int, suit: int) -> int:
    """The card of `rank` (2 … 14) in `suit` (0 … 3)."""
    return suit * 13 + rank - 2


def same_colour(suit: int) -> int:
    """The other suit of the same colour: clubs with spades, diamonds with hearts."""
    return 3 - suit


def mask_of(cards: Iterable[int]) -> int:
    """The mask of some card numbers."""
    mask = 0
    for number_ in cards:
        mask |= 1 << number_
    return mask


def cards_in(mask: int) -> list[int]:
    """The card numbers of a mask, ascending."""
    return [number_ for number_ in range(CARDS) if mask >> number_ & 1]


def pack(lowest_rank: int, jokers: int) -> list[int]:
    """The cards in use, ascending: four suits from `lowest_rank` to ace, then the jokers, the high one first."""
    plain = [number(rank, suit) for suit in range(SUITS) for rank in range(lowest_rank, ACE + 1)]
    return plain + [HIGH_JOKER, LOW_JOKER][:jokers]

"""The action space: one `Discrete(70)` for every game of the family, and its text.

0 … 53 a card (played in the tricks, put away in redraw and discard), 54 pass, 55 … 64 bid 1 … 10, 65 … 68 name trump,
69 done. A set of actions is two masks, since seventy bits exceed one integer: the cards, and the *calls* (bit k is action 54 + k).
"""

import operator
from typing import Final, SupportsIndex

from pitchenv.cards import CARD_NAMES, CARDS, SUIT_LETTERS
from pitchenv.checks import InputError, shown

ACTIONS: Final = 70
PASS: Final = 54
BID_0: Final = 54  # "bid b" is BID_0 + b, for b from 1
MAX_BID: Final = 10
TRUMP_0: Final = 65  # naming suit s is TRUMP_0 + s
DONE: Final = 69

ACTION_NAMES: Final = (
    CARD_NAMES + ("pass",) + tuple(f"bid {b}" for b in range(1, MAX_BID + 1)) + tuple(f"trump {s}" for s in SUIT_LETTERS) + ("done",)
)
_NUMBERS: Final = {name: number for number, name in enumerate(ACTION_NAMES)}
assert len(ACTION_NAMES) == ACTIONS
assert ACTION_NAMES.index("pass") == CARDS


class IllegalAction(InputError):
    """An action that the rules do not allow now, or that is no action at all. The match is unchanged."""


def action_name(action: int) -> str:
    """The text of an action number."""
    return ACTION_NAMES[action]


def action_number(action: SupportsIndex | str) -> int:
    """An action as a number, from a number or a text. Raises IllegalAction when it is neither."""
    if isinstance(action, str):
        if action in _NUMBERS:
            return _NUMBERS[action]
        allowed = f"a card such as AS, pass, bid 1 … bid {MAX_BID}, trump C|D|H|S, or done"
        raise IllegalAction(f"action {shown(action)}: not an action; {allowed}")
    try:
        number = -1 if isinstance(action, bool) else operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < ACTIONS:
        raise IllegalAction(f"action {shown(action)}: not an action; a whole number from 0 to {ACTIONS - 1} or its text")
    return number

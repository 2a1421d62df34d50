"""What a person types, as an action: names as `Game.apply` takes them, short forms that can mean one thing only, numbers of the menu."""

from collections.abc import Mapping, Sequence
from typing import Final

from pitchenv.actions import ACTION_NAMES, BID_0, DONE, PASS, TRUMP_0, action_name
from pitchenv.cards import CARDS, SUIT_LETTERS, SUIT_NAMES
from pitchenv.checks import InputError, shown

SYMBOLS: Final = "♣♦♥♠"  # of the suits, in order

Menu = Mapping[str, int]  # the number that is shown beside an action, and the action


def menu_of(legal: Sequence[int], in_order: Sequence[int]) -> dict[str, int]:
    """Numbers for legal actions: a bid's is its level, those of pass and done 0, all others count from 1, cards as they lie `in_order`."""
    counted = [card for card in in_order if card in legal] + [a for a in legal if TRUMP_0 <= a < DONE]
    calls = {"0" if a == DONE else str(a - BID_0): a for a in legal if PASS <= a < TRUMP_0 or a == DONE}
    return {str(n): action for n, action in enumerate(counted, start=1)} | calls


def forms(action: int) -> set[str]:
    """All that a person may type in full for an action, in small letters and without spaces."""
    name = action_name(action).lower().replace(" ", "")
    if action >= CARDS:
        if TRUMP_0 <= action < DONE:
            suit = action - TRUMP_0
            return {name, SUIT_NAMES[suit], SYMBOLS[suit], SUIT_LETTERS[suit].lower()}
        return {name, f"b{action - BID_0}"} if PASS < action < TRUMP_0 else {name}
    if action >= 52:
        return {name, f"{'high' if name == 'hj' else 'low'}joker"}
    rank = "10" if name[0] == "t" else name[0]
    return {name, rank + name[1], name[0] + SYMBOLS[action // 13], rank + SYMBOLS[action // 13]}


def understand(text: str, menu: Menu, hand: int) -> int:
    """The action of the menu that a text means, for who holds `hand`. Raises InputError: one line, with what is allowed."""
    typed = "".join(text.lower().split())
    allowed = ", ".join(action_name(action) for action in menu.values())
    if typed.isdecimal():
        if typed in menu:
            return menu[typed]
        cards = "; a card needs its suit too, such as 9C" if any(action < CARDS for action in menu.values()) else ""
        raise InputError(f"{shown(text)}: no number that can be chosen now{cards}; allowed: {allowed}")
    for action in menu.values():
        if typed in forms(action):
            return action
    meant = [action for action in menu.values() if typed and _short_for(typed, action)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise InputError(f"{shown(text)}: may mean {' or '.join(map(action_name, meant))}; type one of them")
    names = (typed in forms(a) if a < CARDS else typed == name.lower().replace(" ", "") for a, name in enumerate(ACTION_NAMES))
    named = next((a for a, same in enumerate(names) if same), None)
    if named is None:
        raise InputError(f"{shown(text)}: not understood; allowed: {allowed} (or help)")
    why = "is not in your hand" if named < CARDS and not hand >> named & 1 else "is against the rules now"
    raise InputError(f"{action_name(named)} {why}; allowed: {allowed}")


def _short_for(typed: str, action: int) -> bool:
    """Whether a text is a beginning of what stands for an action, or names a card's suit."""
    if any(form.startswith(typed) for form in forms(action)):
        return True
    if action >= 52:
        return False
    return SUIT_NAMES[action // 13].startswith(typed) or typed == SYMBOLS[action // 13]

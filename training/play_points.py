"""Who won which point of a deal, told from what one seat knows: the cards are on the table, and the points are public."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pitchenv.cards import ACE, HIGH_JOKER, JACK, LOW_JOKER, number, same_colour
from pitchenv.engine.points import LOW_TO_WINNER, PACK, TRUMP_TEN, extreme_trumps, holder, pips, taker
from pitchenv.engine.state import NOBODY

View = Any  # a `VIEW` record; NumPy's types say nothing of its fields


@dataclass(frozen=True)
class Point:
    """One of the points that a deal is played for."""

    name: str
    card: int | None  # that it stands for; None for Game by pips, and for a High or Low that nobody has
    worth: int
    side: int | None  # who won it; None: nobody


def points_of(view: View) -> list[Point]:
    """The points of a deal that has ended and was not thrown in, in the rulebook's order; by side they add up to `public.points`.

    All but Game follow from the cards played. Game by pips may hang on cards that the pitcher put away, which only he knows, so that it is
    told from the points, which everybody does.
    """
    public = view["public"]
    rules, trump = public["rules"], int(public["trump"])
    high, low = (_or_none(card) for card in extreme_trumps(view))
    if rules["high_low"] == PACK:
        ace, lowest = number(ACE, trump), number(int(rules["lowest_rank"]), trump)
        high, low = (card if _side(holder, view, card) is not None else None for card in (ace, lowest))
    low_side = _side(taker if rules["low_to"] == LOW_TO_WINNER else holder, view, low)
    points = [Point("High", high, 1, _side(holder, view, high)), Point("Low", low, 1, low_side)]
    cards = [("Jack", number(JACK, trump), 1)]
    cards += [("Off-jack", number(JACK, same_colour(trump)), 1)] * bool(rules["off_jack"])
    cards += [("High joker", HIGH_JOKER, 1), ("Low joker", LOW_JOKER, 1)][: int(rules["jokers"])]
    cards += [("Three", number(3, trump), 3)] * bool(rules["trump_three"])
    cards += [("Game", number(10, trump), 1)] * bool(rules["game"] == TRUMP_TEN)
    points += [Point(name, card, worth, _side(taker, view, card)) for name, card, worth in cards]
    if rules["game"] != TRUMP_TEN:
        sides = range(int(rules["sides"]))
        rest = [int(public["points"][side]) - sum(p.worth for p in points if p.side == side) for side in sides]
        points.append(Point("Game", None, 1, next((side for side in sides if rest[side]), None)))
    return points


def pips_of(view: View) -> list[int]:
    """The pips of what each side has taken in tricks, with those of the seat's own cards put away where they count for Game."""
    public = view["public"]
    rules, seat = public["rules"], int(view["seat"])
    totals = [int(pips(int(cards), int(rules["joker_pips"]))) for cards in public["taken"][: rules["sides"]]]
    if rules["discards_count"] and public["pitcher"] == seat:
        totals[seat % int(rules["sides"])] += int(pips(int(view["put_away"]), int(rules["joker_pips"])))
    return totals


def _side(of: Callable[[View, int], int], view: View, card: int | None) -> int | None:
    """The side that has taken or played a card, as `of` says."""
    return None if card is None else _or_none(of(view, card))


def _or_none(found: int) -> int | None:
    return None if found == NOBODY else int(found)

"""Who won which point of a deal, told from what one seat knows: the cards are on the table, and the points are public."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pitchenv.cards import ACE, HIGH_JOKER, JACK, LOW_JOKER, cards_in, number, same_colour
from pitchenv.engine.points import LOW_TO_WINNER, PACK, TRUMP_TEN, pips
from pitchenv.engine.suits import STRENGTH, SUIT_OF, row

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
    of_rules = row(int(rules["off_jack"]), trump)
    played = int(np.bitwise_or.reduce(public["played"]))
    trumps = sorted((c for c in cards_in(played) if SUIT_OF[of_rules][c] == trump), key=lambda c: int(STRENGTH[of_rules][c]))
    high, low = (trumps[-1], trumps[0]) if trumps else (None, None)
    if rules["high_low"] == PACK:
        ace, lowest = number(ACE, trump), number(int(rules["lowest_rank"]), trump)
        high, low = ace if ace in trumps else None, lowest if lowest in trumps else None
    low_side = _taker(public, low) if rules["low_to"] == LOW_TO_WINNER else _holder(public, low)
    points = [Point("High", high, 1, _holder(public, high)), Point("Low", low, 1, low_side)]
    cards = [("Jack", number(JACK, trump), 1)]
    cards += [("Off-jack", number(JACK, same_colour(trump)), 1)] * bool(rules["off_jack"])
    cards += [("High joker", HIGH_JOKER, 1), ("Low joker", LOW_JOKER, 1)][: int(rules["jokers"])]
    cards += [("Three", number(3, trump), 3)] * bool(rules["trump_three"])
    cards += [("Game", number(10, trump), 1)] * bool(rules["game"] == TRUMP_TEN)
    points += [Point(name, card, worth, _taker(public, card)) for name, card, worth in cards]
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


def _taker(public: Any, card: int | None) -> int | None:
    """The side that took a card in a trick."""
    return None if card is None else next((s for s, cards in enumerate(public["taken"].tolist()) if cards >> card & 1), None)


def _holder(public: Any, card: int | None) -> int | None:
    """The side of the seat that played a card."""
    if card is None:
        return None
    return next((s % int(public["rules"]["sides"]) for s, cards in enumerate(public["played"].tolist()) if cards >> card & 1), None)

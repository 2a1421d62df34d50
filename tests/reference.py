"""The rulebook once more, slowly and literally: one match in plain Python, cards as names, no tricks.

The engine is checked against this. It shares no code with `pitchenv` and was written from the rulebook alone, in
the rulebook's order and words, so that a disagreement points at a sentence. Only attribute access to the fields of
`Rules` is asked of the rules object, so a `SimpleNamespace` does as well.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

RANKS = "23456789TJQKA"
SUITS = "CDHS"
JOKERS = ["HJ", "LJ"]
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
PIPS = {"A": 4, "K": 3, "Q": 2, "J": 1, "T": 10}

CARDS = [rank + suit for suit in SUITS for rank in RANKS] + JOKERS
ACTIONS = [
    *CARDS,
    "pass",
    *[f"bid {level}" for level in range(1, 11)],
    *[f"trump {suit}" for suit in SUITS],
    "done",
]
NUMBER = {text: number for number, text in enumerate(ACTIONS)}


def pack(rules: Any) -> list[str]:
    """The cards in use, in the order of their numbers."""
    ranks = RANKS[rules.lowest_rank - 2 :]
    return [rank + suit for suit in SUITS for rank in ranks] + JOKERS[: rules.jokers]


def maximum_bid(rules: Any) -> int:
    return 4 + (1 if rules.off_jack else 0) + rules.jokers + (3 if rules.trump_three else 0)


@cache
def trump_order(trump: str, off_jack: bool) -> list[str]:
    """All that belongs to the trump suit, high to low."""
    off = ["J" + SAME_COLOUR[trump]] if off_jack else []
    return [rank + trump for rank in "AKQJ"] + off + JOKERS + [rank + trump for rank in "T98765432"]


class ReferenceMatch:
    """One match. `hands` are by seat, `stock` is top first; later deals are handed in by `next_deal`."""

    def __init__(
        self,
        rules: Any,
        hands: Sequence[Sequence[str]],
        stock: Sequence[str],
        dealer: int,
        scores: Sequence[int] | None = None,
    ) -> None:
        self.rules = rules
        self.dealer = dealer
        self.scores = list(scores) if scores is not None else [0] * rules.sides
        self.deals_played = 0
        self.points: list[int] | None = None
        self.winner: int | None = None
        self.over = False
        self._deal(hands, stock)

    def next_deal(self, hands: Sequence[Sequence[str]], stock: Sequence[str]) -> None:
        assert self.phase == "ended"
        assert not self.over
        if self.points is not None or self.rules.thrown_in == "next_dealer":
            self.dealer = self._left_of(self.dealer)
        self._deal(hands, stock)

    def legal_actions(self) -> list[str]:
        if self.phase == "auction":
            return self._auction_actions()
        if self.phase == "trump":
            return [f"trump {suit}" for suit in SUITS]
        if self.phase == "redraw":
            may_discard = len(self.turn_discards) < self.rules.redraw
            return (self._discardable() if may_discard else []) + ["done"]
        if self.phase == "discard":
            return self._discardable()
        if self.phase == "play":
            return self._playable()
        return []

    def apply(self, action: str) -> None:
        assert action in self.legal_actions(), f"{action} is not legal in the {self.phase} of seat {self.seat}"
        if self.phase == "auction":
            self._apply_auction(action)
        elif self.phase == "trump":
            self.trump = action.removeprefix("trump ")
            self._start_redraw()
        elif self.phase == "redraw":
            self._apply_redraw(action)
        elif self.phase == "discard":
            self._put_away(action)
            self._next_discard(self.discard_turn)
        else:
            self._apply_card(action)

    # 1. Deal

    def _deal(self, hands: Sequence[Sequence[str]], stock: Sequence[str]) -> None:
        dealt = [card for hand in hands for card in hand] + list(stock)
        assert len(hands) == self.rules.players
        assert all(len(hand) == self.rules.hand_size for hand in hands)
        assert len(set(dealt)) == len(dealt)
        assert set(dealt) <= set(pack(self.rules))
        self.hands = [list(hand) for hand in hands]
        self.stock = list(stock)
        self.discards: list[list[str]] = [[] for _ in hands]
        self.turn_discards: list[str] = []
        self.passed: set[int] = set()
        self.bid: int | None = None
        self.pitcher: int | None = None
        self.trump: str | None = None
        self.holder: dict[str, int] = {}
        self.winner_of: dict[str, int] = {}
        self.trick: list[tuple[int, str]] = []
        self.phase = "auction"
        self.seat: int | None = self._left_of(self.dealer)

    def _left_of(self, seat: int) -> int:
        return (seat + 1) % self.rules.players

    def _seats_from(self, first: int) -> list[int]:
        return [(first + turn) % self.rules.players for turn in range(self.rules.players)]

    # 2. Auction

    def _auction_actions(self) -> list[str]:
        rules, maximum = self.rules, maximum_bid(self.rules)
        is_dealer = self.seat == self.dealer
        if self.bid is None and is_dealer and rules.dealer_must_bid:
            return [f"bid {level}" for level in sorted(rules.dealer_must_bid)]
        levels = [level for level in range(rules.min_bid, maximum + 1) if self.bid is None or level > self.bid]
        if is_dealer and self.bid is not None:
            at_maximum = self.bid == maximum
            steals = rules.dealer_steals
            if steals == "any" or (steals == "max_only" and at_maximum) or (steals == "below_max" and not at_maximum):
                levels = [self.bid, *levels]
        return ["pass"] + [f"bid {level}" for level in levels]

    def _apply_auction(self, action: str) -> None:
        seat = self.seat
        if action == "pass":
            self.passed.add(seat)
        else:
            self.bid, self.pitcher = int(action.removeprefix("bid ")), seat
        if not self._auction_is_over():
            self.seat = self._left_of(seat)
            while self.seat in self.passed:
                self.seat = self._left_of(self.seat)
        elif self.pitcher is None:
            self._end_deal(None)
        else:
            self._take_widow()

    def _auction_is_over(self) -> bool:
        """After the action of `self.seat`."""
        rules = self.rules
        if self.bid == maximum_bid(rules) and self.pitcher == self.seat:
            dealer_may_take_it = rules.dealer_steals in ("max_only", "any") and self.seat != self.dealer
            if not dealer_may_take_it:
                return True
        if rules.auction == "once":
            return self.seat == self.dealer
        if self.bid is None:
            return len(self.passed) == rules.players
        return len(self.passed) == rules.players - 1

    # 3. Widow, 4. Trump

    def _take_widow(self) -> None:
        self.hands[self.pitcher] += self._draw(self.rules.widow)
        self.seat = self.pitcher
        if self.rules.trump == "declared":
            self.phase = "trump"
        else:
            self._start_redraw()

    def _draw(self, number: int) -> list[str]:
        drawn, self.stock = self.stock[:number], self.stock[number:]
        return drawn

    def _is_trump(self, card: str) -> bool:
        return self.trump is not None and card in trump_order(self.trump, self.rules.off_jack)

    def _suit(self, card: str) -> str:
        """The suit a card belongs to, once trump is known."""
        return self.trump if self._is_trump(card) else card[1]

    # 5. Redraw

    def _start_redraw(self) -> None:
        self.seat = self.pitcher
        if self.rules.redraw > 0:
            self.phase = "redraw"
        else:
            self._start_discard()

    def _apply_redraw(self, action: str) -> None:
        if action != "done":
            self._put_away(action)
            self.turn_discards.append(action)
            return
        self.hands[self.seat] += self._draw(len(self.turn_discards))
        self.turn_discards = []
        self.seat = self._left_of(self.seat)
        if self.seat == self.pitcher:
            self._start_discard()

    # 6. Discard

    def _start_discard(self) -> None:
        self._next_discard(0)

    def _next_discard(self, turn: int) -> None:
        """The first seat, counted from the pitcher and from `turn` on, that holds too many cards."""
        self.phase = "discard"
        for later, seat in list(enumerate(self._seats_from(self.pitcher)))[turn:]:
            if len(self.hands[seat]) > self.rules.tricks:
                self.discard_turn, self.seat = later, seat
                return
        self._start_tricks()

    def _put_away(self, card: str) -> None:
        self.hands[self.seat].remove(card)
        self.discards[self.seat].append(card)

    def _discardable(self) -> list[str]:
        hand = self.hands[self.seat]
        if not self.rules.keep_trump:
            return list(hand)
        if self.trump is not None:
            trumps = [card for card in hand if self._is_trump(card)]
            return [card for card in hand if card not in trumps or len(trumps) > self.rules.tricks]
        discards = self.discards[self.seat]
        return [card for card in hand if self._open_suits([c for c in hand if c != card], [*discards, card])]

    def _open_suits(self, hand: Iterable[str], discards: Iterable[str]) -> list[str]:
        held, gone = [card[1] for card in hand], [card[1] for card in discards]
        return [suit for suit in SUITS if held.count(suit) >= 1 and (gone.count(suit) == 0 or held.count(suit) >= self.rules.tricks)]

    # 7. Tricks

    def _start_tricks(self) -> None:
        self.phase, self.seat = "play", self.pitcher
        self.holder = {card: seat for seat, hand in enumerate(self.hands) for card in hand}
        assert all(len(hand) == self.rules.tricks for hand in self.hands)

    def _playable(self) -> list[str]:
        rules, hand = self.rules, self.hands[self.seat]
        if not self.trick:
            return list(hand) if self.winner_of else self._first_leads()
        led = self._suit(self.trick[0][1])
        of_suit_led = [card for card in hand if self._suit(card) == led]
        of_either = [card for card in hand if self._suit(card) in (led, self.trump)]
        if rules.follow == "suit_or_trump":
            return of_either or list(hand)
        if rules.follow == "suit":
            return of_suit_led or list(hand)
        return of_either if of_suit_led else list(hand)

    def _first_leads(self) -> list[str]:
        rules, hand = self.rules, self.hands[self.seat]
        if rules.trump == "declared":
            trumps = [card for card in hand if self._is_trump(card)]
            return trumps if rules.first_lead == "trump" and trumps else list(hand)
        # Pitched: whatever is led is trump, so `first_lead` asks nothing more.
        leads = [card for card in hand if card not in JOKERS]
        if rules.keep_trump:
            open_suits = self._open_suits(hand, self.discards[self.seat])
            leads = [card for card in leads if card[1] in open_suits]
        return leads

    def _apply_card(self, card: str) -> None:
        self.hands[self.seat].remove(card)
        if self.trump is None:
            self.trump = card[1]
        self.trick.append((self.seat, card))
        if len(self.trick) < self.rules.players:
            self.seat = self._left_of(self.seat)
            return
        self.seat = self._trick_winner()
        for _, won in self.trick:
            self.winner_of[won] = self.seat
        self.trick = []
        if not any(self.hands):
            self._end_deal(self._count_points())

    def _trick_winner(self) -> int:
        seat_of = {card: seat for seat, card in self.trick}
        for card in trump_order(self.trump, self.rules.off_jack):
            if card in seat_of:
                return seat_of[card]
        led = self.trick[0][1][1]
        return next(seat_of[rank + led] for rank in reversed(RANKS) if rank + led in seat_of)

    # 8. Points

    def _count_points(self) -> list[int]:
        rules, trump = self.rules, self.trump
        points = [0] * rules.sides
        if (high := self._high()) in self.holder:
            points[self.holder[high] % rules.sides] += 1
        if (low := self._low()) in self.holder:
            low_seat = self.holder[low] if rules.low_to == "holder" else self.winner_of[low]
            points[low_seat % rules.sides] += 1
        worth = {"J" + trump: 1, "HJ": 1, "LJ": 1}
        if rules.off_jack:
            worth["J" + SAME_COLOUR[trump]] = 1
        if rules.trump_three:
            worth["3" + trump] = 3
        if rules.game == "trump_ten":
            worth["T" + trump] = 1
        for card, value in worth.items():
            if card in self.winner_of:
                points[self.winner_of[card] % rules.sides] += value
        if rules.game == "pips":
            pips = self._pips_by_side()
            if pips.count(max(pips)) == 1:
                points[pips.index(max(pips))] += 1
        return points

    def _trumps_in_play(self) -> list[str]:
        return [card for card in trump_order(self.trump, self.rules.off_jack) if card in self.holder]

    def _high(self) -> str | None:
        if self.rules.high_low == "pack":
            return "A" + self.trump
        return next(iter(self._trumps_in_play()), None)

    def _low(self) -> str | None:
        if self.rules.high_low == "pack":
            return RANKS[self.rules.lowest_rank - 2] + self.trump
        return next(reversed(self._trumps_in_play()), None)

    def _pips_by_side(self) -> list[int]:
        pips = [0] * self.rules.sides
        for card, seat in self.winner_of.items():
            pips[seat % self.rules.sides] += self._pips(card)
        if self.rules.discards_count:
            pips[self.pitcher % self.rules.sides] += sum(map(self._pips, self.discards[self.pitcher]))
        return pips

    def _pips(self, card: str) -> int:
        return self.rules.joker_pips if card in JOKERS else PIPS.get(card[0], 0)

    # 9. Score, and the match

    def _end_deal(self, points: list[int] | None) -> None:
        self.phase, self.seat = "ended", None
        self.deals_played += 1
        self.points = points
        if points is not None:
            self._score(points)
            self.winner = self._match_winner(points)
            self.over = self.winner is not None

    def _score(self, points: list[int]) -> None:
        for side in range(self.rules.sides):
            old = self.scores[side]
            if side == self.pitcher % self.rules.sides:
                self.scores[side] += points[side] if points[side] >= self.bid else -self.bid
            else:
                self.scores[side] += points[side]
                if self.rules.overshoot == "capped":
                    self.scores[side] = min(self.scores[side], max(self.rules.target, old))

    def _match_winner(self, points: list[int]) -> int | None:
        rules, pitchers = self.rules, self.pitcher % self.rules.sides
        there = [side for side in range(rules.sides) if self.scores[side] >= rules.target]
        if rules.win == "made_bid" and points[pitchers] < self.bid:
            return None
        if rules.win != "highest" and pitchers in there:
            return pitchers
        if rules.win in ("pitcher", "made_bid") or not there:
            return None
        best = max(self.scores[side] for side in there)
        first = [side for side in there if self.scores[side] == best]
        return first[0] if len(first) == 1 else None

"""`Game`: one match for people, scripts and tests."""

from collections.abc import Sequence
from typing import Any, Self, SupportsIndex

import numpy as np

from pitchenv.actions import ACTIONS, IllegalAction, action_name, action_number
from pitchenv.cards import CARD_NAMES, card, cards_in, mask_of, pack
from pitchenv.compiling import announce_compiling
from pitchenv.engine import single
from pitchenv.engine.bits import stream
from pitchenv.engine.state import ENDED, HIDDEN, MATCH, NOBODY, PHASES, POINTS, VIEW
from pitchenv.observation import layout
from pitchenv.rules import Rules, load_rules

Cards = Sequence[str | int]


class Game:
    """A match, deal by deal. Everything in it can be read; a player gets `view(seat)` or `observe(seat)`.

    `rules` is a `Rules` or the name of a game. The same rules, seed and actions give the same match on every machine, and the
    same as match 0 of `Batch(rules, size, seed)`.
    """

    def __init__(self, rules: Rules | str, seed: int = 0) -> None:
        self._prepare(load_rules(rules))
        single.start(self._match, 0, match_seed(seed), True)

    def _prepare(self, rules: Rules) -> None:
        announce_compiling()
        self.rules = rules
        self._match = np.zeros(1, MATCH)
        self._public = self._match["public"]
        self._hidden = self._match["hidden"]
        self._public["rules"] = rules.packed[0]
        self._legal = np.zeros(ACTIONS, np.int64)
        self._finished: list[np.ndarray] = []  # the records of deals before this one, as they ended

    @classmethod
    def from_deal(
        cls,
        rules: Rules | str,
        hands: Sequence[Cards],
        stock: Cards | None = None,
        dealer: int = 0,
        scores: Sequence[int] | None = None,
        seed: int = 0,
    ) -> Self:
        """A match whose first deal is given: hands by seat and the stock, top first, as card names or numbers.

        Without `stock` it is what the hands leave of the pack, by card number. Later deals come from the seed. Raises ValueError.
        """
        game = cls.__new__(cls)
        game._prepare(load_rules(rules))
        rules = game.rules
        if not 0 <= dealer < rules.players:
            raise ValueError(f"dealer = {dealer}: allowed: 0 … {rules.players - 1}")
        if scores is not None and len(scores) != rules.sides:
            raise ValueError(f"scores = {list(scores)}: allowed: {rules.sides} numbers, one a side")
        single.start(game._match, 0, match_seed(seed), False)
        game._public["dealer"] = dealer
        if scores is not None:
            game._public["scores"][0, : rules.sides] = scores
        game._give(hands, stock)
        return game

    @classmethod
    def from_record(cls, rules: Rules, match: np.ndarray) -> Self:
        """A match from a copy of a `MATCH` record on these rules."""
        game = cls.__new__(cls)
        game._prepare(rules)
        game._match[0] = match
        game._public["rules"] = rules.packed[0]
        return game

    @classmethod
    def from_view(cls, view: np.ndarray, hidden: np.ndarray, rules: Rules) -> Self:
        """A playable match from a `VIEW` and a guess of what it leaves out (a `HIDDEN` record); see `engine.view.state_from`."""
        game = cls.__new__(cls)
        game._prepare(rules)
        views, guesses = np.zeros(1, VIEW), np.zeros(1, HIDDEN)
        views[0], guesses[0] = view, hidden
        single.write_state_from(views, guesses, game._match)
        return game

    def _give(self, hands: Sequence[Cards], stock: Cards | None) -> None:
        """Put given hands and stock in the place of a deal, and open the auction."""
        rules = self.rules
        in_pack = pack(rules.lowest_rank, rules.jokers)
        given = [_numbers(hand) for hand in hands]
        if len(given) != rules.players:
            raise ValueError(f"hands: {len(given)} given; allowed: {rules.players}, one a seat")
        for seat, hand in enumerate(given):
            if len(hand) != rules.hand_size:
                raise ValueError(f"hands[{seat}]: {len(hand)} cards given; allowed: hand_size = {rules.hand_size}")
        dealt = [number for hand in given for number in hand]
        rest = [c for c in in_pack if c not in set(dealt)] if stock is None else _numbers(stock)
        for number in dealt + rest:
            if number not in in_pack:
                raise ValueError(f"hands or stock: {CARD_NAMES[number]} is not in the pack of these rules")
            if (dealt + rest).count(number) > 1:
                raise ValueError(f"hands or stock: {CARD_NAMES[number]} is given twice")
        needed = rules.widow + min(rules.players * rules.redraw, rules.stock_size - rules.widow)
        if len(rest) < needed:
            raise ValueError(f"stock: {len(rest)} cards given; allowed: at least {needed}, for widow and redraw")
        self._hidden["first_hands"][0, : rules.players] = [mask_of(hand) for hand in given]
        self._hidden["stock"][0, : len(rest)] = rest
        self._public["stock_size"] = len(rest)
        single.open_given(self._match, 0)

    # The state of the deal

    @property
    def phase(self) -> str:
        """`auction`, `trump`, `redraw`, `discard`, `play`, or `ended`: this deal is over."""
        return PHASES[self._public["phase"][0]]

    @property
    def seat(self) -> int | None:
        """Whose turn it is; None when the deal has ended."""
        return self._seat_or_none("turn")

    @property
    def hands(self) -> list[list[int]]:
        """The cards in hand by seat, as ascending card numbers."""
        return self._by_seat("hands")

    @property
    def put_away(self) -> list[list[int]]:
        """The cards each seat has put away in redraw and discard."""
        return self._by_seat("put_away")

    @property
    def stock(self) -> list[int]:
        """What is left of the stock, top first."""
        public = self._public
        size, left = int(public["stock_size"][0]), int(public["stock_left"][0])
        stock: list[int] = self._hidden["stock"][0, size - left : size].tolist()
        return stock

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        return int(self._public["dealer"][0])

    @property
    def pitcher(self) -> int | None:
        """Who won the auction; while it lasts, who stands highest; None while nothing is bid."""
        return self._seat_or_none("pitcher")

    @property
    def bid(self) -> int | None:
        """The standing bid; None while there is none."""
        return int(self._public["bid"][0]) or None

    @property
    def trump(self) -> int | None:
        """The trump suit, 0 … 3; None while it is not known."""
        return self._seat_or_none("trump")

    @property
    def trick(self) -> list[int | None]:
        """The card on the table by seat; None where there is none."""
        return [None if c == NOBODY else c for c in self._public["trick"][0, : self.rules.players].tolist()]

    @property
    def actions(self) -> list[tuple[int, int]]:
        """This deal so far: (seat, action) in order."""
        moves = int(self._public["moves"][0])
        return list(zip(self._public["history_seats"][0, :moves].tolist(), self._match["history"][0, :moves].tolist(), strict=True))

    # The state of the match

    @property
    def points(self) -> list[int] | None:
        """Points by side of the last completed deal; None before one and after a thrown-in one."""
        return self._public["points"][0, : self.rules.sides].tolist() if self._public["scored"][0] == POINTS else None

    @property
    def scores(self) -> list[int]:
        """Match scores by side."""
        scores: list[int] = self._public["scores"][0, : self.rules.sides].tolist()
        return scores

    @property
    def winner(self) -> int | None:
        """The side that has won the match; None while it goes on."""
        return self._seat_or_none("winner")

    @property
    def over(self) -> bool:
        """Whether the match has a winner."""
        return bool(self._public["over"][0])

    @property
    def deals_played(self) -> int:
        """Deals that have ended, thrown-in ones too."""
        return int(self._public["deals_played"][0])

    # What can be done

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; [] only when the deal has ended."""
        actions: list[int] = self._legal[: single.list_legal(self._match, 0, self._legal)].tolist()
        return actions

    def apply(self, action: SupportsIndex | str) -> None:
        """Take an action, as a number or a text ("bid 3", "AS"). An illegal one raises IllegalAction and changes nothing."""
        number = action_number(action)
        if not single.try_apply(self._match, 0, number):
            raise self._refusal(number)

    def _refusal(self, action: int) -> IllegalAction:
        if self._public["phase"][0] == ENDED:
            what = "the match is over" if self.over else "the deal has ended; next_deal() deals the next"
            return IllegalAction(f"action {action_name(action)!r}: {what}; allowed: none")
        allowed = ", ".join(action_name(a) for a in self.legal_actions())
        return IllegalAction(
            f"action {action_name(action)!r}: not legal for seat {self.seat} in the {self.phase} phase; allowed: {allowed}"
        )

    def next_deal(self, hands: Sequence[Cards] | None = None, stock: Cards | None = None) -> None:
        """Deal again after a deal has ended, from the seed or the cards given. Raises ValueError before that, and after the match."""
        if self.phase != "ended":
            raise ValueError(f"next_deal: this deal is in the {self.phase} phase; allowed: when it has ended")
        if self.over:
            raise ValueError(f"next_deal: the match is over, side {self.winner} has won")
        before = self._match.copy()
        single.deal_next(self._match, 0)
        if hands is not None:
            try:
                self._give(hands, stock)
            except ValueError:
                self._match[0] = before[0]
                raise
        self._finished.append(before)

    def copy(self) -> Self:
        """An independent copy, with the deals to come the same."""
        twin = type(self).from_record(self.rules, self._match[0])
        twin._finished = list(self._finished)
        return twin

    def __getstate__(self) -> tuple[Any, ...]:
        """What pickle and deepcopy keep; the rest are windows into the record, which they would tear from it."""
        return self.rules, self._match, self._finished

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        rules, match, finished = state
        self._prepare(rules)
        self._match[:] = match
        self._finished = finished

    def view(self, seat: int) -> np.ndarray:
        """All that a seat may know, a `VIEW` record (an array scalar)."""
        view: np.ndarray = self._view(seat)[0]
        return view

    def _view(self, seat: int) -> np.ndarray:
        if not 0 <= seat < self.rules.players:
            raise ValueError(f"seat = {seat}: allowed: 0 … {self.rules.players - 1}")
        views = np.zeros(1, VIEW)
        single.write_view(self._match, 0, seat, views)
        return views

    def observe(self, seat: int, slots: int | None = None) -> np.ndarray:
        """The observation of a seat, float32 (F,); `slots` seat slots (default: the players)."""
        legend = layout(slots or self.rules.players)
        out = np.empty(legend.size, np.float32)
        single.write_observation(self._view(seat), legend.at, out)
        return out

    def state(self, seat: int = 0, slots: int | None = None) -> np.ndarray:
        """The full state, float32 (S,), seen from a seat: its observation, then all that is hidden."""
        legend = layout(slots or self.rules.players)
        out = np.empty(legend.state_size, np.float32)
        out[: legend.size] = self.observe(seat, slots)
        single.write_hidden(self._match, 0, seat, legend.slots, out[legend.size :])
        return out

    def mask(self, seat: int) -> np.ndarray:
        """The legal actions of a seat as int8 (70,); all zero unless it is its turn."""
        out = np.empty(ACTIONS, np.int8)
        single.write_mask(self._match, 0, seat, out)
        return out

    @property
    def deals(self) -> list[np.ndarray]:
        """The `MATCH` records of all deals of this match: earlier ones as they ended, then this one."""
        return [deal[0] for deal in self._finished] + [self._match[0].copy()]

    def record(self, **extra: Any) -> dict[str, Any]:
        """The match so far as plain values, ready for JSON; see `pitchenv.records`."""
        from pitchenv.records import match_record

        return match_record(self.rules, self.deals, **extra)

    def __repr__(self) -> str:
        turn = "" if self.seat is None else f", seat {self.seat} to act"
        return f"Game({self.phase}{turn}, deal {self.deals_played + (self.seat is not None)}, scores {self.scores})"

    def __str__(self) -> str:
        from pitchenv.render import table_text

        return table_text(self)

    def _seat_or_none(self, field: str) -> int | None:
        value = int(self._public[field][0])
        return None if value == NOBODY else value

    def _by_seat(self, field: str) -> list[list[int]]:
        return [cards_in(mask) for mask in self._hidden[field][0, : self.rules.players].tolist()]


def match_seed(seed: int, index: int = 0) -> np.uint64:
    """The seed of match `index` of a batch with this seed (any integer; taken modulo 2⁶⁴)."""
    return np.uint64(stream(np.uint64(int(seed) % 2**64), index))


def _numbers(cards: Cards) -> list[int]:
    """Cards given by name or number as numbers."""
    return [card(c) if isinstance(c, str) else card(CARD_NAMES[c]) for c in cards]

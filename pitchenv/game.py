"""`Game`: one match for people, scripts and tests."""

from collections.abc import Sequence
from typing import Any, Self, SupportsIndex

import numpy as np

from pitchenv.actions import ACTIONS, IllegalAction, action_name, action_number
from pitchenv.cards import CARD_NAMES, card, cards_in, mask_of, pack
from pitchenv.checks import InputError, sequence, shown, whole_number
from pitchenv.compiling import announce_compiling
from pitchenv.engine import single
from pitchenv.engine.bits import stream
from pitchenv.engine.state import ENDED, HIDDEN, MATCH, NOBODY, PHASES, POINTS, VIEW
from pitchenv.games import load_rules
from pitchenv.observation import Layout, layout
from pitchenv.rules import SCORE_LIMIT, Rules

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

        Without `stock` it is what the hands leave of the pack, by card number. `scores` by side are whole numbers from −10⁶ to 10⁶.
        Later deals come from the seed. Raises InputError (a ValueError).
        """
        game = cls.__new__(cls)
        game._prepare(load_rules(rules))
        rules = game.rules
        dealer = whole_number("dealer", dealer, 0, rules.players - 1)
        given = [0] * rules.sides if scores is None else sequence("scores", scores, f"{rules.sides} numbers, one a side")
        if len(given) != rules.sides:
            raise InputError(f"scores = {shown(given)}: allowed: {rules.sides} numbers, one a side")
        by_side = [whole_number(f"scores[{side}]", score, -SCORE_LIMIT, SCORE_LIMIT) for side, score in enumerate(given)]
        cards = game._checked(hands, stock)
        single.start(game._match, 0, match_seed(seed), False)
        game._public["dealer"] = dealer
        game._public["scores"][0, : rules.sides] = by_side
        game._give(*cards)
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

    def _checked(self, hands: Sequence[Cards], stock: Cards | None) -> tuple[list[list[int]], list[int]]:
        """Given hands and stock as card numbers, the stock filled in where there is none."""
        rules = self.rules
        in_pack = pack(rules.lowest_rank, rules.jokers)
        given = sequence("hands", hands, "hands, one a seat")
        if len(given) != rules.players:
            raise InputError(f"hands: {len(given)} given; allowed: {rules.players}, one a seat")
        numbers = [_numbers(f"hands[{seat}]", hand) for seat, hand in enumerate(given)]
        for seat, hand in enumerate(numbers):
            if len(hand) != rules.hand_size:
                raise InputError(f"hands[{seat}]: {len(hand)} cards given; allowed: hand_size = {rules.hand_size}")
        dealt = [number for hand in numbers for number in hand]
        rest = [c for c in in_pack if c not in set(dealt)] if stock is None else _numbers("stock", stock)
        for number in dealt + rest:
            if number not in in_pack:
                raise InputError(f"hands or stock: {CARD_NAMES[number]} is not in the pack of these rules")
            if (dealt + rest).count(number) > 1:
                raise InputError(f"hands or stock: {CARD_NAMES[number]} is given twice")
        needed = rules.widow + min(rules.players * rules.redraw, rules.stock_size - rules.widow)
        if len(rest) < needed:
            raise InputError(f"stock: {len(rest)} cards given; allowed: at least {needed}, for widow and redraw")
        return numbers, rest

    def _give(self, hands: list[list[int]], rest: list[int]) -> None:
        """Put checked hands and stock in the place of a deal, and open the auction."""
        self._hidden["first_hands"][0, : len(hands)] = [mask_of(hand) for hand in hands]
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
        """Deal again after a deal has ended, from the seed or the cards given (a stock only with hands).

        Raises InputError before that, after the match, and for cards that don't make a deal; then nothing changes.
        """
        if self.phase != "ended":
            raise InputError(f"next_deal: this deal is in the {self.phase} phase; allowed: when it has ended")
        if self.over:
            raise InputError(f"next_deal: the match is over, side {self.winner} has won")
        if hands is None and stock is not None:
            raise InputError(f"stock = {shown(stock)}: given without hands; allowed: None, or both")
        cards = None if hands is None else self._checked(hands, stock)
        self._finished.append(self._match.copy())
        single.deal_next(self._match, 0)
        if cards is not None:
            self._give(*cards)

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
        views = np.zeros(1, VIEW)
        single.write_view(self._match, 0, self._seat(seat), views)
        return views

    def _seat(self, seat: int) -> int:
        return whole_number("seat", seat, 0, self.rules.players - 1)

    def _layout(self, slots: int | None) -> Layout:
        players = self.rules.players
        return layout(players if slots is None else slots, players)

    def observe(self, seat: int, slots: int | None = None) -> np.ndarray:
        """The observation of a seat, float32 (F,); `slots` seat slots, from the players (the default) to 8."""
        legend = self._layout(slots)
        out = np.empty(legend.size, np.float32)
        single.write_observation(self._view(seat), legend.at, out)
        return out

    def state(self, seat: int = 0, slots: int | None = None) -> np.ndarray:
        """The full state, float32 (S,), seen from a seat: its observation, then all that is hidden."""
        legend, seat = self._layout(slots), self._seat(seat)
        out = np.empty(legend.state_size, np.float32)
        out[: legend.size] = self.observe(seat, slots)
        single.write_hidden(self._match, 0, seat, legend.slots, out[legend.size :])
        return out

    def mask(self, seat: int) -> np.ndarray:
        """The legal actions of a seat as int8 (70,); all zero unless it is its turn."""
        out = np.empty(ACTIONS, np.int8)
        single.write_mask_of(self._match, 0, self._seat(seat), out)
        return out

    @property
    def deals(self) -> list[np.ndarray]:
        """The `MATCH` records of all deals of this match: earlier ones as they ended, then this one."""
        return [deal[0].copy() for deal in (*self._finished, self._match)]

    def record(self, **extra: Any) -> dict[str, Any]:
        """The match so far as plain values, ready for JSON; see `pitchenv.records`. Of a match taken from a `Batch`: its present deal."""
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
    """The seed of match `index` of a batch with this seed (any whole number; taken modulo 2⁶⁴)."""
    return np.uint64(stream(np.uint64(whole_number("seed", seed) % 2**64), index))


def _numbers(name: str, cards: Cards) -> list[int]:
    """Cards given by name or number as numbers."""
    return [card(c) for c in sequence(name, cards, "cards")]

"""`Rules`: every way the family's games differ, as one checked, frozen value. A game is a value of `Rules`.

`rulebook.md` beside this file has every rule; `pitchenv.games` the games that ship.
"""

import dataclasses
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self, get_args, get_origin

import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from pitchenv.cards import ACE, SUITS
from pitchenv.checks import InputError, check_keys, mapping, one_line
from pitchenv.engine.state import RULES

SCORE_LIMIT: Final = 10**6  # a match that is laid out may start a side from −10⁶ … 10⁶


class RulesError(InputError):
    """Rules that make no sense; the message is one line with the field, the value and what is allowed."""


def _bids(value: Any) -> Any:
    """A list from TOML or JSON as a sorted tuple without repeats; anything else is left for the type check to refuse."""
    if isinstance(value, list | tuple) and all(type(b) is int for b in value):
        return tuple(sorted(set(value)))
    return value


Bid = Annotated[int, Field(ge=1, le=10)]
Bids = Annotated[tuple[Bid, ...], BeforeValidator(_bids)]


@one_line(RulesError)
@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid", strict=True))
class Rules:
    """The rules of a game; the defaults are `auction-4-partners`.

    The table:
        players, sides: seat s plays for side s % sides; as many sides as players is everyone alone.
        lowest_rank, jokers: the pack has four suits from this rank (2 … 14, ace) up, and so many jokers.
        off_jack: the other jack of trump's colour is a trump, below the jack, and a point.

    The cards:
        hand_size, tricks: cards dealt to a seat, and how many of them are played.
        widow: cards of the stock that the pitcher takes into hand.
        redraw: cards that every seat may exchange for others of the stock once trump is named. Then each discards down to `tricks` cards.
        trump: `"declared"`, the pitcher names it; `"pitched"`, it is the suit of the first card led.
        keep_trump: a trump may be put away only by who holds more than `tricks` of them (where trump is pitched this binds the first lead).
        discards_count: the pips of what the pitcher discards count for his side in Game.

    The auction:
        auction: `"once"`, each seat has one turn; `"rounds"`, it goes round until all but one have passed.
        min_bid: the lowest bid; the highest is `max_bid`, all points there are.
        dealer_must_bid: what the dealer has to choose from if nobody else bids; if empty the dealer may pass, and the cards are thrown in.
        dealer_steals: standing bids that the dealer may take by bidding the same: `"never"`, `"below_max"`, `"max_only"` or `"any"`.
        thrown_in: who deals again then, `"same_dealer"` or `"next_dealer"`.

    The play:
        first_lead: whether the pitcher leads `"any"` card first, or `"trump"` if he has one (and trump is known).
        follow: `"suit_may_trump"`, who has the suit led plays it or a trump, others any card; `"suit"`, who has it plays it;
            `"suit_or_trump"`, who has it or trump plays one of those.

    The points:
        high_low: High and Low are the highest and lowest trump `"in_play"`, or those of the `"pack"`, if in play.
        low_to: Low goes to the `"holder"` who was dealt it, or to the `"winner"` of the trick with it.
        trump_three: the three of trump is worth 3 points.
        game: the point for Game goes to the most `"pips"`, or to who wins the `"trump_ten"`.
        joker_pips: pips of a joker, in Game.

    The match:
        target: points that win it.
        win: who wins of the sides at the target: `"any"`, the pitcher's side before others, then the highest score; `"highest"`;
            `"pitcher"`, the pitcher's side alone; `"made_bid"`, that side alone, and only by a bid it made.
        overshoot: whether points take other sides than the pitcher's past the target (`"counts"`) or only up to it (`"capped"`).

    Raises RulesError (a ValueError) with one line that names the field, the value and what is allowed.
    """

    players: Annotated[int, Field(ge=2, le=8)] = 4
    sides: Annotated[int, Field(ge=2, le=8)] = 2  # seat s plays for side s % sides
    lowest_rank: Annotated[int, Field(ge=2, le=13)] = 2
    jokers: Annotated[int, Field(ge=0, le=2)] = 0
    off_jack: bool = False
    hand_size: Annotated[int, Field(ge=1, le=27)] = 6
    widow: Annotated[int, Field(ge=0, le=52)] = 0
    redraw: Annotated[int, Field(ge=0, le=27)] = 0
    tricks: Annotated[int, Field(ge=1, le=13)] = 6
    trump: Literal["declared", "pitched"] = "pitched"
    keep_trump: bool = False
    discards_count: bool = False
    auction: Literal["once", "rounds"] = "once"
    min_bid: Bid = 1
    dealer_must_bid: Bids = (2, 3, 4)
    dealer_steals: Literal["never", "below_max", "max_only", "any"] = "below_max"
    thrown_in: Literal["same_dealer", "next_dealer"] = "same_dealer"
    first_lead: Literal["any", "trump"] = "any"
    follow: Literal["suit_or_trump", "suit", "suit_may_trump"] = "suit_may_trump"
    high_low: Literal["in_play", "pack"] = "in_play"
    low_to: Literal["holder", "winner"] = "winner"
    trump_three: bool = False
    game: Literal["pips", "trump_ten"] = "pips"
    joker_pips: Annotated[int, Field(ge=0, le=10)] = 0
    target: Annotated[int, Field(ge=1, le=1000)] = 7
    win: Literal["any", "highest", "pitcher", "made_bid"] = "pitcher"
    overshoot: Literal["counts", "capped"] = "counts"

    def __post_init__(self) -> None:
        for message in self._senseless():
            raise RulesError(message)

    def _senseless(self) -> Any:
        """Combinations that make no game, one message each."""
        if self.players % self.sides:
            allowed = ", ".join(str(s) for s in range(2, self.players + 1) if self.players % s == 0)
            yield f"sides = {self.sides}: must divide players = {self.players}; allowed: {allowed}"
        if self.stock_size < 0:
            yield (
                f"hand_size = {self.hand_size}: {self.players} hands need more than the {self.pack_size} cards of the pack; "
                f"allowed: at most {self.pack_size // self.players}"
            )
        elif self.stock_size < self.widow:
            yield (
                f"widow = {self.widow}: {self.players} hands of {self.hand_size} leave fewer of the {self.pack_size} cards of the pack; "
                f"allowed: 0 … {self.stock_size}"
            )
        if self.hand_size < self.tricks:
            yield f"hand_size = {self.hand_size}: fewer cards than tricks; allowed: at least tricks = {self.tricks}"
        if self.min_bid > self.max_bid:
            yield f"min_bid = {self.min_bid}: over the maximum bid; allowed: 1 … {self.max_bid}"
        for bid in self.dealer_must_bid:
            if not self.min_bid <= bid <= self.max_bid:
                yield f"dealer_must_bid = {list(self.dealer_must_bid)}: {bid} cannot be bid; allowed: {self.min_bid} … {self.max_bid}"
        if self.auction == "rounds" and self.dealer_steals != "never":
            yield f'dealer_steals = "{self.dealer_steals}": needs auction = "once"; allowed with "rounds": "never"'
        if self.trump == "pitched":
            yield from self._senseless_pitched()
        if self.hand_size - self.redraw < self.tricks and self.players * self.redraw > self.stock_size - self.widow:
            yield (
                f"redraw = {self.redraw}: a seat could run short, {self.players} seats may draw {self.players * self.redraw} of "
                f"{self.stock_size - self.widow} cards; allowed: at most "
                f"{max(self.hand_size - self.tricks, (self.stock_size - self.widow) // self.players)}"
            )

    def _senseless_pitched(self) -> Any:
        if self.redraw:
            yield f'redraw = {self.redraw}: trump = "pitched" is not known in time; allowed: 0'
        if self.hand_size != self.tricks:
            yield f'hand_size = {self.hand_size}: with trump = "pitched" it must equal tricks; allowed: {self.tricks}'
        if self.tricks <= self.jokers:
            least = self.jokers + 1
            yield f'tricks = {self.tricks}: with trump = "pitched" more than jokers = {self.jokers}; allowed: at least {least}'
        if self.keep_trump and (self.jokers or self.off_jack):
            yield 'keep_trump = true: with trump = "pitched" only without jokers and off_jack; allowed: false'

    @property
    def max_bid(self) -> int:
        """The number of points in the game: High, Low, Jack, Game, and those of off-jack, jokers and three."""
        return 4 + self.off_jack + self.jokers + 3 * self.trump_three

    @property
    def pack_size(self) -> int:
        """Cards in use."""
        return SUITS * (ACE + 1 - self.lowest_rank) + self.jokers

    @property
    def stock_size(self) -> int:
        """Cards left after the deal (the widow among them)."""
        return self.pack_size - self.players * self.hand_size

    def side(self, seat: int) -> int:
        """The side a seat plays for."""
        return seat % self.sides

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON or TOML."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in dataclasses.asdict(self).items()}

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Self:
        """The rules of `to_dict`; fields left out have their defaults."""
        check_keys(mapping("rules", fields, RulesError), FIELDS, RulesError, "rule field")
        return cls(**fields)

    def __getstate__(self) -> dict[str, Any]:
        # Without what is cached: hashes of texts differ from process to process, and packed rules would come back writable.
        return {name: getattr(self, name) for name in FIELDS}

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, name) for name in FIELDS))

    def __hash__(self) -> int:
        # Rules are keys wherever matches of several games meet; hashing 27 fields each time would show.
        return self._hash

    @cached_property
    def packed(self) -> np.ndarray:
        """The rules as the kernels read them: an array of one `RULES` record, not to be written to."""
        record = np.zeros(1, RULES)
        for name in FIELDS:
            value = getattr(self, name)
            if name in CHOICES:
                value = CHOICES[name].index(value)
            elif name == "dealer_must_bid":
                value = sum(1 << bid for bid in value)
            record[name] = value
        record["max_bid"] = self.max_bid
        record.flags.writeable = False
        return record


FIELDS: Final = tuple(field.name for field in dataclasses.fields(Rules))
CHOICES: Final[dict[str, tuple[str, ...]]] = {
    field.name: get_args(field.type) for field in dataclasses.fields(Rules) if get_origin(field.type) is Literal
}

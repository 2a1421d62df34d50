"""The observation vector against a slow twin, which computes every piece from a `Game` by the words of the legend."""

import random
from typing import Any, ClassVar

import numpy as np
import pytest

import pitchenv
from pitchenv.cards import CARD_NAMES
from pitchenv.checks import InputError
from pitchenv.observation import LAYOUT_VERSION, RULE_COLUMNS, layout, observe
from pitchenv.rules import CHOICES
from tests.conformance import ALL_RULES, random_deal
from tests.random_rules import random_rules
from tests.reference import trump_order

SUITS = "CDHS"
RANKS = "23456789TJQKA"
PIPS = {"A": 4, "K": 3, "Q": 2, "J": 1, "T": 10}


class Twin:
    """What one seat sees, computed anew from the public course of the deal; cards and suits by name."""

    def __init__(self, game: pitchenv.Game, seat: int, slots: int) -> None:
        self.game, self.rules, self.seat, self.slots = game, game.rules, seat, slots
        self.trump = None if game.trump is None else SUITS[game.trump]
        self.bids: list[tuple[int, str]] = []  # seat, text
        self.exchanged = {"redraw": [0] * 8, "discard": [0] * 8}
        self.tricks: list[list[tuple[int, str]]] = []  # seat, card; the last one may be on the table
        self.read_history()

    def read_history(self) -> None:
        away = {CARD_NAMES[c] for pile in self.game.put_away for c in pile}
        exchanging = "redraw" if self.rules.redraw else "discard"
        done = set()
        for seat, action in self.game.actions:
            text = pitchenv.actions.action_name(action)
            if text == "pass" or text.startswith("bid"):
                self.bids.append((seat, text))
            elif text == "done":
                done.add(seat)
                if len(done) == self.rules.players:
                    exchanging = "discard"
            elif text in away:
                self.exchanged[exchanging][seat] += 1
            elif text in CARD_NAMES:
                if not self.tricks or len(self.tricks[-1]) == self.rules.players:
                    self.tricks.append([])
                self.tricks[-1].append((seat, text))

    def belongs(self, card: str) -> str | None:
        """The suit a card belongs to."""
        if self.trump and card in trump_order(self.trump, self.rules.off_jack):
            return self.trump
        return None if card in ("HJ", "LJ") else card[1]

    def winner(self, trick: list[tuple[int, str]]) -> int:
        order = trump_order(self.trump, self.rules.off_jack)
        trumps = [(seat, card) for seat, card in trick if card in order]
        if trumps:
            return min(trumps, key=lambda played: order.index(played[1]))[0]
        led = [(seat, card) for seat, card in trick if self.belongs(card) == self.belongs(trick[0][1])]
        return max(led, key=lambda played: RANKS.index(played[1][0]))[0]

    def slot(self, seat: int) -> int:
        return (seat - self.seat) % self.rules.players

    def side_slot(self, side: int) -> int:
        return (side - self.seat) % self.rules.sides

    @property
    def full(self) -> list[list[tuple[int, str]]]:
        return [trick for trick in self.tricks if len(trick) == self.rules.players]

    @property
    def table(self) -> list[tuple[int, str]]:
        return self.tricks[-1] if self.tricks and len(self.tricks[-1]) < self.rules.players else []

    def taken(self, side: int) -> list[str]:
        return [card for trick in self.full if self.winner(trick) % self.rules.sides == side for _, card in trick]

    # Every piece, as the set of (row, column) that are 1, or as numbers

    def by_seat(self, seats: Any, columns: int = 1) -> np.ndarray:
        out = np.zeros((self.slots, columns))
        for seat, column in seats:
            out[self.slot(seat), column] = 1
        return out

    def cards(self, numbers: list[int]) -> np.ndarray:
        return np.array([float(c in numbers) for c in range(54)])

    def to_act(self):
        return self.by_seat([] if self.game.seat is None else [(self.game.seat, 0)])

    def phase(self):
        return [float(self.game.phase == phase) for phase in ("auction", "trump", "redraw", "discard", "play")]

    def hand(self):
        return self.cards(self.game.hands[self.seat])

    def put_away(self):
        return self.cards(self.game.put_away[self.seat])

    def played(self):
        return self.by_seat([(seat, CARD_NAMES.index(card)) for trick in self.tricks for seat, card in trick], 54)

    def trick(self):
        marks = []
        for seat, card in self.table:
            if card in ("HJ", "LJ"):
                marks.append((seat, 17 + ("HJ", "LJ").index(card)))
            else:
                marks += [(seat, SUITS.index(card[1])), (seat, 4 + RANKS.index(card[0]))]
        return self.by_seat(marks, 19)

    def leader(self):
        return self.by_seat([(self.table[0][0], 0)] if self.table else [])

    def winning(self):
        return self.by_seat([(self.winner(self.table), 0)] if self.table else [])

    def tricks_done(self):
        return [float(n < len(self.full)) for n in range(13)]

    def trump_piece(self):
        return [float(suit == self.trump) for suit in SUITS]

    def trump_known(self):
        return [float(self.trump is not None)]

    def bids_piece(self):
        return self.by_seat([(seat, int(text[4:]) - 1) for seat, text in self.bids if text != "pass"], 10)

    def passed(self):
        return self.by_seat([(seat, 0) for seat, text in self.bids if text == "pass"])

    def highest(self) -> tuple[int, int] | None:
        made = [(seat, int(text[4:])) for seat, text in self.bids if text != "pass"]
        return made[-1] if made else None

    def standing_bid(self):
        return [float(self.highest() is not None and self.highest()[1] == level) for level in range(1, 11)]

    def pitcher(self):
        return self.by_seat([(self.highest()[0], 0)] if self.highest() else [])

    def dealer(self):
        return self.by_seat([(self.game.dealer, 0)])

    def exchange(self, phase: str) -> np.ndarray:
        out = np.zeros(self.slots)
        for seat in range(self.rules.players):
            out[self.slot(seat)] = self.exchanged[phase][seat] / 6
        return out

    def redrawn(self):
        return self.exchange("redraw")

    def discarded(self):
        return self.exchange("discard")

    def voids(self):
        out = set()
        for number, trick in enumerate(self.tricks):
            lead = self.belongs(trick[0][1])
            if number == 0 and self.rules.first_lead == "trump" and self.rules.trump == "declared" and lead != self.trump:
                out.add((trick[0][0], self.trump))
            for seat, card in trick[1:]:
                suit = self.belongs(card)
                if suit == lead:
                    continue
                if self.rules.follow == "suit" or suit != self.trump:
                    out.add((seat, lead))
                if self.rules.follow == "suit_or_trump" and suit != self.trump:
                    out.add((seat, self.trump))
        return self.by_seat([(seat, SUITS.index(suit)) for seat, suit in out], 4)

    def pips(self):
        out = np.zeros(self.slots)
        for side in range(self.rules.sides):
            values = [self.rules.joker_pips if card in ("HJ", "LJ") else PIPS.get(card[0], 0) for card in self.taken(side)]
            out[self.side_slot(side)] = sum(values) / 80
        return out

    def point_cards(self):
        out = np.zeros((self.slots, 8))
        if self.trump is None:
            return out
        off_jack = "J" + {"C": "S", "S": "C", "D": "H", "H": "D"}[self.trump] if self.rules.off_jack else "none"
        lowest = RANKS[self.rules.lowest_rank - 2]
        names = [rank + self.trump for rank in ("A", lowest, "J")] + [off_jack, "HJ", "LJ", "3" + self.trump, "T" + self.trump]
        for side in range(self.rules.sides):
            out[self.side_slot(side)] = [name in self.taken(side) for name in names]
        return out

    def trumps_played(self) -> list[tuple[int, str]]:
        """Trumps seen so far, high to low, with who played them."""
        order = trump_order(self.trump, self.rules.off_jack) if self.trump else []
        played = [(seat, card) for trick in self.tricks for seat, card in trick if card in order]
        return sorted(played, key=lambda one: order.index(one[1]))

    def high_so_far(self):
        out = np.zeros(self.slots)
        for seat, _ in self.trumps_played()[:1]:
            out[self.side_slot(seat % self.rules.sides)] = 1
        return out

    def low_so_far(self):
        out = np.zeros(self.slots)
        for seat, card in self.trumps_played()[-1:]:
            if self.rules.low_to == "holder":
                out[self.side_slot(seat % self.rules.sides)] = 1
            for side in range(self.rules.sides):
                if self.rules.low_to == "winner" and card in self.taken(side):
                    out[self.side_slot(side)] = 1
        return out

    def points_needed(self):
        out = np.zeros((self.slots, 11))
        for side in range(self.rules.sides):
            out[self.side_slot(side)] = [self.rules.target - self.game.scores[side] <= most for most in range(11)]
        return out

    def score_needed(self):
        out = np.zeros(self.slots)
        for side in range(self.rules.sides):
            out[self.side_slot(side)] = (self.rules.target - self.game.scores[side]) / self.rules.target
        return out

    def present(self):
        return self.by_seat([(seat, 0) for seat in range(self.rules.players)])

    def partner(self):
        return self.by_seat([(s, 0) for s in range(self.rules.players) if s % self.rules.sides == self.seat % self.rules.sides])

    def rules_piece(self):
        r, out = self.rules, []
        for column in RULE_COLUMNS:
            words = column.replace(":", "").split()
            if column.startswith(("players ", "sides ")):
                out.append(getattr(r, words[0]) == int(words[1]))
            elif "/" in words:
                out.append(getattr(r, words[0]) / int(words[2]))
            elif column.startswith("dealer must bid"):
                out.append(int(words[3]) in r.dealer_must_bid)
            elif column.startswith("dealer steals"):
                out.append(r.dealer_steals == words[2])
            elif column == "low to winner":
                out.append(r.low_to == "winner")
            elif column == "thrown in: next dealer":
                out.append(r.thrown_in == "next_dealer")
            elif column.startswith("first lead"):
                out.append(r.first_lead == words[2])
            elif len(words) == 2 and words[1] in CHOICES.get(words[0], ()):
                out.append(getattr(r, words[0]) == words[1])
            else:
                out.append(getattr(r, column) is True)
        return out

    RENAMED: ClassVar[dict[str, str]] = {"trump": "trump_piece", "bids": "bids_piece", "rules": "rules_piece"}

    def piece(self, name: str) -> np.ndarray:
        return np.asarray(getattr(self, self.RENAMED.get(name, name))(), np.float32).ravel()


def check(game: pitchenv.Game, seat: int, slots: int) -> None:
    legend = layout(slots)
    twin = Twin(game, seat, slots)
    vector = game.observe(seat, slots)
    assert vector.shape == (legend.size,)
    assert vector.dtype == np.float32
    for piece in legend.pieces:
        seen, expected = vector[legend.slices[piece.name]], twin.piece(piece.name)
        assert np.array_equal(seen, expected), f"{piece.name}: {seen} but {expected}"


@pytest.mark.parametrize("name", ALL_RULES)
def test_every_piece_in_every_game(name):
    rules, rng = ALL_RULES[name], random.Random(name)
    for seed in range(3):
        game = pitchenv.Game(rules, seed=seed)
        for _ in range(2):
            for _ in random_deal(game, rng):
                check(game, rng.randrange(rules.players), rng.choice([rules.players, 8]))
            check(game, rng.randrange(rules.players), rules.players)
            if not game.over:
                game.next_deal()


def test_every_piece_under_random_rules():
    rng = random.Random(5)
    for seed in range(120):
        rules = pitchenv.Rules(**random_rules(rng))
        game = pitchenv.Game(rules, seed=seed)
        for _ in random_deal(game, rng):
            if rng.random() < 0.3:
                check(game, rng.randrange(rules.players), rng.randint(rules.players, 8))


def test_every_piece_comes_up():
    """The tests above would be empty for a piece that is always zero."""
    rng, seen = random.Random(1), np.zeros(layout(8).size)
    for name in ("oklahoma-4", "oklahoma-6", "smear", "auction-7", "eight at the table"):
        for seed in range(8):
            game = pitchenv.Game(ALL_RULES[name], seed=seed)
            for _ in random_deal(game, rng):
                seen = np.maximum(seen, game.observe(game.seat, slots=8))
    assert all(seen[where].any() for where in layout(8).slices.values())


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda views: layout(5.0), "slots = 5.0: allowed: a whole number, 2 … 8"),
        (lambda views: layout(True), "slots = True: allowed: a whole number, 2 … 8"),
        (lambda views: layout(1), "slots = 1: allowed: 2 … 8"),
        (lambda views: layout(9), "slots = 9: allowed: 2 … 8"),
        (lambda views: observe(views, 5), "slots = 5: allowed: 6 … 8"),
        (lambda views: observe(views, 0), "slots = 0: allowed: 6 … 8"),
        (lambda views: observe(np.zeros(3), 6), "views = array([0., 0., 0.]): allowed: an array (N,) of VIEW records"),
        (lambda views: observe(views[0], 6), "views = "),
    ],
)
def test_a_layout_too_small_for_the_table_is_refused(call, line):
    layout(5)  # 5.0 equals 5, a cache might hand out its layout
    views = np.array([pitchenv.Game(name, seed=1).view(0) for name in ("auction-2", "oklahoma-6")])
    with pytest.raises(InputError) as refusal:
        call(views)
    assert str(refusal.value).startswith(line)
    assert "\n" not in str(refusal.value)


def test_the_layout_is_its_legend():
    for slots in range(2, 9):
        legend = layout(slots)
        assert legend.version == LAYOUT_VERSION
        assert layout(slots) is legend
        assert list(legend.slices) == [piece.name for piece in legend.pieces]
        ends = [0, *(where.stop for where in legend.slices.values())]
        assert [where.start for where in legend.slices.values()] == ends[:-1]
        assert ends[-1] == legend.size
        assert legend.state_size == legend.size + (2 * slots + 1) * 54
        assert legend.table().count("\n") == len(legend.pieces) + 1
        for piece in legend.pieces:
            assert legend.piece(np.zeros((5, legend.size)), piece.name).shape == (5, *piece.shape)
    for slots in (1, 9):
        with pytest.raises(ValueError, match=f"slots = {slots}: allowed: 2 … 8"):
            layout(slots)


def test_it_depends_on_the_slots_alone_and_padding_is_zero():
    four, eight = pitchenv.Game("auction-4", seed=1), pitchenv.Game(ALL_RULES["eight at the table"], seed=1)
    assert four.observe(0, 8).shape == eight.observe(0).shape
    legend = layout(8)
    for piece in legend.pieces:
        if piece.row_name:
            rows = four.observe(2, 8)[legend.slices[piece.name]].reshape(8, -1)
            assert not rows[4:].any()
            assert np.array_equal(rows[:4].ravel(), four.observe(2)[layout(4).slices[piece.name]])


def test_views_are_encoded_in_bulk_as_one_by_one():
    game = pitchenv.Game("oklahoma-6", seed=3)
    rng = random.Random(1)
    views, vectors = [], []
    for _ in random_deal(game, rng):
        views.append(game.view(game.seat))
        vectors.append(game.observe(game.seat, 7))
    assert np.array_equal(observe(np.array(views), 7), vectors)


def test_describe_says_it_in_words():
    game = pitchenv.Game.from_deal("auction-2", [["AS", "KS", "2H", "3H", "4H", "JD"], ["QS", "JS", "TH", "9H", "8H", "7D"]], dealer=1)
    for action in ("bid 3", "pass", "AS"):
        game.apply(action)
    words = dict(line.split(": ", 1) for line in layout(2).describe(game.observe(1)).splitlines())
    assert words["hand"] == "7D 8H 9H TH JS QS"
    assert words["phase"] == "play"
    assert words["trump"] == "spades"
    assert words["standing_bid"] == "3"
    assert words["to_act"] == "seat 0"
    assert words["pitcher"] == "seat 1"
    assert words["leader"] == "seat 1"
    assert words["trick"] == "seat 1: spades A"
    assert words["played"] == "seat 1: AS"
    assert words["passed"] == "seat 0"
    assert words["bids"] == "seat 1: 3"
    with pytest.raises(ValueError, match=r"vector of shape \(3,\): not an observation for 2 slots; allowed: \(\d+,\)"):
        layout(2).describe(np.zeros(3))


def test_an_observation_is_the_callers_own():
    game = pitchenv.Game("smear", seed=1)
    vector = game.observe(0)
    before = vector.copy()
    game.apply("pass")
    assert np.array_equal(vector, before)


def test_the_hidden_rest_of_the_state():
    rng = random.Random(2)
    for name in ("oklahoma-4", "smear", "eight at the table"):
        rules = ALL_RULES[name]
        slots = 8
        for game in random_deal(pitchenv.Game(rules, seed=4), rng):
            seat = rng.randrange(rules.players)
            state = game.state(seat, slots)
            assert np.array_equal(state[: layout(slots).size], game.observe(seat, slots))
            rest = state[layout(slots).size :].reshape(2 * slots + 1, 54)
            for slot in range(slots):
                at = (seat + slot) % rules.players
                hand, away = (game.hands[at], game.put_away[at]) if slot < rules.players else ([], [])
                assert np.flatnonzero(rest[slot]).tolist() == hand
                assert np.flatnonzero(rest[slots + slot]).tolist() == away
            stock = game.stock
            assert sorted(np.flatnonzero(rest[-1]).tolist(), key=lambda c: -rest[-1][c]) == stock
            assert np.allclose([rest[-1][c] for c in stock], [(len(stock) - i) / len(stock) for i in range(len(stock))])

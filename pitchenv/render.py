"""A match in words: what one seat sees, and the full table. Cards and actions have the names that `Game.apply` takes.

What one seat sees is written from its `VIEW` and from nothing else, so it cannot say what the seat cannot know.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from pitchenv.actions import ACTIONS, PASS, TRUMP_0, action_name
from pitchenv.cards import CARD_NAMES, CARDS, SUIT_LETTERS, SUIT_NAMES, SUITS, cards_in, mask_of
from pitchenv.checks import InputError
from pitchenv.engine import single
from pitchenv.engine.points import pips
from pitchenv.engine.state import AUCTION, ENDED, HIDDEN, MATCH, NOBODY, PHASES, PLAY, THROWN_IN
from pitchenv.engine.suits import NO_SUIT, STRENGTH, SUIT_OF, row
from pitchenv.game import Game

Line = tuple[str, str]  # a label and what it is
Record = Any  # a structured scalar; NumPy's types say nothing of its fields
NOTHING: Final = "none"


def seat_text(seen: Game | np.ndarray, seat: int | None = None) -> str:
    """All that one seat sees, in words: of a `Game` and a seat, or of a `VIEW` record alone (it knows its seat)."""
    if isinstance(seen, Game):
        if seat is None:
            raise InputError("seat = None: allowed with a Game: 0 … players − 1, whose eyes to look through")
        seen = seen.view(seat)
    return _text(_seat_lines(seen))


def table_text(game: Game) -> str:
    """The full table in words: all hands, what was put away, and the stock."""
    return _text(_table_lines(game))


def _text(lines: Iterable[Line]) -> str:
    return "\n".join(f"{label:<11}{text}" for label, text in lines)


def _seat_lines(view: Record) -> Iterator[Line]:
    public, me = view["public"], int(view["seat"])
    yield from _public_lines(public, view["history"], me)
    if view["drawn"]:
        yield "Drawn", _cards(public, view["drawn"])
    if view["put_away"]:
        yield "Put away", _cards(public, view["put_away"])
    yield "Hand", _cards(public, view["hand"])
    if public["turn"] == me:
        match = np.zeros(1, MATCH)  # what a seat may do follows from what it knows
        single.write_state_from(np.array([view]), np.zeros(1, HIDDEN), match)
        yield "Legal", _legal(match)


def _table_lines(game: Game) -> Iterator[Line]:
    match = game._match
    public, hidden = match[0]["public"], match[0]["hidden"]
    yield from _public_lines(public, match[0]["history"], NOBODY)
    for seat in range(game.rules.players):
        put_away = hidden["put_away"][seat]
        yield f"Seat {seat}", _cards(public, hidden["hands"][seat]) + (f"   put away: {_cards(public, put_away)}" if put_away else "")
    if game.stock:
        yield "Stock", " ".join(CARD_NAMES[card] for card in game.stock)
    if game.seat is not None:
        yield "Legal", f"seat {game.seat}: {_legal(match)}"


def _legal(match: np.ndarray) -> str:
    """The legal actions of the seat to act: cards as in its hand, then calls."""
    out = np.zeros(ACTIONS, np.int64)
    actions = out[: single.list_legal(match, 0, out)].tolist()
    cards = mask_of(action for action in actions if action < CARDS)
    return ", ".join([_cards(match[0]["public"], cards)] * bool(cards) + [action_name(a) for a in actions if a >= CARDS])


def cards_by_suit(public: Record, mask: int) -> list[list[int]]:
    """The numbers of a mask's cards suit by suit, trump first, each suit from its highest card down."""
    trump = int(public["trump"])
    at = row(int(public["rules"]["off_jack"]), trump)
    suits: dict[int, list[int]] = {}
    for card in sorted(cards_in(int(mask)), key=lambda card: -STRENGTH[at][card] if card < 52 or trump != NO_SUIT else card):
        suits.setdefault(int(SUIT_OF[at][card]), []).append(card)
    return [suits[suit] for suit in sorted(suits, key=lambda suit: (suit != trump, -suit))]


def _cards(public: Record, mask: int) -> str:
    return " | ".join(" ".join(CARD_NAMES[card] for card in suit) for suit in cards_by_suit(public, mask)) or NOTHING


# What everybody knows


def _public_lines(public: Record, history: np.ndarray, me: int) -> Iterator[Line]:
    """The public half of a match; `me` is who reads it, NOBODY for somebody outside."""
    phase = PHASES[public["phase"]]
    number = public["deals_played"] + (public["phase"] != ENDED)
    turn = "" if public["turn"] == NOBODY else f", {_seat(public['turn'], me)} to act"
    yield "Deal", f"{number}, dealt by {_seat(public['dealer'], me)}: {phase}{turn}"
    yield "Scores", _by_side(public, (_score(public, side) for side in range(public["rules"]["sides"])), me)
    if public["rules"]["sides"] < public["rules"]["players"]:
        yield "Partners", _by_side(public, (_partners(public, side) for side in range(public["rules"]["sides"])), me)
    if public["deals_played"] and public["phase"] != ENDED:
        yield "Last deal", _result(public, me)
    yield "Auction", _auction(public, history, me)
    if public["pitcher"] != NOBODY and public["phase"] != AUCTION:
        yield "Pitcher", f"{_seat(public['pitcher'], me)}, for {public['bid']}; {_trump(public)}"
    for label, counts in (("Redraw", public["redrawn"]), ("Discard", public["discarded"])):
        if counts.any():
            yield label, ", ".join(f"{_seat(s, me)}: {n}" for s, n in enumerate(counts[: public["rules"]["players"]].tolist()))
    yield from _tricks(public, history, me)
    if public["tricks_done"]:
        yield "Taken", _by_side(public, (_taken(public, side) for side in range(public["rules"]["sides"])), me)
    voids = _voids(public, me)
    if voids and public["phase"] == PLAY:
        yield "Out of", voids
    if public["phase"] == ENDED:
        yield "Result", _result(public, me)


def _seat(seat: int, me: int) -> str:
    return f"seat {seat} (you)" if seat == me else f"seat {seat}"


def _side(public: Record, side: int, me: int) -> str:
    """A side by name: the seat, where everybody plays alone."""
    rules = public["rules"]
    if rules["sides"] == rules["players"]:
        return _seat(side, me)
    yours = " (yours)" if me != NOBODY and me % rules["sides"] == side else ""
    return f"side {side}{yours}"


def _by_side(public: Record, texts: Iterable[str], me: int) -> str:
    return "; ".join(f"{_side(public, side, me)}: {text}" for side, text in enumerate(texts))


def _score(public: Record, side: int) -> str:
    score, target = int(public["scores"][side]), int(public["rules"]["target"])
    if public["over"]:
        return f"{score}, has won the match" if public["winner"] == side else str(score)
    return f"{score} of {target}"


def _partners(public: Record, side: int) -> str:
    return "seats " + ", ".join(str(seat) for seat in range(side, public["rules"]["players"], public["rules"]["sides"]))


def _result(public: Record, me: int) -> str:
    if public["scored"] == THROWN_IN:
        return "thrown in, nothing scored"
    points = _by_side(public, (str(p) for p in public["points"][: public["rules"]["sides"]].tolist()), me)
    if public["phase"] != ENDED:  # whose bid it was is no longer in the record
        return f"points {points}"
    pitchers = int(public["pitcher"] % public["rules"]["sides"])
    made = "made" if public["points"][pitchers] >= public["bid"] else "did not make"
    return f"points {points}. {_side(public, pitchers, me).capitalize()} {made} the bid of {public['bid']}"


def _auction(public: Record, history: np.ndarray, me: int) -> str:
    calls = []
    for seat, action in zip(public["history_seats"][: public["moves"]].tolist(), history.tolist(), strict=False):
        if not PASS <= action < TRUMP_0:
            break
        calls.append(f"{_seat(seat, me)} {action_name(action)}")
    return ", ".join(calls) or "nobody has spoken"


def _trump(public: Record) -> str:
    if public["trump"] != NOBODY:
        return f"trump is {SUIT_NAMES[public['trump']]}"
    return "the first card led makes trump" if public["rules"]["trump"] else "trump is not named yet"


def _tricks(public: Record, history: np.ndarray, me: int) -> Iterator[Line]:
    if not public["first_lead_at"]:
        return
    players, first, moves = int(public["rules"]["players"]), int(public["first_lead_at"]), int(public["moves"])
    seats, actions = public["history_seats"].tolist(), history.tolist()
    for trick, at in enumerate(range(first, max(moves, first + 1), players)):
        end = min(at + players, moves)
        cards = ", ".join(f"{_seat(s, me)} {CARD_NAMES[card]}" for s, card in zip(seats[at:end], actions[at:end], strict=True))
        if trick < public["tricks_done"]:
            winner = seats[end] if end < moves else public["leader"]  # who wins a trick leads to the next
            yield f"Trick {trick + 1}", f"{cards}: to seat {winner}"
        elif cards:
            yield f"Trick {trick + 1}", cards


def _taken(public: Record, side: int) -> str:
    cards, rules = int(public["taken"][side]), public["rules"]
    at = row(int(rules["off_jack"]), int(public["trump"]))
    trumps = sum(1 << card for card in cards_in(cards) if SUIT_OF[at][card] == public["trump"])
    return f"{pips(cards, int(rules['joker_pips']))} pips, trumps {_cards(public, trumps)}"


def _voids(public: Record, me: int) -> str:
    voids = enumerate(public["voids"][: public["rules"]["players"]].tolist())
    return ", ".join(f"{_seat(s, me)} {''.join(SUIT_LETTERS[u] for u in range(SUITS) if suits >> u & 1)}" for s, suits in voids if suits)

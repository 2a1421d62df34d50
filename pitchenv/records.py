"""Match records: what happened in a match, every card and action by name. JSON Lines, one match a line.

A record is a dict:

    format        "pitchenv-match"
    version       1; changes when a reader of the old form would misread the new one
    rules         the name of a game of the table, or every field of `Rules`
    start_scores  scores by side before the first deal
    deals         in order, each {dealer, hands, stock, actions, points, scores}: hands by seat and the stock (top first) as dealt,
                  together the whole pack (a deal laid out with a shorter stock can't be recorded); actions in order; points by
                  side, null when the cards were thrown in; scores by side after the deal.
                  A deal that is not finished, which only the last can be, has neither points nor scores.
    winner        the side that won, null while (or if) nobody has

and whatever else the writer adds, such as `agents` by seat.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pitchenv.actions import ACTIONS, IllegalAction, action_name
from pitchenv.cards import CARD_NAMES, cards_in
from pitchenv.checks import InputError, check_keys, describe, file_path, shown
from pitchenv.engine.state import ENDED, NOBODY, THROWN_IN
from pitchenv.game import Game
from pitchenv.games import games, load_rules
from pitchenv.rules import SCORE_LIMIT, Rules

FORMAT: Final = "pitchenv-match"
VERSION: Final = 1


class RecordError(InputError):
    """A record that cannot be read or does not hold up; one line that names the file or line, the deal and the action."""


Score = Annotated[int, Field(ge=-SCORE_LIMIT, le=SCORE_LIMIT)]


def _whole(version: Any) -> Any:
    """True equals 1, as 1.0 does, but neither is a version."""
    if type(version) is not int:
        raise RecordError(f"version = {shown(version)}: allowed: {VERSION}")
    return version


class _Deal(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    dealer: int
    hands: list[list[str]]
    stock: list[str]
    actions: list[str]
    points: list[int] | None = None
    scores: list[int] | None = None


class _Match(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    format: Literal["pitchenv-match"]
    version: Annotated[Literal[1], BeforeValidator(_whole)]
    rules: str | dict[str, Any]
    start_scores: list[Score]
    deals: list[_Deal] = Field(min_length=1)
    winner: int | None


# Making records


def match_record(rules: Rules, deals: Sequence[np.ndarray], **extra: Any) -> dict[str, Any]:
    """The record of a match from the `MATCH` records of its deals in order, each as it ended (the last may go on).

    `extra` is added as it is, for example `agents=[…]` by seat. Raises RecordError where cards are not known (a match made from a
    view), for a deal that was laid out with less than the whole pack, and for an extra name that the format has itself.
    """
    first = deals[0]["public"]
    before = first["scores"] - (first["change"] if first["phase"] == ENDED else 0)
    last = deals[-1]["public"]
    record: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules_text(rules),
        "start_scores": before[: rules.sides].tolist(),
        "deals": [_deal(rules, deal) for deal in deals],
        "winner": None if last["winner"] == NOBODY else int(last["winner"]),
    }
    for name in extra:
        if name in record:
            raise RecordError(f"extra {name!r}: the format has this name itself; allowed: any but {', '.join(record)}")
    return record | extra


def _deal(rules: Rules, match: np.ndarray) -> dict[str, Any]:
    public, hidden = match["public"], match["hidden"]
    actions = match["history"][: public["moves"]].tolist()
    if not all(0 <= action < ACTIONS for action in actions):
        raise RecordError("deal: the history has cards that nobody but their owner knows; allowed: a match, not one made from a view")
    if public["stock_size"] != rules.stock_size:
        raise RecordError(f"deal: its stock had {public['stock_size']} cards; allowed: {rules.stock_size}, the rest of the pack")
    deal: dict[str, Any] = {
        "dealer": int(public["dealer"]),
        "hands": [[CARD_NAMES[c] for c in cards_in(mask)] for mask in hidden["first_hands"][: rules.players].tolist()],
        "stock": [CARD_NAMES[c] for c in hidden["stock"][: public["stock_size"]].tolist()],
        "actions": [action_name(action) for action in actions],
    }
    if public["phase"] == ENDED:
        deal["points"] = None if public["scored"] == THROWN_IN else public["points"][: rules.sides].tolist()
        deal["scores"] = public["scores"][: rules.sides].tolist()
    return deal


def rules_text(rules: Rules) -> str | dict[str, Any]:
    """The name of the game of the table that has these rules, or all their fields."""
    for name in games():
        if load_rules(name) == rules:
            return name
    return rules.to_dict()


# Files


def write_records(path: str | Path, records: Iterable[dict[str, Any]], append: bool = False) -> int:
    """Write records to a file, a line each; returns how many.

    A new file (or the new content of an old one) appears under its name only when it is complete. With `append` whole lines
    are added to what is there, all of them or none. What a record says is not checked. Raises RecordError for what is no dict, when one has
    something JSON has not, when the file cannot be written, and when the last line of a file to be added to is cut off.
    """
    path = file_path("records file", path, RecordError)
    if isinstance(records, str | bytes | Mapping) or not isinstance(records, Iterable):
        raise RecordError(f"records = {shown(records)}: allowed: a list of records")
    lines = [_line(record) for record in records]
    try:
        if append and path.exists():
            _append(path, "".join(lines).encode())
        else:
            _replace(path, "".join(lines).encode())
    except OSError as fault:
        raise RecordError(f"records file {str(path)!r}: cannot be written: {fault.strerror}") from None
    return len(lines)


def _line(record: dict[str, Any]) -> str:
    if not isinstance(record, dict):
        raise RecordError(f"record = {shown(record)}: allowed: a dict with format {FORMAT!r}")
    try:
        return json.dumps(record, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as fault:
        raise RecordError(f"record: {' '.join(str(fault).split())}; allowed: what JSON can hold") from None


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def _append(path: Path, data: bytes) -> None:
    with open(path, "r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                raise RecordError(f"records file {str(path)!r}: its last line is cut off; mend or remove that line before adding to it")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) or 0 :]
            os.fsync(file.fileno())
        except BaseException:
            file.truncate(end)
            raise


def read_records(path: str | Path) -> Iterator[dict[str, Any]]:
    """The records of a file, one after the other; record n is line n. `replay` checks what is in them.

    Raises RecordError that names the line, when it comes to one that is not a JSON object or is cut off: those before it are good.
    """
    path = file_path("records file", path, RecordError)
    where = f"records file {str(path)!r}"
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                yield _parse(line, f"{where}, line {number}")
    except OSError as fault:
        raise RecordError(f"{where}: cannot be read: {fault.strerror}") from None


def _parse(line: bytes, where: str) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise RecordError(f"{where}: cut off, the line has no end; the lines before it are whole")
    try:
        record = json.loads(line, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as fault:  # not UTF-8, not JSON, or too deep
        raise RecordError(f"{where}: not JSON: {fault}") from None
    if not isinstance(record, dict):
        raise RecordError(f"{where}: not a record; allowed: a JSON object with format {FORMAT!r}")
    return record


# Replaying


def replay_file(path: str | Path) -> Iterator[Game]:
    """The matches of a file, each replayed and checked. Raises RecordError that names the line."""
    for number, record in enumerate(read_records(path), start=1):
        yield replay(record, f"records file {str(path)!r}, line {number}")


def replay(record: dict[str, Any], where: str = "record") -> Game:
    """The match of a record, played again action by action.

    Everything in the record is checked against the rules: the cards, the dealers, that every action is legal, points, scores and
    winner. `where` begins the message of the RecordError raised otherwise. Deals after those of the record are not the
    original ones: a record has no random state.
    """
    match = _checked(record, where)
    try:
        if isinstance(match.rules, str):  # by name: a record must not depend on files
            check_keys([match.rules], games(), RecordError, "game")
        rules = load_rules(match.rules) if isinstance(match.rules, str) else Rules.from_dict(match.rules)
    except InputError as fault:
        raise RecordError(f"{where}: {fault}") from None
    if len(match.start_scores) != rules.sides:
        raise RecordError(f"{where}: start_scores = {match.start_scores}: allowed: {rules.sides} numbers, one a side")
    game: Game | None = None
    for number, deal in enumerate(match.deals, start=1):
        at = f"{where}, deal {number}"
        if len(deal.stock) != rules.stock_size:
            raise RecordError(f"{at}: stock: {len(deal.stock)} cards; allowed: {rules.stock_size}, the rest of the pack")
        try:
            if game is None:
                game = Game.from_deal(rules, deal.hands, deal.stock, deal.dealer, match.start_scores)
            else:
                game.next_deal(deal.hands, deal.stock)
        except InputError as fault:
            raise RecordError(f"{at}: {fault}") from None
        _same(at, "dealer", deal.dealer, game.dealer)
        _play(game, deal, at, number == len(match.deals))
    assert game is not None
    _same(where, "winner", match.winner, game.winner)
    return game


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, whose names must differ. Raises ValueError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
        raise ValueError(f"{shown(name)} is given twice")
    return found


def _checked(record: dict[str, Any], where: str) -> _Match:
    if not isinstance(record, dict):
        raise RecordError(f"{where} = {shown(record)}: allowed: a dict with format {FORMAT!r}")
    try:
        return _Match.model_validate(record)
    except ValidationError as error:
        fault = error.errors()[0]
        if fault["type"] in ("missing", "extra_forbidden"):
            name = ".".join(" ".join(str(part).split()) for part in fault["loc"])
            what = "missing" if fault["type"] == "missing" else "unknown"
            raise RecordError(f"{where}: {name}: {what}; a match record has format, version, rules, start_scores, deals, winner") from None
        raise RecordError(f"{where}: {describe(error, _Match)}") from None


def _play(game: Game, deal: _Deal, at: str, last: bool) -> None:
    """Play a deal's actions in `game`, and compare how it ended."""
    for number, action in enumerate(deal.actions, start=1):
        try:
            game.apply(action)
        except IllegalAction as fault:
            raise RecordError(f"{at}, action {number}: {fault}") from None
    if game.phase == "ended":
        _same(at, "points", deal.points, game.points)
        _same(at, "scores", deal.scores, game.scores)
        return
    after = f"{at}, after action {len(deal.actions)}: seat {game.seat} is to act in the {game.phase} phase"
    if not last:
        raise RecordError(f"{after}, but another deal follows; allowed: only the last deal may be unfinished")
    if deal.points is not None or deal.scores is not None:
        raise RecordError(f"{after}, but points or scores are given; allowed: neither before the deal has ended")


def _same(at: str, name: str, given: Any, right: Any) -> None:
    if given != right:
        raise RecordError(f"{at}: {name} = {json.dumps(given)[:80]}: by the rules it is {json.dumps(right)}")

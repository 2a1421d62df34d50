"""Bad input in one clear line: what is wrong, the value, what is allowed, and the nearest thing that was probably meant."""

import difflib
import json
import operator
import reprlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import numpy as np
from pydantic import ValidationError

T = TypeVar("T")


class InputError(ValueError):
    """Something given by a user that can't be used. The message is one line: what, its value, what is allowed."""


_short: Final = reprlib.Repr()
_short.maxlevel, _short.maxlong = 4, 80
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = 20
_short.maxstring = _short.maxother = 200


def shown(value: object) -> str:
    """A value as it stands in a message: in one line, the long and the deep cut short."""
    try:
        return " ".join(_short.repr(value).split())
    except Exception:  # a repr may do anything, and refuses whole numbers of thousands of digits
        return f"<{type(value).__name__}>"


def near(word: object, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` when something known is close to `word`, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1) if isinstance(word, str) else []
    return f"; did you mean {close[0]!r}?" if close else ""


def check_keys(given: Iterable[Any], known: Iterable[str], error: type[ValueError], what: str) -> None:
    """Raise `error` for the first of `given` that is not among `known`."""
    known = list(known)
    for key in given:
        if not isinstance(key, str) or key not in known:
            raise error(f"{what} {shown(key)}: unknown{near(key, known)}; allowed: {', '.join(known)}")


def whole_number(
    name: str, value: Any, low: int | None = None, high: int | None = None, *, also: str = "", error: type[ValueError] = InputError
) -> int:
    """`value` as an int: Python's or NumPy's, from `low` to `high`. Raises `error` for anything else, bool, float and text too.

    `also` says what else is allowed, where the caller has looked for that already.
    """
    number = None
    if not isinstance(value, bool):
        with suppress(TypeError):
            number = operator.index(value)
    if number is not None and (low is None or number >= low) and (high is None or number <= high):
        return number
    allowed = "" if low is None else f" from {low}" if high is None else f", {low} … {high}"
    allowed = allowed.removeprefix(", ") if number is not None and high is not None else f"a whole number{allowed}"
    raise error(f"{name} = {shown(value)}: allowed: {also}{allowed}")


def yes_or_no(name: str, value: Any) -> bool:
    """`value` as a bool; anything but a bool is refused."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} = {shown(value)}: allowed: True, False")
    return bool(value)


def sequence(name: str, value: Any, of: str) -> list[Any]:
    """The items of a list, tuple, array or the like; texts, mappings, sets and what is no sequence at all are refused."""
    if isinstance(value, str | bytes) or not (isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim)):
        raise InputError(f"{name} = {shown(value)}: allowed: a list of {of}")
    return list(value)


def mapping(name: str, value: Any, error: type[ValueError] = InputError) -> Mapping[str, Any]:
    """`value` if it is a dict or the like."""
    if not isinstance(value, Mapping):
        raise error(f"{name} = {shown(value)}: allowed: a dict")
    return value


def file_path(name: str, value: Any, error: type[ValueError] = InputError) -> Path:
    """`value`, a text or a `Path`, as the path of a file."""
    if not isinstance(value, str | Path) or "\0" in str(value) or not Path(value).name:
        raise error(f"{name} {shown(str(value) if isinstance(value, Path) else value)}: allowed: the path of a file")
    return Path(value)


def _bounds(field: Any) -> list[int]:
    """The least and the most of a field of whole numbers, or of a list of them."""
    if field is None:
        return []
    constraints = list(field.metadata)
    for item in get_args(field.annotation):
        constraints += [c for info in getattr(item, "__metadata__", ()) for c in getattr(info, "metadata", ())]
    return [getattr(c, bound) for bound in ("ge", "le") for c in constraints if hasattr(c, bound)]


def describe(error: ValidationError, cls: Any, given: Mapping[str, Any] | None = None) -> str:
    """The first fault that pydantic found in a value of `cls`, as one line: field = value: what is allowed.

    With `given`, the values by field, the value of a field that is a list is shown whole.
    """
    fault = error.errors()[0]
    if fault["type"] == "value_error":  # one of our own checks has said it already
        return str(fault["ctx"]["error"])
    where = [str(part) for part in fault["loc"]]
    if fault["type"] == "unexpected_positional_argument":
        return f"{cls.__name__}({shown(fault['input'])}): a value without a name; allowed: fields by name"
    field, value = ".".join(where), fault["input"]
    if given and len(where) > 1:
        field, value = where[0], given[where[0]]
    message = fault["msg"].replace("Input should be", "allowed:").replace("a valid tuple", "a list")
    bounds = _bounds(cls.__pydantic_fields__.get(where[0]) if where else None)
    if len(bounds) == 2:  # pydantic names only the bound that was broken, and none for another type
        span = f"{bounds[0]} … {bounds[1]}"
        if "than" in message:
            message = f"allowed: {span}"
        elif fault["type"] == "int_type":
            message = f"allowed: a whole number, {span}"
        elif fault["type"] in ("tuple_type", "list_type"):
            message = f"allowed: a list of whole numbers, {span}"
    return " ".join(f"{field} = {shown(value)}: {message}".split())


def one_line(error: type[ValueError]) -> Callable[[type[T]], type[T]]:
    """Class decorator for pydantic dataclasses: a refused value raises `error` with one line."""

    def decorate(cls: type[T]) -> type[T]:
        checked = cls.__init__

        @wraps(checked)
        def __init__(self: Any, *args: Any, **fields: Any) -> None:
            known = cls.__dataclass_fields__  # type: ignore[attr-defined]
            check_keys(fields, known, error, "field")
            try:
                checked(self, *args, **fields)
            except ValidationError as fault:
                raise error(describe(fault, cls, fields)) from None

        cls.__init__ = __init__  # type: ignore[method-assign]
        return cls

    return decorate


def read_toml(what: str, path: Path, error: type[ValueError]) -> dict[str, Any]:
    """The fields of a TOML file. Raises `error` with one line when it can't be read or is not TOML."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as fault:
        raise error(f"{what} {str(path)!r}: cannot be read: {fault.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise error(f"{what} {str(path)!r}: not TOML: {fault}") from None
    except RecursionError:
        raise error(f"{what} {str(path)!r}: nested too deeply") from None


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises OSError when it can't be read, ValueError when it is not JSON."""
    try:
        return json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("nested too deeply") from None

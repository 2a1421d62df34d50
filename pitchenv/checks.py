"""Bad input in one clear line: what is wrong, the value, what is allowed, and the nearest thing that was probably meant."""

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from pydantic import ValidationError

T = TypeVar("T")


class InputError(ValueError):
    """Something given by a user that can't be used. The message is one line: what, its value, what is allowed."""


def near(word: object, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` when something known is close to `word`, else nothing."""
    close = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def check_keys(given: Iterable[Any], known: Iterable[str], error: type[ValueError], what: str) -> None:
    """Raise `error` for the first of `given` that is not among `known`."""
    known = list(known)
    for key in given:
        if key not in known:
            raise error(f"{what} {key!r}: unknown{near(key, known)}; allowed: {', '.join(known)}")


def describe(error: ValidationError, cls: Any) -> str:
    """The first fault that pydantic found in a value of `cls`, as one line: field = value: what is allowed."""
    fault = error.errors()[0]
    if fault["type"] == "value_error":  # one of our own checks has said it already
        return str(fault["ctx"]["error"])
    field = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].replace("Input should be", "allowed:")
    if "than" in message:  # pydantic names only the bound that was broken
        constraints = getattr(cls.__pydantic_fields__.get(fault["loc"][0]), "metadata", [])
        bounds = [getattr(item, name) for name in ("ge", "le") for item in constraints if hasattr(item, name)]
        if len(bounds) == 2:
            message = f"allowed: {bounds[0]} … {bounds[1]}"
    return " ".join(f"{field} = {fault['input']!r}: {message}".split())


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
                raise error(describe(fault, cls)) from None

        cls.__init__ = __init__  # type: ignore[method-assign]
        return cls

    return decorate

"""Options of players that search, as they stand in a spec: `name=value`, commas between, each at most once.

A value runs to the next comma, so it may hold `:` and `=` (another spec, a path) but no comma.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents import AgentError
from pitchenv.checks import check_keys, shown


@dataclass(frozen=True)
class Option:
    """What an option may be: `read` makes a value of its text, or raises ValueError saying what is allowed; `default` where not given."""

    default: Any
    read: Callable[[str], Any]


def whole(default: int | None, low: int, high: int) -> Option:
    """A whole number, low … high; None where it depends."""

    def read(text: str) -> int:
        if not (text.isascii() and text.lstrip("+-").isdigit() and len(text) < 20) or not low <= int(text) <= high:
            raise ValueError(f"a whole number, {low} … {high}")
        return int(text)

    return Option(default, read)


def real(default: float, low: float, high: float) -> Option:
    """A number, low … high."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise ValueError(f"a number, {low:g} … {high:g}")
        return value

    return Option(default, read)


def yes_no(default: bool | None) -> Option:
    """yes or no; None where it depends."""

    def read(text: str) -> bool:
        if text not in ("yes", "no"):
            raise ValueError("yes, no")
        return text == "yes"

    return Option(default, read)


def word(default: str | None, what: str) -> Option:
    """Any text that is not empty, such as an agent; `what` says what it is."""

    def read(text: str) -> str:
        if not text:
            raise ValueError(what)
        return text

    return Option(default, read)


def read_options(agent: str, text: str, known: Mapping[str, Option]) -> dict[str, Any]:
    """The values of all `known` options, from what stands behind an agent's colon: `"worlds=30,inference=yes"`.

    Raises AgentError with one line for what is no `name=value`, for an unknown name, a second value, and one that is not allowed.
    """
    values = {name: option.default for name, option in known.items()}
    given: set[str] = set()
    for part in text.split(",") if text else []:
        name, equals, value = part.partition("=")
        if not equals and name not in known:
            raise AgentError(f"agent {agent!r}: {shown(part)} is no option; allowed: name=value, of {', '.join(known)}")
        check_keys([name], known, AgentError, f"agent {agent!r}: option")
        if not equals:
            raise AgentError(f"agent {agent!r}: option {name!r} has no value; allowed: {name}=…")
        if name in given:
            raise AgentError(f"agent {agent!r}: option {name!r} is given twice; allowed: once")
        given.add(name)
        try:
            values[name] = known[name].read(value)
        except ValueError as fault:
            raise AgentError(f"agent {agent!r}: {name} = {shown(value)}: allowed: {fault}") from None
    return values


def split_subject(agent: str, text: str, known: Mapping[str, Option], what: str) -> tuple[str, str]:
    """The run or agent that an agent is built on, which comes first and ends at the first comma, and the options behind it.

    Raises AgentError where it is missing. (So a path with a comma can't be given.)
    """
    subject, _, options = text.partition(",")
    if not subject or subject.partition("=")[0] in known:
        raise AgentError(f"agent {agent!r}: {'nothing' if not subject else shown(subject)} in the place of {what}; allowed: {agent}:{what}")
    return subject, options

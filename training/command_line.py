"""Command lines from typed dataclasses (tyro), with whatever is wrong said in one line."""

import contextlib
import dataclasses
import io
import itertools
import os
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import tyro

from pitchenv import Rules, load_rules
from pitchenv.checks import InputError, check_keys

T = TypeVar("T")


def option_names(cls: Any, prefix: str = "", without: Sequence[str] = ()) -> list[str]:
    """The options that the fields of a dataclass make, nested ones with a dot."""
    names = []
    for field in dataclasses.fields(cls):
        if field.name in without:
            continue
        name = f"{prefix}{field.name.replace('_', '-')}"
        if dataclasses.is_dataclass(field.type):
            names += option_names(field.type, f"{name}.")
        elif field.type is bool:
            names += [f"--{name}", f"--{prefix}no-{field.name.replace('_', '-')}"]
        else:
            names.append(f"--{name}")
    return names


def parse(target: Callable[..., T], argv: Sequence[str], command: str, options: Sequence[str]) -> T:
    """What tyro makes of `target` and the arguments. Raises InputError; `--help` prints and exits."""
    given = [argument.split("=")[0].replace("_", "-") for argument in argv if argument.startswith("--")]
    check_keys(given, [*options, "--help"], InputError, "option")
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            return tyro.cli(target, args=list(argv), prog=f"python -m training {command}")
    except SystemExit as stopped:
        if not stopped.code:
            sys.stdout.write(out.getvalue())
            raise
        raise InputError(_in_one_line(err.getvalue() or out.getvalue())) from None


def _in_one_line(box: str) -> str:
    """What stands in tyro's box between its title and the first rule below; of a missing option, its first sentence of help alone."""
    of_missing = box.partition("Missing from")[2].partition("For full helptext")[0]
    if missing := re.findall(r"^[│ ] {5}(\S+).*((?:\n[│ ] {9}.*)*)", of_missing, re.MULTILINE):
        helps = [" ".join(text.replace("│", " ").split()).removesuffix("(required)").strip() for _, text in missing]
        sentences = [re.split(r"(?<=[^.])\.(?: |$)", text)[0] or "see --help" for text in helps]
        return "; ".join(f"{name}: missing; allowed: {s[:1].lower()}{s[1:]}" for (name, _), s in zip(missing, sentences, strict=True))
    lines = [line.strip("│╭╮╰╯─- ") for line in box.splitlines()[1:]]
    said = itertools.takewhile(bool, itertools.dropwhile(lambda line: not line, lines))
    return " ".join(" ".join(said).split()) or "the arguments cannot be read"


def check_new_file(option: str, path: Path) -> None:
    """Raise InputError if a file can't be written there, before the work whose result it is to hold."""
    try:
        if not path.name or path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise OSError
        if path.exists() and not os.access(path, os.W_OK):
            raise OSError
    except (OSError, ValueError):
        raise InputError(f"{option} = {str(path)!r}: cannot be written; allowed: a file in a folder that exists") from None


def rules_of(game: str, changes: Sequence[str]) -> Rules:
    """The rules of a game, by name or file, with fields changed as `--set` has them. Raises InputError."""
    return load_rules(game, **rule_changes(changes))


def rule_changes(texts: Sequence[str]) -> dict[str, Any]:
    """`widow=2` and the like as fields and values, each as TOML has it, or else a text. Raises InputError."""
    changes = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"set {text!r}: allowed: FIELD=VALUE, such as widow=2")
        try:
            changes[name] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            changes[name] = value
    return changes

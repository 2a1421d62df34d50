"""The file that a command writes its result to."""

import json
import os
from pathlib import Path
from typing import Any

import pitchenv
from pitchenv.checks import InputError
from pitchenv.policies.heuristic import HEURISTIC_VERSION
from training.files import write_file, writing


def check_another(option: str, path: Path, what: str, other: Path) -> None:
    """Raise InputError if writing `path` would overwrite the file `other`, however either is spelled."""
    real, real_other = os.path.realpath(path), os.path.realpath(other)
    same = not {real, real + ".tmp"}.isdisjoint({real_other, real_other + ".tmp"})  # write_file writes there first
    if not same and os.path.exists(real) and os.path.exists(real_other):
        same = os.path.samefile(real, real_other)  # names that differ in case only, where the file system does not mind
    if same:
        raise InputError(f"{option} = {str(path)!r}: the same file as {what}; allowed: another")


def versions() -> dict[str, Any]:
    """Of what makes a result what it is."""
    return {"pitchenv": pitchenv.__version__, "heuristic": HEURISTIC_VERSION}


def write_json(option: str, path: Path, report: dict[str, Any]) -> None:
    """Write a result as JSON; see `write_result`."""
    write_result(option, path, (json.dumps(report, indent=1) + "\n").encode())


def write_result(option: str, path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a link stays one. Raises InputError."""
    with writing(f"{option} = {str(path)!r}"):
        if path.exists() and not path.is_file():  # a pipe or device takes no other's place
            path.write_bytes(content)
        else:
            write_file(Path(os.path.realpath(path)), content)

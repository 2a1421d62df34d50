"""Files that are never half there, in folders that one process at a time writes to."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pitchenv.checks import InputError

LOCK_FILE: Final = "lock"


def write_file(path: Path, content: bytes) -> None:
    """Write a file so that a crash leaves either the old or the new one."""
    beside = path.with_name(path.name + ".tmp")
    with open(beside, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


@contextlib.contextmanager
def writing(what: str, hint: str = "") -> Iterator[None]:
    """Say in one line that something can't be written: InputError, which begins with `what` and ends with `hint`."""
    try:
        yield
    except OSError as fault:
        raise InputError(f"{what}: cannot be written: {fault.strerror}{hint}") from None


@contextlib.contextmanager
def alone_in(folder: Path, what: str, taken: str) -> Iterator[None]:
    """Hold a folder's lock, which the system gives back however the process ends. Nothing where there are no such locks.

    Raises InputError: `taken` where another process holds it, or that the lock can't be written, which begins with `what`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        file = open(folder / LOCK_FILE, "ab")  # noqa: SIM115, closed below
    except OSError as fault:
        raise InputError(f"{what}: {LOCK_FILE} cannot be written: {fault.strerror}") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(taken) from None
        except OSError:
            pass  # a file system without locks
        yield

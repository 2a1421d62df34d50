"""`@kernel`: Numba's `njit` with an on-disk cache that can't go stale.

Numba's own cache looks only at the file of the function itself, so a caller would be loaded with yesterday's callee after an
edit elsewhere. Here the cache folder's name is a fingerprint of every source that a kernel may depend on: all of
`pitchenv/engine/`, the number tables `cards.py` and `actions.py`, and the kernel's own file with those beside it; for kernels outside
`pitchenv` also the rule-based player's. Another edit, another folder. The rule that makes this sound (a test holds it): a kernel calls
kernels and uses constants of those files only.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config as _config

config: Any = _config  # numba's settings are made at run time, njit's `_nrt` is not in its types
njit: Any = numba.njit

ENGINE = Path(__file__).parent
SHARED_SOURCES = (*sorted(ENGINE.glob("*.py")), ENGINE.parent / "cards.py", ENGINE.parent / "actions.py")
PLAYER_SOURCES = tuple(sorted((ENGINE.parent / "policies" / "heuristic").glob("*.py")))  # a search may play it in its worlds
_WEEK = 7 * 86_400.0
F = TypeVar("F", bound=Callable[..., Any])


@cache
def fingerprint(source: str) -> str:
    """A digest of the sources that kernels in the file `source` may depend on, and of the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    own = Path(source)
    beside = () if own.parent in (ENGINE, ENGINE.parent) else own.parent.glob("*.py")
    of_player = () if ENGINE.parent in own.parents else PLAYER_SOURCES
    # A set, so that all of the engine shares one fingerprint and one folder.
    for path in sorted({*SHARED_SOURCES, own, *beside, *of_player}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_roots() -> Iterator[Path]:
    """Where compiled kernels may be kept, best first: `$NUMBA_CACHE_DIR`, beside the engine, the user's cache folder, a passing one."""
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    yield ENGINE / "__pycache__"
    with suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pitchenv"
    yield Path(tempfile.gettempdir()) / "pitchenv"


@cache
def cache_folder(source: str) -> Path | None:
    """The cache folder of the kernels in the file `source`, under the first root that can be written to; None when there is none."""
    name = f"kernels-{fingerprint(source)}"
    for root in cache_roots():
        folder = root / name
        new = not folder.exists()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            os.utime(folder)  # in use: not to be cleared away
        except OSError:
            continue
        if new:
            clear_unused(root)
        return folder
    return None


def clear_unused(root: Path) -> None:
    """Remove the folders of old sources that nobody has used for a week."""
    for old in root.glob("kernels-*"):
        try:
            unused = time.time() - old.stat().st_mtime > _WEEK
        except OSError:  # another process is clearing it too
            continue
        if unused:
            shutil.rmtree(old, ignore_errors=True)


def kernel(function: F) -> F:
    """Compile `function` at its first call, or load it from the cache.

    Kernels allocate nothing (an attempt is refused when they compile): scratch space is handed to them. So Numba's reference counting is
    off, which otherwise costs an atomic operation for every array and slice passed on, in all about half of a step.
    """
    folder = cache_folder(function.__code__.co_filename)
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        # Without a folder nothing is kept: Numba's own place, beside the source, has no fingerprint.
        return njit(cache=folder is not None, error_model="numpy", _nrt=False)(function)
    finally:
        config.CACHE_DIR = before


def compiled(source: str) -> bool:
    """Whether the kernels of the file `source` have been compiled on this machine before."""
    folder = cache_folder(source)
    return folder is not None and any(folder.rglob("*.nbi"))

"""`@kernel`: Numba's `njit` with an on-disk cache that can't go stale.

Numba's own cache looks only at the file of the function itself, so a caller would be loaded with yesterday's callee after an
edit elsewhere. Here the cache folder's name is a fingerprint of every source that a kernel may depend on: all of
`pitchenv/engine/`, the number tables `cards.py` and `actions.py`, and the kernel's own file with those beside it. Another edit,
another folder. The rule that makes this sound (a test holds it): a kernel calls kernels and uses constants of those files only.
"""

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import config as _config

config: Any = _config  # numba's settings are made at run time, njit's `_nrt` is not in its types
njit: Any = numba.njit

ENGINE = Path(__file__).parent
SHARED_SOURCES = (*sorted(ENGINE.glob("*.py")), ENGINE.parent / "cards.py", ENGINE.parent / "actions.py")
_DAY = 86_400.0
F = TypeVar("F", bound=Callable[..., Any])


@cache
def fingerprint(source: str) -> str:
    """A digest of the sources that kernels in the file `source` may depend on, and of the compiler's version."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    own = Path(source)
    beside = () if own.parent in (ENGINE, ENGINE.parent) else sorted(own.parent.glob("*.py"))
    # A set, so that all of the engine shares one fingerprint and one folder.
    for path in sorted({*SHARED_SOURCES, own, *beside}):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_root() -> Path:
    """Where compiled kernels are kept: `$NUMBA_CACHE_DIR`, else beside the engine, else (not writable) the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for root in (ENGINE / "__pycache__", home / "pitchenv"):
        try:
            root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=root):
                return root
        except OSError:
            continue
    return Path(tempfile.gettempdir()) / "pitchenv"


@cache
def cache_folder(source: str) -> Path:
    """The cache folder of the kernels in the file `source`; folders unused for a day are cleared away."""
    folder = cache_root() / f"kernels-{fingerprint(source)}"
    if not folder.exists():
        for old in cache_root().glob("kernels-*"):
            if time.time() - old.stat().st_mtime > _DAY:
                shutil.rmtree(old, ignore_errors=True)  # another process may be clearing it too
    return folder


def kernel(function: F) -> F:
    """Compile `function` at its first call, or load it from the cache.

    Kernels allocate nothing (an attempt is refused when they compile): scratch space is handed to them. So Numba's reference counting is
    off, which otherwise costs an atomic operation for every array and slice passed on, in all about half of a step.
    """
    before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder(function.__code__.co_filename))
    try:
        return njit(cache=True, error_model="numpy", _nrt=False)(function)
    finally:
        config.CACHE_DIR = before


def compiled(source: str) -> bool:
    """Whether the kernels of the file `source` have been compiled on this machine before."""
    folder = cache_folder(source)
    return folder.exists() and any(folder.rglob("*.nbi"))

"""One line for whoever waits while kernels compile, once after an install or an update."""

import sys
from functools import cache

from pitchenv.engine import kernel, table


@cache
def announce_compiling(what: str = "the rules engine", source: str = table.__file__) -> None:
    """Say so if the kernels of the file `source` are not in the cache yet."""
    if not kernel.compiled(source):
        print(f"pitchenv: compiling {what} (once after an install or update, 10 to 20 s) …", file=sys.stderr, flush=True)

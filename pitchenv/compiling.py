"""One line for whoever waits while the engine compiles, once after an install or an update."""

import sys
from functools import cache

from pitchenv.engine import kernel, table


@cache
def announce_compiling() -> None:
    """Say so if the kernels are not in the cache yet."""
    if not kernel.compiled(table.__file__):
        print("pitchenv: compiling the rules engine (once after an install or update, 10 to 20 s) …", file=sys.stderr, flush=True)

"""Where the time of a run goes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds by name; `with clock("engine"): …` adds to one."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds  # added to

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begun

    def shares(self) -> dict[str, float]:
        """The part of the whole that each took."""
        total = sum(self.seconds.values()) or 1.0
        return {name: seconds / total for name, seconds in sorted(self.seconds.items())}

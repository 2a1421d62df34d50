"""How far a run is: a bar on a terminal, a plain line now and then elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

SECONDS_BETWEEN_LINES = 30.0


def bar_on(console: Console) -> Bar:
    """A bar for tasks of known length, which goes when it is through; on no terminal nothing is shown."""
    what = TextColumn("{task.description}", markup=False)  # agents' names are no markup
    return Bar(
        what, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    )


class Progress:
    """Iterations done, deals a second, time left and the last evaluation."""

    def __init__(self, iterations: int, begun_at: int, deals_per_iteration: int) -> None:
        self._console = Console()
        self._iterations, self._begun_at, self._deals = iterations, begun_at, deals_per_iteration
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
        self._bar = Bar(*columns, console=self._console) if self._console.is_terminal else None
        self._begun = self._said = time.monotonic()

    def __enter__(self) -> "Progress":
        if self._bar:
            self._bar.start()
            self._task = self._bar.add_task("…", total=self._iterations, completed=self._begun_at)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar:
            self._bar.stop()

    def advance(self, iteration: int, evaluation: dict[str, float]) -> None:
        """An iteration has been done."""
        now = time.monotonic()
        rate = (iteration - self._begun_at) * self._deals / (now - self._begun)
        margins = ", ".join(f"{key[5:]} {value:+.2f}" for key, value in evaluation.items() if key.startswith("eval/") and "half" not in key)
        text = f"{iteration}/{self._iterations} · {rate:,.0f} deals/s" + (f" · {margins}" if margins else "")
        if self._bar:
            self._bar.update(self._task, completed=iteration, description=text)
        elif now - self._said > SECONDS_BETWEEN_LINES or iteration == self._iterations:
            left = (self._iterations - iteration) * self._deals / rate
            print(f"{text} · {now - self._begun:.0f} s, {left:.0f} s left", flush=True)
            self._said = now

    def say(self, line: str) -> None:
        """A line of its own."""
        self._console.print(line, highlight=False, markup=False, emoji=False, soft_wrap=True)

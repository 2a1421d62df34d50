"""Small runs, and refusals, as tests of training want them."""

from pathlib import Path
from typing import Any

import pytest

from agents.learned import newest_checkpoint
from tests.training.conftest import small_config
from training.__main__ import main
from training.run import Run
from training.train import Stop


def begin(folder: Path, **changes: Any) -> Run:
    """A new small run in its folder."""
    return Run.begin(small_config(**changes), folder)


def weights(run: Path) -> dict[str, bytes]:
    """The networks of a run's newest checkpoint, byte for byte."""
    return {path.name: path.read_bytes() for path in newest_checkpoint(run).glob("*.safetensors")}


def figures(run: Run) -> list[dict[str, float]]:
    """A run's curve without the time it took."""
    return [{name: value for name, value in point.items() if name != "cpu_seconds"} for point in run.curve]


class StopAt(Stop):
    """Asks to stop when the run has come to an iteration."""

    def __init__(self, run: Run, iteration: int) -> None:
        self.run, self.at = run, iteration

    @property
    def asked(self) -> bool:  # type: ignore[override]
        return self.run.iteration >= self.at


def refuse(capsys: pytest.CaptureFixture[str], argv: list[str], *words: str) -> None:
    """The command ends with exit code 2 and one line that has these words."""
    capsys.readouterr()  # what was said before is not the command's
    assert main(argv) == 2
    message = capsys.readouterr().err.strip()
    assert len(message.splitlines()) == 1
    for word in words:
        assert word in message


def copy_run(run: Path, to: Path) -> Path:
    """A copy that may be damaged; returns its newest checkpoint."""
    import shutil

    shutil.copytree(run, to)
    return newest_checkpoint(to)

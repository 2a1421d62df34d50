"""The commands' own refusals: one line, exit code 2, before any work is done."""

from pathlib import Path

import pytest

from training.__main__ import main


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["match", "random", "random", "--dealz", "10"], ["'--dealz'", "'--deals'"]),
        (["match", "random", "random", "--deals", "ten"], ["deals", "ten"]),
        (["match", "random", "random", "--deals", "100000000000"], ["deals = 100000000000", "at most"]),
        (["match", "random", "random", "--json", "."], ["json", "cannot be written"]),
        (["match", "random", "random", "--json", "none/x.json"], ["json", "none/x.json", "folder that exists"]),
        (["match", "random", "random", "--json", "x", "--records", "x"], ["records = 'x'", "another"]),
        (["match", "random", "random", "--set", "widow"], ["widow", "FIELD=VALUE"]),
        (["match", "random"], ["agents: 1 given", "two or more"]),
        (["bench", "--secnds", "1"], ["'--secnds'", "'--seconds'"]),
        (["bench", "--seconds", "nan"], ["seconds = nan", "above 0"]),
        (["bench", "--json", "none/x.json"], ["json", "none/x.json"]),
        (["bench", "--games", "smeer"], ["'smeer'", "'smear'"]),
        (["best-response", "random"], ["--out: missing; allowed: "]),
        (["analyze"], ["RECORD: missing; allowed: a file of match records"]),
        (["benhc"], ["'benhc'", "'bench'"]),
        (["train", "none.toml"], ["none.toml", "cannot be read"]),
        (["train", "--run", ""], ["run", "cannot be written"]),
        (["train", "--run", "x" * 300], ["run", "cannot be written"]),
    ],
)
def test_one_line(
    argv: list[str], words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(argv) == 2
    message = capsys.readouterr().err.strip()
    assert len(message.splitlines()) == 1
    for word in words:
        assert word in message
    assert not list(tmp_path.iterdir())


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "self-play" in capsys.readouterr().out
    for command, word in (("train", "--ppo.lr"), ("match", "--deals"), ("bench", "--seconds")):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert not stopped.value.code
        assert word in capsys.readouterr().out

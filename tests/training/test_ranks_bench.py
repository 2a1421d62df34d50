"""The benchmark of ranks: what is run, and what is made of the rates."""

import json
from pathlib import Path

import pytest

from pitchenv.checks import InputError
from training import ranks_bench


def test_ratios_are_within_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[int, int, int]] = []
    rates = iter([100.0, 150.0, 180.0, 200.0, 220.0, 400.0, 50.0, 80.0, 90.0])  # one, together, apart; round by round

    def rate(config: Path, ranks: int, deals: int, iterations: int, runs: int = 1) -> float:
        asked.append((ranks, deals, runs))
        return next(rates)

    monkeypatch.setattr(ranks_bench, "decisions_a_second", rate)
    ranks_bench.main(["--json", str(tmp_path / "a.json")])
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["ratios"] == {"together": 1.5, "apart": 1.8}  # medians of 1.5, 1.1, 1.6 and of 1.8, 2, 1.8
    assert asked[:3] == [(1, 1024, 1), (2, 2048, 1), (1, 1024, 2)]
    assert "together × 1.50, apart × 1.80" in capsys.readouterr().out
    rates, asked = iter([1.0] * 3), []
    ranks_bench.main(["--divide", "--rounds", "1", "--ranks", "4"])
    assert asked == [(1, 1024, 1), (4, 1024, 1), (1, 1024, 4)]


def test_rates_of_real_runs_add_up(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('game = "auction-2"\n[ppo]\nminibatches = 1\n[network]\nhidden = [8]\ncritic_hidden = [8]\n')
    assert ranks_bench.decisions_a_second(config, 1, 8, 3, runs=2) > 0


@pytest.mark.parametrize(("argv", "words"), [(["--ranks", "1"], "ranks = 1: allowed: from 2"), (["--iterations", "2"], "iterations = 2")])
def test_bad_input(argv: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        ranks_bench.main(argv)

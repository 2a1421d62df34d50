"""The benchmark: that it measures what it says, not how fast anything is."""

import json
import time

import pytest

import pitchenv
import training.__main__
from pitchenv.engine import kernel, table
from training import bench
from training.timing import rates, until


def test_rates_are_medians_of_turns_taken_one_after_the_other():
    turns, spent = [], iter([1.0, 1.0, 0.5, 9.0, 1.0, 1.0, 2.0, 1.0])  # the first turn of each is to warm up

    def doing(name, amount):
        def run(seconds):
            turns.append((name, seconds))
            return amount, next(spent)

        return run

    assert rates({"a": doing("a", 10), "b": doing("b", 30)}, 0.2, 3) == {"a": 10.0, "b": 30.0}
    assert [name for name, _ in turns] == ["a", "b"] * 4
    assert [seconds for _, seconds in turns] == [0.05] * 2 + [0.2] * 6


def test_work_is_repeated_until_the_time_is_up_and_counted():
    calls = []
    begun = time.perf_counter()
    done, spent = until(lambda: calls.append(1) or 5)(0.02)
    assert time.perf_counter() - begun >= 0.02
    assert done == 5 * len(calls) > 0
    assert spent > 0


@pytest.mark.parametrize("name", ["auction-3", "oklahoma-4"])
def test_what_is_counted_are_decisions(name):
    rules = pitchenv.load_rules(name)
    deal = bench._Deal(name)
    assert rules.players * rules.tricks < deal() < 96
    play = bench._RandomPlay(name, 8)
    assert play() == 8 * bench.RANDOM_DECISIONS
    step = bench._Step(name, 8)
    done, spent = step(0.02)
    assert done >= 8
    assert done % 8 == 0
    assert spent > 0
    assert bench._ZeroFill(step.batch)() == 8
    assert step.batch.mask.any(axis=1).all()  # the yardstick has its own arrays


def test_ratios():
    measured = {"random play 64": 8.0, "random play 256": 10.0, "step 64": 3.0, "step 256": 2.0, "zero-fill 64": 9.0, "zero-fill 256": 4.0}
    measured |= {"Game from Python": 6.0, "AEC raw": 5.0, "AEC wrapped": 4.0}
    assert bench.ratios(measured, (64, 256)) == {"random play, fastest batch size / slowest": 1.25, "step / zero-fill, 256": 0.5}
    measured |= {"openspiel spades in C++": 2.0, "openspiel spades from Python": 3.0, "hanabi_v5 raw": 0.5, "hanabi_v5 wrapped": 0.4}
    assert bench.ratios(measured, (64, 256)) == {
        "random play, fastest batch size / slowest": 1.25,
        "step / zero-fill, 256": 0.5,
        "random play, slowest batch size / openspiel spades in C++": 4.0,
        "step, best size up to 1024 / openspiel spades in C++": 1.5,
        "Game from Python / openspiel spades from Python": 2.0,
        "AEC raw / hanabi_v5 raw": 10.0,
        "AEC wrapped / hanabi_v5 wrapped": 10.0,
    }


def test_the_command(tmp_path, capsys):
    file = tmp_path / "bench.json"
    bench.main(["--quick", "--games", "smear", "--seconds", "0.01", "--json", str(file)])
    results = json.loads(file.read_text())
    measured = results["games"]["smear"]["decisions a second"]
    for kind in ("random play 64", "step 256", "zero-fill 256", "Game from Python", "AEC raw", "AEC wrapped"):
        assert measured[kind] > 0
    assert results["games"]["smear"]["ratios"] == bench.ratios(measured, (64, 256))
    assert results["machine"]["numba"]
    said = capsys.readouterr().out
    assert "smear, decisions a second" in said
    assert "AEC wrapped" in said


def test_start_up_is_measured_in_another_process():
    cache = str(kernel.cache_folder(table.__file__).parent)
    assert bench._seconds(bench._IMPORT, cache) > 0
    assert bench._seconds(bench._FIRST_STEP, cache) > 0
    with pytest.raises(ValueError, match="start-up: the script failed: ZeroDivisionError"):
        bench._seconds("1 / 0", cache)


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--games", "smaer"], "game 'smaer': unknown; did you mean 'smear'?"),
        (["--seconds", "0"], "seconds = 0.0"),
        (["--quick", "--seconds", "0.01", "--json", "no/such/folder.json"], "json = 'no/such/folder.json': cannot be written"),
    ],
)
def test_wrong_input_is_one_line_and_exit_status_2(argv, says, capsys):
    assert training.__main__.main(["bench", *argv]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1

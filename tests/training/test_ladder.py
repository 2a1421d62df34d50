"""A ladder: the same tables however it is run, killed, or gone on with; and agents that fail drop out."""

import csv
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pitchenv
import training.__main__
from agents import load
from pitchenv.checks import InputError
from training import ladder as ladder_module
from training import workers as workers_module
from training.duplicate import duplicate
from training.ladder import Arguments, main, run
from training.ladder_play import runs_of
from training.ratings import BOOTSTRAPS
from training.workers import WorkerDied, run_tasks

TABLES = ("table.json", "table.csv", "pairs.csv", "table.md", "heatmap.png")
OWN = "tests.training.ladder_agents:"
DICE, SLOW, SLEEPY = OWN + "Dice", OWN + "Slow", OWN + "Sleepy"
ROOT = Path(__file__).parent.parent.parent


def arguments(out, *agents, **options):
    return Arguments(agents, out, **{"deals": 128, "workers": 1, **options})


def at_home(function, tasks, *, apart, **options):
    """One worker is this process, which takes less time where nobody crashes it."""
    return run_tasks(function, tasks, **options)


@pytest.fixture(autouse=True)
def _one_worker_at_home(request, monkeypatch):
    if "kills" not in request.node.name:
        monkeypatch.setattr(ladder_module, "run_tasks", at_home)


def files(folder):
    return {name: (folder / name).read_bytes() for name in TABLES}


def report(folder):
    return json.loads((folder / "table.json").read_text())


def parts(folder):
    return {path: path.stat().st_mtime_ns for path in folder.glob("parts/*/*.json")}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The folder of a finished ladder with several parts."""
    folder = tmp_path_factory.mktemp("ladders") / "small"
    run(arguments(folder, "heuristic", DICE, "random", deals=200))
    return folder


# What it comes to


def test_payoffs_are_those_of_match(small):
    table = report(small)
    rules = pitchenv.load_rules("auction-4-partners")
    assert table["agents"][0] == "heuristic"
    assert table["rules"] == "auction-4-partners"
    assert (table["deals"], table["seed"], table["voided"]) == (200, 1, {})
    margin, width = np.array(table["margin"]), np.array(table["half_width"])
    assert np.array_equal(margin, -margin.T)
    assert np.array_equal(width, width.T)
    place = {agent: i for i, agent in enumerate(table["agents"])}
    for a, b in (("heuristic", DICE), ("heuristic", "random"), (DICE, "random")):
        result = duplicate(load(a), load(b), rules, 200, seed=1)
        i, j = place[a], place[b]
        assert margin[i, j] == pytest.approx(result.margin, abs=1e-6)
        assert width[i, j] == pytest.approx(result.half_width, abs=1e-6)
        assert table["won"][i][j] == (result.per_deal > 0).sum()
        assert table["won"][j][i] == (result.per_deal < 0).sum()
        assert table["tied"][i][j] == table["tied"][j][i] == (result.per_deal == 0).sum()
        assert table["share_won"][i][j] == pytest.approx(((result.per_deal > 0) + (result.per_deal == 0) / 2).mean())
    assert table["mean_margin"] == pytest.approx((margin.sum(axis=1) / 2).tolist(), abs=1e-5)
    assert table["mean_margin"] == sorted(table["mean_margin"], reverse=True)


def test_ratings_and_nash_averaging(small):
    table = report(small)
    rating = table["rating"]
    assert (rating["model"], rating["anchor"], rating["bootstraps"]) == ("Bradley-Terry", "random", BOOTSTRAPS)
    at = table["agents"].index("random")
    assert rating["rating"][at] == rating["low"][at] == rating["high"][at] == 0
    assert all(low <= value <= high for low, value, high in zip(rating["low"], rating["rating"], rating["high"], strict=True))
    share = table["share_won"][0][at]
    assert rating["rating"][0] == pytest.approx(400 * np.log10(share / (1 - share)), abs=120)
    assert table["nash"] == {"weight": [1, 0, 0], "skill": [row[0] for row in table["margin"]]}
    assert 0 <= table["cyclic_share"] < 0.05
    assert 0 < table["cyclic_share_by_chance"] < 0.05


def test_csv_and_markdown_say_the_same(small):
    table = report(small)
    rows = list(csv.DictReader((small / "table.csv").open()))
    assert [row["agent"] for row in rows] == table["agents"]
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert [float(row["mean_margin"]) for row in rows] == table["mean_margin"]
    assert [float(row["rating_high"]) for row in rows] == table["rating"]["high"]
    assert [float(row["nash_skill"]) for row in rows] == table["nash"]["skill"]
    pairs = list(csv.DictReader((small / "pairs.csv").open()))
    assert len(pairs) == 6
    for row in pairs:
        i, j = table["agents"].index(row["agent"]), table["agents"].index(row["opponent"])
        assert (float(row["margin"]), float(row["half_width"])) == (table["margin"][i][j], table["half_width"][i][j])
        assert int(row["won"]) + int(row["tied"]) + int(row["lost"]) == int(row["deals"]) == 200
    text = (small / "table.md").read_text()
    assert "auction-4-partners: 200 deals of seed 1" in text
    for i, agent in enumerate(table["agents"]):
        assert f"| `{agent}` | {table['mean_margin'][i]:+.3f} ± {table['mean_half_width'][i]:.3f} |" in text
    assert f"{table['margin'][0][2]:+.3f} ± {table['half_width'][0][2]:.3f}" in text
    assert (small / "heatmap.png").read_bytes().startswith(b"\x89PNG")


def test_the_terminal_is_told(tmp_path, capsys):
    run(arguments(tmp_path / "x", "random", "heuristic", deals=20, changes=("widow=2",), rules="smear"))
    said = capsys.readouterr().out
    table = report(tmp_path / "x")
    assert table["rules"]["widow"] == 2
    assert "house rules: 20 deals of seed 1" in said
    assert f"heuristic over random: {table['margin'][0][1]:+.3f} ± {table['half_width'][0][1]:.3f} points a deal" in said
    assert "heatmap.png" in said


@pytest.mark.parametrize(
    ("game", "agents", "tables"), [("auction-3", 4, 4), ("auction-5", 3, 1), ("oklahoma-6", 3, 1), ("auction-3", 2, 0)]
)
def test_more_than_two_sides(tmp_path, game, agents, tables):
    names = ["random", "heuristic", "heuristic:untuned", SLOW][:agents]
    found = run(arguments(tmp_path / "x", *names, rules=game, deals=20))
    assert found.model == ("Plackett-Luce" if tables else "Bradley-Terry")
    assert len([path for path in (tmp_path / "x" / "parts").iterdir() if path.name.count("-") > 1]) == tables
    assert report(tmp_path / "x")["rating"]["model"] == found.model
    assert found.agents.index("heuristic") < found.agents.index("random")
    assert found.ratings.rating[found.agents.index("heuristic")] > 0
    rules = pitchenv.load_rules(game)
    i, j = found.agents.index("random"), found.agents.index("heuristic")
    assert found.margin[i, j] == pytest.approx(duplicate(load("random"), load("heuristic"), rules, 20, seed=1).margin)


# However it is run


@pytest.mark.parametrize("backend", ["processes", "ray"])
def test_the_same_tables_as_serial(small, tmp_path, backend):
    if backend == "ray":
        pytest.importorskip("ray")
    run(arguments(tmp_path / "x", "heuristic", DICE, "random", deals=200, workers=2, backend=backend))
    assert files(tmp_path / "x") == files(small)


def test_going_on_plays_only_what_is_missing(small, tmp_path):
    folder = tmp_path / "x"
    shutil.copytree(small, folder)
    for name in TABLES:
        (folder / name).unlink()
    gone = sorted(parts(folder))[1:3]
    for path in gone:
        path.unlink()
    before = parts(folder)
    run(arguments(folder, "random", "heuristic", DICE, deals=200))  # in another order
    assert files(folder) == files(small)
    after = parts(folder)
    assert set(after) == {*before, *gone}
    assert {path: after[path] for path in before} == before


def test_more_agents_and_more_deals(small, tmp_path):
    folder = tmp_path / "x"
    run(arguments(folder, "heuristic", DICE, deals=100))
    whole = folder / "parts" / "00-01" / "00000.json"
    kept = whole.stat().st_mtime_ns
    run(arguments(folder, "heuristic", DICE, "random", deals=200))
    assert whole.stat().st_mtime_ns == kept
    assert files(folder) == files(small)


@pytest.mark.parametrize("damage", [lambda content: content[:-30], lambda content: content.replace(b"1", b"2", 1), lambda content: b""])
def test_a_damaged_part_is_played_again(small, tmp_path, capsys, damage):
    folder = tmp_path / "x"
    shutil.copytree(small, folder)
    path = sorted(parts(folder))[0]
    path.write_bytes(damage(path.read_bytes()))
    run(arguments(folder, "heuristic", DICE, "random", deals=200))
    assert f"{path.relative_to(folder)}: damaged, played again" in capsys.readouterr().out.replace("\n", " ")
    assert files(folder) == files(small)
    assert path.read_bytes() == (small / path.relative_to(folder)).read_bytes()


# Killed


def quietly(options):
    ladder_module.run_tasks = at_home  # in a process of the test's own
    with open(os.devnull, "w") as nowhere:
        sys.stdout = nowhere
        run(options)


def test_killed_at_any_moment_it_ends_with_the_same_tables(tmp_path):
    options = arguments(tmp_path / "whole", DICE, SLEEPY, "heuristic", deals=256)
    context = multiprocessing.get_context("forkserver")  # so that no start takes the time of an import
    context.set_forkserver_preload(["training.ladder", "training.heatmap", "tests.training.ladder_agents"])

    def start(options):
        process = context.Process(target=quietly, args=(options,))
        process.start()
        return process

    start(options).join()  # the server and the kernels are warm now
    shutil.rmtree(options.out)
    begun = time.monotonic()
    process = start(options)
    process.join()
    seconds = time.monotonic() - begun
    assert process.exitcode == 0

    again = replace(options, out=tmp_path / "killed")
    moments, kills, played = random.Random(1), 0, {}
    while kills < 10:
        process = start(again)
        process.join(moments.uniform(0.05, 0.3) * seconds)
        if process.is_alive():
            process.kill()
            kills += 1
        process.join()
        now = parts(again.out)
        assert {path: now[path] for path in played} == played  # nothing is played again
        played = now
        if process.exitcode == 0:  # done before its moment: once more from the start
            assert files(again.out) == files(options.out)
            shutil.rmtree(again.out)
            played = {}
    process = start(again)
    process.join()
    assert process.exitcode == 0
    assert files(again.out) == files(options.out)


def test_the_command_killed_with_its_workers_goes_on(tmp_path):
    options = [DICE, SLEEPY, "--deals", "320", "--workers", "2", "--out", "x"]
    code = "import sys; from training.ladder import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, *options]
    where = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=tmp_path, env=where, start_new_session=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not parts(tmp_path / "x") and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    played = parts(tmp_path / "x")
    assert 0 < len(played) < 5
    assert not (tmp_path / "x" / "table.json").exists()
    run(arguments(tmp_path / "x", DICE, SLEEPY, deals=320))
    now = parts(tmp_path / "x")
    assert len(now) == 5
    assert {path: now[path] for path in played} == played
    run(arguments(tmp_path / "whole", DICE, SLEEPY, deals=320))
    assert files(tmp_path / "x") == files(tmp_path / "whole")


# Agents that fail


@pytest.mark.parametrize("workers", [1, 2])
def test_agents_that_fail_drop_out_and_the_rest_goes_on(tmp_path, capsys, workers):
    folder = tmp_path / "x"
    names = (OWN + "Illegal", "heuristic", OWN + "Crashes", DICE, OWN + "Refuses")
    run(arguments(folder, *names, deals=640, workers=workers))
    table = report(folder)
    assert set(table["agents"]) == {"heuristic", DICE}
    assert table["voided"].keys() == {OWN + "Illegal", OWN + "Crashes", OWN + "Refuses"}
    assert table["voided"][OWN + "Illegal"].startswith("proposed an illegal action (against ")
    assert table["voided"][OWN + "Crashes"].startswith("act raised RuntimeError: no idea what to play (against ")
    assert table["voided"][OWN + "Refuses"].startswith("players = 4: not for me (against ")
    assert len(parts(folder)) > 20  # it was in the middle
    said = " ".join(capsys.readouterr().out.split())
    for agent, reason in table["voided"].items():
        assert f"agent {agent!r}: {reason}; its games are void" in said
        assert f"- `{agent}`: {reason}" in (folder / "table.md").read_text()
    assert table["margin"] == [[0, m := table["margin"][0][1]], [-m, 0]]
    run(arguments(tmp_path / "alone", "heuristic", DICE, deals=640))
    assert report(tmp_path / "alone")["margin"] == table["margin"]
    if workers == 2:  # who drops out for what does not depend on the speed of workers
        run(arguments(tmp_path / "serial", *names, deals=640))
        assert files(tmp_path / "serial") == files(folder)


def test_who_dropped_out_is_remembered_until_told_otherwise(tmp_path, monkeypatch):
    folder, agent = tmp_path / "x", OWN + "Crashes"
    options = arguments(folder, "heuristic", agent, DICE, deals=640)
    run(options)
    reason = report(folder)["voided"][agent]
    first = files(folder)
    monkeypatch.setattr("tests.training.ladder_agents.Crashes.act", load(SLOW).__class__.act)  # mended
    monkeypatch.setattr("training.ladder_play._loaded", {})
    run(options)
    assert files(folder) == first
    assert agent in json.loads((folder / "voided.json").read_text())
    (folder / "parts" / "00-01.txt").write_text("no part")
    run(replace(options, retry=True))
    assert report(folder)["voided"] == {}
    assert agent in report(folder)["agents"]
    assert reason
    (folder / "voided.json").write_text('{"nobody": "x"}')
    with pytest.raises(InputError, match=r"voided.json' is damaged: names 'nobody', who is not in the ladder; allowed: to delete it"):
        run(options)


def test_a_smaller_table_is_played_when_one_drops_out(tmp_path):
    """With as many agents as sides there is one table; without one of them, another."""
    found = run(arguments(tmp_path / "x", "random", "heuristic", "heuristic:untuned", OWN + "Refuses", rules="auction-5", deals=20))
    assert len(found.agents) == 3
    assert found.model == "Plackett-Luce"


def test_nobody_left(tmp_path):
    with pytest.raises(InputError, match=r"agents: 1 left of 2: .*Refuses' players = 4: not for me .*; allowed: two or more that can play"):
        run(arguments(tmp_path / "x", "random", OWN + "Refuses"))


def test_a_process_that_is_killed_again_and_again_ends_the_ladder_for_now(tmp_path, monkeypatch):
    def killed(function, tasks, **options):
        for index, task in enumerate(tasks):
            yield index, WorkerDied("task 1: signal 9") if task.specs == (DICE, SLOW) else function(task)

    monkeypatch.setattr(ladder_module, "run_tasks", killed)
    says = r"Dice, .*Slow: the process .* their part 0 was killed twice \(task 1: signal 9\), and none .*; what has been played is kept"
    with pytest.raises(InputError, match=says) as one:
        run(arguments(tmp_path / "x", "random", DICE, SLOW, deals=64))
    assert "\n" not in str(one.value)
    assert len(parts(tmp_path / "x")) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_who_kills_its_process_is_named_and_the_rest_goes_on(tmp_path, workers):
    kills = OWN + "Kills"
    run(arguments(tmp_path / "x", "heuristic", kills, DICE, deals=640, workers=workers))
    table = report(tmp_path / "x")
    assert set(table["agents"]) == {"heuristic", DICE}
    said = table["voided"].pop(kills)
    assert said.startswith("killed its process: its process ended by exit code 7, and so did the one before (against ")
    assert not table["voided"]


def test_a_reason_that_cannot_be_had(tmp_path):
    run(arguments(tmp_path / "x", "heuristic", OWN + "Speechless", DICE, deals=20))
    assert report(tmp_path / "x")["voided"] == {OWN + "Speechless": "act raised Unspeakable (against heuristic, part 0)"}


# Bad input


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["random", "--out", "x"], "agents: 1 given; allowed: 2 … 64"),
        (["random", "heurisitc", "--out", "x"], "agent 'heurisitc': unknown; did you mean 'heuristic'?"),
        (["random", "heuristic", "random", "--out", "x"], "agents: 'random' is named 2 times; allowed: each agent once"),
        (["random", "heuristic", "--out", "x", "--deals", "1"], "deals = 1: allowed: 2 … 10000000"),
        (["random", "heuristic", "--out", "x", "--workers", "-1"], "workers = -1: allowed: 0"),
        (["random", "heuristic", "--out", "x", "--rules", "smaer"], "game 'smaer': unknown; did you mean 'smear'?"),
        (["random", "heuristic", "--out", "x", "--set", "widow"], "set 'widow': allowed: FIELD=VALUE"),
        (["random", "heuristic", "--out", "x", "--outt", "x"], "'--outt'"),
        (["random", "heuristic", "--out", "x", "--backend", "rai"], "backend"),
        (["random", "heuristic", "--out", "x", "--workers", "100000"], "workers = 100000: allowed: 0 (all cores), or 1 … 4096"),
        (["random", "heuristic", "--deals", "8"], "--out: missing; allowed: the folder: a new one, or one to go on with\n"),
        (
            [*(f"own:A{number}" for number in range(64)), "--out", "x", "--rules", "auction-5"],
            "agents: 64 given; allowed: at most 18, as 7624512 tables of 5 are too many",
        ),
        (["random", "heuristic", "--out", ""], "out = '.': cannot be written: not a folder's name"),
        (["random", "heuristic", "--out", "x" * 300], "cannot be written"),
        (["random", "heuristic", "--out", "strange"], "out = 'strange': holds 'notes.txt', no ladder.json; allowed: a new folder"),
        (["random", "heuristic", "--out", "damaged"], "ladder.json' is damaged"),
        (["random", "heuristic", "--out", "deep"], "ladder.json' is damaged: ValueError: nested too deeply"),
    ],
)
def test_wrong_input_is_one_line(argv, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(training.__main__.COMMANDS, "ladder", "everybody against everybody")
    for name, file, text in (("strange", "notes.txt", "mine"), ("damaged", "ladder.json", "mine"), ("deep", "ladder.json", "[" * 100_000)):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(text)
    assert training.__main__.main(["ladder", *argv]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["damaged", "deep", "ladder.json", "ladder.json", "notes.txt", "strange"]


def test_other_settings_in_the_same_folder_are_refused(small, tmp_path):
    folder = tmp_path / "x"
    shutil.copytree(small, folder)
    same = arguments(folder, "heuristic", DICE, "random", deals=200)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for change, says in (
        ({"seed": 2}, "seed = 2; the ladder in .* has 1; allowed: the same"),
        ({"deals": 100}, "deals = 100; the ladder in .* has 200; allowed: as many, or more"),
        ({"changes": ("widow=2",)}, "rules: widow = 2; the ladder in .* has 0; allowed: the same"),
        ({"agents": ("heuristic", DICE)}, "agents: 'random' is missing, and is in the ladder in"),
    ):
        with pytest.raises(InputError, match=says) as refusal:
            run(replace(same, **change))
        assert "\n" not in str(refusal.value)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    settings = json.loads((folder / "ladder.json").read_text())
    for wrong in ("random", ["random"]):  # twice, and no text
        (folder / "ladder.json").write_text(json.dumps({**settings, "agents": [*settings["agents"], {"agent": wrong, "digest": None}]}))
        with pytest.raises(InputError, match="is damaged: ValueError: agents: allowed: each once, as text, with its digest"):
            run(same)
    settings["versions"]["heuristic"] = 0
    (folder / "ladder.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match=r"versions: heuristic = .*; the ladder in .* has 0; allowed: the same"):
        run(same)


def test_a_run_that_has_been_trained_on_is_another_agent(small_run, tmp_path):
    trained = tmp_path / "run"
    shutil.copytree(small_run, trained)
    options = arguments(tmp_path / "x", "random", str(trained), deals=20)
    run(options)
    assert report(tmp_path / "x")["digests"].keys() == {str(trained)}
    newest = sorted((trained / "checkpoints").iterdir())[-1]
    shutil.rmtree(newest)
    with pytest.raises(InputError, match="its checkpoint is not the one in the ladder in"):
        run(options)


def test_names_come_before_folders_of_the_same_name(tmp_path, monkeypatch):
    """As `agents.load` has it, so that such folders need be no runs."""
    monkeypatch.chdir(tmp_path)
    for name in ("random", "heuristic", "tests.training.ladder_agents", "Slow", "untuned"):
        (tmp_path / name).mkdir()
    run(arguments(tmp_path / "x", "random", "heuristic", SLOW, "heuristic:untuned", deals=20))
    assert report(tmp_path / "x")["digests"] == {}


def test_runs_are_where_load_reads_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b=1", "c:d", "e,f", "1", "yes"):
        (tmp_path / name).mkdir()
    for spec, runs in (
        *((name, [name]) for name in ("a", "b=1", "c:d", "e,f", "1", "yes")),
        ("sampled:b=1", ["b=1"]),
        ("sampled:e,f", ["e,f"]),
        ("search:c:d,worlds=1,inference=yes", ["c:d"]),
        ("search:b=1,worlds=1", ["b=1"]),
        ("search:sampled:a", ["a"]),
        ("pimc:worlds=1,inference=b=1", ["b=1"]),
        ("pimc:inference=sampled:c:d", ["c:d"]),
        ("ismcts:iterations=1,rollout=a", ["a"]),
        ("pimc:worlds=1", []),
        ("ismcts", []),
    ):
        assert runs_of(spec) == [Path(run) for run in runs], spec


def test_one_ladder_at_a_time_in_a_folder(tmp_path):
    fcntl = pytest.importorskip("fcntl")
    folder = tmp_path / "x"
    folder.mkdir()
    with open(folder / "lock", "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(InputError, match=r"out = '.*x': another ladder is at work in it; allowed: to wait") as refusal:
            run(arguments(folder, "random", "heuristic", deals=20))
        assert [path.name for path in folder.iterdir()] == ["lock"]
    assert "\n" not in str(refusal.value)
    run(arguments(folder, "random", "heuristic", deals=20))  # given back, also after a refusal
    run(arguments(folder, "random", "heuristic", deals=20))


def test_ray_absent_when_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(workers_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="backend = 'ray': Ray is not installed"):
        run(arguments(tmp_path / "x", "random", "heuristic", backend="ray"))
    assert not (tmp_path / "x").exists()


def test_stopped_it_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stopped(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(ladder_module, "run_tasks", stopped)
    with pytest.raises(KeyboardInterrupt):
        main(["random", "heuristic", "--deals", "20", "--out", str(tmp_path / "x")])
    assert "0 parts are kept in" in capsys.readouterr().err

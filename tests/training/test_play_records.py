"""The command `play`: records of what was played, however it ends, and bad options."""

import os
import re
import signal

import pytest

import pitchenv
import training.__main__
from pitchenv.checks import InputError
from pitchenv.records import replay_file, write_records
from tests.training.play_person import AGENTS, Person
from training.analyze import Arguments as Analyze
from training.analyze import run as analyze
from training.play import Arguments, main, run


def test_a_match_to_its_end_is_recorded_and_can_be_analysed(monkeypatch, tmp_path):
    path = tmp_path / "games.jsonl"
    person = Person(monkeypatch, seed=3)
    records = run(Arguments(rules="smear", changes=("target=4",), seed=1, matches=2, record=path))
    assert [record["winner"] is not None for record in records] == [True, True]
    assert len(re.findall("(?:We|They) win the match: ", person.text)) == 2
    assert f"Recorded in {path}: {sum(len(r['deals']) for r in records)} deals\n" in person.text
    before = path.read_bytes()
    Person(monkeypatch, seed=3)
    run(Arguments(seed=1, deals=1, record=path))  # is added
    assert path.read_bytes().startswith(before)
    assert len(list(replay_file(path))) == 3
    report = analyze(Analyze(path, match=1, agent="heuristic"))
    assert report["matches"][0]["agents"] == ["person", "heuristic", "heuristic", "heuristic"]
    assert any(row["agent_agrees"] for row in report["matches"][0]["by_seat"])


@pytest.mark.parametrize("leave", ["quit", "exit", "", "interrupt", "SIGTERM", "SIGHUP"])
def test_who_leaves_keeps_what_was_played(leave, monkeypatch, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [pitchenv.Game("setback").record()])

    class Leaver(Person):
        def answer(self):
            if len(self.typed) < 6:
                return super().answer()
            if leave == "interrupt":
                raise KeyboardInterrupt
            if leave.startswith("SIG"):
                os.kill(os.getpid(), getattr(signal, leave))
            return leave

    person = Leaver(monkeypatch, seed=2)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    main(["--seed", "2", "--record", str(path)])
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before
    assert "\nYou leave the table.\nRecorded in" in person.text
    first, second = replay_file(path)
    assert first.rules == pitchenv.load_rules("setback")
    assert second.phase != "ended"
    assert len(second.actions) + sum(int(deal["public"]["moves"]) for deal in second.deals[:-1]) > 6


def test_an_agent_that_fails_is_named_and_what_was_played_is_kept(monkeypatch, tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    Person(monkeypatch, seed=2)
    with pytest.raises(InputError, match=f"agent '{AGENTS}:Falls': act raised RuntimeError: no idea"):
        main(["--opponents", f"{AGENTS}:Falls", "--seed", "2", "--record", str(path)])
    (game,) = replay_file(path)
    assert game.phase == "play"


def test_nothing_played_is_nothing_recorded(monkeypatch, tmp_path):
    path = tmp_path / "games.jsonl"
    person = Person(monkeypatch, then="quit")
    run(Arguments(rules="auction-6", seed=703377, record=path))
    assert person.text.endswith("You leave the table.\nNothing was played: nothing is recorded\n")
    assert not path.exists()


# The command


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--rules", "smaer"], "game 'smaer': unknown; did you mean 'smear'?"),
        (["--rules", "none.toml"], "cannot be read"),
        (["--set", "widow=two"], "widow = 'two'"),
        (["--seat", "4"], "seat = 4: allowed: 0 … 3"),
        (["--seat", "-1"], "seat = -1: allowed: 0 … 3"),
        (["--seat", "north"], "--seat"),
        (["--opponents", "heurisitc"], "agent 'heurisitc': unknown; did you mean 'heuristic'?"),
        (["--partners", "no/such/run"], "agent 'no/such/run': does not exist"),
        (["--hint", "pimc:worlds=many"], "worlds"),
        (["--opponents", f"{AGENTS}:Refuses"], f"agent '{AGENTS}:Refuses': players = 4: not for me"),
        (["--rules", "auction-3", "--partners", "random"], "partners = 'random': everybody plays alone by these rules"),
        (["--matches", "0"], "matches = 0: allowed: 1 … 10000"),
        (["--deals", "0"], "deals = 0: allowed: 1 … 10000"),
        (["--record", "none/x.jsonl"], "record = 'none/x.jsonl': cannot be written"),
        (["--hnts"], "option '--hnts': unknown; did you mean '--hints'?"),
    ],
)
def test_wrong_options_are_one_line_and_exit_status_2(argv, says, monkeypatch, capsys):
    monkeypatch.setitem(training.__main__.COMMANDS, "play", "play")
    assert training.__main__.main(["play", *argv]) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


@pytest.mark.parametrize("content", ["precious\n", '{"my": "data"}\n', '{"format": "pitchenv-match"}\n{"format": "pitch'])
def test_a_file_of_anything_else_is_not_touched(content, monkeypatch, tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text(content)
    Person(monkeypatch)
    with pytest.raises(InputError, match=r"games\.jsonl.*line|line 1 is no match record"):
        main(["--record", str(path)])
    assert path.read_text() == content

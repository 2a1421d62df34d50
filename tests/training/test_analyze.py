"""What decisions cost, on deals small enough to know it by hand."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import training.__main__
from pitchenv import Game, Rules, load_rules
from pitchenv.actions import action_number
from pitchenv.cards import CARDS
from pitchenv.checks import InputError
from pitchenv.records import RecordError, write_records
from training import analyze
from training.analysis import analyse
from training.analyze import Arguments, main, run

TWO_CARDS = load_rules("auction-2", hand_size=2, tricks=2)


def best(game: Game) -> float:
    """The margin of the pitcher's side, all others together against it, by trying everything."""
    pitchers = game.pitcher % game.rules.sides  # type: ignore[operator]
    if game.seat is None:
        change = game.deals[-1]["public"]["change"][: game.rules.sides]
        return float(change[pitchers] - (change.sum() - change[pitchers]) / (game.rules.sides - 1))
    choose = max if game.seat % game.rules.sides == pitchers else min
    return choose(best(after(game, action)) for action in game.legal_actions())


def after(game: Game, action: int) -> Game:
    twin = game.copy()
    twin.apply(action)
    return twin


def brute_force(rules: Rules) -> Any:
    """The exact solver's slow twin."""

    def cards(matches: np.ndarray) -> np.ndarray:
        values = np.full((len(matches), CARDS), np.nan)
        for row, match in zip(values, matches, strict=True):
            game = Game.from_record(rules, match)
            for action in game.legal_actions():
                row[action] = best(after(game, action))
        return values

    return cards


@pytest.fixture(autouse=True)
def slow_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyze, "open_hands", lambda: brute_force(TWO_CARDS))


def two_deals() -> dict[str, Any]:
    """Seat 0 leads its king of spades, where hearts would have made its bid; then seat 1 throws its jack under the ace."""
    game = Game.from_deal(TWO_CARDS, [["KS", "AH"], ["AS", "2H"]], dealer=1)
    for action in ("bid 2", "pass", "KS", "AS", "2H", "AH"):
        game.apply(action)
    assert game.scores == [-2, 3]
    game.next_deal([["AS", "5S"], ["JS", "3S"]])
    for action in ("pass", "bid 3", "AS", "JS", "5S", "3S"):
        game.apply(action)
    assert game.scores == [2, 3]
    return game.record(agents=["careless", "generous"])


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "games.jsonl"
    write_records(path, [two_deals(), two_deals()])
    return path


def check_two_deals(first: dict[str, Any], second: dict[str, Any]) -> None:
    calls, lead = first["decisions"][:-1], first["decisions"][-1]
    assert [(d["turn"], d["seat"], d["phase"], d["action"]) for d in calls] == [(1, 0, "auction", "bid 2"), (2, 1, "auction", "pass")]
    assert all("solver" not in d for d in calls)
    # Hearts: High, Low and the bid for seat 0, Game for seat 1: 2 − 1. Spades: nothing but a set-back, −2 − 3.
    assert (lead["turn"], lead["seat"], lead["action"]) == (3, 0, "KS")
    assert lead["solver"] == {"best": ["AH"], "cost": 6.0, "values": {"AH": 1.0, "KS": -5.0}}
    *_, lead, under = second["decisions"]
    # With the three, seat 1 keeps the jack for the five: 3 − 1 for seat 0. With the jack under the ace all four are seat 0's.
    assert lead["solver"] == {"best": ["5S", "AS"], "cost": 0.0, "values": {"5S": 2.0, "AS": 2.0}}
    assert (under["turn"], under["seat"], under["action"]) == (4, 1, "JS")
    assert under["solver"] == {"best": ["3S"], "cost": 2.0, "values": {"3S": -2.0, "JS": -4.0}}
    assert len(second["decisions"]) == 4  # a single legal card is no decision
    assert [(row["solved"], row["solver_cost"]) for row in first["by_seat"]] == [(1, 6.0), (0, 0)]
    assert [(row["solved"], row["solver_cost"]) for row in second["by_seat"]] == [(1, 0.0), (1, 2.0)]


def test_costs_known_by_hand(record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run(Arguments(record, match=1, json=tmp_path / "out.json"))
    (match,) = report["matches"]
    assert match["agents"] == ["careless", "generous"]
    assert match["rules"] == TWO_CARDS.to_dict()
    check_two_deals(*match["deals"])
    assert [row["solver_cost"] for row in match["by_seat"]] == [6.0, 2.0]
    assert json.loads((tmp_path / "out.json").read_text()) == report
    text = capsys.readouterr().out
    assert "deal 1: dealer seat 1, seat 0 pitches for 2, points by side [0, 3]" in text
    assert [line.split() for line in text.splitlines() if " KS " in line] == [["3", "0", "careless", "play", "KS", "AH", "6.00"]]
    assert "seat 1 (generous): 2.00 points in 1 decisions of the tricks" in text


def test_by_the_solver_of_the_kit(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    (match,) = run(Arguments(record, match=2))["matches"]
    check_two_deals(*match["deals"])


def test_one_deal(record: Path) -> None:
    report = run(Arguments(record, deal=2))
    assert [match["match"] for match in report["matches"]] == [1, 2]
    assert [[deal["deal"] for deal in match["deals"]] for match in report["matches"]] == [[2], [2]]


def test_an_unfinished_deal(tmp_path: Path) -> None:
    game = Game.from_deal(TWO_CARDS, [["KS", "AH"], ["AS", "2H"]], dealer=1)
    game.apply("bid 2")
    write_records(tmp_path / "r.jsonl", [game.record()])
    (match,) = run(Arguments(tmp_path / "r.jsonl"))["matches"]
    assert [d["action"] for d in match["deals"][0]["decisions"]] == ["bid 2"]
    assert match["deals"][0]["points"] is None
    assert match["agents"] is None


def test_more_sides_are_the_pitchers_against_the_rest() -> None:
    rules = load_rules("auction-3", hand_size=2, tricks=2)
    game = Game.from_deal(rules, [["AS", "4S"], ["JS", "3S"], ["KS", "KD"]], dealer=2)
    for action in ("bid 2", "pass", "pass", "AS", "JS", "KS", "4S", "3S", "KD"):
        game.apply(action)
    (deal,) = analyse(game.record(), rules, brute_force(rules), None)
    lead, under = [d for d in deal.decisions if d.phase == "play"]
    card = action_number
    # After AS: JS gives seat 0 all four points, 4 − 0; with 3S seat 1's jack then takes the four: 3 − ½.
    assert under.seat == 1
    assert under.solver_values == {card("3S"): -2.5, card("JS"): -4.0}
    assert under.solver_cost == 1.5
    assert lead.solver_values is not None
    assert lead.solver_values[card("AS")] == 2.5
    # With four players the partner of the pitcher is on his side.
    rules = load_rules("auction-4-partners")
    game = Game(rules, 1)
    while game.phase != "ended":
        game.apply(game.legal_actions()[-1])
    (deal,) = analyse(game.record(), rules, lambda matches: np.tile(np.arange(54.0), (len(matches), 1)), None)
    assert game.pitcher is not None
    for decision in deal.decisions:
        if decision.solver_values is not None:
            assert decision.solver_values[7] == (7 if decision.seat % 2 == game.pitcher % 2 else -7)


class Expects:
    """Passes and plays its first card, is half sure of that, and expects a tenth of a point less for every action further on."""

    reads = "view"

    def reset(self, rules: Any, size: int, seed: int) -> None:
        pass

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return mask.argmax(1)

    def probabilities(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return mask / (2 * mask.sum(1, keepdims=True)) + (np.arange(70) == mask.argmax(1)[:, None]) / 2

    def values(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return np.where(mask, -0.1 * np.arange(70), np.nan)


class Reads(Expects):
    """The same from observations, without expectations for what is not the first or the last."""

    reads = "observation"

    def values(self, inputs: Any, mask: Any, seat: Any) -> Any:
        assert inputs.dtype == np.float32
        return np.where(np.cumsum(mask, axis=1) == 1, super().values(inputs, mask, seat), np.nan)


class Fails(Expects):
    def values(self, inputs: Any, mask: Any, seat: Any) -> Any:
        raise RuntimeError("no\nidea")


class Misshapen(Expects):
    def probabilities(self, inputs: Any, mask: Any, seat: Any) -> Any:
        return np.zeros(3)


def test_by_an_agent(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (match,) = run(Arguments(record, match=1, agent=f"{__name__}:Expects"))["matches"]
    bid, passed, lead = match["deals"][0]["decisions"]
    assert bid["agent"]["action"] == "pass"
    assert bid["agent"]["cost"] == pytest.approx(0.2)  # bid 2 is two further on
    assert bid["agent"]["probabilities"]["pass"] == pytest.approx(0.5 + 0.5 / 5)
    assert bid["agent"]["probabilities"]["bid 2"] == pytest.approx(0.1)
    assert passed["agent"]["cost"] == 0
    assert lead["agent"]["action"] == "AH"
    assert lead["agent"]["cost"] == pytest.approx(1.2)
    assert lead["agent"]["values"] == pytest.approx({"AH": -3.8, "KS": -5.0})
    assert lead["solver"]["cost"] == 6.0
    sums = match["deals"][0]["by_seat"]
    assert [row["agent_agrees"] for row in sums] == [0, 1]
    assert [row["agent_cost"] for row in sums] == pytest.approx([1.4, 0])
    assert "agrees with" in capsys.readouterr().out
    (match,) = run(Arguments(record, match=1, agent=f"{__name__}:Reads"))["matches"]
    bid, passed, _ = match["deals"][0]["decisions"]
    assert bid["agent"]["cost"] is None  # it expects nothing of what was done
    assert passed["agent"]["cost"] == 0
    (match,) = run(Arguments(record, match=1, agent="heuristic"))["matches"]
    stated = match["deals"][0]["decisions"][0]["agent"]
    assert stated["values"] is None
    assert stated["probabilities"][stated["action"]] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"match": 3}, ["match = 3", "has 2", "1 … 2"]),
        ({"match": 0}, ["match = 0", "from 1"]),
        ({"deal": 3}, ["deal = 3", "match 1 has 2", "1 … 2"]),
        ({"deal": -1}, ["deal = -1", "from 1"]),
        ({"agent": "heuristik"}, ["'heuristik'", "'heuristic'"]),
        ({"agent": f"{__name__}:Fails"}, ["Fails", "values raised RuntimeError: no idea"]),
        ({"agent": f"{__name__}:Misshapen"}, ["Misshapen", "probabilities gave shape (3,)", "(3, 70)"]),
        ({"json": Path("/nowhere/at/all.json")}, ["json", "/nowhere/at/all.json"]),
        ({"record": Path("/nowhere.jsonl")}, ["/nowhere.jsonl", "cannot be read"]),
    ],
)
def test_refusals_are_one_line(record: Path, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as fault:
        run(Arguments(**{"record": record, **options}))
    message = str(fault.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_the_record_is_not_overwritten(record: Path) -> None:
    before = record.read_bytes()
    link = record.with_name("link.jsonl")
    link.symlink_to(record)
    (record.parent / "sub").mkdir()
    for path in (record, record.parent / "sub" / ".." / record.name, link, Path(os.path.relpath(record))):
        with pytest.raises(InputError, match=r"json = '.*': the same file as the record; allowed: another"):
            run(Arguments(record, json=path))
        assert record.read_bytes() == before
    with pytest.raises(InputError, match="the same file as the record"):
        run(Arguments(link, json=record))


def test_the_result_is_whole_or_not_there(record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    link = tmp_path / "link.json"
    link.symlink_to(out)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"json = .*: cannot be written: No space left"):
            run(Arguments(record, json=out))
    assert out.read_text() == "old"
    report = run(Arguments(record, json=link))
    assert json.loads(out.read_text()) == report
    assert link.is_symlink()
    run(Arguments(record, json=Path("/dev/null")))
    assert Path("/dev/null").is_char_device()


def test_an_agents_dice_do_not_depend_on_what_is_asked_for(record: Path) -> None:
    def answers(**options: Any) -> dict[tuple[int, int], list[str]]:
        report = run(Arguments(record, agent="random", **options))
        return {
            (match["match"], deal["deal"]): [decision["agent"]["action"] for decision in deal["decisions"]]
            for match in report["matches"]
            for deal in match["deals"]
        }

    write_records(record, [two_deals() for _ in range(6)], append=True)
    every = answers()
    assert len(every) == 16
    for place in [(1, 1), (2, 1), (2, 2), (8, 2)]:
        assert answers(match=place[0], deal=place[1]) == {place: every[place]}
    assert answers(match=2) == {place: found for place, found in every.items() if place[0] == 2}
    assert answers(deal=2) == {place: found for place, found in every.items() if place[1] == 2}
    assert len({tuple(found) for (_, deal), found in every.items() if deal == 1}) > 1  # equal deals, other dice


def test_a_record_that_does_not_replay(tmp_path: Path) -> None:
    broken = two_deals()
    broken["deals"][1]["actions"][3] = "AS"  # seat 0's
    path = tmp_path / "r.jsonl"
    write_records(path, [two_deals(), broken])
    with pytest.raises(RecordError, match=r"line 2, deal 2, action 4: .*'AS'.*allowed: 3S, JS") as fault:
        run(Arguments(path))
    assert "\n" not in str(fault.value)
    assert len(run(Arguments(path, match=1))["matches"]) == 1  # what is asked for is whole
    path.write_text("")
    with pytest.raises(InputError, match="holds no match"):
        run(Arguments(path))


def test_an_agent_for_other_rules(record: Path, small_run: Path) -> None:
    with pytest.raises(InputError, match=r"other rules; allowed") as fault:
        run(Arguments(record, agent=str(small_run)))
    assert "\n" not in str(fault.value)


def test_the_command(record: Path) -> None:
    main([str(record), "--match", "1", "--deal", "2"])
    with pytest.raises(InputError, match="'--mach': unknown; did you mean '--match'"):
        main([str(record), "--mach", "1"])
    with pytest.raises(InputError, match="one"):
        main([str(record), "--match", "one"])


@pytest.mark.parametrize("command", ["analyze", "match", "best-response"])
def test_the_help_names_arguments_and_agents(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        training.__main__.main([command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert ("[OPTIONS] RECORD" if command == "analyze" else "[OPTIONS] AGENT") in said
    for spec in (
        "random",
        "heuristic",
        "a run folder",
        "sampled:RUN",
        "pimc:worlds=N",
        "ismcts:iterations=N",
        "search:RUN,worlds=N",
        "module:Class",
    ):
        assert spec in said

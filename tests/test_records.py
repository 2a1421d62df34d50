"""Match records: what is written is what happened, and what did not happen is refused by line, deal and action."""

import copy
import json
import random

import numpy as np
import pytest

import pitchenv
from pitchenv.checks import InputError
from pitchenv.engine.state import HIDDEN
from pitchenv.records import RecordError, match_record, read_records, replay, replay_file, write_records


def played(rules, seed, deals=2, decisions=10**6):
    """A match of random play, so many deals or decisions long."""
    game, choose = pitchenv.Game(rules, seed=seed), random.Random(seed)
    for _ in range(decisions):
        if game.phase == "ended":
            if game.over or game.deals_played == deals:
                break
            game.next_deal()
        else:
            game.apply(choose.choice(game.legal_actions()))
    return game


def thrown_in():
    """A match of smear whose first deal is thrown in and whose second is in its auction."""
    game = pitchenv.Game("smear", seed=5)
    for _ in range(4):
        game.apply("pass")
    game.next_deal()
    game.apply("bid 2")
    return game


@pytest.mark.parametrize("name", pitchenv.games())
def test_a_replayed_match_is_the_match(name, tmp_path):
    games = [played(name, seed, deals=3, decisions=random.Random(seed).randrange(200)) for seed in range(10)]
    path = tmp_path / "games.jsonl"
    assert write_records(path, [game.record(number=i) for i, game in enumerate(games)]) == 10
    assert [record["number"] for record in read_records(path)] == list(range(10))
    for game, again in zip(games, replay_file(path), strict=True):
        assert again.record() == game.record()
        assert (again.hands, again.stock, again.actions) == (game.hands, game.stock, game.actions)
        assert (again.scores, again.winner, again.phase, again.seat) == (game.scores, game.winner, game.phase, game.seat)


def test_a_record_in_full():
    game = pitchenv.Game.from_deal(
        pitchenv.load_rules("auction-2", lowest_rank=13, hand_size=2, tricks=2), [["AS", "KH"], ["KS", "AH"]], dealer=1, scores=[-2, 3]
    )
    for action in ("bid 2", "pass", "AS", "KS", "KH", "AH"):
        game.apply(action)
    record = game.record(agents=["me", "you"])
    assert record.pop("rules")["hand_size"] == 2
    assert record == {
        "format": "pitchenv-match",
        "version": 1,
        "start_scores": [-2, 3],
        "deals": [
            {
                "dealer": 1,
                "hands": [["KH", "AS"], ["AH", "KS"]],
                "stock": ["KC", "AC", "KD", "AD"],
                "actions": ["bid 2", "pass", "AS", "KS", "KH", "AH"],
                "points": [2, 0],  # High and Low; 7 pips each
                "scores": [0, 3],
            }
        ],
        "winner": None,
        "agents": ["me", "you"],
    }


def test_rules_are_written_by_name_where_they_have_one():
    assert pitchenv.Game(pitchenv.load_rules("setback", target=11)).record()["rules"] == "setback"
    house = pitchenv.load_rules("setback", target=15)
    record = pitchenv.Game(house).record()
    assert record["rules"] == house.to_dict()
    assert replay(json.loads(json.dumps(record))).rules == house


def test_thrown_in_and_unfinished_deals():
    record = thrown_in().record()
    first, second = record["deals"]
    assert (first["points"], first["scores"]) == (None, [0, 0])
    assert "points" not in second
    assert "scores" not in second
    assert replay(record).record() == record


def test_the_deals_of_a_batch_can_be_written():
    batch = pitchenv.Batch("auction-3", 5, seed=3, restart=False)
    batch.play_random(100)
    for i in range(5):
        record = match_record(batch.rules[i], [batch.matches[i]])
        assert record["deals"][0]["points"] is not None
        assert replay(record).record() == record


def broken(change):
    """The record of a match of two deals, changed."""
    record = copy.deepcopy(played("auction-4-partners", 1).record())
    change(record)
    return record


def put(value, *path):
    def change(record):
        for key in path[:-1]:
            record = record[key]
        record[path[-1]] = value

    return change


def drop(*path):
    def change(record):
        for key in path[:-1]:
            record = record[key]
        del record[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (put("chess", "format"), ["format = 'chess'", "pitchenv-match"]),
        (put(2, "version"), ["version = 2", "1"]),
        (put(True, "version"), ["version = True", "allowed: 1"]),
        (put(1.0, "version"), ["version = 1.0", "allowed: 1"]),
        (put("house.toml", "rules"), ["game 'house.toml'", "unknown", "allowed: oklahoma-4"]),
        (lambda r: r["deals"][0]["stock"].pop(), ["deal 1", "stock: 27 cards", "allowed: 28"]),
        (drop("winner"), ["winner: missing"]),
        (put("bridge", "rules"), ["game 'bridge'", "unknown", "allowed"]),
        (put({"tricks": 0}, "rules"), ["tricks = 0"]),
        (put([0], "start_scores"), ["start_scores = [0]"]),
        (put([10**30, 0], "start_scores"), ["start_scores.0"]),
        (put([], "deals"), ["deals = []"]),
        (put("north", "deals", 0, "dealer"), ["deals.0.dealer = 'north'"]),
        (put(1, "deals", 0, "winner"), ["deals.0.winner: unknown"]),
        (put(9, "deals", 0, "dealer"), ["deal 1", "dealer = 9"]),
        (put([["AS"]] * 4, "deals", 0, "hands"), ["deal 1", "hands[0]: 1 cards"]),
        (put("XX", "deals", 1, "hands", 2, 3), ["deal 2", "'XX'", "not a card"]),
        (put("AS", "deals", 0, "stock"), ["deals.0.stock = 'AS'"]),
        (put(["AS"] * 28, "deals", 1, "stock"), ["deal 2", "AS is given twice"]),
        (put("bid 9", "deals", 0, "actions", 0), ["deal 1, action 1", "'bid 9'", "not legal for seat", "bid 1"]),
        (put("open", "deals", 1, "actions", 0), ["deal 2, action 1", "'open'", "not an action"]),
        (put("pass", "deals", 0, "actions", 20), ["deal 1, action 21", "'pass'"]),
        (lambda r: r["deals"][0]["actions"].append("pass"), ["deal 1, action", "'pass'", "ended"]),
        (lambda r: r["deals"][0]["actions"].pop(), ["deal 1, after action", "in the play phase", "only the last deal"]),
        (lambda r: r["deals"][1]["actions"].pop(), ["deal 2, after action", "neither before the deal has ended"]),
        (put([9, 9], "deals", 0, "points"), ["deal 1", "points = [9, 9]"]),
        (drop("deals", 1, "points"), ["deal 2", "points = null"]),
        (put([0, 0], "deals", 1, "scores"), ["deal 2", "scores = [0, 0]"]),
        (lambda r: put((r["deals"][1]["dealer"] + 1) % 4, "deals", 1, "dealer")(r), ["deal 2", "dealer ="]),
        (put(1, "winner"), ["winner = 1", "null"]),
    ],
)
def test_a_record_that_does_not_hold_up_is_refused_in_one_line(change, says):
    replay(broken(lambda record: None))
    with pytest.raises(RecordError) as refusal:
        replay(broken(change), "line 3")
    line = str(refusal.value)
    assert line.startswith("line 3")
    assert "\n" not in line
    assert all(part in line for part in says), line


def test_a_match_that_is_over_has_no_further_deal():
    game = played(pitchenv.load_rules("smear", target=1), 2, deals=100)
    assert game.over
    record = game.record()
    record["deals"].append(record["deals"][0])
    with pytest.raises(RecordError, match=rf"deal {len(record['deals'])}: next_deal: the match is over"):
        replay(record)


def test_the_line_at_fault_is_named(tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [thrown_in().record(), broken(put("bid 9", "deals", 0, "actions", 0))])
    games = replay_file(path)
    assert next(games).scores == [0, 0]
    with pytest.raises(RecordError, match=r"games.jsonl', line 2, deal 1, action 1: action 'bid 9'"):
        next(games)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"not json\n", "not JSON"),
        (b"[1, 2]\n", "not a record"),
        (b"\n", "not JSON"),
        (b'"\xff"\n', "not JSON"),
        (b'{"format": "pi', "cut off"),
        (b"[" * 100_000 + b"\n", "not JSON"),
    ],
)
def test_a_line_that_is_no_record_is_named_and_the_ones_before_it_are_good(tmp_path, line, says):
    path = tmp_path / "games.jsonl"
    write_records(path, [thrown_in().record()])
    path.write_bytes(path.read_bytes() + line)
    records = read_records(path)
    assert replay(next(records)).scores == [0, 0]
    with pytest.raises(RecordError, match=f"line 2: .*{says}") as refusal:
        next(records)
    assert "\n" not in str(refusal.value)


def test_missing_and_unwritable_files(tmp_path):
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        list(read_records(tmp_path / "none.jsonl"))
    with pytest.raises(RecordError, match="cannot be written: No such file"):
        write_records(tmp_path / "no" / "folder.jsonl", [thrown_in().record()])


@pytest.mark.parametrize("path", ["", ".", "a\0b", 5, None])
def test_what_is_no_path(path):
    for use in (lambda: list(read_records(path)), lambda: list(replay_file(path)), lambda: write_records(path, [])):
        with pytest.raises(RecordError) as refusal:
            use()
        assert str(refusal.value) == f"records file {path!r}: allowed: the path of a file"


@pytest.mark.parametrize(
    ("records", "line"),
    [
        ({"format": "pitchenv-match"}, "records = {'format': 'pitchenv-match'}: allowed: a list of records"),
        ("record", "records = 'record': allowed: a list of records"),
        (5, "records = 5: allowed: a list of records"),
        ([5], "record = 5: allowed: a dict with format 'pitchenv-match'"),
        ([["record"]], "record = ['record']: allowed: a dict with format 'pitchenv-match'"),
    ],
)
def test_what_are_no_records_is_not_written(records, line, tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [thrown_in().record()])
    whole = path.read_bytes()
    for append in (True, False):
        with pytest.raises(RecordError) as refusal:
            write_records(path, records, append)
        assert str(refusal.value) == line
        assert path.read_bytes() == whole


def test_what_is_too_deep_for_json_is_refused():
    deep = {}
    for _ in range(100_000):
        deep = {"deeper": deep}
    with pytest.raises(RecordError, match=r"record: .*; allowed: what JSON can hold"):
        write_records("never.jsonl", [deep])


@pytest.mark.parametrize("record", [[1], None, "record", 5])
def test_what_is_no_record_is_not_replayed(record):
    with pytest.raises(RecordError) as refusal:
        replay(record, "line 3")
    assert str(refusal.value) == f"line 3 = {record!r}: allowed: a dict with format 'pitchenv-match'"


def test_a_deal_with_a_shorter_stock_is_not_recorded():
    game = pitchenv.Game("auction-2", seed=1)
    short = pitchenv.Game.from_deal("auction-2", game.hands, game.stock[:7])
    with pytest.raises(RecordError, match="deal: its stock had 7 cards; allowed: 40, the rest of the pack"):
        short.record()


@pytest.mark.parametrize("scores", [[10**6, -(10**6)], [-7, 3]])
def test_records_and_given_deals_allow_the_same_scores(scores):
    given = pitchenv.Game("auction-2", seed=1)
    game = pitchenv.Game.from_deal("auction-2", given.hands, scores=scores)
    assert replay(game.record()).scores == scores
    with pytest.raises(InputError, match=r"scores\[0\] = 1000001"):
        pitchenv.Game.from_deal("auction-2", given.hands, scores=[10**6 + 1, 0])
    with pytest.raises(RecordError, match=r"start_scores.0 = 1000001: allowed: -1000000 … 1000000"):
        replay(game.record() | {"start_scores": [10**6 + 1, 0]})


def test_adding_to_a_file_never_harms_what_is_in_it(tmp_path):
    path = tmp_path / "games.jsonl"
    write_records(path, [thrown_in().record()], append=True)
    write_records(path, [thrown_in().record()] * 2, append=True)
    assert len(list(read_records(path))) == 3
    whole = path.read_bytes()
    for append in (True, False):
        with pytest.raises(RecordError, match=r"record: .*; allowed: what JSON can hold"):
            write_records(path, [thrown_in().record(), {"value": float("nan")}], append)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:-10])
    with pytest.raises(RecordError, match="its last line is cut off"):
        write_records(path, [thrown_in().record()], append=True)
    assert path.read_bytes() == whole[:-10]
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "games.jsonl"
    write_records(path, [thrown_in().record()])
    whole = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    for append in (True, False):
        with pytest.raises(RecordError, match="No space left"):
            write_records(path, [thrown_in().record()] * 3, append)
        assert path.read_bytes() == whole
    assert [file.name for file in tmp_path.iterdir()] == ["games.jsonl"]


def test_what_cannot_be_recorded_is_refused():
    game = played("smear", 3, decisions=9)
    assert game.phase in ("discard", "play")
    other = (game.pitcher + 1) % 4
    guess = np.zeros(1, HIDDEN)[0]
    with pytest.raises(RecordError, match="nobody but their owner knows"):
        pitchenv.Game.from_view(game.view(other), guess, game.rules).record()
    with pytest.raises(RecordError, match="extra 'winner'"):
        game.record(winner=1)


def test_a_name_given_twice_is_refused(tmp_path):
    path = tmp_path / "games.jsonl"
    line = json.dumps(thrown_in().record())
    path.write_text(line.replace('"winner"', '"winner": 77, "winner"') + "\n")
    with pytest.raises(RecordError, match="line 1: not JSON: 'winner' is given twice"):
        list(read_records(path))


def test_what_is_said_of_a_record_is_one_short_line():
    record = thrown_in().record()
    for damaged in ({**record, "winner": 10**4000}, {**record, "deals": [{**record["deals"][0], "a\nb": 1}]}):
        with pytest.raises(RecordError) as refusal:
            replay(damaged)
        assert "\n" not in str(refusal.value)
        assert len(str(refusal.value)) < 400

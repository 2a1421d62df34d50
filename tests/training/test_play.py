"""`play`: whole deals by scripted input in every game, nothing hidden on the screen, and hints."""

import io
import itertools
import json
import random
import re
import sys

import pytest
from rich.console import Console

import pitchenv
from pitchenv.actions import action_number
from pitchenv.cards import CARD_NAMES
from pitchenv.engine.state import VIEW
from pitchenv.records import read_records, replay_file
from tests.conformance import ALL_RULES, GAMES, random_deal
from tests.random_rules import random_rules
from tests.training.play_agents import SEEN
from tests.training.play_person import AGENTS, CARD, RESULT_LABEL, Person, moments
from training.play import Arguments, run
from training.play_input import menu_of
from training.play_points import pips_of, points_of
from training.play_screen import Screen


@pytest.mark.parametrize("name", ALL_RULES)
def test_whole_deals_of_every_game_and_nothing_hidden_is_shown(name, monkeypatch, tmp_path):
    rules, path = ALL_RULES[name], tmp_path / "games.jsonl"
    seat = len(name) % rules.players
    changes = tuple(f"{k}={json.dumps(v)}" for k, v in rules.to_dict().items())
    person = Person(monkeypatch, "log", "?", seed=len(name))
    records = run(Arguments(changes=changes, seat=seat, opponents=f"{AGENTS}:Dice", hints=True, seed=3, deals=3, matches=3, record=path))
    last = person.rest()
    assert list(read_records(path)) == records
    assert all(game.rules == rules for game in replay_file(path))
    assert sum(len(record["deals"]) for record in records) == 3

    # The text before a prompt is known by then; what ends a deal is known at its end.
    texts = iter([text for text, before in zip(person.said, ["", *person.typed], strict=False) if before not in ("log", "?")])
    assert person.typed[:2] == ["log", "?"]
    now, shown = set(), 0
    for is_choice, cards in moments(records, seat):
        now |= cards
        if is_choice:
            named = CARD.findall(RESULT_LABEL.sub("", next(texts)))
            assert set(named) <= now
            shown += len(named)
            now = set(cards)
    assert not list(texts)
    assert set(CARD.findall(RESULT_LABEL.sub("", last))) <= now
    assert shown > 20
    for text in person.said[1:3]:  # the log and the hint
        assert set(CARD.findall(text)) <= next(cards for is_choice, cards in moments(records, seat) if is_choice)


@pytest.mark.parametrize("name", GAMES)
def test_tricks_points_and_scores_are_shown(name, monkeypatch):
    rules = GAMES[name]
    person = Person(monkeypatch, seed=1)
    records = run(Arguments(rules=name, seat=1, seed=8, deals=4))
    deals = [deal for record in records for deal in record["deals"]]
    lines = person.text.splitlines()
    whole = [re.findall(CARD, line) for line in lines if line.startswith("Trick")]
    whole = [cards for cards in whole if len(cards) == rules.players]
    tricks = [deal["actions"][-rules.players * rules.tricks :] for deal in deals if deal["points"] is not None]
    assert len(whole) == rules.tricks * len(tricks)
    for shown, (played, trick) in zip(whole, itertools.product(tricks, range(rules.tricks)), strict=True):
        assert sorted(shown) == sorted(played[trick * rules.players : (trick + 1) * rules.players])

    width = min(10, 70 // rules.players)
    rows = [line for line in lines if line.startswith("Trick") and len(re.findall(CARD, line)) == rules.players]
    for row, then in itertools.pairwise(rows):
        if not then.startswith("Trick 1 "):  # who wins leads
            assert (row.index("*") - 10) // width == (then.index(">") - 10) // width

    order = [(1 + i) % rules.sides for i in range(rules.sides)]
    for label in ("Points", "Score"):
        rows = [[int(n) for n in line.split()[1:]] for line in lines if re.match(rf"{label} +-?\d", line)]
        by_side = [deal[label.lower().removesuffix("s") + "s"] for deal in deals if deal["points"] is not None]
        assert rows == [[numbers[side] for side in order] for numbers in by_side]
    assert person.text.count("thrown in, nothing is scored") == sum(deal["points"] is None for deal in deals)


def test_who_won_each_point():
    rng = random.Random(5)
    scored = by_pips = 0
    kinds = [*GAMES.values(), *(pitchenv.Rules(**random_rules(rng)) for _ in range(60))]
    for rules in kinds:
        for seed in range(3):
            game = pitchenv.Game(rules, seed=seed)
            for _ in random_deal(game, rng):
                pass
            if game.points is None:
                continue
            view = game.view(rng.randrange(rules.players))
            points = points_of(view)
            sums = [sum(p.worth for p in points if p.side == side) for side in range(rules.sides)]
            assert sums == game.points
            assert sum(p.worth for p in points) == rules.max_bid
            scored += 1
            if rules.game == "pips" and not rules.discards_count:
                pips = pips_of(view)
                best = [side for side in range(rules.sides) if pips[side] == max(pips)]
                assert points[-1].side == (best[0] if len(best) == 1 else None)
                by_pips += 1
    assert scored > 100
    assert by_pips > 50


def test_pips_put_away_count_on_the_screen_of_who_knows_them():
    game = pitchenv.Game("smear", seed=4)
    for action in ("bid 4", "pass", "pass", "pass"):
        if game.phase == "auction":
            game.apply(action)
    pitcher = game.pitcher
    ten = next(card for card in game.hands[pitcher] if CARD_NAMES[card][0] in "TAKQJ" and card in game.legal_actions())
    game.apply(ten)
    assert sum(pips_of(game.view(pitcher))) > 0
    assert not any(sum(pips_of(game.view(seat))) for seat in range(4) if seat != pitcher)


def test_on_a_terminal_suits_are_pictures_and_80_columns_are_enough():
    for name, rules in ALL_RULES.items():
        out = io.StringIO()
        screen = Screen(Console(file=out, force_terminal=True, width=80, color_system=None, legacy_windows=False), rules, 1)
        screen._pretty = True
        game = pitchenv.Game(rules, seed=3)
        screen.begin(game.view(1))
        for _ in random_deal(game, random.Random(4)):
            screen.show(game.view(1))
            if game.seat == 1:
                screen.turn(game.view(1), menu_of(game.legal_actions(), screen.hand(game.view(1))))
                screen.history(game.view(1))
        screen.show(game.view(1))
        text = out.getvalue()
        assert max(map(len, text.splitlines())) <= 80, name
        assert not re.search(r"^\S*[CDHS]\*? ", text, re.MULTILINE)  # no row is broken in two
        assert re.search(r"[2-9TJQKA][♣♦♥♠]", text)


# Agents and hints


def test_a_hint_says_what_the_agent_would_do_and_how_likely(monkeypatch):
    person = Person(monkeypatch, "?", "pass", "hint", then="")
    run(Arguments(seed=5, hint=f"{AGENTS}:Certain"))
    assert f"Hint      {AGENTS}:Certain would choose bid 4 (75%); else pass 25%\n" in person.said[1]
    legal = re.findall(r"\d:(\S\S)", person.said[2])
    last = max(legal, key=action_number)
    first = min(legal, key=action_number)
    assert f"would choose {last} (75%); else {first} 25%\n" in person.said[3]


def test_a_hint_tells_what_a_searcher_expects(monkeypatch):
    person = Person(monkeypatch, "?", then="")
    run(Arguments(rules="auction-2", seed=5, opponents="ismcts:iterations=50"))
    assert re.search(r"Hint +ismcts:iterations=50 would choose .*\n +it expects, in points: .*pass [+-]\d\.\d\d", person.said[1])


def test_to_ask_changes_nothing(monkeypatch):
    played = []
    for hints in (False, True):
        Person(monkeypatch, seed=1)
        played.append(run(Arguments(rules="smear", seed=2, deals=3, hints=hints, opponents=f"{AGENTS}:Dice", hint=f"{AGENTS}:Dice")))
    assert played[0] == played[1]
    Person(monkeypatch, seed=1)
    again = run(Arguments(rules="smear", seed=3, deals=3, opponents=f"{AGENTS}:Dice"))
    assert again[0]["deals"][0]["hands"] != played[0][0]["deals"][0]["hands"]


def test_agents_are_given_views_alone_and_sit_where_they_were_put(monkeypatch):
    SEEN.clear()
    Person(monkeypatch, seed=1)
    records = run(Arguments(rules="oklahoma-6", seat=4, seed=2, deals=1, opponents=f"{AGENTS}:Watchful", partners="random", hints=True))
    assert SEEN
    assert set(SEEN) == {VIEW}
    watchful = f"{AGENTS}:Watchful"
    assert records[0]["agents"] == [watchful, "random", watchful, watchful, "person", watchful]


def test_the_cards_are_those_of_match(monkeypatch):
    Person(monkeypatch, then="")
    monkeypatch.setattr(sys.stdin, "script", ["pass"] * 2)
    hands = []
    for _ in range(2):
        Person(monkeypatch, seed=9)
        hands.append(
            [
                record["deals"][0]["hands"]
                for record in run(Arguments(rules="auction-3", changes=("target=1", "win=any"), seed=6, matches=2))
            ]
        )
    batch = pitchenv.Batch(pitchenv.load_rules("auction-3", target=1, win="any"), 2, seed=6, episode="match")
    assert hands[0] == hands[1] == [[[CARD_NAMES[c] for c in hand] for hand in batch.game(i).hands] for i in range(2)]


def test_illegal_proposals_are_told(monkeypatch):
    person = Person(monkeypatch, seed=1)
    run(Arguments(seed=5, deals=1, opponents=f"{AGENTS}:Illegal"))
    assert re.search(rf"illegal proposals of {AGENTS}:Illegal: \d+, replaced by the first legal action\n", person.text)

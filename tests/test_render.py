"""Text: what one seat sees, from its view alone, and the full table."""

import random

import numpy as np
import pytest

import pitchenv
from pitchenv.actions import action_name
from pitchenv.cards import CARD_NAMES, cards_in, mask_of
from pitchenv.engine.state import PHASES
from pitchenv.render import seat_text, table_text


def positions(rules, seed, deals=2):
    """A match of random play at every decision, and where its deals end."""
    game, choose = pitchenv.Game(rules, seed=seed), random.Random(seed)
    while not (game.phase == "ended" and (game.over or game.deals_played == deals)):
        yield game
        if game.phase == "ended":
            game.next_deal()
        else:
            game.apply(choose.choice(game.legal_actions()))
    yield game


def lines(text):
    """The lines by label."""
    return {line[:11].strip(): line[11:] for line in text.splitlines()}


def words(text):
    return text.replace(",", " ").replace("|", " ").split()


def test_what_a_seat_sees_in_full():
    game = pitchenv.Game.from_deal(
        pitchenv.load_rules("oklahoma-4", hand_size=7, redraw=1),
        [
            ["JC", "2S", "AS", "4H", "AH", "3C", "LJ"],
            ["5C", "6C", "7C", "8C", "9C", "TC", "QC"],
            ["5D", "6D", "7D", "8D", "9D", "TD", "QD"],
            ["5H", "6H", "7H", "8H", "9H", "TH", "QH"],
        ],
        stock=["KS", "KC", "KD", "KH"],
        dealer=3,
        scores=[4, -2],
    )
    for action in ("bid 4", "pass", "pass", "pass", "trump S", "4H", "done", "done", "done", "QH", "done"):
        game.apply(action)
    for action in ("3C", "5C", "5D", "KC", "AS", "6C"):
        game.apply(action)
    assert seat_text(game, 0) == "\n".join(
        [
            "Deal       1, dealt by seat 3: play, seat 2 to act",
            "Scores     side 0 (yours): 4 of 21; side 1: -2 of 21",
            "Partners   side 0 (yours): seats 0, 2; side 1: seats 1, 3",
            "Auction    seat 0 (you) bid 4, seat 1 pass, seat 2 pass, seat 3 pass",
            "Pitcher    seat 0 (you), for 4; trump is spades",
            "Redraw     seat 0 (you): 1, seat 1: 0, seat 2: 0, seat 3: 1",
            "Discard    seat 0 (you): 1, seat 1: 1, seat 2: 1, seat 3: 1",
            "Trick 1    seat 0 (you) AS, seat 1 6C",
            "Out of     seat 1 S",
            "Drawn      KS",
            "Put away   4H | 3C",
            "Hand       KS JC LJ 2S | AH",
        ]
    )
    assert lines(seat_text(game, 2))["Legal"] == "QD TD 9D 8D 7D 6D"
    game.apply("6D")
    game.apply("5H")
    for action in ("KS", "7C", "7D", "6H"):
        game.apply(action)
    seen = lines(seat_text(game, 1))
    assert seen["Trick 1"] == "seat 0 AS, seat 1 (you) 6C, seat 2 6D, seat 3 5H: to seat 0"
    assert seen["Taken"] == "side 0: 7 pips, trumps AS KS; side 1 (yours): 0 pips, trumps none"
    assert seen["Out of"] == "seat 1 (you) S, seat 2 S, seat 3 S"


def test_results_in_words():
    rules = pitchenv.load_rules("smear")
    game = pitchenv.Game.from_deal(
        rules,
        [
            ["AS", "7S", "KS", "QS", "JS", "TS"],
            ["AC", "KC", "QC", "JC", "TC", "9C"],
            ["AD", "KD", "QD", "JD", "TD", "9D"],
            ["AH", "KH", "QH", "JH", "TH", "9H"],
        ],
        stock=["8S", "8C", "8D", "9S", "7C", "7D", "7H", "8H"],
        dealer=3,
        scores=[11, 0],
    )
    for action in ("bid 4", "8C", "8D", "8S"):
        game.apply(action)
    while game.phase == "play":
        game.apply(game.legal_actions()[-1])
    assert lines(seat_text(game, 3))["Result"] == "points side 0: 4; side 1 (yours): 0. Side 0 made the bid of 4"
    assert lines(table_text(game))["Scores"] == "side 0: 15, has won the match; side 1: 0"

    game = pitchenv.Game(rules, seed=0)
    for _ in range(4):
        game.apply("pass")
    assert lines(table_text(game))["Result"] == "thrown in, nothing scored"
    game.next_deal()
    assert lines(table_text(game))["Last deal"] == "thrown in, nothing scored"
    assert lines(table_text(game))["Auction"] == "nobody has spoken"

    game = pitchenv.Game.from_deal("auction-2", [["2S", "3S", "4S", "5S", "6S", "7S"], ["8S", "9S", "AS", "KS", "QS", "2H"]], dealer=1)
    for action in ("bid 4", "2S"):
        game.apply(action)
    while game.phase == "play":
        game.apply(game.legal_actions()[-1])
    assert lines(seat_text(game, 0))["Result"] == "points seat 0 (you): 0; seat 1: 3. Seat 0 (you) did not make the bid of 4"


@pytest.mark.parametrize("name", pitchenv.games())
def test_every_position_shows_hand_trick_and_what_is_legal(name):
    phases = set()
    for game in (game for seed in range(2) for game in positions(name, seed)):
        phases.add(game.phase)
        for seat in range(game.rules.players):
            seen = lines(seat_text(game, seat))
            assert f": {game.phase}" in seen["Deal"]
            assert sorted(words(seen["Hand"])) == (sorted(CARD_NAMES[c] for c in game.hands[seat]) or ["none"])
            assert ("Legal" in seen) == (seat == game.seat)
        table = lines(table_text(game))
        for seat in range(game.rules.players):
            assert set(words(table[f"Seat {seat}"])) >= {CARD_NAMES[c] for c in game.hands[seat] + game.put_away[seat]}
        assert [CARD_NAMES[c] for c in game.stock] == words(table.get("Stock", ""))
        if game.seat is not None:
            legal = [action_name(a) for a in game.legal_actions()]
            shown = lines(seat_text(game, game.seat))["Legal"]
            assert sorted(words(shown)) == sorted(words(" ".join(legal)))
            trick = next((line for label, line in reversed(table.items()) if label.startswith("Trick")), "")
            assert all(f"seat {s} {CARD_NAMES[c]}" in trick for s, c in enumerate(game.trick) if c is not None)
    expected = {"auction", "ended", "play"} | ({"trump"} if game.rules.trump == "declared" else set())
    expected |= ({"redraw"} if game.rules.redraw else set()) | ({"discard"} if name in ("oklahoma-4", "oklahoma-6", "smear") else set())
    assert phases == expected
    assert phases <= set(PHASES)


@pytest.mark.parametrize("name", ["oklahoma-4", "oklahoma-6", "auction-3", "smear"])
def test_what_a_seat_cannot_know_changes_nothing_it_reads(name):
    mix = random.Random(7)
    for game in positions(name, seed=4, deals=1):
        for seat in range(game.rules.players):
            twin = game.copy()
            hidden = twin._match["hidden"][0]
            others = [s for s in range(game.rules.players) if s != seat]
            # The others' hands, what they put away and the stock, all mixed up.
            unseen = [c for s in others for c in game.hands[s] + game.put_away[s]] + game.stock
            mix.shuffle(unseen)
            for field, cards in (("hands", game.hands), ("put_away", game.put_away)):
                for s in others:
                    hidden[field][s] = mask_of(unseen.pop() for _ in cards[s])
            size, left = int(twin._public["stock_size"][0]), len(unseen)
            hidden["stock"][size - left : size] = unseen
            hidden["seed"] += np.uint64(1)
            assert seat_text(twin, seat) == seat_text(game, seat) == seat_text(game.view(seat))
            if any(len(game.hands[s]) > 1 for s in others) and len(unseen) > 5:
                assert table_text(twin) != table_text(game)


def test_whose_eyes_must_be_said():
    with pytest.raises(ValueError, match="seat = None"):
        seat_text(pitchenv.Game("smear"))
    with pytest.raises(ValueError, match=r"seat = 4: allowed: 0 … 3"):
        seat_text(pitchenv.Game("smear"), 4)


def test_a_game_prints_as_its_table():
    game = pitchenv.Game("smear", seed=1)
    assert str(game) == table_text(game)
    assert len(cards_in(mask_of(c for hand in game.hands for c in hand))) == 24

"""The chart's numbers against deals played one by one; and that the picture shows them."""

import io
import json
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import agents
from pitchenv import Game, load_rules
from pitchenv.actions import PASS, action_name
from pitchenv.cards import CARD_NAMES
from pitchenv.checks import InputError
from pitchenv.engine.state import VIEW
from pitchenv.policies.heuristic import HeuristicPolicy
from tests.agents.searching import answer
from training.bidding_chart import FEWEST, Arguments, main, report_of, run, said, watch_bidding
from training.bidding_picture import _cells, _colours, picture
from training.hand_classes import HandClasses, best_suits
from training.parts import fresh_matches
from training.players import Player

GAMES = ["setback", "auction-3", "oklahoma-4", "oklahoma-6", "smear"]
SUITS = "CDHS"


class Passer(HeuristicPolicy):
    """Passes always, legal or not."""

    def act(self, inputs, mask, seat):
        actions = super().act(inputs, mask, seat)
        actions[inputs["public"]["phase"] == 0] = PASS
        return actions


def views_of(games: list[Game]) -> np.ndarray:
    views = np.zeros(len(games), VIEW)
    for i, game in enumerate(games):
        assert game.seat is not None
        views[i] = game.view(game.seat)
    return views


def in_words(game: Game, suit: int) -> tuple[str, int]:
    """The names of row and column of the hand of the seat to act, by the rulebook's words."""
    assert game.seat is not None
    hand = {CARD_NAMES[card] for card in game.hands[game.seat]}
    letter, other = SUITS[suit], {"C": "S", "S": "C", "D": "H", "H": "D"}[SUITS[suit]]
    extra = {"HJ", "LJ"} | ({"J" + other} if game.rules.off_jack else set())
    cards = {card for card in hand if card[1] == letter and card not in extra} | (hand & extra)
    if game.rules.max_bid == 4:
        return "".join(high if high + letter in hand else "·" for high in "AKQJ"), len(cards)
    points = sum({"J" + letter: 1, "3" + letter: 3}.get(card, card in extra) for card in cards)
    points -= 3 * ("3" + letter in cards and not game.rules.trump_three)
    points += "T" + letter in cards and game.rules.game == "trump_ten"
    high = "".join(high if high + letter in hand else "·" for high in "AK")
    return f"{high} {min(points, 4)}{'+' if points >= 4 else ' '}", len(cards)


@pytest.mark.parametrize("name", GAMES)
def test_classes_are_what_their_names_say(name):
    for rules in (load_rules(name), load_rules(name, game="trump_ten"), load_rules(name, trump_three=False)):
        games = [Game(rules, seed) for seed in range(300)]
        views, classes = views_of(games), HandClasses(rules)
        rows, columns = classes.of(views)
        expected = [in_words(game, suit) for game, suit in zip(games, best_suits(views).tolist(), strict=True)]
        assert [(classes.rows[row], column) for row, column in zip(rows, columns.tolist(), strict=True)] == expected
        assert len({row for row, _ in expected}) > 8
        assert len(set(classes.rows)) == len(classes.rows)
        assert classes.columns == rules.hand_size + 1


def test_the_best_suit_is_the_one_that_heuristic_names():
    heuristic, games = HeuristicPolicy(), [Game("oklahoma-4", seed) for seed in range(60)]
    suits, seen = best_suits(views_of(games)), set()
    for game, suit in zip(games, suits, strict=True):
        first = game.seat
        while game.trump is None:
            game.apply(answer(heuristic, game))
        if game.pitcher == first:
            assert game.trump == suit
            seen.add(suit)
    assert len(seen) == 4


@pytest.mark.parametrize("name", GAMES)
def test_counts_are_those_of_deals_played_one_by_one(name):
    """Passes, thrown-in deals, contracts made and set, more sides than two; over several parts of the deals too."""
    rules, policy = load_rules(name), agents.load("heuristic:untuned")
    deals = 12 if name.startswith("oklahoma") else 120
    classes = HandClasses(rules)
    report = report_of(rules, [watch_bidding(Player("it", policy, 0), rules, deals, 3)], deals, 3)
    bids = np.zeros((len(classes.rows), classes.columns, len(report["levels"])), np.int64)
    contracts = {level: {"deals": 0, "made": 0} for level in report["levels"][1:]}
    thrown_in = 0
    for record in fresh_matches(rules, 3, 0, deals):
        game = Game.from_record(rules, record)
        first, (row, column) = game.seat, classes.of(views_of([game]))
        while game.phase != "ended":
            game.apply(answer(policy, game))
        said_by_first = [action_name(action) for seat, action in game.actions if seat == first]
        bids[row, column, max(report["levels"].index(call) for call in said_by_first if call in report["levels"])] += 1
        if game.points is None:
            thrown_in += 1
            continue
        assert game.pitcher is not None
        contracts[f"bid {game.bid}"]["deals"] += 1
        contracts[f"bid {game.bid}"]["made"] += game.points[game.pitcher % rules.sides] >= (game.bid or 0)
    (it,) = report["agents"]
    assert it["bids"] == bids.tolist()
    assert it["contracts"] == contracts
    assert it["thrown_in"] == thrown_in
    assert (thrown_in > 0) == (name == "setback")
    assert sum(contract["deals"] - contract["made"] for contract in contracts.values()) > 0


def test_the_command_writes_picture_and_numbers(tmp_path, capsys):
    out = [tmp_path / name for name in ("a.png", "a.json", "b.png", "b.json")]
    spec = ["heuristic", "random", "heuristic", "--rules", "smear", "--set", "widow=2", "--deals", "900"]
    main([*spec, "--png", str(out[0]), "--json", str(out[1])])
    assert "heuristic (2): first to speak: " in capsys.readouterr().out
    report = json.loads(out[1].read_text())
    assert [agent["name"] for agent in report["agents"]] == ["heuristic", "random", "heuristic (2)"]
    assert report["rules"]["widow"] == 2
    for agent in report["agents"]:
        assert np.array(agent["bids"]).sum(2).tolist() == report["hands"]
        assert sum(contract["deals"] for contract in agent["contracts"].values()) + agent["thrown_in"] == 900
        assert sum(agent["bids_of_all"].values()) == 900
    assert report["agents"][0]["bids"] == report["agents"][2]["bids"] != report["agents"][1]["bids"]
    main([*spec, "--png", str(out[2]), "--json", str(out[3])])
    assert out[1].read_bytes() == out[3].read_bytes()
    assert out[0].read_bytes() == out[2].read_bytes()


@pytest.mark.parametrize("level", range(4))
def test_cells_have_the_colour_of_what_was_bid(level):
    """One colour where all hands are bid alike, and no other; the contracts' panel is left empty for that."""
    rules = load_rules("setback")
    found = watch_bidding(Player("it", HeuristicPolicy(), 0), rules, 400, 1)
    bids = np.zeros_like(found.bids)
    bids[:, :, level] = found.bids.sum(2)
    alike = replace(found, bids=bids, contracts=found.contracts * 0, made=found.made * 0)
    pixels = matplotlib.image.imread(io.BytesIO(picture(report_of(rules, [alike], 400, 1), "setback")))[:, :, :3].reshape(-1, 3)
    shares = [(np.abs(pixels - colour).max(1) < 0.01).mean() for colour in _colours(4)]
    assert shares[level] > 0.05
    assert all(shares[other] < 0.01 for other in range(1, 4) if other != level)  # the hands' panel is grey, as pass is


def test_a_cell_is_filled_from_the_left_in_the_shares_of_its_bids():
    bids = np.array([[[2, 1, 1], [0, 0, 8]], [[0, 0, 0], [1, 9, 0]]])  # two rows, two columns, three levels
    axes, colours = Figure().add_subplot(), _colours(3)
    _cells(axes, bids, bids.sum(2) > 0, colours)
    for (row, column), counts in zip([(0, 0), (0, 1), (1, 1)], ([2, 1, 1], [0, 0, 8], [1, 9, 0]), strict=True):
        bars = [bar for bar in axes.patches if bar.get_y() == row - 0.5 and round(bar.get_x() + bar.get_width() / 2) == column]
        ends = np.cumsum([0, *counts]) / np.sum(counts) + column - 0.5
        drawn = {to_rgb(bar.get_facecolor()): (bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars if bar.get_width()}
        expected = {colours[k]: (ends[k], ends[k + 1]) for k in range(3) if counts[k]}
        assert drawn.keys() == expected.keys()
        for colour, where in expected.items():
            assert drawn[colour] == pytest.approx(where)
    assert not [bar for bar in axes.patches if bar.get_y() == 0.5 and bar.get_x() < 0.4]  # the cell without hands


def test_blank_where_hands_are_few():
    rules = load_rules("auction-3")
    for deals, fewest in ((1, 1), (1500, FEWEST)):
        report = report_of(rules, [watch_bidding(Player("it", HeuristicPolicy(), 0), rules, deals, 1)], deals, 1)
        assert report["fewest_shown"] == fewest
        assert picture(report, "auction-3").startswith(b"\x89PNG")


def test_nobody_bids():
    rules = load_rules("setback")
    report = report_of(rules, [watch_bidding(Player("it", Passer(), 0), rules, 50, 1)], 50, 1)
    assert report["agents"][0]["thrown_in"] == 50
    assert said(report) == ["it: first to speak: pass 100.0%; no contract"]
    assert picture(report, "setback").startswith(b"\x89PNG")


def test_illegal_proposals_are_counted():
    rules = load_rules("auction-3")
    report = report_of(rules, [watch_bidding(Player("it", Passer(), 0), rules, 50, 1)], 50, 1)
    assert report["agents"][0]["illegal"] == 50  # the dealer must bid
    assert said(report)[0].endswith("illegal proposals: 50, replaced by the first legal action")


def test_refusals(tmp_path):
    png = tmp_path / "a.png"
    for agents_given, changes, said_to_be in (
        ((), {}, r"agents: 0 given; allowed: 1 … 6"),
        (("random",) * 7, {}, r"agents: 7 given; allowed: 1 … 6"),
        (("random",), {"deals": 0}, r"deals = 0: allowed: 1 … 10000000"),
        (("random",), {"png": tmp_path / "none" / "a.png"}, r"png = .*cannot be written; allowed: a file in a folder that exists"),
        (("random",), {"json": png}, r"json = .*: the same file as the picture; allowed: another"),
        (("random",), {"rules": "sotback"}, r"'sotback': unknown"),
        (("rondom",), {}, r"agent 'rondom': unknown"),
    ):
        with pytest.raises(InputError, match=said_to_be) as refused:
            run(Arguments(agents_given, **{"png": png, **changes}))
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match=r"--png: missing; allowed: a file for the picture"):
        main(["random"])
    with pytest.raises(InputError, match=r"option '--pgn': unknown"):
        main(["random", "--pgn", "a.png"])
    assert not list(Path(tmp_path).iterdir())


def test_names_are_no_markup(tmp_path, capsys):
    main(["zoo:family", "--deals", "40", "--png", str(tmp_path / "c.png")])
    assert "zoo:family: first to speak: bid 2" in capsys.readouterr().out

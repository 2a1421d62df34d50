"""Cross-play against deals played one by one, with agents that read each other alone, and with agents that are the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from pitchenv import Game, Rules, load_rules
from pitchenv.actions import BID_0, MAX_BID, PASS
from pitchenv.checks import InputError
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.random import RandomPolicy
from tests.agents.searching import answer
from training.cross_play import Arguments, MixedSide, cross_play, main, run, said
from training.intervals import interval
from training.parts import PART, fresh_matches, part_size

AUCTION = 0


class Handshake(HeuristicPolicy):
    """Says by its bids which kind it is, and plays well with its own kind alone. Four players, two sides."""

    bids = False

    def act(self, inputs: Any, mask: Any, seat: Any) -> Any:
        actions = super().act(inputs, mask, seat)
        public = inputs["public"]
        auction = public["phase"] == AUCTION
        calls = mask[:, BID_0 + 1 : BID_0 + MAX_BID + 1]
        if self.bids:
            actions = np.where(auction & calls.any(axis=1), BID_0 + 1 + calls.argmax(axis=1), actions)
        else:
            actions = np.where(auction & mask[:, PASS], PASS, actions)
        partner_bids = public["bids"][np.arange(len(seat)), (seat + 2) % 4] > 1
        return np.where(~auction & (partner_bids != self.bids), mask.argmax(axis=1), actions)


class BiddingHandshake(Handshake):
    """Another kind."""

    bids = True


def change(rules: Rules, record: Any, at_seat: list[Policy]) -> Any:
    """What a deal brings each side."""
    game = Game.from_record(rules, record)
    while game.phase != "ended":
        assert game.seat is not None
        game.apply(answer(at_seat[game.seat], game))
    return np.array(game.scores, float)


def slow_margin(rules: Rules, record: Any, side: list[Policy], over: list[Policy]) -> float:
    """One kind of side alone against the other kind, and the reverse, over all sides."""
    margins = []
    for alone in range(rules.sides):
        for one, rest, sign in ((side, over, 1), (over, side, -1)):
            kinds = [one if seat % rules.sides == alone else rest for seat in range(rules.players)]
            members = [seat // rules.sides for seat in range(rules.players)]
            scores = change(rules, record, [kind[member % len(kind)] for kind, member in zip(kinds, members, strict=True)])
            margins.append(sign * (scores[alone] - np.delete(scores, alone).mean()))
    return float(np.mean(margins))


@pytest.mark.parametrize(
    ("name", "changes", "deals"), [("auction-4-partners", {}, 12), ("auction-4-partners", {"players": 6}, 8), ("oklahoma-6", {}, 3)]
)
def test_equals_deals_played_one_by_one(name: str, changes: dict[str, int], deals: int) -> None:
    rules = load_rules(name, **changes)
    x, y = agents.load("heuristic"), agents.load("heuristic:untuned")
    found = cross_play(("x", x), ("y", y), rules, deals, 5)
    records = fresh_matches(rules, 5, 0, deals)
    kinds = {"x": [x], "y": [y], "x + y": [x, y], "y + x": [y, x]}
    slow = {
        (side, over): np.array([slow_margin(rules, record, kinds[side], kinds[over]) for record in records])
        for side, over in (("x", "y"), ("x + y", "x"), ("y + x", "x"), ("x + y", "y"), ("y + x", "y"))
    }
    assert (found.margin, found.half_width) == pytest.approx(interval(slow["x", "y"]))
    assert [(of.side, of.over) for of in found.mixed] == list(slow)[1:]
    for of in found.mixed:
        assert (of.margin, of.half_width) == pytest.approx(interval(slow[of.side, of.over]))
    assert (found.loss, found.loss_half_width) == pytest.approx(interval(-np.mean(list(slow.values())[1:], axis=0)))
    assert any(values.any() for values in slow.values())
    assert found.illegal == dict.fromkeys(kinds, 0)


def test_a_private_convention_is_a_loss() -> None:
    rules = load_rules("auction-4-partners")
    found = cross_play(("a", Handshake()), ("b", BiddingHandshake()), rules, 200, 1)
    assert found.loss - found.loss_half_width > 0.5
    same = cross_play(("a", Handshake()), ("b", Handshake()), rules, 200, 1)
    assert (same.margin, same.loss, same.loss_half_width) == (0, 0, 0)


def test_strength_alone_is_little_loss() -> None:
    """A partner who plays at random costs points, and a second one about as many again: the mixed side is near the middle."""
    rules = load_rules("auction-4-partners")
    found = cross_play(("good", HeuristicPolicy()), ("bad", RandomPolicy()), rules, 400, 1)
    assert found.margin > 3
    by_name = {(of.side, of.over): of.margin for of in found.mixed}
    assert by_name["good + bad", "good"] < -1
    assert by_name["good + bad", "bad"] > 1
    assert abs(found.loss) < found.margin / 4


def test_members_that_read_different_things() -> None:
    rules = load_rules("auction-4-partners")
    random, heuristic = RandomPolicy(), HeuristicPolicy()
    assert MixedSide((random, heuristic)).reads == "view"
    assert MixedSide((random, random)).reads == "observation"
    first = [cross_play(("r", random), ("h", heuristic), rules, 10, 3) for _ in range(2)]
    assert first[0] == first[1]  # random numbers follow from the seed
    slow = type("Slow", (RandomPolicy,), {"slow": True})()
    assert part_size([MixedSide((heuristic, slow)), heuristic], 2) == PART


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    main(
        ["heuristic", "heuristic", "random", "--rules", "smear", "--set", "target=11", "--deals", "60", "--seed", "4", "--json", str(path)]
    )
    printed = capsys.readouterr().out.splitlines()
    report = json.loads(path.read_text())
    assert said(report) == printed
    assert report["rules"] == load_rules("smear", target=11).to_dict()
    assert (report["deals"], report["plays"], report["seed"]) == (60, 2, 4)
    assert [pair["agents"] for pair in report["pairs"]] == [
        ["heuristic", "heuristic (2)"],
        ["heuristic", "random"],
        ["heuristic (2)", "random"],
    ]
    assert printed[1] == "heuristic over heuristic (2): +0.000 ± 0.000; mixed as partners they lose +0.000 ± 0.000"
    assert report["largest_margin"] == {key: report["pairs"][1][key] for key in ("agents", "margin", "half_width")}
    assert report["largest_loss"]["loss"] == max(pair["loss"] for pair in report["pairs"])
    assert len(printed) == 6  # no illegal proposals


def test_illegal_proposals_are_said() -> None:
    wrong = type("Wrong", (RandomPolicy,), {"act": lambda self, inputs, mask, seat: np.full(len(seat), 70)})()
    found = cross_play(("h", HeuristicPolicy()), ("w", wrong), load_rules("smear"), 4, 1)
    assert min(found.illegal[name] for name in ("w", "h + w", "w + h")) > 0
    assert found.illegal["h"] == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ("random",)}, r"agents: 1 given; allowed: 2 … 7"),
        ({"agents": ("random",) * 8}, r"agents: 8 given; allowed: 2 … 7"),
        ({"deals": 1}, r"deals = 1: allowed: 2 … 10000000"),
        (
            {"rules": "setback", "changes": ("players=3", "sides=3")},
            r"rules 'setback': players = sides = 3: nobody has a partner; allowed: .*oklahoma-4, oklahoma-6, auction-4-partners",
        ),
        ({"rules": "auction-2"}, r"rules 'auction-2': players = sides = 2: nobody has a partner"),
        ({"rules": "smaer"}, r"'smaer': unknown"),
        ({"agents": ("random", "rondom")}, r"agent 'rondom': unknown"),
        ({"json": Path("no-such-folder") / "a.json"}, r"json = .*: cannot be written; allowed: a file in a folder that exists"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        run(Arguments(**{"agents": ("random", "heuristic"), "deals": 4, **changes}))
    assert "\n" not in str(refused.value)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InputError, match=r"option '--deal': unknown; did you mean '--deals'"):
        main(["random", "heuristic", "--deal", "4"])

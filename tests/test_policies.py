"""The players that need no torch: `random` plays any legal action, `heuristic` plays sense in every game, and sees only its view."""

import random
from typing import Any

import numpy as np
import pytest

from pitchenv import Batch, Game, Rules, games, load_rules
from pitchenv.actions import ACTIONS, action_name
from pitchenv.cards import CARD_NAMES, pack
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import CHANCES, TUNED, UNTUNED
from pitchenv.policies.random import RandomPolicy
from tests.hidden import with_other_hidden_cards
from tests.random_rules import random_rules
from training.duplicate import duplicate

HEURISTIC = HeuristicPolicy()


def play_out(policy: Policy, batch: Batch) -> int:
    """Play every match of a batch that does not restart to its end; an illegal action raises. Returns the number of decisions."""
    decisions = 0
    actions = np.zeros(len(batch), np.int64)
    while (live := np.flatnonzero(batch.seat >= 0)).size:
        inputs = batch.views() if policy.reads == "view" else batch.observation
        actions[live] = policy.act(inputs[live], batch.mask[live], batch.seat[live])
        batch.step(actions)
        decisions += live.size
    return decisions


def answer(game: Game) -> str:
    """What `heuristic` does in the place of the seat to act."""
    assert game.seat is not None
    mask = np.zeros((1, ACTIONS), np.bool_)
    mask[0, game.legal_actions()] = True
    return action_name(int(HEURISTIC.act(np.array([game.view(game.seat)]), mask, np.array([game.seat]))[0]))


def deal(rules: Rules | str, hands: dict[int, str], before: str = "", **given: Any) -> Game:
    """A deal, by dealer 0 unless given, in which some hands begin with these cards, after these actions; the rest is dealt in order."""
    rules = load_rules(rules)
    named = {seat: cards.split() for seat, cards in hands.items()}
    taken = {card for cards in (*named.values(), given.get("stock", [])) for card in cards}
    free = [CARD_NAMES[c] for c in pack(rules.lowest_rank, rules.jokers) if CARD_NAMES[c] not in taken]
    random.Random(0).shuffle(free)
    full = []
    for seat in range(rules.players):
        cards = named.get(seat, [])
        full.append(cards + [free.pop() for _ in range(rules.hand_size - len(cards))])
    game = Game.from_deal(rules, full, **given)
    for action in before.split(", ") if before else []:
        game.apply(action)
    return game


# Legal and repeatable


@pytest.mark.parametrize("policy", [RandomPolicy(), HEURISTIC, HeuristicPolicy(UNTUNED)], ids=["random", "heuristic", "untuned"])
@pytest.mark.parametrize("name", games())
def test_plays_every_game_legally(policy: Policy, name: str) -> None:
    policy.reset(load_rules(name), 200, 1)
    batch = Batch(name, 200, seed=1, episode="match", max_deals=5, restart=False)
    assert play_out(policy, batch) > 200


def test_heuristic_plays_random_house_rules_legally() -> None:
    rng = random.Random(11)
    rules = [Rules(**random_rules(rng)) for _ in range(1000)]
    batch = Batch(rules, len(rules), seed=2, episode="match", max_deals=3, restart=False, start_scores="spread")
    assert play_out(HEURISTIC, batch) > 1000


def test_heuristic_answers_row_by_row() -> None:
    """The same view, the same action, whatever stands beside it."""
    batch = Batch(["oklahoma-4", "auction-3", "smear"], 90, seed=4)
    for _ in range(60):
        views, mask, seat = batch.views(), batch.mask.copy(), batch.seat.copy()
        together = HEURISTIC.act(views, mask, seat)
        rows = np.arange(len(batch))[::-7]
        assert HEURISTIC.act(views[rows], mask[rows], seat[rows]).tolist() == together[rows].tolist()
        chances = HEURISTIC.probabilities(views, mask, seat)
        assert chances.shape == (90, ACTIONS)
        assert (chances.sum(axis=1) == 1).all()
        assert chances[np.arange(90), together].all()
        batch.step(together)


def test_random_plays_every_legal_action_equally_often() -> None:
    policy = RandomPolicy()
    policy.reset(load_rules("auction-4"), 1, 5)
    mask = np.zeros((30_000, ACTIONS), np.bool_)
    legal = [0, 17, 53, 54, 69]
    mask[:, legal] = True
    rows = np.zeros(len(mask), np.int64)
    actions = policy.act(rows, mask, rows)
    counts = np.bincount(actions, minlength=ACTIONS)
    assert counts.sum() == counts[legal].sum()
    assert np.abs(counts[legal] - 6000).max() < 350  # five standard deviations
    assert np.allclose(policy.probabilities(rows[:1], mask[:1], rows[:1])[0, legal], 0.2)
    policy.reset(load_rules("auction-4"), 1, 5)
    assert (policy.act(rows, mask, rows) == actions).all()


@pytest.mark.parametrize("name", ["auction-4-partners", "oklahoma-4", "oklahoma-6", "smear"])
def test_heuristic_does_not_see_hidden_cards(name: str) -> None:
    rng = random.Random(3)
    game, seen = Game(name, seed=6), 0
    while game.phase != "ended":
        action = answer(game)
        assert game.seat is not None
        for _ in range(5):
            twin = with_other_hidden_cards(game, game.seat, rng)
            seen += twin.hands != game.hands
            assert answer(twin) == action
        game.apply(action)
    assert seen > 20


# The auction

TRASH = "4C 6D 7H 8S 9C 5D"


def test_passes_on_nothing() -> None:
    assert answer(deal("setback", {1: TRASH})) == "pass"
    assert answer(deal("oklahoma-4", {2: TRASH}, "bid 5")) == "pass"


@pytest.mark.parametrize("name", ["auction-4-partners", "setback", "auction-4", "auction-6"])
def test_bids_three_or_more_on_all_the_honours(name: str) -> None:
    assert answer(deal(name, {1: "AS KS QS JS 2S AH"})) in ("bid 3", "bid 4")


def test_bids_high_on_ten_point_honours() -> None:
    hand = "AS KS QS JS JC HJ LJ 3S 2S"
    assert int(answer(deal("oklahoma-4", {1: hand}, "pass, bid 6", dealer=2)).removeprefix("bid ")) >= 7


def test_forced_dealer_bids_the_least() -> None:
    assert answer(deal("auction-4-partners", {0: TRASH}, "pass, pass, pass")) == "bid 2"


def test_dealer_takes_the_bid_for_no_more_than_needed() -> None:
    strong = "AS KS QS JS 2S AH"
    assert answer(deal("auction-4-partners", {0: strong}, "pass, pass, bid 2")) == "bid 2"
    assert answer(deal("smear", {0: "AS KS QS JS 7S AH"}, "pass, pass, bid 2")) == "bid 3"


def test_leaves_the_bid_to_the_partner() -> None:
    hand = "AS 8S 5S KD 7D 4C"
    assert answer(deal("auction-4-partners", {3: hand}, "bid 2, pass")) == "pass"


def test_bids_more_when_an_enemy_can_win_as_pitcher() -> None:
    higher = 0
    for seed in range(40):
        names = [[CARD_NAMES[c] for c in hand] for hand in Game("auction-4-partners", seed=seed).hands]
        calm, alarmed = (answer(Game.from_deal("auction-4-partners", names, scores=[score, 0])) for score in (0, 6))
        levels = [0 if a == "pass" else int(a.removeprefix("bid ")) for a in (calm, alarmed)]
        assert levels[1] >= levels[0]
        higher += levels[1] > levels[0]
    assert higher > 5


# Trump and the exchange


def test_names_and_leads_its_best_suit() -> None:
    assert answer(deal("oklahoma-4", {1: "AS KS JS 9S 3S 2H 5H 7D 8C"}, "bid 5, pass, pass, pass")) == "trump S"
    assert answer(deal("auction-4-partners", {1: "AH KH QH JH 2H 9S"}, "bid 3, pass, pass, pass")).endswith("H")


def test_redraw_throws_what_is_no_trump() -> None:
    game = deal("oklahoma-4", {1: "AS KS JC 9S 3S 2H 5H 7D 8C"}, "bid 5, pass, pass, pass, trump S")
    thrown = []
    while game.seat == 1 and (action := answer(game)) != "done":
        thrown.append(action)
        game.apply(action)
    assert len(thrown) == 3
    assert set(thrown) < {"2H", "5H", "7D", "8C"}


def test_discards_down_to_its_trumps_and_best_cards() -> None:
    game = deal("oklahoma-6", {1: "AS KS JC HJ 3S 2H AH 7D"}, "bid 5, pass, pass, pass, pass, pass")
    widow = game.hands[1]
    game.apply("trump S")
    while game.phase == "discard" and game.seat == 1:
        game.apply(answer(game))
    spades = {c for c in widow if c >= 39 or c in (9, 52, 53)}
    assert spades <= set(game.hands[1]) or len(spades) > 6


def test_smear_pitcher_keeps_the_suit_it_leads() -> None:
    game = deal("smear", {1: "AS KS JS 9S 8D 9H"}, "bid 3, pass, pass, pass", stock=["TD", "7C", "QH"])
    while game.phase == "discard":
        game.apply(answer(game))
    assert {CARD_NAMES[c] for c in game.hands[1]} >= {"AS", "KS", "JS", "9S"}
    assert answer(game).endswith("S")
    assert "TD" in {CARD_NAMES[c] for c in game.put_away[1]}  # its ten pips count for Game there


# Card play: seat 1 pitches hearts unless said otherwise; partners are 1 and 3, 0 and 2

CALLS = "bid 2, pass, pass, pass, "


def test_takes_a_jack() -> None:
    hands = {1: "4H", 2: "5H", 3: "JH", 0: "QH 3H 2H 7C 8D 9S"}
    assert answer(deal("auction-4-partners", hands, CALLS + "4H, 5H, JH")) == "QH"


def test_gives_its_low_to_a_partner_who_wins() -> None:
    hands = {1: "4H", 2: "JH", 3: "5H", 0: "QH 3H 2H 7C 8D 9S"}
    assert answer(deal("auction-4-partners", hands, CALLS + "4H, JH, 5H")) == "2H"


def test_does_not_throw_a_jack_under_a_higher_card() -> None:
    hands = {1: "AH", 2: "5H", 3: "6H", 0: "JH 4H 7C 8D 9S TS"}
    assert answer(deal("auction-4-partners", hands, CALLS + "AH, 5H, 6H")) == "4H"


def test_wins_the_last_seat_with_the_cheapest_card_that_wins() -> None:
    hands = {1: "JH", 2: "5H", 3: "6H", 0: "AH QH 4H 7C 8D 2C"}
    assert answer(deal("auction-4-partners", hands, CALLS + "JH, 5H, 6H")) == "QH"


def test_gives_a_ten_to_the_partner_who_wins_and_none_to_an_enemy() -> None:
    hands = {1: "AH AS", 2: "5H 4S", 3: "6H TS 7S 8D 9D 3D", 0: "2H TC 7C 8C 9C 3C"}
    game = deal("auction-4-partners", hands, CALLS + "AH, 5H, 6H, 2H, AS, 4S")
    assert answer(game) == "TS"
    game.apply("TS")
    assert answer(game) != "TC"


def test_leads_the_ace_of_trump_as_pitcher() -> None:
    assert answer(deal("auction-4-partners", {1: "AH KH QH 3H 9S 4C"}, CALLS.removesuffix(", "))) in ("AH", "KH", "QH")


# Strength, loosely here: `python -m training.tune_heuristic --measure` measures it


@pytest.mark.parametrize(
    ("name", "ahead"),
    [("auction-2", 2), ("auction-3", 1.5), ("auction-7", 1), ("smear", 3.5), ("setback", 3.3), ("oklahoma-4", 10), ("oklahoma-6", 7)],
)
def test_heuristic_is_far_ahead_of_random(name: str, ahead: float) -> None:
    result = duplicate(HEURISTIC, RandomPolicy(), load_rules(name), 400, seed=1)
    assert result.margin - result.half_width > ahead
    assert not any(result.illegal.values())


def test_heuristic_in_its_main_game() -> None:
    rules = load_rules("auction-4-partners")
    over_random = duplicate(HEURISTIC, RandomPolicy(), rules, 5000, seed=1)
    assert over_random.margin - over_random.half_width >= 3.6
    over_untuned = duplicate(HEURISTIC, HeuristicPolicy(UNTUNED), rules, 2000, seed=1)
    assert over_untuned.margin - over_untuned.half_width > 0


def test_parameters_are_chances_where_they_say_so() -> None:
    for records in (UNTUNED, TUNED):
        assert not records.flags.writeable
        for name in CHANCES:
            assert ((records[name] >= 0) & (records[name] <= 1)).all(), name

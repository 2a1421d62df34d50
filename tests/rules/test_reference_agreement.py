"""The engine beside the slow reference: the same cards, the same actions, and at every decision the same answers.

Deals come from `Game`; the reference is handed the cards. Half of the deals are of random rules, half of the games that
ship. Bidding styles differ from deal to deal, so that the cards are thrown in, stolen, raised and fought for.
"""

import random
from types import SimpleNamespace
from typing import Any

import pytest

import pitchenv
from tests.random_rules import random_rules, refusals, spoil
from tests.reference import ACTIONS, NUMBER, SUITS, ReferenceMatch

CHUNKS = 20
RULES_A_CHUNK = 200
DEALS_A_MATCH = 5
DEALS_OF_A_GAME = 800


def names(cards: Any) -> list[str]:
    return [ACTIONS[card] for card in cards]


def check_decisions(game: pitchenv.Game, reference: ReferenceMatch, rng: random.Random, where: Any) -> None:
    """One deal to its end."""
    passes = rng.choice((0.3, 0.7, 0.9))
    in_tricks = False
    while reference.phase != "ended":
        legal = sorted(NUMBER[action] for action in reference.legal_actions())
        assert game.legal_actions() == legal, where
        assert (game.phase, game.seat) == (reference.phase, reference.seat), where
        if reference.phase == "play" and not in_tricks:
            in_tricks = True
            assert [sorted(names(hand)) for hand in game.hands] == [sorted(hand) for hand in reference.hands], where
        can_pass = legal[0] == NUMBER["pass"]
        action = legal[0] if can_pass and rng.random() < passes else rng.choice(legal)
        game.apply(action)
        reference.apply(ACTIONS[action])
    assert (game.phase, game.seat, game.legal_actions()) == ("ended", None, []), where


def check_results(game: pitchenv.Game, reference: ReferenceMatch, where: Any) -> None:
    assert (None if game.points is None else list(game.points)) == reference.points, where
    assert list(game.scores) == reference.scores, where
    assert (game.winner, game.over) == (reference.winner, reference.over), where
    assert (game.dealer, game.deals_played) == (reference.dealer, reference.deals_played), where
    assert (game.pitcher, game.bid) == (reference.pitcher, reference.bid), where
    assert (None if game.trump is None else SUITS[game.trump]) == reference.trump, where


def check_match(game: pitchenv.Game, fields: Any, most_deals: int, rng: random.Random, where: Any) -> int:
    """Up to `most_deals` deals of one match; how many there were."""
    reference = None
    for deals in range(1, most_deals + 1):
        hands, stock = [names(hand) for hand in game.hands], names(game.stock)
        if reference is None:
            reference = ReferenceMatch(fields, hands, stock, game.dealer, list(game.scores))
        else:
            reference.next_deal(hands, stock)
            assert game.dealer == reference.dealer, where
        check_decisions(game, reference, rng, where)
        check_results(game, reference, where)
        if reference.over:
            return deals
        game.next_deal()
    return most_deals


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_rules(chunk):
    rng = random.Random(chunk)
    deals = 0
    for turn in range(RULES_A_CHUNK):
        fields = random_rules(rng)
        rules = pitchenv.Rules(**fields)
        game = pitchenv.Game(rules, seed=rng.getrandbits(32))
        deals += check_match(game, SimpleNamespace(**fields), DEALS_A_MATCH, rng, (chunk, turn, fields))
    # Matches end early where the target is low.
    assert deals >= 3 * RULES_A_CHUNK


@pytest.mark.parametrize("chunk", range(4))
def test_random_rules_near_the_end_of_a_match(chunk):
    """Scores around the target, where winners, ties and the cap are decided."""
    rng = random.Random(1000 + chunk)
    decided = 0
    for turn in range(250):
        fields = random_rules(rng) | {"target": rng.randint(1, 30)}
        scores = [fields["target"] + rng.randint(-4, 1) for _ in range(fields["sides"])]
        rules = pitchenv.Rules(**fields)
        dealt = pitchenv.Game(rules, seed=rng.getrandbits(32))
        hands, stock = [names(hand) for hand in dealt.hands], names(dealt.stock)
        game = pitchenv.Game.from_deal(rules, hands, stock, dealer=dealt.dealer, scores=scores, seed=turn)
        check_match(game, SimpleNamespace(**fields), 3, rng, (chunk, turn, scores, fields))
        decided += game.over
    assert decided >= 50


@pytest.mark.parametrize("name", sorted(pitchenv.games()))
def test_games_that_ship(name):
    rng = random.Random(name)
    rules = pitchenv.load_rules(name)
    deals = 0
    while deals < DEALS_OF_A_GAME:
        game = pitchenv.Game(rules, seed=rng.getrandbits(32))
        deals += check_match(game, rules, 100, rng, (name, deals))


@pytest.mark.parametrize("chunk", range(10))
def test_the_same_combinations_are_refused(chunk):
    rng = random.Random(chunk)
    refused = 0
    for _ in range(500):
        fields = spoil(random_rules(rng), rng)
        at_fault = refusals(fields)
        if not at_fault:
            assert pitchenv.Rules(**fields).to_dict().keys() == fields.keys()
            continue
        refused += 1
        with pytest.raises(pitchenv.RulesError) as error:
            pitchenv.Rules(**fields)
        message = str(error.value)
        assert "\n" not in message
        assert any(name in message for names_at_fault in at_fault for name in names_at_fault), (
            message,
            fields,
        )
    assert 150 < refused < 400

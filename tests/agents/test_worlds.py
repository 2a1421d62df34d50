"""Worlds: what is drawn fits what the seat knows, everything that fits is drawn, and all of it equally often."""

import random

import numpy as np
import pytest

import pitchenv
from agents.search.worlds import VIEW_BYTES, sample_worlds, view_seeds
from pitchenv.cards import cards_in, mask_of, pack
from pitchenv.checks import InputError
from pitchenv.engine.state import MATCH, VIEW
from pitchenv.engine.suits import SUIT_CARDS, row
from tests.agents.enumerated import all_worlds, key_of, moment
from tests.conformance import ALL_RULES, content, random_deal
from tests.hidden import with_other_hidden_cards
from tests.random_rules import random_rules

SMALL = {
    "two hands": pitchenv.Rules(players=2, sides=2, lowest_rank=12, hand_size=3, tricks=3, follow="suit_or_trump"),
    "three hands": pitchenv.Rules(players=3, sides=3, lowest_rank=12, hand_size=3, tricks=3),
    "four hands": pitchenv.Rules(lowest_rank=13, jokers=1, off_jack=True, hand_size=2, tricks=2, follow="suit"),
    "five hands": pitchenv.Rules(
        players=5, sides=5, lowest_rank=13, jokers=2, off_jack=True, hand_size=2, tricks=2, trump="declared", follow="suit_or_trump"
    ),
    "redraw": pitchenv.Rules(players=2, sides=2, lowest_rank=13, jokers=2, hand_size=3, tricks=2, redraw=1, widow=1, trump="declared"),
    "redraw, trump kept": pitchenv.Rules(
        players=2, sides=2, lowest_rank=13, jokers=2, hand_size=3, tricks=2, redraw=1, widow=1, trump="declared", keep_trump=True
    ),
    "redraw of all": pitchenv.Rules(
        players=2, sides=2, lowest_rank=13, jokers=1, hand_size=2, tricks=1, redraw=2, widow=1, trump="declared", keep_trump=True
    ),
    "three keep trump": pitchenv.Rules(
        players=3, sides=3, lowest_rank=13, jokers=2, hand_size=2, tricks=1, redraw=1, trump="declared", keep_trump=True, first_lead="trump"
    ),
    "three discard": pitchenv.Rules(players=3, sides=3, lowest_rank=13, jokers=2, hand_size=3, tricks=2, trump="declared", keep_trump=True),
    "smear": pitchenv.Rules(players=3, sides=3, lowest_rank=13, hand_size=2, tricks=2, widow=1, keep_trump=True),
    "smear, a larger widow": pitchenv.Rules(players=2, sides=2, lowest_rank=13, hand_size=2, tricks=2, widow=4, keep_trump=True),
    "smear of one trick": pitchenv.Rules(players=2, sides=2, lowest_rank=13, hand_size=1, tricks=1, widow=2, keep_trump=True),
}
# Rules, and seed, actions and seat of a moment in random play; what it is good for.
MOMENTS = [
    ("two hands", 2, 4, 1, "a void"),
    ("three hands", 1, 6, 1, "two seats with the same void"),
    ("three hands", 3, 8, 0, "two seats with different voids"),
    ("four hands", 0, 4, 0, "voids with an off-jack"),
    ("five hands", 0, 6, 0, "voids with jokers"),
    ("redraw", 2, 3, 0, "in the middle of the redraw"),
    ("redraw", 0, 6, 0, "the pitcher's own widow and redraw"),
    ("redraw", 3, 12, 1, "the same with a void"),
    ("redraw, trump kept", 0, 8, 1, "the pitcher kept trumps, and the widow"),
    ("redraw, trump kept", 0, 8, 0, "the other redrew, and kept trumps twice"),
    ("redraw of all", 1, 5, 1, "the pitcher puts all away"),
    ("redraw of all", 0, 10, 1, "the pitcher's own widow and redraw, trump kept"),
    ("three keep trump", 0, 11, 2, "two seats kept trumps"),
    ("three keep trump", 2, 11, 2, "a void, and trumps kept"),
    ("three discard", 0, 6, 1, "two seats kept trumps while discarding"),
    ("three discard", 4, 9, 2, "a void of a seat that kept trumps"),
    ("smear", 1, 7, 0, "the first lead was open, and another seat has a void"),
    ("smear, a larger widow", 0, 4, 0, "in the middle of the discards"),
    ("smear, a larger widow", 0, 6, 0, "a suit is open, the lead is to come"),
    ("smear, a larger widow", 1, 6, 1, "the same, with fewer left"),
    ("smear of one trick", 0, 4, 0, "a suit is open, since all that is left is of it"),
]


@pytest.mark.parametrize(("name", "seed", "moves", "seat", "what"), MOMENTS)
def test_worlds_are_uniform_over_all_that_fit(name, seed, moves, seat, what):
    """Against all worlds found by trying every deal. Chi-square, made normal after Wilson and Hilferty; the seeds are fixed."""
    rules = SMALL[name]
    game = moment(rules, seed, moves)
    fit = all_worlds(game, seat)
    assert len(fit) > 10
    view = np.array([game.view(seat)])
    drawn = dict.fromkeys(fit, 0)
    expected = 30
    for world in sample_worlds(view, expected * len(fit), view_seeds(view, 1))[0]:
        drawn[key_of(rules, world)] += 1
    chi_square = sum((n - expected) ** 2 / expected for n in drawn.values())
    freedom = len(fit) - 1
    spread = 2 / (9 * freedom)
    assert abs((chi_square / freedom) ** (1 / 3) - 1 + spread) < 3.5 * spread**0.5


@pytest.mark.parametrize(
    ("name", "seed", "moves", "seat"),
    [("auction-4-partners", 18, 18, 2), ("auction-5", 0, 20, 0), ("auction-7", 0, 28, 0), ("oklahoma-4", 17, 45, 3), ("smear", 6, 20, 0)],
)
def test_worlds_with_many_voids_are_those_without_that_happen_to_fit(name, seed, moves, seat):
    """Three seats with different voids, in games too large to try every deal: how often each seat holds each card."""
    rules = pitchenv.load_rules(name)
    view = np.array([moment(rules, seed, moves).view(seat)])
    public = view["public"][0]
    out_of = [sum(suits_of(rules, public)[k] for k in range(4) if public["voids"][s] >> k & 1) for s in range(rules.players)]
    assert len({mask for s, mask in enumerate(out_of) if s != seat}) > 3 - (rules.players == 4)
    blind = view.copy()
    blind["public"]["voids"] = 0
    any_hands = sample_worlds(blind, 40_000, np.array([1], np.uint64))[0]["hidden"]["hands"][:, : rules.players]
    others = [s for s in range(rules.players) if s != seat]
    fit = any_hands[(any_hands[:, others] & np.array(out_of)[others] == 0).all(axis=1)]
    drawn = sample_worlds(view, 20_000, np.array([2], np.uint64))[0]["hidden"]["hands"][:, : rules.players]
    assert len(fit) > 1000
    cards = np.int64(1) << np.arange(54)
    one, two = ((hands[:, :, None] & cards != 0).mean(axis=0) for hands in (fit, drawn))
    both = (one * len(fit) + two * len(drawn)) / (len(fit) + len(drawn))
    error = np.sqrt(both * (1 - both) * (1 / len(fit) + 1 / len(drawn)))
    assert (error > 0).sum() > 20
    assert (one == two)[error == 0].all()
    assert (np.abs(one - two) <= 4.5 * error).all()


def suits_of(rules: pitchenv.Rules, public: np.ndarray) -> list[int]:
    """The cards of each suit as masks, trump being known."""
    return [int(mask) for mask in SUIT_CARDS[row(rules.off_jack, int(public["trump"]))]]


def check_world(rules: pitchenv.Rules, view: np.ndarray, world: np.ndarray) -> None:
    """A world shows its looker the same again, and is a deal of the whole pack in which everything so far was legal."""
    match = pitchenv.Game.from_record(rules, world)
    assert content(np.array([match.view(int(view["seat"]))])) == content(np.array([view]))
    public, hidden = world["public"], world["hidden"]
    hands = [cards_in(int(mask)) for mask in hidden["first_hands"][: rules.players]]
    stock = hidden["stock"][: public["stock_size"]].tolist()
    assert sorted(card for pile in [*hands, stock] for card in pile) == pack(rules.lowest_rank, rules.jokers)
    again = pitchenv.Game.from_deal(rules, hands, stock, dealer=match.dealer)
    for seat, action in match.actions:
        assert again.seat == seat
        again.apply(action)
    assert (again.hands, again.put_away, again.stock) == (match.hands, match.put_away, match.stock)
    for field in ("phase", "turn", "trump", "pitcher", "bid", "held", "voids", "played", "taken", "trick", "stock_left"):
        assert np.array_equal(again._match["public"][field][0], public[field]), field
    assert hidden["seed"] == 0


def check_moments(rules: pitchenv.Rules, rng: random.Random, share: float) -> int:
    """Worlds of every seat at some of the moments of a random deal, at its end too."""
    game = pitchenv.Game(rules, seed=rng.getrandbits(32))
    moments = 0
    for now in [g.copy() for g in random_deal(game, rng)] + [game]:
        if rng.random() < share or now is game:
            views = np.array([now.view(seat) for seat in range(rules.players)])
            for view, worlds in zip(views, sample_worlds(views, 1, view_seeds(views, 1)), strict=True):
                check_world(rules, view, worlds[0])
                moments += 1
    return moments


@pytest.mark.parametrize("name", ALL_RULES)
def test_worlds_fit_in_every_game(name):
    assert check_moments(ALL_RULES[name], random.Random(name), 0.5) > 2


def test_worlds_fit_under_random_rules():
    rng = random.Random(7)
    assert sum(check_moments(pitchenv.Rules.from_dict(random_rules(rng)), rng, 0.2) for _ in range(60)) > 500


def test_worlds_of_later_deals_and_of_cards_laid_out():
    rng = random.Random(2)
    game = pitchenv.Game("auction-3", seed=5)
    for _ in range(3):
        for _ in random_deal(game, rng):
            pass
        game.next_deal()
    world = sample_worlds(np.array([game.view(1)]), 1, np.array([9], np.uint64))[0, 0]
    assert world["public"] == game._match["public"][0]
    # A pack that is not all there: some of the unseen cards are in no world's deal.
    short = pitchenv.Game.from_deal(SMALL["two hands"], [["AS", "KS", "QS"], ["AH", "KH", "QH"]], ["AC"], dealer=0)
    worlds = sample_worlds(np.array([short.view(0)]), 200, np.array([1], np.uint64))[0]
    unseen = set(pack(12, 0)) - set(short.hands[0])
    assert {int(c) for w in worlds for c in [w["hidden"]["stock"][0]]} == unseen
    assert all(w["hidden"]["first_hands"][1] & mask_of(short.hands[0]) == 0 for w in worlds)


def test_the_same_view_and_seed_give_the_same_worlds_in_any_batch():
    game = moment(ALL_RULES["oklahoma-4 with everything"], 3, 30)
    views = np.array([game.view(seat) for seat in (0, 1, 2, 3, 1)])
    seeds = view_seeds(views, 11)
    assert len(set(seeds.tolist())) == 4
    assert seeds[1] == seeds[4]
    together = sample_worlds(views, 6, seeds)
    for i in range(5):
        alone = views[i : i + 1].copy()
        assert view_seeds(alone, 11)[0] == seeds[i]
        assert content(sample_worlds(alone, 3, seeds[i : i + 1])[0]) == content(together[i, :3])
    assert content(together[1]) == content(together[4])
    assert view_seeds(views, 11 + 2**64).tolist() == seeds.tolist()
    assert not set(view_seeds(views, 12).tolist()) & set(seeds.tolist())
    assert len({content(world) for world in together[0]}) == 6


def test_a_views_seed_is_made_of_its_fields_and_never_of_the_gaps_between_them():
    view = np.array([pitchenv.Game("smear", seed=1).view(2)])
    seed = view_seeds(view, 5)
    assert seed.tolist() == [13902452007987140810]  # the same in every process, until VIEW or the hash changes
    gaps = np.setdiff1d(np.arange(VIEW.itemsize), VIEW_BYTES)
    assert len(gaps)
    for at in range(VIEW.itemsize):
        other = view.copy()
        other.view(np.uint8)[at] ^= 1
        assert (view_seeds(other, 5) == seed).all() == (at in gaps)


@pytest.mark.parametrize("name", ["auction-4-partners", "smear", "oklahoma-4", "oklahoma-6", "oklahoma-4 with everything"])
def test_hidden_cards_make_no_difference(name):
    rng = random.Random(name)
    for game in random_deal(pitchenv.Game(ALL_RULES[name], seed=4), rng):
        seat = rng.randrange(game.rules.players)
        views = np.array([game.view(seat), with_other_hidden_cards(game, seat, rng).view(seat)])
        one, other = sample_worlds(views, 2, view_seeds(views, 3))
        assert content(one) == content(other)


VIEWS = np.array([pitchenv.Game("smear", seed=1).view(2)])


@pytest.mark.parametrize(
    ("views", "worlds", "seeds", "message"),
    [
        (VIEWS, 0, np.zeros(1, np.uint64), "worlds = 0: allowed: 1 … 100000"),
        (VIEWS, 2.5, np.zeros(1, np.uint64), "worlds = 2.5: allowed: a whole number, 1 … 100000"),
        (VIEWS, 3, np.zeros(2, np.uint64), r"seeds = .*: allowed: an array \(1,\) of uint64, one a view"),
        (VIEWS, 3, [7], r"seeds = \[7\]: allowed: an array \(1,\) of uint64, one a view"),
        (np.zeros(1, MATCH), 3, np.zeros(1, np.uint64), r"views = .*: allowed: an array \(n,\) of VIEW records"),
        (np.zeros(1, VIEW), 3, np.zeros(1, np.uint64), r"views\[0\]: no deal fits it; allowed: what a seat can see of a match"),
    ],
)
def test_bad_input(views, worlds, seeds, message):
    with pytest.raises(InputError, match=message) as refusal:
        sample_worlds(views, worlds, seeds)
    assert "\n" not in str(refusal.value)


def test_a_view_that_no_deal_fits():
    impossible = np.array([moment(ALL_RULES["auction-4-partners"], 1, 10).view(0)])
    impossible["public"]["voids"][0, 1] = 0b1111
    with pytest.raises(InputError, match=r"views\[0\]: no deal fits it"):
        sample_worlds(impossible, 1, np.zeros(1, np.uint64))

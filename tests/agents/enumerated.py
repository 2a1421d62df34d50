"""All worlds of a small game that fit what a seat knows, found the slow way: every deal is tried, and played again in a `Game`."""

import itertools
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import pitchenv
from pitchenv.cards import CARDS, cards_in, mask_of, pack
from pitchenv.engine.state import AUCTION, HIDDEN_CARD, NOBODY
from tests.conformance import content

Key = tuple[Any, ...]


def key_of(rules: pitchenv.Rules, match: np.ndarray) -> Key:
    """What tells worlds apart: what each seat was dealt, drew from widow and stock, and put away in redraw and discard."""
    public, hidden = match["public"], match["hidden"]
    moves = int(public["moves"])
    put_away: list[list[int]] = [[] for _ in range(rules.players)]
    for seat, action in zip(public["history_seats"][:moves].tolist(), match["history"][:moves].tolist(), strict=True):
        if action < CARDS and len(put_away[seat]) < public["redrawn"][seat] + public["discarded"][seat]:
            put_away[seat].append(action)
    early = public["redrawn"].tolist()
    return (
        *hidden["first_hands"][: rules.players].tolist(),
        *(mask_of(pile) for pile in stock_piles(rules, public, hidden["stock"].tolist())),
        *(mask_of(cards[: early[seat]]) for seat, cards in enumerate(put_away)),
        *(mask_of(cards[early[seat] :]) for seat, cards in enumerate(put_away)),
    )


def stock_piles(rules: pitchenv.Rules, public: np.ndarray, stock: list[int]) -> list[list[int]]:
    """The stock as widow, what each seat drew in the redraw, and the rest."""
    sizes = draws(rules, public)
    ends = list(itertools.accumulate(sizes, initial=0))
    return [stock[a:b] for a, b in itertools.pairwise(ends)] + [stock[ends[-1] : int(public["stock_size"])]]


def draws(rules: pitchenv.Rules, public: np.ndarray) -> list[int]:
    """How many cards were drawn from the stock each time, in order: the widow, then the redraws from the pitcher on."""
    if public["phase"] == AUCTION or public["pitcher"] == NOBODY:
        return []
    seats = [(int(public["pitcher"]) + k) % rules.players for k in range(rules.players)]
    gone = [int(public["redrawn"][s] + public["discarded"][s]) + int(public["played"][s]).bit_count() for s in seats]
    drawn = [int(public["held"][s]) + n - rules.hand_size for s, n in zip(seats, gone, strict=True)]
    return [rules.widow, drawn[0] - rules.widow, *drawn[1:]]


def all_worlds(game: pitchenv.Game, seat: int) -> dict[Key, pitchenv.Game]:
    """Every world that fits what `seat` knows of the first deal of a match, by its key."""
    rules, view = game.rules, game.view(seat)
    public = view["public"]
    own = cards_in(int(view["first_hand"]))
    unseen = [c for c in pack(rules.lowest_rank, rules.jokers) if c not in own]
    moves = int(public["moves"])
    actions = list(zip(public["history_seats"][:moves].tolist(), view["history"][:moves].tolist(), strict=True))
    wanted = content(np.array([view]))
    found = {}
    for hands, rest in deals(unseen, [rules.hand_size] * (rules.players - 1)):
        hands.insert(seat, own)
        for piles, bottom in deals(rest, draws(rules, public)):
            start = pitchenv.Game.from_deal(rules, hands, [c for pile in [*piles, bottom] for c in pile], dealer=game.dealer)
            for world in replays(start, actions):
                if content(np.array([world.view(seat)])) == wanted:
                    found[key_of(rules, world._match[0])] = world
    return found


def deals(cards: list[int], sizes: list[int]) -> Iterator[tuple[list[list[int]], list[int]]]:
    """All ways to lay piles of these sizes, with what is left."""
    if not sizes:
        yield [], cards
        return
    for pile in itertools.combinations(cards, sizes[0]):
        for piles, rest in deals([c for c in cards if c not in pile], sizes[1:]):
            yield [list(pile), *piles], rest


def replays(game: pitchenv.Game, actions: list[tuple[int, int]]) -> Iterator[pitchenv.Game]:
    """All ways to play on with the actions that were seen: where another seat put a card away, with any that it may."""
    for i, (seat, action) in enumerate(actions):
        legal = game.legal_actions()
        if game.seat != seat:
            return
        if action == HIDDEN_CARD:
            for card in legal:
                if card < CARDS:
                    other = game.copy()
                    other.apply(card)
                    yield from replays(other, actions[i + 1 :])
            return
        if action not in legal:
            return
        game.apply(action)
    yield game


def moment(rules: pitchenv.Rules, seed: int, moves: int) -> pitchenv.Game:
    """A game after so many random actions."""
    game, rng = pitchenv.Game(rules, seed=seed), random.Random(seed)
    for _ in range(moves):
        game.apply(rng.choice(game.legal_actions()))
    return game

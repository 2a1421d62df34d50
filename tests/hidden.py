"""The same match with other hidden cards: all that one seat cannot know is dealt anew among the places where it can't look."""

import random

import numpy as np

import pitchenv
from pitchenv.cards import CARDS, cards_in, mask_of


def with_other_hidden_cards(game: pitchenv.Game, seat: int, rng: random.Random) -> pitchenv.Game:
    """A copy in which the other hands, what other seats have put away, the rest of the stock and the seed are different; what has been
    played, all counts, and everything of `seat` are the same. (Whether the others could have played so is of no account to it.)"""
    twin = game.copy()
    hidden, public = twin._match["hidden"][0], twin._match["public"][0]
    others = [s for s in range(game.rules.players) if s != seat]
    piles = [list(game.hands[s]) for s in others] + [list(game.put_away[s]) for s in others] + [game.stock]
    unseen = [card for pile in piles for card in pile]
    dealt = unseen[:]
    rng.shuffle(dealt)
    other = dict(zip(unseen, dealt, strict=True))
    for k, s in enumerate(others):
        hidden["hands"][s] = mask_of(other[c] for c in piles[k])
        hidden["put_away"][s] = mask_of(other[c] for c in piles[k + len(others)])
        first = cards_in(int(hidden["first_hands"][s]))
        hidden["first_hands"][s] = mask_of(other.get(c, c) for c in first)
    top = int(public["stock_size"] - public["stock_left"])
    hidden["stock"][top : top + len(game.stock)] = [other[c] for c in game.stock]
    hidden["seed"] = rng.getrandbits(64)
    leads = int(public["first_lead_at"]) if game.phase in ("play", "ended") else int(public["moves"])
    for i in range(leads):
        card = int(twin._match["history"][0, i])
        if card < CARDS and public["history_seats"][i] != seat:
            twin._match["history"][0, i] = other[card]
    return twin


def swapped(game: pitchenv.Game, seat: int, moves: int, rng: random.Random) -> tuple[list[list[int]], list[int], list[int]] | None:
    """The first hands and stock of a finished deal with two cards changed over that `seat` had not seen after `moves` actions, and those
    actions with them; None when there are no two such cards."""
    hands = [cards_in(int(m)) for m in game._match["hidden"]["first_hands"][0, : game.rules.players]]
    public = game._match["public"][0]
    stock = game._match["hidden"]["stock"][0, : public["stock_size"]].tolist()
    replayed = pitchenv.Game.from_deal(game.rules, hands, stock, dealer=game.dealer)
    for _, action in game.actions[:moves]:
        replayed.apply(action)
    at = replayed._match["public"][0]
    own = int(replayed.view(seat)["first_hand"]) | int(replayed.view(seat)["drawn"])
    seen = own | int(np.bitwise_or.reduce(at["played"]))
    places = {card: pile for pile, cards in enumerate([*hands, stock]) for card in cards if not seen >> card & 1}
    pairs = [(a, b) for a in places for b in places if places[a] < places[b]]
    if not pairs:
        return None
    a, b = rng.choice(pairs)
    other = {a: b, b: a}
    return (
        [[other.get(c, c) for c in hand] for hand in hands],
        [other.get(c, c) for c in stock],
        [other.get(action, action) for _, action in game.actions[:moves]],
    )

"""Suits in a canonical order: the game does not care which suit is called what, so a network need not learn it 24 times.

The seat that acts renames the suits of all it sees: trump, once known, becomes clubs; the rest follow by how many cards of each
it was dealt, then by their ranks. Where the off-jack is in use colours must stay together: the suit of trump's colour becomes
spades, and the other pair diamonds and hearts. The first hand decides, so that names change during a deal only when trump becomes
known. Ties are left as they are. (Suit isomorphism is old in card games; see e.g. Waugh, "A fast and optimal hand isomorphism
algorithm", 2013.)
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pitchenv.actions import ACTIONS, TRUMP_0
from pitchenv.cards import HIGH_JOKER, SUITS
from pitchenv.engine.bits import count
from pitchenv.engine.encode import encode, encode_hidden
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import legal, write_mask
from pitchenv.engine.state import MATCH, NOBODY, VIEW
from pitchenv.engine.view import view
from pitchenv.observation import Layout, observe

_JOKERS: Final = 0b11 << HIGH_JOKER
_RANKS: Final = (1 << 13) - 1


@kernel
def rename_suits(first_hand, trump, off_jack, to):
    """Write to `to` (4,) the canonical name of each suit, for a seat that was dealt `first_hand`."""
    keys = (
        _key(first_hand, 0, trump),
        _key(first_hand, 1, trump),
        _key(first_hand, 2, trump),
        _key(first_hand, 3, trump),
    )
    if off_jack:
        first = 0
        for suit in range(1, SUITS):
            if keys[suit] > keys[first]:
                first = suit
        third = 1 if first == 0 or first == 3 else 0
        if keys[3 - third] > keys[third]:
            third = 3 - third
        to[first] = 0
        to[3 - first] = 3
        to[third] = 1
        to[3 - third] = 2
        return
    for suit in range(SUITS):
        before = 0
        for other in range(SUITS):
            if keys[other] > keys[suit] or (keys[other] == keys[suit] and other < suit):
                before += 1
        to[suit] = before


@kernel
def _key(hand, suit, trump):
    """What suits are ordered by, highest first."""
    ranks = hand >> (13 * suit) & _RANKS
    return (suit == trump) * 1_000_000 + count(ranks) * 10_000 + ranks


@kernel
def rename_cards(mask, to):
    """A mask of cards with the suits renamed."""
    out = mask & _JOKERS
    for suit in range(SUITS):
        out |= (mask >> (13 * suit) & _RANKS) << (13 * to[suit])
    return out


@kernel
def rename_action(action, to):
    """An action with the suits renamed; negative ones (no card, a hidden one) stay."""
    if 0 <= action < HIGH_JOKER:
        return to[action // 13] * 13 + action % 13
    if TRUMP_0 <= action < TRUMP_0 + SUITS:
        return TRUMP_0 + to[action - TRUMP_0]
    return action


@kernel
def rename_public(p, history, to):
    """Rename the suits of a PUBLIC record and of the history beside it."""
    for seat in range(p.rules.players):
        p.played[seat] = rename_cards(p.played[seat], to)
        p.taken[seat] = rename_cards(p.taken[seat], to)
        p.trick[seat] = rename_action(p.trick[seat], to)
        voids = 0
        for suit in range(SUITS):
            voids |= (p.voids[seat] >> suit & 1) << to[suit]
        p.voids[seat] = voids
    if p.trump != NOBODY:
        p.trump = to[p.trump]
    for i in range(p.moves):
        history[i] = rename_action(history[i], to)


@kernel
def rename_match(m, to):
    """Rename the suits of a MATCH."""
    rename_public(m.public, m.history, to)
    h = m.hidden
    for seat in range(m.public.rules.players):
        h.hands[seat] = rename_cards(h.hands[seat], to)
        h.first_hands[seat] = rename_cards(h.first_hands[seat], to)
        h.put_away[seat] = rename_cards(h.put_away[seat], to)
    for i in range(m.public.stock_size):
        h.stock[i] = rename_action(h.stock[i], to)


@kernel
def rename_views(views, to):
    """Bring each of an array of views (n,) to canonical suits, in place; `to` (n, 4) gets the names."""
    for i in range(len(views)):
        v = views[i]
        rename_suits(v.first_hand, v.public.trump, v.public.rules.off_jack, to[i])
        rename_public(v.public, v.history, to[i])
        v.hand = rename_cards(v.hand, to[i])
        v.first_hand = rename_cards(v.first_hand, to[i])
        v.drawn = rename_cards(v.drawn, to[i])
        v.put_away = rename_cards(v.put_away, to[i])


@kernel
def _states(matches, rows, rename, m, v, at, slots, size, state, mask, to):
    """See `canonical_states`; `m` and `v` are scratch, arrays of one MATCH and one VIEW."""
    for k in range(len(rows)):
        m[0] = matches[rows[k]]
        seat = m[0].public.turn
        for suit in range(SUITS):
            to[k, suit] = suit
        if rename:
            rename_suits(m[0].hidden.first_hands[seat], m[0].public.trump, m[0].public.rules.off_jack, to[k])
            rename_match(m[0], to[k])
        view(m[0], seat, v[0])
        encode(v[0], at, state[k, :size])
        encode_hidden(m[0], seat, slots, state[k, size:])
        cards, calls = legal(m[0])
        write_mask(cards, calls, mask[k])


def canonical_states(
    matches: NDArray[Any], rows: NDArray[np.int64], legend: Layout, rename: bool = True
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.int64]]:
    """What the seats to act of some matches have before them: full states (n, S), legal actions (n, 70), and suit names (n, 4).

    Suits are renamed in all of it; `original_actions` leads back. With `rename` false they keep their names.
    """
    n = len(rows)
    state, mask = np.empty((n, legend.state_size), np.float32), np.empty((n, ACTIONS), np.bool_)
    to = np.empty((n, SUITS), np.int64)
    _states(matches, rows, rename, np.zeros(1, MATCH), np.zeros(1, VIEW), legend.at, legend.slots, legend.size, state, mask, to)
    return state, mask, to


def canonical_observations(views: NDArray[Any], slots: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """The observations (n, F) of views with suits renamed, and the names (n, 4). The views are left as they are."""
    views, to = views.copy(), np.empty((len(views), SUITS), np.int64)
    rename_views(views, to)
    return observe(views, slots), to


def original_actions(to: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each canonical action (n, 70) is called at the table, for suit names `to` (n, 4)."""
    back = np.argsort(to, axis=1)
    actions = np.tile(np.arange(ACTIONS), (len(to), 1))
    cards = np.arange(13)
    for suit in range(SUITS):
        actions[:, suit * 13 : suit * 13 + 13] = back[:, suit, None] * 13 + cards
    actions[:, TRUMP_0 : TRUMP_0 + SUITS] = TRUMP_0 + back
    return actions

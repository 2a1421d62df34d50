"""Cards drawn at random: the random numbers' state `x` (uint64) goes up by GOLDEN before each."""

import numpy as np

from pitchenv.engine.bits import GOLDEN, below, lowest, mix
from pitchenv.engine.kernel import kernel

_S11 = np.uint64(11)
_UNIT = 2.0**-53


@kernel
def unit(x):
    """A number from 0 up to 1 out of 64 random bits."""
    return np.float64(mix(x) >> _S11) * _UNIT


@kernel
def list_cards(mask, cards, at):
    """Write the cards of a mask to `cards` from `at` on; returns where they end."""
    while mask:
        cards[at] = lowest(mask)
        mask &= mask - 1
        at += 1
    return at


@kernel
def swap_in(cards, at, end, x):
    """Bring a random one of `cards[at : end]` to `at` (a step of Fisher and Yates); returns it."""
    j = at + below(mix(x), end - at)
    card = cards[j]
    cards[j] = cards[at]
    cards[at] = card
    return card


@kernel
def take(mask, cards, out, at, pile, x):
    """Write random `cards` of the mask to `out` from `at` on; returns them as a mask, and the random numbers' state."""
    n = list_cards(mask, pile, 0)
    taken = 0
    for i in range(cards):
        x += GOLDEN
        card = swap_in(pile, i, n, x)
        out[at + i] = card
        taken |= 1 << card
    return taken, x

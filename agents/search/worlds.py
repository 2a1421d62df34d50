"""Worlds: full deals that fit all that one seat knows, drawn so that each is as likely as any other.

A world is a deal (first hands and stock) together with the cards that other seats have put away since, such that every action so far was
legal, was seen as it was seen, and the looking seat was dealt, drew, put away and played what it did. By default all of them are equally
likely: cards are dealt at random, and nothing is read into what others did but what the rules make of it.

How exact that is: worlds are drawn from exact counts, with no rejection and no repair. What others hold is restricted by known voids (under
the follow rule in force; jokers and off-jack belong to trump), and with `keep_trump` what they have put away is by the trumps they held or
the suits they left open; the ways to satisfy all of this are counted in double precision (good to about 1 part in 10¹⁴), and random
numbers below n are off by at most n / 2³². Worlds count as different if somebody was dealt, drew or put away other cards (in the redraw, or
in the discard); orders within these are no part of a world, and laid out somehow.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.search.kernels import worlds as kernels
from pitchenv.checks import InputError, shown, whole_number
from pitchenv.compiling import announce_compiling
from pitchenv.engine.state import MATCH, VIEW

MOST_WORLDS: Final = 100_000


def sample_worlds(views: NDArray[Any], worlds: int, seeds: NDArray[np.uint64]) -> NDArray[Any]:
    """Draw worlds for each of `VIEW` (n,): playable `MATCH` records (n, worlds).

    World k of a view depends on the view, its seed and k alone. Seeds are uint64 (n,), see `view_seeds`. What `engine.view.view` shows the
    looking seat of a world is the given view again, field by field; what other seats have put away is named in the world's history, so that
    a world is a whole record of a deal that can be played again from its first hands and stock. `hidden.seed` is 0: deals to come are not
    known. Any phase, at anybody's turn. Raises InputError for other input, and for a view that no deal fits.
    """
    views = checked_views(views)
    worlds = whole_number("worlds", worlds, 1, MOST_WORLDS)
    if not isinstance(seeds, np.ndarray) or seeds.dtype != np.uint64 or seeds.shape != views.shape:
        raise InputError(f"seeds = {shown(seeds)}: allowed: an array ({len(views)},) of uint64, one a view")
    announce_compiling("the search", kernels.__file__)
    drawn = np.zeros((len(views), worlds), MATCH)
    unfit = kernels.sample_all(views, seeds, np.empty(1, kernels.PLAN), drawn)
    if unfit >= 0:
        raise InputError(f"views[{unfit}]: no deal fits it; allowed: what a seat can see of a match")
    return drawn


def view_seeds(views: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """A random stream for each of `VIEW` (n,), uint64 (n,), out of its contents and a seed (any whole number, modulo 2⁶⁴).

    The same view and seed give the same stream in any batch and any process; streams of different views look unrelated.
    """
    views = np.ascontiguousarray(checked_views(views))
    content = views.view(np.uint8).reshape(len(views), VIEW.itemsize)
    streams = np.empty(len(views), np.uint64)
    kernels.hash_all(content, VIEW_BYTES, np.uint64(whole_number("seed", seed) % 2**64), streams)
    return streams


def checked_views(views: Any) -> NDArray[Any]:
    """`views` if it is an array (n,) of `VIEW` records; else InputError."""
    if not isinstance(views, np.ndarray) or views.dtype != VIEW or views.ndim != 1:
        raise InputError(f"views = {shown(views)}: allowed: an array (n,) of VIEW records")
    return views


def _bytes_of_fields(dtype: np.dtype[Any], start: int = 0) -> list[int]:
    """Where the bytes of all fields of a record are: all bytes but those of the gaps between fields, which may hold anything."""
    if dtype.subdtype:
        item, shape = dtype.subdtype
        places = range(int(np.prod(shape)))
        return [at for k in places for at in _bytes_of_fields(item, start + k * item.itemsize)]
    if dtype.fields is None:
        return list(range(start, start + dtype.itemsize))
    return [at for field in dtype.fields.values() for at in _bytes_of_fields(field[0], start + field[1])]


VIEW_BYTES: Final = np.array(_bytes_of_fields(VIEW), np.int64)

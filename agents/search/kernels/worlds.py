"""Worlds: full deals that fit what one seat knows, each as likely as any other.

    plan = np.empty(1, PLAN)                     # in Python, once (filling its 2 MB costs more than most worlds)
    if prepare(v, plan[0]):                      # once a view
        write_world(v, plan[0], x, m)            # as many as wanted: `x` any uint64, its own for each world; `m` a MATCH

`prepare` counts, `write_world` draws; see `agents.search.worlds` for what a world is.
"""

import numpy as np

from agents.search.kernels.worlds_lay import lay_stock, name_put_away
from agents.search.kernels.worlds_open import place_open, stage_open
from agents.search.kernels.worlds_pick import swap_in, unit
from agents.search.kernels.worlds_plan import PLAN, prepare
from agents.search.kernels.worlds_ways import CLASSES, REST, stage, ways_from
from pitchenv.cards import CARDS, SUITS
from pitchenv.engine.bits import GOLDEN, count, mix, stream
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import NOBODY, SEATS

__all__ = ["PLAN", "hash_all", "prepare", "sample_all", "write_world"]

_S8 = np.uint64(8)


@kernel
def sample_all(views, seeds, plan, worlds):
    """Worlds of each view: `worlds[i, k]` from stream k of `seeds[i]`. Returns the first view that nothing fits; −1 when there is none."""
    s = plan[0]
    for i in range(len(views)):
        if not prepare(views[i], s):
            return i
        for k in range(worlds.shape[1]):
            write_world(views[i], s, stream(seeds[i], k), worlds[i, k])
    return -1


@kernel
def write_world(v, s, x, m):
    """Write to `m` (a MATCH, all of it) a world of the view `v` that `s` was prepared for, from the random number `x` (uint64).

    Returns the next state of the random numbers.
    """
    h = m.hidden
    m.public = v.public
    m.history = v.history
    h.seed = 0
    for seat in range(SEATS):
        h.hands[seat] = 0
        h.first_hands[seat] = 0
        h.put_away[seat] = 0
    for i in range(CARDS):
        s.work[i] = s.cards[i]
        h.stock[i] = 0
    for c in range(CLASSES + 1):
        s.heads[c] = s.start[c]
    if s.open:
        x = deal_open(v, s, x, h)
    elif s.groups:
        x = deal_groups(v, s, x, h)
    x = deal_rest(v, s, x, h)
    x = lay_stock(v, s, x, h)
    h.hands[v.seat] = v.hand
    h.first_hands[v.seat] = v.first_hand
    h.put_away[v.seat] = v.put_away
    name_put_away(v, s, m)
    return x


@kernel
def deal_groups(v, s, x, h):
    """Hands of restricted seats, and trumps put away by keepers: how many of each class first, then which."""
    p = v.public
    before = u = c1 = c2 = c3 = 0
    for g in range(s.groups):
        x += GOLDEN
        stage(s, g, before, u, c1, c2, c3, unit(x) * ways_from(s, g, u, c1, c2, c3))
        before += s.group_hold[g]
        c1 += s.took[1]
        c2 += s.took[2]
        c3 += s.took[3]
        n = 0
        for c in range(CLASSES):
            for _ in range(s.took[c]):
                x += GOLDEN
                s.pile[n] = swap_in(s.work, s.heads[c], s.start[c + 1], x)
                s.heads[c] += 1
                n += 1
        keeper = s.keeper[g]
        if keeper != NOBODY:
            u += s.took_away
            for i in range(n):
                h.hands[keeper] |= 1 << s.pile[i]
            for _ in range(s.took_away):
                x += GOLDEN
                h.put_away[keeper] |= 1 << swap_in(s.work, s.heads[0], s.start[1], x)
                s.heads[0] += 1
            continue
        at = 0
        for seat in range(p.rules.players):
            if s.group_of[seat] == g:
                for _ in range(s.hold[seat]):
                    x += GOLDEN
                    h.hands[seat] |= 1 << swap_in(s.pile, at, n, x)
                    at += 1
    return x


@kernel
def deal_open(v, s, x, h):
    """The pitcher's hand and discards while a suit must be open."""
    pitcher = v.public.pitcher
    put, hold = s.put[pitcher], s.hold[pitcher]
    away, held, opened = put, hold, 0
    tricks = v.public.rules.tricks
    for suit in range(SUITS):
        x += GOLDEN
        target = unit(x) * s.table[place_open(put, hold, suit, away, held, opened)]
        stage_open(s, suit, put, hold, away, held, opened, tricks, target)
        a, k = s.took[0], s.took[1]
        for i in range(a + k):
            x += GOLDEN
            card = swap_in(s.work, s.heads[suit], s.start[suit + 1], x)
            s.heads[suit] += 1
            if i < a:
                h.put_away[pitcher] |= 1 << card
            else:
                h.hands[pitcher] |= 1 << card
        away -= a
        held -= k
        if k > 0 and (a == 0 or k >= tricks):
            opened = 1
    return x


@kernel
def deal_rest(v, s, x, h):
    """All other places: the remaining cards are shuffled and dealt."""
    p = v.public
    rest = s.rest
    n = 0
    for k in range(CLASSES + 1):
        c = k + 1 if k < REST else 0  # trump last: what keepers have put away besides trumps comes off the others
        for i in range(s.heads[c], s.start[c + 1]):
            rest[n] = s.work[i]
            n += 1
    others = n - (s.start[1] - s.heads[0])
    at = 0
    for g in range(s.groups):
        keeper = s.keeper[g]
        if keeper != NOBODY:
            for _ in range(s.put[keeper] - count(h.put_away[keeper])):
                x += GOLDEN
                h.put_away[keeper] |= 1 << swap_in(rest, at, others, x)
                at += 1
    for seat in range(p.rules.players):
        if s.open and seat == p.pitcher:
            continue
        free_hand = s.hold[seat] if s.group_of[seat] == NOBODY else 0
        for _ in range(free_hand):
            x += GOLDEN
            h.hands[seat] |= 1 << swap_in(rest, at, n, x)
            at += 1
        free_put = s.put[seat] - count(h.put_away[seat])  # a keeper's is dealt already
        for _ in range(free_put):
            x += GOLDEN
            h.put_away[seat] |= 1 << swap_in(rest, at, n, x)
            at += 1
    for i in range(p.stock_size - p.stock_left, p.stock_size):
        x += GOLDEN
        h.stock[i] = swap_in(rest, at, n, x)
        at += 1
    return x


@kernel
def hash_all(content, at, seed, out):
    """A hash of each row of `content` (n, bytes), of the bytes at `at` alone, mixed with a seed."""
    for i in range(len(content)):
        x = stream(seed, 0)
        word = np.uint64(0)
        for k in range(len(at)):
            word = (word << _S8) | np.uint64(content[i, at[k]])
            if k & 7 == 7:
                x = mix(x ^ word) + GOLDEN
                word = np.uint64(0)
        out[i] = mix(x ^ word)

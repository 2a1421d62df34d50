"""Worlds played again from their first hands: what the other seats saw when they acted, and what they did."""

from pitchenv.actions import PASS
from pitchenv.engine.bits import count
from pitchenv.engine.deal import open_deal
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal, write_mask
from pitchenv.engine.state import AUCTION, ENDED, NOBODY, NOTHING_YET, PLAY, POINTS, SEATS, TRUMP
from pitchenv.engine.view import view


@kernel
def rewind(m):
    """Back to before the first call of the deal. What the deal before it brought is forgotten if this one has ended."""
    p = m.public
    if p.phase == ENDED:
        for side in range(SEATS):
            if p.scored == POINTS:
                p.scores[side] -= p.change[side]
            p.points[side] = 0
            p.change[side] = 0
        p.scored = NOTHING_YET
        p.deals_played -= 1
        p.over = 0
        p.winner = NOBODY
    open_deal(m)


@kernel
def replay(world, me, m, views, masks, actions, at):
    """Write every choice that a seat other than `me` made openly in `world` (calls, naming trump, cards played) to `views`, `masks` and
    `actions` from `at` on; forced ones are left out. `m` is a MATCH to play in. Returns where they end; −1 if the world can't be replayed.
    """
    moves = world.public.moves
    m.public = world.public
    m.hidden = world.hidden
    rewind(m)
    for i in range(moves):
        action = world.history[i]
        cards, calls = legal(m)
        if not allows(cards, calls, action):
            return -1
        p = m.public
        openly = p.phase == AUCTION or p.phase == TRUMP or p.phase == PLAY
        if openly and p.turn != me and count(cards) + count(calls) > 1:
            view(m, p.turn, views[at])
            write_mask(cards, calls, masks[at])
            actions[at] = action
            at += 1
        apply(m, action)
    return at


@kernel
def replay_all(worlds, looking, scratch, views, masks, actions, ends):
    """The same for worlds (n, k), `looking` (n,) the seats left out; `ends` (n · k,) gets where the rows of each world end. Returns the
    number of the first world that can't be replayed; −1 if all can."""
    at = 0
    k = worlds.shape[1]
    for i in range(worlds.shape[0]):
        for j in range(k):
            at = replay(worlds[i, j], looking[i], scratch[0], views, masks, actions, at)
            if at < 0:
                return i * k + j
            ends[i * k + j] = at
    return -1


@kernel
def count_open_actions(views):
    """How many rows `replay` can write at most for one world of each view, in all."""
    most = 0
    for i in range(len(views)):
        v = views[i]
        p = v.public
        for j in range(p.moves):
            # Cards put away are unnamed, and `done` is no choice that is weighed; calls come before `done` in number.
            if p.history_seats[j] != v.seat and v.history[j] >= 0 and (j >= p.first_lead_at or v.history[j] >= PASS):
                most += 1
    return most

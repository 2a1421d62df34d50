"""Many matches at once: the loops over an array of records, with episodes, rewards and restarts."""

import numpy as np

from pitchenv.actions import PASS
from pitchenv.engine.bits import GOLDEN, below, count, lowest, mix, nth, stream
from pitchenv.engine.deal import PLAYER
from pitchenv.engine.encode import encode, encode_changing, encode_fixed, encode_hidden
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal, new_match, next_match, redeal, write_mask
from pitchenv.engine.seats import side_of
from pitchenv.engine.state import ENDED, NOBODY, POINTS
from pitchenv.engine.view import look, view

DEAL, MATCH_EPISODE = 0, 1
MARGIN, SCORE, WIN = 0, 1, 2
GOES_ON, TERMINATED, TRUNCATED = 0, 1, 2

OPTIONS = np.dtype(
    [
        ("episode", np.int8),
        ("reward", np.int8),
        ("max_deals", np.int32),
        ("spread", np.int8),  # start scores drawn
        ("restart", np.int8),  # finished episodes restart by themselves
        ("skip_forced", np.int8),  # single legal actions are taken at once
    ],
    align=True,
)


@kernel
def pay(m, o, reward):
    """Add to `reward`, by seat, what the deal that has just ended pays."""
    p = m.public
    r = p.rules
    if o.reward == WIN:
        if p.over:
            for seat in range(r.players):
                reward[seat] += 1.0 if side_of(seat, r.sides) == p.winner else -1.0 / (r.sides - 1)
    elif p.scored == POINTS:
        total = 0
        for side in range(r.sides):
            total += p.change[side]
        for seat in range(r.players):
            own = p.change[side_of(seat, r.sides)]
            others = (total - own) / (r.sides - 1) if o.reward == MARGIN else 0.0
            reward[seat] += own - others


@kernel
def settle(m, o, reward):
    """After an action: nothing while the deal goes on, else pay, and deal again or say how the episode ended."""
    if m.public.phase != ENDED:
        return GOES_ON
    pay(m, o, reward)
    if o.episode == DEAL or m.public.over:
        return TERMINATED
    if m.public.deals_played >= o.max_deals:
        return TRUNCATED
    redeal(m)
    return GOES_ON


@kernel
def only_action(m):
    """The single legal action, or NOBODY when there are several or none."""
    cards, calls = legal(m)
    if count(cards) + count(calls) != 1:
        return NOBODY
    return lowest(cards) if cards else PASS + lowest(calls)


@kernel
def skip_forced(m, o, reward):
    """Take single legal actions until there is a choice or the episode ends."""
    ended = GOES_ON
    while ended == GOES_ON:
        action = only_action(m)
        if action == NOBODY:
            break
        apply(m, action)
        ended = settle(m, o, reward)
    return ended


@kernel
def step_one(m, action, o, reward):
    """A legal action in one match, with all that follows from it; how the episode ended, if it did."""
    apply(m, action)
    ended = settle(m, o, reward)
    if o.skip_forced and ended == GOES_ON:
        ended = skip_forced(m, o, reward)
    if ended != GOES_ON and o.restart:
        next_match(m, o.spread)
        if o.skip_forced:
            skip_forced(m, o, reward)  # never to an end: the first to call may always pass or bid
    return ended


@kernel
def encode_one(m, v, at, observation, mask, legal_masks):
    """Legal actions and observation (but for its fixed pieces) of the seat to act; all zero when the episode has ended."""
    cards, calls = legal(m)
    legal_masks[0] = cards
    legal_masks[1] = calls
    write_mask(cards, calls, mask)
    seat = m.public.turn
    if seat == NOBODY:
        observation[:] = 0
        return
    look(m, seat, v)
    encode_changing(v, at, observation)


@kernel
def encode_all(matches, scratch, at, observation, mask, legal_masks, seats):
    """All that every seat to act sees; `scratch` is an array of one VIEW."""
    for i in range(len(matches)):
        encode_fixed(matches[i].public.rules, at, observation[i])
        encode_one(matches[i], scratch[0], at, observation[i], mask[i], legal_masks[i])
        seats[i] = matches[i].public.turn


@kernel
def first_illegal(actions, legal_masks, seats):
    """The first match whose action its rules do not allow; −1 when all are legal. Ended matches take any action."""
    for i in range(len(actions)):
        if seats[i] != NOBODY and not allows(legal_masks[i, 0], legal_masks[i, 1], actions[i]):
            return i
    return -1


@kernel
def step_all(matches, actions, options, scratch, at, observation, mask, legal_masks, seats, reward, terminated, truncated):
    """A legal action in every match that goes on, then what the next seat to act sees."""
    o = options[0]
    for i in range(len(matches)):
        reward[i, :] = 0
        terminated[i] = False
        truncated[i] = False
        if seats[i] == NOBODY:
            continue
        ended = step_one(matches[i], actions[i], o, reward[i])
        terminated[i] = ended == TERMINATED
        truncated[i] = ended == TRUNCATED
        encode_one(matches[i], scratch[0], at, observation[i], mask[i], legal_masks[i])
        seats[i] = matches[i].public.turn


@kernel
def seed_all(matches, seed, options, unpaid):
    """New matches: match i gets stream i of the seed. `unpaid` (8,) is where rewards go that nobody gets."""
    o = options[0]
    for i in range(len(matches)):
        new_match(matches[i], stream(seed, i), o.spread)
        if o.skip_forced:
            skip_forced(matches[i], o, unpaid)


@kernel
def restart_where(matches, where, options, unpaid):
    """Another match in the place of each marked one."""
    o = options[0]
    for i in range(len(matches)):
        if where[i]:
            next_match(matches[i], o.spread)
            if o.skip_forced:
                skip_forced(matches[i], o, unpaid)


@kernel
def skip_all(matches, options, unpaid):
    """Take single legal actions in every match until each has a choice or its episode has ended."""
    o = options[0]
    for i in range(len(matches)):
        if matches[i].public.phase != ENDED:
            skip_forced(matches[i], o, unpaid)


@kernel
def views_all(matches, views):
    """The view of the seat to act in every match (left as it is where the episode has ended)."""
    for i in range(len(matches)):
        if matches[i].public.turn != NOBODY:
            view(matches[i], matches[i].public.turn, views[i])


@kernel
def observe_all(views, at, observation):
    """The observations of an array of views; all zero for an empty one."""
    for i in range(len(views)):
        if views[i].public.rules.players == 0:
            observation[i] = 0
        else:
            encode(views[i], at, observation[i])


@kernel
def hidden_all(matches, slots, observation, state):
    """Full states: the observation of the seat to act, then what it leaves out; all zero where the episode has ended."""
    size = observation.shape[1]
    for i in range(len(matches)):
        for k in range(size):
            state[i, k] = observation[i, k]
        if matches[i].public.turn == NOBODY:
            state[i, size:] = 0
        else:
            encode_hidden(matches[i], matches[i].public.turn, slots, state[i, size:])


@kernel
def play_random(matches, decisions, salt, options, unpaid):
    """Uniformly random legal actions, `decisions` in every match, without observations; returns how many episodes ended.

    With `skip_forced` these are choices: single legal actions are taken beside them.
    """
    o = options[0]
    episodes = 0
    for i in range(len(matches)):
        m = matches[i]
        x = stream(stream(m.hidden.seed, PLAYER), salt)
        for _ in range(decisions):
            cards, calls = legal(m)
            held = count(cards)
            total = held + count(calls)
            if total == 0:
                break
            x += GOLDEN
            k = below(mix(x), total)
            action = nth(cards, k) if k < held else PASS + nth(calls, k - held)
            if step_one(m, action, o, unpaid) != GOES_ON:
                episodes += 1
    return episodes

"""Information-set Monte-Carlo tree search: one tree for one decision, each iteration in a sampled world. See `agents.search.ismcts`.

The tree's nodes lie in one preallocated array; node 0 is the decision itself. An iteration goes down the tree (`descend`), plays the deal
to its end (`roll_out`) and notes in every node passed what it was worth (`back_up`).
"""

import math
from typing import Final

import numpy as np

from agents.search.kernels.objective import side_value
from pitchenv.actions import PASS
from pitchenv.engine.bits import GOLDEN, below, count, lowest, mix, nth
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal
from pitchenv.engine.seats import side_of
from pitchenv.engine.state import DISCARD, ENDED, HISTORY, REDRAW
from pitchenv.engine.view import look
from pitchenv.policies.heuristic.decide import decide
from pitchenv.policies.heuristic.parameters import FOUR_POINTS, MORE_POINTS

HEURISTIC, RANDOM = 0, 1  # who plays what the tree does not
NONE: Final = -1  # no node

NODE: Final = np.dtype(
    [
        ("action", np.int16),  # that led here
        ("seat", np.int8),  # who took it
        ("phase", np.int8),  # in which
        ("first", np.int32),  # child
        ("next", np.int32),  # sibling
        ("available", np.int32),  # iterations in which it could be chosen, from the first in which it was
        ("visits", np.int32),  # iterations that have gone through it
        ("done", np.int32),  # those of them that are backed up
        ("total", np.float64),  # what they were worth to the side of `seat`, summed
    ],
    align=True,
)

TREE: Final = np.dtype(
    [
        ("exploration", np.float64),  # of UCB1, in points
        ("depth", np.int32),  # how many actions deep it grows
        ("policy", np.int32),  # HEURISTIC or RANDOM
        ("seat", np.int32),  # whose decision it is for
        ("size", np.int32),  # nodes in use
        ("random", np.uint64),  # state of the random numbers
    ],
    align=True,
)

PATH: Final = np.dtype([("length", np.int32), ("nodes", np.int32, HISTORY)], align=True)  # the nodes an iteration has passed


@kernel
def policy_action(m, cards, calls, policy, t, view, situation, parameters):
    """What a built-in policy does in the place of the seat to act; `cards` and `calls` are the legal actions as masks."""
    held = count(cards)
    total = held + count(calls)
    if total == 1:
        return lowest(cards) if held else PASS + lowest(calls)
    if policy == HEURISTIC:
        look(m, m.public.turn, view)
        return decide(view, cards, calls, parameters[MORE_POINTS if m.public.rules.max_bid > 4 else FOUR_POINTS], situation)
    t.random += GOLDEN
    k = below(mix(t.random), total)
    return nth(cards, k) if k < held else PASS + nth(calls, k - held)


@kernel
def roll_out(m, t, view, situation, parameters):
    """Play the deal to its end by the tree's policy."""
    while m.public.phase != ENDED:
        cards, calls = legal(m)
        apply(m, policy_action(m, cards, calls, t.policy, t, view, situation, parameters))


@kernel
def begin(worlds, nodes, tree, seed):
    """An empty tree for the decision that the worlds stand before."""
    t, m = tree[0], worlds[0]
    t.seat = m.public.turn
    t.random = seed
    t.size = 0
    new_node(nodes, t, NONE, m.public.turn, m.public.phase)


@kernel
def new_node(nodes, t, action, seat, phase):
    """A node that nothing leads to yet; its number."""
    at = t.size
    t.size += 1
    node = nodes[at]
    node.action = action
    node.seat = seat
    node.phase = phase
    node.first = NONE
    node.next = NONE
    node.available = 1
    node.visits = 0
    node.done = 0
    node.total = 0.0
    return at


@kernel
def best_child(nodes, parent, cards, calls, m, exploration):
    """The child with the highest upper confidence bound among those legal now, and the legal actions that have no child yet.

    UCB1, with the number of iterations in which a child was available in the place of its parent's visits (Cowling, Powley and
    Whitehouse, "Information set Monte Carlo tree search", 2012). Iterations under way count as visits but not in the mean, which is 0
    before the first that is done (as in Liu et al., "Watch the unobserved", 2020).
    """
    best = NONE
    best_score = -np.inf
    at = nodes[parent].first
    while at != NONE:
        node = nodes[at]
        # The same actions seen may leave another seat to act, where how many cards others exchanged is not told apart.
        if node.seat == m.public.turn and node.phase == m.public.phase and allows(cards, calls, node.action):
            if node.action < PASS:
                cards ^= 1 << node.action
            else:
                calls ^= 1 << (node.action - PASS)
            node.available += 1
            mean = node.total / node.done if node.done else 0.0
            score = mean + exploration * math.sqrt(math.log(node.available) / node.visits)
            if score > best_score:
                best_score = score
                best = at
        at = node.next
    return best, cards, calls


@kernel
def expand(nodes, parent, cards, calls, untried_cards, untried_calls, m, t, view, situation, parameters):
    """A new child for an untried action: what the policy does if that is untried, else a random one; its number."""
    action = policy_action(m, cards, calls, t.policy, t, view, situation, parameters)
    if not allows(untried_cards, untried_calls, action):
        action = policy_action(m, untried_cards, untried_calls, RANDOM, t, view, situation, parameters)
    child = new_node(nodes, t, action, m.public.turn, m.public.phase)
    nodes[child].next = nodes[parent].first
    nodes[parent].first = child
    return child


@kernel
def descend(worlds, nodes, t, path, match, view, situation, parameters):
    """One way down the tree to a new node, its greatest depth or the end of the deal; leaves the match there in `match` (1,).

    Visit j of each action of the decision itself is in world j, so that all actions are compared in the same worlds. What
    other seats put away is hidden from the one that searches: the policy plays it, and it makes no nodes.
    """
    nodes[0].visits += 1
    path.nodes[0] = 0
    path.length = 1
    match[0] = worlds[0]
    m = match[0]
    p = m.public
    at = 0
    new = False
    while not new and p.phase != ENDED and path.length <= t.depth:
        cards, calls = legal(m)
        if p.turn != t.seat and (p.phase == REDRAW or p.phase == DISCARD):
            apply(m, policy_action(m, cards, calls, t.policy, t, view, situation, parameters))
            continue
        child, untried_cards, untried_calls = best_child(nodes, at, cards, calls, m, t.exploration)
        if untried_cards or untried_calls:
            child = expand(nodes, at, cards, calls, untried_cards, untried_calls, m, t, view, situation, parameters)
            new = True
        if at == 0:
            match[0] = worlds[nodes[child].visits % len(worlds)]
        nodes[child].visits += 1
        path.nodes[path.length] = child
        path.length += 1
        apply(m, nodes[child].action)
        at = child


@kernel
def back_up(nodes, path, m):
    """Note in every node passed what the deal was worth to the side that chose it."""
    for i in range(path.length):
        node = nodes[path.nodes[i]]
        node.done += 1
        node.total += side_value(m, side_of(node.seat, m.public.rules.sides))


@kernel
def search(worlds, iterations, nodes, tree, paths, match, view, situation, parameters):
    """That many iterations, with rollouts by the tree's own policy."""
    t = tree[0]
    for _ in range(iterations):
        descend(worlds, nodes, t, paths[0], match, view[0], situation[0], parameters)
        roll_out(match[0], t, view[0], situation[0], parameters)
        back_up(nodes, paths[0], match[0])


@kernel
def descend_all(worlds, leaves, nodes, tree, paths, match, view, situation, parameters):
    """As many ways down as there are `leaves` (k,), which are left there; their `paths` (k,) are to be backed up."""
    for i in range(len(leaves)):
        descend(worlds, nodes, tree[0], paths[i], match, view[0], situation[0], parameters)
        leaves[i] = match[0]


@kernel
def back_up_all(leaves, nodes, paths):
    """Back up what the deals of `leaves` (k,), played to their ends, were worth."""
    for i in range(len(leaves)):
        back_up(nodes, paths[i], leaves[i])


@kernel
def result(nodes, visits, means):
    """Write by action (70,) how often each of the decision was tried and what it was worth on average; others are left as they are."""
    at = nodes[0].first
    while at != NONE:
        visits[nodes[at].action] = nodes[at].visits
        means[nodes[at].action] = nodes[at].total / nodes[at].done
        at = nodes[at].next

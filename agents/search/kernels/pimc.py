"""What each action is worth in sampled worlds with open hands: see `agents.search.pimc`."""

from agents.search.kernels.maxn import margins_of
from agents.search.kernels.objective import side_value
from agents.search.kernels.solving import solve_cards, solve_one
from pitchenv.actions import PASS
from pitchenv.engine.bits import count, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import apply, legal
from pitchenv.engine.seats import side_of
from pitchenv.engine.state import ENDED, NOBODY, PLAY
from pitchenv.engine.table import only_action
from pitchenv.engine.view import view
from pitchenv.policies.heuristic.decide import decide
from pitchenv.policies.heuristic.parameters import FOUR_POINTS, MORE_POINTS


@kernel
def solvable(m, exact):
    """Whether a deal is in the tricks with no more than `exact` cards in hand."""
    if m.public.phase != PLAY:
        return False
    held = 0
    for seat in range(m.public.rules.players):
        held += count(m.hidden.hands[seat])
    return held <= exact


@kernel
def play_on(m, exact, parameters, v, situation):
    """`heuristic` at every seat takes the deal to where it can be solved, or to its end; `v` is a VIEW to look with.

    Trump must be known by then: with open hands a pitcher who has yet to pitch would choose it by what the others hold."""
    more = m.public.rules.max_bid > 4
    while m.public.phase != ENDED and (m.public.trump == NOBODY or not solvable(m, exact)):
        action = only_action(m)
        if action < 0:
            cards, calls = legal(m)
            view(m, m.public.turn, v)
            action = decide(v, cards, calls, parameters[MORE_POINTS if more else FOUR_POINTS], situation)
        apply(m, action)


@kernel
def for_side(m, value, side):
    """The value of a deal for a side, from that for the pitcher's, whole and times (sides − 1) as the solver has it. Where there are more
    sides than two each of the others is given the mean of theirs."""
    sides = m.public.rules.sides
    if side == side_of(m.public.pitcher, sides):
        return value / (sides - 1)
    return -value / ((sides - 1) * (sides - 1))


@kernel
def same_tricks(a, b, players):
    """Whether two deals in the tricks, that have come from one, differ in nothing that the rest of the tricks depends on."""
    p = a.public
    q = b.public
    if p.phase != PLAY or q.phase != PLAY or p.pitcher != q.pitcher or p.bid != q.bid or p.trump != q.trump or p.turn != q.turn:
        return False
    for seat in range(players):
        if a.hidden.hands[seat] != b.hidden.hands[seat] or p.trick[seat] != q.trick[seat]:
            return False
        if p.played[seat] != q.played[seat] or a.hidden.put_away[seat] != b.hidden.put_away[seat]:
            return False
    return True


@kernel
def value_world(world, exact, match_points, parameters, v, situation, s, table, order, switches, selfish, margins, room, values):
    """Write to `values` (70,) what each legal action of the seat to act is worth to its side in one world, with open hands.

    Before the deal can be solved `heuristic` plays on after the action to where it can; with `selfish` that is solved by maxⁿ. `room` (70,)
    are matches and `margins` rows to work in.
    """
    side = side_of(world.public.turn, world.public.rules.sides)
    cards, calls = legal(world)
    if solvable(world, exact) and not selfish:
        solve_cards(world, match_points, s, table, order, switches, s.card_values)
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            values[card] = for_side(world, s.card_values[card], side)
        return
    tried = 0
    while cards or calls:
        if cards:
            action = lowest(cards)
            cards &= cards - 1
        else:
            action = PASS + lowest(calls)
            calls &= calls - 1
        m = room[tried]
        room[tried] = world
        apply(m, action)
        play_on(m, exact, parameters, v, situation)
        s.action[tried] = action
        twin = NOBODY
        for k in range(tried):
            if same_tricks(room[k], m, m.public.rules.players):
                twin = s.action[k]
        if twin != NOBODY:  # another call has come to the same: nothing to solve anew
            values[action] = values[twin]
        elif m.public.phase == ENDED:
            values[action] = side_value(m, side)
        elif selfish:
            margins_of(m, s, margins, margins[len(margins) - 1])
            values[action] = margins[len(margins) - 1, side]
        else:
            values[action] = for_side(m, solve_one(m, match_points, s, table, order, switches), side)
        tried += 1


@kernel
def value_worlds(
    worlds, exact, match_points, parameters, views, situation, position, table, order, switches, selfish, margins, room, values
):  # fmt: skip
    """`value_world` for every one of `worlds` (w,) into `values` (w, 70). `views`, `situation` and `position` are arrays of one record each
    to work in."""
    for k in range(len(worlds)):
        value_world(
            worlds[k], exact, match_points, parameters, views[0], situation[0], position[0], table, order, switches, selfish, margins, room,
            values[k],
        )  # fmt: skip

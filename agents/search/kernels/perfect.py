"""Deals played to their ends with open hands, every card a best one: see `training.exact_play`."""

from agents.search.kernels.alphabeta import NO_MOVE, ZERO, beats, promise
from agents.search.kernels.maxn import better, margins_of
from agents.search.kernels.pimc import play_on
from agents.search.kernels.position import bits_of, lane_of
from agents.search.kernels.solving import distinct_here, solve_one, value_after
from pitchenv.engine.bits import lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import apply, legal
from pitchenv.engine.seats import next_seat, side_of
from pitchenv.engine.state import ENDED, NOBODY, SEATS
from pitchenv.engine.table import only_action


@kernel
def advance(s, bit):
    """The seat to act plays the card of this bit, and `s` (a POSITION) is what comes then."""
    card = 1 << bit
    s.hands[s.seat] ^= card
    s.in_hand ^= card
    if s.left == s.players:
        s.led = lane_of(bit)
    if s.left == s.players or beats(bit, s.best):
        s.best = bit
        s.best_seat = s.seat
    s.trick_points += s.card_points[bit]
    s.trick_pips += s.card_pips[bit]
    s.left -= 1
    s.seat = next_seat(s.seat, s.players)
    if s.left:
        return
    side = s.side[s.best_seat]
    s.points[side] += s.trick_points
    s.pips[side] += s.trick_pips
    s.points_left -= s.trick_points
    s.pips_left -= s.trick_pips
    s.tricks_left -= 1
    s.seat = s.best_seat
    s.left = s.players
    s.led = ZERO
    s.best = ZERO
    s.trick_points = ZERO
    s.trick_pips = ZERO


@kernel
def likeliest(s, moves):
    """Which of some cards is tried first."""
    worth = 16 * s.trick_points + s.trick_pips
    choice = NO_MOVE
    most = 0
    while moves:
        bit = lowest(moves)
        moves &= moves - 1
        score = promise(s, bit, s.seat, s.left, s.best, s.best_seat, worth)
        if choice == NO_MOVE or score > most:
            choice = bit
            most = score
    return choice


@kernel
def best_card(s, moves, value, table, order, switches):
    """Of some cards one after which the position keeps its value, found by tests of one threshold each.

    They are tried in an order that depends on the position alone, so that what the table still holds changes the time, never the card.
    """
    while moves & (moves - 1):
        bit = likeliest(s, moves)
        moves ^= 1 << bit
        if s.maximises[s.seat]:
            if value_after(s, table, order, switches, bit, value - 1, value) >= value:
                return bit
        elif value_after(s, table, order, switches, bit, value, value + 1) <= value:
            return bit
    return lowest(moves)  # the last needs no test: one of them is a best one


@kernel
def play_best(m, s, table, order, switches):
    """Play a deal whose trump is known to its end: the pitcher's side for the largest margin, all others for the smallest."""
    value = solve_one(m, ZERO, s, table, order, switches)
    while m.public.phase != ENDED:
        cards, _ = legal(m)
        bit = best_card(s, distinct_here(s, bits_of(s, cards), switches), value, table, order, switches)
        card = s.card[bit]
        advance(s, bit)
        apply(m, card)


@kernel
def play_selfishly(m, s, margins, room):
    """The same by maxⁿ: every side for its own margin; of equally good cards for the sides' in order, then the lowest number.

    `margins` (plies + 2, 8), of which the last two rows are for the card tried and the best so far; `room` is one MATCH.
    """
    trial = margins[len(margins) - 1]
    best = margins[len(margins) - 2]
    sides = m.public.rules.sides
    while m.public.phase != ENDED:
        action = only_action(m)
        cards = 0
        if action == NOBODY:
            cards, _ = legal(m)
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            room[0] = m
            apply(room[0], card)
            margins_of(room[0], s, margins, trial)
            if action == NOBODY or better(trial, best, side_of(m.public.turn, sides), sides):
                action = card
                for side in range(SEATS):
                    best[side] = trial[side]
        apply(m, action)


@kernel
def finish_all(matches, exact, exact_maxn, parameters, views, situation, position, table, order, switches, margins, room):
    """Play every one of `matches` (n,) to its end, in place: by `heuristic` until trump is known and no more than `exact` cards (with more
    than two sides `exact_maxn`) are in hand, then by best cards. The rest are arrays to work in."""
    for i in range(len(matches)):
        m = matches[i]
        selfish = m.public.rules.sides > 2
        play_on(m, exact_maxn if selfish else exact, parameters, views[0], situation[0])
        if m.public.phase == ENDED:
            continue
        if selfish:
            play_selfishly(m, position[0], margins, room)
        else:
            play_best(m, position[0], table, order, switches)

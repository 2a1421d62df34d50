"""The flow of a match: what is legal now, what an action does, which phase comes next, the next deal."""

from pitchenv.actions import ACTIONS, DONE, PASS, TRUMP_0
from pitchenv.engine.auction import call, legal_calls
from pitchenv.engine.bits import stream
from pitchenv.engine.deal import NEXT_SEED, begin_match, shuffle_and_deal
from pitchenv.engine.exchange import PITCHED, draw, legal_put_away, next_to_discard, put_away
from pitchenv.engine.kernel import kernel
from pitchenv.engine.points import score_deal
from pitchenv.engine.seats import next_seat
from pitchenv.engine.state import AUCTION, DISCARD, ENDED, NOBODY, PLAY, REDRAW, SEATS, THROWN_IN, TRUMP
from pitchenv.engine.tricks import legal_cards, play

SAME_DEALER = 0  # `thrown_in`
_NAME_TRUMP = 0b1111 << (TRUMP_0 - PASS)
_SAY_DONE = 1 << (DONE - PASS)


@kernel
def legal(m):
    """The legal actions as two masks: cards, and calls (bit k is action 54 + k). Both empty only when the deal has ended."""
    p = m.public
    if p.phase == PLAY:
        return legal_cards(m), 0
    if p.phase == AUCTION:
        return 0, legal_calls(m)
    if p.phase == TRUMP:
        return 0, _NAME_TRUMP
    if p.phase == REDRAW:
        return legal_put_away(m) if p.redrawn[p.turn] < p.rules.redraw else 0, _SAY_DONE
    if p.phase == DISCARD:
        return legal_put_away(m), 0
    return 0, 0


@kernel
def allows(cards, calls, action):
    """Whether an action (any integer) is among legal ones given as two masks."""
    if action < 0 or action > DONE:
        return False
    return (cards >> action & 1 if action < PASS else calls >> (action - PASS) & 1) == 1


@kernel
def write_mask(cards, calls, out):
    """Write legal actions given as two masks to `out` (70,), an entry each."""
    held = out[:PASS]
    for k in range(PASS):
        held[k] = cards >> k & 1
    said = out[PASS:]
    for k in range(ACTIONS - PASS):
        said[k] = calls >> k & 1


@kernel
def apply(m, action):
    """Take a legal action."""
    p = m.public
    m.history[p.moves] = action
    p.history_seats[p.moves] = p.turn
    p.moves += 1
    if p.phase == PLAY:
        play(m, action)
        if p.tricks_done == p.rules.tricks:
            score_deal(m)
            close_deal(m)
    elif p.phase == AUCTION:
        if call(m, action - PASS):
            end_auction(m)
    elif p.phase == TRUMP:
        p.trump = action - TRUMP_0
        begin_exchange(m)
    elif p.phase == REDRAW:
        redraw(m, action)
    else:
        p.discarded[p.turn] += 1
        put_away(m, p.turn, action)
        go_on_discarding(m, p.turn)


@kernel
def end_auction(m):
    """The pitcher takes the widow and names trump; or the cards are thrown in."""
    p = m.public
    if p.pitcher == NOBODY:
        for side in range(SEATS):
            p.points[side] = 0
            p.change[side] = 0
        p.scored = THROWN_IN
        close_deal(m)
        return
    p.turn = p.pitcher
    draw(m, p.pitcher, p.rules.widow)
    if p.rules.trump == PITCHED:
        begin_exchange(m)
    else:
        p.phase = TRUMP


@kernel
def begin_exchange(m):
    """Trump is as known as it gets: the redraw, or what follows it."""
    p = m.public
    p.turn = p.pitcher
    if p.rules.redraw:
        p.phase = REDRAW
    else:
        go_on_discarding(m, p.pitcher)


@kernel
def redraw(m, action):
    """The seat whose turn it is puts a card away, or is done and is dealt as many."""
    p = m.public
    if action != DONE:
        p.redrawn[p.turn] += 1
        put_away(m, p.turn, action)
        return
    draw(m, p.turn, p.redrawn[p.turn])
    p.turn = next_seat(p.turn, p.rules.players)
    if p.turn == p.pitcher:
        go_on_discarding(m, p.pitcher)


@kernel
def go_on_discarding(m, seat):
    """From `seat` on, whoever holds too many cards discards; then the pitcher leads."""
    p = m.public
    seat = next_to_discard(m, seat)
    if seat != NOBODY:
        p.phase = DISCARD
        p.turn = seat
    else:
        p.phase = PLAY
        p.turn = p.pitcher
        p.leader = p.pitcher
        p.first_lead_at = p.moves


@kernel
def close_deal(m):
    """This deal is over."""
    p = m.public
    p.phase = ENDED
    p.turn = NOBODY
    p.deals_played += 1


@kernel
def redeal(m):
    """The next deal of the match: the dealer's turn passes to the left, unless thrown-in cards are dealt by the same again."""
    p = m.public
    r = p.rules
    if p.scored != THROWN_IN or r.thrown_in != SAME_DEALER:
        p.dealer = next_seat(p.dealer, r.players)
    shuffle_and_deal(m)


@kernel
def new_match(m, seed, spread):
    """A new match on the record's rules, with its first deal dealt."""
    begin_match(m, seed, spread)
    shuffle_and_deal(m)


@kernel
def next_match(m, spread):
    """Another match in the place of this one, its seed drawn from this one's."""
    new_match(m, stream(m.hidden.seed, NEXT_SEED), spread)

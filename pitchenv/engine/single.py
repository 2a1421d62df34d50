"""The kernels as Python calls them for one match: an array of records and an index (a record alone costs more to
hand over)."""

from pitchenv.actions import PASS
from pitchenv.engine.bits import lowest
from pitchenv.engine.deal import begin_match, open_deal, shuffle_and_deal
from pitchenv.engine.encode import encode, encode_hidden
from pitchenv.engine.kernel import kernel
from pitchenv.engine.match import allows, apply, legal, redeal, write_mask
from pitchenv.engine.view import state_from, view


@kernel
def start(matches, i, seed, deal):
    """A new match on the record's rules; with `deal`, its first deal is dealt."""
    begin_match(matches[i], seed, False)
    if deal:
        shuffle_and_deal(matches[i])


@kernel
def open_given(matches, i):
    """The auction opens on hands and stock that were written into the record."""
    open_deal(matches[i])


@kernel
def deal_next(matches, i):
    """The next deal of the match."""
    redeal(matches[i])


@kernel
def try_apply(matches, i, action):
    """Take the action if it is legal; returns whether it was."""
    cards, calls = legal(matches[i])
    if not allows(cards, calls, action):
        return False
    apply(matches[i], action)
    return True


@kernel
def list_legal(matches, i, out):
    """Write the legal actions to `out` (int64, 70), ascending; returns how many there are."""
    cards, calls = legal(matches[i])
    n = 0
    while cards:
        out[n] = lowest(cards)
        cards &= cards - 1
        n += 1
    while calls:
        out[n] = PASS + lowest(calls)
        calls &= calls - 1
        n += 1
    return n


@kernel
def write_mask_of(matches, i, seat, out):
    """Write the mask of `seat` (all zero unless it is its turn) to `out`."""
    m = matches[i]
    cards, calls = legal(m) if m.public.turn == seat else (0, 0)
    write_mask(cards, calls, out)


@kernel
def write_view(matches, i, seat, views):
    """Write what `seat` may know to `views[0]`."""
    view(matches[i], seat, views[0])


@kernel
def write_observation(views, at, out):
    """Write the observation of `views[0]` to `out`."""
    encode(views[0], at, out)


@kernel
def write_hidden(matches, i, seat, slots, out):
    """Write what the observation of `seat` leaves out to `out`."""
    encode_hidden(matches[i], seat, slots, out)


@kernel
def write_state_from(views, hidden, matches):
    """Write to `matches[0]` the match of `views[0]` and `hidden[0]`."""
    state_from(views[0], hidden[0], matches[0])

"""Going round the table. Comparisons in place of `%`, which costs more than all the rest of a decision."""

from pitchenv.engine.kernel import kernel


@kernel
def next_seat(seat, players):
    """The seat to the left."""
    return seat + 1 if seat + 1 < players else 0


@kernel
def slot_of(seat, me, players):
    """How many places to the left of seat `me` a seat is."""
    return seat - me if seat >= me else seat - me + players


@kernel
def seat_at(slot, me, players):
    """The seat that is `slot` places to the left of seat `me`."""
    return me + slot if me + slot < players else me + slot - players


@kernel
def side_of(seat, sides):
    """The side a seat plays for: seat modulo sides."""
    while seat >= sides:
        seat -= sides
    return seat

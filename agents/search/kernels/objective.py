"""What the end of a deal is worth to each side, in points: see `agents.search.objective`."""

from typing import Final

from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import POINTS

MATCH_POINTS: Final = 6


@kernel
def margin_of(m, side):
    """The change of a side's score in a deal that has been played, less the mean change of the others'."""
    p = m.public
    sides = p.rules.sides
    total = 0.0
    for other in range(sides):
        total += p.change[other]
    own = float(p.change[side])
    return own - (total - own) / (sides - 1)


@kernel
def side_value(m, side):
    """What a deal that has ended is worth to a side; 0 when it was thrown in."""
    p = m.public
    if p.scored != POINTS:
        return 0.0
    value = margin_of(m, side)
    if p.over:
        value += MATCH_POINTS if p.winner == side else -MATCH_POINTS / (p.rules.sides - 1)
    return value


@kernel
def side_values(matches, values):
    """Write to `values` (n, 8) what each of `matches` (n,), all ended, is worth to each side."""
    for i in range(len(matches)):
        for side in range(matches[i].public.rules.sides):
            values[i, side] = side_value(matches[i], side)

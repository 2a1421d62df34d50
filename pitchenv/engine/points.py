"""What a deal was worth: points, scores, and whether the match is won."""

from pitchenv.cards import mask_of, number
from pitchenv.engine.bits import count, highest, lowest
from pitchenv.engine.kernel import kernel
from pitchenv.engine.seats import side_of
from pitchenv.engine.state import NOBODY, POINTS
from pitchenv.engine.suits import suit_cards
from pitchenv.engine.tricks import JOKERS

PACK = 1  # `high_low`
LOW_TO_WINNER = 1  # `low_to`
TRUMP_TEN = 1  # `game`
CAPPED = 1  # `overshoot`
WIN_ANY, WIN_HIGHEST, WIN_PITCHER, WIN_MADE_BID = 0, 1, 2, 3  # `win`

TENS, JACKS, QUEENS, KINGS, ACES = (mask_of(number(rank, suit) for suit in range(4)) for rank in range(10, 15))


@kernel
def pips(cards, joker_pips):
    """The pips of a set of cards: ace 4, king 3, queen 2, jack 1, ten 10."""
    return (
        4 * count(cards & ACES)
        + 3 * count(cards & KINGS)
        + 2 * count(cards & QUEENS)
        + count(cards & JACKS)
        + 10 * count(cards & TENS)
        + joker_pips * count(cards & JOKERS)
    )


@kernel
def game_pips(m, side):
    """The pips that count for a side's Game: of the cards it took, and of the pitcher's discards where they count."""
    p = m.public
    r = p.rules
    total = pips(p.taken[side], r.joker_pips)
    if r.discards_count and side == side_of(p.pitcher, r.sides):
        total += pips(m.hidden.put_away[p.pitcher], r.joker_pips)
    return total


@kernel
def taker(m, card):
    """The side that has taken a card; NOBODY if none has."""
    for side in range(m.public.rules.sides):
        if m.public.taken[side] >> card & 1:
            return side
    return NOBODY


@kernel
def holder(m, card):
    """The side of the seat that has played a card; NOBODY if none has."""
    p = m.public
    for seat in range(p.rules.players):
        if p.played[seat] >> card & 1:
            return side_of(seat, p.rules.sides)
    return NOBODY


@kernel
def extreme_trumps(m):
    """The highest and the lowest trump played so far; NOBODY and NOBODY when there is none."""
    p = m.public
    r = p.rules
    trumps = 0
    for seat in range(r.players):
        trumps |= p.played[seat]
    trumps &= suit_cards(r.off_jack, p.trump, p.trump)
    if trumps == 0:
        return NOBODY, NOBODY
    plain = trumps & (0x1FFF << p.trump * 13)
    jack = p.trump * 13 + 9
    # Between the jack and the ten stand off-jack, high joker and low joker.
    between = trumps ^ plain
    over = plain >> jack << jack
    under = plain ^ over
    off_jack = between & ~JOKERS
    if over:
        high = highest(over)
    elif between:
        high = lowest(off_jack) if off_jack else lowest(between)
    else:
        high = highest(under)
    if under:
        low = lowest(under)
    elif between:
        low = highest(between & JOKERS) if between & JOKERS else lowest(off_jack)
    else:
        low = lowest(over)
    return high, low


@kernel
def award(m, side, points):
    """Give points to a side, or to nobody."""
    if side != NOBODY:
        m.public.points[side] += points


@kernel
def award_points(m):
    """Fill `points` for a deal whose cards have all been played."""
    p = m.public
    r = p.rules
    for side in range(r.sides):
        p.points[side] = 0
    if r.high_low == PACK:
        high = p.trump * 13 + 12
        low = p.trump * 13 + r.lowest_rank - 2
    else:
        high, low = extreme_trumps(m)
    if high != NOBODY:
        award(m, holder(m, high), 1)
        award(m, taker(m, low) if r.low_to == LOW_TO_WINNER else holder(m, low), 1)
    award(m, taker(m, p.trump * 13 + 9), 1)
    if r.off_jack:
        award(m, taker(m, (3 - p.trump) * 13 + 9), 1)
    for joker in range(r.jokers):
        award(m, taker(m, 52 + joker), 1)
    if r.trump_three:
        award(m, taker(m, p.trump * 13 + 1), 3)
    award(m, taker(m, p.trump * 13 + 8) if r.game == TRUMP_TEN else most_pips(m), 1)


@kernel
def most_pips(m):
    """The side with strictly more pips than every other; NOBODY on a tie."""
    best = -1
    winner = NOBODY
    for side in range(m.public.rules.sides):
        total = game_pips(m, side)
        if total > best:
            best = total
            winner = side
        elif total == best:
            winner = NOBODY
    return winner


@kernel
def score_deal(m):
    """Points, the change of every side's score, and the match's winner if there is one now."""
    p = m.public
    r = p.rules
    award_points(m)
    pitchers = side_of(p.pitcher, r.sides)
    made = p.points[pitchers] >= p.bid
    for side in range(r.sides):
        change = p.points[side]
        if side == pitchers:
            if not made:
                change = -p.bid
        elif r.overshoot == CAPPED:
            change = max(0, min(change, r.target - p.scores[side]))
        p.change[side] = change
        p.scores[side] += change
    p.scored = POINTS
    p.winner = match_winner(m, pitchers, made)
    p.over = p.winner != NOBODY


@kernel
def match_winner(m, pitchers, made):
    """The side that has won the match with this deal; NOBODY while it goes on."""
    p = m.public
    r = p.rules
    if p.scores[pitchers] >= r.target:
        if r.win == WIN_ANY or r.win == WIN_PITCHER or (r.win == WIN_MADE_BID and made):
            return pitchers
    if r.win != WIN_ANY and r.win != WIN_HIGHEST:
        return NOBODY
    best = r.target - 1
    winner = NOBODY
    for side in range(r.sides):
        if p.scores[side] > best:
            best = p.scores[side]
            winner = side
        elif p.scores[side] == best:
            winner = NOBODY
    return winner

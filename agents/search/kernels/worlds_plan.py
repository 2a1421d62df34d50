"""What is known of the hidden cards, as places to fill: which seats' cards are restricted, and how many ways there are to fill them.

Unseen cards lie in other seats' hands, in what other seats have put away, or in the stock. A hand with known voids may not hold some suits.
Suits that the same seats may hold are one *class*, seats with the same voids one *group*, and how many cards of each class a group holds
decides all that matters: cards within a class are exchangeable. The ways are counted group by group, from the last to the first (dynamic
programming over the cards of each class already dealt), so that worlds can be drawn with exactly their share.

With `keep_trump` and trump known, what a seat may have put away depends on the trumps it held. Then each seat that has put cards away is a
group of its own, and the count runs over the trumps in its hand and among what it put away (class 0 is trump).
"""

import numpy as np

from agents.search.kernels.worlds_open import count_open
from agents.search.kernels.worlds_pick import list_cards
from agents.search.kernels.worlds_ways import CLASSES, MOST_TRUMPS, REST, TABLE, count_splits, count_ways
from pitchenv.cards import CARDS, SUITS
from pitchenv.engine.bits import count
from pitchenv.engine.exchange import PITCHED
from pitchenv.engine.kernel import kernel
from pitchenv.engine.state import AUCTION, NOBODY, SEATS
from pitchenv.engine.suits import pack_cards, suit_cards

PLAN = np.dtype(
    [
        ("unseen", np.int64),  # the cards the looking seat has not seen
        ("trumps", np.int64),  # all cards of the trump suit; none while it is not known
        ("hold", np.int64, SEATS),  # by other seat: cards in hand
        ("put", np.int64, SEATS),  # by other seat: cards put away
        ("named", np.int64),  # cards put away by other seats in all
        ("widow", np.int64),  # cards the pitcher has drawn from the widow
        ("drawn", np.int64, SEATS),  # by seat: cards drawn in the redraw
        ("groups", np.int64),
        ("group_of", np.int64, SEATS),  # by seat; NOBODY: nothing restricts it
        ("group_hold", np.int64, SEATS),  # by group: cards in hand
        ("group_may", np.int64, SEATS),  # by group, bit c: it may hold cards of class c
        ("keeper", np.int64, SEATS),  # by group: the seat whose put-away cards count; NOBODY
        ("keeping", np.int64),  # some group has a keeper
        ("open", np.int64),  # the pitcher's discards must leave a suit open (classes are the suits then)
        ("size", np.int64, CLASSES + 1),  # cards by class; the last are those that no group may hold
        ("start", np.int64, CLASSES + 2),  # where each class begins in `cards`
        ("cards", np.int8, CARDS),  # the unseen cards class by class
        ("most", np.int64, (SEATS, CLASSES)),  # by group and class: the most that groups before it can have taken
        ("away", np.int64),  # cards put away by all keepers
        ("total", np.float64),  # ways in all
        ("class_of", np.int64, SUITS),  # by suit
        ("took", np.int64, CLASSES),  # the choice in hand: cards of each class ...
        ("took_away", np.int64),  # ... and trumps among those put away
        ("splits", np.float64, (SEATS, MOST_TRUMPS + 1, MOST_TRUMPS + 1)),  # by group, trumps put away, trumps in hand: ways
        ("work", np.int8, CARDS),  # from here on: room to work in
        ("rest", np.int8, CARDS),
        ("pile", np.int8, CARDS),
        ("put_cards", np.int8, (SEATS, CARDS)),  # by seat: what it put away, in order
        ("heads", np.int64, SEATS),
        ("table", np.float64, TABLE),
    ],
    align=True,
)


@kernel
def prepare(v, s):
    """Lay out in `s` (a PLAN) what `v` (a VIEW) leaves open, and count the ways. Returns whether there is any."""
    p = v.public
    r = p.rules
    seen = v.hand | v.put_away
    for seat in range(r.players):
        seen |= p.played[seat]
    s.unseen = pack_cards(r) & ~seen
    s.trumps = suit_cards(r.off_jack, p.trump, p.trump) if p.trump != NOBODY else 0
    if not count_places(v, s):
        return False
    s.open = r.keep_trump and r.trump == PITCHED and p.trump == NOBODY and s.named > 0
    make_groups(v, s)
    make_classes(v, s)
    if s.open:
        s.total = count_open(s, s.put[p.pitcher], s.hold[p.pitcher], r.tricks)
    elif s.groups:
        for g in range(s.groups):
            if s.keeper[g] != NOBODY:
                count_splits(p, s, g)
        s.total = count_ways(s)
    else:
        s.total = 1.0
    return s.total > 0.0


@kernel
def count_places(v, s):
    """How many cards lie where; whether the unseen ones fill it."""
    p = v.public
    r = p.rules
    needed = np.int64(p.stock_left)
    from_stock = 0
    s.widow = 0
    s.named = 0
    for seat in range(SEATS):
        s.hold[seat] = 0
        s.put[seat] = 0
        s.drawn[seat] = 0
        if seat >= r.players:
            continue
        away = p.redrawn[seat] + p.discarded[seat]
        s.drawn[seat] = p.held[seat] + away + count(p.played[seat]) - r.hand_size
        from_stock += s.drawn[seat]
        if seat == p.pitcher and p.phase != AUCTION:
            s.widow = min(np.int64(r.widow), s.drawn[seat])
            s.drawn[seat] -= s.widow
        if s.drawn[seat] < 0:
            return False
        if seat != v.seat:
            s.hold[seat] = p.held[seat]
            s.put[seat] = away
            s.named += away
            needed += p.held[seat] + away
    return v.seat < r.players and from_stock + p.stock_left == p.stock_size and count(s.unseen) >= needed


@kernel
def make_groups(v, s):
    """Seats whose cards are restricted, those alike together. `group_may` says suits here, classes only after `make_classes`."""
    p = v.public
    r = p.rules
    keep = r.keep_trump and p.trump != NOBODY
    s.groups = 0
    s.keeping = 0
    s.away = 0
    for seat in range(SEATS):
        s.group_of[seat] = NOBODY
    for seat in range(r.players):
        if seat == v.seat:
            continue
        may = 0
        unseen = 0
        for suit in range(SUITS):
            if p.trump != NOBODY and s.unseen & suit_cards(r.off_jack, p.trump, suit):
                unseen |= 1 << suit
                if s.hold[seat] and not p.voids[seat] >> suit & 1:
                    may |= 1 << suit
        keeps = keep and s.put[seat] > 0
        if not keeps and (s.hold[seat] == 0 or may == unseen):
            continue
        g = s.groups
        if not keeps:
            for other in range(s.groups):
                if s.keeper[other] == NOBODY and s.group_may[other] == may:
                    g = other
        if g == s.groups:
            s.groups += 1
            s.group_hold[g] = 0
            s.group_may[g] = may
            s.keeper[g] = seat if keeps else NOBODY
        s.group_of[seat] = g
        s.group_hold[g] += s.hold[seat]
        if keeps:
            s.keeping = 1
            s.away += s.put[seat]


@kernel
def make_classes(v, s):
    """Suits as classes (see above), their cards, and `group_may` in terms of them."""
    p = v.public
    off_jack = p.rules.off_jack
    left = s.unseen
    for c in range(CLASSES + 1):
        s.size[c] = 0
    classes = 0
    at = 0
    of_suit = s.class_of
    for suit in range(SUITS):
        of_suit[suit] = REST
    # Class 0 is the one the table needs no room for, since hands are full: trump where it counts, else whichever comes first.
    for k in range(SUITS):
        suit = (max(np.int64(p.trump), 0) + k) % SUITS
        mine = holders(s, suit)
        if mine == 0 and not s.open and not (s.keeping and k == 0):
            continue
        c = classes
        for j in range(k):
            other = (max(np.int64(p.trump), 0) + j) % SUITS
            if not s.open and not (s.keeping and j == 0) and of_suit[other] != REST and holders(s, other) == mine:
                c = of_suit[other]
        of_suit[suit] = c
        classes = max(classes, c + 1)
    for c in range(CLASSES + 1):
        s.start[c] = at
        for suit in range(SUITS):
            if of_suit[suit] == c and c != REST:
                cards = s.unseen & suit_cards(off_jack, p.trump, suit)
                left &= ~cards
                at = list_cards(cards, s.cards, at)
        if c == REST:
            at = list_cards(left, s.cards, at)
        s.size[c] = at - s.start[c]
    s.start[CLASSES + 1] = at
    for g in range(s.groups):
        may = 0
        for suit in range(SUITS):
            if s.group_may[g] >> suit & 1 and of_suit[suit] != REST:
                may |= 1 << of_suit[suit]
        s.group_may[g] = may


@kernel
def holders(s, suit):
    """The groups that may hold cards of a suit, as a mask; only before `group_may` speaks of classes."""
    mask = 0
    for g in range(s.groups):
        mask |= (s.group_may[g] >> suit & 1) << g
    return mask

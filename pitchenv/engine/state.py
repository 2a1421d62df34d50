"""The record: everything about one match, a NumPy structured scalar; a batch is an array of them.

It has two halves. `public` is what everybody at the table knows; `hidden` is the rest: the hands, what has been put away, the stock and the
seed of the deals to come. What one seat may know is a `VIEW`: the public half, and the seat's own part of the hidden one.
Seats run from 0 to players − 1, sides from 0 to sides − 1; entries beyond are zero (in `trick`
NOBODY). Sets of cards are masks (see `cards`).
"""

from typing import Final

import numpy as np

from pitchenv.cards import CARDS

SEATS: Final = 8  # the most that sit at a table
HISTORY: Final = 96  # 54 card actions (each card is put away or played once), 18 calls, 8 × done, a trump, and room
NOBODY: Final = -1
HIDDEN_CARD: Final = -2  # in a view's history: a card that another seat put away

AUCTION, TRUMP, REDRAW, DISCARD, PLAY, ENDED = range(6)
PHASES: Final = ("auction", "trump", "redraw", "discard", "play", "ended")

# `scored`: what `points` and `change` hold
NOTHING_YET, POINTS, THROWN_IN = range(3)

# The fields of `Rules` in order; choices as their position in `rules.CHOICES`, yes and no as 1 and 0.
RULES: Final = np.dtype(
    [
        ("players", np.int8),
        ("sides", np.int8),
        ("lowest_rank", np.int8),
        ("jokers", np.int8),
        ("off_jack", np.int8),
        ("hand_size", np.int8),
        ("widow", np.int8),
        ("redraw", np.int8),
        ("tricks", np.int8),
        ("trump", np.int8),
        ("keep_trump", np.int8),
        ("discards_count", np.int8),
        ("auction", np.int8),
        ("min_bid", np.int8),
        ("dealer_must_bid", np.int16),  # bit b: bid b
        ("dealer_steals", np.int8),
        ("thrown_in", np.int8),
        ("first_lead", np.int8),
        ("follow", np.int8),
        ("high_low", np.int8),
        ("low_to", np.int8),
        ("trump_three", np.int8),
        ("game", np.int8),
        ("joker_pips", np.int8),
        ("target", np.int16),
        ("win", np.int8),
        ("overshoot", np.int8),
        ("max_bid", np.int8),  # derived: the number of points in the game
    ],
    align=True,
)

PUBLIC: Final = np.dtype(
    [
        ("rules", RULES),
        ("phase", np.int8),
        ("turn", np.int8),  # the seat to act; NOBODY when the deal has ended
        ("dealer", np.int8),
        ("pitcher", np.int8),  # in the auction: who stands highest so far; NOBODY before a bid
        ("bid", np.int8),  # the standing bid; 0 before one
        ("trump", np.int8),  # the suit; NOBODY while not known
        ("passed", np.int16),  # bit s: seat s has passed
        ("bids", np.int16, SEATS),  # by seat, bit b: it has bid b
        ("redrawn", np.int8, SEATS),  # cards put away in the redraw, by seat
        ("discarded", np.int8, SEATS),  # cards put away in the discard, by seat
        ("held", np.int8, SEATS),  # cards in hand, by seat
        ("stock_size", np.int8),  # cards in the stock after the deal
        ("stock_left", np.int8),  # and now
        ("leader", np.int8),  # of the trick on the table
        ("trick", np.int8, SEATS),  # by seat, the card on the table; NOBODY where none, and beyond the players
        ("winning", np.int8),  # the seat that is winning the trick on the table; NOBODY before its lead
        ("tricks_done", np.int8),
        ("voids", np.int8, SEATS),  # by seat, bit s: by its play it has shown to hold no card of suit s
        ("played", np.int64, SEATS),  # by seat: the cards it has played
        ("taken", np.int64, SEATS),  # by side: the cards it has won in tricks
        ("scores", np.int32, SEATS),  # by side, of the match
        ("points", np.int8, SEATS),  # by side, of the last completed deal
        ("change", np.int32, SEATS),  # by side, of the score, in the last completed deal
        ("scored", np.int8),  # NOTHING_YET, POINTS or THROWN_IN
        ("deals_played", np.int32),  # deals that have ended, thrown-in ones too
        ("over", np.int8),  # 1: the match has a winner
        ("winner", np.int8),  # a side
        ("moves", np.int8),  # how much of the history is in use
        ("first_lead_at", np.int8),  # where in the history the first lead is; 0 before play
        ("history_seats", np.int8, HISTORY),  # who took each action of this deal
    ],
    align=True,
)

HIDDEN: Final = np.dtype(
    [
        ("hands", np.int64, SEATS),
        ("first_hands", np.int64, SEATS),  # as dealt
        ("put_away", np.int64, SEATS),  # in redraw and discard
        ("stock", np.int8, CARDS),  # top first; the first stock_size − stock_left have been drawn
        ("seed", np.uint64),  # of all deals of the match
    ],
    align=True,
)

MATCH: Final = np.dtype([("public", PUBLIC), ("hidden", HIDDEN), ("history", np.int8, HISTORY)], align=True)

VIEW: Final = np.dtype(
    [
        ("public", PUBLIC),
        ("seat", np.int8),  # who looks
        ("hand", np.int64),
        ("first_hand", np.int64),  # as dealt
        ("drawn", np.int64),  # from widow and stock
        ("put_away", np.int64),  # own discards, in redraw and discard
        ("history", np.int8, HISTORY),  # actions of this deal; HIDDEN_CARD for what another seat put away
    ],
    align=True,
)

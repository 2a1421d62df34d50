"""How deals come out between players of one kind: the distribution that a match-equity table is made from."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents import AgentError
from pitchenv import Rules
from pitchenv.engine import single
from pitchenv.engine.state import NOBODY, POINTS, THROWN_IN
from training.parts import fresh_matches
from training.players import Player, play_deals

Integers = NDArray[np.int64]
ROUNDS: Final = 40  # deals one after another at every table, several matches in most games, so that the end of matches has its full share
OUTCOME_STREAM: Final = 4  # keeps the players' random numbers apart from those of other uses of a seed


@dataclass(frozen=True)
class Outcomes:
    """The distribution of what a deal does to the scores, whichever side pitches. Thrown-in deals, which do nothing, are left out.

    Sides are taken to be exchangeable, but for who deals where there are two: the dealer's speaks last, and pitches more often or less.
    With more sides which one pitches, and which of the others gets what, is drawn evenly, so that the places around the table are averaged
    over.
    """

    pitcher: Integers  # (k,) what the pitcher's side adds: its points when the bid was made (above 0), less the bid when not
    others: Integers  # (k, sides − 1) points of the other sides, ascending; before any cap at the target
    weight: NDArray[np.float64]  # (k,) probabilities, which sum to 1
    deals: int  # that were played
    thrown_in: int  # of these
    dealers: NDArray[np.bool_] | None = None  # (k,) two sides: whether the pitcher's side is the dealer's

    @property
    def sides(self) -> int:
        """Of the game."""
        return int(self.others.shape[1]) + 1

    def placements(self, dealer: int | None = None) -> Iterator[tuple[int, tuple[int, ...], float]]:
        """Every different way a deal can come out, with its probability: (pitcher's side, what each side adds, probability).

        Of the cases in which another side pitches only those of side 1 are given: the rest are the same with that side in its place.
        `dealer`: the side that deals, if `dealers` tells; else it is not known.
        """
        rows = [self.pitcher.tolist(), self.others.tolist(), self.weight.tolist(), self.of_dealer.tolist()]
        for own, rest, weight, of_dealer in zip(*rows, strict=True):
            orders = sorted(set(permutations(rest)))
            for order in orders:
                for pitcher, change in ((0, (own, *order)), (1, (order[0], own, *order[1:]))):
                    share = 1 / self.sides if dealer is None else float((pitcher == dealer) == of_dealer)
                    if share:
                        yield pitcher, change, weight * share / len(orders)

    @property
    def of_dealer(self) -> NDArray[np.bool_]:
        """(k,): `dealers`, or False where these do not tell."""
        return np.zeros(len(self.weight), np.bool_) if self.dealers is None else self.dealers


def outcomes_of(ended: NDArray[Any], sides: int) -> Outcomes:
    """The distribution over some ended deals, an array of `PUBLIC` (n,)."""
    scored = ended[ended["scored"] == POINTS]
    thrown_in = int(np.count_nonzero(ended["scored"] == THROWN_IN))
    points = scored["points"][:, :sides].astype(np.int64)
    rows, pitchers = np.arange(len(scored)), scored["pitcher"] % sides
    bid, won = scored["bid"].astype(np.int64), points[rows, pitchers]
    others = np.sort(points[np.arange(sides) != pitchers[:, None]].reshape(-1, sides - 1), axis=1)
    of_dealer = (pitchers == scored["dealer"] % sides) & (sides == 2)
    table = np.column_stack([of_dealer, np.where(won >= bid, won, -bid), others])
    different, count = np.unique(table, axis=0, return_counts=True)
    dealers = different[:, 0] > 0 if sides == 2 else None
    return Outcomes(different[:, 1], different[:, 2:], count / max(len(scored), 1), len(scored) + thrown_in, thrown_in, dealers)


def deal_outcomes(player: Player, rules: Rules, deals: int, seed: int) -> Outcomes:
    """How `deals` deals (at least) come out with the player at every seat.

    They are the deals of whole matches, so that scores are those which matches reach, as often as they reach them: the distribution
    is an average over them. Raises AgentError, also when every deal is thrown in.
    """
    tables = -(-deals // ROUNDS)
    matches = fresh_matches(rules, seed, 0, tables)
    at_side = np.zeros((tables, rules.sides), np.int64)
    player.reset(rules, tables, [seed, OUTCOME_STREAM])
    ended: list[NDArray[Any]] = []
    begun = tables
    while len(ended) * tables < deals:
        matches = play_deals([player], rules, matches, at_side)
        ended.append(matches["public"].copy())
        over = np.flatnonzero(matches["public"]["winner"] != NOBODY)
        for i in np.flatnonzero(matches["public"]["winner"] == NOBODY):
            single.deal_next(matches, i)
        matches[over] = fresh_matches(rules, seed, begun, len(over))
        begun += len(over)
    if player.illegal:
        raise AgentError(f"agent {player.name!r}: proposes illegal actions; allowed: a player that keeps to the mask")
    outcomes = outcomes_of(np.concatenate(ended), rules.sides)
    if outcomes.thrown_in == outcomes.deals:
        raise AgentError(f"agent {player.name!r}: every one of {outcomes.deals} deals was thrown in; allowed: a player that bids")
    return outcomes

"""A match-equity table: how likely each side is to win the match from any score, and what a deal is worth by that.

Match equity is the currency of backgammon's match play (Keeler and Gillogly) and of bridge-like games played to a target. Here it is
solved for any rules of the family from the outcomes of deals of self-play (`training.equity_outcomes`, `training.equity_solve`).
"""

import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from pitchenv import Batch, Rules
from pitchenv.checks import InputError, shown
from pitchenv.engine.state import NOBODY, THROWN_IN
from training import equity_solve as by
from training.equity_outcomes import Outcomes

FORMAT: Final = 2
SCALE_DEALS: Final = 4096  # that the scale of returns is found from


class EquityError(InputError):
    """A match-equity table that can't be used; the message is one line."""


@dataclass(frozen=True)
class EquityTable:
    """The probability that each side wins the match, from the scores at the start of a deal.

    With two sides it also depends on which one deals; with more the dealer is averaged over. How deals come out is taken not to depend on
    the score: where players press when others are about to win, matches end otherwise than the table says, most so with many sides.

    Scores outside `low` … `high` count as those: below, a side is so far back that a point more or less hardly matters; above, it stays
    over the target whatever happens. Matches are taken never to be cut off.

    `method`: "exact", dynamic programming over all scores at once, up to four sides in the games of the table; "race" beyond, where the
    scores of the sides move independently of each other (an approximation).
    """

    rules: Rules
    method: Literal["exact", "race"]
    low: int
    high: int
    values: NDArray[np.float64]  # exact: side 0's equity, axes as of `solve_exactly`; race: moves of one side (2, scores, scores)
    scale: float  # of returns: what equity is multiplied by to be as large as points
    made_from: dict[str, Any] = field(default_factory=dict)  # agent, deals, seed, ...: for people

    @classmethod
    def solve(cls, rules: Rules, outcomes: Outcomes, method: Literal["exact", "race"] | None = None, **made_from: Any) -> Self:
        """The table of some rules and the outcomes of their deals; by the exact method where that takes seconds. Raises EquityError."""
        if outcomes.sides != rules.sides:
            raise EquityError(f"outcomes: of a game with {outcomes.sides} sides; allowed: {rules.sides}, as in the rules")
        if not len(outcomes.weight):
            raise EquityError("outcomes: no deal was scored; allowed: at least one")
        depth = by.depth_that_fits(rules, outcomes)
        if method is None:
            method = "exact" if depth else "race"
        low, high = by.score_range(rules, depth or by.DEPTHS[0])
        values = (by.solve_exactly if method == "exact" else by.race_moves)(rules, outcomes, low, high)
        facts = {"deals": outcomes.deals, "thrown_in": outcomes.thrown_in, **made_from}
        unscaled = cls(rules, method, low, high, values, 1.0, facts)
        return cls(rules, method, low, high, values, unscaled._scale(outcomes), facts)

    def _scale(self, outcomes: Outcomes) -> float:
        """The root mean square of deals' margins in points over that in equity, from scores as `start_scores = "spread"` draws them."""
        rules, random = self.rules, np.random.default_rng(0)
        deal = random.choice(len(outcomes.weight), SCALE_DEALS, p=outcomes.weight)
        before = Batch(rules, SCALE_DEALS, start_scores="spread").matches["public"]["scores"][:, : rules.sides].astype(np.int64)
        change = np.column_stack([outcomes.pitcher, outcomes.others])[deal]
        after = np.stack([by.after_deal(rules, before[:, s], change[:, s], s == 0) for s in range(rules.sides)], axis=1)
        winner = by.winners(rules, after, np.zeros(SCALE_DEALS, np.int64), outcomes.pitcher[deal] > 0)
        dealer = np.where(outcomes.of_dealer[deal], 0, 1)
        gain = self.equity(after, winner, 1 - dealer) - self.equity(before, dealer=dealer)
        worth = float((margins(gain) ** 2).mean())
        return math.sqrt(float((margins(after - before) ** 2).mean()) / worth) if worth > 0 else 1.0

    def equity(
        self, scores: NDArray[np.integer], winner: NDArray[np.integer] | None = None, dealer: NDArray[np.integer] | None = None
    ) -> NDArray[np.float64]:
        """Each side's probability to win, (n, sides) float64 with rows that sum to 1, from scores (n, sides) and the sides that deal,
        `dealer` (n,); if not given, or where the table does not tell them apart, their mean.

        Where `winner` (n,) is not −1 the match is over: 1 for that side, 0 for the others. Without it all matches go on. (Scores alone
        do not tell: where only the pitcher can win, a side may be past the target.) Raises EquityError for another shape.
        """
        scores = np.asarray(scores)
        sides = self.rules.sides
        if scores.ndim != 2 or scores.shape[1] != sides or scores.dtype.kind not in "iu":
            raise EquityError(f"scores: {scores.dtype} of shape {scores.shape}; allowed: integers (n, {sides})")
        at = np.clip(scores, self.low, self.high).astype(np.int64) - self.low
        if self.method == "race":
            found = by.race(self.rules, self.values, at)
        else:
            size = self.high - self.low + 1
            strides = size ** np.arange(sides - 1, -1, -1)
            orders = [[k, *(j for j in range(sides) if j != k)] for k in range(sides)]
            tables = self.values.reshape(len(self.values), -1)
            if dealer is None or len(tables) == 1:
                tables, dealer = tables.mean(axis=0, keepdims=True), np.zeros(len(at), np.int64)
            rows = [(np.asarray(dealer) - k) % len(tables) for k in range(sides)]
            found = np.stack([tables[row, at[:, order] @ strides] for row, order in zip(rows, orders, strict=True)], axis=1)
        found /= found.sum(axis=1, keepdims=True)
        if winner is not None:
            over = np.flatnonzero(np.asarray(winner) != NOBODY)
            found[over] = np.asarray(winner)[over, None] == np.arange(sides)
        return found

    def returns(self, ended: NDArray[Any], slots: int | None = None) -> NDArray[np.float32]:
        """What ended deals, an array of `PUBLIC` (n,), bring each seat: (n, slots) float32 by seat number, 0 beyond the players.

        A side's gain of equity less the mean of the others' (as `reward = "margin"` of `Batch` does with points), times `scale`: so that
        from spread scores deals are worth as much in root mean square as they are in points, and what suits a reward in points suits this.
        The scores before a deal are those after it less its `change`. A deal thrown in, and dealt again by the same dealer, brings 0. Sums
        to 0 over the sides.
        """
        rules = self.rules
        after, change, dealer = ended["scores"][:, : rules.sides], ended["change"][:, : rules.sides], ended["dealer"].astype(np.int64)
        same = (ended["scored"] == THROWN_IN) & (rules.thrown_in == "same_dealer")
        following = np.where(same, dealer, (dealer + 1) % rules.players)
        gain = self.equity(after, ended["winner"], following % rules.sides) - self.equity(after - change, dealer=dealer % rules.sides)
        seats = np.zeros((len(ended), slots or rules.players), np.float32)
        seats[:, : rules.players] = (self.scale * margins(gain))[:, np.arange(rules.players) % rules.sides]
        return seats

    def to_bytes(self) -> bytes:
        """The content of a file."""
        about = {
            "format": FORMAT, "rules": self.rules.to_dict(), "method": self.method, "low": self.low, "high": self.high, "scale": self.scale,
            "made_from": self.made_from,
        }  # fmt: skip
        content = io.BytesIO()
        np.savez_compressed(content, values=self.values, about=np.frombuffer(json.dumps(about).encode(), np.uint8))
        return content.getvalue()


def margins(x: NDArray[Any]) -> NDArray[np.float64]:
    """Each side's own less the mean of the others': (n, sides)."""
    result: NDArray[np.float64] = x - (x.sum(axis=1, keepdims=True) - x) / (x.shape[1] - 1)
    return result


def load_equity(path: Path, rules: Rules | None = None) -> EquityTable:
    """The table of a file. With `rules`, one for other rules is refused. Raises EquityError with one line, for a damaged file too."""
    name = f"match-equity table {str(path)!r}"
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            values, about = file["values"], json.loads(file["about"].tobytes())
        if about["format"] != FORMAT:
            raise EquityError(f"{name}: format {shown(about['format'])}; allowed: {FORMAT}; make it again with `python -m training equity`")
        table = EquityTable(
            Rules.from_dict(about["rules"]), about["method"], int(about["low"]), int(about["high"]), values, float(about["scale"]),
            dict(about["made_from"]),
        )  # fmt: skip
        _check_values(table)
    except OSError as fault:
        raise EquityError(f"{name}: cannot be read: {fault.strerror or fault}") from None
    except EquityError:
        raise
    except Exception as fault:  # a damaged archive raises many kinds
        raise EquityError(f"{name}: damaged, or no such table: {shown(str(fault))}") from None
    if rules is not None and table.rules != rules:
        ours, theirs = rules.to_dict(), table.rules.to_dict()
        wrong = next(key for key in ours if ours[key] != theirs[key])
        raise EquityError(f"{name}: made for {wrong} = {theirs[wrong]!r}; allowed: {ours[wrong]!r}, as in the rules of the game")
    return table


def _check_values(table: EquityTable) -> None:
    """Raise ValueError for a table that does not hold probabilities of the right shape."""
    size, values = table.high - table.low + 1, table.values
    if table.method not in ("exact", "race"):
        raise ValueError(f"method = {table.method!r}")
    dealers = len(values) if table.rules.sides == 2 and len(values) == 2 else 1
    fits = values.shape == ((dealers, *(size,) * table.rules.sides) if table.method == "exact" else (2, size, size))
    if not fits or values.dtype != np.float64:
        raise ValueError(f"values: {values.dtype} of shape {values.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all() and (values <= 1 + 1e-9).all() and 0 < table.scale < np.inf):
        raise ValueError("values: not probabilities")

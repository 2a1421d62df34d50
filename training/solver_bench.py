"""How fast the solver is beside Bo Haglund's double-dummy solver DDS, in one run: `python -m training.solver_bench`. Extra `[peers]`.

Both get deals of 24 cards, four hands of six. Ours: fresh deals of a game after auction and exchange by `heuristic`, the pitcher to lead;
the value is that of the whole deal, set-back and Game included, over all opening leads (with pitched trump: over all suits). DDS, through
`endplay`: endings of six random cards a hand with a random trump and leader; one card (the best and its tricks), and every card.
"""

import random
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.search.solver import Solver
from pitchenv import Batch
from pitchenv.checks import InputError
from pitchenv.engine.state import PLAY
from pitchenv.policies.heuristic import HeuristicPolicy

DEALS = 400
ROUNDS = 5
RANKS = "AKQJT98765432"


def fresh_deals(game: str, deals: int, seed: int = 1) -> NDArray[np.void]:
    """`MATCH` records (deals,) before the first lead."""
    batch = Batch(game, 2 * deals, seed, restart=False)
    policy = HeuristicPolicy()
    ready = []
    while (batch.seat >= 0).any():
        public = batch.matches["public"]
        ready.append(batch.matches[(public["phase"] == PLAY) & (public["first_lead_at"] == public["moves"])].copy())
        batch.step(policy.act(batch.views(), batch.mask, batch.seat))
    found: NDArray[np.void] = np.concatenate(ready)[:deals]
    return found


def dds_endings(deals: int) -> list[object]:
    """Endings of six cards a hand."""
    try:
        from endplay.types import Deal, Denom, Player
    except ImportError:
        raise InputError('endplay is not installed; allowed: pip install -e ".[train,peers]"') from None
    rng = random.Random(1)
    found = []
    for _ in range(deals):
        pack = [(suit, rank) for suit in range(4) for rank in range(13)]
        rng.shuffle(pack)
        hands = []
        for seat in range(4):
            held = pack[6 * seat : 6 * seat + 6]
            hands.append(".".join("".join(RANKS[r] for s, r in sorted(held) if s == suit) for suit in range(4)))
        found.append(Deal("N:" + " ".join(hands), first=rng.choice(list(Player)), trump=rng.choice(list(Denom))))
    return found


def best_of(run: Callable[[], object]) -> float:
    """CPU seconds of the quickest of some rounds."""
    seconds = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        run()
        seconds.append(time.process_time() - begun)
    return min(seconds)


def main() -> None:
    """Print milliseconds a deal, and ratios."""
    endings = dds_endings(DEALS)
    from endplay.dds import solve_board
    from endplay.dds.solve import SolveMode

    one_card = best_of(lambda: [solve_board(deal, SolveMode.OptimalOne) for deal in endings]) / DEALS * 1e3
    every_card = best_of(lambda: [solve_board(deal) for deal in endings]) / DEALS * 1e3
    print(f"DDS, {DEALS} endings of 6 cards a hand: one card {one_card:.3f} ms, every card {every_card:.3f} ms a deal")
    for game in ("auction-4-partners", "setback", "smear", "oklahoma-4"):
        solver, deals = Solver(), fresh_deals(game, DEALS if game != "oklahoma-4" else DEALS // 8)
        solver.solve(deals[:2])
        solver.cards(deals[:2])
        value = best_of(lambda: solver.solve(deals)) / len(deals) * 1e3  # noqa: B023
        cards = best_of(lambda: solver.cards(deals)) / len(deals) * 1e3  # noqa: B023
        print(
            f"{game}, {len(deals)} deals: value {value:.3f} ms a deal, {value / one_card:.2f} times DDS's one card; "
            f"every card {cards:.3f} ms, {cards / value:.2f} times one value"
        )


if __name__ == "__main__":
    try:
        main()
    except InputError as fault:
        print(fault, file=sys.stderr)
        sys.exit(2)

"""How the parameters of `heuristic` were found: coordinate search by self-play on duplicate deals.

    python -m training.tune_heuristic [--family four|more] [--sweeps 6] [--deals 4000] [--seed 1000]     search from the untuned parameters
    python -m training.tune_heuristic --measure [--deals 10000] [--seed 1]                                  the margins in every game

A change of one parameter is kept when the changed player is ahead of the one before by more than a standard error, and ahead again on
other deals. Deals to tune on come from other seeds than deals to measure on.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pitchenv import Batch, Rules, games, load_rules
from pitchenv.policies import Policy
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import CHANCES, FOUR_POINTS, MORE_POINTS, NAMES, TUNED, UNTUNED
from pitchenv.policies.random import RandomPolicy

CHUNK = 4096  # matches stepped together
# What each family of parameters is tuned on: games, and how much each counts.
TUNED_ON = {
    FOUR_POINTS: {"auction-4-partners": 3.0, "setback": 1.0, "smear": 1.0, "auction-4": 1.0, "auction-6": 1.0},
    MORE_POINTS: {"oklahoma-4": 1.0, "oklahoma-6": 1.0},
}


def seatings(rules: Rules) -> Iterator[NDArray[np.bool_]]:
    """Which seats A has: each side in turn, and with more than two sides also all but each side in turn."""
    seats = np.arange(rules.players) % rules.sides
    for side in range(rules.sides):
        yield seats == side
        if rules.sides > 2:
            yield seats != side


def play_deals(rules: Rules, matches: np.ndarray, players: Sequence[Policy], who: NDArray[np.integer]) -> NDArray[np.float64]:
    """Every side's change of score (n, sides) in single deals; seat s is played by `players[who[s]]`."""
    batch = Batch.from_matches([rules] * len(matches), matches, reward="score", skip_forced=True)
    scores = np.zeros((len(matches), rules.players))
    actions = np.zeros(len(matches), np.int64)
    while (live := np.flatnonzero(batch.seat >= 0)).size:
        views = batch.views()
        turn = who[batch.seat[live]]
        for k, player in enumerate(players):
            rows = live[turn == k]
            if rows.size:
                actions[rows] = player.act(views[rows], batch.mask[rows], batch.seat[rows])
        batch.step(actions)
        scores += batch.reward[:, : rules.players]
    return scores


def margins(a: Policy, b: Policy, rules: Rules, deals: int, seed: int) -> NDArray[np.float64]:
    """A's mean side score less B's, by deal (deals,), averaged over all seatings of the deal."""
    a.reset(rules, deals, seed)
    b.reset(rules, deals, seed + 1)
    matches = Batch(rules, deals, seed, restart=False).matches
    per_deal = np.zeros(deals)
    for at in range(0, deals, CHUNK):
        part = matches[at : at + CHUNK]
        plays = []
        for has_a in seatings(rules):
            scores = play_deals(rules, part, [a, b], np.where(has_a, 0, 1))
            plays.append(scores[:, has_a].mean(axis=1) - scores[:, ~has_a].mean(axis=1))
        per_deal[at : at + CHUNK] = np.mean(plays, axis=0)
    return per_deal


def interval(per_deal: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and half the width of its 95 % interval."""
    return float(per_deal.mean()), float(1.96 * per_deal.std(ddof=1) / np.sqrt(len(per_deal)))


def gain(new: np.ndarray, old: np.ndarray, family: int, deals: int, seed: int) -> tuple[float, float]:
    """How far new parameters are ahead of old ones, over the family's games, and the standard error of that."""
    total = variance = weights = 0.0
    for game, weight in TUNED_ON[family].items():
        rules = load_rules(game)
        plays = 2 if rules.sides == 2 else 2 * rules.sides
        per_deal = margins(HeuristicPolicy(new), HeuristicPolicy(old), rules, int(deals * weight * 2 / plays), seed)
        total += weight * per_deal.mean()
        variance += weight**2 * per_deal.var(ddof=1) / len(per_deal)
        weights += weight
    return total / weights, float(np.sqrt(variance)) / weights


def tune(family: int, start: np.ndarray, sweeps: int, deals: int, seed: int) -> np.ndarray:
    """Coordinate search: every parameter up and down, with steps that shrink from sweep to sweep."""
    random = np.random.default_rng(seed)
    best = start.copy()
    for sweep in range(sweeps):
        for name in random.permutation(NAMES):
            for sign in random.permutation([1, -1]):
                new = best.copy()
                new[name][family] += sign * 0.7**sweep * max(0.4 * abs(UNTUNED[name][family]), 0.1 if UNTUNED[name][family] == 0 else 0.01)
                if name in CHANCES:
                    new[name][family] = min(1.0, max(0.0, new[name][family]))
                seed += 1
                ahead, error = gain(new, best, family, deals, seed)
                if ahead <= error:
                    continue
                again, error_again = gain(new, best, family, 2 * deals, seed + 500_000)
                if again <= error_again:
                    continue
                print(f"sweep {sweep}: {name} = {new[name][family]:.3f}: {ahead:+.3f}, again {again:+.3f} ± {error_again:.3f}", flush=True)
                best = new
                break
        print({name: round(float(best[name][family]), 3) for name in NAMES}, flush=True)
        print(f"after sweep {sweep}: {gain(best, start, family, 4 * deals, seed + 900_000)} ahead of the start", flush=True)
    return best


def measure(deals: int, seed: int) -> None:
    """Print the margins of the shipped parameters over random play and over the untuned ones, in every game."""
    for game in games():
        rules = load_rules(game)
        over_random = interval(margins(HeuristicPolicy(), RandomPolicy(), rules, deals, seed))
        over_untuned = interval(margins(HeuristicPolicy(), HeuristicPolicy(UNTUNED), rules, deals, seed))
        print(
            f"{game:20s} over random {over_random[0]:+.3f} ± {over_random[1]:.3f}   "
            f"over untuned {over_untuned[0]:+.3f} ± {over_untuned[1]:.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="print the margins instead of searching")
    parser.add_argument("--family", choices=("four", "more"), default="four", help="four points a deal, or more (off-jack, jokers, three)")
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--deals", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=None, help="default 1000 to search, 1 to measure")
    parser.add_argument("--from-tuned", action="store_true", help="go on from the shipped parameters")
    args = parser.parse_args()
    if args.measure:
        measure(args.deals, 1 if args.seed is None else args.seed)
    else:
        start = TUNED if args.from_tuned else UNTUNED
        tune(FOUR_POINTS if args.family == "four" else MORE_POINTS, start, args.sweeps, args.deals, 1000 if args.seed is None else args.seed)


if __name__ == "__main__":
    main()

"""How the parameters of `heuristic` were found: coordinate search by self-play on duplicate deals, so that anybody can do it again.

    python -m training.tune_heuristic --family four        # search, from the untuned parameters (four points a deal; `more` for the others)
    python -m training.tune_heuristic --measure            # the margins of the shipped parameters in every game

A change of one parameter is kept when the changed player is ahead of the one before by more than a standard error, and again on
other deals. Deals to tune on come from other seeds than deals to measure on.
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import tyro

from pitchenv import games, load_rules
from pitchenv.policies.heuristic import HeuristicPolicy
from pitchenv.policies.heuristic.parameters import CHANCES, FOUR_POINTS, MORE_POINTS, NAMES, TUNED, UNTUNED
from pitchenv.policies.random import RandomPolicy
from training.duplicate import duplicate, play_matches
from training.players import Player

FAMILIES: Final = {"four": FOUR_POINTS, "more": MORE_POINTS}
# What each family is tuned on: games, and how much each counts.
TUNED_ON: Final = {
    FOUR_POINTS: {"auction-4-partners": 3.0, "setback": 1.0, "smear": 1.0, "auction-4": 1.0, "auction-6": 1.0},
    MORE_POINTS: {"oklahoma-4": 1.0, "oklahoma-6": 1.0},
}
SCORE_BOUND: Final = ("danger", "press")  # matter only near the end of a match: whole matches tell, and the rate of winning them
SCORE_BOUND_GAMES: Final = {FOUR_POINTS: ("auction-4-partners", "auction-4"), MORE_POINTS: ()}
SHRINK: Final = 0.7  # of the steps, from sweep to sweep
ELSEWHERE: Final = 1_000_000  # added to a seed for other deals


@dataclass(frozen=True)
class Arguments:
    """Tune the parameters of the heuristic player against itself, or measure those that ship."""

    measure: bool = False
    """Print the margins of the shipped parameters over random play and over the untuned ones, in every game, and stop."""

    family: Literal["four", "more"] = "four"
    """Which parameters: of games with four points a deal, or with more."""

    go_on: bool = False
    """Begin with the shipped parameters, not with the untuned ones."""

    sweeps: int = 4
    """How often to try every parameter."""

    deals: int = 2000
    """Deals a try in a game of two sides and weight one, fewer with more sides; to measure, five times as many."""

    seed: int = 1000
    """Of the search. Measuring is on seed 1."""


def gain(new: np.ndarray, old: np.ndarray, family: int, deals: int, seed: int) -> tuple[float, float]:
    """How far new parameters are ahead of old ones over the family's games, points a deal, and the standard error of that: somewhat too
    small, since games of one pack are dealt the same cards."""
    total = variance = weights = 0.0
    for game, weight in TUNED_ON[family].items():
        rules = load_rules(game)
        plays = 2 if rules.sides == 2 else 2 * rules.sides
        number = max(2, int(deals * weight * 2 / plays))
        per_deal = duplicate(HeuristicPolicy(new), HeuristicPolicy(old), rules, number, seed).per_deal
        total += weight * float(per_deal.mean())
        variance += weight**2 * float(per_deal.var(ddof=1)) / number
        weights += weight
    return total / weights, variance**0.5 / weights


def win_gain(new: np.ndarray, old: np.ndarray, family: int, matches: int, seed: int) -> tuple[float, float]:
    """How much more often new parameters win matches than old ones, and the standard error of that."""
    ahead = error = 0.0
    for game in SCORE_BOUND_GAMES[family]:
        players = [Player("new", HeuristicPolicy(new), 0), Player("old", HeuristicPolicy(old), 1)]
        result = play_matches(players, load_rules(game), matches, seed)
        ahead += float(result.win_rate[0] - result.win_rate[1])
        error += float(result.half_widths.sum()) / 1.96
    return ahead, error


def changed(parameters: np.ndarray, family: int, name: str, sign: int, sweep: int) -> np.ndarray:
    """The parameters with one of them a step up or down."""
    new = parameters.copy()
    start = float(UNTUNED[name][family])
    value = float(new[name][family]) + sign * (0.4 * abs(start) or 0.1) * SHRINK**sweep
    new[name][family] = min(1.0, max(0.0, value)) if name in CHANCES else value
    return new


def tune(family: int, start: np.ndarray, sweeps: int, deals: int, seed: int) -> np.ndarray:
    """The parameters that coordinate search finds: every one up and down, with steps that shrink from sweep to sweep."""
    random = np.random.default_rng(seed)
    best = start
    for sweep in range(sweeps):
        for name in random.permutation(NAMES):
            for sign in random.permutation([1, -1]):
                new = changed(best, family, name, sign, sweep)
                seed += 1
                compare = win_gain if name in SCORE_BOUND else gain
                ahead, error = compare(new, best, family, deals, seed)
                if ahead <= error:
                    continue
                ahead, error = compare(new, best, family, 2 * deals, seed + ELSEWHERE)
                if ahead > error:
                    print(f"sweep {sweep}: {name} = {new[name][family]:.3f}: {ahead:+.3f} ± {error:.3f}", flush=True)
                    best = new
                    break
        ahead, error = gain(best, start, family, 4 * deals, seed + 2 * ELSEWHERE)
        print(f"after sweep {sweep}, {ahead:+.3f} ± {error:.3f} ahead of the start:", flush=True)
        print({name: round(float(best[name][family]), 3) for name in NAMES}, flush=True)
    return best


def measure(deals: int) -> None:
    """Print the margins of the shipped parameters with their 95 % intervals, in every game."""
    for game in games():
        rules = load_rules(game)
        over_random = duplicate(HeuristicPolicy(), RandomPolicy(), rules, deals, seed=1)
        over_untuned = duplicate(HeuristicPolicy(), HeuristicPolicy(UNTUNED), rules, deals, seed=1)
        print(
            f"{game:20s} over random {over_random.margin:+.3f} ± {over_random.half_width:.3f}   "
            f"over untuned {over_untuned.margin:+.3f} ± {over_untuned.half_width:.3f}",
            flush=True,
        )


def main() -> None:
    arguments = tyro.cli(Arguments, prog="python -m training.tune_heuristic")
    if arguments.measure:
        measure(5 * arguments.deals)
    else:
        start = TUNED if arguments.go_on else UNTUNED
        tune(FAMILIES[arguments.family], start, arguments.sweeps, arguments.deals, arguments.seed)


if __name__ == "__main__":
    main()

"""What an agent of the zoo is measured at: margins over fixed players on duplicate deals, as many as its time allows, and its bidding.

How many deals there are depends on how fast the machine is, never on the margin, so that intervals stay honest; with the number that is
kept, `match` finds the same margin again.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

import agents
from agents.learned import NetworkPolicy, TwoPartPolicy
from pitchenv import Rules, games, load_rules
from pitchenv.engine.state import POINTS
from pitchenv.policies import Policy
from pitchenv.records import rules_text
from training.duplicate import combine
from training.parts import PART, Kept, PartResult, part_size, play_part
from training.players import Player
from training.referee import names_of

FAST: Final = ("random", "heuristic")
OF_TWO_SIDES, OF_MORE = "pimc:worlds=10", "ismcts:iterations=300"  # players that search
MOST_DEALS: Final = 40_000  # against fast players: half widths of 0.02, in half a minute
SLOW_MOST: Final = 6_400  # against those that search


@dataclass(frozen=True)
class Pairing:
    """Who plays against whom at what."""

    player: str  # a spec
    against: str  # a spec
    rules: Rules


@dataclass(frozen=True)
class Measured:
    """The margin of `player` over `against` in points a deal, with its 95 % interval (Student's t)."""

    player: str
    against: str
    rules: str | dict[str, Any]  # a game of the table, or all fields
    deals: int
    plays: int  # seatings of every deal
    seed: int
    margin: float
    half_width: float
    illegal: int  # illegal proposals of the player
    cpu_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def rules_of(policy: Policy) -> list[Rules]:
    """What an agent is measured at: the rules that it was trained for, or every game of the table that it has slots for."""
    assert isinstance(policy, TwoPartPolicy)
    network = policy.parts["play"]
    assert isinstance(network, NetworkPolicy)
    if not network.any_rules:
        return [network.rules]
    return [rules for rules in map(load_rules, games()) if rules.players <= network.slots]


def searcher(rules: Rules) -> str:
    """The player that searches which an agent of these rules is held against."""
    return OF_TWO_SIDES if rules.sides == 2 else OF_MORE


def plan(name: str, policy: Policy, against: tuple[str, ...]) -> list[Pairing]:
    """The pairings of a card: random, heuristic, and one that searches; of an agent for any rules, in every game, the game's own agent in
    the place of that. Of a game also heuristic over random, as a measure of how much there is to play for. With `against`, those players
    instead."""
    of_rules = rules_of(policy)
    pairings = []
    for rules in of_rules:
        game = rules_text(rules)
        last = [searcher(rules)] if len(of_rules) == 1 else [f"zoo:{game}"] if game in agents_of_games(name) else []
        pairings += [Pairing(f"zoo:{name}", spec, rules) for spec in against or (*FAST, *last)]
    if len(of_rules) == 1 and not against:
        pairings.insert(2, Pairing("heuristic", "random", of_rules[0]))
    return pairings


def agents_of_games(name: str) -> set[str]:
    """The agents of the zoo that are called as a game is, but for the one of that name."""
    from agents import zoo

    return set(zoo.names()) & set(games()) - {name}


def measure(pairing: Pairing, seed: int, seconds: float, most: int | None = None, keep: Callable[[Kept], None] | None = None) -> Measured:
    """Play whole parts until `most` deals, or the CPU seconds are up; at least one part. Raises InputError."""
    begun = time.process_time()
    specs = (pairing.player, pairing.against)
    players = [Player(name, agents.load(spec), i) for i, (name, spec) in enumerate(zip(names_of(specs), specs, strict=True))]
    size = part_size([player.policy for player in players], pairing.rules.sides)
    if most is None:
        most = SLOW_MOST if size == PART else MOST_DEALS
    parts: list[PartResult] = []
    done = 0
    while done < most and not (parts and time.process_time() - begun >= seconds):
        part = play_part(players, pairing.rules, seed, len(parts), min(size, most - done), size, keep=keep is not None)
        if keep and part.kept:
            keep(part.kept)
        parts.append(part)
        done += part.deals
    result = combine([player.name for player in players], pairing.rules, parts, time.process_time() - begun)
    return Measured(
        pairing.player, pairing.against, rules_text(pairing.rules), result.deals, result.plays, seed, result.margin, result.half_width,
        result.illegal[players[0].name], round(result.seconds, 1),
    )  # fmt: skip


def bidding(name: str, rules: Rules, seed: int, deals: int) -> dict[str, dict[str, float]]:
    """How an agent and `heuristic` bid against each other: by player, how often a side of it pitches, at what level, how often that is
    made, and its mean points where it pitches and where it does not."""
    found: list[Kept] = []
    measure(Pairing(f"zoo:{name}", "heuristic", rules), seed, np.inf, deals, found.append)
    public = np.concatenate([kept.deals["public"] for kept in found])
    held = np.concatenate([kept.at_side[:, : rules.sides] for kept in found])
    scored = public["scored"] == POINTS
    public, held = public[scored], held[scored]
    deal, pitcher = np.arange(len(public)), public["pitcher"] % rules.sides
    change, own = public["change"][:, : rules.sides].astype(np.float64), public["points"][deal, pitcher]
    is_pitcher = pitcher[:, None] == np.arange(rules.sides)
    figures = {}
    for k, player in enumerate((f"zoo:{name}", "heuristic")):
        pitches, defends = (held == k) & is_pitcher, (held == k) & ~is_pitcher
        of_deal = pitches.any(axis=1)
        figures[player] = {
            "pitches": float(pitches.sum() / (held == k).sum()), "level": _mean(public["bid"][of_deal]),
            "made": _mean((own >= public["bid"])[of_deal]), "pitching": _mean(change[pitches]), "defending": _mean(change[defends]),
        }  # fmt: skip
    return figures


def _mean(values: np.ndarray) -> float:
    """0 of nothing."""
    return float(values.mean()) if len(values) else 0.0

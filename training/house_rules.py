"""Random house rules: games of the table with some of their rules changed, to train and to try a player of the whole family on."""

import dataclasses
import functools
import hashlib
import random
from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np

from pitchenv import Batch, Rules, games, load_rules
from pitchenv.rules import CHOICES, RulesError

# What house rules differ in, with the values that are drawn. Whoever sits where and how many cards are dealt stay as they are but for the
# widow: most other sizes make no game.
NUMBERS: Final = {"jokers": (0, 1, 2), "widow": (0, 2, 4), "min_bid": (1, 2, 3), "joker_pips": (0, 1), "target": (7, 11, 15, 21, 31, 52)}
FLAGS: Final = ("off_jack", "keep_trump", "discards_count", "trump_three")
VALUES: Final[dict[str, Sequence[Any]]] = {**NUMBERS, **CHOICES, **dict.fromkeys(FLAGS, (False, True))}
CHANGES: Final = (1, 6)  # how many fields are drawn anew, at least and at most
DEALS: Final = 256  # that tell games apart
HOUSE: Final = "house-"  # and a number: the name of one in a run


def random_rules(random: random.Random) -> Rules:
    """A game of the table with one to six fields drawn anew, such that the rules make sense and differ from the table's."""
    table = [load_rules(name) for name in games()]
    while True:
        base = random.choice(table)
        fields = random.sample(list(VALUES), random.randint(*CHANGES))
        changes: dict[str, Any] = {name: random.choice(VALUES[name]) for name in fields}
        try:
            rules = dataclasses.replace(base, **changes)
        except RulesError:
            continue
        if rules not in table:
            return rules


def random_games(number: int, seed: int, without: Collection[Rules] = ()) -> dict[str, Rules]:
    """So many, by the names `house-1` …, no two of which are the same in a deal; the same for the same seed. `without`: nor the same in a
    deal as any of these, such as those that somebody was trained on."""
    source = random.Random(seed)
    known, found = {as_played(rules) for rules in without}, list[Rules]()
    while len(found) < number:
        rules = random_rules(source)
        if (deal := as_played(rules)) not in known:
            known.add(deal)
            found.append(rules)
    return {f"{HOUSE}{i + 1}": rules for i, rules in enumerate(found)}


@functools.lru_cache(maxsize=4096)
def as_played(rules: Rules) -> bytes:
    """A digest of what players may do and what they get when some deals are played at random: equal for rules that are the same in a deal.

    Many fields mean nothing beside others (the pips of jokers that aren't in the pack, what is kept of cards that nobody puts away, how a
    match ends), so that fields do not tell. Rules that differ only in what happens in none of these deals are taken for the same.
    """
    batch, random = Batch(rules, DEALS, restart=False), np.random.default_rng(0)
    seen = hashlib.sha256()
    while (batch.seat >= 0).any():
        seen.update(batch.seat.tobytes() + batch.mask.tobytes())
        batch.step((random.random(batch.mask.shape) * batch.mask).argmax(1))
        seen.update(batch.reward.tobytes())
    return seen.digest()

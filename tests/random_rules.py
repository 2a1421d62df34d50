"""Random combinations of all fields of `Rules`, and the rulebook's list of refusals written out a second time.

`random_rules` makes playable combinations, `spoil` changes a few fields so that about half of the results must be
refused, and `refusals` says which, without asking `pitchenv`.
"""

import random
from collections.abc import Iterator
from typing import Any

Fields = dict[str, Any]

NUMBERS: dict[str, tuple[int, int]] = {
    "players": (2, 8),
    "sides": (2, 8),
    "lowest_rank": (2, 13),
    "jokers": (0, 2),
    "hand_size": (1, 27),
    "widow": (0, 52),
    "redraw": (0, 27),
    "tricks": (1, 13),
    "min_bid": (1, 10),
    "joker_pips": (0, 10),
    "target": (1, 1000),
}
CHOICES: dict[str, tuple[str, ...]] = {
    "trump": ("declared", "pitched"),
    "auction": ("once", "rounds"),
    "dealer_steals": ("never", "below_max", "max_only", "any"),
    "thrown_in": ("same_dealer", "next_dealer"),
    "first_lead": ("any", "trump"),
    "follow": ("suit_or_trump", "suit", "suit_may_trump"),
    "high_low": ("in_play", "pack"),
    "low_to": ("holder", "winner"),
    "game": ("pips", "trump_ten"),
    "win": ("any", "highest", "pitcher", "made_bid"),
    "overshoot": ("counts", "capped"),
}
FLAGS = ("off_jack", "keep_trump", "discards_count", "trump_three")
FIELDS = (*NUMBERS, *CHOICES, *FLAGS, "dealer_must_bid")


def pack_size(fields: Fields) -> int:
    return 4 * (15 - fields["lowest_rank"]) + fields["jokers"]


def top_bid(fields: Fields) -> int:
    return 4 + int(fields["off_jack"]) + fields["jokers"] + 3 * int(fields["trump_three"])


def refusals(fields: Fields) -> list[tuple[str, ...]]:
    """The fields at fault in each refusal that applies, any one of which the refusal may name; [] if accepted."""
    out_of_range = [(name,) for name, (low, high) in NUMBERS.items() if not low <= fields[name] <= high]
    unknown = [(name,) for name, allowed in CHOICES.items() if fields[name] not in allowed]
    return out_of_range + unknown or list(_senseless(fields))


def _senseless(f: Fields) -> Iterator[tuple[str, ...]]:
    """The refusals that concern several fields; each alone is in its range."""
    stock = pack_size(f) - f["players"] * f["hand_size"]
    if f["players"] % f["sides"] != 0:
        yield ("sides",)
    if stock < f["widow"]:
        yield ("hand_size", "widow", "players")
    if f["hand_size"] < f["tricks"]:
        yield ("hand_size", "tricks")
    if any(bid < f["min_bid"] or bid > top_bid(f) for bid in f["dealer_must_bid"]):
        yield ("dealer_must_bid",)
    if f["min_bid"] > top_bid(f):
        yield ("min_bid",)
    if f["auction"] == "rounds" and f["dealer_steals"] != "never":
        yield ("dealer_steals", "auction")
    if f["trump"] == "pitched":
        if f["redraw"] > 0:
            yield ("redraw", "trump")
        if f["hand_size"] != f["tricks"]:
            yield ("hand_size", "tricks", "trump")
        if f["tricks"] <= f["jokers"]:
            yield ("tricks", "jokers", "trump")
        if f["keep_trump"] and (f["jokers"] > 0 or f["off_jack"]):
            yield ("keep_trump", "jokers", "off_jack", "trump")
    if f["hand_size"] - f["redraw"] < f["tricks"] and f["players"] * f["redraw"] > stock - f["widow"]:
        yield ("redraw",)


def random_rules(rng: random.Random) -> Fields:
    """A playable combination; every value of every field comes up."""
    f: Fields = {name: rng.choice(allowed) for name, allowed in CHOICES.items()}
    f |= {name: rng.random() < 0.5 for name in FLAGS}
    f |= {"joker_pips": rng.randint(0, 10), "target": rng.choice((1, 3, 7, 15, rng.randint(1, 1000)))}
    f["players"] = rng.randint(2, 8)
    f["sides"] = rng.choice([sides for sides in range(2, 9) if f["players"] % sides == 0])
    f["lowest_rank"] = rng.choice((2, rng.randint(2, 13)))
    f["jokers"] = rng.randint(0, 2)
    if f["trump"] == "pitched" and f["keep_trump"]:
        f |= {"jokers": 0, "off_jack": False}
    _choose_sizes(f, rng)
    if f["auction"] == "rounds":
        f["dealer_steals"] = "never"
    f["min_bid"] = rng.choice((1, 2, rng.randint(1, top_bid(f))))
    levels = range(f["min_bid"], top_bid(f) + 1)
    forced = rng.sample(levels, rng.randint(1, min(3, len(levels)))) if rng.random() < 0.5 else []
    f["dealer_must_bid"] = tuple(sorted(forced))
    assert not refusals(f), f
    return f


def _choose_sizes(f: Fields, rng: random.Random) -> None:
    """Hands, tricks, widow and redraw that the pack has cards for."""
    while f["trump"] == "pitched" and pack_size(f) // f["players"] <= f["jokers"]:
        f["jokers"] -= 1
    largest = min(27, pack_size(f) // f["players"])
    if f["trump"] == "pitched":
        largest = min(largest, 13)
        f["tricks"] = f["hand_size"] = rng.randint(f["jokers"] + 1, largest)
    else:
        f["hand_size"] = rng.randint(1, largest)
        f["tricks"] = rng.randint(1, min(13, f["hand_size"]))
    left = pack_size(f) - f["players"] * f["hand_size"]
    f["widow"] = rng.choice((0, min(left, rng.randint(0, 6)), rng.randint(0, left)))
    spare = f["hand_size"] - f["tricks"]
    covered = (left - f["widow"]) // f["players"]
    largest_redraw = 0 if f["trump"] == "pitched" else min(27, max(spare, covered))
    f["redraw"] = rng.choice((0, rng.randint(0, largest_redraw)))


def spoil(fields: Fields, rng: random.Random) -> Fields:
    """The same with up to three fields drawn anew, now and then from just outside their range."""
    spoilt = dict(fields)
    for name in rng.sample(FIELDS, rng.randint(1, 3)):
        if name in NUMBERS:
            low, high = NUMBERS[name]
            spoilt[name] = rng.randint(max(low - 1, fields[name] - 3), min(high + 1, fields[name] + 3))
        elif name in CHOICES:
            spoilt[name] = rng.choice((*CHOICES[name], "sometimes"))
        elif name in FLAGS:
            spoilt[name] = not spoilt[name]
        else:
            spoilt[name] = tuple(sorted(rng.sample(range(1, 11), rng.randint(0, 3))))
    return spoilt

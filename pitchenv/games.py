"""The games that ship, and house rules from a file."""

from pathlib import Path
from typing import Any, Final

from pitchenv.checks import check_keys, file_path, read_toml
from pitchenv.rules import Rules, RulesError

# Auction Pitch (Setback) is the default of every field of `Rules`; each game says what it has otherwise.
_OKLAHOMA: Final[dict[str, Any]] = dict(
    jokers=2, off_jack=True, trump="declared", auction="rounds", min_bid=2, dealer_must_bid=[2], dealer_steals="never",
    low_to="holder", trump_three=True, target=21, win="any",
)  # fmt: skip

GAMES: Final[dict[str, dict[str, Any]]] = {
    "oklahoma-4": dict(_OKLAHOMA, players=4, sides=2, hand_size=9, redraw=3),
    "oklahoma-6": dict(_OKLAHOMA, players=6, sides=3, hand_size=8, widow=6),
    **{f"auction-{n}": dict(players=n, sides=n) for n in range(2, 8)},
    "auction-4-partners": dict(players=4, sides=2),
    "smear": dict(
        players=4, sides=2, lowest_rank=7, widow=3, keep_trump=True, discards_count=True, min_bid=2, dealer_must_bid=[],
        dealer_steals="never", high_low="pack", low_to="holder", joker_pips=1, target=15, win="any",
    ),
    "setback": dict(
        players=4, sides=2, min_bid=2, dealer_must_bid=[], dealer_steals="max_only", thrown_in="next_dealer", target=11, win="highest",
    ),
}  # fmt: skip


def games() -> list[str]:
    """The names of the games that ship."""
    return list(GAMES)


def load_rules(game: str | Path | Rules, /, **changes: Any) -> Rules:
    """A game by name, or house rules from a TOML file, with changes.

    A file (a name ending in `.toml`) holds fields at its top level and, if it likes, `base = "smear"`: the game it changes.
    Raises RulesError for an unknown game or field, a value of the wrong type or out of range, or a senseless combination.
    """
    if isinstance(game, Rules):
        if not changes:
            return game
        fields = game.to_dict()
    elif isinstance(game, Path) or (isinstance(game, str) and game.endswith(".toml")):
        fields = read_house_rules(file_path("rules file", game, RulesError))
    else:
        check_keys([game], GAMES, RulesError, "game")
        fields = dict(GAMES[game])
    return Rules.from_dict({**fields, **changes})


def read_house_rules(path: Path) -> dict[str, Any]:
    """The fields of a TOML file of house rules, on top of its `base` game."""
    fields = read_toml("rules file", path, RulesError)
    base = fields.pop("base", "auction-4-partners")
    check_keys([base], GAMES, RulesError, "base")
    return {**GAMES[base], **fields}

"""`python -m training.readme`: the tables of README.md that are made from the code and from the zoo's cards, written where they stand."""

import sys
from pathlib import Path
from typing import Final

from agents import zoo
from pitchenv.checks import InputError
from pitchenv.observation import layout
from training.files import write_file
from training.zoo_card import by_game, overview

README: Final = Path(__file__).parents[1] / "README.md"


def tables() -> dict[str, str]:
    """Every table by its name, in Markdown. Raises ZooError where the zoo has no `family`."""
    cards = list(map(zoo.card, zoo.names()))
    return {
        "legend": layout(4).table(),
        "zoo": overview([card for card in cards if not card["networks"]["any_rules"]]),
        "family": by_game(zoo.card("family")),
    }


def with_tables(text: str) -> str:
    """A text with every table as it is now, between `<!-- NAME -->` and `<!-- /NAME -->`. Raises InputError where it has no such place."""
    for name, table in tables().items():
        opens, closes = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        if text.count(opens) != 1 or closes not in text.split(opens)[1]:
            raise InputError(f"README.md: has no one place for the table {name!r}; allowed: {opens.strip()} … {closes.strip()}, once")
        before, after = text.split(opens)
        text = before + opens + table + closes + after.split(closes, 1)[1]
    return text


if __name__ == "__main__":
    try:
        write_file(README, with_tables(README.read_text()).encode())
    except (InputError, OSError) as fault:
        sys.exit(str(fault))

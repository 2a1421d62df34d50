"""The games of the sources: every cell of the table, and the options noted in it."""

import re
from pathlib import Path
from typing import Any

import pytest

import pitchenv

# One row a game, one column a field, in the order of the rulebook's table.
COLUMNS = """players sides lowest_rank jokers off_jack hand_size widow redraw tricks trump keep_trump discards_count
auction min_bid dealer_must_bid dealer_steals thrown_in first_lead follow high_low low_to trump_three game joker_pips
target win overshoot"""
FIELDS = COLUMNS.split()

OKLAHOMA = """{players} {sides} 2 2 yes {hand_size} {widow} {redraw} 6 declared no no
rounds 2 2 never same_dealer any suit_may_trump in_play holder yes pips 0
21 any counts"""

AUCTION = """{players} {sides} 2 0 no 6 0 0 6 pitched no no
once 1 2,3,4 below_max same_dealer any suit_may_trump in_play winner no pips 0
7 pitcher counts"""

SMEAR = """4 2 7 0 no 6 3 0 6 pitched yes yes
once 2 none never same_dealer any suit_may_trump pack holder no pips 1
15 any counts"""

SETBACK = """4 2 2 0 no 6 0 0 6 pitched no no
once 2 none max_only next_dealer any suit_may_trump in_play winner no pips 0
11 highest counts"""

TABLE = {
    "oklahoma-4": OKLAHOMA.format(players=4, sides=2, hand_size=9, widow=0, redraw=3),
    "oklahoma-6": OKLAHOMA.format(players=6, sides=3, hand_size=8, widow=6, redraw=0),
    **{f"auction-{n}": AUCTION.format(players=n, sides=n) for n in range(2, 8)},
    "auction-4-partners": AUCTION.format(players=4, sides=2),
    "smear": SMEAR,
    "setback": SETBACK,
}

OPTIONS: dict[str, dict[str, list[Any]]] = {
    "oklahoma-4": {"redraw": [0]},
    "smear": {"widow": [0, 1, 2], "win": ["made_bid"], "overshoot": ["capped"]},
}
for oklahoma in ("oklahoma-4", "oklahoma-6"):
    OPTIONS.setdefault(oklahoma, {}).update(first_lead=["trump"], follow=["suit_or_trump", "suit"], trump_three=[False], game=["trump_ten"])
for auction in [name for name in TABLE if name.startswith("auction")]:
    OPTIONS[auction] = {"target": [11, 15, 21]}


def cell(field: str, text: str) -> Any:
    if field == "dealer_must_bid":
        return () if text == "none" else tuple(int(level) for level in text.split(","))
    if text in ("yes", "no"):
        return text == "yes"
    return int(text) if text.isdigit() else text


CELLS = [
    pytest.param(game, field, cell(field, text), id=f"{game}-{field}")
    for game, row in TABLE.items()
    for field, text in zip(FIELDS, row.split(), strict=True)
]


def test_the_games_that_ship():
    assert sorted(pitchenv.games()) == sorted(TABLE)


@pytest.mark.parametrize(("game", "field", "value"), CELLS)
def test_cell(game, field, value):
    found = getattr(pitchenv.load_rules(game), field)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("game", TABLE)
def test_the_table_has_every_field(game):
    assert set(pitchenv.load_rules(game).to_dict()) == set(FIELDS)


@pytest.mark.parametrize(
    ("game", "field", "value"),
    [(game, field, value) for game, options in OPTIONS.items() for field, values in options.items() for value in values],
)
def test_option(game, field, value):
    rules = pitchenv.load_rules(game, **{field: value})
    plain = pitchenv.load_rules(game)
    changed = {name for name in FIELDS if getattr(rules, name) != getattr(plain, name)}
    assert changed == {field}
    assert getattr(rules, field) == value


@pytest.mark.parametrize("game", TABLE)
def test_every_game_plays_a_match(game):
    match = pitchenv.Game(pitchenv.load_rules(game, dealer_must_bid=(2,)), seed=3)
    deals = 0
    while not match.over and deals < 50:
        while match.phase != "ended":
            match.apply(match.legal_actions()[-1])
        deals += 1
        if not match.over:
            match.next_deal()
    assert match.deals_played == deals
    assert list(match.scores) != [0] * match.rules.sides


def test_the_table_that_ships_for_people_says_the_same():
    text = (Path(pitchenv.__file__).parent / "rulebook.md").read_text()
    header, _, *rows = [line.strip("| ").split(" | ") for line in text[text.index("| field |") :].split("\n\n")[0].splitlines()]
    assert [row[0] for row in rows] == FIELDS
    for field, *cells in rows:
        told = [re.sub(r"\(.*", "", cell).replace(", ", ",").strip() for cell in cells]
        for k, name in enumerate(header[1:]):
            while told[k] == "same":
                told[k] = told[k - 1]
            for number in range(2, 8) if name.startswith("auction-N") else [None]:
                game, said = (name, told[k]) if number is None else (f"auction-{number}", told[k].replace("N", str(number)))
                assert getattr(pitchenv.load_rules(game), field) == cell(field, said), (game, field)

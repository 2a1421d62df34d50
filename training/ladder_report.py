"""A ladder's standings as JSON, CSV, Markdown, a picture, and on the terminal. The files do not tell when or how they were made."""

import contextlib
import csv
import importlib.util
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from pitchenv.records import rules_text
from training.ladder_results import Standings
from training.ladder_store import Store
from training.progress import bar_on
from training.ratings import BOOTSTRAPS, PRIOR

SECONDS_BETWEEN_LINES: Final = 30.0
DIGITS: Final = 6  # in JSON and CSV


@contextlib.contextmanager
def progress(console: Console, total: int, before: int) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, a line now and then elsewhere; what it gives is called for each part done."""
    begun = said = time.monotonic()
    console.print(f"parts to play: {total}" + (f"; there already: {before}" if before else ""), highlight=False)
    with bar_on(console) as bar:
        task, done = bar.add_task("parts", total=total), 0

        def advance() -> None:
            nonlocal done, said
            done += 1
            bar.advance(task)
            now = time.monotonic()
            if not console.is_terminal and now - said > SECONDS_BETWEEN_LINES:
                print(f"{done}/{total} parts · {now - begun:.0f} s, {(now - begun) / done * (total - done):.0f} s left", flush=True)
                said = now

        yield advance


def write_tables(store: Store, found: Standings) -> list[str]:
    """Write the results into the ladder's folder; returns the names of the files. Without matplotlib there is no picture."""
    files = {
        "table.json": (json.dumps(as_dict(store, found), indent=1) + "\n").encode(),
        "table.csv": _csv(_agent_rows(found)),
        "pairs.csv": _csv(_pair_rows(found)),
        "table.md": markdown(store, found).encode(),
    }
    if importlib.util.find_spec("matplotlib"):
        from training.heatmap import heatmap

        files["heatmap.png"] = heatmap(found.agents, found.margin, found.half_width, title(store))
    else:
        print("heatmap.png left out: matplotlib is not installed")
    for name, content in files.items():
        store.write_file(store.folder / name, content)
    return list(files)


def title(store: Store) -> str:
    """The game, and how much of it was played."""
    text = rules_text(store.settings.rules)
    game = text if isinstance(text, str) else "house rules"
    return f"{game}: {store.settings.deals} deals of seed {store.settings.seed}"


def as_dict(store: Store, found: Standings) -> dict[str, Any]:
    """What `table.json` holds: the agent with the best mean margin first; matrices row over column, points a deal."""
    settings, ratings = store.settings.to_dict(), found.ratings
    return {
        "agents": list(found.agents),
        "rules": rules_text(store.settings.rules),
        "deals": found.deals,
        "seed": store.settings.seed,
        "margin": _rounded(found.margin),
        "half_width": _rounded(found.half_width),
        "won": found.won.tolist(),
        "tied": found.tied.tolist(),
        "share_won": _rounded(found.share),
        "mean_margin": _rounded(found.mean_margin),
        "mean_half_width": _rounded(found.mean_half_width),
        "rating": {
            "model": found.model,
            "scale": "Elo",
            "anchor": found.agents[ratings.anchor],
            "prior_draws": PRIOR,
            "bootstraps": BOOTSTRAPS,
            "rating": _rounded(ratings.rating),
            "low": _rounded(ratings.low),
            "high": _rounded(ratings.high),
        },
        "nash": {"weight": _rounded(found.nash_weight), "skill": _rounded(found.nash_skill)},
        "cyclic_share": round(found.cyclic, DIGITS),
        "cyclic_share_by_chance": round(found.cyclic_by_chance, DIGITS),
        "voided": store.voided,
        "digests": {agent["agent"]: agent["digest"] for agent in settings["agents"] if agent["digest"]},
        "versions": settings["versions"],
    }


def _rounded(values: Any) -> Any:
    return (np.round(values, DIGITS) + 0.0).tolist()  # + 0.0: no -0.0


def _agent_rows(found: Standings) -> list[dict[str, Any]]:
    ratings = found.ratings
    columns = {
        "mean_margin": found.mean_margin, "mean_half_width": found.mean_half_width, "rating": ratings.rating, "rating_low": ratings.low,
        "rating_high": ratings.high, "nash_weight": found.nash_weight, "nash_skill": found.nash_skill,
    }  # fmt: skip
    rounded = {name: _rounded(values) for name, values in columns.items()}
    return [
        {"rank": i + 1, "agent": agent, **{name: values[i] for name, values in rounded.items()}} for i, agent in enumerate(found.agents)
    ]


def _pair_rows(found: Standings) -> list[dict[str, Any]]:
    margin, half_width, share = _rounded(found.margin), _rounded(found.half_width), _rounded(found.share)
    return [
        {"agent": a, "opponent": b, "deals": found.deals, "margin": margin[i][j], "half_width": half_width[i][j],
         "won": found.won[i, j], "tied": found.tied[i, j], "lost": found.won[j, i], "share_won": share[i][j]}
        for i, a in enumerate(found.agents) for j, b in enumerate(found.agents) if i != j
    ]  # fmt: skip


def _csv(rows: Sequence[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def _agent_cells(found: Standings) -> tuple[list[str], list[list[str]]]:
    """The table of agents, as text."""
    ratings = found.ratings
    heads = ["agent", "mean margin", "Elo", "95 %", "Nash weight", "Nash skill"]
    rows = []
    for i, agent in enumerate(found.agents):
        margin = f"{_signed(found.mean_margin[i])} ± {found.mean_half_width[i]:.3f}"
        bounds = "anchor" if i == ratings.anchor else f"{ratings.low[i]:.0f} … {ratings.high[i]:.0f}"
        rows.append([agent, margin, f"{ratings.rating[i] + 0.0:.0f}", bounds, f"{found.nash_weight[i]:.2f}", _signed(found.nash_skill[i])])
    return heads, rows


def _pair_cells(found: Standings, what: str) -> list[list[str]]:
    def cell(i: int, j: int) -> str:
        if i == j:
            return ""
        return f"{_signed(found.margin[i, j])} ± {found.half_width[i, j]:.3f}" if what == "margin" else f"{found.share[i, j]:.1%}"

    return [[agent, *(cell(i, j) for j in range(len(found.agents)))] for i, agent in enumerate(found.agents)]


def _signed(value: float) -> str:
    text = f"{value:+.3f}"
    return "+0.000" if text == "-0.000" else text


def _cyclic(found: Standings) -> str:
    return (
        f"Of the payoffs' squared norm {found.cyclic:.2%} is cyclic, no difference of ratings; "
        f"the luck of the deals alone would make about {found.cyclic_by_chance:.2%}."
    )


def markdown(store: Store, found: Standings) -> str:
    """What `table.md` holds."""
    heads, rows = _agent_cells(found)
    seated = min(store.settings.rules.sides, len(found.agents))
    of = "who won each deal of a pair" if found.model == "Bradley-Terry" else f"the order in each deal, at tables of {seated} agents"
    text = [
        f"## {title(store)}\n",
        "Duplicate play: every deal is played in every seating, the same deals by every pair. Points a deal, ± half the 95 % interval",
        "(Student's t). Mean margin: over all other agents.\n",
        *_table(heads, rows),
        f"\nElo: {found.model} by maximum likelihood from {of}; a tie is half a win, and {PRIOR:g} drawn result is added between any two.",
        f"Its interval is a bootstrap over the deals ({BOOTSTRAPS} resamples). Nash weight: the equilibrium mixture of agents (Nash",
        f"averaging); Nash skill: points a deal against it. {_cyclic(found)}\n",
        "Margin of the row over the column:\n",
        *_table(["points a deal", *found.agents], _pair_cells(found, "margin")),
        "\nDeals won by the row, those tied counted half:\n",
        *_table(["share won", *found.agents], _pair_cells(found, "share")),
    ]
    if store.voided:
        text += ["\nDropped out, all games void:\n", *(f"- `{spec}`: {reason}" for spec, reason in store.voided.items())]
    return "\n".join(text) + "\n"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(heads), "| --- |" + " ---: |" * (len(heads) - 1), *(line([f"`{row[0]}`", *row[1:]]) for row in rows)]


def show(console: Console, store: Store, found: Standings) -> None:
    """The standings in tables on a terminal, in lines elsewhere."""
    said = console.print if console.is_terminal else print
    said(f"{title(store)}; points a deal with 95 % intervals")
    heads, rows = _agent_cells(found)
    if console.is_terminal:
        for names, cells in ((heads, rows), (["row over column", *found.agents], _pair_cells(found, "margin"))):
            table = Table(*names)
            for row in cells:
                table.add_row(*row)
            console.print(table)
    else:
        for row in rows:
            print(f"{row[0]}: " + ", ".join(f"{head} {cell}" for head, cell in zip(heads[1:], row[1:], strict=True)))
        for i, agent in enumerate(found.agents):
            for j in range(i + 1, len(found.agents)):
                margin = f"{_signed(found.margin[i, j])} ± {found.half_width[i, j]:.3f}"
                print(f"{agent} over {found.agents[j]}: {margin} points a deal, {found.share[i, j]:.1%} of the deals won")
    said(_cyclic(found))
    for spec, reason in store.voided.items():
        said(f"agent {spec!r} dropped out, all its games void: {reason}")

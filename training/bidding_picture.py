"""What bidders bid on which hands, as a picture: charts of hands as poker players draw them, a cell filled in the shares of what is bid."""

import io
import textwrap
from typing import Any, Final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

Colour = tuple[float, float, float]
PASS_COLOUR: Final = (0.86, 0.86, 0.86)
TEXT: Final = 8  # points
ROW: Final = 0.235  # inches


def picture(report: dict[str, Any], title: str) -> bytes:
    """A PNG of what `bidding_chart.report_of` makes: how many hands there were, then a chart and the contracts of each agent."""
    hands = np.array(report["hands"])
    shown = hands >= report["fewest_shown"]
    rows, columns = np.flatnonzero(shown.any(1)), np.flatnonzero(shown.any(0))
    columns = np.arange(columns[0], columns[-1] + 1)
    window = np.ix_(rows, columns)
    colours = _colours(len(report["levels"]))
    panels = 1 + len(report["agents"])
    size = (1.2 + panels * max(2.2, 0.42 * len(columns) + 0.3), ROW * len(rows) + 3.4)
    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)  # draws without a display
    grid = figure.subplots(2, panels, squeeze=False, height_ratios=[ROW * len(rows), 1.4])
    names = [report["rows"][row] for row in rows]
    for axes in grid[0]:
        _frame(axes, names, columns)
        axes.set_xlabel("cards of the best suit", fontsize=TEXT + 1)
    grid[0, 0].set_yticklabels(names, fontsize=TEXT + 1, family="monospace")
    grid[0, 0].set_ylabel("its ace and king; points in hand" if report["by_points"] else "its high cards", fontsize=TEXT + 1)
    grid[0, 0].set_title("hands, of 10,000", fontsize=TEXT + 2)
    _hands(grid[0, 0], hands[window] / hands.sum(), shown[window])
    for axes, below, agent in zip(grid[0, 1:], grid[1, 1:], report["agents"], strict=True):
        axes.set_title("\n".join(textwrap.wrap(agent["name"], 26)), fontsize=TEXT + 2)
        _cells(axes, np.array(agent["bids"])[window], shown[window], colours)
        _contracts(below, agent, report, colours)
    most = max(max(patch.get_height() + patch.get_y() for patch in below.patches) for below in grid[1, 1:])
    for below in grid[1, 1:]:
        below.set_ylim(0, 1.25 * max(most, 1))  # one scale, and room for what is written over the bars
    grid[1, 1].set_ylabel("% of deals", fontsize=TEXT)
    _key(grid[1, 0], report["levels"], colours)
    figure.supxlabel(_note(report), fontsize=TEXT - 1, color="0.3")
    what = "how high the first seat to speak goes" if report["goes_round"] else "what the first seat to speak bids"
    figure.suptitle(f"{title}: {what}, by its hand", fontsize=TEXT + 4)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def _colours(levels: int) -> list[Colour]:
    """Grey for pass, then light to dark."""
    scale = matplotlib.colormaps["YlOrRd" if levels < 6 else "magma_r"]
    return [PASS_COLOUR, *(to_rgb(scale(x)) for x in np.linspace(0.22, 0.92, levels - 1))]


def _frame(axes: Axes, names: list[str], columns: NDArray[np.int64]) -> None:
    """An empty chart, its first row on top, a line between rows of other high cards; column k stands for `columns[k]` cards."""
    rows = len(names)
    for row in range(1, rows):
        if " " in names[row] and names[row].split()[0] != names[row - 1].split()[0]:
            axes.axhline(row - 0.5, color="0.5", linewidth=0.8, zorder=5)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [str(n) for n in columns], fontsize=TEXT)
    axes.set_yticks(range(rows), [""] * rows)
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.tick_params(which="minor", length=0)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.set_axisbelow(False)
    axes.spines[:].set_visible(False)


def _hands(axes: Axes, shares: NDArray[np.float64], shown: NDArray[np.bool_]) -> None:
    """How often hands of each class come."""
    axes.imshow(np.where(shown, np.sqrt(shares), np.nan), cmap="Greys", vmin=0, vmax=2 * np.sqrt(shares.max()), aspect="auto")
    for row, column in np.argwhere(shown):
        axes.text(column, row, f"{10_000 * shares[row, column]:.0f}", ha="center", va="center", fontsize=TEXT - 1, color="0.2")


def _cells(axes: Axes, bids: NDArray[np.int64], shown: NDArray[np.bool_], colours: list[Colour]) -> None:
    """Every cell filled from the left in the shares of what is bid; `bids` (rows, columns, levels)."""
    row, column = np.nonzero(shown)
    shares = bids[row, column] / bids[row, column].sum(1, keepdims=True)
    left = column - 0.5
    for level, colour in enumerate(colours):
        axes.barh(row, shares[:, level], left=left, height=1.0, color=colour, linewidth=0)
        left = left + shares[:, level]


def _contracts(axes: Axes, agent: dict[str, Any], report: dict[str, Any], colours: list[Colour]) -> None:
    """How often the auction ended at each bid: full the contracts made, hatched those that were set; over them how many % were made."""
    deals = report["deals"]
    for x, (contract, colour) in enumerate(zip(agent["contracts"].values(), colours[1:], strict=True)):
        made, played = 100 * contract["made"] / deals, 100 * contract["deals"] / deals
        axes.bar(x, made, width=0.8, color=colour, linewidth=0)
        axes.bar(x, played - made, bottom=made, width=0.8, facecolor="white", edgecolor=colour, hatch="//////", linewidth=0.8)
        if contract["deals"] >= report["fewest_shown"]:
            share = f"{contract['made'] / contract['deals']:.0%}".replace("%", " %" if len(colours) < 6 else "")
            axes.text(x, played, share, ha="center", va="bottom", fontsize=TEXT - 1)
    thrown_in = f", {agent['thrown_in'] / deals:.1%} thrown in" if agent["thrown_in"] else ""
    axes.set_title(f"contracts, and % made{thrown_in}", fontsize=TEXT)
    axes.set_xticks(range(len(agent["contracts"])), [level.removeprefix("bid ") for level in agent["contracts"]], fontsize=TEXT)
    axes.tick_params(length=0, labelsize=TEXT)
    axes.spines[["top", "right"]].set_visible(False)


def _key(axes: Axes, levels: list[str], colours: list[Colour]) -> None:
    """What the colours mean."""
    patches = [Patch(facecolor=colour, label=level) for level, colour in zip(levels, colours, strict=True)]
    patches.append(Patch(facecolor="white", edgecolor="0.4", hatch="//////", label="set"))
    axes.axis("off")
    axes.legend(handles=patches, loc="center", ncols=1 if len(patches) < 7 else 2, fontsize=TEXT, frameon=False)


def _note(report: dict[str, Any]) -> str:
    """What a reader has to know besides."""
    lines = ["Best suit: the one that the rule-based player would make trump."]
    if report["by_points"]:
        lines.append("Points in hand: cards of it, off-jack and jokers too, that score for whoever wins them.")
    lines.append(f"The same {report['deals']:,} deals for all, each agent in every seat. Blank: fewer than {report['fewest_shown']} hands.")
    return "\n".join(lines)

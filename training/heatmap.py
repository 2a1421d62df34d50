"""A payoff matrix as a picture."""

import io
from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import FuncNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

LONGEST = 24  # letters of a name in a line
LEAST = 0.1  # points a deal that have the darkest colour: no drama where all are level


def heatmap(agents: Sequence[str], margin: NDArray[np.float64], half_width: NDArray[np.float64], title: str) -> bytes:
    """A PNG of margins (n, n) row over column: red ahead, blue behind, white level; the numbers with their half widths in the cells.

    Colours grow with the root of the margin, so that small ones beside large ones show.
    """
    n = len(agents)
    names = [_broken(name) for name in agents]
    side = 1.15 * n
    figure = Figure(figsize=(side + 3.2, side * 0.72 + 2.2), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)  # draws without a display
    axes = figure.add_subplot()
    most = max(float(np.abs(margin).max()), LEAST)
    norm = FuncNorm((lambda x: np.sign(x) * np.sqrt(np.abs(x)), lambda y: np.sign(y) * y**2), vmin=-most, vmax=most)
    image = axes.imshow(np.where(np.eye(n), np.nan, margin), cmap="RdBu_r", norm=norm, aspect="auto")
    for i in range(n):
        for j in range(n):
            if i != j:
                dark = abs(margin[i, j]) > 0.45 * most
                text = f"{_number(margin[i, j])}\n± {half_width[i, j]:.2f}"
                axes.text(j, i, text, ha="center", va="center", fontsize=9, color="white" if dark else "black")
    axes.set_facecolor("0.92")
    axes.set_xticks(range(n), names, rotation=30, ha="left", rotation_mode="anchor", fontsize=9)
    axes.set_yticks(range(n), names, fontsize=9)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(n - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(n - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)
    ticks = [-most, -most / 4, 0, most / 4, most]
    bar = figure.colorbar(image, ax=axes, shrink=0.9, ticks=ticks)
    bar.ax.set_yticklabels([_number(tick) for tick in ticks])
    bar.set_label("points a deal, row over column", fontsize=9)
    axes.set_xlabel("± half the 95 % interval; colours grow with the root of the margin", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    figure.suptitle(title, fontsize=11)
    content = io.BytesIO()
    figure.savefig(content, format="png")
    return content.getvalue()


def _number(value: float) -> str:
    text = f"{value:+.2f}"
    return "0" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def _broken(name: str) -> str:
    """A name in lines, broken where specs have their marks."""
    lines = [""]
    for piece in name.replace("/", "/\n").replace(":", ":\n").replace(",", ",\n").split("\n"):
        if len(lines[-1]) + len(piece) > LONGEST and lines[-1]:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)

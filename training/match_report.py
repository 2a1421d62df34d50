"""What a match has come to, as JSON and in words."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from pitchenv.records import rules_text
from training.duplicate import MatchResult, WinResult
from training.result_file import versions

Say = Callable[[str], None]


def report_of(result: MatchResult, wins: WinResult | None, seed: int, until: float | None, control: Path | None) -> dict[str, Any]:
    """What `--json` writes. Only `seconds` differs when the same match is played again, with any number of workers."""
    report: dict[str, Any] = {
        "agents": list(result.names),
        "rules": rules_text(result.rules),
        "deals": result.deals,
        "plays": result.plays,
        "seed": seed,
        "margin": result.margins.tolist(),
        "half_width": result.half_widths.tolist(),
        "low": result.lows.tolist(),
        "high": result.highs.tolist(),
        "interval": result.interval,
        "variance_ratio": _known(result.variance_ratios),
        "illegal": result.illegal,
        "seconds": result.seconds,
        "versions": versions(),
    }
    if until is not None:
        report["until"] = until
        report["reached"] = bool(result.half_widths.max() <= until)
    if result.control:
        report["control"] = {
            "run": str(control),
            "plain_margin": result.control.margin,
            "plain_half_width": result.control.half_width,
            "gain": result.control.gain,
            "gain_single": result.control.gain_single,
            "decisions": result.control.decisions,
        }
    if wins:
        report["illegal"] = {name: n + wins.illegal[name] for name, n in result.illegal.items()}
        report["matches"] = {
            "matches": wins.matches,
            "win_rate": wins.win_rate.tolist(),
            "half_width": wins.half_widths.tolist(),
            "undecided": wins.undecided,
            "deals_a_match": wins.deals_a_match,
            "seconds": wins.seconds,
        }
    return report


def _known(ratios: NDArray[np.float64]) -> list[list[float | None]]:
    """JSON has no nan."""
    return [[None if math.isnan(ratio) else ratio for ratio in row] for row in ratios.tolist()]


def show(console: Console, report: dict[str, Any]) -> None:
    """The result in words; a table where there are more than two agents and a terminal."""
    names, plays = report["agents"], report["plays"]
    game = report["rules"] if isinstance(report["rules"], str) else "house rules"
    kind = {"t": "Student's t", "bootstrap": "bootstrap"}[report["interval"]]
    say: Say = console.print if console.is_terminal else print
    say(f"{game}: {report['deals']} deals of seed {report['seed']}, each in {plays} seatings; 95 % intervals ({kind})")
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    if len(names) > 2 and console.is_terminal:
        table = Table("points a deal over", *names)
        for i, name in enumerate(names):
            table.add_row(name, *("" if i == j else _figure(report, i, j) for j in range(len(names))))
        console.print(table)
    else:
        for i, j in pairs:
            say(f"{names[i]} over {names[j]}: {_figure(report, i, j)} points a deal")
    if "until" in report and not report["reached"]:
        say(f"the most deals were played and an interval is still wider than ± {report['until']:g}")
    _show_gains(say, report)
    if "matches" in report:
        won = report["matches"]
        say(f"{won['matches']} matches, {won['deals_a_match']:.1f} deals each; {won['undecided']} plays undecided")
        for name, rate, width in zip(names, won["win_rate"], won["half_width"], strict=True):
            say(f"{name} wins {_rate(rate, width)}")
    say("illegal proposals: " + ", ".join(f"{name} {n}" for name, n in report["illegal"].items()))
    say(f"{report['seconds']:.1f} s, {report['deals'] * plays / report['seconds']:.0f} deals played a second")


def _figure(report: dict[str, Any], i: int, j: int) -> str:
    margin = f"{report['margin'][i][j]:+.3f}"
    if report["interval"] == "t":
        return f"{margin} ± {report['half_width'][i][j]:.3f}"
    return f"{margin} ({report['low'][i][j]:+.3f} … {report['high'][i][j]:+.3f})"


def _rate(rate: float, width: float) -> str:
    """A share with its interval, of which only what is possible is shown."""
    low, high = max(0.0, rate - width), min(1.0, rate + width)
    within = (low, high) == (rate - width, rate + width)
    return f"{rate:.1%} ± {width:.1%}" if within else f"{rate:.1%} ({low:.1%} … {high:.1%})"


def _show_gains(say: Say, report: dict[str, Any]) -> None:
    """What duplicate play and control variates have spared, for the first pair."""
    ratio = report["variance_ratio"][0][1]
    if ratio is not None:
        of_whom = "" if len(report["agents"]) == 2 else ", of the first two agents"
        say(f"duplicate play: as sure as {ratio:.2f} times as many plays of independent deals{of_whom}")
    if "control" in report:
        control = report["control"]
        plain = f"{control['plain_margin']:+.3f} ± {control['plain_half_width']:.3f}"
        gain = "" if control["gain"] is None else f"; as sure as {control['gain']:.2f} times as many deals"
        say(f"control variates at {control['decisions']} decisions; without them {plain}{gain}")

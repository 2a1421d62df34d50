"""`python -m training zoo --check`: whether what ships is what its cards say, by playing it again on other deals."""

import math
from dataclasses import dataclass
from typing import Any, Final

from scipy import stats

from agents import zoo
from pitchenv import Rules, load_rules
from pitchenv.checks import InputError
from training.intervals import student_t
from training.zoo_card import game_of, markdown
from training.zoo_measure import FAST, Measured, Pairing, measure, searcher

LEVEL: Final = 0.99  # of all comparisons together: where every card is right, a check fails once in a hundred times
FAST_DEALS: Final = 12_000


@dataclass(frozen=True)
class Comparison:
    """A figure of a card, the same on fresh deals, and how far apart they may be."""

    card: Measured
    now: Measured
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether the difference of the two is within what is allowed."""
        return bool(abs(self.card.margin - self.now.margin) <= self.allowed)

    def line(self) -> str:
        """In words."""
        said = "agrees" if self.agrees else "DIFFERS"
        figures = f"card {self.card.margin:+.3f} ± {self.card.half_width:.3f}, now {self.now.margin:+.3f} ± {self.now.half_width:.3f}"
        apart = f"{abs(self.card.margin - self.now.margin):.3f} apart, allowed {self.allowed:.3f}"
        where = game_of(self.card.rules).strip("`")
        return f"{self.card.player} over {self.card.against}, {where}: {figures} ({self.now.deals} deals); {apart}: {said}"


def rules_from(text: str | dict[str, Any]) -> Rules:
    """The rules of a figure: the inverse of `pitchenv.records.rules_text`."""
    return load_rules(text) if isinstance(text, str) else Rules.from_dict(text)


def main_figures(card: dict[str, Any]) -> list[Measured]:
    """The figures of a card that are measured again: over `heuristic`, and over the player that searches."""
    figures = [Measured(**match) for match in card["matches"]]
    own = [figure for figure in figures if figure.player == f"zoo:{card['name']}"]
    return [figure for figure in own if figure.against in ("heuristic", searcher(rules_from(figure.rules)))]


def allowed_difference(a: Measured, b: Measured, comparisons: int) -> float:
    """How far two measurements of the same may be apart: the half width of the interval of the difference of two independent means.

    Its level is such that all of `comparisons` hold with the chance LEVEL at least (Bonferroni). Student's t with the degrees of freedom
    of the smaller sample, which is on the safe side.
    """
    error = math.hypot(*(one.half_width / student_t(one.deals - 1) for one in (a, b)))
    tail = (1 - LEVEL) / comparisons / 2
    return float(stats.t.isf(tail, min(a.deals, b.deals) - 1)) * error


def check(seed: int, seconds: float) -> list[Comparison]:
    """Measure the main figures of all agents again, in about so many CPU seconds, and print how each compares. Raises InputError.

    Refused are an empty zoo, files that disagree, and a seed that a card was measured with.
    """
    figures = []
    for name in zoo.names():
        card = zoo.card(name)
        zoo.load(name)
        path = zoo.find(name) / f"{name}.md"
        if not path.is_file() or path.read_text() != markdown(card):
            raise InputError(f"zoo file {str(path)!r}: not the card of {name}.json; allowed: what `zoo {name} --stage card` makes of it")
        figures += main_figures(card)
    if not figures:
        raise InputError("zoo: holds nothing to check; allowed: agents that are measured (zoo NAME)")
    if any(figure.seed == seed for figure in figures):
        raise InputError(f"seed = {seed}: a card was measured with it; allowed: another, for fresh deals")
    figures.sort(key=lambda figure: figure.against not in FAST)  # what the fast ones leave of their time is for those that search
    left, compared = seconds, []
    for k, figure in enumerate(figures):
        most = FAST_DEALS if figure.against in FAST else figure.deals
        pairing = Pairing(figure.player, figure.against, rules_from(figure.rules))
        now = measure(pairing, seed, left / (len(figures) - k), most)
        left -= now.cpu_seconds
        compared.append(Comparison(figure, now, allowed_difference(figure, now, len(figures))))
        print(compared[-1].line(), flush=True)
    agreeing = sum(one.agrees for one in compared)
    print(f"{agreeing} of {len(compared)} figures agree with their cards (all together: {LEVEL:.0%}); {seconds - left:.0f} CPU seconds")
    return compared

"""A person for the tests of `play`: scripted standard input, and what their seat may know."""

import io
import random
import re
import sys

import numpy as np

import pitchenv
from pitchenv.cards import CARD_NAMES, cards_in

AGENTS = "tests.training.play_agents"
CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|HJ|LJ)\b")
RESULT_LABEL = re.compile(r"^(Jack|Off-jack|Three|Game) \S\S ", re.MULTILINE)  # a card by its worth, in play or not


class Person:
    """Standard input: answers each prompt by what the screen says, or from a script first. `said`: the screen's text up to each prompt."""

    def __init__(self, monkeypatch, *script, seed=0, then=None):
        self.script, self.random, self.then = list(script), random.Random(seed), then
        self.out, self.said, self.typed, self.read = io.StringIO(), [], [], 0
        monkeypatch.setattr(sys, "stdin", self)
        monkeypatch.setattr(sys, "stdout", self.out)

    def isatty(self):
        return False

    def readline(self):
        self.said.append(self.rest())
        typed = self.script.pop(0) if self.script else self.then if self.then is not None else self.answer()
        self.typed.append(typed)
        return typed and typed + "\n"

    def rest(self):
        text = self.out.getvalue()[self.read :]
        self.read += len(text)
        return text

    def answer(self):
        table = self.text[self.text.rindex("\nHand ") :]
        lines = {line[:10].strip(): line[10:] for line in table.splitlines()}
        numbered = re.findall(r"\b(\d+):(\S+?)(?:,|\s|$)", lines["Hand"] + " " + lines.get("You may", ""))
        choices = [self.random.choice([number, text, text.lower()]) for number, text in numbered]
        if "done" in lines.get("You may", ""):
            choices += ["done", "0"]
        choices += re.findall(r"pass|bid \d+", lines.get("You may", ""))
        return self.random.choice(choices)

    @property
    def text(self):
        return self.out.getvalue()


def known(view):
    """All cards that a seat has seen in a deal, as names."""
    cards = int(view["hand"] | view["first_hand"] | view["drawn"] | view["put_away"] | np.bitwise_or.reduce(view["public"]["played"]))
    return {CARD_NAMES[card] for card in cards_in(cards)}


def moments(records, seat):
    """What the seat knew at each choice it had, and at the end of each deal: (whether it was a choice, cards)."""
    for record in records:
        game = None
        for deal in record["deals"]:
            if game is None:
                rules = pitchenv.load_rules(record["rules"]) if isinstance(record["rules"], str) else pitchenv.Rules(**record["rules"])
                game = pitchenv.Game.from_deal(rules, deal["hands"], deal["stock"], deal["dealer"], record["start_scores"])
            else:
                game.next_deal(deal["hands"], deal["stock"])
            for action in deal["actions"]:
                if game.seat == seat and len(game.legal_actions()) > 1:
                    yield True, known(game.view(seat))
                game.apply(action)
            yield False, known(game.view(seat))

"""Agents for the tests of ladders: small parts, so that there are many, and faults at a known part."""

import os
import time

import numpy as np


class Slow:
    """The last legal action, with time to think: parts of 64 deals."""

    reads = "observation"
    slow = True
    seconds = 0.0

    def reset(self, rules, size, seed):
        self.random = np.random.default_rng(seed)
        self.lot = seed % 7

    def act(self, inputs, mask, seat):
        time.sleep(self.seconds)
        return 69 - mask[:, ::-1].argmax(axis=1)


class Sleepy(Slow):
    """Takes its time."""

    seconds = 0.004


class Dice(Slow):
    """Draws its actions."""

    def act(self, inputs, mask, seat):
        return np.where(mask, self.random.random(mask.shape), -1).argmax(axis=1)


class Illegal(Slow):
    """In one part of seven an action that nobody has."""

    def act(self, inputs, mask, seat):
        return np.full(len(mask), 70) if self.lot == 5 else super().act(inputs, mask, seat)


class Crashes(Slow):
    """In one part of seven."""

    def act(self, inputs, mask, seat):
        if self.lot == 0:
            raise RuntimeError("no idea\nwhat to play")
        return super().act(inputs, mask, seat)


class Refuses(Slow):
    """Every game."""

    def reset(self, rules, size, seed):
        raise ValueError("players = 4: not for me")


class Kills(Slow):
    """Its process, in one part of seven."""

    def act(self, inputs, mask, seat):
        if self.lot == 0:
            os._exit(7)
        return super().act(inputs, mask, seat)


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Speechless(Slow):
    """Fails, and can't say why."""

    def act(self, inputs, mask, seat):
        raise Unspeakable

"""Agents for the tests of `play`: of a known mind, and with known faults."""

import numpy as np

SEEN: list[np.dtype] = []  # what `Watchful` was given


class Certain:
    """The last legal action, three times in four by its own account, and the first one else."""

    reads = "view"

    def reset(self, rules, size, seed):
        pass

    def act(self, inputs, mask, seat):
        return 69 - mask[:, ::-1].argmax(axis=1)

    def probabilities(self, inputs, mask, seat):
        chances = np.zeros(mask.shape, np.float32)
        for row, legal in enumerate(mask):
            first, *_, last = np.flatnonzero(legal)
            chances[row, [first, last]] = 0.25, 0.75
        return chances


class Watchful(Certain):
    """Keeps what it is given."""

    def act(self, inputs, mask, seat):
        SEEN.append(inputs.dtype)
        return super().act(inputs, mask, seat)


class Dice(Certain):
    """Draws its actions from its own random numbers."""

    def reset(self, rules, size, seed):
        self.random = np.random.default_rng(seed)

    def act(self, inputs, mask, seat):
        return np.where(mask, self.random.random(mask.shape), -1).argmax(axis=1)


class Refuses(Certain):
    """Every game."""

    def reset(self, rules, size, seed):
        raise ValueError("players = 4: not for me")


class Illegal(Certain):
    """An action that nobody has."""

    def act(self, inputs, mask, seat):
        return np.full(len(mask), 70)


class Falls(Certain):
    """Over, in the tricks."""

    def act(self, inputs, mask, seat):
        if (inputs["public"]["tricks_done"] > 1).any():
            raise RuntimeError("no idea")
        return super().act(inputs, mask, seat)

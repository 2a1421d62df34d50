"""How sure a difference between actions is that are tried in the same worlds."""

import numpy as np
import pytest

from agents.search.paired import paired

VALUES = np.array([[5.0, 6.0], [3.0, 5.0], [0.0, 1.0], [2.0, 6.0]])  # ahead by 1, 2, 1, 4


@pytest.mark.parametrize(
    ("weights", "mean", "error"),
    [
        ([0.25] * 4, 2.0, np.std([1, 2, 1, 4], ddof=1) / 2),  # of a mean of four
        ([0.7, 0.1, 0.1, 0.1], 1.4, (0.1512 / 0.48) ** 0.5),  # Σ w² (x − 1.4)² over 1 − Σ w²
        ([0.5, 0.0, 0.5, 0.0], 1.0, 0.0),
        ([0.0, 1.0, 0.0, 0.0], 2.0, np.inf),  # one world has all of it
    ],
)
def test_means_and_errors(weights: list[float], mean: float, error: float) -> None:
    ahead, errors = paired(VALUES, np.array(weights), own=0)
    assert ahead.tolist() == pytest.approx([0.0, mean])
    assert errors[1] == pytest.approx(error)


def test_errors_are_those_of_repeated_draws() -> None:
    rng = np.random.default_rng(1)
    draws = [paired(np.column_stack([np.zeros(8), rng.normal(1, 3, 8)]), np.full(8, 1 / 8), own=0) for _ in range(4000)]
    assert np.std([ahead[1] for ahead, _ in draws]) == pytest.approx(np.sqrt(np.mean([errors[1] ** 2 for _, errors in draws])), rel=0.05)

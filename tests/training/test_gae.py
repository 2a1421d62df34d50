"""Advantages against numbers worked out by hand."""

import numpy as np
import pytest

from training.gae import advantages


def test_one_seat_three_decisions() -> None:
    value = np.array([1.0, 2.0, 4.0], np.float32)
    deal = np.zeros(3, np.int64)
    returns = np.array([[10.0]], np.float32)
    # δ = 2 − 1, 4 − 2, 10 − 4 = 1, 2, 6; A_2 = 6, A_1 = 2 + ½·6 = 5, A_0 = 1 + ½·5 = 3.5
    got = advantages(value, deal, deal, np.arange(3), returns, 0.5)
    assert got == pytest.approx([3.5, 5.0, 6.0])


def test_with_lambda_one_it_is_return_less_value() -> None:
    rng = np.random.default_rng(0)
    wave = np.sort(rng.integers(0, 9, 40))
    deal = np.concatenate([np.arange(n) for n in np.bincount(wave)])
    seat = rng.integers(0, 4, 40)
    value = rng.normal(size=40).astype(np.float32)
    returns = rng.normal(size=(deal.max() + 1, 4)).astype(np.float32)
    assert advantages(value, deal, seat, wave, returns, 1.0) == pytest.approx(returns[deal, seat] - value, abs=1e-5)


def test_chains_are_by_deal_and_seat() -> None:
    # Two deals and two seats interleaved; λ = 0 leaves δ alone.
    deal = np.array([0, 1, 0, 1, 0])
    seat = np.array([0, 0, 1, 0, 0])
    wave = np.array([0, 0, 1, 1, 2])
    value = np.array([1, 2, 3, 4, 5], np.float32)
    returns = np.array([[10, 20], [30, 40]], np.float32)
    assert advantages(value, deal, seat, wave, returns, 0.0) == pytest.approx([5 - 1, 4 - 2, 20 - 3, 30 - 4, 10 - 5])

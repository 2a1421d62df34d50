"""Means with their 95 % intervals."""

import math
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Method = Literal["t", "bootstrap"]
CONFIDENCE: Final = 0.95
RESAMPLES: Final = 9999
BOOTSTRAP_SEED: Final = 1
_AT_ONCE: Final = 2_000_000  # values resampled at a time


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The mean of independent values (n,), n ≥ 2, and the half width of its 95 % interval: Student's t times s / √n."""
    n = len(values)
    if n < 2:
        raise ValueError(f"{n} values: an interval needs at least 2")
    return float(values.mean()), student_t(n - 1) * float(values.std(ddof=1)) / math.sqrt(n)


def variance(n: int, total: float, squares: float) -> float:
    """The unbiased variance of n ≥ 2 values from their sum and the sum of their squares (for points of deals, which are not far from 0)."""
    return max(0.0, squares - total**2 / n) / (n - 1)


def student_t(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t: 1.96 for many degrees of freedom."""
    return float(stats.t.ppf(0.5 + CONFIDENCE / 2, freedom))


def bounds(values: NDArray[np.float64], method: Method = "t") -> tuple[float, float]:
    """The ends of the 95 % interval of the mean of independent values (n,), n ≥ 2.

    "t": Student's. "bootstrap": the percentiles of the means of RESAMPLES resamples of a fixed seed (Efron and Tibshirani, "An introduction
    to the bootstrap", 1993, chapter 13). Its time grows with n.
    """
    mean, width = interval(values)
    if method == "t" or np.ptp(values) == 0:  # where all values are the same, so are those of every resample
        return mean - width, mean + width
    batch = max(1, _AT_ONCE // len(values))
    random = np.random.default_rng(BOOTSTRAP_SEED)
    found = stats.bootstrap(
        (values,), np.mean, n_resamples=RESAMPLES, batch=batch, confidence_level=CONFIDENCE, method="percentile", rng=random
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)

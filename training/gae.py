"""Advantages for whole deals that pay once, at their end."""

import numpy as np
from numpy.typing import NDArray


def advantages(
    value: NDArray[np.float32],
    deal: NDArray[np.int64],
    seat: NDArray[np.int64],
    wave: NDArray[np.int64],
    returns: NDArray[np.float32],
    lambda_: float,
) -> NDArray[np.float32]:
    """Generalised advantage estimates (n,), without discount.

    Row t of a seat's decisions in a deal has δ_t = V(s_{t+1}) − V(s_t), where after its last decision the return stands in the
    place of V(s_{t+1}), and A_t = δ_t + λ A_{t+1} (Schulman et al., "High-dimensional continuous control using generalized
    advantage estimation", 2016, eq. 16, γ = 1). `value`, `deal`, `seat`, `wave`: (n,), waves ascending, and within a wave no
    deal twice. `returns`: (deals, slots)."""
    assert value.shape == deal.shape == seat.shape == wave.shape
    assert value.ndim == 1
    assert returns.ndim == 2
    advantage = np.empty_like(value)
    value_tp1 = returns.astype(np.float32)  # by deal and seat: the value of the seat's next decision
    advantage_tp1 = np.zeros_like(value_tp1)
    ends = np.flatnonzero(np.diff(wave, append=wave[-1:] + 1)) + 1
    for start, end in reversed(list(zip([0, *ends[:-1]], ends, strict=True))):
        at = deal[start:end], seat[start:end]
        v_t = value[start:end]
        advantage[start:end] = value_tp1[at] - v_t + lambda_ * advantage_tp1[at]
        value_tp1[at] = v_t
        advantage_tp1[at] = advantage[start:end]
    return advantage

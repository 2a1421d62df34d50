"""Bit twiddling on card masks, one machine instruction each, and the match's own random numbers."""

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from pitchenv.engine.kernel import kernel


@intrinsic
def _ctpop(typing: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@intrinsic
def _cttz(typing: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], cgutils.false_bit)

    return types.int64(types.int64), codegen


@intrinsic
def _ctlz(typing: Any, mask: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctlz(args[0], cgutils.false_bit)

    return types.int64(types.int64), codegen


@kernel
def count(mask: int) -> int:
    """How many bits are set."""
    return _ctpop(mask)


@kernel
def lowest(mask: int) -> int:
    """The number of the lowest set bit; 64 for an empty mask."""
    return _cttz(mask)


@kernel
def highest(mask: int) -> int:
    """The number of the highest set bit; −1 for an empty mask."""
    return 63 - _ctlz(mask)


@kernel
def nth(mask: int, n: int) -> int:
    """The number of the set bit with `n` set bits below it."""
    for _ in range(n):
        mask &= mask - 1
    return _cttz(mask)


# SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): a counter times an odd
# constant, then a mixing function. State is one 64-bit number, so that it lives inside a match record.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@kernel
def mix(x: np.uint64) -> np.uint64:
    """SplitMix64's mixing function: a bijection on 64-bit numbers under which neighbours look unrelated."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def stream(seed: np.uint64, index: int) -> np.uint64:
    """The start of random stream `index` (any integer) of a seed."""
    return mix(seed + mix(np.uint64(index + 1) * GOLDEN))


@kernel
def below(x: np.uint64, n: int) -> int:
    """A whole number from 0 to n − 1 out of 64 random bits (bias under n / 2³²)."""
    return np.int64(((x >> _S32) * np.uint64(n)) >> _S32)

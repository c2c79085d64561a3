"""Sums of floating-point numbers that add up exactly, part by part.

A sum is kept as an integer, in units of the smallest positive number; rounded once at the end, it
is that of ``math.fsum`` over all parts in any order.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNIT = 1074  # 2^-1074 is the smallest positive number
_LOW = 26  # bits of a mantissa summed apart, so that no sum overflows


def exact_sum(x: NDArray[np.float64]) -> int:
    """The sum of finite numbers in units of 2^-1074."""
    fraction, exponent = np.frexp(x)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    total = 0
    for e in np.unique(exponent):
        of_e = mantissa[exponent == e]
        high, low = int((of_e >> _LOW).sum()), int((of_e & ((1 << _LOW) - 1)).sum())
        total += _shifted((high << _LOW) + low, int(e) - 53 + _UNIT)
    return total


def _shifted(number: int, places: int) -> int:
    return number << places if places >= 0 else number >> -places  # bits lost there are zeros


def rounded(total: Any) -> float:
    """The number nearest to an exact sum."""
    return float(Fraction(int(total), 1 << _UNIT))

"""Sums of floating-point numbers that do not depend on the order of rows, threads or processor.

BLAS adds in an order that depends on the number of rows, the threads and the processor, and NumPy's
sums depend on the order of the rows: both may change the last bit, and then a split.
"""

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def exact_sums(matrix: Array) -> Array:
    """Sums of the columns, exactly rounded: the order of the rows does not matter."""
    return np.array([math.fsum(column.tolist()) for column in matrix.T])


def ordered_product(a: Array, b: Array) -> Array:
    """The product of a (n, m) and b (m, K) for a small m: terms are added one after the other."""
    total: Array = a[:, :1] * b[0]
    for t in range(1, len(b)):
        total += a[:, t : t + 1] * b[t]
    return total


def ordered_sum(weights: Array, rows: Array) -> Array:
    """sum_i w_i x_i of rows (m, K), added one after the other, as given."""
    return np.asarray(np.cumsum(weights[:, np.newaxis] * rows, axis=0)[-1])

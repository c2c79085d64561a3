"""The metric of linear starts: the inverse of the second moments of the columns.

If columns are correlated, steps along the gradient are slow; in this metric they are not.
"""

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows

Array = NDArray[np.float64]

RIDGE = 0.03  # added to the moments: directions that hardly vary are learned last
MOST_COLUMNS = 256  # with more, products with the metric would take longer than they save
AT_ONCE = 16  # columns, to save memory


def metric_of(values: NDArray[np.int16], unit: float, farthest: float, rows: Rows) -> Array | None:
    """(n_columns, n_columns), from columns (n_columns, n) in 1 / unit; None for many columns.

    The entries are at most `farthest`. Sums over rows are exact.
    """
    n_columns, n = values.shape
    if n_columns > MOST_COLUMNS:
        return None
    weights = np.ones(n) if rows.weights is None else rows.weights / rows.weights.max()
    moments = np.empty((n_columns, n_columns))
    for j in range(0, n_columns, AT_ONCE):
        some = np.ascontiguousarray(values[j : j + AT_ONCE].T) / (unit * farthest)
        sums = np.empty((n_columns, some.shape[1]))
        _core.linear_gradient(values, some * weights[:, np.newaxis], sums, 1)
        moments[:, j : j + AT_ONCE] = sums * (farthest / float(np.cumsum(weights)[-1]))
    return inverse(moments + RIDGE * np.eye(n_columns))


def inverse(matrix: Array) -> Array:
    """The inverse of a positive definite matrix, by elimination: the same bits everywhere."""
    result = matrix.copy()
    for j in range(len(result)):
        pivot = 1.0 / result[j, j]
        row, column = result[j] * pivot, result[:, j].copy()
        result -= column[:, np.newaxis] * row
        result[j] = row
        result[:, j] = -column * pivot
        result[j, j] = pivot
    return result

"""The error and log loss to expect on new rows, from out-of-fold scores.

The mean of many members is better than the few that held a row out. If the errors of members are
independent around their common mean, the loss of the mean of m members is L + c / m. Rows that two
or more members held out determine c, the gain of their mean over each alone. The loss of m members
is then extrapolated to that of the ensemble.

An interval contains the mean over new rows with probability 0.95. It accounts for the sampling
error of the rows of the fit, of the gain, and of the new rows. Losses have long tails, and rows of
a kind that the fit has not met lose most, so the variance counts one more row, whose label has the
probability 1 / n (the rule of succession).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._ground import params as p

Array = NDArray[np.float64]
Z = 1.959963984540054  # 0.975 quantile of the normal distribution


class Expected(NamedTuple):
    """A mean over new rows."""

    value: float
    low: float
    high: float


def rule(most: float) -> p.Rule:
    """The rule of model files: an expectation, or None if no row could be held out."""

    def test(value: Any) -> bool:
        if value is None:
            return True
        numbers = isinstance(value, tuple) and len(value) == 3
        if not numbers or not all(isinstance(v, float) for v in value):
            return False
        return bool(0.0 <= value[1] <= value[0] <= value[2] <= most)

    return test, f"three ascending numbers of at most {most:g}, or None"


class PerRow(NamedTuple):
    """A loss of out-of-fold predictions, row by row."""

    together: Array  # (n): of the mean of all members that have not seen the row
    alone: Array  # (n): mean over the losses of each of them
    n_members: Array  # (n): how many they are
    weights: Array  # (n)
    surprise: float  # the loss of a row of a kind not met yet


def expected(losses: PerRow, n_members: float, n_new: int, *, most: float) -> Expected:
    """The mean loss of an ensemble of `n_members`, and its interval for `n_new` rows."""
    seen = losses.n_members > 0
    w = losses.weights[seen] / losses.weights[seen].sum()
    together, m = losses.together[seen], losses.n_members[seen]
    mean = float((w * together).sum())
    shortfall = float((w * (1.0 / m - 1.0 / n_members)).sum())
    slope, slope_error = _slope(losses)
    value = max(mean - slope * shortfall, 0.0)
    n_rows = 1.0 / float((w**2).sum())  # of equal weight that would tell as much (Kish 1965)
    variance = float((w * (together - mean) ** 2).sum()) + (losses.surprise - mean) ** 2 / n_rows
    error = math.sqrt(variance / n_rows + variance / max(n_new, 1) + (shortfall * slope_error) ** 2)
    return Expected(value, max(value - Z * error, 0.0), min(value + Z * error, most))


def _slope(losses: PerRow) -> tuple[float, float]:
    """c and its standard error, from rows with two members or more; c is not negative."""
    several = losses.n_members > 1
    if not several.any():
        return 0.0, 0.0
    w = losses.weights[several] / losses.weights[several].sum()
    gain = (losses.alone - losses.together)[several] / (1.0 - 1.0 / losses.n_members[several])
    c = float((w * gain).sum())
    error = math.sqrt(float((w**2 * (gain - c) ** 2).sum()))
    return max(c, 0.0), error

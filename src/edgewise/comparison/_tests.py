"""How sure an error is, and whether two methods differ.

Folds of a cross-validation share training rows, so their errors are not independent. Nadeau and
Bengio ("Inference for the generalization error", Machine Learning 52, 2003) correct the variance
of the mean of J of them from s^2 / J to (1 / J + n_test / n_train) s^2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Interval = tuple[float, float]


@dataclass(frozen=True)
class PairedTest:
    """Whether the best two differ, measured on the same folds or rows."""

    first: str
    second: str
    name: str
    difference: float  # error of the second minus that of the first
    p_value: float
    interval: Interval | None = None  # of the difference


def resampled_interval(
    values: Sequence[float], test_share: float, *, level: float = 0.95
) -> Interval:
    """Interval of the mean of figures from folds; `test_share` is n_test / n_train."""
    mean, half = float(np.mean(values)), _half_width(values, test_share, level)
    return mean - half, mean + half


def corrected_t_test(differences: Sequence[float], test_share: float) -> float:
    """P-value of the mean difference of folds being zero, by Nadeau and Bengio's t."""
    mean, error = float(np.mean(differences)), _standard_error(differences, test_share)
    if error == 0:  # the same difference in every fold
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


def mcnemar(first_right: NDArray[np.bool_], second_right: NDArray[np.bool_]) -> float:
    """Exact P-value: of the rows on which one alone is right, each is as likely to be."""
    only_first = int(np.count_nonzero(first_right & ~second_right))
    only_second = int(np.count_nonzero(second_right & ~first_right))
    if only_first + only_second == 0:
        return 1.0
    return float(stats.binomtest(only_first, only_first + only_second).pvalue)


def _standard_error(values: Sequence[float], test_share: float) -> float:
    return float(np.sqrt((1 / len(values) + test_share) * np.var(values, ddof=1)))


def _half_width(values: Sequence[float], test_share: float, level: float) -> float:
    quantile = stats.t.ppf(0.5 + level / 2, len(values) - 1)
    return float(quantile * _standard_error(values, test_share))

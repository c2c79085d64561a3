"""Intervals of errors, and tests of the difference of two methods.

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
    """A test of whether the best two methods differ, on the same folds or rows.

    Attributes
    ----------
    first : str
        The better method.
    second : str
        The other method.
    name : str
        Name of the test, such as "corrected resampled t-test".
    difference : float
        Error of the second minus that of the first.
    p_value : float
        P-value of no difference.
    interval : Interval | None
        Confidence interval of the difference.
    """

    first: str
    second: str
    name: str
    difference: float
    p_value: float
    interval: Interval | None = None


def resampled_interval(
    values: Sequence[float], test_share: float, *, level: float = 0.95
) -> Interval:
    """Compute the confidence interval of the mean of figures from folds.

    Parameters
    ----------
    values : sequence of float
        Figures, one per fold and repeat.
    test_share : float
        Number of test rows divided by the number of training rows.
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    Interval
        Lower and upper end.

    References
    ----------
    C. Nadeau, Y. Bengio: "Inference for the generalization error", Machine Learning 52 (2003),
    239-281.

    Examples
    --------
    >>> from edgewise.comparison import resampled_interval
    >>> low, high = resampled_interval([0.1, 0.12, 0.11], 0.5)
    >>> low < 0.11 < high
    True
    """
    mean, half = float(np.mean(values)), _half_width(values, test_share, level)
    return mean - half, mean + half


def corrected_t_test(differences: Sequence[float], test_share: float) -> float:
    """Test with Nadeau and Bengio's t whether the mean difference of folds is zero.

    Parameters
    ----------
    differences : sequence of float
        Differences between two methods, one per fold and repeat.
    test_share : float
        Number of test rows divided by the number of training rows.

    Returns
    -------
    float
        P-value.

    References
    ----------
    C. Nadeau, Y. Bengio: "Inference for the generalization error", Machine Learning 52 (2003),
    239-281.

    Examples
    --------
    >>> from edgewise.comparison import corrected_t_test
    >>> corrected_t_test([0.02, 0.03, 0.025], 0.5) < 0.05
    True
    """
    mean, error = float(np.mean(differences)), _standard_error(differences, test_share)
    if error == 0:  # the same difference in every fold
        return 1.0 if mean == 0 else 0.0
    return float(2 * stats.t.sf(abs(mean) / error, len(differences) - 1))


def mcnemar(first_right: NDArray[np.bool_], second_right: NDArray[np.bool_]) -> float:
    """Compute the exact P-value of McNemar's test.

    Among the rows on which only one method is right, both methods are equally likely to be that
    one.

    Parameters
    ----------
    first_right : ndarray of bool
        Rows on which the first method is right.
    second_right : ndarray of bool
        Rows on which the second method is right.

    Returns
    -------
    float
        P-value.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.comparison import mcnemar
    >>> mcnemar(np.array([True] * 5), np.array([False] * 5))
    0.0625
    """
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

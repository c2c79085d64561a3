"""Losses of probabilities, for labels that exclude each other and for indicator matrices."""

import numpy as np
from numpy.typing import ArrayLike

from ._forecasts import of_probabilities


def brier_score(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean squared distance between the probabilities and the truth as zeros and ones.

    Of three classes or more the squares are summed over the classes, so it lies between 0 and 2; of
    two classes it is that of one of them, between 0 and 1, as in scikit-learn. With an indicator
    matrix as y it is the mean over the labels of the score of each.

    Parameters
    ----------
    y : (n,) labels, or an indicator matrix (n, K).
    proba : (n, K) probabilities, or (n,) those of the second of two classes.
    classes : (K,) labels of the columns, an estimator's `classes_`; if None, the sorted labels
        of y.
    sample_weight : (n,) weights of the rows.
    """
    given = of_probabilities(y, proba, classes, sample_weight)
    squares = (given.values - given.truth) ** 2
    halves = len(given.classes) == 2 or not given.exclusive
    of_rows = squares.mean(axis=1) if halves else squares.sum(axis=1)
    return float(given.weights @ of_rows)


def log_loss(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Minus the mean logarithm of the probability of what is right.

    With an indicator matrix as y it is the mean over the labels of the loss of each. Probabilities
    below 2.2e-16, one bit of 1, count as that, as in scikit-learn.

    Parameters
    ----------
    y, proba, classes, sample_weight : as for `brier_score`.
    """
    given = of_probabilities(y, proba, classes, sample_weight)
    tiny = np.finfo(np.float64).eps
    if given.exclusive:
        of_rows = np.log(np.clip(given.values[given.truth], tiny, 1.0 - tiny))
    else:
        right = np.where(given.truth, given.values, 1.0 - given.values)
        of_rows = np.log(np.clip(right, tiny, 1.0 - tiny)).mean(axis=1)
    return float(-(given.weights @ of_rows))

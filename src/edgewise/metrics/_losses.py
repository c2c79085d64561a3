"""Losses of probabilities, for labels that exclude each other and for indicator matrices."""

import numpy as np
from numpy.typing import ArrayLike

from .._ground import portable
from ._forecasts import of_probabilities


def brier_score(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean squared distance between probabilities and outcomes.

    For three classes or more the squares are summed over the classes, so the score lies between 0
    and 2; for two classes it is that of one class, between 0 and 1, as in scikit-learn. For an
    indicator matrix it is the mean over the labels.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Labels, or an indicator matrix.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,)
        Probabilities; for two classes those of the second class suffice.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The score.

    Examples
    --------
    >>> from edgewise.metrics import brier_score
    >>> round(brier_score([0, 1], [0.1, 0.8]), 3)
    0.025
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
    """Compute the log loss: minus the mean logarithm of the probability of the right label.

    For an indicator matrix it is the mean over the labels. Probabilities below 2.2e-16 count as
    that, as in scikit-learn.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Labels, or an indicator matrix.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,)
        Probabilities; for two classes those of the second class suffice.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The loss.

    Examples
    --------
    >>> from edgewise.metrics import log_loss
    >>> round(log_loss([0, 1], [0.1, 0.8]), 3)
    0.164
    """
    given = of_probabilities(y, proba, classes, sample_weight)
    tiny = np.finfo(np.float64).eps
    if given.exclusive:
        of_rows = portable.log(np.clip(given.values[given.truth], tiny, 1.0 - tiny))
    else:
        right = np.where(given.truth, given.values, 1.0 - given.values)
        of_rows = portable.log(np.clip(right, tiny, 1.0 - tiny)).mean(axis=1)
    return float(-(given.weights @ of_rows))

"""Margins: the lead of the correct label."""

import numpy as np
from numpy.typing import ArrayLike

from ._forecasts import Array, of_scores


def margins(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    normalise: bool = True,
) -> Array:
    """Compute margins: the score of each row's label minus the largest other score.

    A margin is negative where the prediction is wrong.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Labels, or an indicator matrix.
    scores : array-like of shape (n_rows, n_classes) or (n_rows,)
        Scores, as `decision_function` returns them.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
    normalise : bool, default=True
        Whether to divide by the largest range of the scores of any row, so that margins lie between
        -1 and 1 and can be compared between rounds.

    Returns
    -------
    ndarray of shape (n_rows,)
        Margins. For an indicator matrix (n_rows, n_classes): the score of a label that the row has,
        or minus the score of one that it lacks, divided by the largest absolute score.

    Examples
    --------
    >>> from edgewise.metrics import margins
    >>> margins([0, 1], [[2.0, 0.0], [1.0, 0.0]]).tolist()
    [1.0, -0.5]
    """
    given = of_scores(y, scores, classes, None)
    if not given.exclusive:
        of_labels: Array = np.where(given.truth, given.values, -given.values)
        return of_labels / (np.abs(of_labels).max() or 1.0) if normalise else of_labels
    others = np.where(given.truth, -np.inf, given.values)
    lead: Array = given.values[given.truth] - others.max(axis=1)
    span = float(np.ptp(given.values, axis=1).max()) or 1.0
    return lead / span if normalise else lead

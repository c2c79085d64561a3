"""Margins: by how much the right label leads."""

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
    """The score of each row's label minus the largest other score; negative where it is wrong.

    Parameters
    ----------
    y : (n,) labels, or an indicator matrix (n, K).
    scores : (n, K) scores, as `decision_function` gives them, or (n,) those of the second of two
        classes minus the first's.
    classes : (K,) labels of the columns, an estimator's `classes_`; if None, the sorted labels
        of y.
    normalise : divide by the largest difference between two scores of a row that there is, so that
        margins lie between -1 and 1 and can be compared between rounds.

    Returns
    -------
    (n,) margins. With an indicator matrix as y, (n, K): the score of a label that the row has, or
    minus that of one it has not, divided by the largest score of either sign.
    """
    given = of_scores(y, scores, classes, None)
    if not given.exclusive:
        of_labels: Array = np.where(given.truth, given.values, -given.values)
        return of_labels / (np.abs(of_labels).max() or 1.0) if normalise else of_labels
    others = np.where(given.truth, -np.inf, given.values)
    lead: Array = given.values[given.truth] - others.max(axis=1)
    span = float(np.ptp(given.values, axis=1).max()) or 1.0
    return lead / span if normalise else lead

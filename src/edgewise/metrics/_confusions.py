"""Confusions of classes."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.checks import (
    check_cost,
    check_length,
    check_weights,
    label_vector,
    places,
    sorted_labels,
)
from .._ground.errors import InvalidDataError
from .._ground.params import check, integer, one_of
from ._forecasts import Array, is_indicator

By = Literal["count", "rate", "cost"]


@dataclass(frozen=True)
class Confusion:
    """One class taken for another.

    Attributes
    ----------
    true : Any
        The right class.
    predicted : Any
        The predicted class.
    count : float
        Number of rows, or their weight.
    rate : float
        Share of the rows of the true class.
    cost : float
        Count times the cost of one such mistake.
    """

    true: Any
    predicted: Any
    count: float
    rate: float
    cost: float


def confusion_matrix(
    y: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Array, NDArray[Any]]:
    """Count the rows of each class (row) by predicted class (column).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Right labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    classes : array-like of shape (n_classes,), default=None
        Classes in the order wanted. None uses the sorted labels that occur.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    matrix : ndarray of shape (n_classes, n_classes)
        Weight of the rows of class k predicted as class j.
    classes : ndarray of shape (n_classes,)
        The classes.

    Examples
    --------
    >>> from edgewise.metrics import confusion_matrix
    >>> matrix, classes = confusion_matrix(["a", "a", "b"], ["a", "b", "b"])
    >>> matrix.tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if is_indicator(y):
        raise InvalidDataError(
            "Confusions are of labels that exclude each other: y must be a vector. Got an indicator"
            " matrix, whose rows may have several labels."
        )
    true, said = label_vector(y, "y"), label_vector(y_pred, "y_pred")
    check_length(said, len(true), "y_pred")
    known = sorted_labels(true, said) if classes is None else label_vector(classes, "classes")
    weights = check_weights(sample_weight, len(true))
    K = len(known)
    pair = K * places(known, true, "y", "classes") + places(known, said, "y_pred", "classes")
    counts: Array = np.bincount(pair, weights, minlength=K * K).reshape(K, K).astype(np.float64)
    return counts, known


def worst_confusions(
    y: ArrayLike,
    y_pred: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    n: int = 5,
    by: By = "count",
    cost: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> list[Confusion]:
    """List the pairs of classes confused most often, the worst first.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Right labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    classes : array-like of shape (n_classes,), default=None
        Classes in the order wanted. None uses the sorted labels that occur.
    n : int, default=5
        Largest number of pairs.
    by : {"count", "rate", "cost"}, default='count'
        Order by the number of rows, by the share of the true class, or by the number times the
        cost.
    cost : array-like of shape (n_classes, n_classes), default=None
        Cost of predicting class j (column) where class k is right (row). None: every mistake costs
        1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    list of Confusion
        The pairs; of equals the first in order.

    Examples
    --------
    >>> from edgewise.metrics import worst_confusions
    >>> worst = worst_confusions(["a", "a", "b"], ["a", "b", "b"])[0]
    >>> worst.count, worst.rate
    (1.0, 0.5)
    """
    check("worst_confusions", {"n": n, "by": by}, {"n": integer(1), "by": one_of(*get_args(By))})
    counts, known = confusion_matrix(y, y_pred, classes=classes, sample_weight=sample_weight)
    prices = np.ones_like(counts) if cost is None else check_cost(cost, len(known))
    wrong = counts * ~np.eye(len(known), dtype=bool)
    of_class = counts.sum(axis=1, keepdims=True)
    rates = wrong / np.where(of_class > 0, of_class, 1.0)
    paid = wrong * prices
    ranking = {"count": wrong, "rate": rates, "cost": paid}[by].ravel()
    order = [i for i in np.argsort(-ranking, kind="stable")[:n] if ranking[i] > 0]
    return [
        Confusion(known[k], known[j], float(wrong[k, j]), float(rates[k, j]), float(paid[k, j]))
        for k, j in (divmod(int(i), len(known)) for i in order)
    ]

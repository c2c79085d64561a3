"""Costs of mistakes: the labels of least expected cost, the cost of predictions, a scorer.

``cost[k, j]`` is the cost of predicting class j if class k is correct: rows are true classes,
columns are predictions. Zeros on the diagonal and ones elsewhere count errors.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from .._ground.checks import (
    Array,
    check_cost,
    check_length,
    check_proba,
    check_weights,
    label_vector,
    places,
    sorted_labels,
)
from .._ground.errors import InvalidDataError, InvalidParameterError

Decide = Literal["predict", "minimum"]


def minimum_cost_labels(
    proba: ArrayLike, cost: ArrayLike, classes: ArrayLike | None = None
) -> NDArray[Any]:
    """Choose for each row the class of least expected cost, sum_k proba[k] cost[k, j].

    Equal costs, up to rounding, go to the first class.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Class probabilities, as `predict_proba` returns them.
    cost : array-like of shape (n_classes, n_classes)
        Cost of predicting class j (column) where class k is right (row).
    classes : array-like of shape (n_classes,), default=None
        Labels of the classes: the `classes_` of an estimator.

    Returns
    -------
    ndarray of shape (n_rows,)
        Labels; without `classes`, class numbers from 0.

    Examples
    --------
    >>> from edgewise import minimum_cost_labels
    >>> minimum_cost_labels([[0.8, 0.2]], [[0, 1], [10, 0]], ["healthy", "ill"])
    array(['ill'], dtype='<U7')
    """
    chances = check_proba(proba)
    return _cheapest(chances, check_cost(cost, chances.shape[1]), classes)


def _cheapest(proba: Array, cost: Array, classes: ArrayLike | None) -> NDArray[Any]:
    n_classes = len(cost)
    expected = np.einsum("ik,kj->ij", proba, cost)  # without BLAS: the same for any threads
    rounding = 4 * n_classes * np.finfo(float).eps * expected.max(axis=1, keepdims=True)
    low = expected <= expected.min(axis=1, keepdims=True) + rounding
    chosen: NDArray[np.intp] = low.argmax(axis=1)
    return chosen if classes is None else _labels(classes, n_classes, "classes")[chosen]


def expected_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    cost: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the mean cost of predictions.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Right labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    cost : array-like of shape (n_classes, n_classes)
        Cost of predicting class j (column) where class k is right (row).
    labels : array-like of shape (n_classes,), default=None
        Labels of the rows and columns of `cost`. None uses the sorted labels that occur.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The mean cost.

    Examples
    --------
    >>> from edgewise import expected_cost
    >>> expected_cost(["a", "a", "b"], ["a", "b", "a"], [[0, 1], [5, 0]])
    2.0
    """
    true, said = label_vector(y_true, "y_true"), label_vector(y_pred, "y_pred")
    check_length(said, len(true), "y_pred")
    if labels is None:
        labels = sorted_labels(true, said)
    return _mean_cost(true, said, check_cost(cost, np.size(labels)), labels, sample_weight)


def _mean_cost(
    true: NDArray[Any],
    said: NDArray[Any],
    cost: Array,
    labels: ArrayLike,
    sample_weight: ArrayLike | None,
) -> float:
    known = _labels(labels, len(cost), "labels")
    paid = cost[places(known, true, "y_true"), places(known, said, "y_pred")]
    return float(np.average(paid, weights=check_weights(sample_weight, len(true))))


class ExpectedCostScorer(BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A scorer for scikit-learn's model selection: minus the mean cost, so that greater is better.

    `expected_cost_scorer` makes it. It requests `sample_weight` as scikit-learn's own scorers do:
    ``scorer.set_score_request(sample_weight=True)`` where metadata routing is enabled.
    """

    __metadata_request__score = {"estimator": UNUSED}  # an argument, not metadata

    def __init__(
        self, cost: ArrayLike, *, labels: ArrayLike | None = None, decide: Decide = "predict"
    ) -> None:
        self.cost = cost
        self.labels = labels
        self.decide = decide

    def score(
        self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Minus the mean cost of the estimator's predictions for X."""
        labels = np.asarray(estimator.classes_ if self.labels is None else self.labels)
        cost = check_cost(self.cost, len(labels), warn=False)
        if self.decide == "minimum":
            # A fold may lack classes: use the rows and columns of the classes it has.
            known = places(labels, np.asarray(estimator.classes_), "classes_")
            proba = check_proba(estimator.predict_proba(X))
            said = _cheapest(proba, cost[np.ix_(known, known)], estimator.classes_)
        else:
            said = label_vector(estimator.predict(X), "y_pred")
        return -_mean_cost(label_vector(y, "y_true"), said, cost, labels, sample_weight)

    def __call__(
        self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        return self.score(estimator, X, y_true, sample_weight)


def expected_cost_scorer(
    cost: ArrayLike, *, labels: ArrayLike | None = None, decide: Decide = "predict"
) -> ExpectedCostScorer:
    """Make a scorer for `GridSearchCV`, `cross_val_score` and others: the negated mean cost.

    Parameters
    ----------
    cost : array-like of shape (n_classes, n_classes)
        Cost of predicting class j (column) where class k is right (row).
    labels : array-like of shape (n_classes,), default=None
        Labels of the rows and columns of `cost`. None uses the estimator's `classes_`. Pass them if
        a part of the data may lack a class.
    decide : {"predict", "minimum"}, default='predict'
        "predict" scores what the estimator predicts, "minimum" the labels of least expected cost by
        its probabilities.

    Returns
    -------
    scorer
        A callable ``scorer(estimator, X, y)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier, expected_cost_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = expected_cost_scorer([[0, 1, 1], [1, 0, 1], [1, 9, 0]])
    >>> bool(scorer(MARTClassifier(n_estimators=20).fit(X, y), X, y) <= 0)
    True
    """
    check_cost(cost, None if labels is None else np.size(labels))
    if decide not in ("predict", "minimum"):
        raise InvalidParameterError(
            "The 'decide' parameter of expected_cost_scorer must be one of 'predict', 'minimum'. "
            f"Got {decide!r} instead."
        )
    return ExpectedCostScorer(cost, labels=labels, decide=decide)


def _labels(labels: ArrayLike, n_classes: int, name: str) -> NDArray[Any]:
    vector = label_vector(labels, name)
    if len(vector) != n_classes or len(np.unique(vector)) != n_classes:
        raise InvalidDataError(
            f"{name} must be {n_classes} different labels, as many as cost has rows. Got "
            f"{', '.join(map(str, vector))}."
        )
    return vector

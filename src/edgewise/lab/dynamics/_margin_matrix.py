"""The margin matrix M (m examples, n classifiers): +1 where a classifier is right, -1 where wrong.

Given, from examples and classifiers, or from the members of a fitted ensemble; and the weights of
its examples, a point of the simplex.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._ground.errors import InvalidDataError

Signs = NDArray[np.int8]
Weights = NDArray[np.float64]

_OFF_SIMPLEX = 1e-9  # by how much a sum of weights may differ from 1


def check_matrix(M: ArrayLike) -> Signs:
    """M as a matrix of signs, (m, n), or an error."""
    given = np.asarray(M)
    if given.ndim != 2 or 0 in given.shape:
        raise InvalidDataError(
            "A margin matrix must have two dimensions, at least one example (row) and one "
            f"classifier (column). Got an array of shape {given.shape}."
        )
    wrong = np.argwhere((given != 1) & (given != -1))
    if len(wrong):
        i, j = wrong[0]
        raise InvalidDataError(
            "A margin matrix must hold +1 (right) and -1 (wrong) only. Got "
            f"{given[i, j]!s} in row {i}, column {j}, and {len(wrong) - 1} further such entries."
        )
    return np.array(given, dtype=np.int8, order="C")  # a copy: results keep it


def check_weights(d0: ArrayLike | None, m: int) -> Weights:
    """Weights of m examples with sum 1, (m,); None means equal ones."""
    if d0 is None:
        return np.full(m, 1 / m)
    try:
        d: Weights = np.asarray(d0, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError("The weights d0 must be numbers.") from None
    if d.shape != (m,):
        raise InvalidDataError(
            f"The weights d0 must be one number per example: shape ({m},). Got shape {d.shape}."
        )
    if not (np.isfinite(d).all() and (d >= 0).all() and abs(d.sum() - 1) <= _OFF_SIMPLEX):
        raise InvalidDataError(
            "The weights d0 must lie on the simplex: none negative, with sum 1. Got a least "
            f"weight of {d.min():g} and a sum of {d.sum():.12g}."
        )
    normal: Weights = d / d.sum()
    return normal


def from_examples(
    X: ArrayLike, y: ArrayLike, classifiers: Sequence[Callable[[Any], Any] | Any]
) -> Signs:
    """The margin matrix M_ij = y_i h_j(x_i) of classifiers on examples of two classes.

    `classifiers` are fitted (they have ``predict``) or plain functions of X; either way each gives
    one of the two labels of y per row.
    """
    labels, signs = _two_classes(y)
    if len(classifiers) == 0:
        raise InvalidDataError("A margin matrix needs at least one classifier. Got none.")
    columns = [
        _column(_predictions(h, X), signs, labels, f"classifiers[{j}]")
        for j, h in enumerate(classifiers)
    ]
    return check_matrix(np.column_stack(columns))


def from_booster(fitted: Any, X: ArrayLike, y: ArrayLike) -> Signs:
    """The margin matrix of the members of a fitted two-class ensemble, one column per member.

    `fitted` is any ensemble of classifiers in scikit-learn's style, with ``estimators_`` and
    ``classes_``: AdaBoost, bagging, a random forest ...
    """
    members = np.asarray(getattr(fitted, "estimators_", []), dtype=object)
    if members.ndim != 1 or not len(members) or not all(hasattr(h, "classes_") for h in members):
        raise InvalidDataError(
            "from_booster needs a fitted ensemble whose estimators_ are classifiers. Got "
            f"{type(fitted).__name__}, which has none: it is not fitted, or its members are not "
            "classifiers."
        )
    classes = np.asarray(fitted.classes_)
    if len(classes) != 2:
        raise InvalidDataError(
            f"A margin matrix needs an ensemble of two classes. Got {len(classes)}."
        )
    features = getattr(fitted, "estimators_features_", None)  # of bagging
    table = np.asarray(X)
    _, signs = _two_classes(y, classes)
    columns = []
    for j, member in enumerate(members):
        seen = table if features is None else table[:, features[j]]
        predicted = _labels_of(member, seen, classes)
        columns.append(_column(predicted, signs, classes, f"estimators_[{j}]"))
    return check_matrix(np.column_stack(columns))


def _column(
    predicted: NDArray[Any], signs: NDArray[np.int8], classes: NDArray[Any], owner: str
) -> NDArray[np.int8]:
    """y_i h_j(x_i) of one classifier, (m,)."""
    if predicted.shape != signs.shape:
        raise InvalidDataError(
            f"{owner} must predict one label for each of the {len(signs)} examples in y. "
            f"Got predictions of shape {predicted.shape}."
        )
    return signs * _signs_of(predicted, classes, owner)


def _labels_of(member: Any, X: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Predictions of a member as labels of the ensemble: some ensembles teach theirs 0 and 1."""
    predicted = np.asarray(member.predict(X))
    if np.isin(member.classes_, classes).all():
        return predicted
    labels: NDArray[Any] = classes[predicted.astype(np.intp)]
    return labels


def _two_classes(
    y: ArrayLike, classes: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """The two labels, lower first, and y as -1 (lower) and +1."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidDataError(f"y must have one label per example. Got shape {labels.shape}.")
    if classes is None:
        classes = np.unique(labels)
    if len(classes) != 2:
        raise InvalidDataError(
            f"A margin matrix needs labels of two classes. Got {len(classes)} in y."
        )
    return classes, _signs_of(labels, classes, "y")


def _signs_of(labels: NDArray[Any], classes: NDArray[Any], owner: str) -> NDArray[np.int8]:
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise InvalidDataError(
            f"{owner} must give the labels {classes[0]} and {classes[1]} only. "
            f"Got {labels[int(np.argmax(unknown))]}."
        )
    return np.where(labels == classes[1], 1, -1).astype(np.int8)


def _predictions(classifier: Any, X: Any) -> NDArray[Any]:
    predict = getattr(classifier, "predict", classifier)
    if not callable(predict):
        raise InvalidDataError(
            "A classifier must have predict, or be a function of X. "
            f"Got {type(classifier).__name__}."
        )
    return np.asarray(predict(X))

"""Checks of labels, probabilities, weights and costs."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import CostWarning, InvalidDataError, InvalidParameterError

Array = NDArray[np.float64]

MOST_FEATURES = 2**27  # the core indexes features of eight rows at a time in 32 bits


def need_unmasked(given: Any, name: str) -> None:
    """Check that nothing is masked.

    Masked values of X are missing values, but labels and weights must exist.
    """
    if np.ma.is_masked(given):
        raise InvalidDataError(
            f"{name} must not have masked values. Got {int(np.ma.getmaskarray(given).sum())} of "
            f"{np.size(given)}: drop these rows or fill the masked values."
        )


def check_cost(cost: ArrayLike, n_classes: int | None = None, *, warn: bool = True) -> Array:
    """Return the cost matrix as an array, (K, K).

    Warns of rows whose correct label costs more than a mistake.
    """
    matrix = numbers(cost, "cost", InvalidParameterError)
    wanted = "(K, K) for K classes" if n_classes is None else f"({n_classes}, {n_classes})"
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] > 0
    if not square or n_classes not in (None, len(matrix)):
        raise InvalidParameterError(
            f"cost must have shape {wanted}: a row for each true class, a column for each predicted"
            f" one. Got shape {matrix.shape}."
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        k, j = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise InvalidParameterError(
            f"cost must hold finite numbers that are not negative. Got {matrix[k, j]} in row {k}, "
            f"column {j}."
        )
    if warn:
        _warn_of_dear_right_labels(matrix)
    return matrix


def _warn_of_dear_right_labels(cost: Array) -> None:
    dearer = np.flatnonzero(cost.diagonal() > cost.min(axis=1))
    if len(dearer):
        k = int(dearer[0])
        warnings.warn(
            "cost makes the correct label cost more than a mistake for "
            f"{len(dearer)} of {len(cost)} classes, the first in row {k}: {cost[k, k]:g} for "
            f"class {k}, {cost[k].min():g} for predicting class {int(cost[k].argmin())}. Rows are "
            "true classes, columns are predictions.",
            CostWarning,
            stacklevel=4,
        )


def check_proba(proba: ArrayLike) -> Array:
    chances = numbers(proba, "proba", InvalidDataError)
    if chances.ndim != 2:
        raise InvalidDataError(
            "proba must have a row for each example and a column for each class. Got shape "
            f"{chances.shape}."
        )
    if not (np.isfinite(chances) & (chances >= 0)).all():
        wrong = chances[~(np.isfinite(chances) & (chances >= 0))][0]
        raise InvalidDataError(f"proba must hold probabilities: finite, not negative. Got {wrong}.")
    return chances


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    if sample_weight is None:
        return None
    weights = numbers(sample_weight, "sample_weight", InvalidDataError)
    check_length(weights, n_rows, "sample_weight")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise InvalidDataError(
            "sample_weight must hold finite numbers that are not negative, one positive at least. "
            f"Got {weights.min():g} to {weights.max():g}."
        )
    return weights


def numbers(values: ArrayLike, name: str, error: type[Exception]) -> Array:
    """An array of real numbers; complex ones and dates are none."""
    need_unmasked(values, name)
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "cmM":
            return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise error(f"{name} must hold numbers only, in rows of one length. Got {values!r}.")


def label_vector(labels: ArrayLike, name: str) -> NDArray[Any]:
    vector = np.asarray(labels)
    if vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if vector.ndim != 1 or len(vector) == 0:
        raise InvalidDataError(f"{name} must be a vector of labels. Got shape {vector.shape}.")
    return vector


def check_length(array: NDArray[Any], n_rows: int, name: str) -> None:
    if array.shape != (n_rows,):
        raise InvalidDataError(
            f"{name} must have an entry for each of the {n_rows} rows. Got shape {array.shape}."
        )


def check_codes(codes: ArrayLike, n_rows: int, n_classes: int) -> NDArray[np.intp]:
    """Check class numbers of rows, (n,), from 0."""
    need_unmasked(codes, "codes")
    places = np.asarray(codes)
    check_length(places, n_rows, "codes")
    if n_rows == 0:
        return np.empty(0, dtype=np.intp)
    whole = places.dtype.kind in "iu"
    if not whole or places.min() < 0 or places.max() >= n_classes:
        came = f"{places.min()} to {places.max()}" if whole else f"type {places.dtype}"
        raise InvalidDataError(
            f"codes must be indices of {n_classes} classes, integers from 0 to {n_classes - 1}. "
            f"Got {came}."
        )
    return places.astype(np.intp)


def sorted_labels(true: NDArray[Any], said: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(np.concatenate([true, said]))
    except TypeError:
        raise InvalidDataError(
            "y_true and y_pred must have labels of one sortable kind. Got "
            f"{true[0]!r} and {said[0]!r}."
        ) from None


def places(labels: NDArray[Any], y: NDArray[Any], name: str, of: str = "cost") -> NDArray[np.intp]:
    """The index of each label of y in `labels`, the labels of `of`, which need not be sorted."""
    order = np.argsort(labels)
    try:
        found = np.searchsorted(labels, y, sorter=order).clip(max=len(labels) - 1)
        place: NDArray[np.intp] = order[found]
        unknown = np.asarray(labels[place] != y)
    except TypeError:  # labels that cannot be compared
        unknown = np.ones(len(y), dtype=bool)
    if unknown.any():
        raise InvalidDataError(
            f"{name} holds the label {y[int(unknown.argmax())]!s}, which is not one of the labels "
            f"of {of}: {', '.join(map(str, labels))}."
        )
    return place

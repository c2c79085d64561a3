"""Labels and their forecasts, checked and converted to one shape."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.checks import check_proba, check_weights, label_vector, places
from .._ground.errors import InvalidDataError

Array = NDArray[np.float64]

_ROUNDING = 1e-5  # what single precision may leave between the sum of a row and 1


class Forecasts(NamedTuple):
    """The true labels as zeros and ones, and the forecasts."""

    truth: NDArray[np.bool_]  # (n, K): whether row i has label k
    values: Array  # (n, K): probabilities or scores
    weights: Array  # (n), of sum 1
    classes: NDArray[Any]  # (K)
    exclusive: bool  # whether every row has one label; else y was an indicator matrix

    @property
    def codes(self) -> NDArray[np.intp]:
        """(n): the place of each row's label, where it has one."""
        codes: NDArray[np.intp] = self.truth.argmax(axis=1)
        return codes


def of_probabilities(
    y: ArrayLike, proba: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None
) -> Forecasts:
    """Labels and class probabilities; (n,) probabilities are those of the second of two classes."""
    one = np.asarray(proba)
    second = check_proba(one[:, np.newaxis] if one.ndim == 1 else one)
    columns = np.hstack([1.0 - second, second]) if one.ndim == 1 else second
    made = _made(y, columns, classes, sample_weight, "proba")
    if made.exclusive:
        total = columns.sum(axis=1)
        worst = int(np.abs(total - 1.0).argmax())
        if columns.min() < 0 or abs(total[worst] - 1.0) > _ROUNDING:
            raise InvalidDataError(
                "The rows of proba must be probabilities: not negative, with the sum 1. Got the "
                f"sum {total[worst]:g} and the least {columns.min():g} (row {worst})."
            )
    elif columns.max() > 1:
        raise InvalidDataError(f"proba must hold probabilities. Got {columns.max():g}.")
    return made


def of_scores(
    y: ArrayLike, scores: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None
) -> Forecasts:
    """Labels and scores; (n,) scores are those of the second of two classes minus the first's."""
    try:
        columns = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError(
            f"scores must hold numbers only, in rows of one length. Got {scores!r}."
        ) from None
    if columns.ndim == 1:
        columns = np.column_stack([np.zeros(len(columns)), columns])
    if columns.ndim != 2 or not np.isfinite(columns).all():
        raise InvalidDataError(
            "scores must be finite numbers, a row for each example and a column for each class. "
            f"Got an array of shape {columns.shape}."
        )
    return _made(y, columns, classes, sample_weight, "scores")


def _made(
    y: ArrayLike,
    columns: Array,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
    name: str,
) -> Forecasts:
    n, n_classes = columns.shape
    exclusive = not is_indicator(y)
    if not exclusive and classes is None:
        classes = np.arange(n_classes)
    labels = label_vector(y if classes is None else classes, "classes" if exclusive else "y")
    known = np.unique(labels) if classes is None else labels
    if len(known) != n_classes or n_classes < 2 or len(np.unique(known)) != n_classes:
        raise InvalidDataError(
            f"{name} must have a column for each of the classes {', '.join(map(str, known))}. Got "
            f"{n_classes} columns; give the classes of the columns as `classes`."
        )
    truth = _truth(y, known) if exclusive else indicator(y, "y")
    if truth.shape != columns.shape:
        raise InvalidDataError(
            f"y and {name} must agree in their rows and labels. Got shapes {truth.shape} and "
            f"{columns.shape}."
        )
    weights = check_weights(sample_weight, n)
    shares = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    return Forecasts(truth, columns, shares, known, exclusive)


def _truth(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.bool_]:
    codes = places(classes, label_vector(y, "y"), "y", of="the forecasts")
    truth: NDArray[np.bool_] = codes[:, np.newaxis] == np.arange(len(classes))
    return truth


def is_indicator(y: ArrayLike) -> bool:
    """Return whether y is an indicator matrix of the labels of each row, not a vector of labels."""
    shape: tuple[int, ...] = getattr(y, "shape", None) or np.shape(y)
    return len(shape) == 2 and shape[1] > 1


def indicator(y: Any, name: str) -> NDArray[np.bool_]:
    """An indicator matrix, dense or sparse, as booleans."""
    dense = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if not np.isin(dense, (0, 1)).all():
        raise InvalidDataError(f"The indicator matrix {name} must hold only 0 and 1. Got {dense}.")
    return dense.astype(bool)

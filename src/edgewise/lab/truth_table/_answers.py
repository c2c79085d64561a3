"""Labels and predictions of any two values become patterns of right and wrong, and their counts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _core
from ..._boosting.threads import n_threads
from ..._ground.errors import InvalidDataError

MOST_CLASSIFIERS = 60  # a pattern is a word of 64 bits

Codes = NDArray[np.uint64]
Totals = NDArray[np.int64] | NDArray[np.float64]
Signs = NDArray[np.int8]


def count(
    y: ArrayLike, H: ArrayLike, sample_weight: ArrayLike | None, n_jobs: int | None
) -> tuple[Codes, Totals]:
    """The patterns that occur, ascending, and the number or weight of their examples."""
    labels, predictions = _vector(y), _matrix(H)
    if len(labels) != len(predictions):
        raise InvalidDataError(
            "y and H must have the same number of rows. Got "
            f"{len(labels)} labels and {len(predictions)} rows of predictions."
        )
    labels, predictions = _signs(labels, predictions)
    weights = (
        None
        if sample_weight is None
        else check_weights(sample_weight, len(labels), "sample_weight")
    )
    try:
        return _tabulate(predictions, labels, weights, n_threads(n_jobs, predictions.size))
    except ValueError:  # the core checks the entries as it reads them, but does not say where
        check_signs(predictions, "H")
        raise


def _tabulate(
    predictions: Signs, labels: Signs, weights: NDArray[np.float64] | None, threads: int
) -> tuple[Codes, Totals]:
    if weights is None:
        return _core.tabulate(predictions, labels, threads)
    return _core.tabulate_weighted(predictions, labels, weights, threads)


def check_number(n_classifiers: int) -> None:
    if not 1 <= n_classifiers <= MOST_CLASSIFIERS:
        raise InvalidDataError(
            f"A truth table is for 1 to {MOST_CLASSIFIERS} classifiers. Got {n_classifiers}."
        )


def check_weights(given: ArrayLike, n: int, name: str) -> NDArray[np.float64]:
    """`n` finite weights, none negative and not all zero."""
    weights = np.ascontiguousarray(given, dtype=np.float64)
    if weights.shape != (n,):
        raise InvalidDataError(f"{name} must be of shape ({n},). Got shape {weights.shape}.")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise InvalidDataError(
            f"{name} must be finite and not negative. Got {weights[place]} in place {place}."
        )
    if not weights.any():
        raise InvalidDataError(f"{name} must hold at least one positive number. All are zero.")
    return weights


def check_signs(patterns: NDArray[Any], name: str) -> Signs:
    """A matrix of entries -1 and +1, as bytes."""
    wrong = (patterns != 1) & (patterns != -1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InvalidDataError(
            f"{name} must hold -1 and +1 only. Got {patterns[row, column]} in row {row}, "
            f"column {column}."
        )
    return np.ascontiguousarray(patterns, dtype=np.int8)


def codes_of(patterns: Signs) -> Codes:
    """Bit j is set where entry j is +1."""
    bits = np.uint64(1) << np.arange(patterns.shape[1], dtype=np.uint64)
    codes: Codes = np.where(patterns > 0, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    return codes


def patterns_of(codes: Codes, n_classifiers: int) -> Signs:
    """(n_cells, n_classifiers), -1 and +1."""
    places = np.arange(n_classifiers, dtype=np.uint64)
    bits = (codes[:, None] >> places) & np.uint64(1)
    return (2 * bits.astype(np.int8) - 1).astype(np.int8)


# --- what the user gave --------------------------------------------------------------------------


def _vector(y: ArrayLike) -> NDArray[Any]:
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InvalidDataError(f"y must be a vector of labels. Got shape {labels.shape}.")
    return labels


def _matrix(H: ArrayLike) -> NDArray[Any]:
    predictions = np.asarray(H)
    if predictions.ndim != 2:
        raise InvalidDataError(
            "H must be a matrix with a row for each example and a column for each classifier. "
            f"Got shape {predictions.shape}."
        )
    check_number(predictions.shape[1])
    if len(predictions) == 0:
        raise InvalidDataError("A truth table needs at least one example. Got an empty H.")
    return predictions


def _signs(labels: NDArray[Any], predictions: NDArray[Any]) -> tuple[Signs, Signs]:
    """Both as -1 and +1. What they are called does not matter: only equality does."""
    if labels.dtype == np.int8 and predictions.dtype == np.int8 and _all_signs(labels):
        return np.ascontiguousarray(labels), np.ascontiguousarray(predictions)
    two = _two_labels(labels, predictions)
    right = predictions == labels[:, None]
    known = right | (predictions == two[-1]) | (predictions == two[0])
    if not known.all():
        row, column = np.argwhere(~known)[0]
        raise InvalidDataError(
            f"H must hold the labels {' and '.join(map(str, two))} only. Got "
            f"{predictions[row, column]} in row {row}, column {column}."
        )
    return np.ones(len(labels), dtype=np.int8), np.where(right, 1, -1).astype(np.int8)


def _all_signs(a: Signs) -> bool:
    return bool(np.all((a == 1) | (a == -1)))


def _two_labels(labels: NDArray[Any], predictions: NDArray[Any]) -> NDArray[Any]:
    """The two values that stand for the classes, in sorted order; perhaps only one occurs."""
    seen = np.unique(labels)
    if len(seen) < 2:
        pair = np.array([-1, 1])
        seen = pair if np.isin(seen, pair).all() else np.union1d(seen, np.unique(predictions))
    if len(seen) > 2:
        raise InvalidDataError(
            "A truth table is for two labels; make one table for each class against the rest "
            f"where there are more. Got {len(seen)}: {', '.join(map(str, seen[:5]))}"
            f"{', ...' if len(seen) > 5 else ''}."
        )
    return seen

"""Input: the user's X, y and weights become arrays the core can read, or one clear error.

X keeps its own type and layout wherever the core can read it, so nothing is copied. Missing values
are NaN; infinite values are allowed and fall into the outer bins.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._errors import InvalidDataError

Matrix = NDArray[Any]
Labels = NDArray[np.int32]
Weights = NDArray[np.float64]

_READABLE = frozenset("f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split())


def matrix(estimator: BaseEstimator, X: ArrayLike, *, reset: bool) -> Matrix:
    """X as a two-dimensional array of real numbers, in a type the core reads."""
    checked = validate_data(
        estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False, accept_sparse=False
    )
    return _readable(np.asarray(checked))


def _readable(X: Matrix) -> Matrix:
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    if X.dtype.kind == "f" and X.dtype.itemsize < 4:
        return X.astype(np.float32)
    if X.dtype.kind + str(X.dtype.itemsize) not in _READABLE:
        return X.astype(np.float64)
    native = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    return native if all(s % native.itemsize == 0 for s in native.strides) else native.copy()


def labels(y: ArrayLike) -> NDArray[Any]:
    """y as a vector of class labels without missing values."""
    if y is None:
        raise InvalidDataError(
            "requires y to be passed, but the target y is None: give one class label per row."
        )
    vector: NDArray[Any] = column_or_1d(y, warn=True)
    missing = _missing(vector)
    if missing.any():
        raise InvalidDataError(
            f"Input y contains NaN, infinity or missing labels ({int(missing.sum())} of "
            f"{len(vector)}, the first in row {int(np.argmax(missing))}); every row needs a label."
        )
    check_classification_targets(vector)
    return vector


def _missing(vector: NDArray[Any]) -> NDArray[np.bool_]:
    if vector.dtype.kind == "f":
        return np.asarray(~np.isfinite(vector))
    if vector.dtype.kind == "O":
        return np.array([v is None or (isinstance(v, float) and not math.isfinite(v))
                         for v in vector])
    return np.zeros(len(vector), dtype=bool)


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], Labels]:
    """Classes in sorted order, and the place of each label among them."""
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in y})
        raise InvalidDataError(
            f"The labels in y must be all of one sortable kind. Got a mixture of {', '.join(kinds)}."
        ) from None
    return classes, codes.astype(np.int32)


def encode_as(classes: NDArray[Any], y: NDArray[Any], name: str) -> Labels:
    """The place of each label of `y` among `classes`; labels not among them are an error."""
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    unknown = classes[codes] != y
    if np.any(unknown):
        raise InvalidDataError(
            f"{name} holds the label {y[int(np.argmax(unknown))]!r}, which does not occur in the "
            f"training labels {list(classes[:10])}{'...' if len(classes) > 10 else ''}."
        )
    return codes.astype(np.int32)


def weights(
    sample_weight: ArrayLike | None, X: Matrix, y: NDArray[Any], class_weight: Any
) -> Weights | None:
    """One positive or zero weight per row, or None where all rows weigh the same."""
    if sample_weight is None and class_weight is None:
        return None
    w = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if class_weight is not None:
        w = w * compute_sample_weight(class_weight, y)
    if np.any(w < 0):
        raise InvalidDataError(
            f"sample_weight must not be negative. Got {w.min():g} in row {int(np.argmin(w))}."
        )
    if not np.any(w > 0):
        raise InvalidDataError(
            "sample_weight must hold at least one positive weight. All weights are zero."
        )
    # A power of two, so that nothing is rounded; only ratios of weights matter.
    return np.ascontiguousarray(w * 2.0 ** -np.frexp(w.max())[1], dtype=np.float64)


def without_weightless(
    X: Matrix, y: NDArray[Any], w: Weights | None
) -> tuple[Matrix, NDArray[Any], Weights | None]:
    """Drops rows of weight zero."""
    if w is None or w.all():
        return X, y, w
    present = w > 0
    return X[present], y[present], w[present]


def without_negligible(
    X: Matrix, codes: Labels, w: Weights | None
) -> tuple[Matrix, Labels, Weights | None]:
    """Drops rows that weigh less than 2^-23 of the heaviest: the resolution of the statistics."""
    if w is None:
        return X, codes, w
    heavy = w >= w.max() * 2.0**-23
    return (X, codes, w) if heavy.all() else (X[heavy], codes[heavy], w[heavy])


def need_two_classes(classes: NDArray[Any], owner: str) -> None:
    if len(classes) < 2:
        raise InvalidDataError(
            f"{owner} needs rows of at least two classes (rows of weight zero do not count). "
            f"Got one class only: {classes[0]!r}."
        )


def stratified_split(
    codes: Labels, fraction: float, random_state: Any
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers for training and validation, class by class.

    Every class with two rows or more has rows on both sides; a class of one row stays in training.
    """
    rng = check_random_state(random_state)
    train, held = [], []
    for k in range(int(codes.max()) + 1):
        rows = rng.permutation(np.flatnonzero(codes == k))
        n_held = min(len(rows) - 1, max(1, round(fraction * len(rows))))
        held.append(rows[:n_held])
        train.append(rows[n_held:])
    return np.sort(np.concatenate(train)), np.sort(np.concatenate(held))


def exact_class_weights(codes: Labels, w: Weights | None, n_classes: int) -> Weights:
    """Total weight of each class; exactly rounded, so the order of the rows does not matter."""
    if w is None:
        return np.bincount(codes, minlength=n_classes).astype(np.float64)
    return np.array([math.fsum(w[codes == k]) for k in range(n_classes)])

"""Labels, weightings and votes as arrays, or one clear error."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..._data.sparse import sound
from ..._data.targets import classes_of, encode, labels
from ..._ground import params as p
from ..._ground.errors import InvalidDataError

Array = NDArray[np.float64]
InitialWeights = Literal["balanced", "uniform"]


def label_matrix(y: Any, classes: ArrayLike | None = None) -> Array:
    """Y, (n, K): +1 where a label applies to a row, -1 elsewhere.

    y is a label for each row, or a matrix of 0 and 1 (SciPy's sparse ones too) with a column for
    each label. `classes` are the labels of the columns; without it, the sorted labels of y.
    """
    indicator = sound(y, "y").toarray() if sparse.issparse(y) else np.asarray(y)
    if indicator.ndim != 2:
        vector = labels(y, "y")
        known = classes_of(vector) if classes is None else np.asarray(classes)
        return one_hot(encode(known, vector, "y"), len(known))
    if not np.isin(indicator, (0, 1)).all():
        other = indicator[~np.isin(indicator, (0, 1))][0]
        raise InvalidDataError(
            f"A label matrix y must hold 0 and 1 only, a column for each label. Got {other!r}."
        )
    if classes is not None and indicator.shape[1] != np.size(classes):
        raise InvalidDataError(
            f"A label matrix y must have a column for each of the {np.size(classes)} classes. Got "
            f"{indicator.shape[1]} columns."
        )
    return np.where(indicator != 0, 1.0, -1.0)


def one_hot(codes: ArrayLike, n_classes: int) -> Array:
    """Y, (n, K), of rows with one label each: +1 at the place that the code says, -1 elsewhere."""
    places = np.asarray(codes)
    if places.ndim != 1 or places.dtype.kind not in "iu" or np.any(places != places.clip(0)):
        raise InvalidDataError(
            f"codes must be a vector of places counted from 0, as integers. Got {codes!r}."
        )
    if len(places) and places.max() >= n_classes:
        raise InvalidDataError(
            f"codes must be below n_classes={n_classes}. Got {int(places.max())}."
        )
    return np.where(np.arange(n_classes) == places[:, None], 1.0, -1.0)


def sign_patterns(n_classes: int) -> Array:
    """Y, (2^(K-1), K): every label vector once, a vector and its negative counting as one."""
    p.check("sign_patterns", {"n_classes": n_classes}, {"n_classes": p.integer(1, 20)})
    bits = (np.arange(2 ** (n_classes - 1))[:, None] >> np.arange(n_classes)) & 1
    return np.where(bits, -1.0, 1.0)


def initial_weights(
    Y: ArrayLike, kind: InitialWeights = "balanced", sample_weight: ArrayLike | None = None
) -> Array:
    """W of the first round, (n, K), summing to 1; a row has its share of the sample weight.

    "balanced" is Kégl's eq. 2: half of a row's share goes to the labels that apply, half to those
    that do not; all of it to the one kind where the other is missing. "uniform" gives all labels
    of a row the same.
    """
    p.check("initial_weights", {"kind": kind}, {"kind": p.one_of("balanced", "uniform")})
    signs = check_labels(Y)
    share = check_shares(sample_weight, len(signs))
    if kind == "uniform":
        return np.repeat(share[:, None] / signs.shape[1], signs.shape[1], axis=1)
    applies = signs > 0
    n_positive = applies.sum(axis=1, keepdims=True)
    n_negative = signs.shape[1] - n_positive
    kinds = (n_positive > 0).astype(int) + (n_negative > 0)  # 1 or 2
    return np.asarray(share[:, None] / (kinds * np.where(applies, n_positive, n_negative)))


def check_shares(sample_weight: ArrayLike | None, n_rows: int) -> Array:
    """The rows' shares of the weight, (n,), summing to 1."""
    given = np.ones(n_rows) if sample_weight is None else _finite(sample_weight, "sample_weight")
    if given.shape != (n_rows,):
        raise InvalidDataError(
            f"sample_weight must have shape ({n_rows},), a weight for each row. Got {given.shape}."
        )
    return _to_sum_one(given, "sample_weight")


def check_labels(Y: ArrayLike) -> Array:
    """Y as a matrix of -1 and +1 with at least one row and column."""
    signs = _finite(Y, "Y")
    if signs.ndim != 2 or signs.size == 0:
        raise InvalidDataError(
            f"Y must be a matrix with a row for each example and a column for each class. Got shape"
            f" {signs.shape}."
        )
    if not (np.abs(signs) == 1).all():
        other = signs[np.abs(signs) != 1][0]
        raise InvalidDataError(
            f"Y must hold -1 and +1 only (label_matrix makes such a matrix of labels). Got {other}."
        )
    return signs


def check_weighting(W: ArrayLike, Y: ArrayLike) -> tuple[Array, Array]:
    """W, divided by its sum, and Y."""
    signs, weights = check_labels(Y), _finite(W, "W")
    if weights.shape != signs.shape:
        raise InvalidDataError(
            f"W must have a weight for each entry of Y, shape {signs.shape}. Got {weights.shape}."
        )
    return _to_sum_one(weights, "W"), signs


def check_vector(values: ArrayLike, length: int, name: str, what: str) -> Array:
    vector = _finite(values, name)
    if vector.shape != (length,):
        raise InvalidDataError(
            f"{name} must have shape ({length},), a number for each {what}. Got {vector.shape}."
        )
    return vector


def _finite(values: ArrayLike, name: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidDataError(f"{name} must hold numbers only. Got {values!r}.") from None
    if not np.isfinite(array).all():
        raise InvalidDataError(
            f"{name} must hold finite numbers only. Got {array[~np.isfinite(array)][0]}."
        )
    return array


def _to_sum_one(weights: Array, name: str) -> Array:
    if (weights < 0).any():
        raise InvalidDataError(f"{name} must not be negative. Got {weights.min():g}.")
    largest = weights.max(initial=0.0)
    if largest == 0:
        raise InvalidDataError(f"{name} must hold a positive weight. All are zero.")
    scaled = weights / largest  # the sum of huge weights is infinite
    return np.asarray(scaled / scaled.sum())

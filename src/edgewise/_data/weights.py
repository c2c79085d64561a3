"""Weights of rows and costs of predictions, checked and scaled."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import _check_sample_weight

from .._ground.checks import need_unmasked
from .._ground.errors import InvalidDataError, InvalidParameterError
from .sparse import Matrix

Weights = NDArray[np.float64]
LARGEST_UNIT = 500  # of weights, as the exponent of two


def row_weights(
    sample_weight: ArrayLike | None, X: Matrix, y: Any, class_weight: Any, name: str
) -> tuple[Weights | None, float]:
    """Return one non-negative weight per row and its unit; None if all weights are one."""
    if sample_weight is None and class_weight is None:
        return None, 1.0
    need_unmasked(sample_weight, name)
    w = _checked(sample_weight, X, name)
    if class_weight is not None:
        name += " times class_weight"
        w = product(w, class_factors(class_weight, y), name)
    if np.any(w < 0):
        raise InvalidDataError(
            f"{name} must not be negative. Got {w.min():g} in row {int(np.argmin(w))}."
        )
    if not np.any(w > 0):
        raise InvalidDataError(
            f"{name} must hold at least one positive weight. All weights are zero."
        )
    return scaled(w)


def _checked(given: Any, X: Matrix, name: str) -> Weights:
    """One number per row, after scikit-learn's checks and some that these lack."""
    if getattr(getattr(given, "dtype", None), "kind", "") in ("m", "M"):
        raise InvalidDataError(f"{name} must hold numbers. Got dates or times ({given.dtype}).")
    try:
        w = _check_sample_weight(given, X, dtype=np.float64)
    except OverflowError as error:  # of an integer
        raise InvalidDataError(f"{name} must be finite. {error}.") from None
    if np.isnan(w).any():  # of a single number for all rows
        raise InvalidDataError(f"{name} must be finite. Got nan.")
    return np.asarray(w, dtype=np.float64)


def product(a: Weights, b: Weights, name: str) -> Weights:
    """The products of weights, or an error if a product is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        w = np.asarray(a * b, dtype=np.float64)
    if not np.all(np.isfinite(w)):
        at = tuple(int(place) for place in np.argwhere(~np.isfinite(w))[0])
        raise InvalidDataError(
            f"{name} must be finite. Got {w[at]:g} in row {at[0]}: divide the weights by a large "
            "number."
        )
    return w


def scaled(w: Weights) -> tuple[Weights, float]:
    """Weights divided by a power of two, which rounds nothing, and its exponent.

    Gains then stay finite for any weights.
    """
    if len(w) == 0 or not 0.0 < w.max() < math.inf:
        raise InvalidDataError(
            "There must be at least one row of positive, finite weight to learn from. Got "
            f"{len(w)} rows" + (f", of which the heaviest weighs {w.max():g}." if len(w) else ".")
        )
    exponent = int(np.frexp(w.max())[1])
    scaled = np.ascontiguousarray(np.ldexp(w, -exponent), dtype=np.float64)
    return scaled, unit_of(exponent)


def unit_of(exponent: int) -> float:
    """Return the user's weight of one after division of the weights by 2^exponent."""
    return math.ldexp(1.0, max(-LARGEST_UNIT, min(exponent, LARGEST_UNIT)))


def class_factors(class_weight: Any, classes: NDArray[Any]) -> Weights:
    """Return the weight of each label, from a dict or "balanced", as scikit-learn reads them."""
    try:
        return np.asarray(compute_sample_weight(class_weight, classes))
    except ValueError as error:  # a dict with none of the classes
        raise InvalidParameterError(f"class_weight must name classes of y. {error}.") from None


def row_costs(costs: Any, n_rows: int) -> Weights:
    """Return the cost of each prediction, row by row: (n, n_classes), not negative."""
    need_unmasked(costs, "costs")
    try:
        matrix = np.require(costs, np.float64, ["C_CONTIGUOUS", "ALIGNED"])
    except (TypeError, ValueError) as error:
        raise InvalidDataError(
            f"costs must hold numbers only, in rows of one length. {error}"
        ) from None
    if matrix.ndim != 2 or len(matrix) != n_rows:
        raise InvalidDataError(
            f"costs must have one row for each of the {n_rows} rows of X and one column per class. "
            f"Got an array of shape {matrix.shape}."
        )
    wrong = ~(matrix >= 0) | np.isinf(matrix)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise InvalidDataError(
            "costs must be finite and not negative. Got "
            f"{matrix[row, column]:g} in row {row}, column {column}."
        )
    return matrix

"""y: labels, indicator matrices and their classes, checked."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .._ground.checks import need_unmasked
from .._ground.errors import InvalidDataError
from .._ground.wording import did_you_mean
from .soft import SoftLabels
from .sparse import sound

Labels = NDArray[np.int32]
Relevant = NDArray[np.bool_]


def labels(y: ArrayLike, name: str) -> NDArray[Any]:
    """y as a vector of class labels without missing values."""
    if y is None:
        raise InvalidDataError(
            f"requires y to be passed, but the target {name} is None: give one class label per row."
        )
    need_unmasked(y, name)
    vector: NDArray[Any] = column_or_1d(y, warn=True)
    missing = missing_labels(vector)
    if missing.any():
        raise InvalidDataError(
            f"Input {name} contains NaN, infinity or missing labels ({int(missing.sum())} of "
            f"{len(vector)}, the first in row {int(np.argmax(missing))}); every row needs a label."
        )
    check_classification_targets(vector)
    return vector


def is_matrix(y: Any) -> bool:
    """Return whether y is an indicator matrix: two-dimensional with more than one column."""
    if sparse.issparse(y):
        return True
    try:
        array = np.asarray(y)
    except ValueError:
        raise InvalidDataError(
            "y must be a vector of labels or an indicator matrix. Got rows of different lengths: "
            "make lists of labels a matrix with scikit-learn's MultiLabelBinarizer."
        ) from None
    return array.ndim == 2 and array.shape[1] > 1


def indicators(y: Any, name: str) -> Relevant:
    """An indicator matrix, dense or sparse, as booleans: row i has label l."""
    need_unmasked(y, name)
    dense = sound(y, name).toarray() if sparse.issparse(y) else np.asarray(y)
    odd = ~np.isin(dense, (0, 1))
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise InvalidDataError(
            f"The indicator matrix {name} must hold only 0 and 1. Got {dense[row, column]} in "
            f"row {row}, column {column}."
        )
    return np.ascontiguousarray(dense.astype(bool))


def column_names(y: Any) -> NDArray[Any] | None:
    """The names of the columns of an indicator matrix in a data frame, if they are text."""
    names = getattr(y, "columns", None)
    if names is None or not hasattr(y, "shape"):
        return None
    names = list(names)
    if not all(isinstance(name, str) for name in names):
        return None
    repeated = [name for i, name in enumerate(names) if name in names[:i]]
    if repeated:
        raise InvalidDataError(
            f"The columns of the indicator matrix y must have different names. Got {repeated[0]!r} "
            "twice."
        )
    return np.array(names)


def need_same_names(y: Any, classes: NDArray[Any], name: str) -> None:
    """Check that an indicator matrix with names has those of the fit, in their order."""
    names = column_names(y)
    if names is None or classes.dtype.kind != "U" or np.array_equal(names, classes):
        return
    wrong = [(a, b) for a, b in zip(names, classes, strict=False) if a != b]
    got = f"{wrong[0][0]!r} in the place of {wrong[0][1]!r}" if wrong else f"{len(names)} columns"
    raise InvalidDataError(f"The columns of {name} must be those of y in the fit. Got {got}.")


def missing_labels(vector: NDArray[Any]) -> NDArray[np.bool_]:
    """A mask of the entries of a vector (n) that are NaN, infinite or no value."""
    if vector.dtype.kind == "f":
        return np.asarray(~np.isfinite(vector))
    if vector.dtype.kind == "O":
        return np.array([_is_missing(v) for v in vector])
    if vector.dtype.kind in "mM":
        return np.asarray(np.isnat(vector))
    return np.zeros(len(vector), dtype=bool)


def _is_missing(label: Any) -> bool:
    if isinstance(label, float):
        return not math.isfinite(label)
    return label is None or type(label).__name__ in ("NAType", "NaTType")  # pandas, not imported


def classes_of(y: Any) -> NDArray[Any]:
    """The distinct labels in sorted order; the numbers of the columns of an indicator matrix."""
    if isinstance(y, SoftLabels):
        return y.known_classes()
    if y.ndim == 2:
        never = np.flatnonzero(~y.any(axis=0))
        if len(never):
            raise InvalidDataError(
                "Every label of the indicator matrix y must occur in some row (rows of weight zero "
                f"do not count). Label {never[0]} never does."
            )
        return np.arange(y.shape[1])
    try:
        return np.unique(y)
    except TypeError:
        kinds = ", ".join(sorted({type(v).__name__ for v in y}))
        raise InvalidDataError(
            f"The labels in y must all be of one sortable kind. Got a mixture of {kinds}."
        ) from None


def distinct_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels in sorted order, and the place of every label among them."""
    labels = classes_of(y)
    return labels, np.searchsorted(labels, y)


def encode(classes: NDArray[Any], y: NDArray[Any], name: str) -> Labels:
    """The index of each label of `y` in `classes`; other labels are an error."""
    try:
        codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
        unknown = np.asarray(classes[codes] != y)
    except TypeError:  # labels that cannot be compared with the classes
        codes, unknown = np.zeros(len(y), dtype=int), np.ones(len(y), dtype=bool)
    if np.any(unknown):
        raise InvalidDataError(
            f"{name} holds the label {y[int(np.argmax(unknown))]}, which does not occur in the "
            f"training labels {', '.join(map(str, classes[:10]))}"
            f"{', ...' if len(classes) > 10 else ''}."
            f"{did_you_mean(str(y[int(np.argmax(unknown))]), classes)}"
        )
    return codes.astype(np.int32)


def need_same_kind(y: NDArray[Any], *, multi_label: bool) -> None:
    """Check that a warm start gets the same kind of labels as the fit before."""
    kinds = ("a vector of labels", "an indicator matrix")
    if (y.ndim == 2) != multi_label:
        raise InvalidDataError(
            f"y must be {kinds[multi_label]}, as in the fit that warm_start=True continues. Got "
            f"{kinds[not multi_label]}."
        )


MOST_CLASSES = 2**20


def need_two_classes(classes: NDArray[Any], owner: str) -> None:
    if len(classes) > MOST_CLASSES:
        raise InvalidDataError(
            f"{owner} takes at most {MOST_CLASSES} classes. Got {len(classes)}: is y a number to "
            "be predicted, or an identifier of the rows?"
        )
    if len(classes) < 2:
        raise InvalidDataError(
            f"{owner} needs rows of at least two classes (rows of weight zero do not count). "
            f"Got one class only: {classes[0]}."
        )

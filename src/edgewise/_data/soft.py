"""Soft labels: for every row the probabilities of the classes.

The losses are linear in the distribution of the label, so a row with probabilities q_k is
equivalent to one copy for every class with q_k > 0, whose weight is q_k times that of the row.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._ground.checks import need_unmasked
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.sums import exact_sums
from .weights import product

Array = NDArray[np.float64]
_NEAR_ONE = 1e-5  # allowed error of a row's sum, as in single precision
_ROUNDING = 1e-12  # error that needs no normalisation


@dataclass(frozen=True)
class SoftLabels:
    """Probabilities of the classes, (n, n_classes), perhaps multiplied by class weights."""

    probabilities: Array
    classes: NDArray[Any]

    ndim: ClassVar[int] = 1  # as for a vector of labels, classes exclude each other

    def __len__(self) -> int:
        return len(self.probabilities)

    def __getitem__(self, rows: Any) -> "SoftLabels":
        return SoftLabels(self.probabilities[rows], self.classes)

    def weighted(self, class_weight: Any) -> "SoftLabels":
        """With the weights of the classes multiplied in."""
        if class_weight is None:
            return self
        factors = self.class_factors(class_weight)
        weighted = product(self.probabilities, factors, "y times class_weight")
        return SoftLabels(weighted, self.classes)

    def class_factors(self, class_weight: Any) -> Array:
        """The weight of each class, from a mapping or from "balanced"."""
        if isinstance(class_weight, Mapping):
            unknown = [name for name in class_weight if name not in self.classes.tolist()]
            if unknown:
                raise InvalidParameterError(
                    f"The 'class_weight' parameter has the key {unknown[0]!r}, which is none of "
                    f"the classes {', '.join(map(str, self.classes))}."
                )
            return np.array([class_weight.get(name, 1.0) for name in self.classes.tolist()])
        mass = exact_sums(self.probabilities)
        return np.asarray(len(self) / (len(self.classes) * mass))

    def known_classes(self) -> NDArray[Any]:
        """The classes; all of them must occur."""
        never = np.flatnonzero(~(self.probabilities > 0).any(axis=0))
        if len(never):
            raise InvalidDataError(
                "Every class must have a positive probability in some row of y (rows of weight "
                f"zero do not count). Class {self.classes[never[0]]} has none."
            )
        return self.classes

    def among(self, classes: NDArray[Any], name: str) -> Array:
        """The probabilities of given classes, (n, n_classes)."""
        if self.classes.tolist() != classes.tolist():
            wanted, got = (", ".join(map(str, c[:10])) for c in (classes, self.classes))
            raise InvalidDataError(
                f"{name} must have a column for each of the classes {wanted}. Got {got}."
            )
        return self.probabilities


def soft_labels(y: Any, name: str) -> SoftLabels | None:
    """Soft labels, if y is a matrix of floats whose rows sum to one; else None.

    The columns of a data frame name the classes; otherwise they are numbers.
    """
    need_unmasked(y, name)
    matrix, classes = _matrix(y)
    if matrix is None or classes is None:
        return None
    off = np.abs(matrix.sum(axis=1) - 1.0)
    wrong = ~((matrix >= 0) & (matrix <= 1 + _NEAR_ONE)).all(axis=1) | ~(off <= _NEAR_ONE)
    if not wrong.any():
        order = np.argsort(classes, kind="stable")
        matrix = np.ascontiguousarray(matrix[:, order])
        sums = matrix.sum(axis=1, keepdims=True)
        return SoftLabels(
            matrix / np.where(off[:, np.newaxis] > _ROUNDING, sums, 1.0), classes[order]
        )
    if np.isin(matrix, (0.0, 1.0)).all():  # labels that do not exclude each other
        return None
    row = int(np.argmax(wrong))
    held = ", ".join(f"{value:g}" for value in matrix[row, :6])
    raise InvalidDataError(
        f"A matrix of floats as {name} must hold probabilities of the classes, from 0 to 1 and "
        f"with the sum 1 in every row. Row {row} holds {held}"
        f"{', ...' if matrix.shape[1] > 6 else ''}: the sum is {matrix[row].sum():g}."
    )


def _matrix(y: Any) -> tuple[Array | None, NDArray[Any] | None]:
    """A matrix of floats with two columns or more, and the classes."""
    if sparse.issparse(y):
        return None, None
    if nw.dependencies.is_into_dataframe(y):
        frame = nw.from_native(y, eager_only=True)
        if len(frame.columns) < 2 or not all(dtype.is_float() for dtype in frame.schema.values()):
            return None, None
        columns = [np.asarray(frame[column].to_numpy()) for column in frame.columns]
        return np.column_stack(columns).astype(np.float64), np.array(list(frame.columns))
    try:
        array = np.asarray(y)
    except ValueError:  # rows of different lengths
        return None, None
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind != "f":
        return None, None
    return array.astype(np.float64), np.arange(array.shape[1])

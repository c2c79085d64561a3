"""X in the form that each library expects: unchanged, or as numbers with coded categories."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._data.frames import columns as typed_columns
from .._data.sparse import sound
from .._ground.errors import InvalidDataError


@dataclass(frozen=True)
class Features:
    """The same rows in two forms, which are identical without categories and dates."""

    native: Any  # (n, d): for our estimators
    matrix: Any  # (n, d): numbers, NaN where missing, codes 0, 1, ... of categories, seconds of
    # dates; or sparse
    categorical: NDArray[np.bool_]  # (d)

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def sparse(self) -> bool:
        return bool(issparse(self.matrix))

    @property
    def has_missing(self) -> bool:
        return (
            not self.sparse and self.matrix.dtype.kind == "f" and bool(np.isnan(self.matrix).any())
        )

    def take(self, rows: NDArray[Any]) -> "Features":
        matrix = self.matrix[rows]
        if self.native is self.matrix:
            return Features(matrix, matrix, self.categorical)
        native = nw.from_native(self.native)[rows].to_native()
        return Features(native, matrix, self.categorical)


def features_of(parts: Sequence[Any]) -> list[Features]:
    """Matrices or frames with the same columns; a category has the same code in all of them."""
    if any(nw.dependencies.is_into_dataframe(part) for part in parts):
        return _of_frames(parts)
    return [_of_matrix(part) for part in parts]


def _of_matrix(X: Any) -> Features:
    matrix = sound(X) if issparse(X) else np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise InvalidDataError(
            "X must be a matrix of numbers or a data frame. Got an array of shape "
            f"{matrix.shape} and type {matrix.dtype}."
        )
    return Features(matrix, matrix, np.zeros(matrix.shape[1], dtype=bool))


def _of_frames(parts: Sequence[Any]) -> list[Features]:
    frames = [nw.from_native(part, eager_only=True) for part in parts]
    names = frames[0].columns
    for frame in frames[1:]:
        if frame.columns != names:
            raise InvalidDataError("The test rows must have the columns of the training rows.")
    times = _times(parts)
    categorical = np.array([_is_category(frames, n) and n not in times for n in names])
    columns = [
        times.get(name)
        or (_codes(frames, name) if category else [_numbers(frame, name) for frame in frames])
        for name, category in zip(names, categorical, strict=True)
    ]
    matrices = [np.column_stack([column[i] for column in columns]) for i in range(len(frames))]
    return [
        Features(part if categorical.any() or times else matrix, matrix, categorical)
        for part, matrix in zip(parts, matrices, strict=True)
    ]


def _times(parts: Sequence[Any]) -> dict[str, list[NDArray[Any]]]:
    """Seconds of the columns of dates and times, by name."""
    typed = [typed_columns(part) for part in parts]
    return {
        str(first.label): [columns[j].seconds() for columns in typed]
        for j, first in enumerate(typed[0])
        if all(columns[j].time_kind is not None for columns in typed)
    }


def _is_category(frames: Sequence[Any], name: str) -> bool:
    kinds = [frame[name].dtype for frame in frames]
    return any(isinstance(kind, nw.String | nw.Categorical | nw.Enum | nw.Object) for kind in kinds)


def _numbers(frame: Any, name: str) -> NDArray[Any]:
    column = frame[name]
    if column.dtype != nw.Boolean and not column.dtype.is_numeric():
        raise InvalidDataError(f"Column {name!r} holds {column.dtype}; allowed are numbers, text.")
    if column.null_count():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values: NDArray[Any] = column.to_numpy()
    return values.astype(np.uint8) if values.dtype.kind == "b" else values


def _codes(frames: Sequence[Any], name: str) -> list[NDArray[np.float64]]:
    """Places among the sorted values of all frames; NaN where missing."""
    values = [_words(frame[name]) for frame in frames]
    known = sorted({word for words in values for word in words if word is not None})
    place = {word: code for code, word in enumerate(known)}
    return [
        np.array([np.nan if word is None else place[word] for word in words]) for words in values
    ]


def _words(column: Any) -> list[str | None]:
    absent = column.is_null().to_list()
    return [None if a else str(w) for w, a in zip(column.to_list(), absent, strict=True)]

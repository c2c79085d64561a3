"""A table that was read: first all columns, then features and target."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._ground.errors import InvalidDataError
from .._ground.wording import did_you_mean
from ._columns import Column, as_numbers, described, features, missing_in, with_numbers

LIKELY_TARGETS = ("target", "class", "label", "y")
_SHOWN = 10  # names listed in a message


@dataclass(frozen=True)
class Table:
    """Features and labels, and what was recognised.

    Attributes
    ----------
    name : str
        Name of the file or set.
    X : Any
        Features: an Arrow table, or a sparse matrix.
    y : array of shape (n_rows,)
        Labels.
    target : str
        Name of the target column.
    columns : tuple[Column, ...]
        Names of the columns; or, of a table read from a file, its feature columns.
    notes : tuple[str, ...]
        Remarks on how the file was read.
    from_zero : bool
        Whether a svmlight file counts its columns from 0.
    notations : Mapping[str, str]
        Decimal separators of the features that were read as numbers from text such as "$1,234".
    """

    name: str
    X: Any
    y: NDArray[Any]
    target: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()
    from_zero: bool = False
    notations: Mapping[str, str] = field(default_factory=dict)

    def take(self, rows: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Select rows.

        Parameters
        ----------
        rows : ndarray of int
            Numbers of the rows.

        Returns
        -------
        X, y
            Features and labels of these rows.
        """
        X = self.X.take(rows) if isinstance(self.X, pa.Table) else self.X[rows]
        return X, self.y[rows]

    def summary(self) -> dict[str, Any]:
        """Return what was recognised, in plain values."""
        kinds = Counter(column.kind for column in self.columns)
        sparse = not isinstance(self.X, pa.Table)
        return {
            "name": self.name,
            "rows": len(self.y),
            "features": self.X.shape[1],
            "numbers": self.X.shape[1] if sparse else kinds["number"],
            "categories": kinds["category"],
            "dates": kinds["date"],
            "sparse": sparse,
            "missing": sum(column.missing for column in self.columns),
            "columns_with_missing": sum(column.missing > 0 for column in self.columns),
            "target": self.target,
            "classes": _counts(self.y),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Columns:
    """All columns of a file, as numbers, text, dates or times.

    Attributes
    ----------
    name : str
        Name of the file or set.
    frame : Any
        The columns as an Arrow table.
    dates : frozenset[str]
        Names of the columns that hold dates.
    notes : tuple[str, ...]
        Remarks on how the file was read.
    target : str | None
        Name of the target column, if the source states it.
    text : frozenset[str]
        Names of the columns that stay text, even if the text is numbers.
    decimal : str
        Decimal separator of numbers.
    """

    name: str
    frame: Any
    dates: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    target: str | None = None
    text: frozenset[str] = frozenset()
    decimal: str = "."

    def labelled(
        self, target: str | None, drop: tuple[str, ...] = (), *, but: tuple[str, ...] = ()
    ) -> Table:
        """Separate features and labels.

        Parameters
        ----------
        target : str or None
            Name or position of the target column. None looks for it.
        drop : tuple of str, default=()
            Columns to leave out.
        but : tuple of str, default=()
            Columns that are known not to be the target.

        Returns
        -------
        Table
            Features and labels.
        """
        names = self.frame.column_names
        absent = [name for name in drop if name not in names]
        if absent:
            raise _no_column(absent[0], names, self.name)
        kept = [name for name in names if name not in drop]
        chosen, note = _target(self.target if target is None else target, kept, but, self.name)
        if kept == [chosen]:
            raise InvalidDataError(f"{self.name} has no column besides the target {chosen!r}.")
        X = features(self.frame, [name for name in kept if name != chosen])
        X, notations, read = as_numbers(X, self.text, self.decimal)
        y = _labels(self.frame.column(chosen), chosen, self.name)
        columns = described(X, self.dates)
        notes = (*self.notes, *note, *read)
        return Table(self.name, X, y, chosen, columns, notes, notations=notations)

    def features(
        self,
        names: list[str] | None,
        n_features: int,
        notations: Mapping[str, str] | None = None,
    ) -> Any:
        """Select the columns of a model.

        Parameters
        ----------
        names : list of str or None
            Names of the columns. None takes columns by position.
        n_features : int
            Number of columns of the model.
        notations : Mapping[str, str], default=None
            Decimal separators of columns to read as numbers from text.

        Returns
        -------
        Arrow table
            The features.
        """
        if names is None:
            if self.frame.num_columns < n_features:
                raise InvalidDataError(
                    f"{self.name} has {self.frame.num_columns} columns; the model needs "
                    f"{n_features}."
                )
            return features(self.frame, self.frame.column_names[:n_features])
        absent = [name for name in names if name not in self.frame.column_names]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise InvalidDataError(
                f"{self.name} lacks the column {absent[0]!r}{more}, which the model needs."
            )
        return with_numbers(features(self.frame, names), notations or {})


@dataclass(frozen=True)
class SparseRows:
    """A svmlight file: its target stands at the start of each line, its columns have no names.

    Columns are counted from 1, as libsvm does, unless number 0 occurs or `from_zero` says so.

    Attributes
    ----------
    name : str
        Name of the file.
    numbered : Any
        Sparse matrix with one more column, for number 0.
    y : array of shape (n_rows,)
        Labels.
    from_zero : bool
        Whether the columns are counted from 0.
    """

    name: str
    numbered: Any
    y: NDArray[Any]
    from_zero: bool

    @property
    def X(self) -> Any:
        return self.numbered if self.from_zero else self.numbered[:, 1:]

    def labelled(
        self, target: str | None, drop: tuple[str, ...] = (), *, but: tuple[str, ...] = ()
    ) -> Table:
        """Separate features and labels.

        Parameters
        ----------
        target : str or None
            Must be None: a svmlight file has its target at the start of each line.
        drop : tuple of str, default=()
            Must be empty: the columns have no names.
        but : tuple of str, default=()
            Columns that are known not to be the target.

        Returns
        -------
        Table
            Features and labels.
        """
        if target is not None or drop:
            raise InvalidDataError(
                f"{self.name} is a svmlight file: the target is at the start of each line and "
                "columns have no names, so you cannot select either."
            )
        return Table(self.name, self.X, self.y, "label", (), from_zero=self.from_zero)

    def features(
        self,
        names: list[str] | None,
        n_features: int,
        notations: Mapping[str, str] | None = None,
    ) -> Any:
        """Select the columns of a model; columns that do not occur are zero.

        Parameters
        ----------
        names : list of str or None
            Names of the columns, which svmlight files do not have.
        n_features : int
            Number of columns of the model.
        notations : Mapping[str, str], default=None
            Ignored: svmlight files hold numbers.

        Returns
        -------
        sparse matrix
            The features.
        """
        X = self.X
        if X.shape[1] > n_features:
            raise InvalidDataError(
                f"{self.name} has {X.shape[1]} features; the model needs {n_features}."
            )
        return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))


def _target(
    wanted: str | None, names: list[str], but: tuple[str, ...], source: str
) -> tuple[str, list[str]]:
    """Return the name of the target, and a note if it was chosen automatically."""
    if wanted is not None:
        return _named(wanted, names, source), []
    free = [name for name in names if name not in but]
    if not free:
        raise InvalidDataError(f"{source} has no column besides the features; name the target.")
    likely = [name for name in free if name.lower() in LIKELY_TARGETS]
    chosen = likely[0] if len(likely) == 1 else free[-1]
    place = "" if len(likely) == 1 else ", the last column,"
    return chosen, [f"column {chosen!r}{place} was taken as the target"]


def _named(wanted: str, names: list[str], source: str) -> str:
    if wanted in names:
        return wanted
    try:
        return names[int(wanted)]
    except (ValueError, IndexError):
        raise _no_column(wanted, names, source) from None


def _no_column(wanted: str, names: list[str], source: str) -> InvalidDataError:
    shown = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return InvalidDataError(
        f"{source} has no column {wanted!r}.{did_you_mean(wanted, names)} Its {len(names)} columns "
        f"are: {shown}."
    )


def _labels(column: Any, name: str, source: str) -> NDArray[Any]:
    n_missing = missing_in(column)
    if n_missing:
        first = next(i for i, v in enumerate(column.to_pylist()) if _is_absent(v))
        raise InvalidDataError(
            f"The target {name!r} of {source} is missing in {n_missing} of {len(column)} rows, the "
            f"first in row {first + 1}; every row needs a label."
        )
    if pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type):
        return np.array(column.to_pylist())
    if pa.types.is_boolean(column.type):
        return np.where(column.to_numpy(), "true", "false")
    labels: NDArray[Any] = column.to_numpy()
    if labels.dtype.kind == "f":
        return _whole(labels, name, source)
    return labels


def _is_absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _whole(labels: NDArray[Any], name: str, source: str) -> NDArray[Any]:
    """Labels that are whole numbers as integers; others would be measurements."""
    whole = np.isfinite(labels) & (labels == np.round(labels))
    if not whole.all():
        raise InvalidDataError(
            f"The target {name!r} of {source} holds the number {labels[~whole][0]:g}; class labels "
            "are text or whole numbers."
        )
    return labels.astype(np.int64)


def _counts(y: NDArray[Any]) -> dict[str, int]:
    classes, counts = np.unique(y, return_counts=True)
    return {str(label): int(count) for label, count in zip(classes, counts, strict=True)}

"""Data frames of any library that narwhals knows, as one matrix of numbers.

Columns of numbers and booleans are numbers, null is NaN. Columns of strings and of a frame's
categorical types are categories, identified by value: a table of the values, learned in ``fit``,
maps values to numbers, so the codes of a frame do not matter. Values that are not in the table are
missing. Columns of dates and times are seconds (see ``dates``).
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidDataError
from . import dates, kinds

Array = NDArray[Any]
Tables = dict[int, Array]  # by column: its values; the place of a value is its number

_CATEGORICAL = (nw.Categorical, nw.Enum)
_WIDE = (nw.Int128, nw.UInt128, nw.Decimal)  # NumPy has no such numbers
# Types whose values are all exact in single precision.
_SMALL = (nw.Float16, nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)
_MOST_BYTES = 2**30  # of a table of strings


class Column(NamedTuple):
    """One column of a frame."""

    label: Any
    series: nw.Series[Any]

    @property
    def shown(self) -> str:
        return f"Column {self.label!r}"

    @property
    def is_categories(self) -> bool:
        """Return whether the column's type makes its values categories: strings or categorical."""
        dtype = self.series.dtype
        return dtype == nw.String or isinstance(dtype, _CATEGORICAL)

    @property
    def is_small(self) -> bool:
        """Return whether single precision holds the values."""
        return self.series.dtype in _SMALL

    @property
    def time_kind(self) -> str | None:
        """The kind of dates or times that the column holds, if it does."""
        return dates.kind_of_type(self.series.dtype)

    def seconds(self) -> Array:
        """Dates or times as seconds."""
        return dates.seconds_of_series(self.series, self.shown)

    def __len__(self) -> int:
        return len(self.series)

    def distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """Distinct values, strings, numbers or booleans, and for every row its value's place.

        Null has the place -1.
        """
        series = self.series
        native = series.to_native()
        if isinstance(series.dtype, _CATEGORICAL):
            if series.implementation.is_pandas_like() and hasattr(native, "cat"):
                codes = np.asarray(native.cat.codes, dtype=np.intp)
                return _plain(np.asarray(native.cat.categories), self.shown), codes
            series = _decoded(series)
        values = series.drop_nulls().unique()
        numbers = values.to_list()
        if not numbers:
            return np.empty(0, dtype=bool), np.full(len(series), -1)
        places = series.replace_strict(
            numbers, list(range(len(numbers))), default=None, return_dtype=nw.Float64
        ).to_numpy()
        known = np.nan_to_num(places, nan=-1.0).astype(np.intp)
        return _plain(np.array(numbers, dtype=object), self.shown), known

    def numbers(self) -> Array:
        """The values as numbers or booleans, null as NaN."""
        series = self.series
        if series.null_count() == len(series):
            return np.full(len(series), np.nan)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            plain = series.null_count() == 0 and not isinstance(series.dtype, _WIDE)
            values = (series if plain else series.cast(nw.Float64)).to_numpy()
        else:
            values = np.asarray(series.to_numpy())
        if values.dtype.kind not in "fiub" or values.ndim != 1:  # structures have two dimensions
            raise InvalidDataError(
                f"{self.shown} must hold numbers, booleans, strings or categories. Got "
                f"{series.dtype}."
            )
        return values


class Objects:
    """A column of Python objects, from an array or from a frame without a better type."""

    is_small = False

    def __init__(self, label: Any, values: Array) -> None:
        self.label = label
        self.shown = f"Column {label!r}"
        self._values = values
        self._missing = np.array([kinds.is_missing(value) for value in values], dtype=bool)
        kind = kinds.kind_of_all(values[~self._missing], self.shown)
        self.is_categories = kind == "text"
        self.time_kind = kind if kind in kinds.TIMES else None

    def __len__(self) -> int:
        return len(self._values)

    def seconds(self) -> Array:
        """As of a `Column`."""
        seconds = np.full(len(self._values), np.nan)
        seconds[~self._missing] = dates.seconds_of_objects(self._values[~self._missing], self.shown)
        return seconds

    def distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """As of a `Column`."""
        places = np.full(len(self._values), -1)
        place_of: dict[Any, int] = {}
        for i in np.flatnonzero(~self._missing):
            places[i] = place_of.setdefault(self._values[i], len(place_of))
        return _plain(np.array(list(place_of), dtype=object), self.shown), places

    def numbers(self) -> Array:
        """As of a `Column`."""
        numbers = np.full(len(self._values), np.nan)
        numbers[~self._missing] = self._values[~self._missing].astype(np.float64)
        return numbers


class Numbers(NamedTuple):
    """A column of an array of numbers."""

    label: Any
    values: Array
    is_small: bool = False
    is_categories: bool = False

    @property
    def shown(self) -> str:
        return f"Column {self.label!r}"

    @property
    def time_kind(self) -> str | None:
        """As of a `Column`."""
        return {"M": "date", "m": "duration"}.get(self.values.dtype.kind)

    def seconds(self) -> Array:
        """As of a `Column`; numbers are seconds."""
        if self.time_kind is not None:
            return dates.seconds_of_array(self.values, self.shown)
        return self.values.astype(np.float64)

    def __len__(self) -> int:
        return len(self.values)

    def distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """As of a `Column`."""
        values, places = np.unique(self.values, return_inverse=True)
        is_number = values == values  # noqa: PLR0124  NaN is not
        return values[is_number], np.where(is_number[places], places, -1)

    def numbers(self) -> Array:
        """As of a `Column`."""
        return self.values


@dataclass(frozen=True)
class Values:
    """The distinct values of a column whose rows are elsewhere."""

    label: Any
    values: Array
    is_categories: bool
    is_small: bool = False

    @property
    def shown(self) -> str:
        return f"Column {self.label!r}"

    time_kind = None

    def __len__(self) -> int:
        return len(self.values)

    def distinct(self) -> tuple[Array, NDArray[np.intp]]:
        """As of a `Column`."""
        return self.values, np.arange(len(self.values))

    def seconds(self) -> Array:
        """As of a `Column`."""
        return self.values

    def numbers(self) -> Array:
        """As of a `Column`."""
        return self.values

    def joined(self, other: "Values") -> "Values":
        """The values of both, which must be of one kind."""
        if len(other) == 0 or len(self) == 0:
            more = self if len(other) == 0 else other
            return replace(more, is_categories=self.is_categories or other.is_categories)
        words = {word_of(self.values), word_of(other.values)}
        if self.is_categories != other.is_categories or len(words) > 1:
            got = ", ".join(sorted(words))
            raise InvalidDataError(
                f"{self.shown} must hold values of one kind: numbers, booleans or strings. Got "
                f"{got}."
            )
        return replace(self, values=np.unique(np.concatenate([self.values, other.values])))


AnyColumn = Column | Objects | Numbers | Values


def is_frame(X: Any) -> bool:
    """Return whether X is a data frame; a lazy frame is an error."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    if nw.dependencies.is_into_dataframe(X):
        return True
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise InvalidDataError(
            f"X must be a table in memory. Got a lazy one ({type(X).__name__}): call its "
            "collect() or compute() first."
        )
    return False


def need_distinct_names(X: Any) -> None:
    names = list(getattr(X, "column_names", X.columns))
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidDataError(
            f"The columns of X must have different names. Got several with the name {twice[0]!r}."
        )


def columns(X: Any) -> list[AnyColumn]:
    """The columns of a frame."""
    if not hasattr(X, "iloc"):
        frame = nw.from_native(X, eager_only=True)
        return [_column(name, frame[name]) for name in frame.columns]
    natives = (X.iloc[:, j] for j in range(X.shape[1]))  # names may have any type
    return [
        _column(label, nw.from_native(native, series_only=True))
        for label, native in zip(X.columns, natives, strict=True)
    ]


def _column(label: Any, series: nw.Series[Any]) -> AnyColumn:
    if series.dtype == nw.Object:
        return Objects(label, np.array(series.to_list(), dtype=object))
    return Column(label, _readable(series))


def _readable(series: nw.Series[Any]) -> nw.Series[Any]:
    """Arrow's views of strings and its long dates as types that narwhals or Arrow can work with.

    Moments of pandas in any time zone in UTC: narwhals does not know all names of zones.
    """
    native = series.to_native()
    if series.implementation.is_pandas_like():
        of_arrow = getattr(native.dtype, "pyarrow_dtype", native.dtype)
        if getattr(of_arrow, "tz", None) is not None:
            return nw.from_native(native.dt.tz_convert(None), series_only=True)
    known = {"string_view": "string", "date64[ms]": "date32"}
    if series.implementation.is_pyarrow() and str(native.type) in known:
        return nw.from_native(native.cast(known[str(native.type)]), series_only=True)
    return series


def columns_of_array(X: Array, labels: Sequence[Any]) -> list[AnyColumn]:
    """The columns of an array of numbers or of Python objects."""
    kind = Objects if X.dtype.kind == "O" else Numbers
    return [kind(label, column) for label, column in zip(labels, X.T, strict=True)]


def as_one_matrix(X: Any) -> Any:
    """The frame's array if all columns are plain numbers of one type, perhaps without a copy.

    A CSR matrix if all columns are sparse; otherwise None.
    """
    if hasattr(X, "sparse"):  # pandas; only if all columns are
        with contextlib.suppress(ValueError):  # entries that are not stored are not zero
            return X.sparse.to_coo().tocsr()
    if hasattr(X, "iloc"):
        plain = all(
            isinstance(t, np.dtype) and t.kind in "fiub" and t == X.dtypes.iloc[0] for t in X.dtypes
        )
        return np.asarray(X.to_numpy()) if plain else None
    frame = nw.from_native(X, eager_only=True)
    kinds = set(frame.schema.values())
    first = kinds.pop()
    plain = (first.is_integer() or first.is_float()) and not isinstance(first, _WIDE)
    if kinds or not plain or not hasattr(X, "to_numpy"):
        return None
    nulls = any(frame[name].null_count() for name in frame.columns)
    return None if nulls else np.asarray(X.to_numpy())


def word_of(values: Array) -> str:
    """Return the word for a kind of values."""
    return {"O": "strings", "U": "strings", "b": "booleans"}.get(values.dtype.kind, "numbers")


def _decoded(series: nw.Series[Any]) -> nw.Series[Any]:
    """Decode categories to their values."""
    native = series.to_native()
    if series.implementation.is_pyarrow():
        return nw.from_native(native.cast(native.type.value_type), series_only=True)
    return series.cast(nw.String)


def _plain(values: Array, shown: str) -> Array:
    """Categories as an array of strings, numbers or booleans."""
    if values.dtype.kind in "fiub":
        return values
    if values.dtype.kind in "mM":
        raise kinds.misplaced_times(shown, str(values.dtype))
    kind = kinds.kind_of_all(values, shown)
    if kind in kinds.TIMES:
        raise kinds.misplaced_times(shown, type(values[0]).__name__)
    if kind == "text":
        longest = max(map(len, values), default=1)
        if 4 * longest * len(values) > _MOST_BYTES:
            raise InvalidDataError(
                f"{shown} must hold categories. Got {len(values)} distinct strings of up to "
                f"{longest} characters, which are texts rather than categories."
            )
        return strings(values)
    return values.astype(bool) if kind == "truth" else np.array(values.tolist())


def strings(values: Iterable[str]) -> Array:
    """Strings as objects, because NumPy's string type would drop NUL characters at the end."""
    return np.array([*map(str, values), None], dtype=object)[:-1]

"""X: the user's matrix or table becomes an array that the core can read, or raises an error.

X keeps its own type and layout wherever the core can read it, so nothing is copied. Missing values
are NaN; infinite values are allowed and fall into the outer bins.
"""

import contextlib
import os
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._ground.checks import MOST_FEATURES
from .._ground.errors import InvalidDataError, InvalidParameterError
from . import coding, dates, frames, kinds
from .parquet import ParquetRows
from .sparse import Matrix, SparseRows, sound
from .written import Notations

MOST_BINS = 255  # in a column of bins
COLUMN_BYTES = 100  # least memory of a fit for a column without entries

Mask = NDArray[np.bool_]

_PLAIN = (np.dtype(np.float64), np.dtype(np.float32))
_READABLE = frozenset(["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    if type(X) is np.ndarray:  # the usual case; predictions of single rows must be fast
        return False
    kinds = {kind.__module__.split(".")[0] for kind in type(X).__mro__}
    return not kinds.isdisjoint(("dask", "dask_expr"))


def is_elsewhere(X: Any) -> bool:
    """Return whether the rows of X are elsewhere: a Dask collection, or rows of Parquet files."""
    return isinstance(X, ParquetRows) or is_dask(X)


def matrix(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool = False) -> Matrix:
    """X as a two-dimensional array of real numbers, in a type the core reads.

    With `learn`, in a fit, it also sets the estimator's `is_categorical_`, the columns that are
    categories, `categories_`, the values of those that are not numbers, and `dates_`, the columns
    of dates and times. Parts of dates are columns behind those of X. Text that is numbers is read
    as such if the estimator has a notation for the column.
    """
    if not learn and _is_plain(estimator, X):
        return X  # type: ignore[no-any-return]
    _need_in_memory(X)
    if learn:
        need_few_columns(X)
    X = _unmasked(X)
    if sparse.issparse(X):
        return _of_sparse(estimator, X, reset=reset, learn=learn)
    if frames.is_frame(X):
        return _of_frame(estimator, X, reset=reset, learn=learn)
    return _of_array(estimator, _as_array(X), reset=reset, learn=learn)


def _of_array(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool) -> Matrix:
    kind = X.dtype.kind if isinstance(X, np.ndarray) else None
    if kind in ("m", "M"):
        return _of_times(estimator, X, reset=reset, learn=learn)
    if not learn and kind == "O" and _is_typed(estimator):
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return _by_tables(estimator, X)
    _need_no_times(X)
    try:
        checked = validate_data(estimator, X, reset=reset, dtype="numeric", ensure_all_finite=False)
    except (OverflowError, ValueError) as error:
        of_text = any(words in str(error) for words in ("could not convert", "bytes/strings"))
        if not isinstance(error, OverflowError) and not of_text:
            raise
        raise InvalidDataError(
            "X must contain only numbers unless it is a data frame; put text and categories into "
            f"a data frame, or encode them as numbers. {error}"
        ) from None
    if learn:
        _declare(estimator, reset=reset)
    if _is_typed(estimator):
        return _by_tables(estimator, np.asarray(checked))
    return readable(np.asarray(checked))


def _need_in_memory(X: Any) -> None:
    if isinstance(X, ParquetRows):
        raise InvalidDataError(
            "Rows of Parquet files are for fit as X, without y, and for predict, predict_proba and "
            "decision_function of the estimators that docs/scale.md lists."
        )


def need_few_columns(X: Any, memory: int | None = None) -> None:
    """Check that the columns fit into memory, even if all are empty."""
    shape: Any = getattr(X, "shape", ())
    n = int(shape[1]) if len(shape) == 2 and isinstance(shape[1], Integral) else 0
    if n > MOST_FEATURES:
        raise InvalidDataError(f"X may have at most {MOST_FEATURES} columns. Got {n}.")
    if n * COLUMN_BYTES > (memory or physical_memory()):
        raise InvalidDataError(
            f"A fit takes at least {COLUMN_BYTES} bytes for each column of X. Got {n} columns, "
            f"which is more than the {(memory or physical_memory()) >> 20} MB of this machine."
        )


def physical_memory() -> int:
    """Bytes of memory of this machine, or 2^63 if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 2**63


def _unmasked(X: Any) -> Any:
    """A masked array as a plain one, NaN where it is masked."""
    if isinstance(X, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in X):
        X = np.ma.array(X)
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if np.ma.is_masked(X) and X.dtype.kind in "mM":
        nothing: Any = np.array("NaT", X.dtype)[()]
        return X.filled(nothing)
    if not np.ma.is_masked(X) or X.dtype.kind not in "fiubO":
        return X.data
    return np.ma.filled(X.astype(np.float64) if X.dtype.kind in "iub" else X, np.nan)


def _as_array(X: Any) -> Any:
    """X, lists as an array."""
    with contextlib.suppress(ValueError):  # rows of different lengths: an error of scikit-learn
        return np.asarray(X) if isinstance(X, list | tuple) else X
    return X


def _need_no_times(X: Any) -> None:
    """Check that an array of objects holds no dates, which scikit-learn takes for numbers."""
    if not isinstance(X, np.ndarray) or X.dtype.kind != "O":
        return
    found = next((v for v in X.flat if kinds.time_kind_of(v) is not None), None)
    if found is not None:
        raise kinds.misplaced_times("X", type(found).__name__)


def _of_times(estimator: BaseEstimator, X: NDArray[Any], *, reset: bool, learn: bool) -> Matrix:
    """An array of dates or durations: all its columns are of this kind."""
    shape = np.where(np.isnat(X), np.nan, 0.0)  # what scikit-learn checks
    validate_data(estimator, shape, reset=reset, ensure_all_finite=False)
    labels = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    return _of_parts(estimator, frames.columns_of_array(X, labels), reset=reset, learn=learn)


def _of_sparse(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool) -> Matrix:
    checked = validate_data(
        estimator,
        sound(X),
        reset=reset,
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
    )
    if learn:
        _declare(estimator, reset=reset)
    if _is_typed(estimator):
        held = "categories" if _tables(estimator) else "dates or times"
        raise InvalidDataError(
            f"{type(estimator).__name__} was fitted to a data frame with {held}, and needs a "
            "data frame. Got a sparse matrix."
        )
    return SparseRows.of(checked)


def _is_plain(estimator: BaseEstimator, X: Any) -> bool:
    """Return whether X passes scikit-learn's checks in a prediction without a message.

    The checks themselves take longer than the prediction of a row.
    """
    return (
        type(X) is np.ndarray
        and X.dtype in _PLAIN
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", 0) > 0
        and X.flags.c_contiguous
        and X.flags.aligned
        and not hasattr(estimator, "feature_names_in_")
        and not _is_typed(estimator)
    )


def _declare(estimator: BaseEstimator, *, reset: bool) -> None:
    """Set the estimator's categorical columns if all columns contain numbers."""
    estimator.is_categorical_ = declared(estimator)
    estimator.categories_ = {} if reset else estimator.categories_
    estimator.dates_ = {} if reset else dates_of(estimator)
    estimator.notations_ = {} if reset else _notations(estimator)


def _tables(estimator: BaseEstimator) -> frames.Tables:
    tables: frames.Tables = getattr(estimator, "categories_", {})
    return tables


def dates_of(estimator: BaseEstimator) -> dates.Dates:
    """The columns of dates and times that a fit has found."""
    found: dates.Dates = getattr(estimator, "dates_", {})
    return found


def _notations(estimator: BaseEstimator) -> Notations:
    found: Notations = getattr(estimator, "notations_", {})
    return found


def n_columns(estimator: Any) -> int:
    """Columns of the model: those of X, and the parts of dates."""
    return int(estimator.n_features_in_) + len(dates.owners(dates_of(estimator)))


def _is_typed(estimator: BaseEstimator) -> bool:
    """Return whether some columns are more than numbers."""
    return bool(_tables(estimator)) or bool(dates_of(estimator))


def _by_tables(estimator: BaseEstimator, X: NDArray[Any]) -> Matrix:
    """Convert an array for a model that was fitted to a data frame with categories or dates."""
    labels = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    parts = frames.columns_of_array(X, labels)
    return coding.filled(parts, _tables(estimator), dates_of(estimator), _notations(estimator))


def _of_frame(estimator: BaseEstimator, X: Any, *, reset: bool, learn: bool) -> Matrix:
    frames.need_distinct_names(X)
    validate_data(estimator, X, reset=reset, skip_check_array=True)  # names and number of columns
    for place, thing in enumerate(("sample(s)", "feature(s)")):
        if X.shape[place] == 0:
            raise InvalidDataError(
                f"Found array with 0 {thing} (shape={tuple(X.shape)}) while a minimum of 1 is "
                f"required by {type(estimator).__name__}."
            )
    whole = frames.as_one_matrix(X)
    if whole is not None:
        if learn:
            _declare(estimator, reset=reset)
        if not _is_typed(estimator):
            return SparseRows.of(sound(whole)) if sparse.issparse(whole) else readable(whole)
    return _of_parts(estimator, frames.columns(X), reset=reset, learn=learn)


def _of_parts(
    estimator: BaseEstimator, parts: Sequence[frames.AnyColumn], *, reset: bool, learn: bool
) -> Matrix:
    if learn:
        learn_categories(estimator, parts, None if reset else estimator.categories_)
        _learn_dates(estimator, parts, None if reset else dates_of(estimator))
        estimator.notations_ = {} if reset else _notations(estimator)
    return coding.filled(parts, _tables(estimator), dates_of(estimator), _notations(estimator))


def _learn_dates(
    estimator: BaseEstimator, parts: Sequence[frames.AnyColumn], known: dates.Dates | None
) -> None:
    """`known` are the dates of the fit that is continued, if any."""
    found = {j: part for j, part in enumerate(parts) if part.time_kind is not None}
    named = [j for j in columns_of(estimator.is_categorical_) if j in found]
    if named:
        raise kinds.misplaced_times(found[named[0]].shown, str(found[named[0]].time_kind))
    if known is None:
        known = {j: dates.learned(part, part.seconds()) for j, part in found.items()}
    estimator.dates_ = known


def learn_categories(
    estimator: BaseEstimator, parts: Sequence[frames.AnyColumn], known: frames.Tables | None
) -> None:
    """Set the categorical columns of the estimator and their values.

    `known` contains the tables of the fit that is resumed, if any.
    """
    by_type = np.array([part.is_categories for part in parts])
    mask = by_type if _from_dtype(estimator) else declared(estimator)
    if mask is None:
        mask = np.zeros(len(parts), dtype=bool)
    undeclared = np.flatnonzero(by_type & ~mask)
    if len(undeclared):
        raise InvalidDataError(
            f"{parts[undeclared[0]].shown} holds text or categories, which the "
            "'categorical_features' parameter does not name. Name it there, give 'from_dtype' for "
            "all such columns, or encode it as numbers."
        )
    estimator.is_categorical_ = mask if mask.any() else None
    listed = columns_of(by_type) if known is None else list(known)
    estimator.categories_ = {
        j: coding.learned(parts[j], None if known is None else known[j]) for j in listed
    }


def _from_dtype(estimator: BaseEstimator) -> bool:
    given = estimator.categorical_features
    return isinstance(given, str) and given == "from_dtype"


def declared(estimator: BaseEstimator) -> Mask | None:
    """Return the columns that the estimator's parameter makes categorical, (d); None if none."""
    given = estimator.categorical_features
    if given is None or _from_dtype(estimator) or len(given) == 0:
        return None
    columns = np.asarray(given)
    d = estimator.n_features_in_
    mask = np.zeros(d, dtype=bool)
    if columns.dtype.kind == "b":
        if len(columns) != d:
            words = f"have one bool for each of the {d} columns of X"
            raise _wrong_columns(estimator, words, len(columns))
        mask[:] = columns
    elif columns.dtype.kind in "iu":
        outside = columns[(columns < 0) | (columns >= d)]
        if len(outside):
            raise _wrong_columns(estimator, f"hold numbers from 0 to {d - 1}", int(outside[0]))
        mask[columns] = True
    else:
        mask[_places_of_names(estimator, given)] = True
    return mask if mask.any() else None


def columns_of(mask: Mask | None) -> list[int]:
    """The numbers of the columns of a mask."""
    return [] if mask is None else [int(j) for j in np.flatnonzero(mask)]


def _places_of_names(estimator: BaseEstimator, given: Any) -> list[int]:
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise _wrong_columns(
            estimator, "hold column numbers or bools if the columns of X have no names", given[0]
        )
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in given if name not in place]
    if unknown:
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise _wrong_columns(estimator, f"hold names of columns of X ({shown})", unknown[0])
    return [place[name] for name in given]


def _wrong_columns(estimator: BaseEstimator, words: str, got: Any) -> InvalidParameterError:
    return InvalidParameterError(
        f"The 'categorical_features' parameter of {type(estimator).__name__} must {words}. "
        f"Got {got!r} instead."
    )


def readable(X: NDArray[Any]) -> NDArray[Any]:
    if X.dtype.kind == "b":
        return X.view(np.uint8)
    if X.dtype.kind == "f" and X.dtype.itemsize < 4:
        return X.astype(np.float32)
    if X.dtype.kind + str(X.dtype.itemsize) not in _READABLE:
        return X.astype(np.float64)
    native = X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))
    whole = native.flags.aligned and all(s % native.itemsize == 0 for s in native.strides)
    return native if whole else native.copy()


def need_few_bins(estimator: Any, where: str) -> None:
    """Check that each feature has one column of bins."""
    if estimator.max_bins > MOST_BINS:
        raise InvalidParameterError(
            f"The 'max_bins' parameter of {type(estimator).__name__} must be at most {MOST_BINS} "
            f"{where}. Got {estimator.max_bins}."
        )

"""The two entry points of the estimators: fit and predict on rows that are not in memory."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._boosting.base import Fit
from .._boosting.threads import n_threads
from .._boosting.trials import MOST_ROWS
from .._data import features
from .._data.parquet import ParquetRows, Pieces
from .._ground.errors import InvalidDataError, InvalidParameterError
from . import _disk
from ._backend import Backend
from ._categories import coded
from ._checkpoint import Checkpoints, resumed
from ._checks import need_supported
from ._progress import TrafficWatcher
from ._rows import gather_rows
from ._settings import Settings, current
from ._soft import expanded


def fit(
    estimator: Any, given: tuple[Any, Any, Any], given_val: tuple[Any, Any, Any], begin: float
) -> None:
    """Fits an estimator to Dask collections X, y and weights, or to rows of Parquet files."""
    need_supported(estimator)
    opened = _open_parquet if isinstance(given[0], ParquetRows) else _open_dask
    rows = opened(estimator, given, given_val)
    try:
        fit_parts(
            estimator,
            rows.backend,
            coded(estimator, rows.backend, rows.parts, rows.of_values),
            weighted=rows.weighted,
            soft=rows.soft,
            validation=rows.validation,
            begin=begin,
            chosen=current(),
        )
    finally:
        rows.backend.close()


class Opened(NamedTuple):
    """The rows of a fit as raw parts of an engine."""

    backend: Backend
    parts: Any
    weighted: bool
    validation: tuple[Any, ...]
    of_values: list[int]  # columns that may hold text or categories
    soft: bool  # whether labels are probabilities of the classes


def _open_dask(estimator: Any, given: tuple[Any, ...], given_val: tuple[Any, ...]) -> Opened:
    from . import _dask  # noqa: PLC0415 - optional

    X, y, weights = given
    features.need_few_columns(X)
    parts = _dask.parts(X, y, weights)
    _learn_columns(estimator, *_dask.columns(X))
    validation = tuple(_dask.computed(part) for part in given_val)
    backend = _dask.DaskBackend(current().patience)
    of_values, soft = _dask.columns_of_values(X), _dask.has_probabilities(y)
    return Opened(backend, parts, weights is not None, validation, of_values, soft)


def _open_parquet(estimator: Any, given: tuple[Any, ...], given_val: tuple[Any, ...]) -> Opened:
    rows, *others = given
    if any(other is not None for other in others):
        raise InvalidDataError(
            "Rows of Parquet files bring their labels and weights along: name the columns, "
            "parquet(..., target=..., sample_weight=...), and give neither y nor sample_weight."
        )
    if rows.target is None:
        raise InvalidDataError("A fit needs the column of the labels: parquet(..., target=...).")
    pieces = Pieces(rows)
    _learn_columns(estimator, len(pieces.columns), np.array(pieces.columns, dtype=object))
    backend = _disk.DiskBackend(n_threads(estimator.n_jobs, 1 << 40), rows.folder)
    weighted = rows.sample_weight is not None
    return Opened(backend, _disk.PieceParts(pieces), weighted, given_val, [], soft=False)


def fit_parts(
    estimator: Any,
    backend: Backend,
    parts: list[Any],
    *,
    weighted: bool,
    soft: bool = False,
    validation: tuple[Any, ...],
    begin: float,
    chosen: Settings,
) -> None:
    """Fit an estimator that knows its columns to raw parts of any engine."""
    loss_before = resumed(estimator, chosen.resume_from)
    continues = chosen.resume_from is not None or (
        estimator.warm_start and hasattr(estimator, "model_")
    )
    checkpoints = Checkpoints(estimator, chosen)
    traffic_watcher = TrafficWatcher(estimator, backend, chosen)
    given = any(part is not None for part in validation)
    held = estimator.early_stopping is True or estimator._holds_rows_out()
    hold_out = held and not given
    copies = 1.0
    if soft:
        parts, weighted, copies = expanded(estimator, backend, parts, hold_out=hold_out)
    rows, classes, held_out = gather_rows(
        estimator,
        backend,
        parts,
        weighted=weighted,
        hold_out=hold_out,
        watchers=[checkpoints, traffic_watcher],
    )
    rows.loss_before, rows.copies = loss_before, copies
    try:
        if not (given or hold_out or estimator.warm_start):
            _need_rounds(estimator, rows.X.shape[0])
        if continues:
            _need_same_classes(estimator, classes)
        estimator.multi_label_ = False
        validation_rows = estimator._given_validation(validation, classes) or held_out
        if validation_rows is not None:
            validation_rows = validation_rows.expanded()
        watched = estimator._searches_rounds(rows.X.shape[0]) or (
            estimator.early_stopping == "auto" and given
        )
        asked: dict[str, Any] = {"X": None, "y": None, "metadata": {}}
        local: Any = rows  # stands in for local ones
        fit = Fit(local, classes, validation_rows, watched, continues, asked, begin)
        estimator._boost(fit._replace(class_factors=rows.class_factors))
    finally:
        checkpoints.close()
        backend.cancel(rows.blocks)


def _need_rounds(estimator: Any, n_rows: int) -> None:
    """Check that the number of rounds is known if a local fit would hold rows out to find it."""
    if estimator.n_estimators == "auto" and estimator._searches_rounds(n_rows):
        raise InvalidParameterError(
            f"n_estimators='auto' searches for the number of rounds in a table of {MOST_ROWS} rows "
            "or fewer, which is not done on Dask collections and Parquet files: give a number, "
            f"early_stopping=True, or X_val and y_val. Got {n_rows} rows."
        )


def _learn_columns(estimator: Any, n_features: int, names: NDArray[Any] | None) -> None:
    continues = estimator.warm_start and hasattr(estimator, "model_")
    if continues and n_features != estimator.n_features_in_:
        raise InvalidDataError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    estimator.is_categorical_ = features.declared(estimator)
    estimator.categories_ = estimator.categories_ if continues else {}
    if continues and features.dates_of(estimator):
        raise InvalidDataError(
            f"The columns {list(estimator.dates_)} of X held dates or times in the fit that is "
            "continued, which blocks of rows cannot hold. Continue it with a data frame in memory."
        )
    estimator.dates_ = {}
    estimator.notations_ = {}


def _need_same_classes(estimator: Any, classes: Any) -> None:
    if not np.array_equal(estimator.classes_, classes):
        raise InvalidDataError(
            "A fit that is continued needs the data of the fit before. Got "
            f"other classes: {', '.join(map(str, classes[:10]))}."
        )


def predict(estimator: Any, X: Any, method: str) -> Any:
    """Return the method's result; for a Dask collection, a lazy collection of results."""
    check_is_fitted(estimator)
    if isinstance(X, ParquetRows):
        return _predict_pieces(estimator, X, method)
    from . import _dask  # noqa: PLC0415 - optional

    shape = _answer_shape(estimator, method)
    return _dask.blockwise(estimator, X, method, *shape)


def _predict_pieces(estimator: Any, rows: ParquetRows, method: str) -> NDArray[Any]:
    names = getattr(estimator, "feature_names_in_", None)
    wanted = rows.columns if names is None else list(names)
    pieces = Pieces(replace(rows, columns=wanted, target=None, sample_weight=None))
    answers = [
        getattr(estimator, method)(piece.X if names is None else piece.table(pieces.columns))
        for piece in pieces
        if len(piece.X)
    ]
    if not answers:
        n_columns, dtype = _answer_shape(estimator, method)
        return np.empty((0,) if n_columns is None else (0, n_columns), dtype=dtype)
    return np.concatenate(answers)


def _answer_shape(estimator: Any, method: str) -> tuple[int | None, Any]:
    """Columns (None: a vector) and type of a method's answers."""
    n_classes = len(estimator.classes_)
    if method == "predict" and not estimator.multi_label_:
        return None, estimator.classes_.dtype
    if method == "predict":
        return n_classes, np.dtype(int)
    if method == "decision_function" and n_classes == 2 and not estimator.multi_label_:
        return None, np.dtype(np.float64)
    return n_classes, np.dtype(np.float64)

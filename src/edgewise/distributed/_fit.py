"""The two doors from the estimators: fit and predict on Dask collections."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._boosting.base import Fit
from .._data import features
from .._ground.errors import InvalidDataError
from . import _dask
from ._backend import Backend
from ._checkpoint import Checkpoints, resumed
from ._checks import need_supported
from ._progress import Teller
from ._rows import gather_rows
from ._settings import Settings, current


def fit(
    estimator: Any, given: tuple[Any, Any, Any], given_val: tuple[Any, Any, Any], begin: float
) -> None:
    """Fits an estimator to Dask collections X, y and weights."""
    need_supported(estimator)
    X, y, weights = given
    parts = _dask.parts(X, y, weights)
    _learn_columns(estimator, X)
    chosen = current()
    backend = _dask.DaskBackend(chosen.patience)
    try:
        fit_parts(
            estimator,
            backend,
            parts,
            weighted=weights is not None,
            validation=tuple(_dask.computed(part) for part in given_val),
            begin=begin,
            chosen=chosen,
        )
    finally:
        backend.close()


def fit_parts(
    estimator: Any,
    backend: Backend,
    parts: list[Any],
    *,
    weighted: bool,
    validation: tuple[Any, ...],
    begin: float,
    chosen: Settings,
) -> None:
    """Fits an estimator to raw parts, whatever the engine; the estimator knows its columns."""
    resumed(estimator, chosen.resume_from)
    continues = chosen.resume_from is not None or (
        estimator.warm_start and hasattr(estimator, "model_")
    )
    checkpoints = Checkpoints(estimator, chosen)
    teller = Teller(estimator, backend, chosen)
    rows, classes = gather_rows(
        estimator, backend, parts, weighted=weighted, watchers=[checkpoints, teller]
    )
    try:
        if continues:
            _need_same_classes(estimator, classes)
        estimator.multi_label_ = False
        validation_rows = estimator._given_validation(validation, classes)
        watched = estimator.early_stopping == "auto" and validation_rows is not None
        asked: dict[str, Any] = {"X": None, "y": None, "metadata": {}}
        local: Any = rows  # stands in for local ones
        estimator._boost(Fit(local, classes, validation_rows, watched, continues, asked, begin))
    finally:
        checkpoints.close()
        backend.cancel(rows.blocks)


def _learn_columns(estimator: Any, X: Any) -> None:
    n_features, names = _dask.columns(X)
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
    estimator.categories_ = {}


def _need_same_classes(estimator: Any, classes: Any) -> None:
    if not np.array_equal(estimator.classes_, classes):
        raise InvalidDataError(
            "A fit that is continued on Dask collections needs the data of the fit before. Got "
            f"other classes: {', '.join(map(str, classes[:10]))}."
        )


def predict(estimator: Any, X: Any, method: str) -> Any:
    """A lazy collection of what the method answers for each block."""
    check_is_fitted(estimator)
    shape = _answer_shape(estimator, method)
    return _dask.blockwise(estimator, X, method, *shape)


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

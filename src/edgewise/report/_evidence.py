"""The inputs of a report about a model: rows, labels, predictions, checked once."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .._ground.errors import InvalidDataError, InvalidParameterError
from ..decide import DecisionClassifier
from ..metrics._forecasts import indicator, is_indicator
from ._inputs import HeldOut

Array = NDArray[np.float64]

STAGED_WORK = 3e8  # rows times rounds times classes that a learning curve may cost: some seconds


@dataclass(frozen=True)
class Labelled:
    """Rows with labels; X may be unknown."""

    X: Any
    y: NDArray[Any]  # (n,) labels or (n, K) booleans

    def __len__(self) -> int:
        return len(self.y)

    def sample(self, n_rows: int) -> "Labelled":
        """Return at most this number of rows, evenly spaced, always the same."""
        if len(self) <= n_rows:
            return self
        rows = np.sort(np.random.default_rng(0).choice(len(self), n_rows, replace=False))
        return Labelled(_safe_indexing(self.X, rows), self.y[rows])


@dataclass(frozen=True)
class Evidence:
    """The held-out rows with their predictions; the model and its training rows, if known."""

    rows: Labelled
    said: NDArray[Any]  # as y
    proba: Array | None  # (n, K)
    classes: NDArray[Any]  # (K)
    estimator: Any = None  # that predicts; for `rows.X`
    train: Labelled | None = None
    decider: Any = None  # a DecisionClassifier around the estimator
    said_of_train: NDArray[Any] | None = None  # by the decider

    @property
    def multi_label(self) -> bool:
        return self.rows.y.ndim == 2

    @property
    def names(self) -> list[str]:
        """Of the classes."""
        return [str(c) for c in self.classes]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """(n): rows with a mistake."""
        wrong: NDArray[np.bool_] = np.asarray(self.said != self.rows.y)
        return np.asarray(wrong.any(axis=1)) if self.multi_label else wrong

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n): rows whose prediction is a class; a decider may refuse the others."""
        if self.decider is None or self.decider.reject_cost is None:
            return np.ones(len(self.rows), dtype=bool)
        return np.isin(self.said, self.classes)

    def staged_rows(self, rows: Labelled) -> Labelled:
        """As many of the rows as a learning curve can afford."""
        work = max(1, getattr(self.estimator, "n_iter_", 1)) * len(self.classes)
        return rows.sample(max(1000, int(STAGED_WORK / work)))


def gather(held: HeldOut) -> Evidence:
    """Return checked evidence about an estimator, or the one inside a pipeline or a search."""
    y = labels(held.y, "y")
    said = labels(held.y_pred, "y_pred")
    if y.shape != said.shape or len(y) == 0:
        raise InvalidDataError(
            "y and the predictions must have the same rows, at least one, and labels of one kind. "
            f"Got shapes {y.shape} and {said.shape}."
        )
    proba = None if held.proba is None else np.asarray(held.proba, dtype=np.float64)
    train = None
    if held.y_train is not None:
        train = Labelled(held.X_train, labels(held.y_train, "y_train"))
    rows = Labelled(held.X, y)
    evidence = Evidence(rows, said, proba, np.asarray(held.classes), held.estimator, train)
    return evidence if held.estimator is None else _inside(evidence)


def labels(y: ArrayLike, name: str) -> NDArray[Any]:
    """Labels as a vector, or an indicator matrix as booleans."""
    if y is None:
        raise InvalidDataError(f"A report needs {name}: the correct label of every row.")
    return indicator(y, name) if is_indicator(y) else np.asarray(y).reshape(-1)


def ask(estimator: Any, X: Any, y: Any, X_train: Any, y_train: Any) -> HeldOut:
    """A fitted estimator's predictions for X."""
    if isinstance(estimator, type) or not hasattr(estimator, "predict"):
        raise InvalidParameterError(f"A report is about a fitted classifier. Got {estimator!r}.")
    check_is_fitted(estimator)
    if (X_train is None) != (y_train is None):
        raise InvalidDataError("Give both X_train and y_train, or neither. Got one of them.")
    for rows, of, names in ((X, y, "X and y"), (X_train, y_train, "X_train and y_train")):
        _same_length(rows, of, names)
    proba = estimator.predict_proba(X) if hasattr(estimator, "predict_proba") else None
    said = estimator.predict(X)
    classes = estimator.classes_
    return HeldOut(y, said, classes, proba, estimator, X, X_train, y_train)


def _same_length(X: Any, y: Any, names: str) -> None:
    sizes = [
        part.shape[0] if hasattr(part, "shape") else len(part)
        for part in (X, y)
        if part is not None
    ]
    if len(sizes) == 2 and sizes[0] != sizes[1]:
        raise InvalidDataError(f"{names} must have the same rows. Got {sizes[0]} and {sizes[1]}.")


def _inside(evidence: Evidence) -> Evidence:
    """Return what a search, decisions or a pipeline contain, with its input.

    That is the best estimator of a search, the classifier whose probabilities decisions use, and
    the last step of a pipeline.
    """
    estimator, rows, train = evidence.estimator, evidence.rows, evidence.train
    estimator = getattr(estimator, "best_estimator_", estimator)
    decider = said = None
    if isinstance(estimator, DecisionClassifier):
        decider, estimator = estimator, estimator.estimator_
        said = None if train is None or train.X is None else decider.predict(train.X)
    if isinstance(estimator, Pipeline):
        first, estimator = estimator[:-1], estimator[-1]
        rows = _transformed(first, rows)
        train = None if train is None else _transformed(first, train)
    return replace(
        evidence, rows=rows, estimator=estimator, train=train, decider=decider, said_of_train=said
    )


def _transformed(steps: Pipeline, rows: Labelled) -> Labelled:
    if rows.X is None or len(steps) == 0:
        return rows
    return Labelled(steps.transform(rows.X), rows.y)

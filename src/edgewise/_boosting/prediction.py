"""Prediction: from the scores of a model to answers.

A mixin of the estimators. With a Dask collection the answers are lazy ones, block by block.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._data import features
from .._data.sparse import Matrix
from .._model.model import Model, Scores
from .threads import n_threads

Method = TypeVar("Method", bound=Callable[..., Any])


def distributed() -> Any:
    return import_module("edgewise.distributed")  # above us, and only needed with Dask


def _blockwise(method: Method) -> Method:
    """A method of X that, given a Dask collection, answers with a lazy one."""

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        if features.is_dask(X):
            return distributed().predict(self, X, method.__name__)
        return method(self, X)

    return either  # type: ignore[return-value]


class Predicting:
    """Labels, probabilities and scores, after all rounds or after each."""

    model_: Model
    classes_: NDArray[Any]
    multi_label_: bool
    n_jobs: int | None

    def _link(self, scores: Scores, n_threads: int) -> Scores:
        """Probabilities from scores, in place."""
        _core.softmax(scores, n_threads)
        return scores

    def _scores(self, X: ArrayLike) -> Scores:
        matrix, threads = self._ready(X)
        return self.model_.scores(matrix, threads)

    def _ready(self, X: ArrayLike) -> tuple[Matrix, int]:
        if "model_" not in vars(self):  # looking for it elsewhere takes longer than one row
            check_is_fitted(self)
        matrix = features.matrix(self, X, reset=False)
        return matrix, n_threads(self.n_jobs, len(matrix) * self.model_.n_trees)

    def _decision(self, scores: Scores) -> Scores:
        two_classes = scores.shape[1] == 2 and not self.multi_label_
        return scores[:, 1] - scores[:, 0] if two_classes else scores

    def _labels(self, scores: Scores) -> NDArray[Any]:
        if self.multi_label_:
            return self._relevant(scores).astype(int)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def _relevant(self, scores: Scores) -> NDArray[np.bool_]:
        """Which labels a row has, of an indicator matrix."""
        return np.asarray(scores > 0)

    @_blockwise
    def decision_function(self, X: ArrayLike) -> Scores:
        """Scores F, (n_rows, n_classes); for two classes the second's minus the first's, (n_rows,).

        With an indicator matrix as y always (n_rows, n_labels).
        """
        return self._decision(self._scores(X))

    @_blockwise
    def predict_proba(self, X: ArrayLike) -> Scores:
        """Class probabilities, (n_rows, n_classes)."""
        matrix, threads = self._ready(X)
        return self._link(self.model_.scores(matrix, threads), threads)

    @_blockwise
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest score of every row; with an indicator matrix as y, one of those."""
        return self._labels(self._scores(X))

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Scores]:
        """`decision_function` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._decision(scores.copy())

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Scores]:
        """`predict_proba` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._link(scores.copy(), threads)

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """`predict` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._labels(scores)

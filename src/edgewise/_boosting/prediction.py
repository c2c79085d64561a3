"""Prediction: from the scores of a model to labels and probabilities.

A mixin of the estimators. For a Dask collection the results are lazy, block by block; rows of
Parquet files are read piece by piece.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._data import features
from .._data.sparse import Matrix
from .._ground import params as p
from .._ground.above import above
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._model.model import Model, Scores
from .threads import n_threads

Method = TypeVar("Method", bound=Callable[..., Any])
BLOCK = 2**22  # scores in memory at a time if not all are requested


def _blockwise(method: Method) -> Method:
    """Make a method of X work piece by piece if the rows are elsewhere."""

    @wraps(method)
    def either(self: Any, X: Any) -> Any:
        if features.is_elsewhere(X):
            return above("distributed").predict(self, X, method.__name__)
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

    def _score_blocks(
        self, X: ArrayLike, n_rows: int | None = None
    ) -> Iterator[tuple[Scores, int]]:
        """Yield the scores of one block of rows after the other, and the threads to use on them."""
        matrix, threads = self._ready(X)
        size = int(n_rows or max(64, BLOCK // len(self.classes_)))
        if size >= len(matrix):
            yield self.model_.scores(matrix, threads), threads
            return
        for begin in range(0, len(matrix), size):
            yield self.model_.scores(matrix[begin : begin + size], threads), threads

    def _ready(self, X: ArrayLike) -> tuple[Matrix, int]:
        if "model_" not in vars(self):  # looking it up takes longer than predicting one row
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
        """Return the labels that a row has, as an indicator matrix."""
        return np.asarray(scores > 0)

    @_blockwise
    def decision_function(self, X: ArrayLike) -> Scores:
        """Compute the scores of rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or (n_rows,)
            Scores F. For two classes: the score of the second class minus that of the first. For an
            indicator matrix as y: always one column per label.
        """
        return self._decision(self._scores(X))

    @_blockwise
    def predict_proba(self, X: ArrayLike) -> Scores:
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        matrix, threads = self._ready(X)
        return self._link(self.model_.scores(matrix, threads), threads)

    @_blockwise
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest score.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_labels)
            Labels. For an indicator matrix as y: an indicator matrix.
        """
        blocks = [self._labels(scores) for scores, _ in self._score_blocks(X)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def predict_top_k(self, X: ArrayLike, k: int) -> tuple[NDArray[Any], Scores]:
        """Predict the most probable classes of every row.

        This does not create a matrix of all rows and classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.
        k : int
            Number of classes, at most all.

        Returns
        -------
        labels : ndarray of shape (n_rows, k)
            The most probable class first; of equally probable ones, the lower one.
        proba : ndarray of shape (n_rows, k)
            Their probabilities.
        """
        _need_rows_at_hand(X, "predict_top_k")
        check_is_fitted(self)
        _need_k(k, len(self.classes_))
        parts = [
            _core.top_k(self._link(scores, threads), k, threads)
            for scores, threads in self._score_blocks(X)
        ]
        places, proba = (np.concatenate(of_blocks) for of_blocks in zip(*parts, strict=True))
        return self.classes_[places].reshape(-1, k), proba.reshape(-1, k)

    def predict_proba_blocks(self, X: ArrayLike, n_rows: int | None = None) -> Iterator[Scores]:
        """Yield `predict_proba` of one block of rows after the other.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.
        n_rows : int, default=None
            Rows of a block. None: as many as make four million probabilities, 32 MB.

        Yields
        ------
        ndarray of shape (at most n_rows, n_classes)
            Probabilities.
        """
        _need_rows_at_hand(X, "predict_proba_blocks")
        p.check("predict_proba_blocks", {"n_rows": n_rows}, {"n_rows": p.integer(1, none=True)})
        return (self._link(*block) for block in self._score_blocks(X, n_rows))

    def predict_proba_sparse(self, X: ArrayLike, threshold: float = 1e-4) -> sparse.csr_array:
        """Predict the probabilities that are not small, as a sparse matrix.

        This does not create a matrix of all rows and classes. The probability left out of a row is
        one minus the sum of its entries.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.
        threshold : float, default=0.0001
            Smallest probability that is kept.

        Returns
        -------
        csr_array of shape (n_rows, n_classes)
            Probabilities.
        """
        given = {"threshold": threshold}
        p.check("predict_proba_sparse", given, {"threshold": p.real(0.0, 1.0)})
        blocks = []
        for proba in self.predict_proba_blocks(X):
            proba[proba < threshold] = 0.0
            blocks.append(sparse.csr_array(proba))
        return blocks[0] if len(blocks) == 1 else sparse.vstack(blocks, format="csr")

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Scores]:
        """Yield `decision_function` after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Yields
        ------
        ndarray
            Scores after one more round.
        """
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._decision(scores.copy())

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Scores]:
        """Yield `predict_proba` after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Yields
        ------
        ndarray
            Probabilities after one more round.
        """
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._link(scores.copy(), threads)

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """Yield `predict` after each round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Rows with the columns of the fit.

        Yields
        ------
        ndarray
            Labels after one more round.
        """
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self._labels(scores)


def _need_rows_at_hand(X: Any, method: str) -> None:
    if features.is_dask(X):
        raise InvalidDataError(
            f"{method} takes rows that are in memory. Got a Dask collection: call it on its "
            "blocks, for example with map_blocks or to_delayed."
        )


def _need_k(k: Any, n_classes: int) -> None:
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if not whole or not 1 <= k <= n_classes:
        raise InvalidParameterError(
            f"The 'k' parameter of predict_top_k must be an integer from 1 to {n_classes}, the "
            f"number of classes. Got {k!r}."
        )

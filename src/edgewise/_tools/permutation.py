"""Permutation importances, class by class: the loss without the information of a feature.

Breiman, "Random forests" (2001). The values of a feature are permuted among the rows; the increase
of the loss is the importance of the feature, for the rows of every class and for all rows.
Works for every classifier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._data import targets
from .._data.weights import row_weights
from .._ground.errors import InvalidDataError, InvalidParameterError

Array = NDArray[np.float64]
Measure = Literal["log_loss", "recall"]

SMALLEST = np.finfo(np.float64).tiny  # smaller probabilities do not increase the loss


@dataclass(frozen=True, eq=False)
class PermutationImportances:
    """Importances of features. `overall` is the mean of `by_class`, weighted by `class_shares`.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Class labels.
    class_shares : array of shape (n_classes,)
        Share of each class in the weight of the rows.
    repeats : array of shape (n_repeats, n_classes, n_features)
        Importances of every repeat.
    """

    classes: NDArray[Any]
    class_shares: Array
    repeats: Array

    @property
    def by_class(self) -> Array:
        """Means over the repeats: (n_classes, n_features). NaN for a class without rows."""
        return np.asarray(self.repeats.mean(axis=0))

    @property
    def overall(self) -> Array:
        """(n_features)"""
        return np.asarray(self._overall().mean(axis=0))

    @property
    def by_class_std(self) -> Array:
        """Standard deviations over the repeats: (n_classes, n_features)"""
        return np.asarray(self.repeats.std(axis=0))

    @property
    def overall_std(self) -> Array:
        """(n_features)"""
        return np.asarray(self._overall().std(axis=0))

    def _overall(self) -> Array:
        present = self.class_shares > 0
        shares = self.class_shares[present][:, np.newaxis]
        return np.asarray((shares * self.repeats[:, present]).sum(axis=1))


def permutation_importances(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    measure: Measure = "log_loss",
    n_repeats: int = 5,
    random_state: Any = None,
) -> PermutationImportances:
    """Measure how much worse a classifier predicts when a feature is shuffled.

    Works for every classifier.

    Parameters
    ----------
    estimator : fitted classifier
        With `predict_proba` for the log loss.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows, preferably rows that the estimator was not fitted to.
    y : array-like of shape (n_rows,)
        Their labels.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.
    measure : {"log_loss", "recall"}, default='log_loss'
        The rise of the mean log loss; or the fall of the share of rows predicted correctly, which
        is the recall for the rows of a class and the accuracy for all rows.
    n_repeats : int, default=5
        Number of shuffles of each feature.
    random_state : int, RandomState or None, default=None
        Seed. The importances of a feature do not depend on other features.

    Returns
    -------
    PermutationImportances
        Importances for all rows and for the rows of every class.

    References
    ----------
    L. Breiman: "Random forests", Machine Learning 45 (2001), 5-32.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import MARTClassifier, permutation_importances
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MARTClassifier(n_estimators=20).fit(X[::2], y[::2])
    >>> found = permutation_importances(model, X[1::2], y[1::2], random_state=0)
    >>> found.overall.shape, found.by_class.shape
    ((4,), (3, 4))
    """
    check_is_fitted(estimator)
    _check_choice(estimator, measure, n_repeats)
    classes = estimator.classes_
    codes = targets.encode(classes, targets.labels(y, "y"), "y")
    if len(codes) != _num_samples(X):
        raise InvalidDataError(
            "X and y must have the same number of rows. Got X with "
            f"{_num_samples(X)} rows and y with {len(codes)}."
        )
    weights, _ = row_weights(sample_weight, X, codes, None, "sample_weight")
    weights = np.ones(len(codes)) if weights is None else weights
    shares = np.bincount(codes, weights=weights, minlength=len(classes))
    X = X if hasattr(X, "shape") else np.asarray(X)
    losses = _Losses(estimator, codes, weights, measure)
    before = losses(X)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    repeats = np.empty((n_repeats, len(classes), X.shape[1]))
    for j in range(X.shape[1]):
        for r in range(n_repeats):
            order = np.random.default_rng([seed, j, r]).permutation(len(codes))
            repeats[r, :, j] = losses(_dealt(X, j, order)) - before
    return PermutationImportances(classes, shares / shares.sum(), repeats)


def _check_choice(estimator: Any, measure: str, n_repeats: int) -> None:
    if measure not in ("log_loss", "recall"):
        raise InvalidParameterError(
            f"measure must be one of 'log_loss' and 'recall'. Got {measure!r}."
        )
    if measure == "log_loss" and not hasattr(estimator, "predict_proba"):
        raise InvalidParameterError(
            f"measure='log_loss' needs predict_proba, which {type(estimator).__name__} does not "
            "have: use 'recall'."
        )
    if n_repeats < 1:
        raise InvalidParameterError(f"n_repeats must be 1 or more. Got {n_repeats}.")


class _Losses:
    """The mean loss of the rows of every class; NaN for classes without rows."""

    def __init__(
        self, estimator: Any, codes: NDArray[np.int32], weights: Array, measure: str
    ) -> None:
        self._codes, self._weights = codes, weights
        self._n_classes = len(estimator.classes_)
        self._classes = estimator.classes_
        by_label = measure == "recall"
        self._answer: Callable[[Any], Any]
        self._answer = estimator.predict if by_label else estimator.predict_proba
        self._loss: Callable[[Any], Array]
        self._loss = self._of_labels if by_label else self._of_probabilities

    def __call__(self, X: Any) -> Array:
        loss = self._loss(self._answer(X))
        sums, total = (
            np.bincount(self._codes, weights=w, minlength=self._n_classes)
            for w in (self._weights * loss, self._weights)
        )
        return np.asarray(np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0))

    def _of_labels(self, labels: NDArray[Any]) -> Array:
        return np.asarray(labels != self._classes[self._codes], dtype=np.float64)

    def _of_probabilities(self, proba: Array) -> Array:
        of_label = proba[np.arange(len(proba)), self._codes]
        return -np.log(np.maximum(of_label, SMALLEST))


def _dealt(X: Any, j: int, order: NDArray[np.intp]) -> Any:
    """X with the values of column j in another order."""
    if sparse.issparse(X):
        columns = X.tocsc()
        return sparse.hstack(
            [columns[:, :j], columns[:, [j]][order], columns[:, j + 1 :]], format="csr"
        )
    if isinstance(X, np.ndarray):
        dealt = X.copy()
        dealt[:, j] = X[order, j]
        return dealt
    frame = nw.from_native(X, eager_only=True)
    series = frame[:, j]
    return frame.with_columns(series[order.tolist()].alias(series.name)).to_native()

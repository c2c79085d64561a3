"""Scores of a validation set from the raw scores of its rows: higher is better."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from ._input import Labels, Weights
from ._model import Scores


class _Frozen(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that knows the scores of one set of rows, for scikit-learn's scorers."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    def fit(self, scores: Scores) -> "_Frozen":
        self.classes_ = self.classes
        self.scores_ = scores
        return self

    def decision_function(self, X: ArrayLike) -> Scores:
        return self.scores_[:, 1] - self.scores_[:, 0] if len(self.classes_) == 2 else self.scores_

    def predict_proba(self, X: ArrayLike) -> Scores:
        proba: Scores = softmax(self.scores_, axis=1)
        return proba

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[self.scores_.argmax(axis=1)]
        return labels


def scorer(
    scoring: Any, classes: NDArray[Any], codes: Labels, weights: Weights | None
) -> Callable[[Scores], float]:
    """A function from raw scores (n_val, n_classes) to a figure."""
    if scoring == "loss":
        rows = np.arange(len(codes))

        def minus_log_loss(scores: Scores) -> float:
            return float(np.average(log_softmax(scores, axis=1)[rows, codes], weights=weights))

        return minus_log_loss
    chosen = get_scorer(scoring)
    y = classes[codes]
    extra = {} if weights is None else {"sample_weight": weights}
    frozen = _Frozen(classes)
    no_features = np.zeros((len(codes), 1))

    def by_scorer(scores: Scores) -> float:
        return float(chosen(frozen.fit(scores), no_features, y, **extra))

    return by_scorer

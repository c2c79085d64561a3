"""Scores of a validation set from the raw scores of its rows: higher is better."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from .._data.rows import Rows
from .._ground import portable
from .._model.model import Scores

TINY = 1e-300  # the smallest probability whose logarithm counts


class Answers(NamedTuple):
    """An estimator's predictions from raw scores (n, n_classes)."""

    proba: Callable[[Scores], Scores]
    decision: Callable[[Scores], Scores]
    labels: Callable[[Scores], NDArray[Any]]


class _Frozen(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with fixed scores for one set of rows, for scikit-learn's scorers."""

    def __init__(self, classes: NDArray[Any], answers: Answers) -> None:
        self.classes = classes
        self.answers = answers

    def fit(self, scores: Scores) -> "_Frozen":
        self.classes_ = self.classes
        self.scores_ = scores
        return self

    def decision_function(self, X: ArrayLike) -> Scores:
        return self.answers.decision(self.scores_)

    def predict_proba(self, X: ArrayLike) -> Scores:
        return self.answers.proba(self.scores_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self.answers.labels(self.scores_)


def minus_log_loss(rows: Rows, answers: Answers) -> Callable[[Scores], float]:
    """The mean logarithm of the probability of the correct label, or of all labels."""

    def score(scores: Scores) -> float:
        proba = np.clip(answers.proba(scores), TINY, 1.0)
        if rows.relevant is None:
            right = proba[np.arange(len(proba)), rows.codes]
            return float(np.average(portable.log(right), weights=rows.weights))
        right = np.where(rows.relevant, proba, np.clip(1.0 - proba, TINY, 1.0))
        return float(np.average(portable.log(right).mean(axis=1), weights=rows.weights))

    return score


def scorer(
    scoring: Any, classes: NDArray[Any], rows: Rows, answers: Answers
) -> Callable[[Scores], float]:
    """The figure of a scikit-learn scorer, as a function of raw scores (n_val, n_classes)."""
    chosen = get_scorer(scoring)
    y = rows.relevant.astype(int) if rows.relevant is not None else classes[rows.codes]
    extra = {} if rows.weights is None else {"sample_weight": rows.weights}
    frozen = _Frozen(classes, answers)
    no_features = np.zeros((len(y), 1))

    def by_scorer(scores: Scores) -> float:
        return float(chosen(frozen.fit(scores), no_features, y, **extra))

    return by_scorer

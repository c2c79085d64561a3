"""Suspicious rows: rows whose labels boosting could not explain and that may be wrong.

A row with a wrong label behaves like a hard row: its neighbours contradict it, so its margin stays
low and its weight grows until late rounds have memorised it. Both measures are therefore means over
all rounds. AutoBoost has better evidence: the predictions of members that held the row out.
"""

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from .._boosting.base import TRAINING, Booster
from .._boosting.threads import n_threads
from .._data.input import checked
from .._data.rows import Rows
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._model.model import Scores
from ..adaboost_mh import AdaBoostMHClassifier, initial_weights
from ..auto_boost import AutoBoostClassifier
from ..samme import SAMMEClassifier

Array = NDArray[np.float64]
How = Literal["margin", "weight"]


class Suspicion(NamedTuple):
    """Rows by how suspicious their labels are.

    Attributes
    ----------
    rows : array of shape (n_rows,)
        Numbers of the rows, the most suspicious first.
    score : array of shape (n_rows,)
        Suspicion of each row in the order of X; higher is more suspicious.
    """

    rows: NDArray[np.intp]
    score: Array


def suspicious_rows(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    how: How = "margin",
) -> Suspicion:
    """Rank training rows by how suspicious their labels are.

    Parameters
    ----------
    estimator : fitted booster of this library
        For labels that exclude each other. Not MartiBoost, which has no rounds.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows of the fit. Rows of weight zero, which took no part in the fit, are ranked like new
        rows.
    y : array-like of shape (n_rows,)
        Labels of the fit.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the fit.
    how : {"margin", "weight"}, default='margin'
        "margin" of an `AutoBoostClassifier`: the score is (1 - m) / 2, where m is the out-of-fold
        probability of the label minus the largest other one; rows that no member held out come
        last. X, y and sample_weight must be those of the fit, in the same order.

        "margin" of other boosters: the score is (1 - m) / 2, where m is the mean over the rounds of
        the margin of the row: the score of its label minus the largest other score, divided by the
        largest range of scores of any row in that round. It lies between 0 and 1; above one half,
        most rounds contradicted the label.

        "weight": the mean over the rounds of the row's weight relative to its initial weight; for
        AdaBoost.MH and SAMME.

    Returns
    -------
    Suspicion
        `rows`, the most suspicious first, and the `score` of every row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import AutoBoostClassifier, suspicious_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> y[7] = 2  # a wrong label
    >>> model = AutoBoostClassifier(effort="fast").fit(X, y)
    >>> int(suspicious_rows(model, X, y).rows[0])
    7
    """
    rows = _checked(estimator, X, y, sample_weight, how)
    if isinstance(estimator, AutoBoostClassifier):
        score = _out_of_fold(estimator, rows)
        return Suspicion(np.argsort(-score, kind="stable"), score)
    by_round = _margins if how == "margin" else _relative_weights
    total = np.zeros(len(rows.X))
    for of_rows in by_round(estimator, rows):
        total += of_rows
    mean = total / max(estimator.n_iter_, 1)
    score = (1.0 - mean) / 2.0 if how == "margin" else mean
    return Suspicion(np.argsort(-score, kind="stable"), score)


def _out_of_fold(estimator: AutoBoostClassifier, rows: Rows) -> Array:
    """(1 - m) / 2 with margins m of out-of-fold probabilities, 0 where there are none."""
    proba = getattr(estimator, "oof_proba_", None)
    if proba is None:
        raise InvalidDataError(
            "A model file does not hold out-of-fold probabilities. Call suspicious_rows with the "
            "fitted estimator before you save it."
        )
    fitted = np.ones(len(rows.codes), dtype=bool) if rows.weights is None else rows.weights > 0
    if np.count_nonzero(fitted) != len(proba):
        raise InvalidDataError(
            f"X must hold the rows of the fit, {len(proba)} of positive weight. Got "
            f"{np.count_nonzero(fitted)}."
        )
    own = np.arange(len(proba)), rows.codes[fitted]
    others = proba.copy()
    others[own] = -np.inf
    score = np.zeros(len(rows.codes))
    score[fitted] = np.nan_to_num((1.0 - proba[own] + others.max(axis=1)) / 2.0, nan=0.0)
    return score


def _margins(estimator: Booster, rows: Rows) -> Iterator[Array]:
    """Margins of the rows after every round, (n), within [-1, 1]."""
    own = np.arange(len(rows.X)), rows.codes
    for staged in _staged_scores(estimator, rows):
        scores = staged - estimator.model_.start
        span = float(np.ptp(scores, axis=1).max())
        of_label = scores[own]
        scores[own] = -np.inf
        yield (of_label - scores.max(axis=1)) / (span or 1.0)


def _relative_weights(estimator: Booster, rows: Rows) -> Iterator[Array]:
    """The weights of the rows after every round, (n), each in units of the row's first weight."""
    first = rows.shares()
    log_first = np.log(np.maximum(first, np.finfo(float).tiny))
    for scores in _staged_scores(estimator, rows):
        log_weights = _log_growth(estimator, rows, scores)
        yield np.exp(log_weights - logsumexp(log_weights + log_first))


def _log_growth(estimator: Booster, rows: Rows, scores: Scores) -> Array:
    """Logarithm of the factor of the rows' weights before normalisation."""
    if isinstance(estimator, AdaBoostMHClassifier):
        signs = rows.signs(scores.shape[1])
        present, absent = initial_weights(signs, np.ones(len(signs)), estimator.initial_weights)
        weights = np.where(signs > 0, present[:, np.newaxis], absent[:, np.newaxis])
        return np.asarray(logsumexp(-signs * scores, b=weights, axis=1))
    return -scores[np.arange(len(scores)), rows.codes]  # SAMME


def _staged_scores(estimator: Booster, rows: Rows) -> Iterator[Scores]:
    threads = n_threads(estimator.n_jobs, len(rows.X) * estimator.model_.n_trees)
    return estimator.model_.staged_scores(rows.X, threads)


# --- checks -----------------------------------------------------------------------------------


def _checked(estimator: Any, X: Any, y: Any, sample_weight: Any, how: str) -> Rows:
    if not isinstance(estimator, Booster):
        raise InvalidParameterError(
            "The 'estimator' parameter of suspicious_rows must be a booster of edgewise that has "
            f"rounds. Got {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    if estimator.multi_label_:
        raise InvalidDataError(
            "suspicious_rows ranks rows that have one label each. Got an estimator that was fitted "
            "to an indicator matrix."
        )
    if how not in ("margin", "weight"):
        raise InvalidParameterError(
            f"The 'how' parameter of suspicious_rows must be 'margin' or 'weight'. Got {how!r}."
        )
    if how == "weight" and not isinstance(estimator, AdaBoostMHClassifier | SAMMEClassifier):
        raise InvalidParameterError(
            "how='weight' is for boosters that weight rows, AdaBoostMHClassifier and "
            f"SAMMEClassifier; use how='margin'. Got {type(estimator).__name__}."
        )
    labelled = checked(
        estimator, (X, y, sample_weight), estimator.class_weight, names=TRAINING, reset=False
    )
    return labelled.encoded(estimator.classes_, "y")

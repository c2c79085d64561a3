"""Thresholds for any metric: the prediction is argmax_k (log p_k + b_k), and b is searched.

With all offsets but b_k fixed, row i is called k where b_k exceeds
max_{j != k} (log p_ij + b_j) - log p_ik. Sorted, these n numbers are all places where the metric
can change, so one pass over cumulative counts finds the best b_k exactly. Classes take turns until
no turn helps.

A row counts for a quarter as its label and for the rest as its probabilities. Labels alone make the
counts of rare classes noisy, and probabilities alone would have to be calibrated.

Offsets can still fit noise. So they are also fitted without a fold of the rows and judged on its
labels; they are used only if this cross-fitted gain exceeds half of its standard error (from
paired resamples with a fixed seed).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._data.folds import content_folds
from .._data.weights import scaled
from .._ground.checks import check_codes, check_proba, check_weights
from .._ground.errors import InvalidDataError
from ._metrics import CountMetric, count_metric

Array = NDArray[np.float64]
Codes = NDArray[np.intp]

_SWEEPS = 20
_GRID = 64  # candidates per class for a scorer that is no function of counts
_FOLDS = 5
_RESAMPLES = 200
_TINY = 1e-300
_GUARD = 0.5  # standard errors that a gain must exceed
_LABEL = 0.25  # the share of a row that counts as its label in the search


class Offsets(NamedTuple):
    """Offsets of the log probabilities, and their gain.

    Attributes
    ----------
    offsets : ndarray of shape (n_classes,)
        Offsets to apply: those found, or zeros if the gain is too small.
    found : ndarray of shape (n_classes,)
        Offsets that the search found.
    plain : float
        The metric of the most probable class.
    gain : float
        Gain of held-out rows by offsets that were fitted without them.
    gain_error : float
        Standard error of the gain.
    applied : bool
        Whether the gain exceeds half of its error.
    """

    offsets: Array  # (K,): zeros where they do not pay
    found: Array  # (K,): what the search found
    plain: float  # the metric of argmax
    gain: float  # what held-out rows gain by offsets fitted without them
    gain_error: float  # its standard error
    applied: bool


class _Problem(NamedTuple):
    logs: Array  # (n, K)
    codes: Codes  # (n,)
    truth: Array  # (n, K): what is counted as true, a one at the label or softer
    weights: Array  # (n,)
    metric: Any
    counted: CountMetric | None  # what is searched for
    judged: CountMetric | None  # what gains are measured by
    classes: NDArray[Any]

    def rows(self, at: Any) -> "_Problem":
        parts = (self.logs[at], self.codes[at], self.truth[at], self.weights[at])
        return self._replace(**dict(zip(("logs", "codes", "truth", "weights"), parts, strict=True)))

    def softened(self) -> "_Problem":
        """The problem that is searched: rows count in part as their probabilities."""
        chances = np.exp(self.logs)
        return self._replace(truth=_LABEL * self.truth + (1.0 - _LABEL) * chances)

    def score(self, said: Codes) -> float:
        if self.counted is None:
            present = self.weights > 0
            true, answers = self.classes[self.codes[present]], self.classes[said[present]]
            return self._own_metric(true, answers)
        return float(self.counted(*_counts(self, said)))

    def _own_metric(self, true: NDArray[Any], answers: NDArray[Any]) -> float:
        score = float(self.metric(true, answers))
        if not np.isfinite(score):
            raise InvalidDataError(f"The metric must return finite numbers. Got {score}.")
        return score


def fit_offsets(
    proba: ArrayLike,
    codes: ArrayLike,
    metric: Any,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Offsets:
    """Find offsets b for which argmax_k (log p_k + b_k) is best by a metric.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Probabilities of rows that the classifier was not fitted to.
    codes : array-like of shape (n_rows,)
        Numbers of their true classes, from 0.
    metric : str, tuple or callable
        "macro_f1", "balanced_accuracy", "accuracy", ("recall", class, least) or a function
        (y_true, y_pred) -> float, greater being better. The recall metric maximises the
        accuracy among decisions with at least this recall of the class. For a function, only
        some offsets per class are tried.
    classes : array-like of shape (n_classes,), default=None
        Labels, for the recall metric and functions. None: the class numbers.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows; functions do not see them.

    Returns
    -------
    Offsets
        The offsets and their cross-fitted gain.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.decide import fit_offsets
    >>> rng = np.random.default_rng(0)
    >>> codes = (rng.random(400) < 0.1).astype(int)
    >>> p = np.clip(0.15 + 0.25 * codes + 0.1 * rng.normal(size=400), 0.01, 0.99)
    >>> bool(fit_offsets(np.column_stack([1 - p, p]), codes, "macro_f1").gain > 0)
    True
    """
    problem = _problem(proba, codes, metric, classes, sample_weight)
    plain = problem.logs.argmax(axis=1)
    found = _search(problem.softened())
    before = problem.score(plain)
    gain, error = _cross_fitted_gain(problem, plain)
    applied = gain > _GUARD * error
    kept = found if applied else np.zeros_like(found)
    return Offsets(kept, found, before, gain, error, applied)


def decide_by_offsets(proba: ArrayLike, offsets: Array) -> Codes:
    chances = check_proba(proba)
    answers: Codes = (np.log(np.maximum(chances, _TINY)) + offsets).argmax(axis=1)
    return answers


def _problem(
    proba: ArrayLike, places: ArrayLike, metric: Any, classes: Any, sample_weight: Any
) -> _Problem:
    chances = check_proba(proba)
    n_classes = chances.shape[1]
    truth = check_codes(places, len(chances), n_classes)
    labels = np.arange(n_classes) if classes is None else np.asarray(classes)
    weights = check_weights(sample_weight, len(chances))
    weights = np.ones(len(chances)) if weights is None else scaled(weights)[0]
    chances = chances / chances.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum(chances, _TINY))
    # In an order of their own, so that sums do not depend on the order in which rows came.
    order = np.lexsort((weights, truth, *logs.T))
    counted, judged = count_metric(metric, labels)
    _need_rows_of_class(metric, labels, truth, weights)
    truth_of_rows = np.eye(n_classes)[truth]
    problem = _Problem(logs, truth, truth_of_rows, weights, metric, counted, judged, labels)
    return problem.rows(order)


def _need_rows_of_class(metric: Any, labels: NDArray[Any], truth: Any, weights: Array) -> None:
    """The recall of a class can be measured only on rows of it."""
    if not isinstance(metric, tuple):
        return
    rows = (labels[truth] == metric[1]) & (weights > 0)
    if not rows.any():
        raise InvalidDataError(
            f"The metric {metric!r} needs rows of the class {metric[1]!r}. Got {len(truth)} rows, "
            "none of them of that class."
        )


def _counts(problem: _Problem, said: Codes) -> tuple[Array, Array, Array]:
    """Of every class: weight that is said and true, weight that is said, weight that is true."""
    n_classes, w = problem.logs.shape[1], problem.weights
    hit = w * problem.truth[np.arange(len(said)), said]

    def total(weights: Array) -> Array:
        return np.bincount(said, weights=weights, minlength=n_classes).astype(np.float64)

    return total(hit), total(w), np.add.reduce(w[:, np.newaxis] * problem.truth, axis=0)


def _search(problem: _Problem) -> Array:
    """Coordinate search from zero and from equal priors; the better end is taken."""
    n_classes = problem.logs.shape[1]
    shares = np.bincount(problem.codes, weights=problem.weights, minlength=n_classes)
    equal = -np.log(np.maximum(shares / shares.sum(), 1e-6))
    ends = [_climb(problem, start) for start in (np.zeros(n_classes), equal - equal.min())]
    best = max(ends, key=lambda end: end[0])
    return np.asarray(best[1] - best[1].max())


def _climb(problem: _Problem, start: Array) -> tuple[float, Array]:
    offsets = start.copy()
    best = problem.score((problem.logs + offsets).argmax(axis=1))
    for _ in range(_SWEEPS):
        before = best
        for k in range(len(offsets)):
            score, place = _best_offset(problem, offsets, k)
            if score > best + 1e-12:
                best, offsets[k] = score, place
        if best <= before + 1e-9:
            break
    return best, offsets


def _best_offset(problem: _Problem, offsets: Array, k: int) -> tuple[float, float]:
    """The best score over b_k, and the middle of the best interval that is nearest to b_k."""
    shifted = problem.logs + offsets
    shifted[:, k] = -np.inf
    other = shifted.argmax(axis=1)
    turn = shifted[np.arange(len(other)), other] - problem.logs[:, k]  # called k above this
    order = np.argsort(turn, kind="stable")
    turn, other, at_ends = turn[order], other[order], np.flatnonzero(np.diff(turn[order]) > 1e-12)
    # Interval m: the first m rows are called k. Only between different turns, and at both ends.
    moved = np.concatenate([[0], at_ends + 1, [len(turn)]])
    middles = np.concatenate(
        [[turn[0] - 1], (turn[at_ends] + turn[at_ends + 1]) / 2, [turn[-1] + 1]]
    )
    if problem.counted is None:
        tried = np.unique(np.linspace(0, len(moved) - 1, _GRID).astype(int))
        moved, middles = moved[tried], middles[tried]
        scores = np.array([_scored(problem, offsets, k, b) for b in middles])
    else:
        scores = problem.counted(*_moving_counts(problem.rows(order), other, k, moved))
    top = scores >= scores.max() - 1e-12
    nearest = np.flatnonzero(top)[np.abs(middles[top] - offsets[k]).argmin()]
    return float(scores[nearest]), float(middles[nearest])


def _scored(problem: _Problem, offsets: Array, k: int, b: float) -> float:
    shifted = offsets.copy()
    shifted[k] = b
    return problem.score((problem.logs + shifted).argmax(axis=1))


def _moving_counts(
    problem: _Problem, other: Codes, k: int, moved: Codes
) -> tuple[Array, Array, Array]:
    """Counts (n_intervals, K) when the first `moved` rows are called k and the rest `other`."""
    hits, said, true = _counts(problem, other)
    rows = np.arange(len(other))
    leaves = np.zeros((len(other) + 1, len(true)))
    leaves[rows + 1, other] = problem.weights
    lost = np.zeros_like(leaves)
    lost[rows + 1, other] = problem.weights * problem.truth[rows, other]
    won = problem.weights * problem.truth[:, k]
    said = said - np.cumsum(leaves, axis=0)[moved]
    said[:, k] += np.concatenate([[0.0], np.cumsum(problem.weights)])[moved]
    hits = hits - np.cumsum(lost, axis=0)[moved]
    hits[:, k] += np.concatenate([[0.0], np.cumsum(won)])[moved]
    return hits, said, true


def _cross_fitted_gain(problem: _Problem, plain: Codes) -> tuple[float, float]:
    """Return the out-of-fold gain of offsets and its standard error."""
    said = plain.copy()
    for train, test in content_folds(problem.logs, problem.codes, _FOLDS):
        offsets = _search(problem.rows(train).softened())
        said[test] = (problem.logs[test] + offsets).argmax(axis=1)
    if (said == plain).all():
        return 0.0, 0.0
    problem = problem._replace(counted=problem.judged)
    gain = problem.score(said) - problem.score(plain)
    rng = np.random.default_rng(0)
    n = len(plain)
    drawn = []
    for _ in range(_RESAMPLES):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        at = np.repeat(np.arange(n), times) if problem.counted is None else slice(None)
        part = problem.rows(at)
        if problem.counted is not None:
            part = part._replace(weights=problem.weights * times)
        drawn.append(part.score(said[at]) - part.score(plain[at]))
    return gain, float(np.std(drawn, ddof=1))

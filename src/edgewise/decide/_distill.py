"""Distillation: a small AOSO model that stands in for any classifier.

C. Bucila, R. Caruana and A. Niculescu-Mizil, "Model compression", KDD 2006; G. Hinton, O. Vinyals
and J. Dean, "Distilling the knowledge in a neural network", 2015. The student is boosted on the
teacher's probabilities as soft labels. Probabilities for rows that the teacher was fitted to are
overconfident, so with labels y they are out-of-fold: the teacher is fitted again, as a clone.

A fifth of the rows is held out. A few shapes of trees compete there, each with as many rounds as
the limits allow; the one nearest to the teacher is fitted again to all rows.
"""

import math
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._data import targets
from .._data.cross_fit import examples, held_out_probabilities
from .._data.folds import content_folds
from .._ground import params as p
from .._ground.checks import check_proba
from .._ground.errors import InvalidDataError, InvalidParameterError
from ..aoso_logitboost import AOSOLogitBoostClassifier

Array = NDArray[np.float64]

_FOLDS = 5  # one of them is held out
_ROUNDS = 500  # where no limit says otherwise
_LEAVES, _RATES, _KINDS = (8, 16, 32), (0.15, 0.3), ("pair", "vector")
_PATIENCE = 20  # rounds
_LEAST = 1e-3  # probabilities below are left out of soft labels: each would cost a copy of the row
_TINY = 1e-15  # of log losses
_CALLS = 101  # of which the median is the latency


class Student(NamedTuple):
    """A small model, and how near it comes to its teacher on rows held out from both."""

    model: AOSOLogitBoostClassifier  # fitted to all rows
    teacher: Any  # the fitted teacher
    n_bytes: int  # of the model file
    microseconds: float  # of predict_proba for one row, here
    agreement: float  # share of held-out rows where both find the same class most probable
    divergence: float  # mean Kullback-Leibler divergence of the student's from the teacher's
    log_loss: float | None  # of the student on held-out rows; None without y, as the next two
    teacher_log_loss: float | None
    kept: float | None  # the student's gain over the class frequencies, as a share of the teacher's


class _Rows(NamedTuple):
    X: Any
    soft: Array

    def take(self, at: NDArray[np.intp]) -> "_Rows":
        return _Rows(_safe_indexing(self.X, at), self.soft[at])


class _Limits(NamedTuple):
    trees: int
    n_bytes: int | None
    microseconds: float | None


_RULES: dict[str, p.Rule] = {
    "max_trees": p.integer(1, none=True),
    "max_bytes": p.integer(1, none=True),
    "max_microseconds": p.either(p.real(0.0), p.none()),
    "n_jobs": p.n_jobs(),
}


def distill(
    teacher: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    max_trees: int | None = None,
    max_bytes: int | None = None,
    max_microseconds: float | None = None,
    cv: Any = 5,
    n_jobs: int | None = None,
) -> Student:
    """A small AOSO model with the probabilities of a classifier.

    Parameters
    ----------
    teacher : a classifier with `predict_proba`
        Without y it is fitted already, best to other rows than X. With y a clone is fitted to X and
        y, and the student learns from its out-of-fold probabilities.
    X : (n, n_features) rows to learn from, of any kind that teacher and AOSO understand.
    y : (n,) labels or None.
    max_trees : trees of the student at most; None: 500.
    max_bytes : size of its model file at most, as `save` writes it; None: no limit.
    max_microseconds : time of `predict_proba` for one row at most, measured here; None: no limit.
        It is the only limit that lets the student depend on the machine.
    cv : folds of the out-of-fold probabilities. Not used where the fitted teacher has them, as
        `oof_proba_`.
    n_jobs : threads of the student's fits.
    """
    given = {"max_trees": max_trees, "max_bytes": max_bytes, "n_jobs": n_jobs}
    p.check("distill", given | {"max_microseconds": max_microseconds}, _RULES)
    limits = _Limits(max_trees or _ROUNDS, max_bytes, max_microseconds)
    fitted, classes, chances, codes = _lessons(teacher, X, y, cv)
    known = np.flatnonzero(~np.isnan(chances[:, 0]))
    rows = _Rows(_safe_indexing(X, known), chances[known])
    truth = None if codes is None else codes[known]
    groups = rows.soft.argmax(axis=1) if truth is None else truth
    learn, held = content_folds(rows.X, groups, _FOLDS)[0]
    model, shape = _best_shape(rows.take(learn), rows.take(held), limits, n_jobs)
    figures = _figures(model, rows.take(held), truth, learn, held)
    final = _within(rows, limits, shape, n_jobs)
    final.classes_ = classes
    return Student(final, fitted, _size(final), _latency(final, rows.X), *figures)


# --- the teacher ------------------------------------------------------------------------------


def _lessons(
    teacher: Any, X: Any, y: ArrayLike | None, cv: Any
) -> tuple[Any, NDArray[Any], Array, NDArray[np.intp] | None]:
    """The fitted teacher, the classes, soft labels (NaN where not held out), codes of y."""
    if not hasattr(teacher, "predict_proba"):
        raise InvalidParameterError(
            f"The teacher must be a classifier with predict_proba. Got {teacher!r}."
        )
    if y is None:
        check_is_fitted(teacher)
        chances = check_proba(teacher.predict_proba(X))
        classes = np.asarray(teacher.classes_)
        if chances.shape != (_num_samples(X), len(classes)):
            raise InvalidDataError(
                f"The teacher must give {_num_samples(X)} rows a probability for each of its "
                f"{len(classes)} classes. Got shape {chances.shape}."
            )
        targets.need_two_classes(classes, "distill")
        return teacher, classes, _normalised(chances), None
    data = examples(X, y, None)
    classes = targets.classes_of(data.y)
    targets.need_two_classes(classes, "distill")
    _need_same_classes(teacher, classes)
    fitted, proba = held_out_probabilities(teacher, data, classes, cv, n_jobs=None)
    assert proba is not None  # noqa: S101 - cv was given
    codes = targets.encode(classes, data.y, "y").astype(np.intp)
    return fitted, classes, _normalised(proba), codes


def _need_same_classes(teacher: Any, classes: NDArray[Any]) -> None:
    """A teacher that is fitted already must know the classes of y, and no others."""
    known = getattr(teacher, "classes_", None)
    if known is not None and np.asarray(known).tolist() != classes.tolist():
        raise InvalidDataError(
            f"The teacher must have the classes of y, {classes.tolist()}. Got a teacher that was "
            f"fitted to {np.asarray(known).tolist()}."
        )


def _normalised(chances: Array) -> Array:
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


# --- the student ------------------------------------------------------------------------------


def _best_shape(
    learn: _Rows, held: _Rows, limits: _Limits, n_jobs: int | None
) -> tuple[AOSOLogitBoostClassifier, dict[str, Any]]:
    """The student nearest to the teacher on held-out rows, and its parameters."""
    best: tuple[float, Any, dict[str, Any]] | None = None
    for shape in _shapes(limits.trees):
        model = _within(learn, limits, shape, n_jobs, held)
        loss = _cross_entropy(held.soft, _answers(model, held.X))
        if best is None or loss < best[0] - 1e-12:
            best = loss, model, shape | {"n_estimators": model.model_.n_rounds}
    assert best is not None  # noqa: S101 - there are shapes
    return best[1], best[2]


def _shapes(trees: int) -> Iterator[dict[str, Any]]:
    for leaves, rate, kind in product(_LEAVES, _RATES, _KINDS):
        yield {
            "n_estimators": trees,
            "max_leaf_nodes": leaves,
            "learning_rate": rate,
            "leaf": kind,
            "min_samples_leaf": 20,
        }


def _within(
    rows: _Rows,
    limits: _Limits,
    shape: dict[str, Any],
    n_jobs: int | None,
    held: _Rows | None = None,
) -> AOSOLogitBoostClassifier:
    """A student of a shape, with fewer rounds where it would be too large or too slow.

    The first rounds of a fit do not depend on how many follow, so that sizes grow with the rounds.
    """
    rounds = shape["n_estimators"]
    if limits.n_bytes is not None:
        rounds = min(rounds, _affordable(rows, shape, limits.n_bytes, n_jobs))
    while True:
        model = _fit(rows, shape | {"n_estimators": rounds}, n_jobs, held)
        share = _room(model, rows.X, limits)
        if share >= 1.0:
            return model
        fitted = model.model_.n_rounds
        if fitted == 1:
            raise InvalidParameterError(
                f"max_bytes and max_microseconds must allow for one tree of "
                f"{shape['max_leaf_nodes']} leaves: {_size(model)} bytes and "
                f"{_latency(model, rows.X):.0f} microseconds here. Got max_bytes={limits.n_bytes} "
                f"and max_microseconds={limits.microseconds}."
            )
        rounds = max(1, min(fitted - 1, int(fitted * share)))


def _room(model: AOSOLogitBoostClassifier, X: Any, limits: _Limits) -> float:
    """The least of the limits over what the model takes; at least 1 where it keeps to them."""
    sizes = [] if limits.n_bytes is None else [limits.n_bytes / _size(model)]
    if limits.microseconds is not None:
        sizes.append(limits.microseconds / _latency(model, X))
    return min(sizes, default=1.0)


def _affordable(rows: _Rows, shape: dict[str, Any], n_bytes: int, n_jobs: int | None) -> int:
    """About how many rounds there is room for, by the sizes of one and of four rounds."""
    one, four = (
        _size(_fit(rows, shape | {"n_estimators": rounds}, n_jobs, None)) for rounds in (1, 4)
    )
    return max(1, 1 + 3 * (n_bytes - one) // max(1, four - one))


def _fit(
    rows: _Rows, shape: dict[str, Any], n_jobs: int | None, held: _Rows | None
) -> AOSOLogitBoostClassifier:
    stops = {} if held is None else {"X_val": held.X, "y_val": _sparse(held.soft)}
    model = AOSOLogitBoostClassifier(
        **shape, early_stopping=held is not None, n_iter_no_change=_PATIENCE, n_jobs=n_jobs
    )
    return model.fit(rows.X, _sparse(rows.soft), **stops)


def _sparse(soft: Array) -> Array:
    """Soft labels without small probabilities, but for the largest one of every class."""
    kept = soft >= _LEAST
    kept[soft.argmax(axis=0), np.arange(soft.shape[1])] = True
    return _normalised(np.where(kept, soft, 0.0))


def _latency(model: AOSOLogitBoostClassifier, X: Any) -> float:
    """Microseconds of `predict_proba` for one row, the median of some calls."""
    row = _safe_indexing(X, [0])
    times = []
    for _ in range(_CALLS):
        begin = perf_counter()
        model.predict_proba(row)
        times.append(perf_counter() - begin)
    return 1e6 * float(np.median(times))


def _size(model: AOSOLogitBoostClassifier) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "student"
        model.save(path)
        return path.stat().st_size


# --- figures ----------------------------------------------------------------------------------


def _answers(model: AOSOLogitBoostClassifier, X: Any) -> Array:
    return np.asarray(model.predict_proba(X), dtype=np.float64)


def _cross_entropy(soft: Array, said: Array) -> float:
    """The mean over the rows, exactly rounded: it also chooses the shape of the student."""
    rows = (soft * np.log(np.maximum(said, _TINY))).sum(axis=1)
    return -math.fsum(rows) / len(rows)


def _figures(
    model: AOSOLogitBoostClassifier,
    held: _Rows,
    truth: NDArray[np.intp] | None,
    learn: NDArray[np.intp],
    at: NDArray[np.intp],
) -> tuple[float, float, float | None, float | None, float | None]:
    """Agreement, divergence, the log losses of student and teacher, the share of the gain."""
    said = _answers(model, held.X)
    agreement = float((said.argmax(axis=1) == held.soft.argmax(axis=1)).mean())
    divergence = _cross_entropy(held.soft, said) - _cross_entropy(held.soft, held.soft)
    if truth is None:
        return agreement, divergence, None, None, None
    n_classes = held.soft.shape[1]
    labels = np.eye(n_classes)[truth[at]]
    shares = np.bincount(truth[learn], minlength=n_classes) / len(learn)
    plain = _cross_entropy(labels, np.broadcast_to(shares, labels.shape))
    own, teachers = _cross_entropy(labels, said), _cross_entropy(labels, held.soft)
    kept = (plain - own) / (plain - teachers) if teachers < plain else None
    return agreement, divergence, own, teachers, kept

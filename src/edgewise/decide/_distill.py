"""Distillation: a small AOSO model that stands in for any classifier.

C. Bucila, R. Caruana and A. Niculescu-Mizil, "Model compression", KDD 2006; G. Hinton, O. Vinyals
and J. Dean, "Distilling the knowledge in a neural network", 2015. The student is boosted on the
teacher's probabilities as soft labels: of the rows, and of many more rows between them
(`_crossover`). Its numbers are rounded, so that its file is small.

Shapes of trees compete on a fifth of the rows, each with as many rounds as the limits allow; the
one nearest to the teacher is fitted again to all rows. With labels y the teacher is fitted too, and
for the competition once more without that fifth, so that its figures are those of a teacher and a
student that have not seen these rows. The soft labels of the training rows may then be out-of-fold,
which helps if the teacher is overconfident on rows that it has seen; the competition decides.
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
from .._data.cross_fit import Examples, examples, held_out_probabilities
from .._data.folds import content_folds
from .._ground import params as p
from .._ground.checks import check_proba
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._model.narrow import rounded
from ..aoso_logitboost import AOSOLogitBoostClassifier
from ._crossover import can_cross, crossed_places, values_at

Array = NDArray[np.float64]

_FOLDS = 5  # one of them is held out
_ROUNDS = 500  # where no limit says otherwise
_LEAVES, _RATES, _KINDS = (8, 16, 32), (0.15, 0.3), ("pair", "vector")
_PATIENCE = 20  # rounds
_CROSSED = 10  # new rows for each row
_MOST_CROSSED = 20_000  # but no more than these, or as many as there are rows
_LEAST = 1e-3  # probabilities below are left out of soft labels: each would cost a copy of the row
_TINY = 1e-15  # of log losses
_CALLS = 101  # of which the median is the latency


class Student(NamedTuple):
    """A small model, and how closely it matches its teacher on held-out rows.

    With y, the figures are those of a teacher and a student that were fitted without the held-out
    rows. Without y, the teacher is the given one, and it depends on its training rows whether the
    rows are new to it.

    Attributes
    ----------
    model : AOSOLogitBoostClassifier
        The student, fitted to all rows.
    teacher : classifier
        The fitted teacher.
    n_bytes : int
        Size of the model file.
    microseconds : float
        Time of `predict_proba` for one row on this machine.
    agreement : float
        Share of held-out rows for which both predict the same class.
    divergence : float
        Mean Kullback-Leibler divergence of the student's probabilities from the teacher's.
    log_loss : float or None
        Log loss of the student on held-out rows; None without y.
    teacher_log_loss : float or None
        Log loss of the teacher on the same rows; None without y.
    kept : float or None
        Share of the teacher's gain over the class frequencies that the student keeps; None
        without y.
    kept_error : float or None
        Standard error of `kept`, which is large if the held-out rows are few or if the teacher
        itself gains little; None without y.
    """

    model: AOSOLogitBoostClassifier  # fitted to all rows
    teacher: Any  # the fitted teacher; with y, to all rows
    n_bytes: int  # of the model file
    microseconds: float  # of predict_proba for one row, here
    agreement: float  # share of held-out rows where both find the same class most probable
    divergence: float  # mean Kullback-Leibler divergence of the student's from the teacher's
    log_loss: float | None  # of the student on held-out rows; None without y, as the next two
    teacher_log_loss: float | None
    kept: float | None  # the student's gain over the class frequencies, as a share of the teacher's
    kept_error: float | None  # its standard error


class _Rows(NamedTuple):
    X: Any
    soft: Array


class _Figures(NamedTuple):
    agreement: float
    divergence: float
    log_loss: float | None = None
    teacher_log_loss: float | None = None
    kept: float | None = None
    kept_error: float | None = None


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
    """Fit a small AOSO model to the probabilities of a classifier.

    Parameters
    ----------
    teacher : classifier
        Classifier with `predict_proba`. Without y it must be fitted, preferably to other rows
        than X. With y clones are fitted to X and y, one of them without a fifth of the rows, for
        the figures.
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows to learn from, in a form that the teacher and AOSO accept. If they are an array or a
        frame, the teacher also labels rows mixed from them.
    y : array-like of shape (n_rows,), default=None
        Labels.
    max_trees : int, default=None
        Largest number of trees of the student. None: 500.
    max_bytes : int, default=None
        Largest size of the model file. None sets no limit.
    max_microseconds : float, default=None
        Longest time of `predict_proba` for one row, measured on this machine. None sets no
        limit. Only this limit makes the student depend on the machine.
    cv : int, splitter or iterable, default=5
        Folds of the teacher's out-of-fold probabilities, which are needed with y. Not used if the
        fitted teacher has them, as `oof_proba_`.
    n_jobs : int, default=None
        Number of threads of the student's fits.

    Returns
    -------
    Student
        The student and its figures.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from edgewise.decide import distill
    >>> X, y = load_iris(return_X_y=True)
    >>> distill(RandomForestClassifier(20, random_state=0), X, y, max_trees=10).model.n_iter_ <= 10
    True
    """
    given = {"max_trees": max_trees, "max_bytes": max_bytes, "n_jobs": n_jobs}
    p.check("distill", given | {"max_microseconds": max_microseconds}, _RULES)
    limits = _Limits(max_trees or _ROUNDS, max_bytes, max_microseconds)
    _need_probabilities(teacher)
    if y is None:
        check_is_fitted(teacher)
        return _of_fitted(teacher, X, limits, n_jobs)
    data = examples(X, y, None)
    return _of_labels(teacher, data, limits, cv, n_jobs)


def _of_fitted(teacher: Any, X: Any, limits: _Limits, n_jobs: int | None) -> Student:
    classes = np.asarray(teacher.classes_)
    targets.need_two_classes(classes, "distill")
    soft = _said(teacher, X, len(classes))
    learn, held = content_folds(X, soft.argmax(axis=1), _FOLDS)[0]
    lessons = [_lesson(teacher, _safe_indexing(X, learn), soft[learn])]
    best = _best(lessons, _Rows(_safe_indexing(X, held), soft[held]), limits, n_jobs)
    final = _within(_lesson(teacher, X, soft), limits, best.shape, n_jobs)
    figures = _figures(best.model, _Rows(_safe_indexing(X, held), soft[held]))
    return _student(final, teacher, classes, X, figures)


def _of_labels(
    teacher: Any, data: Examples, limits: _Limits, cv: Any, n_jobs: int | None
) -> Student:
    classes = targets.classes_of(data.y)
    targets.need_two_classes(classes, "distill")
    _need_same_classes(teacher, classes)
    codes = targets.encode(classes, data.y, "y").astype(np.intp)
    learn, held = content_folds(data.X, codes, _FOLDS)[0]
    part, test = data.take(learn), _safe_indexing(data.X, held)
    tutor, lessons = _lessons(teacher, part, classes, cv)
    rows = _Rows(test, _said(tutor, test, len(classes)))
    best = _best(lessons, rows, limits, n_jobs)
    figures = _figures(best.model, rows, codes[held], np.bincount(codes[learn]) / len(learn))
    fitted, lessons = _lessons(teacher, data, classes, cv if best.lesson else None)
    final = _within(lessons[best.lesson], limits, best.shape, n_jobs)
    return _student(final, fitted, classes, data.X, figures)


def _student(
    model: AOSOLogitBoostClassifier, teacher: Any, classes: NDArray[Any], X: Any, figures: _Figures
) -> Student:
    model.classes_ = classes
    return Student(model, teacher, _size(model), _latency(model, X), *figures)


# --- the teacher ------------------------------------------------------------------------------


def _need_probabilities(teacher: Any) -> None:
    if not hasattr(teacher, "predict_proba"):
        raise InvalidParameterError(
            f"The teacher must be a classifier with predict_proba. Got {teacher!r}."
        )


def _need_same_classes(teacher: Any, classes: NDArray[Any]) -> None:
    """A teacher that is fitted already must know the classes of y, and no others."""
    known = getattr(teacher, "classes_", None)
    if known is not None and np.asarray(known).tolist() != classes.tolist():
        raise InvalidDataError(
            f"The teacher must have the classes of y, {classes.tolist()}. Got a teacher that was "
            f"fitted to {np.asarray(known).tolist()}."
        )


def _said(teacher: Any, X: Any, n_classes: int) -> Array:
    """The teacher's probabilities, (n, n_classes)."""
    chances = check_proba(teacher.predict_proba(X))
    if chances.shape != (_num_samples(X), n_classes):
        raise InvalidDataError(
            f"The teacher must give {_num_samples(X)} rows a probability for each of its "
            f"{n_classes} classes. Got shape {chances.shape}."
        )
    return _normalised(chances)


def _normalised(chances: Array) -> Array:
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))


def _lessons(
    teacher: Any, data: Examples, classes: NDArray[Any], cv: Any
) -> tuple[Any, list[_Rows]]:
    """Return the fitted teacher and its soft labels; with cv also out-of-fold soft labels."""
    fitted, held_out = held_out_probabilities(teacher, data, classes, cv, n_jobs=None)
    soft = _said(fitted, data.X, len(classes))
    lesson = _lesson(fitted, data.X, soft)
    if held_out is None:
        return fitted, [lesson]
    known = ~np.isnan(held_out[:, 0])
    mixed = lesson.soft.copy()
    mixed[: len(soft)][known] = _normalised(held_out[known])
    return fitted, [lesson, lesson._replace(soft=mixed)]


def _lesson(teacher: Any, X: Any, soft: Array) -> _Rows:
    """The rows with the teacher's soft labels, and rows between them."""
    n = len(soft)
    n_new = min(_CROSSED * n, max(n, _MOST_CROSSED)) if can_cross(X) else 0
    if n_new == 0:
        return _Rows(X, soft)
    own = np.broadcast_to(np.arange(n)[:, np.newaxis], (n, X.shape[1]))
    new = crossed_places(X, soft.argmax(axis=1), n_new)
    said = _said(teacher, values_at(X, new), soft.shape[1])
    return _Rows(values_at(X, np.concatenate([own, new])), np.concatenate([soft, said]))


# --- the student ------------------------------------------------------------------------------


class _Try(NamedTuple):
    shape: dict[str, Any]
    lesson: int


class _Best(NamedTuple):
    model: AOSOLogitBoostClassifier
    shape: dict[str, Any]
    lesson: int  # which one it learned


def _best(lessons: list[_Rows], held: _Rows, limits: _Limits, n_jobs: int | None) -> _Best:
    """Choose the student nearest to the teacher on held-out rows: its shape, then its lesson."""
    best: tuple[float, _Best] | None = None
    for shape in _shapes(limits.trees):
        best = _nearer(best, lessons, _Try(shape, 0), held, limits, n_jobs)
    assert best is not None  # noqa: S101 - there are shapes
    shape = best[1].shape | {"n_estimators": limits.trees}
    for lesson in range(1, len(lessons)):
        best = _nearer(best, lessons, _Try(shape, lesson), held, limits, n_jobs)
    return best[1]


def _nearer(  # noqa: PLR0917 - a step of the search above
    best: tuple[float, _Best] | None,
    lessons: list[_Rows],
    tried: _Try,
    held: _Rows,
    limits: _Limits,
    n_jobs: int | None,
) -> tuple[float, _Best]:
    """The better one of the best so far and of a student with another shape or lesson."""
    model = _within(lessons[tried.lesson], limits, tried.shape, n_jobs, held)
    loss = _cross_entropy(held.soft, _answers(model, held.X))
    if best is not None and loss >= best[0] - 1e-12:
        return best
    found = tried.shape | {"n_estimators": model.model_.n_rounds}
    return loss, _Best(model, found, tried.lesson)


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
    """Return the smallest ratio of a limit to what the model uses; at least 1 if it keeps them."""
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
    model.fit(rows.X, _sparse(rows.soft), **stops)
    model.model_ = rounded(model.model_)
    return model


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


def _cross_entropies(soft: Array, said: Array) -> Array:
    """Of every row, (n,)."""
    return np.asarray(-(soft * np.log(np.maximum(said, _TINY))).sum(axis=1))


def _mean(rows: Array) -> float:
    """The mean over the rows, exactly rounded: it also chooses the shape of the student."""
    return math.fsum(rows) / len(rows)


def _cross_entropy(soft: Array, said: Array) -> float:
    return _mean(_cross_entropies(soft, said))


def _figures(
    model: AOSOLogitBoostClassifier,
    held: _Rows,
    truth: NDArray[np.intp] | None = None,
    shares: Array | None = None,  # of the classes, (K,)
) -> _Figures:
    said = _answers(model, held.X)
    agreement = float((said.argmax(axis=1) == held.soft.argmax(axis=1)).mean())
    divergence = _cross_entropy(held.soft, said) - _cross_entropy(held.soft, held.soft)
    if truth is None or shares is None:
        return _Figures(agreement, divergence)
    labels = np.eye(len(shares))[truth]
    plain, own, teachers = (
        _cross_entropies(labels, chances)
        for chances in (np.broadcast_to(shares, labels.shape), said, held.soft)
    )
    kept, error = _share_kept(plain - own, plain - teachers)
    return _Figures(agreement, divergence, _mean(own), _mean(teachers), kept, error)


def _share_kept(gains: Array, teachers: Array) -> tuple[float | None, float | None]:
    """The ratio of the mean gains of rows, and its standard error by the delta method."""
    if _mean(teachers) <= 0.0:
        return None, None
    kept = _mean(gains) / _mean(teachers)
    variance = math.fsum((gains - kept * teachers) ** 2) / max(1, len(gains) - 1)
    return kept, math.sqrt(variance / len(gains)) / _mean(teachers)

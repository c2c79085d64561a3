"""Cross-fitting: predictions of classifiers for rows that they were not fitted to."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from .._ground.errors import InvalidDataError
from . import targets
from .folds import Split, content_folds
from .frames import is_frame, need_distinct_names
from .weights import row_weights

Codes = NDArray[np.int32]
Places = NDArray[np.intp]
Weights = NDArray[np.float64]


class Examples(NamedTuple):
    """X as given, in any form that the classifiers accept; checked labels, weights and groups."""

    X: Any
    y: NDArray[Any]
    weights: Weights | None
    groups: Places | None = None

    def take(self, rows: Places) -> "Examples":
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        return Examples(_safe_indexing(self.X, rows), self.y[rows], weights, groups)

    def present(self) -> Places:
        """The rows whose weight is not zero."""
        return np.arange(len(self.y)) if self.weights is None else np.flatnonzero(self.weights)


class Answers(NamedTuple):
    """The classifiers' predictions, each label as its index among the classes, -1 if unknown."""

    said: Codes  # (n, n_classifiers)
    truth: Codes  # (n)
    weights: Weights | None  # (n)


def examples(X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Examples:
    """Check the labels and weights; the classifiers check X."""
    if X is None:
        raise InvalidDataError("X must be an array, a data frame or a sparse matrix. Got None.")
    if is_frame(X):
        need_distinct_names(X)
    X, labels = indexable(X, targets.labels(y, "y"))
    if len(labels) == 0:
        raise InvalidDataError("X and y must have at least one row. Found 0 sample(s).")
    if sample_weight is None:
        return Examples(X, labels, None)
    row_weights(sample_weight, X, labels, None, "sample_weight")  # checked, but not scaled
    weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), len(labels))
    return Examples(X, labels, weights)


def splits(data: Examples, codes: Codes, cv: Any) -> list[Split]:
    """Yield training rows and held-out rows; rows of weight zero are left out."""
    present = data.present()
    if isinstance(cv, int | np.integer):
        folds = content_folds(_safe_indexing(data.X, present), codes[present], int(cv))
        return [(present[train], present[test]) for train, test in folds]
    given = check_cv(cv, data.y, classifier=True).split(data.X, data.y, data.groups)
    return [(np.intersect1d(a, present), np.intersect1d(b, present)) for a, b in given]


def prefit_answers(
    estimators: Mapping[str, Any], data: Examples, classes: NDArray[Any], n_jobs: int | None
) -> Answers:
    """Predictions of fitted classifiers for all rows."""
    present = data.take(data.present())
    said = Parallel(n_jobs=n_jobs)(
        delayed(answers)(e, present.X, classes) for e in estimators.values()
    )
    truth = targets.encode(classes, present.y, "y")
    return Answers(np.column_stack(said), truth, present.weights)


def cross_fit(
    estimators: Mapping[str, Any],
    data: Examples,
    classes: NDArray[Any],
    cv: Any,
    *,
    weighted: Mapping[str, bool],
    n_jobs: int | None,
) -> tuple[list[Any], Answers]:
    """Classifiers fitted to all rows, and predictions of their clones for held-out rows."""
    truth = _codes(data.y, classes)  # rows of weight zero may have other labels
    parts = splits(data, truth, cv)
    fits = [(e, weighted[name]) for name, e in estimators.items()]
    jobs = [delayed(_fitted)(e, data, w, data.present()) for e, w in fits]
    jobs += [delayed(_held_out)(e, data, w, split, classes) for e, w in fits for split in parts]
    done = Parallel(n_jobs=n_jobs)(jobs)
    fitted, said = done[: len(fits)], done[len(fits) :]
    columns = [np.concatenate(said[i : i + len(parts)]) for i in range(0, len(said), len(parts))]
    held = np.concatenate([test for _, test in parts])
    weights = None if data.weights is None else data.weights[held]
    return fitted, Answers(np.column_stack(columns), truth[held], weights)


def _fitted(estimator: Any, data: Examples, weighted: bool, rows: Places) -> Any:
    part = data.take(rows)
    more: dict[str, Any] = {"sample_weight": part.weights} if weighted else {}
    if part.groups is not None and has_fit_parameter(estimator, "groups"):
        more["groups"] = part.groups
    return clone(estimator).fit(part.X, part.y, **more)


def _held_out(
    estimator: Any, data: Examples, weighted: bool, split: Split, classes: NDArray[Any]
) -> Codes:
    fitted = _fitted(estimator, data, weighted, split[0])
    return answers(fitted, _safe_indexing(data.X, split[1]), classes)


def held_out_probabilities(
    estimator: Any, data: Examples, classes: NDArray[Any], cv: Any, *, n_jobs: int | None
) -> tuple[Any, Weights | None]:
    """A classifier fitted to all rows, and probabilities (n, n_classes) of held-out rows.

    If the fitted classifier has out-of-fold probabilities, as `oof_proba_`, these are used. Rows
    that were not held out are NaN. With cv None there are no probabilities.
    """
    present = data.present()
    fitted = _fitted(estimator, data, data.weights is not None, present)
    if cv is None:
        return fitted, None
    proba = np.full((len(data.y), len(classes)), np.nan)
    own = getattr(fitted, "oof_proba_", None)
    if own is not None and np.shape(own) == (len(present), len(classes)):
        proba[present] = own
        return fitted, proba
    parts = splits(data, _codes(data.y, classes), cv)
    done = Parallel(n_jobs=n_jobs)(delayed(_chances)(estimator, data, s, classes) for s in parts)
    for (_, test), part in zip(parts, done, strict=True):
        proba[test] = part
    return fitted, proba


def _chances(estimator: Any, data: Examples, split: Split, classes: NDArray[Any]) -> Weights:
    """Probabilities of held-out rows; a class that the training rows lack has none."""
    fitted = _fitted(estimator, data, data.weights is not None, split[0])
    said = np.asarray(fitted.predict_proba(_safe_indexing(data.X, split[1])), dtype=np.float64)
    chances = np.zeros((len(split[1]), len(classes)))
    chances[:, _codes(fitted.classes_, classes)] = said
    return chances


def answers(estimator: Any, X: Any, classes: NDArray[Any]) -> Codes:
    """Return the predictions of one classifier for rows X."""
    labels = np.asarray(estimator.predict(X))
    if labels.ndim != 1:
        raise InvalidDataError(
            f"Every classifier must predict one label for each row. Got predictions of shape "
            f"{labels.shape} from {estimator!r}."
        )
    return _codes(labels, classes)


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> Codes:
    """The places of labels among the classes; -1 for those not among them."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[places] == labels, places, -1).astype(np.int32)

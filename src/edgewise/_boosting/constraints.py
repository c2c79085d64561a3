"""Constraints on a model: interactions of features, and directions in which classes may move.

The parameters name features by number or name, and classes by label. This module translates them
for the core or raises an error.
"""

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._data.dates import owners
from .._ground.errors import InvalidParameterError

Directions = NDArray[np.int8]
CONSTANT = 2  # a direction: neither up nor down


class Interactions(NamedTuple):
    """The features that may meet on one path of a tree."""

    at_most: int = 0  # most different features on a path; 0: no limit
    sets: list[list[int]] = []  # noqa: RUF012  # a path stays within one; none: no limit

    def limits(self) -> dict[str, Any]:
        """The arguments of the core's GrowLimits."""
        return {"most_features_together": self.at_most, "features_together": self.sets}

    def beside(self, path: Collection[int], features: Iterable[int]) -> list[int]:
        """The features among `features` that may join those of `path`."""
        met = set(path)
        if self.at_most:
            return [f for f in features if f in met or len(met) < self.at_most]
        allowed = set[int]().union(*(s for s in self.sets if met <= set(s)))
        return [f for f in features if f in allowed or not self.sets]


def interactions(estimator: BaseEstimator) -> Interactions:
    """From the estimator's parameter `interaction_cst`."""
    given = estimator.interaction_cst
    if given is None:
        return Interactions()
    found = getattr(estimator, "dates_", {})
    if given == "no_interactions" and found:
        given = [[j] for j in range(estimator.n_features_in_)]  # a date may meet its own parts
    if isinstance(given, str):
        return Interactions(at_most=1 if given == "no_interactions" else 2)
    sets = [sorted({_column(estimator, "interaction_cst", c) for c in s}) for s in given]
    rest = sorted(set(range(estimator.n_features_in_)).difference(*sets))
    added = list(enumerate(owners(found), estimator.n_features_in_))
    sets = [s + [part for part, (j, _) in added if j in s] for s in sets + [rest] * bool(rest)]
    return Interactions(sets=sets)


def directions(estimator: BaseEstimator, classes: NDArray[Any]) -> Directions | None:
    """Return how each class may move with each feature: -1, 0, 1 or CONSTANT, (d, n_classes).

    From the estimator's parameter `monotonic_cst`. None if nothing is constrained. If class k must
    rise against class j, k may only rise and j may only fall.
    """
    given = estimator.monotonic_cst
    if given is None:
        return None
    table = np.zeros((estimator.n_features_in_, len(classes)), dtype=np.int8)
    for column, entry in _entries(estimator, given):
        rises = _rising_pairs(estimator, column, entry, classes)
        _need_no_contradiction(estimator, column, rises, classes)
        up, down = {k for k, _ in rises}, {j for _, j in rises}
        for k in up | down:
            table[column, k] = CONSTANT if k in up & down else 1 if k in up else -1
    _need_order(estimator, table)
    return _with_parts(estimator, table) if table.any() else None


def _with_parts(estimator: BaseEstimator, table: Directions) -> Directions:
    """Add rows for the parts of dates: scores that a date constrains may not depend on them."""
    of_parts = [
        np.where(table[j] != 0, CONSTANT, 0) for j, _ in owners(getattr(estimator, "dates_", {}))
    ]
    return np.array([*table, *of_parts], dtype=np.int8)


# --- features ---------------------------------------------------------------------------------


def _column(estimator: BaseEstimator, parameter: str, given: Any) -> int:
    """The number of a column, given by number or name."""
    d = estimator.n_features_in_
    if isinstance(given, str):
        names = list(getattr(estimator, "feature_names_in_", []))
        if given in names:
            return names.index(given)
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        allowed = f"names of columns of X ({shown})" if names else f"numbers from 0 to {d - 1}"
    else:
        is_number = isinstance(given, Integral) and not isinstance(given, bool)
        if is_number and 0 <= int(given) < d:
            return int(given)
        allowed = f"columns of X by name or by numbers from 0 to {d - 1}"
    raise _wrong(estimator, parameter, f"hold {allowed}", given)


def _entries(estimator: BaseEstimator, given: Any) -> list[tuple[int, Any]]:
    """Columns with their entries."""
    if isinstance(given, Mapping):
        columns = [(_column(estimator, "monotonic_cst", c), entry) for c, entry in given.items()]
        if len({column for column, _ in columns}) < len(columns):
            words = "name every column once"
            raise _wrong(estimator, "monotonic_cst", words, list(given))
        return columns
    if len(given) != estimator.n_features_in_:
        words = f"have one entry for each of the {estimator.n_features_in_} columns of X"
        raise _wrong(estimator, "monotonic_cst", words, f"{len(given)} entries")
    return list(enumerate(given))


# --- classes ----------------------------------------------------------------------------------


def _rising_pairs(
    estimator: BaseEstimator, column: int, entry: Any, classes: NDArray[Any]
) -> set[tuple[int, int]]:
    """Pairs (k, j) of classes for which the log odds of k against j may not fall."""
    if not isinstance(entry, Mapping):
        d = _direction(estimator, column, entry)
        if d and len(classes) > 2:
            words = (
                f"say for column {column} which of the {len(classes)} classes it means: a dict "
                "{class: -1, 0 or 1}"
            )
            raise _wrong(estimator, "monotonic_cst", words, entry)
        return {(1, 0)} if d > 0 else {(0, 1)} if d else set()
    rises: set[tuple[int, int]] = set()
    for key, given in entry.items():
        d = _direction(estimator, column, given)
        one, *other = key if isinstance(key, tuple) else (key,)
        k = _class(estimator, column, one, classes)
        others = [j for j in range(len(classes)) if j != k]
        if other:
            others = [_class(estimator, column, label, classes) for label in other]
        if k in others or (isinstance(key, tuple) and len(others) != 1):
            words = f"name classes or pairs of different classes for column {column}"
            raise _wrong(estimator, "monotonic_cst", words, key)
        if d:
            rises |= {(k, j) if d > 0 else (j, k) for j in others}
    return rises


def _direction(estimator: BaseEstimator, column: int, given: Any) -> int:
    is_number = isinstance(given, Real) and not isinstance(given, bool | np.bool_)
    if not is_number or given not in (-1, 0, 1):
        words = (
            f"use the directions -1, 0 or 1, or a dict {{class: direction}}, for column {column}"
        )
        raise _wrong(estimator, "monotonic_cst", words, given)
    return int(given)


def _class(estimator: BaseEstimator, column: int, label: Any, classes: NDArray[Any]) -> int:
    known = list(classes)
    if label not in known:
        shown = ", ".join(map(str, known[:10])) + (", ..." if len(known) > 10 else "")
        words = f"name classes of y ({shown}) for column {column}"
        raise _wrong(estimator, "monotonic_cst", words, label)
    return known.index(label)


def _need_no_contradiction(
    estimator: BaseEstimator, column: int, rises: set[tuple[int, int]], classes: NDArray[Any]
) -> None:
    """Check that no class has to both rise and fall against another, directly or through others."""
    closure = np.zeros((len(classes), len(classes)), dtype=bool)
    for k, j in rises:
        closure[k, j] = True
    for k in range(len(classes)):  # Warshall
        closure |= np.outer(closure[:, k], closure[k])
    both = np.argwhere(closure & closure.T)
    if len(both):
        k, j = both[both[:, 0] != both[:, 1]][0]
        words = (
            f"not contradict itself: for column {column}, class {classes[k]} may neither rise nor "
            f"fall against class {classes[j]}"
        )
        raise _wrong(estimator, "monotonic_cst", words, estimator.monotonic_cst)


def _need_order(estimator: BaseEstimator, table: Directions) -> None:
    mask = getattr(estimator, "is_categorical_", None)
    unordered = np.flatnonzero(table.any(axis=1) & (mask if mask is not None else False))
    if len(unordered):
        words = "not constrain categorical columns, whose values have no order"
        raise _wrong(estimator, "monotonic_cst", words, f"column {unordered[0]}")


def _wrong(estimator: BaseEstimator, parameter: str, words: str, got: Any) -> InvalidParameterError:
    shown = got if isinstance(got, str) and " " in got else repr(got)
    return InvalidParameterError(
        f"The {parameter!r} parameter of {type(estimator).__name__} must {words}. Got {shown}."
    )

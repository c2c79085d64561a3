"""Soft labels in blocks: a copy of a row for every class of positive probability, as locally."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._data.soft import SoftLabels, soft_labels
from .._data.weights import product
from .._ground.errors import InvalidDataError, InvalidParameterError
from ._backend import Backend
from ._facts import Raw, matrix, plain, row_weights


class SoftFacts(NamedTuple):
    """Facts about the soft labels of some parts."""

    n_given: int  # rows of positive weight
    n_copies: int
    plain: bool  # whether every row has one label and the weight one
    occurring: NDArray[np.bool_]  # (n_classes)
    classes: NDArray[Any]


class Expanded(NamedTuple):
    """Parts with a row for every label."""

    parts: Any
    weighted: bool
    copies: float  # rows for each row that was given


def expanded(estimator: Any, backend: Backend, parts: Any, *, hold_out: bool) -> Expanded:
    """Parts whose rows have one label each, and weights."""
    if estimator.class_weight is not None:
        raise InvalidParameterError(
            "The 'class_weight' parameter must be None if soft labels are learned from on Dask: "
            f"multiply it into y. Got {estimator.class_weight!r}."
        )
    if hold_out:
        raise InvalidDataError(
            "Rows with soft labels on Dask are not held out for early stopping or calibration: "
            "give X_val and y_val."
        )
    facts: SoftFacts = backend.sum(_facts, parts, add=_both)
    never = np.flatnonzero(~facts.occurring)
    if len(never):
        raise InvalidDataError(
            "Every class must have a positive probability in some row of y (rows of weight "
            f"zero do not count). Class {facts.classes[never[0]]} has none."
        )
    copied = backend.derived(_copied, parts, [facts.plain] * len(parts))
    return Expanded(copied, not facts.plain, facts.n_copies / max(facts.n_given, 1))


def _of(raw: Raw) -> tuple[Raw, SoftLabels]:
    """The rows of positive weight, and their labels."""
    labels = soft_labels(raw.y, "y")
    if labels is None:
        raise InvalidDataError(
            "y must be a vector of labels or hold class probabilities on Dask; an indicator matrix "
            "can be learned from locally only."
        )
    X = matrix(raw.X)
    if len(labels) != len(X):
        raise InvalidDataError(
            f"Every block of X must have as many rows as that of y. Got blocks of {len(X)} "
            f"and {len(labels)} rows."
        )
    weights = None if raw.weights is None else row_weights(raw.weights)
    if weights is not None and len(weights) != len(X):
        raise InvalidDataError(
            "sample_weight must have one number per row, block by block. Got blocks of "
            f"{len(weights)} weights and {len(X)} rows."
        )
    present = slice(None) if weights is None else weights > 0
    weights = None if weights is None else weights[present]
    return Raw(X[present], None, weights), labels[present]


def _facts(raw: Raw) -> SoftFacts:
    rows, labels = _of(raw)
    positive = labels.probabilities > 0
    weights = 1.0 if rows.weights is None else rows.weights[:, np.newaxis]
    certain = bool((labels.probabilities * weights == positive).all())
    once = bool((np.count_nonzero(positive, axis=1) == 1).all())
    n_copies = int(np.count_nonzero(positive))
    occurring: NDArray[np.bool_] = np.asarray(positive.any(axis=0))
    return SoftFacts(len(labels), n_copies, certain and once, occurring, labels.classes)


def _both(a: SoftFacts, b: SoftFacts) -> SoftFacts:
    if a.classes.tolist() != b.classes.tolist():
        raise InvalidDataError(
            f"All blocks of y must have the same columns. Got {len(a.classes)} and "
            f"{len(b.classes)}, or other names."
        )
    return SoftFacts(
        a.n_given + b.n_given,
        a.n_copies + b.n_copies,
        a.plain and b.plain,
        a.occurring | b.occurring,
        a.classes,
    )


def _copied(raw: Raw, unweighted: bool) -> Raw:
    rows, labels = _of(raw)
    row, code = np.nonzero(labels.probabilities > 0)
    X, y = plain(rows.X[row]), labels.classes[code]
    if unweighted:
        return Raw(X, y, None)
    weights = labels.probabilities[row, code]
    if rows.weights is not None:
        weights = product(rows.weights[row], weights, "sample_weight times y")
    return Raw(X, y, weights)

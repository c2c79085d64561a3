"""Metrics of decisions that are functions of three counts per class, and scorers of one's own.

Counts have classes as their last axis, so that a metric judges many decisions at once:
`hits` rows of class k called k, `said` rows called k, `true` rows of class k.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._ground.errors import InvalidParameterError

Array = NDArray[np.float64]
CountMetric = Callable[[Array, Array, Array], Array]

_PRICE_OF_RECALL = 10.0  # in accuracy, where a required recall is missed


def accuracy(hits: Array, said: Array, true: Array) -> Array:
    return np.asarray(hits.sum(axis=-1) / true.sum())


def macro_f1(hits: Array, said: Array, true: Array) -> Array:
    """Mean over the classes of 2 hits / (said + true); a class neither true nor said counts 0."""
    total = said + true
    return np.asarray((2 * hits / np.where(total > 0, total, 1.0)).mean(axis=-1))


def balanced_accuracy(hits: Array, said: Array, true: Array) -> Array:
    """Mean recall of the classes that occur."""
    occurs = true > 0
    return np.asarray((hits[..., occurs] / true[occurs]).mean(axis=-1))


def recall_at_least(place: int, least: float) -> CountMetric:
    """Accuracy among decisions whose recall of one class is enough; else how far it is from it."""

    def metric(hits: Array, said: Array, true: Array) -> Array:
        short = _shortfall(hits, true, place, least)
        return np.where(short <= 0, accuracy(hits, said, true), -short - 1.0)

    return metric


def softened_recall(place: int, least: float) -> CountMetric:
    """The same metric without a jump, so that a gain can be measured on few rows."""

    def metric(hits: Array, said: Array, true: Array) -> Array:
        short = np.maximum(0.0, _shortfall(hits, true, place, least))
        return np.asarray(accuracy(hits, said, true) - _PRICE_OF_RECALL * short)

    return metric


def _shortfall(hits: Array, true: Array, place: int, least: float) -> Array:
    return np.asarray(least - hits[..., place] / max(float(true[place]), np.finfo(float).tiny))


NAMED: dict[str, CountMetric] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "macro_f1": macro_f1,
}


def count_metric(
    metric: Any, classes: NDArray[Any]
) -> tuple[CountMetric | None, CountMetric | None]:
    """The metric as a function of counts, to search and to judge by; None for one's own scorer."""
    if isinstance(metric, str) and metric in NAMED:
        return NAMED[metric], NAMED[metric]
    if isinstance(metric, tuple) and len(metric) == 3 and metric[0] == "recall":
        _, label, least = metric
        at = np.flatnonzero(classes == label)
        if len(at) != 1 or not isinstance(least, float | int) or not 0.0 < least <= 1.0:
            raise InvalidParameterError(
                "A metric ('recall', class, least) must name one of the classes "
                f"{', '.join(map(str, classes))} and a recall above 0 and at most 1. "
                f"Got {metric!r}."
            )
        place, least = int(at[0]), float(least)
        return recall_at_least(place, least), softened_recall(place, least)
    if callable(metric):
        return None, None
    raise InvalidParameterError(
        f"metric must be one of {', '.join(map(repr, NAMED))}, ('recall', class, least), or a "
        f"function (y_true, y_pred) -> float. Got {metric!r}."
    )


def measured(
    metric: Any, classes: NDArray[Any], truth: NDArray[np.intp], said: NDArray[np.intp]
) -> dict[str, float]:
    """What predictions have of a metric, by name: a required recall is told beside the accuracy."""
    if callable(metric):
        name = getattr(metric, "__name__", "the metric")
        return {name: float(metric(classes[truth], classes[said]))}
    n_classes = len(classes)
    hits, answers, true = (
        np.bincount(codes, minlength=n_classes).astype(np.float64)
        for codes in (truth[truth == said], said, truth)
    )
    if isinstance(metric, str):
        return {metric: float(NAMED[metric](hits, answers, true))}
    place = int(np.flatnonzero(classes == metric[1])[0])
    recall = float(hits[place] / true[place]) if true[place] else float("nan")
    return {f"recall of {metric[1]}": recall, "accuracy": float(accuracy(hits, answers, true))}

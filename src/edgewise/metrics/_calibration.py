"""The calibration of probabilities: reliability curve, calibration error.

Top-label: the accuracy of the most probable class against its probability (Guo, Pleiss, Sun
and Weinberger, "On calibration of modern neural networks", ICML 2017). Classwise: the same for the
probability of every class, averaged over the classes (Kull et al., "Beyond temperature scaling",
NeurIPS 2019).
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.errors import InvalidParameterError
from .._ground.params import check, integer, one_of
from ._forecasts import Array, Forecasts, of_probabilities

Kind = Literal["top_label", "classwise"]
Strategy = Literal["uniform", "quantile"]

_RULES = {
    "n_bins": integer(1, 10_000),
    "strategy": one_of(*get_args(Strategy)),
    "kind": one_of(*get_args(Kind)),
}


@dataclass(frozen=True)
class ReliabilityCurve:
    """Predicted probability and observed frequency, in bins with rows.

    Attributes
    ----------
    lower : array of shape (n_bins,)
        Lower ends of the bins; the first bin contains its lower end.
    upper : array of shape (n_bins,)
        Upper ends of the bins, which belong to them.
    forecast : array of shape (n_bins,)
        Mean probability forecast.
    observed : array of shape (n_bins,)
        Share of the rows for which the forecast was correct.
    count : array of shape (n_bins,)
        Number of rows.
    weight : array of shape (n_bins,)
        Share of the weight; the sum is 1.
    """

    lower: Array
    upper: Array
    forecast: Array
    observed: Array
    count: NDArray[np.intp]
    weight: Array

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance between forecast and observed."""
        return float(self.weight @ np.abs(self.observed - self.forecast))

    @property
    def max_error(self) -> float:
        """The largest distance of a bin between forecast and observed."""
        return float(np.abs(self.observed - self.forecast).max())


def calibration_error(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    kind: Kind = "top_label",
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Compute the expected calibration error (ECE).

    The error is the mean distance between forecast and observed frequency over bins of the
    forecast. It lies between 0 and 1.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Labels, or an indicator matrix.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,)
        Probabilities; for two classes those of the second class suffice.
    kind : {"top_label", "classwise"}, default='top_label'
        "top_label" judges the probability of the most probable class; "classwise" that of each
        class, and averages over the classes. An indicator matrix needs "classwise".
    n_bins : int, default=15
        Number of bins between 0 and 1.
    strategy : {"uniform", "quantile"}, default='uniform'
        Bins of equal width, or of about the same number of rows.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    float
        The error.

    Examples
    --------
    >>> from edgewise.metrics import calibration_error
    >>> round(calibration_error([0, 1, 1, 1], [0.2, 0.9, 0.9, 0.9]), 3)
    0.125
    """
    given = of_probabilities(y, proba, classes, sample_weight)
    options = {"kind": kind, "n_bins": n_bins, "strategy": strategy}
    check("calibration_error", options, _RULES)
    if kind == "top_label":
        return _curve(*_top_label(given), given.weights, n_bins, strategy).error
    columns = zip(given.values.T, given.truth.T, strict=True)
    curves = [_curve(p, came, given.weights, n_bins, strategy) for p, came in columns]
    return float(np.mean([curve.error for curve in curves]))


def reliability_curve(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    label: Any = None,
    n_bins: int = 15,
    strategy: Strategy = "uniform",
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> ReliabilityCurve:
    """Compute forecast and observed frequencies in bins of the forecast.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, n_classes)
        Labels, or an indicator matrix.
    proba : array-like of shape (n_rows, n_classes) or (n_rows,)
        Probabilities; for two classes those of the second class suffice.
    label : label, default=None
        Class whose probability is judged. None judges the most probable class of each row.
    n_bins : int, default=15
        Number of bins between 0 and 1.
    strategy : {"uniform", "quantile"}, default='uniform'
        Bins of equal width, or of about the same number of rows.
    classes : array-like of shape (n_classes,), default=None
        Labels of the columns: an estimator's `classes_`. None uses the sorted labels of y.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    ReliabilityCurve
        One entry per bin that contains rows.

    Examples
    --------
    >>> from edgewise.metrics import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.9, 0.9, 0.9])
    >>> curve.count.tolist()
    [1, 3]
    """
    given = of_probabilities(y, proba, classes, sample_weight)
    rules = {name: _RULES[name] for name in ("n_bins", "strategy")}
    check("reliability_curve", {"n_bins": n_bins, "strategy": strategy}, rules)
    forecast, came = _top_label(given) if label is None else _of_label(given, label)
    return _curve(forecast, came, given.weights, n_bins, strategy)


def _top_label(given: Forecasts) -> tuple[Array, NDArray[np.bool_]]:
    if not given.exclusive:
        raise InvalidParameterError(
            "With an indicator matrix as y there is no most probable label that is right or wrong: "
            "use kind='classwise', or the curve of one label."
        )
    rows, top = np.arange(len(given.values)), given.values.argmax(axis=1)
    return given.values[rows, top], given.truth[rows, top]


def _of_label(given: Forecasts, label: Any) -> tuple[Array, NDArray[np.bool_]]:
    place = np.flatnonzero(given.classes == label)
    if len(place) != 1:
        raise InvalidParameterError(
            f"The 'label' parameter must be one of {', '.join(map(str, given.classes))}. "
            f"Got {label!r}."
        )
    return given.values[:, place[0]], given.truth[:, place[0]]


def _curve(
    forecast: Array, came: NDArray[np.bool_], weights: Array, n_bins: int, strategy: str
) -> ReliabilityCurve:
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        last = np.arange(1, n_bins) * len(forecast) // n_bins - 1  # of each bin, in order
        edges[1:-1] = np.sort(forecast)[last.clip(min=0)]
    bins = np.searchsorted(edges[1:-1], forecast, side="left")
    weight: Array = np.bincount(bins, weights, minlength=n_bins).astype(np.float64)
    held = weight > 0
    return ReliabilityCurve(
        lower=edges[:-1][held],
        upper=edges[1:][held],
        forecast=np.bincount(bins, weights * forecast, n_bins)[held] / weight[held],
        observed=np.bincount(bins, weights * came, n_bins)[held] / weight[held],
        count=np.bincount(bins, minlength=n_bins)[held],
        weight=weight[held],
    )

"""Whether probabilities can be believed: reliability curve, calibration error.

Top-label: how often the most probable class is right, against its probability (Guo, Pleiss, Sun
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
    """What was forecast and what came, in bins of the forecast; only bins that hold rows."""

    lower: Array  # (B): ends of the bins; a bin contains its upper end, the first also its lower
    upper: Array  # (B)
    forecast: Array  # (B): mean probability forecast
    observed: Array  # (B): share of the rows for which it came true
    count: NDArray[np.intp]  # (B): rows
    weight: Array  # (B): share of the weight, of sum 1

    @property
    def error(self) -> float:
        """Expected calibration error: mean distance between forecast and observed."""
        return float(self.weight @ np.abs(self.observed - self.forecast))

    @property
    def max_error(self) -> float:
        """The largest distance of a bin."""
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
    """Expected calibration error (ECE), between 0 and 1: forecast against observed, in bins.

    Parameters
    ----------
    y, proba, classes, sample_weight : as for `brier_score`.
    kind : "top_label": of the most probable class; "classwise": of the probability of each class,
        the mean over all classes. With an indicator matrix as y only "classwise".
    n_bins : bins between 0 and 1.
    strategy : "uniform": bins of the same width; "quantile": of about as many rows.
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
    """What was forecast and what came, in bins.

    Parameters
    ----------
    y, proba, classes, sample_weight : as for `brier_score`.
    label : the class whose probability is judged; None: the most probable class of each row.
    n_bins, strategy : as for `calibration_error`.
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

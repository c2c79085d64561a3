"""Decisions of least expected cost: one matrix or one per row, abstention, values of hits."""

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from .._data.weights import scaled
from .._ground.checks import Array, check_cost, check_proba, check_weights, numbers
from .._ground.errors import InvalidDataError, InvalidParameterError

REJECTED = -1  # the place of a row that is not decided


class CostEstimate(NamedTuple):
    """A mean cost and its confidence interval.

    Attributes
    ----------
    mean : float
        Mean cost of a row.
    low : float
        Lower end of the confidence interval.
    high : float
        Upper end of the confidence interval.
    """

    mean: float
    low: float
    high: float


def decide_by_cost(
    proba: ArrayLike,
    cost: ArrayLike,
    *,
    value: ArrayLike | None = None,
    reject_cost: ArrayLike | None = None,
) -> NDArray[np.intp]:
    """Choose for each row the class of least expected cost, or -1 to abstain.

    Parameters
    ----------
    proba : array-like of shape (n_rows, n_classes)
        Class probabilities.
    cost : array-like of shape (n_classes, n_classes) or (n_rows, n_classes, n_classes)
        Cost of predicting class j (last axis) if class k is correct; one matrix for all rows or
        one per row.
    value : array-like of shape (n_classes,), default=None
        Value of a correct prediction for a row of each class, subtracted from its cost.
    reject_cost : float or array-like of shape (n_rows,), default=None
        Cost of not deciding. None: always decide.

    Returns
    -------
    ndarray of shape (n_rows,)
        Class numbers. Equal costs, up to rounding, go to the first class; abstaining must be
        cheaper.

    Examples
    --------
    >>> from edgewise.decide import decide_by_cost
    >>> decide_by_cost([[0.8, 0.2], [0.5, 0.5]], [[0, 1], [1, 0]], reject_cost=0.3)
    array([ 0, -1])
    """
    chances = check_proba(proba)
    net = net_costs(cost, value, *chances.shape)
    summed = "ik,ikj->ij" if net.ndim == 3 else "ik,kj->ij"
    expected = np.einsum(summed, chances, net)  # without BLAS: the same for any threads
    scale = np.einsum(summed, chances, np.abs(net)).max(axis=1, keepdims=True)
    rounding = 4 * chances.shape[1] * np.finfo(float).eps * scale
    least = expected.min(axis=1, keepdims=True)
    chosen: NDArray[np.intp] = (expected <= least + rounding).argmax(axis=1)
    if reject_cost is not None:
        price = _prices(reject_cost, len(chances))
        chosen[price < (least - rounding)[:, 0]] = REJECTED
    return chosen


def net_costs(cost: ArrayLike, value: ArrayLike | None, n_rows: int, n_classes: int) -> Array:
    """Return costs minus the values of correct predictions, (K, K) or (n, K, K)."""
    if np.ndim(cost) == 3:
        matrices = numbers(cost, "Costs of rows", InvalidParameterError)
        if matrices.shape != (n_rows, n_classes, n_classes):
            raise InvalidParameterError(
                f"Costs of rows must have shape ({n_rows}, {n_classes}, {n_classes}): for each row "
                f"a matrix of true and predicted classes. Got shape {matrices.shape}."
            )
        if not (np.isfinite(matrices) & (matrices >= 0)).all():
            raise InvalidParameterError(
                "Costs of rows must be finite numbers that are not negative. Got "
                f"{matrices[~(np.isfinite(matrices) & (matrices >= 0))][0]}."
            )
    else:
        matrices = check_cost(cost, n_classes)
    if value is None:
        return matrices
    worth = numbers(value, "value", InvalidParameterError)
    if worth.shape != (n_classes,) or not (np.isfinite(worth) & (worth >= 0)).all():
        raise InvalidParameterError(
            f"value must hold a finite number for each of the {n_classes} classes, none negative. "
            f"Got {value!r}."
        )
    return np.asarray(matrices - np.diag(worth))


def _prices(reject_cost: ArrayLike, n_rows: int) -> Array:
    prices = numbers(reject_cost, "reject_cost", InvalidParameterError)
    if prices.shape not in ((), (n_rows,)) or not np.isfinite(prices).all() or (prices < 0).any():
        raise InvalidParameterError(
            f"reject_cost must be a finite number, or one for each of the {n_rows} rows, none "
            f"negative. Got {reject_cost!r}."
        )
    return np.broadcast_to(prices, n_rows)


def paid(
    truth: NDArray[Any],
    said: NDArray[np.intp],
    net: Array,
    reject_cost: ArrayLike | None,
) -> Array:
    """Return the cost of each row, (n,), from the indices of its true and its predicted class."""
    at = (np.arange(len(truth)), truth, said) if net.ndim == 3 else (truth, said)
    costs = np.array(net[at])
    if reject_cost is not None:
        rejected = said == REJECTED
        costs[rejected] = _prices(reject_cost, len(truth))[rejected]
    return costs


def cost_interval(
    costs: ArrayLike, *, level: float = 0.95, sample_weight: ArrayLike | None = None
) -> CostEstimate:
    """Compute the mean cost of independent rows and Student's interval.

    Parameters
    ----------
    costs : array-like of shape (n_rows,)
        Cost of each row.
    level : float, default=0.95
        Confidence level.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows.

    Returns
    -------
    CostEstimate
        Mean and interval.

    Examples
    --------
    >>> from edgewise.decide import cost_interval
    >>> cost_interval([0.0, 1.0, 0.0, 1.0]).mean
    0.5
    """
    values = numbers(costs, "costs", InvalidDataError)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise InvalidDataError(
            f"costs must be finite numbers of two rows or more. Got shape {values.shape}."
        )
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise InvalidParameterError(f"level must be above 0 and below 1. Got {level!r}.")
    weights = check_weights(sample_weight, len(values))
    weights = np.ones(len(values)) if weights is None else scaled(weights)[0]
    shares = weights / math.fsum(weights)
    mean = math.fsum(shares * values)
    n = 1.0 / math.fsum(shares**2)  # Kish's effective number of rows
    if n <= 1.0:
        return CostEstimate(mean, -np.inf, np.inf)
    size = float(np.abs(values).max()) or 1.0  # the squares of large costs are infinite
    deviation = size * math.sqrt(math.fsum(shares * (values / size - mean / size) ** 2) / (n - 1))
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * deviation
    return CostEstimate(mean, mean - half, mean + half)

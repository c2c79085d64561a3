"""Losses that :class:`NewtonBoostClassifier` can lower, and a check of losses of your own.

A loss is an object with three methods of two arrays, both (n_rows, n_classes): the targets Y, rows
of probabilities with a one at the label of a row (or soft labels), and the scores F:

    value(Y, F)     -> (n_rows,)             the loss of every row
    gradient(Y, F)  -> (n_rows, n_classes)   its first derivatives by the scores
    hessian(Y, F)   -> (n_rows, n_classes)   its second derivatives, the diagonal only: d2 / dF_k^2

The Hessian has to be positive wherever it matters. Where a loss is not convex, give a positive
bound or stand-in and say so by the attribute `exact_hessian = False`. The method
`probabilities(F)` -> (n_rows, n_classes) is optional; without it they are the soft-max of F.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax, softmax

from ._ground.errors import InvalidParameterError

Array = NDArray[np.float64]  # (n_rows, n_classes)


@runtime_checkable
class Loss(Protocol):
    """What a loss has to have."""

    def value(self, Y: Array, F: Array) -> Array: ...

    def gradient(self, Y: Array, F: Array) -> Array: ...

    def hessian(self, Y: Array, F: Array) -> Array: ...


@dataclass(frozen=True)
class LogLoss:
    """-sum_k t_k log p_k, the targets mixed with a share `smoothing` of the uniform distribution.

    Smoothed targets (Szegedy and others, CVPR 2016) keep a model from being too sure of itself.
    """

    smoothing: float = 0.0

    def __post_init__(self) -> None:
        _need_share("smoothing", self.smoothing)

    def _targets(self, Y: Array) -> Array:
        return np.asarray((1.0 - self.smoothing) * Y + self.smoothing / Y.shape[1])

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-(self._targets(Y) * log_softmax(F, axis=1)).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        return np.asarray(softmax(F, axis=1) - self._targets(Y))

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(F, axis=1)
        return np.asarray(p * (1.0 - p))


@dataclass(frozen=True)
class GeneralizedCrossEntropy:
    """sum_k y_k (1 - p_k^q) / q: between the log loss (q to 0) and the absolute error (q = 1).

    Zhang and Sabuncu (NeurIPS 2018). It is bounded, so a row whose label is hopeless pulls no
    longer: for noisy labels. Not convex; the stand-in for the Hessian is p_y^q p_k (1 - p_k).
    """

    q: float = 0.7
    exact_hessian = False

    def __post_init__(self) -> None:
        if not 0.0 < self.q <= 1.0:
            raise InvalidParameterError(
                f"The 'q' of GeneralizedCrossEntropy must be above 0 and at most 1. Got {self.q!r}."
            )

    def _powers(self, Y: Array, F: Array) -> tuple[Array, Array]:
        """p and y_k p_k^q."""
        log_p = log_softmax(F, axis=1)
        return np.exp(log_p), Y * np.exp(self.q * log_p)

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray((Y.sum(axis=1) - self._powers(Y, F)[1].sum(axis=1)) / self.q)

    def gradient(self, Y: Array, F: Array) -> Array:
        p, power = self._powers(Y, F)
        return np.asarray(p * power.sum(axis=1, keepdims=True) - power)

    def hessian(self, Y: Array, F: Array) -> Array:
        p, power = self._powers(Y, F)
        return np.asarray(power.sum(axis=1, keepdims=True) * p * (1.0 - p))


class TransitionLoss:
    """The log loss of labels that went wrong with known probabilities.

    noise[t, k] is the probability that label k is recorded where t is true (rows sum to 1, classes
    sorted). The soft-max p stands for the true label; what is recorded has the probabilities
    p @ noise ("forward correction", Patrini and others, CVPR 2017). Not convex in the scores; the
    stand-in for the Hessian is that of the log loss, of which expectation maximisation shows that a
    Newton step on it lowers the loss as well.
    """

    exact_hessian = False

    def __init__(self, noise: ArrayLike) -> None:
        self.noise = np.array(noise, dtype=np.float64)
        square = self.noise.ndim == 2 and self.noise.shape[0] == self.noise.shape[1]
        if not square or np.any(self.noise < 0) or not np.allclose(self.noise.sum(axis=1), 1.0):
            raise InvalidParameterError(
                "The noise of TransitionLoss must be a square matrix of probabilities whose rows "
                f"sum to 1: P(recorded | true). Got {self.noise!r}."
            )

    def __repr__(self) -> str:
        return f"TransitionLoss({self.noise.tolist()!r})"

    def _recorded(self, F: Array) -> tuple[Array, Array]:
        """Probabilities of the true and of the recorded labels."""
        if F.shape[1] != len(self.noise):
            raise InvalidParameterError(
                f"The noise of TransitionLoss must have one row for each of the {F.shape[1]} "
                f"classes. Got {len(self.noise)} rows."
            )
        p = softmax(F, axis=1)
        return p, np.maximum(p @ self.noise, 1e-300)

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-(Y * np.log(self._recorded(F)[1])).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        p, recorded = self._recorded(F)
        # y_k / q_k spread back over the labels that may be true: the posterior of the true label.
        true = p * ((Y / recorded) @ self.noise.T)
        return np.asarray(p * Y.sum(axis=1, keepdims=True) - true)

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(F, axis=1)
        return np.asarray(p * (1.0 - p))


def check_loss(
    loss: Any, *, n_classes: int = 4, n_rows: int = 60, seed: int = 0, tolerance: float = 1e-5
) -> None:
    """Compares the derivatives of a loss with finite differences; raises where they disagree.

    Rows have one-hot targets and random scores. `tolerance` is the largest difference allowed, as a
    share of the largest derivative. With `exact_hessian = False` the Hessian has only to be finite
    and not negative.
    """
    if not isinstance(loss, Loss) or isinstance(loss, type):
        raise InvalidParameterError(
            "A loss must be an object with the methods value(Y, F), gradient(Y, F) and "
            f"hessian(Y, F). Got {loss!r}."
        )
    rng = np.random.default_rng(seed)
    Y = np.eye(n_classes)[rng.integers(n_classes, size=n_rows)]
    F = 2.0 * rng.normal(size=(n_rows, n_classes))
    value = _shaped(loss, "value", Y, F, (n_rows,))
    gradient = _shaped(loss, "gradient", Y, F, F.shape)
    hessian = _shaped(loss, "hessian", Y, F, F.shape)
    step = 1e-4 * np.eye(n_classes)
    slope, bend = np.empty_like(F), np.empty_like(F)
    for k in range(n_classes):
        up, down = loss.value(Y, F + step[k]), loss.value(Y, F - step[k])
        slope[:, k] = (up - down) / 2e-4
        bend[:, k] = (up - 2 * value + down) / 1e-8
    _need_equal("gradient", gradient, slope, tolerance)
    if getattr(loss, "exact_hessian", True):
        _need_equal("hessian", hessian, bend, max(tolerance, 1e-5))
    if np.any(hessian < 0):
        raise InvalidParameterError(
            f"The hessian of a loss must not be negative. Got {hessian.min():g}; where the loss is "
            "not convex give a positive stand-in and set exact_hessian = False."
        )


def _shaped(loss: Any, name: str, Y: Array, F: Array, shape: tuple[int, ...]) -> Array:
    given = (Y.copy(), F.copy())
    answer = np.asarray(getattr(loss, name)(*given), dtype=np.float64)
    if answer.shape != shape or not np.all(np.isfinite(answer)):
        raise InvalidParameterError(
            f"{name}(Y, F) of a loss must return finite numbers of shape {shape} for Y and F of "
            f"shape {F.shape}. Got shape {answer.shape}"
            + ("." if answer.shape != shape else " with numbers that are not finite.")
        )
    if not (np.array_equal(given[0], Y) and np.array_equal(given[1], F)):
        raise InvalidParameterError(f"{name}(Y, F) of a loss must not change its arguments.")
    return answer


def _need_equal(name: str, said: Array, measured: Array, tolerance: float) -> None:
    apart = np.abs(said - measured)
    row, k = np.unravel_index(np.argmax(apart), apart.shape)
    if apart[row, k] > tolerance * max(1.0, float(np.abs(measured).max())):
        raise InvalidParameterError(
            f"The {name} of the loss disagrees with finite differences of its value: it says "
            f"{said[row, k]:g} where they give {measured[row, k]:g} (class {k}, row {row})."
        )


def _need_share(name: str, value: float) -> None:
    if not 0.0 <= value < 1.0:
        raise InvalidParameterError(
            f"The {name!r} of a loss must be at least 0 and below 1. Got {value!r}."
        )

"""Convex losses phi of a margin, as truth tables need them.

Hypotheses (Brossier and Lafitte, SIAM AN22): phi is positive, decreasing, strictly convex,
phi(0) = 1 and phi'(0) < 0. Two losses come ready made, exp(-x) and log2(1 + exp(-x)); a user's phi
is checked on a grid, and the first hypothesis that fails is named with the place where it fails.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from ..._ground.errors import InvalidParameterError

Reals = NDArray[np.float64]
Phi = Callable[[Reals], ArrayLike]

_STEP = 2.0**-7  # of the central differences: error about 1e-13 of phi, truncated or rounded
_GRID = np.linspace(-20.0, 20.0, 401)
_CORE = 5.0


class Loss(ABC):
    """phi and its first two derivatives, for arrays of margins."""

    name: str
    noise: float = 0.0  # error of the slope in units of phi, beyond rounding

    @abstractmethod
    def value(self, x: Reals) -> Reals:
        """phi(x)"""

    @abstractmethod
    def slope(self, x: Reals) -> Reals:
        """phi'(x)"""

    @abstractmethod
    def curvature(self, x: Reals) -> Reals:
        """phi''(x)"""

    def derivatives(self, x: Reals) -> tuple[Reals, Reals, Reals]:
        """phi(x), phi'(x) and phi''(x) at once."""
        return self.value(x), self.slope(x), self.curvature(x)

    def link(self, score: Reals) -> Reals:
        """The probability of the label +1 for which `score` is the best score.

        It solves eta phi'(f) = (1 - eta) phi'(-f), the stationarity of
        eta phi(f) + (1 - eta) phi(-f).
        """
        mine, other = self.slope(score), self.slope(-score)
        return other / (mine + other)

    def remainder(self, x: Reals, down: Reals, up: Reals) -> tuple[Reals, Reals]:
        """Bounds of phi'(x + t) - phi'(x) - phi''(x) t over -down <= t <= up, lower and upper.

        phi' increases, so over a piece [a, b] it lies between phi'(a) and phi'(b); [-down, up] is
        cut into 128 pieces. Nothing but convexity is used.
        """
        cuts = np.linspace(0.0, 1.0, 129)[:, None]
        t = cuts * (down + up) - down  # (129, n)
        rise, line = self.slope(x + t) - self.slope(x), self.curvature(x) * t
        return (rise[:-1] - line[1:]).min(axis=0), (rise[1:] - line[:-1]).max(axis=0)

    def relaxation_step(self, x: Reals, sign: Reals, count: Reals) -> float:
        """The b that minimises sum count phi(x + sign b): Newton's method kept in a bracket."""

        def derivative(b: float) -> float:
            return float(count @ (sign * self.slope(x + sign * b)))

        low, high = _bracket(derivative)
        b, last = 0.0, np.inf
        for _ in range(100):
            g = derivative(b)
            low, high = (b, high) if g < 0 else (low, b)
            h = float(count @ self.curvature(x + sign * b))
            step = -g / h if h > 0 else np.inf
            stalled = last < 1e-8 and abs(step) > 0.5 * last  # in the noise of differences
            if stalled or abs(step) <= 4e-16 * max(1.0, abs(b)):
                return b if stalled else b + step
            if not low < b + step < high or abs(step) > 0.5 * last:
                step = 0.5 * (low + high) - b
            last = abs(step)
            b += step
        return b

    def __repr__(self) -> str:
        return f"<loss {self.name}>"


def _bracket(derivative: Callable[[float], float]) -> tuple[float, float]:
    """Two points between which an increasing function goes through zero."""
    low, high = -1.0, 1.0
    while derivative(low) > 0 and low > -1e6:
        low *= 2
    while derivative(high) < 0 and high < 1e6:
        high *= 2
    return low, high


class ExponentialLoss(Loss):
    """phi(x) = exp(-x): AdaBoost's."""

    name = "exponential"

    def value(self, x: Reals) -> Reals:
        return np.exp(-x)

    def slope(self, x: Reals) -> Reals:
        return -np.exp(-x)

    def curvature(self, x: Reals) -> Reals:
        return np.exp(-x)

    def derivatives(self, x: Reals) -> tuple[Reals, Reals, Reals]:
        weight = np.exp(-x)
        return weight, -weight, weight

    def link(self, score: Reals) -> Reals:
        return np.asarray(expit(2.0 * score))

    def remainder(self, x: Reals, down: Reals, up: Reals) -> tuple[Reals, Reals]:
        """-exp(-x) (expm1(-t) + t): never positive, and largest in size at one of the ends."""
        scale = np.exp(-x)
        ends = np.maximum(np.expm1(down) - down, np.expm1(-up) + up)
        return -scale * ends, np.zeros_like(scale)

    def relaxation_step(self, x: Reals, sign: Reals, count: Reals) -> float:
        """Half the logarithm of right over wrong weight: alpha / 2 of the slides' relaxation."""
        weight = count * np.exp(-(x - x.min()))
        right, wrong = weight[sign > 0].sum(), weight[sign < 0].sum()
        return float(0.5 * np.log(right / wrong))


class LogisticLoss(Loss):
    """phi(x) = log2(1 + exp(-x))."""

    name = "logistic"

    def value(self, x: Reals) -> Reals:
        return np.asarray(np.logaddexp2(0.0, -x / np.log(2.0)))

    def slope(self, x: Reals) -> Reals:
        return np.asarray(-expit(-x) / np.log(2.0))

    def curvature(self, x: Reals) -> Reals:
        return np.asarray(expit(x) * expit(-x) / np.log(2.0))

    def link(self, score: Reals) -> Reals:
        return np.asarray(expit(score))

    def remainder(self, x: Reals, down: Reals, up: Reals) -> tuple[Reals, Reals]:
        """Its derivative phi''(x + t) - phi''(x) is zero at t = 0 and t = -2 x only."""
        inner = np.clip(-2.0 * x, -down, up)
        at = np.stack([np.zeros_like(x), -down, up, inner])
        values = self.slope(x + at) - self.slope(x) - self.curvature(x) * at
        return values.min(axis=0), values.max(axis=0)


class CustomLoss(Loss):
    """A loss of one's own.

    Parameters
    ----------
    phi : callable
        phi of an array of margins.
    slope, curvature : callable, optional
        Its derivatives. Where they are missing, central differences of sixth order stand in, good
        to about 1e-13 for a smooth phi.
    name : str
        How it is called in messages.
    """

    def __init__(
        self,
        phi: Phi,
        slope: Phi | None = None,
        curvature: Phi | None = None,
        *,
        name: str = "custom",
    ) -> None:
        self.name = name
        self.noise = 2.0**-52 / _STEP if slope is None else 0.0
        self._phi, self._slope, self._curvature = phi, slope, curvature
        _check(self)

    def value(self, x: Reals) -> Reals:
        return _evaluate(self._phi, x, self.name)

    def slope(self, x: Reals) -> Reals:
        if self._slope is not None:
            return _evaluate(self._slope, x, self.name)
        return _difference(self.value, x)

    def curvature(self, x: Reals) -> Reals:
        if self._curvature is not None:
            return _evaluate(self._curvature, x, self.name)
        if self._slope is not None:
            return _difference(self.slope, x)
        return _second_difference(self.value, x)


def _evaluate(f: Phi, x: Reals, name: str) -> Reals:
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(f(x), dtype=np.float64)
    if y.shape != x.shape:
        raise InvalidParameterError(
            f"The loss {name!r} must return one number for each margin. Got shape {y.shape} for "
            f"margins of shape {x.shape}."
        )
    return y


def _difference(f: Callable[[Reals], Reals], x: Reals) -> Reals:
    """f'(x) by central differences of sixth order."""
    d1, d2, d3 = (f(x + k * _STEP) - f(x - k * _STEP) for k in (1, 2, 3))
    return (45.0 * d1 - 9.0 * d2 + d3) / (60.0 * _STEP)


def _second_difference(f: Callable[[Reals], Reals], x: Reals) -> Reals:
    """f''(x) by central differences of sixth order."""
    s1, s2, s3 = (f(x + k * _STEP) + f(x - k * _STEP) for k in (1, 2, 3))
    return (270.0 * s1 - 27.0 * s2 + 2.0 * s3 - 490.0 * f(x)) / (180.0 * _STEP**2)


# --- the hypotheses ------------------------------------------------------------------------------


def _check(loss: CustomLoss) -> None:
    """Raises for the first hypothesis that phi violates."""
    x, h = _GRID, _GRID[1] - _GRID[0]
    with np.errstate(all="ignore"):
        y, before, after = loss.value(x), loss.value(x - h), loss.value(x + h)
        slope = loss.slope(x)
    _fail(loss, "finite", x, ~np.isfinite(y + before + after + slope), "phi(x)", y)
    zero = [len(x) // 2]
    _fail(loss, "1 at zero, phi(0) = 1,", x[zero], abs(y[zero] - 1.0) > 1e-9, "phi(x)", y[zero])
    _fail(loss, "positive", x, y <= 0, "phi(x)", y)
    noise = 8 * np.finfo(float).eps * (abs(y) + abs(before) + abs(after))
    least = np.where(abs(x) <= _CORE, noise, -noise)  # far out "strictly" is lost in rounding
    fall, bend = y - after, after - 2.0 * y + before
    _fail(loss, "decreasing", x, fall < least, f"phi(x) - phi(x + {h:.1g})", fall)
    words = f"phi(x + {h:.1g}) - 2 phi(x) + phi(x - {h:.1g})"
    _fail(loss, "strictly convex", x, bend < least, words, bend)
    words = "of negative slope at zero, phi'(0) < 0,"
    _fail(loss, words, x[zero], slope[zero] >= 0, "phi'(x)", slope[zero])
    # A convex function's slope lies between the slopes of its chords to the left and right.
    slack = noise / h + 1e-9 * abs(slope)
    wrong = (slope < (y - before) / h - slack) | (slope > (after - y) / h + slack)
    _fail(loss, "the integral of the slope that was given", x, wrong, "phi'(x)", slope)


def _fail(
    loss: CustomLoss, what: str, x: Reals, violated: NDArray[np.bool_], words: str, value: Reals
) -> None:
    if not violated.any():
        return
    places = np.flatnonzero(violated)
    worst = places[np.argmin(abs(x[places]))]  # the place nearest to zero says most
    raise InvalidParameterError(
        f"The loss {loss.name!r} must be {what} (phi is to be positive, decreasing and strictly "
        f"convex, with phi(0) = 1 and phi'(0) < 0). Got {words} = {value[worst]:.6g} at "
        f"x = {x[worst]:.6g}."
    )


_READY: dict[str, Loss] = {loss.name: loss for loss in (ExponentialLoss(), LogisticLoss())}


def loss_of(loss: Any) -> Loss:
    """The loss that a name, a Loss or a callable phi stands for."""
    if isinstance(loss, Loss):
        return loss
    if isinstance(loss, str) and loss in _READY:
        return _READY[loss]
    if callable(loss):
        return CustomLoss(loss, name=getattr(loss, "__name__", "custom"))
    raise InvalidParameterError(
        f"The loss must be {', '.join(map(repr, _READY))}, a callable phi or a Loss. Got {loss!r}."
    )

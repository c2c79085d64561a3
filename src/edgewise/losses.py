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

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._ground import portable
from ._ground.errors import InvalidParameterError
from ._ground.portable import log_softmax, softmax
from ._ground.sums import ordered_product

Array = NDArray[np.float64]  # (n_rows, n_classes)


@runtime_checkable
class Loss(Protocol):
    """Interface of a loss: three methods of the targets and the scores.

    `exact_hessian = False` says that `hessian` is a positive stand-in for the second derivatives.
    The method `probabilities(F)` is optional; without it probabilities are the soft-max of the
    scores.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.losses import check_loss
    >>> class SquaredError:
    ...     def value(self, Y, F):
    ...         return ((Y - F) ** 2).sum(axis=1) / 2
    ...     def gradient(self, Y, F):
    ...         return F - Y
    ...     def hessian(self, Y, F):
    ...         return np.ones_like(F)
    >>> check_loss(SquaredError())
    """

    def value(self, Y: Array, F: Array) -> Array:
        """Compute the loss of every row.

        Parameters
        ----------
        Y : ndarray of shape (n_rows, n_classes)
            Targets: a one at the label of a row, or probabilities (soft labels).
        F : ndarray of shape (n_rows, n_classes)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows,)
        """

    def gradient(self, Y: Array, F: Array) -> Array:
        """Compute the first derivatives by the scores.

        Parameters
        ----------
        Y : ndarray of shape (n_rows, n_classes)
            Targets.
        F : ndarray of shape (n_rows, n_classes)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """

    def hessian(self, Y: Array, F: Array) -> Array:
        """Compute the second derivatives by the scores, the diagonal only.

        Parameters
        ----------
        Y : ndarray of shape (n_rows, n_classes)
            Targets.
        F : ndarray of shape (n_rows, n_classes)
            Scores.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """


@dataclass(frozen=True)
class LogLoss(Loss):
    """The log loss, -sum_k t_k log p_k, of smoothed targets t.

    Smoothed targets keep a model from being overconfident.

    Parameters
    ----------
    smoothing : float, default=0.0
        Share of the uniform distribution mixed into the targets; at least 0 and below 1.

    References
    ----------
    C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens, Z. Wojna: "Rethinking the Inception architecture
    for computer vision", CVPR 2016.

    Examples
    --------
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import LogLoss
    >>> model = NewtonBoostClassifier(loss=LogLoss(smoothing=0.1))
    """

    smoothing: float = 0.0

    def __post_init__(self) -> None:
        _need_share("smoothing", self.smoothing)

    def _targets(self, Y: Array) -> Array:
        return np.asarray((1.0 - self.smoothing) * Y + self.smoothing / Y.shape[1])

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-(self._targets(Y) * log_softmax(F)).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        return np.asarray(softmax(F) - self._targets(Y))

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(F)
        return np.asarray(p * (1.0 - p))


@dataclass(frozen=True)
class GeneralizedCrossEntropy(Loss):
    """The generalised cross entropy, sum_k y_k (1 - p_k^q) / q.

    It lies between the log loss (q to 0) and the absolute error (q = 1).

    The loss is bounded, so a row that cannot be predicted loses its influence: use it for noisy
    labels. It is not convex; the stand-in for the Hessian is p_y^q p_k (1 - p_k).

    Parameters
    ----------
    q : float, default=0.7
        Exponent, above 0 and at most 1.

    References
    ----------
    Z. Zhang, M. R. Sabuncu: "Generalized cross entropy loss for training deep neural networks with
    noisy labels", NeurIPS 2018.

    Examples
    --------
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import GeneralizedCrossEntropy
    >>> model = NewtonBoostClassifier(loss=GeneralizedCrossEntropy(q=0.5))
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
        log_p = log_softmax(F)
        return portable.exp(log_p), Y * portable.exp(self.q * log_p)

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray((Y.sum(axis=1) - self._powers(Y, F)[1].sum(axis=1)) / self.q)

    def gradient(self, Y: Array, F: Array) -> Array:
        p, power = self._powers(Y, F)
        return np.asarray(p * power.sum(axis=1, keepdims=True) - power)

    def hessian(self, Y: Array, F: Array) -> Array:
        p, power = self._powers(Y, F)
        return np.asarray(power.sum(axis=1, keepdims=True) * p * (1.0 - p))


class TransitionLoss(Loss):
    """The log loss of labels that are recorded wrongly with known probabilities.

    The soft-max p stands for the true label, and recorded labels have the probabilities p @ noise
    ("forward correction"). The loss is not convex in the scores; the stand-in for the Hessian is
    that of the log loss, and expectation maximisation shows that a Newton step on it lowers this
    loss too.

    Parameters
    ----------
    noise : array-like of shape (n_classes, n_classes)
        ``noise[t, k]`` is the probability that label k is recorded where t is true. Rows sum to 1;
        classes are sorted.

    References
    ----------
    G. Patrini, A. Rozza, A. Menon, R. Nock, L. Qu: "Making deep neural networks robust to label
    noise: a loss correction approach", CVPR 2017.

    Examples
    --------
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import TransitionLoss
    >>> noise = [[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]]
    >>> model = NewtonBoostClassifier(loss=TransitionLoss(noise))
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
        p = softmax(F)
        return p, np.maximum(ordered_product(p, self.noise), 1e-300)

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-(Y * portable.log(self._recorded(F)[1])).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        p, recorded = self._recorded(F)
        # y_k / q_k spread back over the labels that may be true: the posterior of the true label.
        true = p * ordered_product(Y / recorded, self.noise.T)
        return np.asarray(p * Y.sum(axis=1, keepdims=True) - true)

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(F)
        return np.asarray(p * (1.0 - p))


@dataclass(frozen=True)
class FocalLoss(Loss):
    """The focal loss, sum_k y_k (1 - p_k)^gamma (-log p_k).

    Rows that are easy count less. With gamma = 0 it is the log loss. It is not a proper scoring
    rule: its probabilities are too close to uniform. It is not convex; the stand-in for the Hessian
    is that of the log loss with the weight of the row, (1 - p_y)^gamma p_k (1 - p_k).

    Parameters
    ----------
    gamma : float, default=2.0
        Exponent, at least 0 and finite.

    References
    ----------
    T.-Y. Lin, P. Goyal, R. Girshick, K. He, P. Dollár: "Focal loss for dense object detection",
    ICCV 2017.

    Examples
    --------
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import FocalLoss
    >>> model = NewtonBoostClassifier(loss=FocalLoss(gamma=1.0))
    """

    gamma: float = 2.0
    exact_hessian = False

    def __post_init__(self) -> None:
        if not 0.0 <= self.gamma < np.inf:
            raise InvalidParameterError(
                f"The 'gamma' of FocalLoss must be at least 0 and finite. Got {self.gamma!r}."
            )

    @staticmethod
    def _power(base: Array, exponent: float) -> Array:
        """With the same bits on every machine."""
        answer: Array = portable.exp(exponent * portable.log(np.maximum(base, 1e-15)))
        return answer

    def _weights(self, Y: Array, p: Array) -> Array:
        """y_k (1 - p_k)^gamma"""
        return np.asarray(Y * self._power(1.0 - p, self.gamma))

    def value(self, Y: Array, F: Array) -> Array:
        log_p = log_softmax(F)
        return np.asarray(-(self._weights(Y, portable.exp(log_p)) * log_p).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        log_p = log_softmax(F)
        p = portable.exp(log_p)
        # p_k dL/dp_k of the term of class k: gamma p (1 - p)^(gamma - 1) log p - (1 - p)^gamma
        steep = self.gamma * p * self._power(1.0 - p, self.gamma - 1.0) * log_p
        own = Y * (steep - self._power(1.0 - p, self.gamma))
        return np.asarray(own - p * own.sum(axis=1, keepdims=True))

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(F)
        return np.asarray(self._weights(Y, p).sum(axis=1, keepdims=True) * p * (1.0 - p))


class LogitAdjustedLoss(Loss):
    """The log loss of scores that are shifted by tau times the log class frequencies.

    The loss is that of the soft-max of F + tau log prior, and the probabilities are those of F. So
    with tau = 1 the most probable class is the one with the largest p(x | k), which is best for
    balanced accuracy.

    Parameters
    ----------
    priors : array-like of shape (n_classes,)
        Class frequencies of the training rows, classes sorted; their sum is 1.
    tau : float, default=1.0
        Strength of the shift.

    References
    ----------
    A. K. Menon, S. Jayasumana, A. S. Rawat, H. Jain, A. Veit, S. Kumar: "Long-tail learning via
    logit adjustment", ICLR 2021.

    Examples
    --------
    >>> from edgewise import NewtonBoostClassifier
    >>> from edgewise.losses import LogitAdjustedLoss
    >>> model = NewtonBoostClassifier(loss=LogitAdjustedLoss([0.9, 0.05, 0.05]))
    """

    def __init__(self, priors: ArrayLike, tau: float = 1.0) -> None:
        self.priors = np.array(priors, dtype=np.float64)
        self.tau = tau
        vector = self.priors.ndim == 1 and len(self.priors) > 1
        if not vector or not np.all(self.priors > 0) or abs(math.fsum(self.priors) - 1.0) > 1e-6:
            raise InvalidParameterError(
                "The priors of LogitAdjustedLoss must be positive class frequencies with the sum "
                f"1. Got {self.priors!r}."
            )
        if not np.isfinite(tau):
            raise InvalidParameterError(
                f"The 'tau' of LogitAdjustedLoss must be finite. Got {tau!r}."
            )

    def __repr__(self) -> str:
        return f"LogitAdjustedLoss({self.priors.tolist()!r}, tau={self.tau!r})"

    def _shifted(self, F: Array) -> Array:
        if F.shape[1] != len(self.priors):
            raise InvalidParameterError(
                f"The priors of LogitAdjustedLoss must be those of the {F.shape[1]} classes. Got "
                f"{len(self.priors)}."
            )
        return np.asarray(F + self.tau * portable.log(self.priors))

    def value(self, Y: Array, F: Array) -> Array:
        return np.asarray(-(Y * log_softmax(self._shifted(F))).sum(axis=1))

    def gradient(self, Y: Array, F: Array) -> Array:
        return np.asarray(softmax(self._shifted(F)) - Y)

    def hessian(self, Y: Array, F: Array) -> Array:
        p = softmax(self._shifted(F))
        return np.asarray(p * (1.0 - p))


def check_loss(
    loss: Any, *, n_classes: int = 4, n_rows: int = 60, seed: int = 0, tolerance: float = 1e-5
) -> None:
    """Compare the derivatives of a loss with finite differences.

    An error says where they disagree.
    With ``exact_hessian = False`` the Hessian only has to be finite and not negative.

    Parameters
    ----------
    loss : Loss
        Object with the methods value, gradient and hessian.
    n_classes : int, default=4
        Number of classes of the random rows.
    n_rows : int, default=60
        Number of random rows, with one-hot targets and random scores.
    seed : int, default=0
        Seed of the rows.
    tolerance : float, default=1e-05
        Largest difference allowed, as a share of the largest derivative.

    Examples
    --------
    >>> from edgewise.losses import LogLoss, check_loss
    >>> check_loss(LogLoss(smoothing=0.1))
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
            f"The hessian of a loss must not be negative. Got {hessian.min():g}; if the loss is "
            "not convex, return a positive substitute and set exact_hessian = False."
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
            f"The {name} of the loss disagrees with finite differences of its value: it returns "
            f"{said[row, k]:g} where they give {measured[row, k]:g} (class {k}, row {row})."
        )


def _need_share(name: str, value: float) -> None:
    if not 0.0 <= value < 1.0:
        raise InvalidParameterError(
            f"The {name!r} of a loss must be at least 0 and below 1. Got {value!r}."
        )

"""Calibration: scores F become s F + t, so that their soft-max agrees with class frequencies.

One factor for all classes is temperature scaling (Guo and others, ICML 2017), a factor and a shift
for each class is vector scaling; both maximise the likelihood of validation rows. A shift undoes
the effect of `class_weight` on the class frequencies: weights w turn the posterior p into one that
is proportional to w p (Elkan, IJCAI 2001), so log w is subtracted.

s F + t is again initial scores plus leaf values, so the model itself is rescaled, and everything
that reads it (staged predictions, explanations, files) agrees with the probabilities.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.utils.class_weight import compute_class_weight

from .._data.rows import Rows
from .._data.soft import soft_labels
from .._data.targets import labels
from .._data.weights import class_factors
from .._ground import portable
from .._model.model import Model, Scores

Vector = NDArray[np.float64]
# A weak pull towards s = 1, t = 0 keeps both finite even if all of a few rows are predicted
# correctly.
PULL = 1e-3


class Scaling:
    """The scaling of largest likelihood on rows of raw scores F with labels."""

    def __init__(self, scores: Scores, rows: Rows) -> None:
        weights = rows.shares()
        # In an order that depends on the rows' content only, so sums do not depend on the input
        # order.
        order = np.lexsort((weights, rows.codes, *scores.T))
        self._scores = scores[order]  # (n, n_classes)
        self._weights = weights[order]  # (n), summing to 1
        self._codes = rows.codes[order]

    def temperature(self) -> Vector:
        """One factor, for every class: (n_classes)."""
        n_classes = self._scores.shape[1]

        def loss(log_factor: Vector) -> tuple[float, Vector]:
            value, slope = self._loss(
                portable.exp(np.repeat(log_factor, n_classes)), np.zeros(n_classes)
            )
            slope_of_log = slope[:n_classes].sum() * portable.exp(log_factor)
            return value + PULL * float(log_factor[0]) ** 2, slope_of_log + 2 * PULL * log_factor

        return np.repeat(portable.exp(_minimum(loss, np.zeros(1))), n_classes)

    def vector(self) -> tuple[Vector, Vector]:
        """A factor and a shift of every class."""
        n_classes = self._scores.shape[1]

        def loss(x: Vector) -> tuple[float, Vector]:
            factor, shift = portable.exp(x[:n_classes]), x[n_classes:]
            value, slope = self._loss(factor, shift)
            slope[:n_classes] *= factor
            return value + PULL * float((x**2).sum()), slope + 2 * PULL * x

        x = _minimum(loss, np.zeros(2 * n_classes))
        return portable.exp(x[:n_classes]), x[n_classes:]

    def _loss(self, factor: Vector, shift: Vector) -> tuple[float, Vector]:
        """The log loss and its derivatives by factors and shifts, (2 n_classes)."""
        logits = self._scores * factor + shift
        at = np.arange(len(logits)), self._codes
        value = -float((self._weights * portable.log_softmax(logits)[at]).sum())
        residual = portable.softmax(logits)
        residual[at] -= 1.0
        residual *= self._weights[:, np.newaxis]
        return value, np.concatenate([(residual * self._scores).sum(axis=0), residual.sum(axis=0)])


def _minimum(loss: Any, start: Vector) -> Vector:
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": 1e-9})
    return np.asarray(found.x)


def calibrated(model: Model, method: str, validation: Rows | None, undo: Vector) -> Model:
    """The rescaled model; `undo` (n_classes) contains the class weights to be undone.

    Scaling sees the validation rows with the class weights that training saw, which are undone
    afterwards.
    """
    factor, shift = np.ones(model.n_classes), np.zeros(model.n_classes)
    if method != "priors":
        assert validation is not None  # noqa: S101 - these methods hold rows out
        scaling = Scaling(model.scores(validation.X, 1), validation)
        if method == "temperature":
            factor = scaling.temperature()
        else:
            factor, shift = scaling.vector()
    return model.rescaled(factor, shift - portable.log(undo))


def weights_of_classes(class_weight: Any, classes: NDArray[Any], y: Any) -> Vector:
    """Return the weight of each class by `class_weight`, (n_classes)."""
    if class_weight is None:
        return np.ones(len(classes))
    soft = soft_labels(y, "y")
    if soft is not None:
        return soft.class_factors(class_weight)
    if not isinstance(class_weight, str):
        return class_factors(class_weight, classes)
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=labels(y, "y")))

"""Linear starts: multinomial logistic regression, for members that boost from its scores.

Trees cut one column at a time and need many cuts where a sum of columns separates the classes. Half
of the scores of a linear model cover this part, and the trees learn the rest. (With all of the
scores they would learn too little, since the linear model has seen the rows that the trees learn
from.)

Coefficients are found by L-BFGS (Liu and Nocedal 1989). It starts from the metric of metric.py: the
Hessian of the log loss is at most half of the columns' second moments (Böhning 1992), so the first
step is twice the gradient in that metric. Nothing penalises coefficients: the descent stops where
the loss of the held-out rows no longer falls, which gave the same losses as the best of five ridge
penalties.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows
from .._ground.sums import ordered_product
from .._model.model import Model, Scores
from .columns import Columns

Array = NDArray[np.float64]

SHARE = 0.5  # of the linear scores
MOST_STEPS = 150
PATIENCE = 16  # steps in which the held-out loss must fall
LEAST_FALL = 1e-4  # by this share of the loss of the class frequencies
MEMORY = 5  # steps that L-BFGS remembers
HALVINGS = 20  # of a step that does not lower the loss
LEAST_SHARE = 1e-4  # of the fall that the gradient promises for a step
MOST_WORK = 2**27  # products of a step


class Linear(NamedTuple):
    """Linear scores, to start from."""

    coefficients: Array  # (n_columns, n_classes)
    start: Scores  # (n_classes)
    gain: Array  # (n_columns): fall of the linear model of the loss, halved

    def model(self, columns: Columns) -> Model:
        """The scores as trees."""
        return columns.model(self.coefficients, self.start, self.gain)


def mean_linear(weighted: Sequence[tuple[Linear, float]]) -> Linear:
    """The weighted sum of coefficients, without starts; the gains of all."""
    first, _ = weighted[0]
    coefficients, gain = np.zeros_like(first.coefficients), np.zeros_like(first.gain)
    for linear, weight in weighted:
        coefficients += weight * linear.coefficients
        gain += linear.gain
    return Linear(coefficients, np.zeros_like(first.start), gain)


def pays(n_rows: int, n_columns: int, n_classes: int) -> bool:
    """Return whether the descent is affordable: columns times classes may be many."""
    return n_columns > 0 and n_rows * n_columns * n_classes <= MOST_WORK


def fitted_linear(
    columns: Columns, rows: Rows, held_out: NDArray[np.bool_], prior: Scores, n_threads: int
) -> Linear:
    """Return half of the linear model that is best on the held-out rows plus half of `prior`."""
    descent = _Descent(columns, rows, held_out, prior, n_threads)
    best, kept = descent.held_out_loss(), descent.coefficients
    least_fall, checkpoint = LEAST_FALL * best, (best, 0)
    for m in range(1, MOST_STEPS + 1):
        if not descent.step():
            break
        loss = descent.held_out_loss()
        if loss < best:
            best, kept = loss, descent.coefficients
        if best < checkpoint[0] - least_fall:
            checkpoint = best, m
        if m - checkpoint[1] >= PATIENCE:
            break
    half = SHARE * kept
    start = half[-1] + (1 - SHARE) * prior
    falls = (half * descent.first_gradient)[:-1] / 2  # of each column and class
    gain = np.array([max(math.fsum(of_column), 0.0) for of_column in falls.tolist()])
    return Linear(half[:-1], start - start.mean(), gain)


class _Step(NamedTuple):
    """A step that was taken, and how it changed the gradient."""

    moved: Array
    change: Array
    product: float  # of both, which is positive


class _Descent:
    """L-BFGS on the rows that are not held out."""

    def __init__(
        self,
        columns: Columns,
        rows: Rows,
        held_out: NDArray[np.bool_],
        prior: Scores,
        n_threads: int,
    ) -> None:
        self._values = columns.values
        self._metric = columns.metric
        self._codes = rows.codes
        self._n_threads = n_threads
        weights = np.ones(len(held_out)) if rows.weights is None else rows.weights
        weights = weights / weights.max()
        self._learned = np.where(held_out, 0.0, weights)
        self._held = np.where(held_out, weights, 0.0)
        self._weight = float(np.cumsum(self._learned)[-1])
        self._labels = np.eye(len(prior))[rows.codes]
        self.coefficients = np.zeros((len(columns.values), len(prior)))
        self.coefficients[-1] = prior
        scores = self._scores_of(self.coefficients)
        self._losses = self._losses_of(scores)
        self._loss = mean(self._losses, self._learned)
        self.first_gradient = self._gradient(scores)
        self._slope = self.first_gradient / -self._weight
        self._steps: list[_Step] = []

    def step(self) -> bool:
        """Take a step that lowers the loss; False if there is none."""
        direction = self._direction()
        promised = _product(self._slope, direction)
        for halvings in range(HALVINGS):
            moved = direction / 2**halvings
            scores = self._scores_of(self.coefficients + moved)
            losses = self._losses_of(scores)
            loss = mean(losses, self._learned)
            if loss < self._loss + LEAST_SHARE * promised / 2**halvings:
                break
        else:
            return False
        slope = self._gradient(scores) / -self._weight
        change = slope - self._slope
        product = _product(moved, change)
        if product > 0:
            self._steps = [*self._steps[1 - MEMORY :], _Step(moved, change, product)]
        self.coefficients = self.coefficients + moved
        self._losses, self._loss, self._slope = losses, loss, slope
        return True

    def held_out_loss(self) -> float:
        """Mean log loss of the rows that are held out."""
        return mean(self._losses, self._held)

    def _direction(self) -> Array:
        """Minus the gradient times an estimate of the inverse Hessian."""
        direction, shares = -self._slope, []
        for step in reversed(self._steps):
            shares.append(_product(step.moved, direction) / step.product)
            direction = direction - shares[-1] * step.change
        direction = self._scale() * self._in_metric(direction)
        for step in self._steps:
            again = _product(step.change, direction) / step.product
            direction = direction + (shares.pop() - again) * step.moved
        return direction

    def _scale(self) -> float:
        """Of the metric: by the last step, or by Böhning's bound."""
        if not self._steps:
            return 2.0
        step = self._steps[-1]
        return step.product / _product(step.change, self._in_metric(step.change))

    def _in_metric(self, gradient: Array) -> Array:
        if self._metric is None:
            return gradient / len(gradient)  # moments have no larger eigenvalue
        return ordered_product(self._metric, gradient)

    def _scores_of(self, coefficients: Array) -> Scores:
        scores = np.empty((len(self._codes), coefficients.shape[1]))
        _core.linear_scores(self._values, coefficients, scores, self._n_threads)
        return scores

    def _losses_of(self, scores: Scores) -> Array:
        return _core.log_losses(scores, self._codes, self._n_threads)

    def _gradient(self, scores: Scores) -> Array:
        proba = scores.copy()
        _core.softmax(proba, self._n_threads)
        residuals = (self._labels - proba) * self._learned[:, np.newaxis]
        gradient = np.empty((len(self._values), residuals.shape[1]))
        _core.linear_gradient(self._values, residuals, gradient, self._n_threads)
        return gradient


def _product(a: Array, b: Array) -> float:
    """Added one after the other: over columns and classes."""
    return float(np.cumsum((a * b).ravel())[-1])


def mean(losses: Array, weights: Array) -> float:
    """Added row after row, in the order that the rows of a fit have of their own."""
    return float(np.cumsum(weights * losses)[-1] / np.cumsum(weights)[-1])

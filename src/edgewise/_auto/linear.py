"""Linear starts: multinomial logistic regression, for members that boost from its scores.

Trees cut across one column at a time, and need many cuts where classes are parted by a sum of
columns. Half of the scores of a linear model leave that to it, and the rest to the trees. (All of
them would leave too little: the linear model has seen the rows that the trees learn from.)

The log loss L of scores X W has the gradient X^T (Y - P), and its Hessian is at most c X^T X, where
c = 1/2 (Böhning 1992). The descent takes steps 1 / (c lambda), lambda the largest eigenvalue of
X^T X, with Nesterov's momentum (1983), and starts afresh with half the step where the loss rises
(O'Donoghue and Candès 2015). So c may be smaller: it is that of the class frequencies, since P soon
is near 0 and 1. Nothing penalises coefficients: the descent stops where the loss of the held-out
rows no longer falls, which gave the same losses as the best of five ridge penalties.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows
from .._ground import portable
from .._model.model import Model, Scores
from .columns import Columns

Array = NDArray[np.float64]

SHARE = 0.5  # of the linear scores
MOST_STEPS = 150
PATIENCE = 8  # steps in which the held-out loss must fall
LEAST_FALL = 1e-4  # by this share of the loss of the class frequencies
POWER_STEPS = 12  # for the largest eigenvalue
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
    """Whether the descent takes no longer than boosting: columns times classes may be many."""
    return n_columns > 0 and n_rows * n_columns * n_classes <= MOST_WORK


def fitted_linear(
    columns: Columns, rows: Rows, held_out: NDArray[np.bool_], prior: Scores, n_threads: int
) -> Linear:
    """Half of the linear model that is best for the held-out rows, and half of the `prior`."""
    descent = _Descent(columns, rows, held_out, prior, n_threads)
    best, kept = descent.held_out_loss(), descent.coefficients
    least_fall, checkpoint = LEAST_FALL * best, (best, 0)
    for m in range(1, MOST_STEPS + 1):
        descent.step()
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


class _Descent:
    """Accelerated gradient steps on the rows that are not held out."""

    def __init__(
        self,
        columns: Columns,
        rows: Rows,
        held_out: NDArray[np.bool_],
        prior: Scores,
        n_threads: int,
    ) -> None:
        self._values = columns.values
        self._codes = rows.codes
        self._n_threads = n_threads
        weights = np.ones(len(held_out)) if rows.weights is None else rows.weights
        weights = weights / weights.max()
        self._learned = np.where(held_out, 0.0, weights)
        self._held = np.where(held_out, weights, 0.0)
        self._labels = np.eye(len(prior))[rows.codes]
        self.coefficients = np.zeros((len(columns.values), len(prior)))
        self.coefficients[-1] = prior
        self._scores = self._scores_of(self.coefficients)
        self._losses = self._losses_of(self._scores)
        self._loss = mean(self._losses, self._learned)
        self.first_gradient = self._gradient(self._scores)
        self._step = 1.0 / (self._curvature(prior) * self._largest_eigenvalue())
        self._momentum = 1.0
        self._ahead: Array = self.coefficients
        self._ahead_scores: Scores = self._scores

    def step(self) -> None:
        """A step from where momentum has led; afresh and shorter if the loss has risen."""
        coefficients = self._ahead + self._step * self._gradient(self._ahead_scores)
        scores = self._scores_of(coefficients)
        losses = self._losses_of(scores)
        loss = mean(losses, self._learned)
        if loss > self._loss:
            self._step /= 2
            self._rest()
            return
        momentum = (1 + math.sqrt(1 + 4 * self._momentum**2)) / 2
        onward = (self._momentum - 1) / momentum
        self._ahead = coefficients + onward * (coefficients - self.coefficients)
        self._ahead_scores = scores + onward * (scores - self._scores)
        self.coefficients, self._scores = coefficients, scores
        self._losses, self._loss, self._momentum = losses, loss, momentum

    def held_out_loss(self) -> float:
        """Mean log loss of the rows that are held out."""
        return mean(self._losses, self._held)

    def _rest(self) -> None:
        self._momentum = 1.0
        self._ahead = self.coefficients
        self._ahead_scores = self._scores

    def _scores_of(self, coefficients: Array) -> Scores:
        scores = np.empty((len(self._codes), coefficients.shape[1]))
        _core.linear_scores(self._values, coefficients, scores, self._n_threads)
        return scores

    def _losses_of(self, scores: Scores) -> Array:
        return _core.log_losses(scores, self._codes, self._n_threads)

    def _gradient(self, scores: Scores) -> Array:
        proba = scores.copy()
        _core.softmax(proba, self._n_threads)
        return self._product((self._labels - proba) * self._learned[:, np.newaxis])

    def _product(self, residuals: Array) -> Array:
        gradient = np.empty((len(self._values), residuals.shape[1]))
        _core.linear_gradient(self._values, residuals, gradient, self._n_threads)
        return gradient

    def _curvature(self, prior: Scores) -> float:
        """At the class frequencies p: twice the largest p (1 - p), which is 1/2 at most."""
        p = portable.softmax(prior[np.newaxis])[0]
        return float(max(2 * (p * (1 - p)).max(), 0.05))

    def _largest_eigenvalue(self) -> float:
        """Of X^T X over the learned rows, by powers."""
        v = np.random.default_rng(0).uniform(-1, 1, (len(self._values), 1))
        largest = 1.0
        for _ in range(POWER_STEPS):
            v /= math.sqrt(math.fsum((v * v).ravel().tolist()))
            along = self._scores_of(v) * self._learned[:, np.newaxis]
            size = float(np.abs(along).max()) or 1.0
            v = self._product(along / size) * size
            largest = math.sqrt(math.fsum((v * v).ravel().tolist())) or 1.0
        return largest


def mean(losses: Array, weights: Array) -> float:
    """Added row after row, in the order that the rows of a fit have of their own."""
    return float(np.cumsum(weights * losses)[-1] / np.cumsum(weights)[-1])

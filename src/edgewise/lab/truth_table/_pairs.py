"""Opposite cells belong together: their examples have margins X and -X.

A pair l has a row V_l of signs, the margin X_l = V_l beta, and the weights m_l of the cell V_l and
n_l of the cell -V_l. Of the two, V_l is the one with more +1; where both have as many, the one that
starts with +1. For three classifiers these are the slides' X_0, X_1, X_2, X_3.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._losses import Loss

Reals = NDArray[np.float64]


class Expansion(NamedTuple):
    """Risk, gradient and Hessian, and the sum of the absolute slopes of all examples."""

    risk: float
    gradient: Reals
    hessian: Reals
    slopes: float


class Pairs(NamedTuple):
    """Occupied pairs of cells."""

    V: Reals  # (n_pairs, n_classifiers), -1 and +1
    m: Reals  # (n_pairs): weight of the cells V
    n: Reals  # (n_pairs): weight of the cells -V

    @property
    def full(self) -> NDArray[np.bool_]:
        """Pairs with examples in both cells."""
        return (self.m > 0) & (self.n > 0)

    def cells(self) -> tuple[Reals, Reals]:
        """The occupied cells (n_cells, n_classifiers) and their weights."""
        patterns = np.vstack([self.V, -self.V])
        weights = np.concatenate([self.m, self.n])
        return patterns[weights > 0], weights[weights > 0]

    def risk(self, beta: Reals, loss: Loss) -> float:
        """sum_l m_l phi(X_l) + n_l phi(-X_l), not divided by the total weight."""
        x = self.V @ beta
        with np.errstate(over="ignore"):
            return float(self.m @ loss.value(x) + self.n @ loss.value(-x))

    def gradient(self, beta: Reals, loss: Loss) -> Reals:
        return self.expansion(beta, loss).gradient

    def hessian(self, beta: Reals, loss: Loss) -> Reals:
        return self.expansion(beta, loss).hessian

    def expansion(self, beta: Reals, loss: Loss) -> "Expansion":
        """The risk near beta to second order."""
        x = self.V @ beta
        value, slope, bend = loss.derivatives(x)
        opposite_value, opposite_slope, opposite_bend = loss.derivatives(-x)
        right, wrong = self.m * slope, self.n * opposite_slope
        return Expansion(
            risk=float(self.m @ value + self.n @ opposite_value),
            gradient=(right - wrong) @ self.V,
            hessian=(self.V * (self.m * bend + self.n * opposite_bend)[:, None]).T @ self.V,
            slopes=-float(right.sum() + wrong.sum()),
        )


def pair_up(patterns: NDArray[np.int8], weights: NDArray[np.float64]) -> Pairs:
    """Cells, each pattern once, as pairs; rows V with few and early -1 come first."""
    patterns = patterns.astype(np.int8)
    balance = patterns.sum(axis=1, dtype=np.int64)
    upright = (balance > 0) | ((balance == 0) & (patterns[:, 0] > 0))
    oriented = np.where(upright[:, None], patterns, -patterns)
    order = np.lexsort([*oriented.T[::-1], -abs(balance)])
    rows = oriented[order]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    pair = np.cumsum(first) - 1
    m, n = np.zeros(pair[-1] + 1), np.zeros(pair[-1] + 1)
    ordered, up = weights[order], upright[order]
    m[pair[up]] = ordered[up]
    n[pair[~up]] = ordered[~up]
    return Pairs(rows[first].astype(np.float64), m, n)

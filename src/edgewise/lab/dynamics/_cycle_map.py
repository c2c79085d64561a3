"""The map made of AdaBoost's steps with given columns: its fixed points are cycles.

It is used in its form of degree zero: the weights of the examples that a column gets right are
divided by twice their sum, and so are the others by theirs. That is d / (1 + M r) on the simplex,
and leads there from everywhere, so that the Jacobian has the eigenvalue 0 across the simplex.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ._margin_matrix import Signs, Weights

Choices = NDArray[np.int32]
Mask = NDArray[np.bool_]

_NEWTON_STEPS = 50
GONE = 1e-13  # a weight that Newton's method leaves below this is zero
SAME = 1e-9  # a factor that differs from 1 by less is 1


def walk_given(M: Signs, d: Weights, choices: Choices) -> tuple[Weights, Weights, Weights]:
    """Weights before each step (T, m), edges (T,), and the weights after the last step (m,)."""
    weights, edges = np.empty((len(choices), len(d))), np.empty(len(choices))
    for t, j in enumerate(choices):
        weights[t], edges[t] = d, d @ M[:, j]
        right = M[:, j] > 0
        with np.errstate(divide="ignore", invalid="ignore"):  # a column may be right on all
            d = d / (2 * np.where(right, d[right].sum(), d[~right].sum()))
    return weights, edges, d


def jacobian(M: Signs, d: Weights, choices: Choices) -> tuple[Weights, Weights]:
    """The weights after the steps, (m,), and their derivatives by d, (m, m)."""
    after, J = d.copy(), np.eye(len(d))
    _core.follow(np.ascontiguousarray(M), np.ascontiguousarray(choices), after, J)
    return after, J


def fixed_point(M: Signs, d: Weights, choices: Choices) -> tuple[Weights, float]:
    """Newton's method from d: the weights (m,), and by how much they still move.

    Where the cycles form a manifold the Jacobian is singular, and least squares lead to one nearby.
    """
    best, least = d, np.inf
    for _ in range(_NEWTON_STEPS):
        after, J = jacobian(M, d, choices)
        error = float(abs(after - d).max())
        if not error < least:  # no better, or not a number: as good as it gets
            break
        best, least = d, error
        d = d + np.linalg.lstsq(np.eye(len(d)) - J, after - d, rcond=1e-13)[0]
        d[d < GONE] = 0.0
        d = d / d.sum()
    return np.where(best < GONE, 0.0, best), least


class Stability(NamedTuple):
    """The response of a cycle to a small change of the weights."""

    eigenvalues: NDArray[np.complex128]  # (m,), the largest first
    manifold_dimension: int
    is_stable: bool | None


def stability(M: Signs, d: Weights, choices: Choices, edges: Weights) -> Stability:
    """Eigenvalues of the Jacobian of the cycle through d, and what follows.

    An example without weight is an eigenvector of its own, with the factor that one round of the
    cycle applies to it. Columns alike on the support may treat such an example differently; which
    of them a walk nearby takes is then open, and so may be the stability.
    """
    present = d > 0
    inner = np.linalg.eigvals(jacobian(M[present], d[present], choices)[1]).astype(np.complex128)
    least, taken, most = _growth(M, present, choices, edges)
    neutral = (abs(least - 1) < SAME) & (abs(most - 1) < SAME)
    dimension = _manifold_dimension(M, choices, neutral)
    central = np.concatenate([inner, most[neutral & ~present]])
    transverse = central[np.argsort(abs(central - 1), kind="stable")[dimension:]]
    outer = ~present & ~neutral
    stable: bool | None = bool((most[outer] < 1 - SAME).all()) or None
    if (abs(transverse) > 1 - SAME).any() or (least[outer] > 1 + SAME).any():
        stable = False
    values = np.concatenate([inner, taken[~present]])
    return Stability(values[np.argsort(-abs(values), kind="stable")], dimension, stable)


def _growth(
    M: Signs, present: Mask, choices: Choices, edges: Weights
) -> tuple[Weights, Weights, Weights]:
    """Factors of one round on each weight, (m,): least, with the columns taken, and most."""
    logs = np.zeros((3, len(M)))
    for j, r in zip(choices, edges, strict=True):
        alike = M[:, same_columns(M[present], j)]  # (m, k)
        signs = np.stack([alike.max(axis=1), M[:, j], alike.min(axis=1)])
        logs -= np.log1p(signs * r)
    least, taken, most = np.exp(np.clip(logs, -700.0, 700.0))
    return least, taken, most


def _manifold_dimension(M: Signs, choices: Choices, neutral: Mask) -> int:
    """Dimension of the manifold of cycles: the number of conserved quantities.

    Since ln(1 + M r) = ln(1 - r^2) / 2 + M artanh(r) for M = +-1, a step leaves sum_i v_i ln d_i as
    it is wherever v is orthogonal to the vector of ones and to the columns taken. (Two examples
    that are classified alike, v = (1, -1), are the case of Rudin et al., Theorem 3.) `neutral` are
    the examples whose weight a round of the cycle does not change.
    """
    taken = M[neutral][:, np.unique(choices)]
    spanned = np.column_stack([np.ones(len(taken)), taken])
    return len(taken) - int(np.linalg.matrix_rank(spanned))


def same_columns(rows: Signs, j: int) -> Mask:
    """The columns that agree with column j on the given rows of M, (n,)."""
    same: Mask = (rows == rows[:, [j]]).all(axis=0)
    return same


def least_lead(M: Signs, weights: Weights, choices: Choices, allowed: Mask) -> float:
    """Least lead of a chosen edge over those of the columns that would make another step."""
    least = np.inf
    for d, j in zip(weights, choices, strict=True):
        edges, rivals = d @ M, allowed & ~same_columns(M[d > 0], j)
        if rivals.any():
            least = min(least, edges[j] - edges[rivals].max())
    return float(least)


def shortest_period(sequence: NDArray[np.integer]) -> int:
    """The smallest period of a sequence that holds it at least twice; 0 if there is none.

    Knuth, Morris & Pratt: the length less that of the longest proper border.
    """
    items = sequence.tolist()
    border = [0] * len(items)
    k = 0
    for i in range(1, len(items)):
        while k and items[i] != items[k]:
            k = border[k - 1]
        k += items[i] == items[k]
        border[i] = k
    period = len(items) - border[-1]
    return period if 2 * period <= len(items) else 0

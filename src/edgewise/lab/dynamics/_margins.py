"""Margins of votes, the largest possible one, and what an edge promises.

For votes lambda >= 0 on the columns of M, (M lambda)_i / |lambda|_1 is the margin of example i. The
smallest of them is the margin of the votes, mu(lambda); its maximum rho is, by duality, also the
least largest edge:

    rho = max_lambda min_i (M lambda)_i / |lambda|_1 = min_d max_j (d^T M)_j .
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from ..._ground.errors import InvalidDataError
from ._margin_matrix import Signs, Weights, check_matrix, check_weights


class MaxMargin(NamedTuple):
    """The maximum margin with a witness for either side."""

    value: float
    votes: Weights  # (n,), with sum 1: every margin is at least value - gap
    weights: Weights  # (m,), with sum 1: no column has an edge above value + gap
    gap: float  # by how much the two witnesses differ


def max_margin(M: ArrayLike) -> MaxMargin:
    """The maximum margin rho of M by linear programming (HiGHS), with both optimal vectors.

    maximise rho  subject to  (M lambda)_i >= rho for all i,  lambda >= 0,  sum lambda = 1. The
    weights are the multipliers of the m inequalities. `gap` is the largest edge under the weights
    less the smallest margin of the votes; the true rho lies between the two.
    """
    signs = check_matrix(M)
    m, n = signs.shape
    solved = linprog(
        np.append(np.zeros(n), -1.0),  # minimise -rho
        A_ub=np.column_stack([-signs.astype(np.float64), np.ones(m)]),
        b_ub=np.zeros(m),
        A_eq=np.append(np.ones(n), 0.0)[np.newaxis],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)],
        method="highs",
    )
    if not solved.success:  # the program is feasible and bounded, so HiGHS has given up
        raise RuntimeError(f"HiGHS could not solve the linear program: {solved.message}")
    votes, weights = _on_simplex(solved.x[:n]), _on_simplex(-solved.ineqlin.marginals)
    low, high = float((signs @ votes).min()), float((weights @ signs).max())
    return MaxMargin((low + high) / 2, votes, weights, high - low)


def margins(M: ArrayLike, votes: ArrayLike) -> Weights:
    """The margin (M lambda)_i / |lambda|_1 of every example, (m,)."""
    signs = check_matrix(M)
    checked = _check_votes(votes, signs)
    scores: Weights = signs @ (checked / checked.sum())
    return scores


def smooth_margin(M: ArrayLike, votes: ArrayLike, d0: ArrayLike | None = None) -> float:
    """G(lambda) = -ln(sum_i c_i exp(-(M lambda)_i)) / |lambda|_1, with c_i = d0_i / least d0.

    With equal weights d0 (None) all c_i are 1, as in Rudin, Schapire & Daubechies (2007); an
    example of twice the weight counts as two. Never above the smallest margin of the examples with
    a positive weight, and within ln(sum c) / |lambda|_1 of it.
    """
    signs = check_matrix(M)
    checked = _check_votes(votes, signs)
    scores = (signs @ checked)[np.newaxis]  # (1, m)
    return float(smooth(scores, checked.sum(), check_weights(d0, len(signs)))[0])


def smooth(scores: NDArray[Any], mass: Any, d0: Weights) -> Weights:
    """G from unnormalised margins (T, m) and votes of mass (T,) or one number."""
    present = d0 > 0
    least = scores[:, present].min(axis=1)
    counts = d0[present] / d0[present].min()
    total = np.exp(least[:, np.newaxis] - scores[:, present]) @ counts
    result: Weights = (least - np.log(total)) / mass
    return result


def upsilon(r: ArrayLike) -> Any:
    """Upsilon(r) = -ln(1 - r^2) / ln((1 + r) / (1 - r)), for edges r from 0 to 1.

    The margin that AdaBoost reaches if every edge is r; if all edges lie between r1 and r2, its
    margin ends between Upsilon(r1) and Upsilon(r2). r / 2 < Upsilon(r) < r in between.
    """
    edge = np.asarray(r, dtype=np.float64)
    if not ((edge >= 0) & (edge <= 1)).all():
        raise InvalidDataError(f"upsilon needs edges from 0 to 1. Got {r!r}.")
    inner = np.clip(edge, 1e-12, 1 - 1e-16)
    value = -np.log1p(-(inner**2)) / (2 * np.arctanh(inner))
    limits = np.where(edge < 1e-12, edge / 2, np.where(edge == 1, 1.0, value))
    return limits[()]


def _on_simplex(x: NDArray[Any]) -> Weights:
    positive = np.maximum(x, 0.0)
    normal: Weights = positive / positive.sum()
    return normal


def _check_votes(votes: ArrayLike, M: Signs) -> Weights:
    checked = np.asarray(votes, dtype=np.float64)
    if checked.shape != (M.shape[1],):
        raise InvalidDataError(
            f"The votes must be one number per column of M: shape ({M.shape[1]},). "
            f"Got shape {checked.shape}."
        )
    if not (np.isfinite(checked).all() and (checked >= 0).all() and checked.any()):
        raise InvalidDataError(
            "The votes must be finite, none negative, at least one positive. "
            f"Got {checked.min():g} to {checked.max():g}."
        )
    return checked

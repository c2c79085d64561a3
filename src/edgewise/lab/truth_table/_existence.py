"""Existence and uniqueness of the minimum of a table's risk, decided without rounding.

R(beta) = sum_s c_s phi(s beta) over the occupied cells s, phi decreasing, convex, phi'(0) < 0.

*Necessary and sufficient.* R has a minimum if and only if no direction v has s v >= 0 for all
occupied cells and s v > 0 for one of them: along such a v the risk falls for ever; without one,
every direction either leaves R as it is or has a cell with s v < 0, where phi grows without bound.
The minimum is then unique if and only if the occupied cells span all directions.

*Sufficient* (the slides' theorem, with the independence that it needs). M full pairs with linearly
independent rows V_l: s and -s are both occupied there, so s v >= 0 forces V_l v = 0 for all of
them, hence v = 0.

The linear program below proposes either the direction v or, as its dual solution, positive weights
lambda with sum_s lambda_s s = 0, which exclude it (Stiemke's lemma). Both are then rounded to
fractions and checked in exact arithmetic. Where there are many cells, weights are first proposed by
Newton's method: c_s |phi'(s beta)| at a minimiser are such lambda.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, identity

from . import _exact
from ._losses import ExponentialLoss
from ._minimise import Walk, newton
from ._pairs import Pairs, Reals

_MANY = 1000  # half-empty cells for which a linear program is slow
_UNIT = 2**20  # proposed weights are rounded to multiples of 1 / 2^20


@dataclass(frozen=True)
class Existence:
    """Existence and uniqueness of the minimum of a table's risk, for every loss.

    Attributes
    ----------
    exists : whether there is a minimum.
    unique : whether there is one, and only one.
    rank : of the occupied cells; with less than the number of classifiers a minimum is not unique.
    full_pairs : pairs of opposite cells that are both occupied.
    sufficient : whether the slides' condition holds: as many independent full pairs as classifiers.
    direction : where there is no minimum, a direction of integers along which every cell's margin
        stays or grows and some grow: the vote that separates.
    certified : whether the answer was confirmed in exact arithmetic.
    """

    exists: bool
    unique: bool
    rank: int
    full_pairs: int
    sufficient: bool
    direction: NDArray[Any] | None
    certified: bool


def decide(pairs: Pairs) -> Existence:
    """Decides existence and uniqueness."""
    n_classifiers = pairs.V.shape[1]
    full = pairs.V[pairs.full]
    sufficient = _exact.rank(full) == n_classifiers
    rank = n_classifiers if sufficient else _exact.rank(pairs.V)
    direction, certified = (None, True) if sufficient else _separation(pairs, rank)
    exists = direction is None
    return Existence(
        exists=exists,
        unique=exists and rank == n_classifiers,
        rank=rank,
        full_pairs=len(full),
        sufficient=sufficient,
        direction=direction,
        certified=certified,
    )


def _separation(pairs: Pairs, rank: int) -> tuple[NDArray[Any] | None, bool]:
    """A separating direction or None, and whether that is confirmed."""
    full = pairs.V[pairs.full]
    half = np.where((pairs.m > 0)[:, None], pairs.V, -pairs.V)[~pairs.full]
    if len(half) == 0:
        return None, True
    if len(half) > _MANY and _confirm_none(full, half, _stationary_weights(pairs, rank)):
        return None, True
    v, gains, weights = _linear_program(full, half)
    if not gains.any():
        return None, _confirm_none(full, half, weights)
    zero = np.vstack([full, half[~gains]])
    basis = zero[_exact.independent_rows(zero)] if len(zero) else zero
    direction = _exact.null_space_vector(basis, v)
    confirmed = bool(
        (_exact.product(zero, direction) == 0).all()
        and (_exact.product(half[gains], direction) > 0).all()
    )
    return _as_array(direction), confirmed


def _stationary_weights(pairs: Pairs, rank: int) -> Reals:
    """c_s exp(-s beta) of the half-empty cells where Newton's method ends, the least being 1.

    At a minimiser sum_s c_s exp(-s beta) s = 0: its weights prove its existence, much faster than a
    linear program over many cells. Where there is none they prove nothing.
    """
    with np.errstate(all="ignore"):
        walk = Walk(pairs, ExponentialLoss(), rank)
        arrived = newton(walk, 1e-11, 30)
        sides = np.where(pairs.m > 0, 1.0, -1.0)[~pairs.full]
        x = sides * (pairs.V[~pairs.full] @ walk.beta)
        weights: Reals = (pairs.m + pairs.n)[~pairs.full] * np.exp(-x)
        weights /= weights.min()
    return weights if arrived and weights.max() < 2.0**40 else np.zeros_like(weights)


def _as_array(v: list[int]) -> NDArray[Any]:
    small = max(map(abs, v)) < 2**63
    return np.array(v, dtype=np.int64 if small else object)


def _linear_program(full: Reals, half: Reals) -> tuple[Reals, NDArray[np.bool_], Reals]:
    """max sum_s t_s over 0 <= t_s <= min(1, s v), V_l v = 0 for full pairs.

    Sums of feasible v are feasible and v may be long, so at the optimum t_s is 1 for every cell
    that some direction can gain and 0 for the others. Returns v, which cells gain, and the dual
    weights of s v >= t_s.
    """
    n_half, n_classifiers = half.shape
    cost = np.concatenate([np.zeros(n_classifiers), -np.ones(n_half)])
    gain = hstack([csr_array(-half), csr_array(identity(n_half))], format="csr")
    still = hstack([csr_array(full), csr_array((len(full), n_half))], format="csr")
    bounds = [(None, None)] * n_classifiers + [(0.0, 1.0)] * n_half
    solved = linprog(
        cost,
        A_ub=gain,
        b_ub=np.zeros(n_half),
        A_eq=still if len(full) else None,
        b_eq=np.zeros(len(full)) if len(full) else None,
        bounds=bounds,
        method="highs",
    )
    if solved.x is None:
        raise RuntimeError(f"The linear program of the existence test failed: {solved.message}")
    return solved.x[:n_classifiers], solved.x[n_classifiers:] > 0.5, -solved.ineqlin.marginals


def _confirm_none(full: Reals, half: Reals, weights: Reals) -> bool:
    """Return whether fractions > 0 near `weights` put sum_s lambda_s s into the full pairs' span.

    Weights of an independent set of rows are solved for exactly, those of the other half-empty
    cells are rounded beforehand. Full pairs may have coefficients of any sign.
    """
    if (weights <= 0).any():
        return False
    rows = np.vstack([full, half]).astype(np.int64)
    chosen = _exact.independent_rows(rows)
    rounded = np.rint(weights * _UNIT).astype(np.int64)
    is_half = chosen >= len(full)
    rounded[chosen[is_half] - len(full)] = 0
    others = np.delete(np.arange(len(half)), chosen[is_half] - len(full))
    if (rounded[others] <= 0).any():
        return False
    target = [-int(t) for t in (rounded.astype(object) @ half.astype(np.int64).astype(object))]
    solved: list[Fraction] | None = _exact.combination(rows[chosen], target)
    return solved is not None and all(
        x > 0 for x, needed in zip(solved, is_half, strict=True) if needed
    )

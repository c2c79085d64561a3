"""The worst weightings: those whose best votes have the least mass. Linear programs.

The mass of given votes is a sum of absolute values of linear functions of the weighting, so that
the largest mass over all votes is minimised by

    minimise t   where   u >= |F w|,   G u <= t,   w >= 0,   sum w = 1

with a row of F for each meeting of a row with votes, and a row of G for each vote vector. By
duality the multipliers of the rows of G are probabilities: votes drawn with these have at least the
mass t on average, whatever the weighting.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog
from scipy.stats import hypergeom

from ..._families.best_votes import all_masses, pattern
from ..._ground.errors import InvalidDataError
from ._weighting import Array, check_labels

MOST_MEETINGS = 2**13  # n 2^(K-1): a few seconds


@dataclass(frozen=True, eq=False)
class WorstWeighting:
    """A weighting that leaves even the best votes little mass, and the reason why not less."""

    weights: Array = field(repr=False)  # (n, K), sum 1
    mass: float  # of the best votes under `weights`
    lower: float  # of the best votes under any weighting; `mass` up to rounding
    votes: Array = field(repr=False)  # (m, K): drawn with `probabilities`, they have the mass
    probabilities: Array = field(repr=False)  # (m): `lower` on average, whatever the weighting


def worst_weighting(Y: ArrayLike) -> WorstWeighting:
    """The weighting of the labels Y whose best votes have the least mass.

    All votes enter the linear program, so n 2^(K-1) must be 8192 at most.
    """
    signs = check_labels(Y)
    n, n_classes = signs.shape
    n_votes = 2 ** min(n_classes - 1, 60)
    if n * n_votes > MOST_MEETINGS:
        raise InvalidDataError(
            f"worst_weighting takes Y with n 2^(K-1) of at most {MOST_MEETINGS} for n rows and K "
            f"classes. Got {n} rows and {n_classes} classes: {n * n_votes}."
        )
    votes = np.array([pattern(code, n_classes) for code in range(n_votes)])
    of_row = [sparse.csr_array(votes * row) for row in signs]  # n times (n_votes, K)
    F = sparse.block_diag(of_row, format="csr")  # (n n_votes, n K)
    G = sparse.csr_array(np.tile(np.eye(n_votes), n))
    w, lower, probabilities = _least_largest(F, G)
    W = w.reshape(n, n_classes)
    drawn = probabilities > 1e-9
    chances = probabilities[drawn] / probabilities[drawn].sum()
    mass = float(all_masses(W * signs).max())
    return WorstWeighting(W, mass, lower, votes[drawn], chances)


def least_mass(n_classes: int, cardinalities: list[int]) -> float:
    """The least mass of the best votes, over all weightings of rows with r of K labels each.

    `cardinalities` are the r in question, at most K/2. The largest mass is a convex function of the
    weighting, and a permutation of the classes does not change it, so that the weightings which
    permutations leave alone suffice: a_r is the total weight of the labels that apply in rows with
    r labels, b_r of those that do not. Of votes only the number p of +1 matters. A row's labels
    meet j of these with the hypergeometric probability, and then the row's share of the mass is

        |a_r (2j - r) / r  -  b_r (2(p - j) - (K - r)) / (K - r)|
    """
    meetings = [
        (p, at, r, j)
        for p in range(n_classes // 2 + 1)
        for at, r in enumerate(cardinalities)
        for j in range(max(0, p + r - n_classes), min(p, r) + 1)
    ]
    plus, at, r, j = np.array(meetings).T
    number = np.arange(len(meetings))
    of_a = (2 * j - r) / np.maximum(r, 1)
    of_b = 1 - 2 * (plus - j) / (n_classes - r)
    weights = sparse.csr_array(
        (np.concatenate([of_a, of_b]), (np.tile(number, 2), np.concatenate([2 * at, 2 * at + 1])))
    )
    chance = hypergeom.pmf(j, n_classes, r, plus)
    given = [k for k in range(weights.shape[1]) if k % 2 or cardinalities[k // 2] > 0]  # no a_0
    return _least_largest(weights[:, given], sparse.csr_array((chance, (plus, number))))[1]


def _least_largest(F: Any, G: Any) -> tuple[Array, float, Array]:
    """The w of the linear program above, t, and the multipliers of G."""
    (n_meetings, n_weights), n_votes = F.shape, G.shape[0]
    one = sparse.csr_array(sparse.eye(n_meetings))
    t = sparse.csr_array(np.ones((n_votes, 1)))
    constraints = sparse.bmat([[F, -one, None], [-F, -one, None], [None, G, -t]])
    is_weight = np.arange(n_weights + n_meetings + 1) < n_weights
    cost = np.zeros(n_weights + n_meetings + 1)
    cost[-1] = 1.0
    found = linprog(
        cost,
        A_ub=constraints.tocsr(),
        b_ub=np.zeros(constraints.shape[0]),
        A_eq=sparse.csr_array(is_weight[None, :].astype(float)),
        b_eq=[1.0],
        method="highs",
    )
    if not found.success:
        raise RuntimeError(f"HiGHS could not solve the linear program: {found.message}")
    w = np.maximum(found.x[:n_weights], 0.0)
    return w / w.sum(), float(found.fun), -found.ineqlin.marginals[-n_votes:]

"""A second certificate of the margin kappa, for truth tables of few classifiers.

Let p be the frequencies, beta the minimiser of R_p, and D(kappa) the changes of size kappa. For a
pair l, let H be the hyperplane V_l b = 0 and r a point on beta's side of it. If for all q in
p + D(kappa)

    R_q(r) < min_H R_q,                                                                    (*)

every minimiser of R_q is on beta's side of H: the segment from r to a point b on the other side
crosses H at a c, and R_q(c) <= max(R_q(r), R_q(b)) by convexity, so R_q(b) > R_q(r).

R_q is linear in q, so min_H R_q is concave and (*) need only be checked at the corners of D(kappa):
all cells but one change by as much as they may. R_q has one minimiser for all q if the cells
with p_s > kappa, which no change empties, suffice for one.

This bound has no box around beta and hence does not break down where margins are large. It needs
2^M corners and more, and loses where several coefficients are uncertain: r does not move with q.
"""

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from ..lab.truth_table import TruthTable

Reals = NDArray[np.float64]

MOST_CLASSIFIERS = 3
TOWARDS = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92)  # points r, from beta to the minimiser on H
CLEAR = 1e-9  # relative, against rounding
STEPS = 100


def separated_bound(table: TruthTable, high: float) -> float:
    """The largest kappa up to `high` that (*) certifies for the exponential loss, to 1 %."""
    beta = table.minimise().beta
    if len(beta) > MOST_CLASSIFIERS:
        raise ValueError(f"at most {MOST_CLASSIFIERS} classifiers. Got {len(beta)}.")
    low = 0.0
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_separated(table, beta, middle) else (low, middle)
    return low


def is_separated(table: TruthTable, beta: Reals, kappa: float) -> bool:
    """Return whether no change of frequencies up to kappa changes a sign, by (*)."""
    cells = np.array(list(product((-1.0, 1.0), repeat=len(beta))))
    known = {tuple(s): c for s, c in zip(table.patterns.tolist(), table.counts, strict=True)}
    p = np.array([known.get(tuple(s), 0.0) for s in cells]) / float(table.total)
    safe = p > kappa
    if not safe.any() or not TruthTable.from_cells(cells[safe], p[safe]).existence.unique:
        return False
    q = np.vstack([p, p + corners(p, kappa)])
    return all(_on_one_side(q, cells, beta, normal) for normal in cells[: len(cells) // 2])


def corners(p: Reals, kappa: float) -> Reals:
    """The corners of D(kappa), (n, cells): at most one cell changes by less than it may."""
    low, found = np.maximum(-kappa, -p), []
    for last in range(len(p)):
        choices = _choices(len(p) - 1)
        others = np.delete(np.arange(len(p)), last)
        delta = np.empty((len(choices), len(p)))
        delta[:, others] = np.where(choices, kappa, low[others])
        delta[:, last] = -delta[:, others].sum(axis=1)
        fits = (delta[:, last] <= kappa * (1 + CLEAR)) & (
            delta[:, last] >= low[last] - CLEAR * kappa
        )
        found.append(delta[fits])
    return np.concatenate(found)


@cache
def _choices(n: int) -> NDArray[np.bool_]:
    return np.array(list(product((False, True), repeat=n)))


def _on_one_side(q: Reals, cells: Reals, beta: Reals, normal: Reals) -> bool:
    """(*) for all q (n, cells) and some r; the first q is p itself."""
    if normal @ beta == 0:
        return False
    basis = null_space(normal[np.newaxis])
    least, at_p, converged = _least_on_plane(q, cells @ basis)
    if not converged:
        return False
    towards = basis @ at_p - beta
    return any(
        bool((q @ np.exp(-cells @ (beta + t * towards)) < least * (1 - CLEAR)).all())
        for t in TOWARDS
    )


def _least_on_plane(q: Reals, T: Reals) -> tuple[Reals, Reals, bool]:
    """The minima of sum_s q_s exp(-T_s z) over z, and the first z, by damped Newton steps."""
    z = np.zeros((len(q), T.shape[1]))
    value = q.sum(axis=1)
    for _ in range(STEPS if T.shape[1] else 0):
        weights = q * np.exp(-z @ T.T)
        slope = -weights @ T
        bend = np.einsum("vs,si,sj->vij", weights, T, T)
        step = -np.linalg.solve(bend, slope[..., np.newaxis])[..., 0]
        if (-(slope * step).sum(axis=1) <= 1e-3 * CLEAR * value).all():  # twice what is left
            return value, z[0], True
        for shorter in 0.5 ** np.arange(30):
            new = (q * np.exp(-(z + shorter * step) @ T.T)).sum(axis=1)
            better = new < value
            z[better] += shorter * step[better]
            value = np.where(better, new, value)
            step[better] = 0.0
            if not step.any():
                break
    return value, z[0], T.shape[1] == 0

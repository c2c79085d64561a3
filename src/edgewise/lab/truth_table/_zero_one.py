"""The least number of errors of any weighted vote, and the cone of coefficients that attain it.

A tie counts as an error, so only coefficients off the hyperplanes X_l = 0 can be best. Each pair
costs at least min(m_l, n_l); it costs |m_l - n_l| more where X_l has the sign of its smaller cell.
A best set of pairs on their better side leaves an open convex cone, on which the cost is constant.

*Enumeration*, up to six classifiers: every cell of the arrangement of all 2^(M-1) hyperplanes holds
a vector of small integers. Their cells number 2, 4, 14, 104, 1882, 94572 (the threshold functions
of M - 1 variables), and integers up to 1, 1, 1, 2, 3, 5 reach them all, which a test counts.

*Mixed-integer program*, above: binary z_l buys pair l off the constraint A_l beta >= 1. Of a cone
{A beta >= 1} a vertex solves r equations with a matrix of signs, so by Cramer's rule and Hadamard's
bound, and since such determinants are multiples of 2^(r-1), coefficients of at most
B = M^(M/2) / 2^(M-1) are enough. Up to twelve classifiers (B = 1458) the program is given this room
and its answer is the minimum; above, it is the best of all votes with |beta_j| <= 10^4, which is
reported as not proven.
"""

import itertools
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from ._pairs import Pairs, Reals

LARGEST_INTEGER = (0, 1, 1, 1, 2, 3, 5)  # by number of classifiers
_MOST_PROVEN = 12
_MOST_ROOM = 1e4


@dataclass(frozen=True)
class ZeroOneMinimum:
    """Least errors of a weighted vote.

    Attributes
    ----------
    errors : weight of the examples that the best votes get wrong.
    beta : coefficients inside the cone: integers where cells were enumerated.
    halfspaces : the cone is {beta : halfspaces beta > 0}; every vote in it makes these errors.
    n_cones : how many cones have as few errors; None where they were not enumerated.
    lower_bound : no vote makes fewer errors, if `proven`.
    proven : whether `errors` is the minimum beyond doubt.
    """

    errors: float
    beta: Reals
    halfspaces: Reals
    n_cones: int | None
    lower_bound: float
    proven: bool

    def contains(self, beta: ArrayLike) -> bool:
        """Return whether a vote with coefficients `beta` belongs to the cone."""
        return bool((self.halfspaces @ np.asarray(beta, dtype=np.float64) > 0).all())

    def facets(self) -> Reals:
        """The rows of `halfspaces` that bound the cone; the others follow from them."""
        rows, kept = self.halfspaces, list(range(len(self.halfspaces)))
        for i in range(len(rows)):
            others = rows[[k for k in kept if k != i]]
            if len(others) and _follows(rows[i], others):
                kept.remove(i)
        return rows[kept]


def _follows(row: Reals, others: Reals) -> bool:
    """Return whether others beta >= 0 implies row beta >= 0 (a linear program of least value 0)."""
    box = [(-1.0, 1.0)] * len(row)
    solved = linprog(row, A_ub=-others, b_ub=np.zeros(len(others)), bounds=box, method="highs")
    return bool(solved.fun > -1e-7)


def minimum(pairs: Pairs, time_limit: float | None) -> ZeroOneMinimum:
    """The minimum of the 0/1 cost."""
    decided = pairs.m != pairs.n  # the others cost the same on both sides, if there is no tie
    better = np.where((pairs.m > pairs.n)[:, None], pairs.V, -pairs.V)[decided]
    price = abs(pairs.m - pairs.n)[decided]
    least = float(np.minimum(pairs.m, pairs.n).sum())
    if pairs.V.shape[1] < len(LARGEST_INTEGER):
        return _enumerate(better, price, least)
    found = _program(better, price, least, time_limit)
    return replace(found, beta=_off_ties(found, pairs.V[~decided]))


# --- enumeration ---------------------------------------------------------------------------------


def _enumerate(better: Reals, price: Reals, least: float) -> ZeroOneMinimum:
    votes = all_votes(better.shape[1])
    right = better @ votes.T > 0  # (n_pairs, n_votes)
    cost = price @ ~right
    best = np.flatnonzero(cost <= cost.min() * (1 + 1e-12))
    beta = votes[best[0]].astype(np.float64)
    return ZeroOneMinimum(
        errors=least + float(cost[best[0]]),
        beta=beta,
        halfspaces=_halfspaces(better, beta),
        n_cones=len({right[:, i].tobytes() for i in best}),
        lower_bound=least + float(cost[best[0]]),
        proven=True,
    )


def _halfspaces(better: Reals, beta: Reals) -> Reals:
    """All rows turned to the side on which beta lies."""
    return np.where((better @ beta > 0)[:, None], better, -better)


@cache
def all_votes(n_classifiers: int) -> NDArray[np.int64]:
    """One integer vote for each cell of the arrangement of all hyperplanes, small ones first."""
    signs = np.array(list(itertools.product((1, -1), repeat=n_classifiers)))
    upright = signs[signs[:, 0] > 0]
    ordered = itertools.combinations_with_replacement(
        range(LARGEST_INTEGER[n_classifiers], -1, -1), n_classifiers
    )
    shapes = sorted((sum(w), w) for w in ordered if sum(w) % 2)
    seen: set[bytes] = set()
    votes = []
    for _, shape in shapes:
        key = np.packbits(upright @ np.array(shape) > 0).tobytes()
        if key not in seen:
            seen.add(key)
            votes.append(_images(np.array(shape), signs))
    return np.concatenate(votes)


def _images(shape: NDArray[np.int64], signs: NDArray[np.int64]) -> NDArray[np.int64]:
    """All rearrangements of a vote, with all signs."""
    rearranged = np.unique(list(itertools.permutations(shape)), axis=0)[::-1]
    images = (rearranged[:, None, :] * signs).reshape(-1, len(shape))
    return images[np.sort(np.unique(images, axis=0, return_index=True)[1])]


# --- mixed-integer program -----------------------------------------------------------------------


def _program(better: Reals, price: Reals, least: float, time_limit: float | None) -> ZeroOneMinimum:
    n_pairs, n_classifiers = better.shape
    needed = n_classifiers ** (n_classifiers / 2) / 2.0 ** (n_classifiers - 1)
    room = min(needed, _MOST_ROOM)
    solved = milp(
        np.concatenate([np.zeros(n_classifiers), price]),
        constraints=LinearConstraint(
            np.hstack([better, (n_classifiers * room + 1.0) * np.eye(n_pairs)]), lb=1.0
        ),
        bounds=Bounds(
            np.concatenate([np.full(n_classifiers, -room), np.zeros(n_pairs)]),
            np.concatenate([np.full(n_classifiers, room), np.ones(n_pairs)]),
        ),
        integrality=np.concatenate([np.zeros(n_classifiers), np.ones(n_pairs)]),
        options={"mip_rel_gap": 0.0} | ({} if time_limit is None else {"time_limit": time_limit}),
    )
    start = np.zeros(n_classifiers) if solved.x is None else solved.x[:n_classifiers]
    right = better @ start > 0.5
    beta = _centre(better[right], start)
    cost = float(price[better @ beta <= 0].sum())
    bound = 0.0 if solved.mip_dual_bound is None else max(0.0, float(solved.mip_dual_bound))
    return ZeroOneMinimum(
        errors=least + cost,
        beta=beta,
        halfspaces=_halfspaces(better, beta),
        n_cones=None,
        lower_bound=least + min(bound, cost),
        proven=n_classifiers <= _MOST_PROVEN and cost <= bound * (1 + 1e-9) + 1e-9,
    )


def _off_ties(found: ZeroOneMinimum, undecided: Reals) -> Reals:
    """Coefficients in the cone that give undecided pairs, too, a sign."""
    if (abs(undecided @ found.beta) > 1e-9).all() or not found.contains(found.beta):
        return found.beta
    tilt = np.sqrt(np.arange(2.0, len(found.beta) + 2.0)) % 1.0 + 0.1  # no sign sum of it is zero
    room = float((found.halfspaces @ found.beta).min()) if len(found.halfspaces) else 1.0
    beta: Reals = found.beta + 0.5 * room / tilt.sum() * tilt
    return beta


def _centre(rows: Reals, start: Reals) -> Reals:
    """The coefficients of at most 1 in size whose least margin over `rows` is largest."""
    if len(rows) == 0:
        return start
    n = rows.shape[1]
    solved = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=np.hstack([-rows, np.ones((len(rows), 1))]),
        b_ub=np.zeros(len(rows)),
        bounds=[*[(-1.0, 1.0)] * n, (0.0, None)],
        method="highs",
    )
    return start if solved.x is None else np.asarray(solved.x[:n])

"""The stability margin kappa: how far cell frequencies may change before a cell's sign does.

p are the frequencies of the cells, beta the unique minimiser of R_p(beta) = sum_s p_s phi(s beta),
and D(kappa) the changes delta with |delta_s| <= kappa, p + delta >= 0 and sum delta = 0. kappa is
the largest number such that for every delta in D(kappa) R_{p + delta} has one minimiser, which
gives every pair l the sign that beta gives it.

*Lower bound.* Let A be an inverse Hessian of R_p at beta (any matrix would do), X_l = V_l beta, and
K = {d : -a_l <= V_l d <= b_l for all l} with a, b > 0. For q = p + delta the map
N(d) = d - A grad R_q(beta + d) is continuous, and with u_ls = V_l A s, x_s = s beta, t_s = s d

    V_l N(d) = -V_l A grad R_p(beta)
               - sum_s u_ls delta_s phi'(x_s)
               - sum_s u_ls delta_s (phi'(x_s + t_s) - phi'(x_s))
               - sum_s u_ls p_s (phi'(x_s + t_s) - phi'(x_s) - phi''(x_s) t_s)

The first sum is linear in delta, and its extremes over D(kappa) are exact (sort, then fill up). In
the second, phi' is monotone and |delta_s| <= kappa; in the third the loss bounds the remainder.
If the bounds so obtained are within (-a_l, b_l) for all l, N maps K into its inside. By Brouwer's
theorem N has a fixed point in K, at which the gradient of the convex R_q is zero: a minimiser. It
is the only one: minimisers of a strictly convex loss are one point or a whole line, and a line
would meet the boundary of K in a fixed point of N, but N has none there. So if besides a_l < X_l
where X_l > 0 and b_l < -X_l where X_l < 0, kappa is certified. a and b are found by iterating the
bounds from nothing; kappa by bisection. What is computed in floating point is inflated by 1e-9.

*Upper bound.* A table with a changed sign. To first order delta moves X_l by
-V_l H^-1 sum_s delta_s phi'(x_s) s, and the best delta is again found by sorting; it is followed by
better ones at the minimiser it leads to. Or a table without a minimum: all cells on one side of a
hyperplane are emptied. The smaller of the two is given, with the table.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ._losses import Loss
from ._minimise import Walk, newton
from ._pairs import Pairs, Reals

if TYPE_CHECKING:
    from . import TruthTable

Support = Literal["all", "occupied"]

MOST_CELLS = 4096
_SAFETY = 1e-9  # relative inflation against rounding
_CLEAR = 1e-9  # a changed sign must be clearer than the error of the minimiser
_CANDIDATES = 6  # pairs for which a counterexample is searched


@dataclass(frozen=True)
class Stability:
    """Bounds of the stability margin kappa.

    Attributes
    ----------
    lower : certified: no change of frequencies up to this size changes a sign.
    upper : the counterexample changes no frequency by more than this.
    first_order : what kappa would be if the minimiser moved linearly with the frequencies.
    cells : whether all 2^M cells could change and count, or the occupied ones.
    counterexample : frequencies whose minimiser changes a sign, or that have no minimum.
    pattern : predictions on which the sign changes; None where there is no minimum any more.
    """

    lower: float
    upper: float
    first_order: float
    cells: Support
    counterexample: "TruthTable"
    pattern: NDArray[np.int8] | None

    @property
    def gap(self) -> float:
        """upper - lower"""
        return self.upper - self.lower


class Perturbed:
    """All that is linear about a table and its minimiser.

    Cells are numbered V_0, V_1, ..., then -V_0, -V_1, ...
    """

    def __init__(
        self, pairs: Pairs, loss: Loss, beta: Reals, changeable: NDArray[np.bool_]
    ) -> None:
        self.pairs, self.loss, self.beta = pairs, loss, beta
        self.p = np.concatenate([pairs.m, pairs.n])
        self.changeable = changeable
        self.X = pairs.V @ beta
        self.x = np.concatenate([self.X, -self.X])
        inverse = np.linalg.inv(pairs.hessian(beta, loss))
        u = pairs.V @ inverse @ pairs.V.T  # u_ls for s = V_0, V_1, ...; for -V_0, ... it is -u
        self.plus, self.minus = np.maximum(u, 0.0), np.maximum(-u, 0.0)
        effect = -np.hstack([u, -u]) * loss.slope(self.x)  # of delta on the margins
        order = np.argsort(-effect, axis=1, kind="stable")
        self.effect = np.take_along_axis(effect, order, axis=1)  # (n_pairs, n_cells), descending
        self.p_sorted, self.changeable_sorted = self.p[order], changeable[order]
        self.off = abs(pairs.V @ inverse @ pairs.gradient(beta, loss))  # beta is not exact

    def room(self, kappa: float) -> tuple[Reals, Reals]:
        """Return how far each cell's frequency may fall and rise."""
        up = kappa * self.changeable
        return np.asarray(np.minimum(up, self.p)), np.asarray(up, dtype=np.float64)

    def extremes(self, kappa: float | Reals) -> tuple[Reals, Reals]:
        """The least and the largest first-order change of every margin over D(kappa).

        kappa may be one for all pairs, or one for each as a column.
        """
        up = np.asarray(kappa * self.changeable_sorted, dtype=np.float64)
        down = np.minimum(up, self.p_sorted)
        rising = _fill(down, up)
        falling = _fill(down[:, ::-1], up[:, ::-1])[:, ::-1]
        return _row_sums(self.effect, falling), _row_sums(self.effect, rising)

    def best_change(self, effect: Reals, kappa: float) -> Reals:
        """The delta in D(kappa) with the largest effect (n_cells)."""
        down, up = self.room(kappa)
        order = np.argsort(-effect, kind="stable")
        delta = np.empty_like(effect)
        delta[order] = _fill(down[order], up[order])
        return delta


def _fill(down: Reals, up: Reals) -> Reals:
    """Changes along the last axis: first cells rise, last ones fall, so that the sum is zero."""
    capacity = down + up
    before = np.cumsum(capacity, axis=-1) - capacity
    filled = np.clip(down.sum(axis=-1, keepdims=True) - before, 0.0, capacity)
    change: Reals = filled - down
    return change


def _row_sums(a: Reals, b: Reals) -> Reals:
    sums: Reals = np.einsum("lc,lc->l", a, b)
    return sums


# --- lower bound ---------------------------------------------------------------------------------


def is_stable(table: Perturbed, kappa: float) -> bool:
    """Return whether the certificate above holds for kappa."""
    least, most = table.extremes(kappa)
    start = (table.off - least, table.off + most)
    box = start
    for _ in range(200):
        new = _image(table, kappa, start, box)
        if not _keeps_signs(table, new):
            return False
        settled = all((n - o <= 1e-7 * n).all() for n, o in zip(new, box, strict=True))
        box = new
        if settled:
            break
    larger = (box[0] * (1 + 1e-6) + 1e-12, box[1] * (1 + 1e-6) + 1e-12)
    image = _image(table, kappa, start, larger)
    inside = all((i < o).all() for i, o in zip(image, larger, strict=True))
    return inside and _keeps_signs(table, larger)


def _image(
    table: Perturbed, kappa: float, start: tuple[Reals, Reals], box: tuple[Reals, Reals]
) -> tuple[Reals, Reals]:
    """Bounds (a, b) of -V N(d) and V N(d) over the box."""
    loss, x = table.loss, table.x
    down, up = np.concatenate(box), np.concatenate(box[::-1])  # of t_s, for V_l and -V_l
    at = loss.slope(x)
    swing = np.maximum(at - loss.slope(x - down), loss.slope(x + up) - at)
    low, high = loss.remainder(x, down, up)
    (low_v, low_opposite), (high_v, high_opposite) = (
        np.split(table.p * low, 2),
        np.split(table.p * high, 2),
    )
    shared = np.add(*np.split(kappa * table.changeable * swing, 2))
    rise = table.plus @ (shared - low_v + high_opposite)
    rise += table.minus @ (shared - low_opposite + high_v)
    fall = table.plus @ (shared + high_v - low_opposite)
    fall += table.minus @ (shared + high_opposite - low_v)
    return (start[0] + fall) * (1 + _SAFETY), (start[1] + rise) * (1 + _SAFETY)


def _keeps_signs(table: Perturbed, box: tuple[Reals, Reals]) -> bool:
    towards_zero = np.where(table.X > 0, box[0], box[1])
    return bool((towards_zero < abs(table.X)).all() and np.isfinite(box).all())


def lower_bound(table: Perturbed, high: float) -> float:
    """The largest kappa below `high` that is certified, to 0.1 %; 0 if none is."""
    low, least = high, 1e-12 * high
    while not is_stable(table, low):
        high, low = low, low / 4
        if low < least:
            return 0.0
    while high - low > 1e-3 * low:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if is_stable(table, middle) else (low, middle)
    return low


def first_order(table: Perturbed) -> Reals:
    """For each pair the kappa, at most 1, at which its first-order change reaches zero.

    The change is a concave function f of kappa with f(0) = 0, so kappa |X| / f(kappa) approaches
    the solution from below, and is the solution where f is linear.
    """
    size = abs(table.X)
    kappa = np.full(len(size), 1e-9)
    for _ in range(50):
        least, most = table.extremes(kappa[:, None])
        reached = np.maximum(np.where(table.X > 0, -least, most), 1e-300)
        before, kappa = kappa, np.minimum(kappa * size / reached, 1.0)
        if (abs(kappa - before) <= 1e-6 * kappa).all():
            break
    return kappa


# --- upper bound ---------------------------------------------------------------------------------


def changed_sign(table: Perturbed, pair: int, kappa: float) -> Reals | None:
    """A change in D(kappa) whose minimiser gives the pair another sign, if one is found."""
    side = np.sign(table.X[pair])
    beta, delta = table.beta, np.zeros_like(table.p)
    for _ in range(20):
        effect = _effect(table, delta, beta, pair)
        if effect is None:
            return None
        new = table.best_change(-side * effect, kappa)
        if np.array_equal(new, delta):
            return None
        delta = new
        found = _minimiser(table, delta, beta)
        if found is None:
            return None
        beta = found
        if side * (table.pairs.V[pair] @ beta) < -_CLEAR:
            return delta
    return None


def _after(table: Perturbed, delta: Reals) -> Pairs:
    q = np.maximum(table.p + delta, 0.0)
    return Pairs(table.pairs.V, *np.split(q, 2))


def _effect(table: Perturbed, delta: Reals, beta: Reals, pair: int) -> Reals | None:
    """First-order effect of each cell's frequency on the pair's margin, at a changed table."""
    pairs = _after(table, delta)
    hessian = pairs.hessian(beta, table.loss)
    if not np.linalg.cond(hessian) < 1e12:
        return None
    pull = pairs.V @ np.linalg.solve(hessian, pairs.V[pair])
    slope = table.loss.slope(np.concatenate([pairs.V @ beta, -(pairs.V @ beta)]))
    effect: Reals = -np.concatenate([pull, -pull]) * slope
    return effect


def _minimiser(table: Perturbed, delta: Reals, start: Reals) -> Reals | None:
    """Of the changed table, or None where Newton's method does not find one."""
    with np.errstate(all="ignore"):
        walk = Walk(_after(table, delta), table.loss, len(start), start)
        arrived = newton(walk, 1e-11, 60)
    far = not np.isfinite(walk.beta).all() or abs(walk.beta).max() > 100.0
    return None if far or not arrived or walk.distance > 0.1 * _CLEAR else walk.beta


def least_sign_change(table: Perturbed, pair: int, high: float) -> tuple[float, Reals] | None:
    """The smallest kappa found, below `high`, at which the pair's sign can be changed."""
    delta = changed_sign(table, pair, high)
    if delta is None:
        return None
    low = 0.0
    while high - low > 1e-4 * high:
        middle = 0.5 * (low + high)
        new = changed_sign(table, pair, middle)
        if new is None:
            low = middle
        else:
            high, delta = middle, new
    return high, delta


def lost_minimum(table: Perturbed) -> tuple[float, Reals]:
    """The cheapest change found after which there is no minimum.

    For a direction v all cells with s v < 0 are emptied, which takes kappa = their largest
    frequency; what they lose is spread evenly over the others.
    """
    n = table.pairs.V.shape[1]
    directions = np.vstack([np.eye(n), -np.eye(n), table.beta])
    cells = np.vstack([table.pairs.V, -table.pairs.V])
    best: tuple[float, Reals] | None = None
    for v in directions:
        losing = cells @ v < -1e-12
        gaining = table.changeable & ~losing
        lost = float(table.p[losing].sum())
        kappa = max(float(table.p[losing].max()), lost / gaining.sum())
        if best is None or kappa < best[0]:
            best = kappa, np.where(losing, -table.p, lost / gaining.sum() * gaining)
    assert best is not None
    return best


def upper_bound(table: Perturbed, estimates: Reals) -> tuple[float, Reals, int | None]:
    """The smallest kappa with a counterexample, the change, and the pair whose sign it changes."""
    kappa, delta = lost_minimum(table)
    pair: int | None = None
    for candidate in np.argsort(estimates)[:_CANDIDATES]:
        high = min(kappa, 2.0 * float(estimates[candidate]))
        found = least_sign_change(table, int(candidate), high)
        if found is not None and found[0] < kappa:
            kappa, delta, pair = *found, int(candidate)
    return kappa, delta, pair

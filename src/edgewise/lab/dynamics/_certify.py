"""Proofs that a cycle exists, in interval arithmetic of any precision (mpmath).

With F the map of the cycle's T steps on the weights x of its support, a zero of x - F(x) is
enclosed by Krawczyk's operator: if, for a box X around an approximate zero x0 and any matrix Y,

    x0 - Y G(x0) + (1 - Y G'(X)) (X - x0)    lies inside X,

then G has exactly one zero in X (Krawczyk 1969; Moore, Kearfott & Cloud 2009, chapter 8).

Where the cycles form a manifold, G(x) = x - F(x) + W W^T (x - x0), W spanning the gradients of the
conserved quantities sum_i v_i ln x_i. A zero of G is a cycle: F conserves these quantities, so by
the mean value theorem V^T diag(1/xi) (x - F(x)) = 0 with xi between x and F(x), and if the matrix
V^T diag(1/xi) W is regular for all xi in question, W^T (x - x0) = 0.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._ground.errors import InvalidParameterError
from ..._ground.params import check, integer
from . import _intervals as iv
from ._cycle_map import Choices, jacobian, same_columns
from ._intervals import Matrix, Number, Vector
from ._margin_matrix import Signs, Weights
from ._rules import Optimal, Threshold, allowed_columns

_GUARD = (30, 150, 750)  # digits beyond those asked for, tried in turn
_SQUARINGS = 12  # powers of the Jacobian up to 2^12


@dataclass(frozen=True)
class Certificate:
    """The proof of a cycle; false if the proof failed, with the `reason`.

    Proved: in the box of half-width `radius`, below 10^-digits, around the weights given here there
    is exactly one cycle with these choices (of its manifold, where it has one, the member next to
    the cycle that was given); all its weights are positive and all edges between 0 and 1; at every
    step the chosen column leads those that would make another step by at least `gap`.
    `stable` says whether it is also proved that nearby weights come back, to the cycle or its
    manifold.
    """

    proved: bool
    reason: str | None
    digits: int
    choices: tuple[int, ...]
    support: tuple[int, ...]
    weights: tuple[tuple[Any, ...], ...] = ()  # (T, m), numbers of mpmath
    edges: tuple[Any, ...] = ()  # (T,), numbers of mpmath
    radius: Any = None  # half the width of the box, a number of mpmath
    residual: Any = None  # bound of the error of the cycle condition, a number of mpmath
    gap: float = float("nan")
    stable: bool = False

    def __bool__(self) -> bool:
        return self.proved


class _Failed(Exception):
    """A step of the proof does not go through."""


def certify(
    M: Signs, weights: Weights, choices: Choices, rule: Optimal | Threshold, digits: int
) -> Certificate:
    """A proof, to `digits` digits, of the cycle with these choices through these weights (m,)."""
    check("certify", {"digits": digits}, {"digits": integer(10, 10_000)})
    if isinstance(rule, Threshold) and rule.choose != "best":
        raise InvalidParameterError(
            "Only cycles on which the best column is taken can be certified. "
            f"Got one of Threshold(choose={rule.choose!r})."
        )
    columns, support = tuple(map(int, choices)), tuple(map(int, np.flatnonzero(weights)))
    allowed = allowed_columns(rule, M.shape[1])
    reason = ""
    for guard in _GUARD:
        try:
            proved = _Proof(M, weights, choices, allowed, (digits, guard)).run()
            return Certificate(True, None, digits, columns, support, **proved)
        except _Failed as failed:
            reason = str(failed)
    return Certificate(False, reason, digits, columns, support)


class _Proof:
    """One attempt with a given number of guard digits."""

    def __init__(
        self,
        M: Signs,
        weights: Weights,
        choices: Choices,
        allowed: NDArray[np.intp],
        precision: tuple[int, int],
    ) -> None:
        self.matrix, self.choices, self.allowed = M, choices, allowed
        self.digits, self.guard = precision
        self.present = weights > 0
        self.signs = M[self.present]  # (k, n)
        self.numbers, self.intervals = iv.contexts(self.digits + self.guard)
        start = weights[self.present]
        self.start = [self.numbers.mpf(x) for x in start]
        self.conserved = _left_null_space(self.signs[:, np.unique(self.choices)])  # (q, k)
        gradients = np.array(self.conserved, dtype=np.float64).reshape(-1, len(start)).T
        self.pins = np.linalg.qr(gradients / start[:, np.newaxis])[0]  # W, (k, q)
        J = jacobian(self.signs, start, self.choices)[1]
        try:
            self.inverse = np.linalg.inv(np.eye(len(J)) - J + self.pins @ self.pins.T)  # Y, (k, k)
        except np.linalg.LinAlgError:
            raise _Failed("the cycle is not isolated, even on its manifold") from None

    def run(self) -> dict[str, Any]:
        """All that is proved; `_Failed` where something is not."""
        centre = self._newton()
        radius = self.numbers.mpf(10) ** -(self.digits + self.guard // 2)
        box = [self.intervals.mpf([x - radius, x + radius]) for x in centre]
        thin = [self.intervals.mpf(x) for x in centre]
        derivative = iv.derivatives(self.signs, box, self.choices, self.intervals)
        self._enclose(thin, box, derivative)
        path, edges = iv.path(self.signs, box, self.choices)
        self._only_cycles(box, path.pop())
        gap = self._lead(path, edges)
        thin_path, thin_edges = iv.path(self.signs, thin, self.choices)
        return {
            "weights": tuple(self._all_rows(x) for x in thin_path[:-1]),
            "edges": tuple(self.numbers.mpf(r.mid) for r in thin_edges),
            "radius": radius,
            "residual": self._residual(thin_edges),
            "gap": gap,
            "stable": self._dies_out(edges) and self._contracts(box, derivative),
        }

    def _function(self, x: Vector) -> Vector:
        """G(x) = x - F(x) + W W^T (x - start)."""
        after = iv.path(self.signs, x, self.choices)[0][-1]
        pinned = iv.matvec(self.pins.T, [a - b for a, b in zip(x, self.start, strict=True)])
        back = iv.matvec(self.pins, pinned)
        return [a - b + c for a, b, c in zip(x, after, back, strict=True)]

    def _newton(self) -> Vector:
        """A zero of G, by steps with the inverse Jacobian in double precision."""
        x, goal = self.start, self.numbers.mpf(10) ** -(self.digits + self.guard * 2 // 3)
        for _ in range(30 + (self.digits + self.guard) // 5):
            change = iv.matvec(self.inverse, self._function(x))
            x = [a - b for a, b in zip(x, change, strict=True)]
            if max(map(abs, change)) < goal:
                return x
        raise _Failed("Newton's method does not converge")

    def _enclose(self, centre: Vector, box: Vector, derivative: Matrix) -> None:
        """Krawczyk's test."""
        factor = [[self.intervals.mpf(w) for w in row] for row in self.pins.tolist()]
        pinned = [[iv.dot(a, b) for b in factor] for a in factor]  # W W^T
        rows = zip(iv.minus_from_one(derivative), pinned, strict=True)
        full = [[a + b for a, b in zip(*row, strict=True)] for row in rows]  # G'
        rest = iv.minus_from_one(iv.product(self.inverse, full))
        defect = iv.matvec(self.inverse, self._function(centre))
        offsets = [x - c for x, c in zip(box, centre, strict=True)]
        for i in range(len(box)):
            image = centre[i] - defect[i] + iv.dot(rest[i], offsets)
            if not (box[i].a < image.a and image.b < box[i].b):
                raise _Failed("the box around the weights is not mapped into itself")
            if not box[i].a > 0:
                raise _Failed("a weight of the support may be zero")

    def _only_cycles(self, box: Vector, after: Vector) -> None:
        """No zero of G in the box but cycles: the matrix V^T diag(1/xi) W is regular."""
        if not self.conserved:
            return
        hull = [
            self.intervals.mpf([min(a.a, b.a), max(a.b, b.b)])
            for a, b in zip(box, after, strict=True)
        ]
        rows = [[v / x for v, x in zip(row, hull, strict=True)] for row in self._integers()]
        matrix = iv.product(rows, self.pins)  # (q, q)
        near_one = iv.product(np.linalg.inv(iv.middle(matrix)), matrix)
        if not iv.norm(iv.minus_from_one(near_one)) < 1:
            raise _Failed("the conserved quantities do not tell cycles from other zeros")

    def _integers(self) -> list[list[int]]:
        """The conserved quantities with whole coefficients."""
        scales = [lcm(*(f.denominator for f in row)) for row in self.conserved]
        return [[int(f * s) for f in row] for row, s in zip(self.conserved, scales, strict=True)]

    def _lead(self, path: list[Vector], edges: Vector) -> float:
        """A lower bound of the lead of the chosen columns."""
        least = float("inf")
        for x, edge, j in zip(path, edges, self.choices, strict=True):
            if not (edge.a > 0 and edge.b < 1):
                raise _Failed("an edge may be 0 or 1")
            alike = same_columns(self.signs, j)
            for column in self.allowed[~alike[self.allowed]]:
                lead = edge - iv.edge(x, self.signs[:, column])
                if not lead.a > 0:
                    raise _Failed("another column may have as large an edge as the chosen one")
                least = min(least, _float_below(lead))
        return least

    def _residual(self, edges: Vector) -> Number:
        """The largest error of the cycle condition at the centre of the box, or more."""
        worst = self.intervals.mpf(0)
        for row in self.signs:
            factor = self.intervals.mpf(1)
            for j, r in zip(self.choices, edges, strict=True):
                factor *= 1 + int(row[j]) * r
            error = abs(factor - 1).b
            worst = error if error > worst else worst
        if not worst < self.intervals.mpf(10) ** -self.digits:
            raise _Failed("the cycle condition does not hold to the digits asked for")
        return self.numbers.mpf(worst)

    def _all_rows(self, x: Vector) -> tuple[Any, ...]:
        weights = [self.numbers.mpf(0)] * len(self.matrix)
        for i, weight in zip(np.flatnonzero(self.present), x, strict=True):
            weights[i] = self.numbers.mpf(weight.mid)
        return tuple(weights)

    def _dies_out(self, edges: Vector) -> bool:
        """Return whether every example without weight loses what little it might get."""
        for row in self.matrix[~self.present]:
            factor = self.intervals.mpf(1)
            for j, r in zip(self.choices, edges, strict=True):
                worst = row[same_columns(self.signs, j)].min()  # of columns alike on the support
                factor *= 1 + int(worst) * r
            if not factor.a > 1:
                return False
        return True

    def _contracts(self, box: Vector, derivative: Matrix) -> bool:
        """Return whether all eigenvalues but those along the manifold have a modulus below 1.

        L = V / x are left eigenvectors of the eigenvalue 1; subtracting B L^T, with L^T B near the
        unit matrix, replaces these eigenvalues by ones near 0 and leaves the others (Brauer).
        """
        D = derivative
        if self.conserved:
            left = [[v / x for v, x in zip(row, box, strict=True)] for row in self._integers()]
            removed = iv.product(np.linalg.pinv(iv.middle(left)), left)
            both = zip(derivative, removed, strict=True)
            D = [[a - b for a, b in zip(*rows, strict=True)] for rows in both]
        for _ in range(_SQUARINGS):
            if iv.norm(D) < 1:
                return True
            D = iv.product(D, D)
        return False


def _left_null_space(columns: Signs) -> list[list[Fraction]]:
    """A basis of the vectors orthogonal to the vector of ones and to the columns, exactly."""
    k = len(columns)
    rows = [[Fraction(1)] * k] + [[Fraction(int(x)) for x in column] for column in columns.T]
    pivots: list[int] = []
    for column in range(k):
        rank = len(pivots)
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        rows[rank] = [x / rows[rank][column] for x in rows[rank]]
        for i, row in enumerate(rows):
            if i != rank and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[rank], strict=True)]
        pivots.append(column)
    return [_null_vector(rows, pivots, free) for free in range(k) if free not in pivots]


def _null_vector(rows: list[list[Fraction]], pivots: list[int], free: int) -> list[Fraction]:
    vector = [Fraction(0)] * len(rows[0])
    vector[free] = Fraction(1)
    for row, pivot in zip(rows, pivots, strict=False):
        vector[pivot] = -row[free]
    return vector


def _float_below(x: Number) -> float:
    return float(x.a) * (1 - 1e-12)

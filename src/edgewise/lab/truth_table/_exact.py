"""Linear algebra without rounding, for matrices of small integers with at most 60 columns.

Ranks come from elimination modulo primes: the rank modulo a prime is never above the true one, and
it is below for all primes of a set only if their product divides a minor. Minors of order r of a
matrix of entries -1, 0, 1 are at most r^(r/2) (Hadamard), so the largest rank over enough primes
is the rank. Solutions come from elimination with fractions.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# The largest primes below 2^31: products of two residues fit into 64 bits.
_PRIMES = (
    2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549, 2147483543,
)  # fmt: skip


def rank(rows: NDArray[Any]) -> int:
    """The rank of a matrix with entries -1, 0, 1."""
    return len(independent_rows(rows))


def independent_rows(rows: NDArray[Any]) -> NDArray[np.intp]:
    """The numbers of as many linearly independent rows as there are."""
    best = np.empty(0, dtype=np.intp)
    most = min(rows.shape)
    bits = 0.0  # of the product of the primes so far
    for prime in _PRIMES:
        found = _independent_modulo(rows, prime)
        best = max(best, found, key=len)
        bits += math.log2(prime)
        order = len(best) + 1
        if len(best) == most or bits > 0.5 * order * math.log2(order):
            break
    return np.sort(best)


def _independent_modulo(rows: NDArray[Any], prime: int) -> NDArray[np.intp]:
    """Rows independent modulo a prime: those of a small part, then of what it does not span."""
    part = 4 * rows.shape[1]
    chosen = np.empty(0, dtype=np.intp)
    others = np.arange(min(part, len(rows)))
    while len(others):
        candidates = np.concatenate([chosen, others[:part]])
        pivots, echelon = _echelon(rows[candidates].astype(np.int64) % prime, prime)
        chosen = candidates[pivots]
        if len(chosen) == rows.shape[1]:
            break
        others = _outside(rows, echelon, prime)
    return chosen


def _echelon(a: Integers, prime: int) -> tuple[list[int], Integers]:
    """The rows that elimination modulo `prime` takes as pivots, and the reduced echelon form."""
    free = np.ones(len(a), dtype=bool)
    pivots: list[int] = []
    for column in range(a.shape[1]):
        there = np.flatnonzero(a[:, column])
        usable = there[free[there]]
        if len(usable) == 0:
            continue
        pivot = int(usable[0])
        free[pivot] = False
        pivots.append(pivot)
        a[pivot] = a[pivot] * pow(int(a[pivot, column]), -1, prime) % prime
        rest = there[there != pivot]
        a[rest] = (a[rest] - a[rest, column][:, None] * a[pivot] % prime) % prime
    return pivots, a[pivots]


def _outside(rows: NDArray[Any], echelon: Integers, prime: int) -> NDArray[np.intp]:
    """The rows that an echelon form does not span, modulo a prime.

    Entries are at most 1 in size and there are at most 60, so the products are exact in doubles.
    """
    leading = (echelon != 0).argmax(axis=1)
    form = echelon.astype(np.float64)
    found = []
    for start in range(0, len(rows), 65536):
        block = rows[start : start + 65536].astype(np.float64)
        residual = np.fmod(block - block[:, leading] @ form, prime)
        found.append(start + np.flatnonzero(residual.any(axis=1)))
    return np.concatenate(found)


def null_space_vector(rows: NDArray[Any], near: NDArray[np.float64]) -> list[int]:
    """An integer vector v with rows v = 0, proportional to a rational one close to `near`."""
    columns = len(near)
    echelon, pivots = _reduced([[Fraction(int(v)) for v in row] for row in rows])
    v = [Fraction(float(x)).limit_denominator(10**6) for x in near]
    free = [c for c in range(columns) if c not in pivots]
    for row, pivot in zip(echelon, pivots, strict=True):
        v[pivot] = -sum((row[c] * v[c] for c in free), start=Fraction(0))
    return smallest_integers(v)


def combination(rows: NDArray[Any], target: list[int]) -> list[Fraction] | None:
    """The coefficients x with sum_i x_i rows_i = target, rows being independent; None if none."""
    system = [
        [*(Fraction(int(v)) for v in column), Fraction(t)]
        for column, t in zip(rows.T, target, strict=True)
    ]
    echelon, pivots = _reduced(system)
    if pivots and pivots[-1] == len(rows):  # a row says 0 = 1
        return None
    return [row[-1] for row in echelon]


def _reduced(a: list[list[Fraction]]) -> tuple[list[list[Fraction]], list[int]]:
    """The non-zero rows of the reduced echelon form, and the columns of their leading ones."""
    done: list[list[Fraction]] = []
    pivots: list[int] = []
    for column in range(len(a[0]) if a else 0):
        place = next((i for i, row in enumerate(a) if row[column] != 0), None)
        if place is None:
            continue
        row = a.pop(place)
        lead = row[column]
        row = [v / lead for v in row]
        done = [_without(other, row, column) for other in done]
        a = [_without(other, row, column) for other in a]
        done.append(row)
        pivots.append(column)
    return done, pivots


def _without(row: list[Fraction], pivot: list[Fraction], column: int) -> list[Fraction]:
    factor = row[column]
    if factor == 0:
        return row
    return [v - factor * p for v, p in zip(row, pivot, strict=True)]


def smallest_integers(v: list[Fraction]) -> list[int]:
    """The shortest integer vector in the direction of v."""
    common = math.lcm(*(x.denominator for x in v))
    integers = [int(x * common) for x in v]
    divisor = math.gcd(*integers) or 1
    return [x // divisor for x in integers]


def product(rows: NDArray[Any], v: list[int]) -> NDArray[Any]:
    """rows v without rounding, whatever the size of v."""
    if sum(map(abs, v)) < 2**62:
        return np.asarray(rows.astype(np.int64) @ np.array(v, dtype=np.int64))
    return np.asarray(rows.astype(object) @ np.array(v, dtype=object))

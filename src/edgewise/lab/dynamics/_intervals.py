"""AdaBoost's step and a little linear algebra on mpmath's numbers and intervals.

Care: an operation between a number and an interval must have the interval on the left, and what
must be enclosed must be made of intervals throughout.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cycle_map import Choices
from ._margin_matrix import Signs

Number = Any  # a real number or an interval of mpmath, or an integer
Vector = list[Number]
Matrix = list[list[Number]]


def contexts(digits: int) -> tuple[Any, Any]:
    """Contexts of our own for numbers and intervals: mpmath's global ones stay as they are."""
    try:
        import mpmath  # noqa: PLC0415 - optional
    except ImportError:
        raise ImportError(
            "Proofs need mpmath: install it, or edgewise with the extra 'lab'."
        ) from None
    numbers, intervals = mpmath.MPContext(), mpmath.MPIntervalContext()
    numbers.dps = intervals.dps = digits
    return numbers, intervals


def sides(x: Vector, signs: NDArray[np.int8]) -> tuple[Number, Number]:
    """The weight of the examples that a column gets right, and of those it gets wrong."""
    right = sum(a for a, s in zip(x, signs, strict=True) if s > 0)
    wrong = sum(a for a, s in zip(x, signs, strict=True) if s < 0)
    return right, wrong


def move(x: Vector, signs: NDArray[np.int8]) -> Vector:
    """The weights after a step with a column."""
    right, wrong = sides(x, signs)
    return [a / (2 * (right if s > 0 else wrong)) for a, s in zip(x, signs, strict=True)]


def edge(x: Vector, signs: NDArray[np.int8]) -> Number:
    """The edge of a column."""
    right, wrong = sides(x, signs)
    return right - wrong


def path(M: Signs, x: Vector, choices: Choices) -> tuple[list[Vector], Vector]:
    """The weights before each step and after the last, and the edges."""
    weights, edges = [x], []
    for j in choices:
        edges.append(edge(x, M[:, j]))
        x = move(x, M[:, j])
        weights.append(x)
    return weights, edges


def derivatives(M: Signs, x: Vector, choices: Choices, context: Any) -> Matrix:
    """The derivatives of the weights after the steps by x."""
    k = len(x)
    J = [[context.mpf(int(i == j)) for j in range(k)] for i in range(k)]
    for step in choices:
        right, wrong = sides(x, M[:, step])
        moved, rows = list(x), list(J)
        for sign, total in ((1, right), (-1, wrong)):
            side = np.flatnonzero(M[:, step] == sign)
            sums = [sum(J[i][j] for i in side) for j in range(k)]
            for i in side:
                share = x[i] / total
                rows[i] = [(J[i][j] - share * sums[j]) / (2 * total) for j in range(k)]
                moved[i] = share / 2
        x, J = moved, rows
    return J


def dot(x: Iterable[Number], y: Iterable[Number]) -> Number:
    return sum(a * b for a, b in zip(x, y, strict=True))


def matvec(A: NDArray[np.float64], x: Vector) -> Vector:
    return [dot(row, x) for row in A.tolist()]


def product(A: Any, B: Any) -> Matrix:
    """The product of two matrices, at least one of them of intervals."""
    left = A.tolist() if isinstance(A, np.ndarray) else A
    columns = list(zip(*(B.tolist() if isinstance(B, np.ndarray) else B), strict=True))
    return [[dot(row, column) for column in columns] for row in left]


def minus_from_one(A: Matrix) -> Matrix:
    """The unit matrix less A."""
    return [[int(i == j) - x for j, x in enumerate(row)] for i, row in enumerate(A)]


def norm(A: Matrix) -> float:
    """An upper bound of the largest row sum."""
    return max(float(sum(abs(x) for x in row).b) * (1 + 1e-12) for row in A)


def middle(A: Matrix) -> NDArray[np.float64]:
    """The matrix of midpoints, in double precision."""
    return np.array([[float(x.mid) for x in row] for row in A])

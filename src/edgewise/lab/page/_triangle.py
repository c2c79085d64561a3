"""Regions of a triangle, as polygons in barycentric coordinates: rows of three with sum 1.

Both pictures of the page are triangles cut by lines {p : row p = 0}. The weights of three examples
lie in one, cut where the largest edge passes from one column to another. The coefficients of three
classifiers, divided by their sum, lie in the plane of another, cut where a vote changes its mind.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.float64]

_SIDES = ((0, 1), (1, 2), (2, 0))
_ON_LINE = 1e-12  # how far rounding takes a corner off a line
_NOTHING = 1e-12  # an area that is none


class BestColumns(NamedTuple):
    """The region in which equal columns have the largest edge."""

    columns: list[int]
    polygon: Rows  # (k, 3)


def clip(polygon: Rows, row: ArrayLike) -> Rows:
    """The part of a convex polygon (k, 3) where row p >= 0."""
    values = polygon @ np.asarray(row, dtype=np.float64)
    values[abs(values) < _ON_LINE] = 0.0
    corners: list[Rows] = []
    for i, value in enumerate(values):
        before = values[i - 1]
        if value * before < 0:  # the side from the corner before crosses the line
            share = before / (before - value)
            corners.append(polygon[i - 1] + share * (polygon[i] - polygon[i - 1]))
        if value >= 0:
            corners.append(polygon[i])
    return np.array(corners).reshape(-1, 3)


def area(polygon: Rows) -> float:
    """The area of a polygon (k, 3), that of the triangle being a half."""
    x, y = polygon[:, 0], polygon[:, 1]
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def best_columns(M: NDArray[np.int8], allowed: Sequence[int]) -> list[BestColumns]:
    """Return where each allowed column of M (3, n) has the largest edge, equal ones together."""
    found = []
    distinct, which = np.unique(M[:, list(allowed)].T, axis=0, return_inverse=True)
    for k, column in enumerate(distinct):
        polygon = np.eye(3)
        for other in distinct:
            polygon = clip(polygon, column.astype(np.float64) - other)
        if area(polygon) > _NOTHING:
            equal = [int(j) for j, place in zip(allowed, which.ravel(), strict=True) if place == k]
            found.append(BestColumns(equal, polygon))
    return found


def zero_edges(M: NDArray[np.int8]) -> list[Rows]:
    """For each distinct column of M (3, n) the line on which its edge is 0: its two ends.

    After a step with a column the weights lie on its line. It joins the middles of two sides, those
    between examples that the column treats differently.
    """
    middles = np.array([(np.eye(3)[i] + np.eye(3)[j]) / 2 for i, j in _SIDES])
    lines = [middles[middles @ column == 0] for column in np.unique(M.T, axis=0)]
    return [line for line in lines if len(line) == 2]


def cells(rows: Rows, frame: Rows) -> list[tuple[tuple[int, ...], Rows]]:
    """The cells into which the lines row p = 0 cut a convex frame: their signs and polygons."""
    found = []
    for signs in product((1, -1), repeat=len(rows)):
        polygon = frame
        for sign, row in zip(signs, rows, strict=True):
            polygon = clip(polygon, sign * row)
        if area(polygon) > _NOTHING:
            found.append((signs, polygon))
    return found

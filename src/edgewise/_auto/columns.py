"""Numeric columns as standardised steps: what a linear model of a fit is made of.

A linear function of one column that is constant between cuts is a tree that tests this column only.
So a linear model on such columns is a forest of one tree per column.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._data.rows import Rows
from .._data.sparse import column_of
from .._model.model import Model
from .metric import metric_of

Array = NDArray[np.float64]

MOST_STEPS = 64  # of a column
UNIT = 2048.0  # integers of a step are in 1 / UNIT standard deviations, as the core knows
FARTHEST = 15.0  # standard deviations from the mean


class Column(NamedTuple):
    """A numeric column: x is in step b if cuts[b - 1] < x <= cuts[b]."""

    feature: int
    cuts: Array  # (n_steps - 1)
    steps: NDArray[np.int16]  # (n_steps): standardised height of each, in 1 / UNIT
    missing: int  # the step nearest to the mean, which missing values take
    cover: Array  # (n_steps): share of the rows' weight


class Columns(NamedTuple):
    """All numeric columns of a fit that are not constant."""

    each: list[Column]
    values: NDArray[np.int16]  # (n_columns + 1, n): steps of the rows; then ones, in 1 / UNIT
    n_features: int
    metric: Array | None  # (n_columns + 1, n_columns + 1), for the steps of linear models

    def model(self, coefficients: Array, start: Array, gain: Array) -> Model:
        """Linear scores, with coefficients (n_columns, n_classes), as a model of one round."""
        K = len(start)
        shapes = [_shape(len(column.steps)) for column in self.each]
        trees = list(zip(self.each, shapes, strict=True))
        inner = [shape.cut >= 0 for shape in shapes]
        n_nodes = [len(shape.cut) for shape in shapes]
        roots = np.cumsum([0, *n_nodes], dtype=np.int64)
        gains = np.zeros(roots[-1])
        gains[roots[:-1]] = gain
        heights = [column.steps / UNIT for column in self.each]
        to_left = [(s.cut >= c.missing) & (s.cut >= 0) for c, s in trees]
        values = [np.outer(h, c).ravel() for h, c in zip(heights, coefficients, strict=True)]
        return Model(
            start=start,
            n_features=self.n_features,
            round_start=np.array([0, len(trees)], dtype=np.int64),
            node_start=roots,
            value_start=np.cumsum([0, *(v.size for v in values)], dtype=np.int64),
            width=np.full(len(trees), K, dtype=np.int32),
            feature=np.concatenate(
                [np.where(i, c.feature, -1) for c, i in zip(self.each, inner, strict=True)]
            ).astype(np.int32),
            left=np.concatenate([shape.left for shape in shapes]).astype(np.int32),
            threshold=np.concatenate([np.where(s.cut >= 0, c.cuts[s.cut], 0.0) for c, s in trees]),
            missing_left=np.concatenate(to_left).astype(np.uint8),
            gain=gains,
            cover=np.concatenate([s.sums(c.cover) for c, s in trees]),
            classes=np.tile(
                np.arange(K, dtype=np.int32), sum(len(column.steps) for column in self.each)
            ),
            values=np.concatenate(values),
        )


def columns_of(rows: Rows, data: _core.BinnedData, categorical: Sequence[int]) -> Columns | None:
    """The numeric columns of the rows, if any varies; their cuts are among those of the bins."""
    n, n_features = rows.X.shape
    weights = np.ones(n) if rows.weights is None else rows.weights
    each: list[Column] = []
    values: list[NDArray[np.int16]] = []
    for j in range(n_features):
        if j in categorical:
            continue
        cuts = _thinned(np.array(data.cuts(j), dtype=np.float64))
        found = _column(j, cuts, column_of(rows.X, j), weights) if len(cuts) else None
        if found is not None:
            each.append(found[0])
            values.append(found[1])
    if not each:
        return None
    values.append(np.full(n, UNIT, dtype=np.int16))
    steps = np.ascontiguousarray(values)
    return Columns(each, steps, n_features, metric_of(steps, UNIT, FARTHEST + 1, rows))


def _column(
    feature: int, cuts: Array, x: Array, weights: Array
) -> tuple[Column, NDArray[np.int16]] | None:
    """A column and the steps of the rows, or None if it does not vary."""
    step = np.searchsorted(cuts, x, side="left")
    missing = np.isnan(x)
    cover = np.bincount(step[~missing], weights[~missing], minlength=len(cuts) + 1)
    heights = _heights(cuts / (np.abs(cuts).max() or 1.0))  # their squares are finite
    total = math.fsum(cover)
    if total == 0:
        return None
    centred = heights - math.fsum(cover * heights) / total
    deviation = math.sqrt(math.fsum(cover * centred**2) / total)
    if deviation == 0:
        return None
    steps = np.rint(np.clip(centred / deviation, -FARTHEST, FARTHEST) * UNIT).astype(np.int16)
    nearest = int(np.abs(steps.astype(np.int32)).argmin())
    step[missing] = nearest
    share = cover / math.fsum(weights)
    share[nearest] += max(0.0, 1.0 - math.fsum(share))
    return Column(feature, cuts, steps, nearest, share), steps[step]


def _thinned(cuts: Array) -> Array:
    """At most MOST_STEPS - 1 of them, evenly by number: bins hold about as many rows each."""
    cuts = cuts[np.isfinite(cuts)]
    n = min(len(cuts), MOST_STEPS - 1)
    kept: Array = cuts[(np.arange(1, n + 1) * len(cuts) - 1) // max(n, 1)]
    return kept


def _heights(cuts: Array) -> Array:
    """The middle of each step; the outer ones are as wide as their neighbours."""
    if len(cuts) == 1:
        return np.array([-1.0, 1.0])
    middle = cuts[:-1] / 2 + cuts[1:] / 2
    heights: Array = np.r_[2 * cuts[0] - middle[0], middle, 2 * cuts[-1] - middle[-1]]
    return heights


class _Shape(NamedTuple):
    """A balanced tree over steps; leaf b is step b."""

    cut: NDArray[np.intp]  # (n_nodes): of an inner node; -1: a leaf
    left: NDArray[np.intp]  # (n_nodes): left child, or number of the leaf
    first: NDArray[np.intp]  # (n_nodes): steps below a node: first, and one after the last
    end: NDArray[np.intp]

    def sums(self, of_steps: Array) -> Array:
        """Sums over the steps below every node."""
        before = np.r_[0.0, np.cumsum(of_steps)]
        below: Array = np.clip(before[self.end] - before[self.first], 0.0, 1.0)
        return below


@cache
def _shape(n_steps: int) -> _Shape:
    """Children come after their parent, the right one next to the left."""
    nodes = [(0, n_steps)]
    cut, left = [], []
    for first, end in nodes:  # which grows meanwhile
        if end - first == 1:
            cut.append(-1)
            left.append(first)
            continue
        middle = (first + end) // 2
        cut.append(middle - 1)
        left.append(len(nodes))
        nodes += [(first, middle), (middle, end)]
    spans = np.array(nodes)
    return _Shape(np.array(cut), np.array(left), spans[:, 0], spans[:, 1])

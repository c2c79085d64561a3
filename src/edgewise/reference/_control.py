"""Constraints on trees other than their size, for the reference.

Monotone trees: every node has a box, bounds (K, 2) within which the moves of its leaves stay. A
split on a feature with which class k may only rise divides the bounds of k at the middle m of the
moves of both sides: the left side stays at most m, the right side at least m. All further splits
keep this order, so the tree rises in k with the feature (LightGBM and XGBoost do the same with
one number; here it is done for all classes at once). A class that may only rise and one that may
only fall have log odds that may only rise.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LEAF_CLIP = 5.0  # the largest Newton step
CONSTANT = 2  # of a direction: may neither rise nor fall


class Control(NamedTuple):
    l2: float = 0.0  # added to sums of second derivatives
    min_gain: float = 0.0
    max_delta: float = LEAF_CLIP  # the largest step of a leaf
    interactions: Sequence[Collection[int]] = ()  # a path stays within one set; (): no limit
    directions: Array | None = None  # (d, K) of -1, 0, 1, CONSTANT
    rows: Array | None = None  # (rounds, n): which rows a round learns from
    features: Sequence[Collection[int]] | None = None  # and which features
    cut_keys: Sequence[int] = ()  # of the rounds, where cuts are drawn: see `_draws`

    def cut_key(self, m: int) -> int:
        return self.cut_keys[m] if self.cut_keys else 0

    def may_join(self, path: frozenset[int], j: int) -> bool:
        """Return whether feature j may stand on a path with the features above."""
        return not self.interactions or any(path | {j} <= set(s) for s in self.interactions)


def direction_of(directions: Array, way: Array) -> int:
    """Return how a step along `way` (K,) may change with a feature of these directions (K,)."""
    asked = {
        CONSTANT if d == CONSTANT else int(d * np.sign(u))
        for d, u in zip(directions, way, strict=True)
        if d and u
    }
    return CONSTANT if len(asked) > 1 else asked.pop() if asked else 0


def bounds_along(box: Array, way: Array) -> tuple[float, float]:
    """Between which numbers v the move v `way` (K,) is in the box (K, 2)."""
    ends = np.sort(box[way != 0] / way[way != 0, None], axis=1)
    return float(ends[:, 0].max()), float(ends[:, 1].min())


def within(box: Array, move: Array, way: Array | None) -> Array:
    """The move (K,) brought into the box, class by class or, where there is one, along its way."""
    if way is None:
        return np.asarray(np.clip(move, *box.T))
    k = np.abs(way).argmax()
    return np.asarray(np.clip(move[k] / way[k], *bounds_along(box, way)) * way)


def parted(box: Array, directions: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """The boxes of both sides, from what they would move as leaves, (K,) each."""
    middle = (left + right) / 2
    low, high = box.copy(), box.copy()
    up, down = np.isin(directions, [1, CONSTANT]), np.isin(directions, [-1, CONSTANT])
    low[up, 1] = high[up, 0] = middle[up]
    low[down, 0] = high[down, 1] = middle[down]
    return low, high

"""The reference's own regression tree, grown best-first by an exhaustive scan of every cut.

A node's rows carry two channels (a, b), summed with the sample weights to A and B; the score of a
split is A_L^2 / B_L + A_R^2 / B_R - A^2 / B: Newton's gain where b is the Hessian, least squares
where b = 1. Channels and leaf steps are functions of the node's rows, so one grower serves one
pair of channels per tree (LogitBoost) and one per node (AOSO). A leaf moves all K scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LEAF_CLIP = 5.0  # the largest Newton step
MIN_GAIN = 1e-10  # relative to the score of the two sides; a smaller gain is rounding
TIE = 1 + 1e-7  # scores nearer than this are ties; ties go to the first


def newton_step(G: Array, H: Array) -> Array:
    """G / H within [-LEAF_CLIP, LEAF_CLIP], with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(np.nan_to_num(np.divide(G, H)), -LEAF_CLIP, LEAF_CLIP))


def first_of_the_best(scores: Array) -> int:
    """The place that no later one beats by more than rounding."""
    best = 0
    while (better := np.flatnonzero(scores[best:] > TIE * scores[best])).size:
        best += int(better[0])
    return best


class Split(NamedTuple):
    gain: float
    feature: int
    threshold: float  # left iff x <= threshold; +inf parts all values from the missing ones
    missing_left: bool
    goes_left: Array  # (n_node,) of the node's training rows


@dataclass
class Node:
    rows: Array  # (n_node,) indices of its training rows
    split: Split | None = None  # None = leaf
    children: tuple[int, int] = (-1, -1)  # left, right
    value: Array | None = None  # (K,), the step in the scores; leaves only


class Tree(NamedTuple):
    nodes: list[Node]  # in order of creation: parents before children

    def predict(self, X: Array) -> Array:  # (n, d) -> (n, K)
        at = np.zeros(len(X), dtype=int)  # (n,) the node each row has reached
        for i, node in enumerate(self.nodes):
            if node.split:
                rows = np.flatnonzero(at == i)
                x = X[rows, node.split.feature]
                left = np.where(np.isnan(x), node.split.missing_left, x <= node.split.threshold)
                at[rows] = np.where(left, *node.children)
        leaves, of_row = np.unique(at, return_inverse=True)
        return np.array([self.nodes[leaf].value for leaf in leaves])[of_row]


class Grower:
    """Grows trees on a table X (n, d), NaN = missing, with row weights w (n,)."""

    def __init__(self, X: Array, w: Array, max_leaf_nodes: int, min_samples_leaf: int) -> None:
        self.w, self.max_leaf_nodes, self.min_samples_leaf = w, max_leaf_nodes, min_samples_leaf
        values = [np.unique(x[np.isfinite(x)]) for x in X.T]
        self.cuts = [v[:-1] + np.diff(v) / 2 for v in values]  # midpoints of neighbouring values
        bins = [np.searchsorted(cuts, x) for cuts, x in zip(self.cuts, X.T, strict=True)]
        missing = [len(cuts) + 1 for cuts in self.cuts]  # one bin more, the last
        self.bins = np.where(np.isnan(X), missing, np.stack(bins, axis=1))  # (n, d): cuts below x
        self.grid = 2.0 ** np.floor(51 - np.log2(w.sum()))

    def snap(self, x: Array) -> Array:
        """Round |x| <= 2 up to a grid so coarse that sums with whole weights are exact."""
        # In whatever order: two splits that part the rows alike tie. And no Hessian becomes zero.
        return np.asarray(np.copysign(np.ceil(np.abs(x) * self.grid) / self.grid, x))

    def scores(self, rows: Array, stats: Array, j: int) -> Array:
        """A_L^2 / B_L + A_R^2 / B_R of the cuts of feature j, (2, cuts + 1); 0 where not allowed.

        The missing values go right in the first row, left in the second. The last cut is +inf.
        """
        hist = np.array([np.bincount(self.bins[rows, j], s, len(self.cuts[j]) + 2) for s in stats])
        below = hist[:, :-1].cumsum(axis=1)  # (3, cuts + 1)
        L = np.stack([below, below + hist[:, -1:]], axis=1)  # (3, 2, cuts + 1)
        R = stats.sum(axis=1)[:, None, None] - L
        allowed = (np.minimum(L[0], R[0]) >= self.min_samples_leaf) & (L[2] > 0) & (R[2] > 0)
        # A finite cut has values on both sides: only +inf sets the missing rows apart.
        allowed[:, :-1] &= ((below[0] > 0) & (below[0] < below[0, -1]))[:-1]
        B_L, B_R = np.where(allowed, (L[2], R[2]), 1.0)
        return np.where(allowed, L[1] ** 2 / B_L + R[1] ** 2 / B_R, 0.0)

    def best_split(self, rows: Array, a: Array, b: Array) -> Split | None:
        w = self.w[rows]
        stats = np.array([np.ones(len(rows)), w * self.snap(a), w * self.snap(b)])  # (3, n_node)
        _, A, B = stats.sum(axis=1)
        best, score = (0, 0, 0), 0.0  # feature, side of the missing values, cut
        for j in range(len(self.cuts)):
            of_feature = self.scores(rows, stats, j)
            place = first_of_the_best(of_feature.ravel())
            if of_feature.flat[place] > TIE * score:
                score = of_feature.flat[place]
                best = (j, *divmod(place, of_feature.shape[1]))
        gain = float(score - A**2 / max(B, 1e-300))
        return self.split(rows, gain, *best) if gain > MIN_GAIN * score else None

    def split(self, rows: Array, gain: float, j: int, side: int, cut: int) -> Split:
        x, cuts = self.bins[rows, j], self.cuts[j]
        missing = len(cuts) + 1
        left = np.where(x == missing, side == 1, x <= cut)
        if cut < len(cuts):  # centre the cut in the gap between the values it parts
            cut = (x[left & (x < missing)].max() + x[~left & (x < missing)].min() - 1) // 2
        missing_left = bool(side if missing in x else left.mean() >= 0.5)
        return Split(gain, j, float(np.append(cuts, np.inf)[cut]), missing_left, left)

    def grow(
        self, channels: Callable[[Array], tuple[Array, Array]], step: Callable[[Array], Array]
    ) -> Tree:
        """`channels(rows)` gives (a, b) of a node's rows, `step(rows)` the (K,) move of a leaf."""
        nodes: list[Node] = []
        queue: list[tuple[float, int, Split]] = []  # the largest gain first, then the oldest node

        def add(rows: Array) -> int:
            split = self.best_split(rows, *channels(rows))
            if split:
                heappush(queue, (-split.gain, len(nodes), split))
            nodes.append(Node(rows))
            return len(nodes) - 1

        add(np.arange(len(self.w)))
        while queue and len(nodes) < 2 * self.max_leaf_nodes - 1:  # 2 J - 1 nodes have J leaves
            _, i, split = heappop(queue)
            nodes[i].split = split
            left, right = nodes[i].rows[split.goes_left], nodes[i].rows[~split.goes_left]
            nodes[i].children = add(left), add(right)
        for node in nodes:
            node.value = None if node.split else step(node.rows)
        return Tree(nodes)

"""The reference's own trees, grown best-first by an exhaustive scan of every cut.

A `Table` lists the cuts of every feature and finds the split of a node with the best score,
whatever the score is; `best_first` grows a tree from such splits. `Grower` makes regression trees
of them: a node's rows carry two channels (a, b), summed with the sample weights to A and B; the
score of a split is A_L^2 / B_L + A_R^2 / B_R and its gain that minus A^2 / B: Newton's gain where
b is the Hessian, least squares where b = 1. Channels and leaf steps are functions of the node's
rows, so one grower serves one pair of channels per tree (LogitBoost) and one per node (AOSO). A
leaf moves all K scores.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._categories import best_sets, numbered

Array = NDArray[Any]
Score = Callable[[Array, Array], Array]  # sums left, right (S, 2, cuts + 1) -> (2, cuts + 1)
LEAF_CLIP = 5.0  # the largest Newton step
MIN_GAIN = 1e-10  # relative to the score of the two sides; a smaller gain is rounding
TIE = 1 + 1e-7  # scores nearer than this are ties; ties go to the first


def newton_step(G: Array, H: Array) -> Array:
    """G / H within [-LEAF_CLIP, LEAF_CLIP], with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(np.nan_to_num(np.divide(G, H)), -LEAF_CLIP, LEAF_CLIP))


def newton_score(L: Array, R: Array) -> Array:
    """A_L^2 / B_L + A_R^2 / B_R; 0 where B does not reach both sides."""
    allowed = (L[1] > 0) & (R[1] > 0)
    return np.where(allowed, L[0] ** 2 / L[1] + R[0] ** 2 / R[1], 0.0)


def first_of_the_best(scores: Array) -> int:
    """The place that no later one beats by more than rounding."""
    best = 0
    while (better := np.flatnonzero(scores[best:] > TIE * scores[best])).size:
        best += int(better[0])
    return best


def snapped(x: Array, grid: float) -> Array:
    """Round x away from zero to multiples of 1 / grid: nothing becomes zero."""
    return np.asarray(np.copysign(np.ceil(np.abs(x) * grid) / grid, x))


class Split(NamedTuple):
    gain: float
    feature: int
    threshold: float  # left iff x <= threshold; +inf parts all values from the missing ones
    missing_left: bool
    goes_left: Array  # (n_node,) of the node's training rows
    categories: Array | None = None  # of a categorical feature: left iff x is one of them

    def sends_left(self, x: Array) -> Array:
        if self.categories is not None:
            return np.isin(x, self.categories)
        return np.where(np.isnan(x), self.missing_left, x <= self.threshold)


@dataclass
class Node:
    rows: Array  # (n_node,) indices of its training rows
    split: Split | None = None  # None = leaf
    children: tuple[int, int] = (-1, -1)  # left, right
    value: Array | None = None  # (K,), what a leaf says; leaves only
    depth: int = 0


class Tree(NamedTuple):
    nodes: list[Node]  # in order of creation: parents before children

    def predict(self, X: Array) -> Array:  # (n, d) -> (n, K)
        at = np.zeros(len(X), dtype=int)  # (n,) the node each row has reached
        for i, node in enumerate(self.nodes):
            if node.split:
                rows = np.flatnonzero(at == i)
                left = node.split.sends_left(X[rows, node.split.feature])
                at[rows] = np.where(left, *node.children)
        leaves, of_row = np.unique(at, return_inverse=True)
        return np.array([self.nodes[leaf].value for leaf in leaves])[of_row]


class Table:
    """A table X (n, d), NaN = missing, and the cuts of its features; some may be categorical."""

    def __init__(self, X: Any, categorical: Collection[int] = ()) -> None:
        self.X = X = np.asarray(X, dtype=float)
        values = [np.unique(x[np.isfinite(x)]) for x in X.T]
        self.cuts = [v[:-1] + np.diff(v) / 2 for v in values]  # midpoints of neighbouring values
        bins = [np.searchsorted(cuts, x) for cuts, x in zip(self.cuts, X.T, strict=True)]
        missing = [len(cuts) + 1 for cuts in self.cuts]  # one bin more, the last
        self.bins = np.where(np.isnan(X), missing, np.stack(bins, axis=1))  # (n, d): cuts below x
        self.categories = {j: numbered(X[:, j]) for j in categorical}

    def scores(
        self, rows: Array, stats: Array, j: int, score: Score, min_samples_leaf: int
    ) -> Array:
        """The scores of the cuts of feature j, (2, cuts + 1); 0 where a cut is not allowed.

        The missing values go right in the first row, left in the second. The last cut is +inf.
        """
        stats = np.vstack([np.ones(len(rows)), stats])  # (1 + S, n_node)
        hist = np.array([np.bincount(self.bins[rows, j], s, len(self.cuts[j]) + 2) for s in stats])
        below = hist[:, :-1].cumsum(axis=1)  # (1 + S, cuts + 1)
        L = np.stack([below, below + hist[:, -1:]], axis=1)  # (1 + S, 2, cuts + 1)
        R = stats.sum(axis=1)[:, None, None] - L
        allowed = np.minimum(L[0], R[0]) >= min_samples_leaf
        # A finite cut has values on both sides: only +inf sets the missing rows apart.
        allowed[:, :-1] &= ((below[0] > 0) & (below[0] < below[0, -1]))[:-1]
        with np.errstate(divide="ignore", invalid="ignore"):  # of empty sides, not allowed
            return np.where(allowed, score(L[1:], R[1:]), 0.0)

    def best_split(
        self, rows: Array, stats: Array, score: Score, unsplit: float, min_samples_leaf: int
    ) -> Split | None:
        """The split of a node with the best score, if that is better than `unsplit`.

        `stats` (S, n_node) are what is summed on each side. Ties go to the lowest feature, then to
        missing values on the right, then to the lowest cut.
        """
        best: tuple[int, Any] = (0, (0, 0))  # feature; side of the missing values, cut; or a set
        best_score = 0.0
        for j in range(len(self.cuts)):
            if j in self.categories:
                x = self.categories[j][1][rows]
                top, choice = best_sets(x, stats, score, min_samples_leaf, first_of_the_best)
            else:
                of_feature = self.scores(rows, stats, j, score, min_samples_leaf)
                place = first_of_the_best(of_feature.ravel())
                top, choice = of_feature.flat[place], divmod(place, of_feature.shape[1])
            if top > TIE * best_score:
                best_score, best = top, (j, choice)
        gain = float(best_score - unsplit)
        if gain <= MIN_GAIN * best_score:
            return None
        j, choice = best
        return (self.set_split if j in self.categories else self.split)(rows, gain, j, choice)

    def set_split(self, rows: Array, gain: float, j: int, chosen: Array) -> Split:
        values, number = self.categories[j]
        left = np.isin(number[rows], chosen)
        return Split(gain, j, np.nan, False, left, values[chosen])

    def split(self, rows: Array, gain: float, j: int, choice: tuple[int, int]) -> Split:
        side, cut = choice
        x, cuts = self.bins[rows, j], self.cuts[j]
        missing = len(cuts) + 1
        left = np.where(x == missing, side == 1, x <= cut)
        if cut < len(cuts):  # centre the cut in the gap between the values it parts
            cut = (x[left & (x < missing)].max() + x[~left & (x < missing)].min() - 1) // 2
        missing_left = bool(side if missing in x else left.mean() >= 0.5)
        return Split(gain, j, float(np.append(cuts, np.inf)[cut]), missing_left, left)


def best_first(
    rows: Array,
    split_of: Callable[[Array], Split | None],
    max_leaf_nodes: int,
    max_depth: int | None = None,
) -> list[Node]:
    """The nodes of a tree on these rows: the leaf whose split gains most is split next."""
    nodes: list[Node] = []
    queue: list[tuple[float, int, Split]] = []  # the largest gain first, then the oldest node

    def add(rows: Array, depth: int) -> int:
        split = split_of(rows) if max_depth is None or depth < max_depth else None
        if split:
            heappush(queue, (-split.gain, len(nodes), split))
        nodes.append(Node(rows, depth=depth))
        return len(nodes) - 1

    add(rows, 0)
    while queue and len(nodes) < 2 * max_leaf_nodes - 1:  # 2 J - 1 nodes have J leaves
        _, i, split = heappop(queue)
        node = nodes[i]
        node.split = split
        left, right = node.rows[split.goes_left], node.rows[~split.goes_left]
        node.children = add(left, node.depth + 1), add(right, node.depth + 1)
    return nodes


class Grower:
    """Grows regression trees on a table X (n, d), NaN = missing, with row weights w (n,)."""

    def __init__(
        self,
        X: Array,
        w: Array,
        max_leaf_nodes: int,
        min_samples_leaf: int,
        categorical: Collection[int] = (),
    ) -> None:
        self.w, self.max_leaf_nodes, self.min_samples_leaf = w, max_leaf_nodes, min_samples_leaf
        self.table = Table(X, categorical)
        # So coarse that sums of numbers up to 2 with whole weights are exact, in whatever order:
        # two splits that part the rows alike tie. And no Hessian becomes zero.
        self.grid = 2.0 ** np.floor(51 - np.log2(w.sum()))

    def best_split(self, rows: Array, a: Array, b: Array) -> Split | None:
        w = self.w[rows]
        stats = np.array([w * snapped(a, self.grid), w * snapped(b, self.grid)])  # (2, n_node)
        A, B = stats.sum(axis=1)
        unsplit = A**2 / max(B, 1e-300)
        return self.table.best_split(rows, stats, newton_score, unsplit, self.min_samples_leaf)

    def grow(
        self, channels: Callable[[Array], tuple[Array, Array]], step: Callable[[Array], Array]
    ) -> Tree:
        """`channels(rows)` gives (a, b) of a node's rows, `step(rows)` the (K,) move of a leaf."""
        nodes = best_first(
            np.arange(len(self.w)),
            lambda rows: self.best_split(rows, *channels(rows)),
            self.max_leaf_nodes,
        )
        for node in nodes:
            node.value = None if node.split else step(node.rows)
        return Tree(nodes)

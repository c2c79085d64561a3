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
from ._control import CONSTANT, LEAF_CLIP, Control, bounds_along, direction_of, parted, within
from ._draws import drawn_cuts, key_of_part

Array = NDArray[Any]
Score = Callable[[Array, Array], Array]  # sums left, right (S, 2, cuts + 1) -> (2, cuts + 1)
Move = Callable[[Array], Array]  # rows of a node -> (K,)
MIN_GAIN = 1e-10  # relative to the score of the two sides; a smaller gain is rounding
TIE = 1 + 1e-7  # scores nearer than this are ties; ties go to the first


def newton_step(G: Array, H: Array, l2: float = 0.0, max_delta: float = LEAF_CLIP) -> Array:
    """G / (H + l2) within [-max_delta, max_delta], with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.clip(np.nan_to_num(np.divide(G, H + l2)), -max_delta, max_delta))


def newton_score(L: Array, R: Array, l2: float = 0.0) -> Array:
    """A_L^2 / (B_L + l2) + A_R^2 / (B_R + l2); 0 where B does not reach both sides."""
    allowed = (L[1] > 0) & (R[1] > 0)
    return np.where(allowed, L[0] ** 2 / (L[1] + l2) + R[0] ** 2 / (R[1] + l2), 0.0)


class BoundedScore(NamedTuple):
    """The gain of a split whose sides have values v within bounds: 2 A v - (B + l2) v^2 each."""

    l2: float
    bounds: tuple[float, float]
    unsplit: tuple[float, float]  # A, B of the node
    direction: int  # which v may go with the feature

    def value(self, A: Any, B: Any) -> Any:
        return np.clip(A / (B + self.l2), *self.bounds)

    def of_side(self, A: Any, B: Any) -> Any:
        v = self.value(A, B)
        return v * (2 * A - (B + self.l2) * v)

    def score(self, L: Array, R: Array) -> Array:
        gain = self.of_side(L[0], L[1]) + self.of_side(R[0], R[1]) - self.of_side(*self.unsplit)
        allowed = self.direction * (self.value(R[0], R[1]) - self.value(L[0], L[1])) >= 0
        allowed[0, -1] |= L.shape[1] > 1  # parts the missing values from all others
        return np.where(allowed & (L[1] > 0) & (R[1] > 0), np.maximum(gain, 0.0), 0.0)


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
    path: frozenset[int] = frozenset()  # features above
    key: int = 0  # where cuts are drawn
    box: Array | None = None  # (K, 2): between what the moves of the leaves below stay


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

    def __init__(
        self, X: Any, categorical: Collection[int] = (), control: Control | None = None
    ) -> None:
        self.X = X = np.asarray(X, dtype=float)
        self.control = control or Control()
        values = [np.unique(x[np.isfinite(x)]) for x in X.T]
        self.cuts = [v[:-1] + np.diff(v) / 2 for v in values]  # midpoints of neighbouring values
        bins = [np.searchsorted(cuts, x) for cuts, x in zip(self.cuts, X.T, strict=True)]
        missing = [len(cuts) + 1 for cuts in self.cuts]  # one bin more, the last
        self.bins = np.where(np.isnan(X), missing, np.stack(bins, axis=1))  # (n, d): cuts below x
        self.categories = {j: numbered(X[:, j]) for j in categorical}

    def scores(
        self, node: "Node", stats: Array, j: int, score: Score, min_samples_leaf: int
    ) -> Array:
        """The scores of the cuts of feature j, (2, cuts + 1); 0 where a cut is not allowed.

        The missing values go right in the first row, left in the second. The last cut is +inf.
        """
        rows = node.rows
        stats = np.vstack([np.ones(len(rows)), stats])  # (1 + S, n_node)
        hist = np.array([np.bincount(self.bins[rows, j], s, len(self.cuts[j]) + 2) for s in stats])
        below = hist[:, :-1].cumsum(axis=1)  # (1 + S, cuts + 1)
        L = np.stack([below, below + hist[:, -1:]], axis=1)  # (1 + S, 2, cuts + 1)
        R = stats.sum(axis=1)[:, None, None] - L
        allowed = np.minimum(L[0], R[0]) >= min_samples_leaf
        # A finite cut has values on both sides: only +inf sets the missing rows apart.
        allowed[:, :-1] &= ((below[0] > 0) & (below[0] < below[0, -1]))[:-1]
        if node.key:
            x, missing = self.bins[rows, j], len(self.cuts[j]) + 1
            allowed = drawn_cuts(node.key, j, allowed, x[x < missing], missing in x)
        with np.errstate(divide="ignore", invalid="ignore"):  # of empty sides, not allowed
            return np.where(allowed, score(L[1:], R[1:]), 0.0)

    def best_split(
        self,
        node: "Node",
        stats: Array,
        score_of: Callable[[int], Score | None],
        unsplit: float,
        min_samples_leaf: int,
        noise: float = 0.0,
    ) -> Split | None:
        """The split of a node with the best score, if that is better than `unsplit`.

        `stats` (S, n_node) are what is summed on each side; `score_of` gives the score for each
        feature, None where it may not be split. Ties go to the lowest feature, then to missing
        values on the right, then to the lowest cut. For `noise` see `best_sets`.
        """
        rows = node.rows
        best: tuple[int, Any] = (0, (0, 0))  # feature; side of the missing values, cut; or a set
        best_score = 0.0
        for j in range(len(self.cuts)):
            score = score_of(j)
            if score is None or not self.control.may_join(node.path, j):
                continue
            if j in self.categories:
                if node.key:
                    raise ValueError("the reference draws no sets of categories")
                values, number = self.categories[j]
                top, choice = best_sets(
                    number[rows],
                    stats,
                    score,
                    min_samples_leaf,
                    first_of_the_best,
                    n_values=len(values),
                    noise=noise,
                )
            else:
                of_feature = self.scores(node, stats, j, score, min_samples_leaf)
                place = first_of_the_best(of_feature.ravel())
                top, choice = of_feature.flat[place], divmod(place, of_feature.shape[1])
            if top > TIE * best_score:
                best_score, best = top, (j, choice)
        gain = float(best_score - unsplit)
        if gain <= MIN_GAIN * best_score or gain < self.control.min_gain:
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
    root: Node,
    split_of: Callable[[Node], Split | None],
    max_leaf_nodes: int,
    max_depth: int | None = None,
    inherit: Callable[[Node, Node, Node], None] | None = None,
) -> list[Node]:
    """The nodes of a tree from its root: the leaf whose split gains most is split next.

    `inherit(parent, left, right)` tells children what they have from their parent.
    """
    nodes: list[Node] = []
    queue: list[tuple[float, int, Split]] = []  # the largest gain first, then the oldest node

    def add(node: Node) -> int:
        split = split_of(node) if max_depth is None or node.depth < max_depth else None
        if split:
            heappush(queue, (-split.gain, len(nodes), split))
        nodes.append(node)
        return len(nodes) - 1

    add(root)
    while queue and len(nodes) < 2 * max_leaf_nodes - 1:  # 2 J - 1 nodes have J leaves
        _, i, split = heappop(queue)
        node = nodes[i]
        node.split = split
        path = node.path | {split.feature}
        left, right = (
            Node(node.rows[side], depth=node.depth + 1, path=path, key=key_of_part(node.key, part))
            for part, side in enumerate((split.goes_left, ~split.goes_left))
        )
        if inherit:
            inherit(node, left, right)
        node.children = add(left), add(right)
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
        control: Control | None = None,
        *,
        log_loss: bool = False,
    ) -> None:
        # Under the log loss the variance of A is B times the weight of a row. Weights stand for
        # repeated rows, but those that are shares of a whole do not.
        self.noise = min(float(w.mean()), 1.0) if log_loss else 0.0
        self.w, self.max_leaf_nodes, self.min_samples_leaf = w, max_leaf_nodes, min_samples_leaf
        self.control = control or Control()
        self.table = Table(X, categorical, self.control)
        # So coarse that sums of numbers up to 2 with whole weights are exact, in whatever order:
        # two splits that part the rows alike tie. And no Hessian becomes zero.
        self.grid = 2.0 ** np.floor(51 - np.log2(w.sum()))
        self.begin(0)

    def begin(self, m: int) -> None:
        """Begin round m: what it learns from."""
        drawn, features = self.control.rows, self.control.features
        self.rows = np.arange(len(self.w)) if drawn is None else np.flatnonzero(drawn[m])
        self.features = range(len(self.table.cuts)) if features is None else features[m]
        self.key = self.control.cut_key(m)

    def newton_step(self, G: Array, H: Array) -> Array:
        return newton_step(G, H, self.control.l2, self.control.max_delta)

    def best_split(
        self, node: Node, a: Array, b: Array, way: Array | None = None, newton: bool = True
    ) -> Split | None:
        """The best split of the channels a, b; of a monotone tree, of moves along `way` (K,).

        With `newton` a step is A / B; otherwise only the direction of A / B is that of a step.
        """
        w = self.w[node.rows]
        stats = np.array([w * snapped(a, self.grid), w * snapped(b, self.grid)])  # (2, n_node)
        A, B = stats.sum(axis=1)
        l2 = self.control.l2 if newton else 0.0
        directions = self.control.directions
        unsplit = A**2 / max(B + l2, 1e-300)
        bounds = (-np.inf, np.inf)
        if directions is not None and way is not None:
            unsplit = 0.0
            if newton and node.box is not None:
                bounds = bounds_along(node.box, way)
            if bounds[0] > bounds[1]:
                return None

        def score_of(j: int) -> Score | None:
            if j not in self.features:
                return None
            if directions is None or way is None:
                return lambda L, R: newton_score(L, R, l2)
            d = direction_of(directions[j], way)
            return None if d == CONSTANT else BoundedScore(l2, bounds, (A, B), d).score

        return self.table.best_split(
            node, stats, score_of, unsplit, self.min_samples_leaf, self.noise
        )

    def grow(
        self,
        channels: Callable[[Array], tuple[Array, Array]],
        step: Move,
        way: Move = lambda i: np.ones(1),
        *,
        newton: bool = True,
        side: Callable[[Array, Array], Array] | None = None,
    ) -> Tree:
        """`channels(rows)` gives (a, b) of a node's rows, `step(rows)` the (K,) move of a leaf.

        Of a monotone tree, `way(rows)` is the (K,) move for A / B = 1. Where leaves may leave the
        way, `side(child, parent)` is what a side of a split would move as a leaf.
        """
        directions = self.control.directions

        def split_of(node: Node) -> Split | None:
            return self.best_split(node, *channels(node.rows), way(node.rows), newton)

        def boxed(node: Node, box: Array | None, move: Array) -> Array:
            return move if box is None else within(box, move, None if side else way(node.rows))

        def part(parent: Node, left: Node, right: Node) -> None:
            left.box = right.box = parent.box
            if directions is None or parent.box is None or parent.split is None:
                return
            if np.isfinite(parent.split.threshold):
                moves = [
                    boxed(c, parent.box, side(c.rows, parent.rows) if side else step(c.rows))
                    for c in (left, right)
                ]
                left.box, right.box = parted(parent.box, directions[parent.split.feature], *moves)

        root = Node(self.rows, key=self.key)
        if directions is not None:
            root.box = np.tile([-np.inf, np.inf], (directions.shape[1], 1))
        nodes = best_first(root, split_of, self.max_leaf_nodes, inherit=part)
        for node in nodes:
            node.value = None if node.split else boxed(node, node.box, step(node.rows))
        return Tree(nodes)

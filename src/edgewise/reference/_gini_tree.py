"""The reference's classification tree: best-first, by the weighted Gini impurity.

Breiman, Friedman, Olshen and Stone, "Classification and regression trees" (1984), grown best-first
as in scikit-learn, whose trees Geist's experiments use. With class weights L_c and R_c of the two
sides of a split and their sums L and R, the impurity that it takes away, in units of weight, is

    sum_c L_c^2 / L + sum_c R_c^2 / R - sum_c P_c^2 / P,    P_c = L_c + R_c.
"""

from typing import Any

import numpy as np

from ._tree import Array, Node, Split, Table, Tree, best_first, snapped

ROUNDING = 1e-9  # class weights nearer than this are ties


def purity(P: Array) -> Array:
    """sum_c P_c^2 / P along the first axis: the weight minus the Gini impurity."""
    return np.asarray((P**2).sum(axis=0) / P.sum(axis=0))


def gini_score(L: Array, R: Array) -> Array:
    return np.asarray(purity(L) + purity(R))


def grow(
    X: Any,
    Y_stats: Array,
    max_leaf_nodes: int,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    key: int = 0,
) -> Tree:
    """A tree on X (n, d), or a `Table` of it, whose leaves hold the class weights (C,).

    Y_stats (n, C) holds the weight of row i in class c: the indicator of its label times its
    weight. Rows without weight take no part: they are in no node and count in no minimum. With a
    key cuts are drawn.
    """
    table = X if isinstance(X, Table) else Table(X)
    total = float(Y_stats.sum()) or 1.0
    stats = snapped(Y_stats, 2.0 ** np.floor(52 - np.log2(total)))  # sums are exact

    def split_of(node: Node) -> Split | None:
        own = stats[node.rows]  # (n_node, C)
        P = own.sum(axis=0)  # (C,)
        if np.count_nonzero(P) < 2:
            return None
        return table.best_split(
            node, own.T, lambda j: gini_score, float(purity(P)), min_samples_leaf
        )

    root = Node(np.flatnonzero(Y_stats.any(axis=1)), key=key)
    nodes = best_first(root, split_of, max_leaf_nodes, max_depth)
    for node in nodes:
        node.value = None if node.split else stats[node.rows].sum(axis=0)
    return Tree(nodes)


def classes(tree: Tree, X: Array) -> Array:
    """The class of the largest weight in each row's leaf, (n,); ties go to the lowest class."""
    weights = tree.predict(X)  # (n, C)
    return np.asarray(
        (weights >= (1 - ROUNDING) * weights.max(axis=1, keepdims=True)).argmax(axis=1)
    )

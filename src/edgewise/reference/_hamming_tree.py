"""The base classifiers of factorised AdaBoost.MH: multi-class stumps and Hamming trees.

Kégl, "Open problem: a (missing) boosting-type convergence result for AdaBoost.MH with factorized
multi-class classifiers" (COLT 2014), eqs. 9-12 and Appendix C; trees of such stumps: Kégl, "The
return of AdaBoost.MH: multi-class Hamming trees" (ICLR 2014), as in the library MultiBoost.

The signed weights S = w_il y_il (n, K) determine everything. A stump v phi(x), phi = +1 right of
its cut and -1 left of it, has the classwise edges v_l (R_l - L_l), L_l and R_l the sums of S on
both sides; with the best votes (eq. 12) its edge is sum_l |R_l - L_l|. The best constant has sum_l
|L_l + R_l|.
"""

from typing import Any, Literal, NamedTuple

import numpy as np

from ._tree import Array, Node, Split, Table, Tree, best_first, snapped

LeafVotes = Literal["stump", "own"]


def votes_of(edges: Array) -> Array:
    """Eq. 12: +1 where the classwise edge is positive, else -1."""
    return np.where(edges > 0, 1.0, -1.0)


def stump_score(L: Array, R: Array) -> Array:
    """The edge of a stump with the best votes, one vote vector for both sides."""
    return np.asarray(np.abs(R - L).sum(axis=0))


def own_score(L: Array, R: Array) -> Array:
    """The edge where each side votes for itself."""
    return np.asarray(np.abs(L).sum(axis=0) + np.abs(R).sum(axis=0))


class HammingTree(NamedTuple):
    tree: Tree  # leaves hold the outputs of all K classes, each -1 or +1
    votes: Array  # (K,) of the stump at the root; of the constant where there is none

    def predict(self, X: Array) -> Array:  # (n, d) -> (n, K)
        return self.tree.predict(X)


def grow(
    X: Any,
    S: Array,
    max_leaf_nodes: int,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    leaf_votes: LeafVotes = "stump",
    *,
    beside: frozenset[int] = frozenset(),
    key: int = 0,
) -> HammingTree:
    """The Hamming tree on X (n, d), or a `Table` of it; with two leaves the stump of Appendix C.

    The leaf split next is the one whose stump improves most on the constant of its rows. A leaf
    votes v_l phi(x) of the last stump on its path or, with leaf_votes="own", what is best for
    its own rows, and splits are chosen accordingly. A root without improvement stays constant.
    Features `beside` the tree's own count as if they were on its paths. With a key cuts are drawn.

    Deviations from Appendix C: a value equal to the threshold goes left (it is a midpoint, so no
    training row is); missing values try both sides.
    """
    table = X if isinstance(X, Table) else Table(X)
    total = float(np.abs(S).sum()) or 1.0
    stats = snapped(S, 2.0 ** np.floor(52 - np.log2(total)))  # sums are exact, so are ties
    score = stump_score if leaf_votes == "stump" else own_score

    def edges(rows: Array) -> Array:
        return np.asarray(stats[rows].sum(axis=0))  # (K,)

    def split_of(node: Node) -> Split | None:
        constant = float(np.abs(edges(node.rows)).sum())
        own = stats[node.rows].T  # (K, n_node)
        return table.best_split(node, own, lambda j: score, constant, min_samples_leaf)

    start = Node(np.flatnonzero(S.any(axis=1)), path=beside, key=key)
    nodes = best_first(start, split_of, max_leaf_nodes, max_depth)
    root = nodes[0]
    root.value = root_votes = votes_of(edges(root.rows))
    for node in nodes:  # parents before children
        if node.split:
            left, right = (nodes[child] for child in node.children)
            v = votes_of(edges(right.rows) - edges(left.rows))
            left.value, right.value = -v, v
            root_votes = v if node is root else root_votes
    for node in nodes:
        if node.split:
            node.value = None
        elif leaf_votes == "own":
            node.value = votes_of(edges(node.rows))
    return HammingTree(Tree(nodes), root_votes)

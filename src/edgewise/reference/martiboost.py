"""MartiBoost: a branching program of weak learners for two classes that tolerates label noise.

Long and Servedio, "Martingale boosting" (COLT 2005); in the form of Geist, "Soft-max boosting"
(2015), section 5.5.1. Layer l has the nodes i = 0 .. l. A row starts at node 0 of layer 0; a node's
weak learner sends it to node i + 1 of the next layer if it predicts 1, and to node i if it predicts
0. After the last of L layers a row belongs to class 1 if it went right more often than left.

The weak learner has to be two-sided: better than chance on each class by itself. A plain one is
made so by rebalancing (both classes weigh a half at its node) and randomising (its more frequent
prediction is flipped so often that both are equally likely on the balanced rows).
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _gini_tree
from ._tree import Array, Table, Tree

# Shares below it count as none: rounding sends no row where the next node would amplify it.
NEGLIGIBLE = 1e-9


class MartiNode(NamedTuple):
    tree: Tree | None  # None: frozen; a row that comes here has reached its end
    right: Array  # (2,) probability to go right where the tree says 0, 1; frozen: of class 1

    def probability(self, X: Array) -> Array:  # (n, d) -> (n,)
        said = _gini_tree.classes(self.tree, X) if self.tree else np.zeros(len(X), dtype=int)
        return np.asarray(self.right[said])


@dataclass(frozen=True)
class MartiFit:
    layers: list[list[MartiNode]]
    scores: Array  # (n,) probability of class 1, of the training rows as they were routed

    def predict_proba(self, X: Any, uniforms: Array | None = None) -> Array:
        """The probability of class 1, (n,): exactly, or 0, 1/2, 1 by uniforms (L, n)."""
        X = np.asarray(X, dtype=float)
        walk = Walk(len(X))
        for m, nodes in enumerate(self.layers):
            walk.step(X, nodes, None if uniforms is None else uniforms[m])
        return walk.end()


class Walk:
    """The rows on their way: `mass[:, i]` (n,) is the share of each row that is at node i."""

    def __init__(self, n: int) -> None:
        self.mass = np.ones((n, 1))
        self.settled = np.zeros(n)  # share that a frozen node has given to class 1

    def step(self, X: Array, nodes: list[MartiNode], u: Array | None) -> None:
        """Through one layer: shares are divided, or, given u (n,), go as a whole."""
        after = np.zeros((len(X), len(nodes) + 1))
        for i, node in enumerate(nodes):
            q, here = node.probability(X), self.mass[:, i]
            if node.tree is None:
                self.settled += here * q
                continue
            q = q if u is None else (u < q).astype(float)
            after[:, i] += here * (1 - q)
            after[:, i + 1] += here * q
        self.mass = after

    def end(self) -> Array:
        L = self.mass.shape[1] - 1
        return np.asarray(self.settled + self.mass @ majority(np.arange(L + 1), L))


def majority(rights: Any, steps: int) -> Array:
    """Class 1 if more than half of the steps went right; 1/2 if just half did."""
    return np.asarray(np.heaviside(2.0 * rights - steps, 0.5))


def train_node(table: Table, y: Array, w: Array, limits: tuple[Any, ...], vote: Any) -> MartiNode:
    """The weak learner on rows of weights w; where a class (nearly) lacks, the node is frozen.

    A node that no row reaches gives the class 1 its `vote`: the majority of the steps so far.
    """
    sides = w[:, None] * np.eye(2)[y]  # (n, 2)
    of_class = sides.sum(axis=0)
    if of_class.min() <= NEGLIGIBLE * of_class.sum():
        label = float(of_class[1] > of_class[0]) if of_class.any() else float(vote)
        return MartiNode(None, np.array([label, label]))
    balanced = sides / (2 * of_class)
    tree = _gini_tree.grow(table, balanced, *limits)
    said = _gini_tree.classes(tree, table.X)
    ones = balanced[said == 1].sum()  # how often it says 1
    if abs(ones - 0.5) < NEGLIGIBLE:
        ones = 0.5
    right = [1 - 1 / (2 * max(1 - ones, 0.5)), 1 / (2 * max(ones, 0.5))]
    return MartiNode(tree, np.array(right))


def martiboost(
    X: Any,
    y: Any,
    *,
    n_layers: int,
    uniforms: Array | None = None,
    max_leaf_nodes: int = 2,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
) -> MartiFit:
    """Fit MartiBoost to labels 0 and 1, layer by layer.

    With `uniforms` (L, n) training row i goes right in layer l with certainty if uniforms[l, i] is
    below its probability to do so: the random program of the paper. Without, every row is in all
    nodes that it may reach, with the probability to be there as its weight.
    """
    table, y = Table(X, categorical), np.asarray(y)
    w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    limits = (max_leaf_nodes, max_depth, min_samples_leaf)
    walk, layers = Walk(len(y)), []
    for m in range(n_layers):
        vote = majority(np.arange(m + 1), m)
        nodes = [train_node(table, y, w * walk.mass[:, i], limits, vote[i]) for i in range(m + 1)]
        walk.step(table.X, nodes, None if uniforms is None else uniforms[m])
        layers.append(nodes)
    return MartiFit(layers, walk.end())

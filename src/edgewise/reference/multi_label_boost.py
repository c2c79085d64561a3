"""Multi-label boosting: the logistic loss of every label, one tree per round for all labels.

Iosipoi and Vakhrushev, "SketchBoost: fast gradient boosted decision tree for multioutput problems"
(2022): trees are searched on a few random projections of the labels' gradients.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from ._control import LEAF_CLIP
from ._fit import Fit, Init, moved
from ._tree import Array, Node, Split, Table, Tree, best_first, snapped


def logistic(Y: Array, F: Array) -> tuple[Array, Array, Array]:
    """Value (n,), a mean over labels, gradient and Hessian's diagonal (n, L), signs Y = +-1."""
    wrong = 1 / (1 + np.exp(Y * F))
    return np.logaddexp(0, -Y * F).mean(axis=1), -Y * wrong, wrong * (1 - wrong)


def directions(n_labels: int, sketch: int, seed: int, m: int) -> Array:
    """The projection of round m (L, k): random signs, or each label by itself."""
    if n_labels <= sketch:
        return np.eye(n_labels)
    ranks = np.tile(np.arange(n_labels)[:, None], sketch)
    ranks = np.random.default_rng([seed, m]).permuted(ranks, axis=0)
    return np.where(2 * ranks < n_labels, 1.0, -1.0)


def sketch_score(L: Array, R: Array) -> Array:
    """sum_k G_k^2 / M of both sides; the last of the sums is M."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sum((S[:-1] ** 2).sum(axis=0) / S[-1] for S in (L, R)))


def steps(G: Array, H: Array, pull: float, n_moved: int) -> Array:
    """The step of every label (L,): Newton's, shrunk by the gain that chance has."""
    gain = G**2 / H
    kept = np.maximum(0, 1 - pull / np.maximum(gain, 1e-300))
    rank = np.argsort(np.argsort(-gain * kept, kind="stable"), kind="stable")
    return np.where(rank < n_moved, kept * np.clip(G / H, -LEAF_CLIP, LEAF_CLIP), 0.0)


def multi_label_boost(
    X: Any,
    y: Any,
    *,
    n_estimators: int,
    learning_rate: float = 0.1,
    max_leaf_nodes: int = 40,
    min_samples_leaf: int = 1,
    sketch: int = 6,
    leaf_labels: int = 64,
    pull: float = 1.0,
    seed: int = 0,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    init: Init = "prior",
) -> Fit:
    """Fit; y is an indicator matrix (n, L), or labels 0 .. L-1, each against the rest."""
    y = np.asarray(y)
    Y = 2.0 * (y if y.ndim == 2 else np.eye(y.max() + 1)[y]) - 1
    w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    table, n_labels = Table(X, categorical), Y.shape[1]
    row = min(float(w.mean()), 1.0)  # the weight of a row
    share = np.clip(w @ (Y > 0), row / 2, w.sum() - row / 2) / w.sum()
    start = np.log(share / (1 - share)) if init == "prior" else np.zeros(n_labels)
    F = np.tile(start, (len(Y), 1))
    grid = 2.0 ** np.floor(48 - np.log2(w.sum() * n_labels))
    rounds, losses = [], []
    for m in range(n_estimators):
        _, gradient, h = logistic(Y, F)
        g = -gradient
        projected = g @ directions(n_labels, sketch, seed, m)
        own = snapped(w[:, None] * np.column_stack([projected, h.sum(axis=1)]), grid).T

        def split_of(node: Node, own: Array = own) -> Split | None:
            stats = own[:, node.rows]
            sums = stats.sum(axis=1)
            unsplit = (sums[:-1] ** 2).sum() / sums[-1]
            return table.best_split(node, stats, lambda j: sketch_score, unsplit, min_samples_leaf)

        tree = Tree(best_first(Node(np.arange(len(Y))), split_of, max_leaf_nodes))
        for node in tree.nodes:
            if not node.split:
                G, H = (w[node.rows] @ x[node.rows] for x in (g, h))
                node.value = learning_rate * steps(G, H, pull * row, leaf_labels)
        F = moved(F, [tree], table.X)
        rounds.append([tree])
        losses.append(w @ logistic(Y, F)[0] / w.sum())
    return Fit(start, rounds, F, {"loss": np.array(losses)})

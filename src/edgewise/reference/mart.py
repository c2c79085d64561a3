"""MART for K classes: gradient boosting with regression trees.

Li, "ABC-Boost" (slides, 2009), slide "MART (Multiple Additive Regression Trees)"; originally
Friedman, "Greedy function approximation" (2001), Algorithm 6. First derivatives find a tree's
structure, second derivatives set its leaf values. Comments "line n" refer to the slide.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from ._control import Control
from ._fit import Fit, Init, class_losses, log_softmax, moved, prepare
from ._tree import Array, Grower, Tree


def derivatives(r: Array, p: Array, k: int) -> tuple[Array, Array]:
    """-dL/dF_k and d2L/dF_k2 of every row, (n,) each (slide "Key components of MART")."""
    return r[:, k] - p[:, k], p[:, k] * (1 - p[:, k])


def class_tree(grower: Grower, r: Array, p: Array, k: int, nu: float) -> Tree:
    """The tree of class k; with two classes it moves class 0 against class 1."""
    K, w = r.shape[1], grower.w
    g, h = derivatives(r, p, k)
    factor, direction = (K - 1) / K, np.eye(K)[k]  # (K,)
    if K == 2:  # the derivatives along the direction
        g, h, factor, direction = 2 * g, 4 * h, 1.0, np.array([-1.0, 1.0])
    return grower.grow(
        lambda i: (g[i], np.ones(len(i))),  # line 5: least squares on g
        lambda i: (
            nu * grower.newton_step(factor * (w[i] @ g[i]), w[i] @ h[i]) * direction
        ),  # line 6
        lambda i: nu * factor * direction,
        newton=False,
    )


def mart(
    X: Any,
    y: Any,
    *,
    n_estimators: int,
    learning_rate: float = 0.1,
    max_leaf_nodes: int = 20,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    control: Control | None = None,
    init: Init = "prior",
) -> Fit:
    """Fit MART.

    Deviations from the slide: scores start at the log priors unless init="zero" (line 1); the K
    trees of a round share the probabilities of its start (line 4 is inside the loop over k); a
    leaf's step is clipped; two classes need one tree, for class 1.
    """
    X, r, w, start = prepare(X, y, sample_weight, init)
    K = r.shape[1]
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical, control)
    F = np.tile(start, (len(X), 1))  # (n, K), line 1
    rounds, losses = [], []
    for m in range(n_estimators):  # line 2
        grower.begin(m)
        p = np.exp(log_softmax(F))  # (n, K), line 4
        classes = range(K) if K > 2 else [1]
        trees = [class_tree(grower, r, p, k, learning_rate) for k in classes]  # line 3
        F = moved(F, trees, X)  # line 7
        rounds.append(trees)
        losses.append(class_losses(F, r, w).sum() / w.sum())
    return Fit(start, rounds, F, {"loss": np.array(losses)})

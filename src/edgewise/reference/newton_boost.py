"""Newton boosting of any twice differentiable loss, with the Hessian's diagonal.

Friedman, "Greedy function approximation" (2001), with second-order trees: Friedman, Hastie and
Tibshirani (2000), Li (UAI 2010). For the log loss see `logitboost`, which scales its steps by
(K - 1) / K.
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ._fit import Fit, Init, moved, prepare
from ._tree import Array, Grower, Tree, newton_step

Loss = Callable[[Array, Array], tuple[Array, Array, Array]]


def class_tree(grower: Grower, gradient: Array, hessian: Array, k: int, nu: float) -> Tree:
    """The tree of class k, which moves it by minus the Newton step of every leaf."""
    w, direction = grower.w, np.eye(gradient.shape[1])[k]
    g, h = -gradient[:, k], hessian[:, k]
    return grower.grow(
        lambda i: (g[i], h[i]),
        lambda i: nu * newton_step(w[i] @ g[i], w[i] @ h[i]) * direction,
    )


def newton_boost(
    X: Any,
    y: Any,
    loss: Loss,
    *,
    n_estimators: int,
    learning_rate: float = 0.1,
    max_leaf_nodes: int = 20,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    init: Init = "prior",
) -> Fit:
    """Fit; `loss` gives value (n,), gradient and Hessian (n, K) from indicators and scores."""
    X, r, w, start = prepare(X, y, sample_weight, init)
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical)
    F = np.tile(start, (len(X), 1))  # (n, K)
    rounds, losses = [], []
    for _ in range(n_estimators):
        _, gradient, hessian = loss(r, F)
        trees = [class_tree(grower, gradient, hessian, k, learning_rate) for k in range(r.shape[1])]
        F = moved(F, trees, X)
        rounds.append(trees)
        losses.append(w @ loss(r, F)[0] / w.sum())
    return Fit(start, rounds, F, {"loss": np.array(losses)})

"""LogitBoost for K classes, in Li's numerically robust form.

Friedman, Hastie and Tibshirani, "Additive logistic regression" (2000), Algorithm 6: K weighted
regressions on the working response z = (r - p) / (p (1 - p)) with weights p (1 - p). Li, "Robust
LogitBoost and adaptive base class (ABC) LogitBoost" (UAI 2010): the gain of that regression needs
only sums of r - p and of p (1 - p), never z, which is unstable where p nears 0 or 1.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from ._control import Control
from ._fit import Fit, Init, class_losses, log_softmax, moved, prepare
from ._tree import Array, Grower, Tree


def derivatives(r: Array, p: Array, k: int) -> tuple[Array, Array]:
    """-dL/dF_k and d2L/dF_k2 of every row, (n,) each; z = g / h with weight h."""
    return r[:, k] - p[:, k], p[:, k] * (1 - p[:, k])


def class_tree(grower: Grower, r: Array, p: Array, k: int, nu: float) -> Tree:
    """The tree of class k; with two classes it moves class 0 against class 1."""
    K, w = r.shape[1], grower.w
    g, h = derivatives(r, p, k)
    factor, direction = (K - 1) / K, np.eye(K)[k]  # (K,)
    if K == 2:  # the derivatives along the direction
        g, h, factor, direction = 2 * g, 4 * h, 1.0, np.array([-1.0, 1.0])
    return grower.grow(
        lambda i: (g[i], h[i]),  # gain: (sum g)^2 / sum h of both sides minus the node's
        # The leaf's weighted mean of z is sum g / sum h.
        lambda i: nu * grower.newton_step(factor * (w[i] @ g[i]), w[i] @ h[i]) * direction,
        lambda i: nu * factor * direction,
    )


def logitboost(
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
    """Fit robust LogitBoost.

    Deviations from Algorithm 6 of 2000: steps are shrunken by the learning rate and clipped; the K
    steps are not centred, as in Li's papers (probabilities do not depend on it); scores start at
    the log priors unless init="zero"; two classes need one tree, for class 1.
    """
    X, r, w, start = prepare(X, y, sample_weight, init)
    K = r.shape[1]
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical, control, log_loss=True)
    F = np.tile(start, (len(X), 1))  # (n, K)
    rounds, losses = [], []
    for m in range(n_estimators):
        grower.begin(m)
        p = np.exp(log_softmax(F))  # (n, K)
        classes = range(K) if K > 2 else [1]
        trees = [class_tree(grower, r, p, k, learning_rate) for k in classes]
        F = moved(F, trees, X)
        rounds.append(trees)
        losses.append(class_losses(F, r, w).sum() / w.sum())
    return Fit(start, rounds, F, {"loss": np.array(losses)})

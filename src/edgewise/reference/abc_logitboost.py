"""ABC-LogitBoost: LogitBoost that infers one adaptively chosen base class.

Li, "Robust LogitBoost and adaptive base class (ABC) LogitBoost" (UAI 2010): the derivatives and the
loop of ABC-Boost (Li's slides of 2009, Alg. 3, to which "line n" refers) with the split gain of
robust LogitBoost. It differs from `abc_mart` in the second channel of the trees only. Search, gap
and warm-up are those of Li and Zhao, "Fast ABC-Boost" (2022).
"""

from collections.abc import Collection
from typing import Any, Literal

import numpy as np

from ._control import Control
from ._fit import Fit, Init, class_losses, log_softmax, moved, prepare
from ._tree import Array, Grower, Tree

NO_BASE = -1  # a round of the warm-up


def derivatives(r: Array, p: Array, k: int, b: int) -> tuple[Array, Array]:
    """-dL/dF_k and d2L/dF_k2 where F_b = -sum of the others, (n,) each."""
    g = (r[:, k] - p[:, k]) - (r[:, b] - p[:, b])
    return g, p[:, b] * (1 - p[:, b]) + p[:, k] * (1 - p[:, k]) + 2 * p[:, b] * p[:, k]


def class_tree(grower: Grower, r: Array, p: Array, k: int, b: int, nu: float) -> Tree:
    """The tree of class k against base class b; without one, the tree of plain LogitBoost."""
    w, K, e = grower.w, r.shape[1], np.eye(r.shape[1])
    if b == NO_BASE:
        g, h = r[:, k] - p[:, k], p[:, k] * (1 - p[:, k])
        factor, direction = (K - 1) / K, e[k]
    else:
        g, h = derivatives(r, p, k, b)
        factor, direction = 1.0, e[k] - e[b]
    return grower.grow(
        lambda i: (g[i], h[i]),  # line 5, with gain (sum g)^2 / sum h
        lambda i: (
            nu * grower.newton_step(factor * (w[i] @ g[i]), w[i] @ h[i]) * direction
        ),  # line 6
        lambda i: nu * factor * direction,
    )


def worst_classes(F: Array, r: Array, w: Array, search: int | str) -> list[int]:
    """The `search` classes of largest loss, in ascending order (Fast ABC-Boost)."""
    s = r.shape[1] if isinstance(search, str) else search
    return sorted(np.argsort(-class_losses(F, r, w), kind="stable")[:s].tolist())


def abc_logitboost(
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
    search: int | Literal["exhaustive"] = "exhaustive",
    gap: int = 0,
    warmup: int = 0,
) -> Fit:
    """Fit ABC-LogitBoost; history["base_class"] is -1 in the warm-up.

    Deviations as in `logitboost`. The warm-up keeps the factor (K - 1) / K, and scores are not
    centred after it (probabilities do not depend on it). With two classes the base class is 0,
    which is plain LogitBoost.
    """
    X, r, w, start = prepare(X, y, sample_weight, init)
    K = r.shape[1]
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical, control, log_loss=True)
    F = np.tile(start, (len(X), 1))  # (n, K), line 1
    base, rounds, losses, bases = 0, [], [], []
    for m in range(n_estimators):  # line 2
        grower.begin(m)
        p = np.exp(log_softmax(F))  # (n, K), line 4
        candidates = [base]
        if K > 2 and m < warmup:
            candidates = [NO_BASE]
        elif K > 2 and (m - warmup) % (gap + 1) == 0:
            candidates = worst_classes(F, r, w, search)
        tried = [  # the loop over b, and line 3
            [class_tree(grower, r, p, k, b, learning_rate) for k in range(K) if k != b]
            for b in candidates
        ]
        loss = [class_losses(moved(F, trees, X), r, w).sum() for trees in tried]
        best = int(np.argmin(loss))  # ties: the lowest class
        base = candidates[best]
        F = moved(F, tried[best], X)  # line 7
        rounds.append(tried[best])
        losses.append(loss[best] / w.sum())
        bases.append(base if m >= warmup else NO_BASE)
    return Fit(start, rounds, F, {"loss": np.array(losses), "base_class": np.array(bases)})

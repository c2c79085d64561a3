"""Ordinal boosting with the all-threshold loss: one tree per round that moves K - 1 margins.

Rennie and Srebro, "Loss functions for preference levels" (2005); Li and Lin, "Ordinal regression by
extended binary classification" (2006). Class k has the score that all thresholds give it,
S_k = sum_{j < k} F_j / 2 - sum_{j >= k} F_j / 2.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from ._control import LEAF_CLIP
from ._fit import Fit, Init, moved, prepare
from ._tree import Array, Grower, Tree, newton_step


def all_threshold(above: Array, F: Array) -> tuple[Array, Array, Array]:
    """Value (n,), gradient and Hessian's diagonal (n, K - 1) from b = +1 or -1 and margins F."""
    wrong = 1 / (1 + np.exp(above * F))
    return np.logaddexp(0, -above * F).sum(axis=1), -above * wrong, wrong * (1 - wrong)


def to_scores(F: Array) -> Array:
    """S (n, K) from F (n, K - 1)."""
    n_thresholds = F.shape[1]
    votes = np.where(np.arange(n_thresholds)[:, None] < np.arange(n_thresholds + 1), 0.5, -0.5)
    return np.asarray(F @ votes)


def probabilities(S: Array) -> Array:
    """P(y = k) = P(y > k - 1) - P(y > k) of the sorted margins."""
    F = -np.sort(-np.diff(S, axis=1), axis=1)
    above = np.pad(1 / (1 + np.exp(-F)), ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
    return np.asarray(above[:, :-1] - above[:, 1:])


def threshold_steps(G: Array, H: Array, common: Array, room: Array) -> Array:
    """Newton's steps (K - 1,) of the thresholds from sums (n_leaves, K - 1), in their order."""
    step = newton_step((G - H * common).sum(axis=0), H.sum(axis=0))
    lost = np.maximum(np.diff(step), 0)
    shares = [r / x for r, x in zip(room, lost, strict=True) if x > 0]
    return np.asarray(step * min([1.0, *(0.5 * share for share in shares)]))


def ordinal_tree(grower: Grower, b: Array, F: Array, pull: float, nu: float) -> Tree:
    """A tree to the gradient of all thresholds together; its leaves move the scores."""
    w = grower.w
    _, gradient, hessian = all_threshold(b, F)
    g, h = -gradient, hessian
    tree = grower.grow(
        lambda i: (g[i].sum(axis=1), h[i].sum(axis=1)),
        lambda i: newton_step((w[i] @ g[i]).sum(), (w[i] @ h[i]).sum()) * np.ones(1),
    )
    leaves = [node for node in tree.nodes if node.split is None]
    common = np.array([node.value for node in leaves])  # (n_leaves, 1)
    G, H = (np.array([w[node.rows] @ x[node.rows] for node in leaves]) for x in (g, h))
    if np.isinf(pull) and G.shape[1] == 1:  # the common step is that of the one threshold
        steps = common
    elif np.isinf(pull):
        room = (F[:, :-1] - F[:, 1:]).min(axis=0) / nu
        steps = common + threshold_steps(G, H, common, room)
    else:
        a = pull * H.mean(axis=1, keepdims=True)
        steps = np.clip((G + a * common) / (H + a), -LEAF_CLIP, LEAF_CLIP)
    for node, value in zip(leaves, to_scores(nu * steps), strict=True):
        node.value = value
    return tree


def ordinal_boost(
    X: Any,
    y: Any,
    *,
    n_estimators: int,
    learning_rate: float = 0.1,
    max_leaf_nodes: int = 40,
    min_samples_leaf: int = 1,
    pull: float = 0.01,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    init: Init = "prior",
) -> Fit:
    """Fit; labels are 0 < 1 < ... < K-1. A positive pull, or infinity for proportional odds."""
    X, r, w, _ = prepare(X, y, sample_weight, init)
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical)
    mass = (w @ r).cumsum()
    start = np.log((mass[-1] - mass[:-1]) / mass[:-1]) if init == "prior" else 0 * mass[1:]
    b = np.where(np.asarray(y)[:, None] > np.arange(r.shape[1] - 1), 1.0, -1.0)
    S = to_scores(np.tile(start, (len(X), 1)))
    rounds, losses = [], []
    for _ in range(n_estimators):
        tree = ordinal_tree(grower, b, np.diff(S, axis=1), pull, learning_rate)
        S = moved(S, [tree], X)
        rounds.append([tree])
        losses.append(w @ all_threshold(b, np.diff(S, axis=1))[0] / w.sum())
    return Fit(to_scores(start[None])[0], rounds, S, {"loss": np.array(losses)})

"""AOSO-LogitBoost: one vector tree per round, in which every node works on one pair of classes.

Sun, Reid and Zhou, "AOSO-LogitBoost: adaptive one-vs-one LogitBoost for multi-class problem" (ICML
2012): block coordinate descent on the node's K-dimensional Newton problem, whose Hessian is dense
and whose solution sums to zero. The block is a pair of classes, chosen in every node by first
and second derivatives. For two classes it is LogitBoost with Li's robust gain.
"""

from collections.abc import Collection
from typing import Any, Literal

import numpy as np

from ._control import Control
from ._fit import Fit, Init, class_losses, log_softmax, moved, prepare
from ._tree import Array, Grower, Tree

TIE = 1e-6  # what differs by less is rounding; ties go to the lowest class


def derivatives(r: Array, p: Array, up: int, down: int) -> tuple[Array, Array]:
    """Minus the first, and the second derivative of L along e_up - e_down, (n,) each."""
    g = (r[:, up] - p[:, up]) - (r[:, down] - p[:, down])
    return g, p[:, up] * (1 - p[:, up]) + p[:, down] * (1 - p[:, down]) + 2 * p[:, up] * p[:, down]


def largest(x: Array, slack: float) -> int:
    return int(np.argmax(x >= x.max() - slack))  # the first that is largest but for the slack


def node_pair(grower: Grower, r: Array, p: Array, rows: Array) -> tuple[int, int]:
    """The pair (r, s) of a node: the steepest class, and the partner with the largest gain."""
    w, r, p = grower.w[rows], r[rows], p[rows]
    G, H = w @ (r - p), w @ (p * (1 - p))  # (K,) each
    noise = TIE * H.sum()  # differences of G that mean nothing
    if np.ptp(G) <= noise:  # at the root of a first round from the priors all G_k are zero:
        up, gain = largest(H, TIE * H.max()), H.copy()  # the two least certain classes
    else:
        up = largest(G, noise)
        pair_H = H[up] + H + 2 * ((w * p[:, up]) @ p) + grower.control.l2  # (K,)
        gain = (G[up] - G) ** 2 / np.maximum(pair_H, 1e-300)
    gain[up] = -1.0
    return up, largest(gain, TIE * gain.max())


def vector_tree(grower: Grower, r: Array, p: Array, leaf: str, nu: float) -> Tree:
    """The tree of a round: a node is split on its own pair; its children choose theirs."""
    w, K, e = grower.w, r.shape[1], np.eye(r.shape[1])

    def pair(i: Array) -> tuple[int, int]:
        return node_pair(grower, r, p, i)

    def channels(i: Array) -> tuple[Array, Array]:
        return derivatives(r[i], p[i], *pair(i))

    def way(i: Array) -> Any:
        up, down = pair(i)
        return nu * (e[up] - e[down])

    def pair_step(i: Array, node: Array) -> Any:  # Newton's step along the pair of a node
        g, h = derivatives(r[i], p[i], *pair(node))
        return grower.newton_step(w[i] @ g, w[i] @ h) * way(node)

    def vector_step(i: Array) -> Any:  # LogitBoost's diagonal step of all classes, centred
        G, H = w[i] @ (r[i] - p[i]), w[i] @ (p[i] * (1 - p[i]))  # (K,) each
        step = grower.newton_step((K - 1) / K * G, H)
        return nu * (step - step.mean())

    if leaf == "vector":
        return grower.grow(channels, vector_step, way, side=lambda i, _: vector_step(i))
    return grower.grow(channels, lambda i: pair_step(i, i), way, side=pair_step)


def aoso_logitboost(
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
    leaf: Literal["pair", "vector"] = "pair",
) -> Fit:
    """Fit AOSO-LogitBoost.

    Deviations from the paper: the next node to split is that of the largest gain on its own pair,
    before its children choose theirs; leaf="vector" is our addition; scores are not capped and
    start at the log priors unless init="zero".
    """
    X, r, w, start = prepare(X, y, sample_weight, init)
    grower = Grower(X, w, max_leaf_nodes, min_samples_leaf, categorical, control, log_loss=True)
    F = np.tile(start, (len(X), 1))  # (n, K)
    rounds, losses = [], []
    for m in range(n_estimators):
        grower.begin(m)
        p = np.exp(log_softmax(F))  # (n, K)
        trees = [vector_tree(grower, r, p, leaf, learning_rate)]
        F = moved(F, trees, X)
        rounds.append(trees)
        losses.append(class_losses(F, r, w).sum() / w.sum())
    return Fit(start, rounds, F, {"loss": np.array(losses)})

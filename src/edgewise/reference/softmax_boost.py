"""Soft-max boosting: gradient descent on the expected cost of a stochastic decision rule.

Geist, "Soft-max boosting" (Machine Learning 100, 2015), Alg. 2 and Prop. 2. The rule is
g(k | x) = softmax(psi(x))_k, its risk R_N = 1/N sum_i sum_k g_ik c_i(k), and the gradient of the
risk at row i is g_ik Delta_ik with the centred cost Delta_ik = c_i(k) - sum_l g_il c_i(l). Each
round projects the gradient on K trees with outputs -1 and +1 and goes against it: an output of +1
means "more expensive than the average", and such labels lose score.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from . import _gini_tree
from ._control import Control
from ._draws import key_of_part
from ._fit import log_softmax
from ._tree import Array, Table, Tree

Draw = Callable[[int, Array], Array]  # round, probabilities (n, K) of the pairs -> pairs (M,)
HISTORY = ("risk", "step")
SMOOTHNESS = 1 / (3 * np.sqrt(3))  # the gradient's Lipschitz constant where costs are in [0, 1]


@dataclass(frozen=True)
class SoftmaxFit:
    rounds: list[tuple[float, list[Tree | None]]]  # step, and K trees; None has the output 0
    scores: Array  # psi, (n, K) of the training rows
    history: dict[str, Array]  # (rounds,) each: HISTORY; the risk is the one after the round
    stop_reason: str  # "rounds" or "flat": no pair has a gradient

    def decision_function(self, X: Any) -> Array:  # (n, d) -> (n, K)
        X = np.asarray(X, dtype=float)
        psi = np.zeros((len(X), self.scores.shape[1]))
        for step, trees in self.rounds:
            psi = psi - step * outputs(trees, X)
        return psi


def centred_cost(psi: Array, cost: Array) -> tuple[Array, Array]:
    """g and Delta, (n, K) each; the gradient of row i is g_i Delta_i (Prop. 2)."""
    g = np.exp(log_softmax(psi))
    return g, cost - (g * cost).sum(axis=1, keepdims=True)


def pairs_by_uniforms(u: Array) -> Draw:
    """Pairs (i, k), as i K + k, by binary search of u[m] (M,) in their cumulated probability."""

    def draw(m: int, p: Array) -> Array:
        below = p.ravel().cumsum()
        return np.asarray(np.searchsorted(below / below[-1], u[m], side="right"))

    return draw


def outputs(trees: list[Tree | None], X: Array) -> Array:
    """h(x, k) of K trees, (n, K)."""
    zero = np.zeros(len(X))
    return np.stack([2.0 * _gini_tree.classes(t, X) - 1.0 if t else zero for t in trees], axis=1)


def softmax_boost(
    X: Any,
    cost: Any,
    *,
    n_estimators: int,
    step: Literal["paper", "constant"] = "paper",
    draw: Draw | None = None,
    learning_rate: float = 1.0,
    max_leaf_nodes: int = 12,
    max_depth: int | None = None,
    min_samples_leaf: int = 1,
    sample_weight: Any = None,
    categorical: Collection[int] = (),
    control: Control | None = None,
) -> SoftmaxFit:
    """Fit soft-max boosting to costs (n, K): what it costs to say k at row i.

    Without `draw` the projection is the exact one, of all pairs (i, k) with the weights
    g_ik |Delta_ik|. The paper's step is its "global learning rate" of section 5.1: the projection
    R(h) of the gradient, of the pairs drawn if they are. The constant step is (gradient, h) / |h|^2
    over the smoothness, which cannot raise the risk: 3 sqrt(3) where the paper proves 1.

    Costs are divided by the largest difference of a row, so that they are in [0, 1] but for a
    constant. A class of which no pair has weight gets no tree.
    """
    table, cost = Table(X, categorical, control), np.asarray(cost, dtype=float)
    w = np.ones(len(cost)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    share = (w / w.sum())[:, None]  # (n, 1)
    scaled = cost / (np.ptp(cost[w > 0], axis=1).max() or 1.0)
    psi, rounds, told, reason = np.zeros(cost.shape), [], [], "rounds"
    limits = (max_leaf_nodes, max_depth, min_samples_leaf)
    for m in range(n_estimators):
        g, delta = centred_cost(psi, scaled)
        p = mass = share * g  # (n, K), the probabilities of the pairs
        if draw:
            pairs = draw(m, p)
            mass = np.bincount(pairs, minlength=p.size).reshape(p.shape) / len(pairs)
        gradient = mass * delta  # (n, K)
        if not gradient.any():
            reason = "flat"
            break
        signs = np.stack([np.maximum(-gradient, 0.0), np.maximum(gradient, 0.0)], axis=2)
        trees = [  # on |gradient| and its sign, class by class
            _gini_tree.grow(table, signs[:, k], *limits, key_of_part(table.control.cut_key(m), k))
            if signs[:, k].any()
            else None
            for k in range(cost.shape[1])
        ]
        h = outputs(trees, table.X)
        rate = float((gradient * h).sum())  # R_M(h), eq. 8
        if step == "constant":
            rate = float((p * delta * h).sum() / (share * h**2).sum() / SMOOTHNESS)
        psi = psi - learning_rate * rate * h
        rounds.append((learning_rate * rate, trees))
        told.append(((share * np.exp(log_softmax(psi)) * cost).sum(), learning_rate * rate))
    history = dict(zip(HISTORY, np.reshape(told, (-1, len(HISTORY))).T, strict=True))
    return SoftmaxFit(rounds, psi, history, reason)

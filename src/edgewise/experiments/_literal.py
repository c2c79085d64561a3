"""Variants of the papers' algorithms that edgewise does not have, over scikit-learn's trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from . import _geist
from ._data import Split
from ._types import Outcome

MART_VARIANTS = ("once a round", "renewed for each class", "line search")


def mart(variant: str, data: Split, rounds: int) -> Outcome:
    """MART with trees of scikit-learn: 8 leaves, shrinkage 0.1."""
    K = int(data.y_train.max()) + 1
    truth = np.eye(K)[data.y_train]
    F, G = (np.zeros((len(X), K)) for X in (data.X_train, data.X_test))
    for _ in range(rounds):
        p, trees, residuals = softmax(F, axis=1), [], []
        for k in range(K):
            if variant == "renewed for each class":
                p = softmax(F, axis=1)
            residual = truth[:, k] - p[:, k]
            tree = DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=10, random_state=0)
            tree.fit(data.X_train, residual)
            trees.append(tree)
            residuals.append(residual)
            if variant == "renewed for each class":
                _newton(tree, residual, p[:, k], K, data, (F[:, k], G[:, k]))
        if variant == "once a round":
            for k, tree in enumerate(trees):
                _newton(tree, residuals[k], p[:, k], K, data, (F[:, k], G[:, k]))
        if variant == "line search":
            _line_search(trees, data, F, G)
    loss = -np.log(softmax(F, axis=1)[np.arange(len(F)), data.y_train]).mean()
    wrong = int(np.count_nonzero(G.argmax(axis=1) != data.y_test))
    return {"loss": float(loss), "errors": wrong, "test_rows": len(data.y_test)}


def _newton(  # noqa: PLR0913, PLR0917 - a tree and all it is added to
    tree: Any,
    residual: NDArray[Any],
    p: NDArray[Any],
    K: int,
    data: Split,
    scores: tuple[NDArray[Any], NDArray[Any]],
) -> None:
    """Add (K - 1) / K sum r / sum p (1 - p) of each leaf, times the shrinkage."""
    leaf = tree.apply(data.X_train)
    step = np.zeros(tree.tree_.node_count)
    top, bottom = (np.bincount(leaf, w, len(step)) for w in (residual, p * (1 - p)))
    np.divide(0.1 * (K - 1) / K * top, np.maximum(bottom, 1e-12), out=step)
    for X, score in zip((data.X_train, data.X_test), scores, strict=True):
        np.add(score, step[tree.apply(X)], out=score)


def _line_search(trees: list[Any], data: Split, F: NDArray[Any], G: NDArray[Any]) -> None:
    """Take a tenth of one step rho for all K trees, as Algorithm 1 does."""
    h, at_test = (
        np.column_stack([t.predict(X) for t in trees]) for X in (data.X_train, data.X_test)
    )
    rows = np.arange(len(F))

    def loss(rho: float) -> float:
        return float(-np.log(softmax(F + rho * h, axis=1)[rows, data.y_train] + 1e-300).mean())

    rho = minimize_scalar(loss, bounds=(0, 100), method="bounded").x
    F += 0.1 * rho * h
    G += 0.1 * rho * at_test


def softmax_boost(data: Split, pairs: int, rounds: int, seed: int) -> Outcome:
    """Geist's Algorithm 2 with the steps of his section 5.1; a round draws so many pairs."""
    rng, n, K = np.random.default_rng(seed), len(data.y_train), int(data.y_train.max()) + 1
    cost = 1.0 - np.eye(K)[data.y_train]
    psi, at_test = (np.zeros((len(X), K)) for X in (data.X_train, data.X_test))
    for _ in range(rounds):
        g = softmax(psi, axis=1)
        delta = cost - (g * cost).sum(axis=1, keepdims=True)
        rows, labels = np.divmod(rng.choice(n * K, size=pairs, p=(g / n).ravel()), K)
        trees = [_voter(data, rows[labels == k], delta[:, k], seed) for k in range(K)]
        h = np.column_stack([_votes(tree, data.X_train) for tree in trees])
        step = (delta * h)[rows, labels].mean()
        psi -= step * h
        at_test -= step * np.column_stack([_votes(tree, data.X_test) for tree in trees])
    wrong = int(np.count_nonzero(at_test.argmax(axis=1) != data.y_test))
    risk = float((softmax(psi, axis=1) * cost).sum(axis=1).mean())
    return {"risk": risk, "errors": wrong, "test_rows": len(data.y_test)}


def _voter(data: Split, rows: NDArray[Any], delta: NDArray[Any], seed: int) -> Any | None:
    """A tree of the drawn rows; None if there are none."""
    if len(rows) == 0:
        return None
    tree = DecisionTreeClassifier(max_leaf_nodes=_geist.LEAVES, random_state=seed)
    weights = np.abs(delta[rows])
    return tree.fit(data.X_train[rows], delta[rows] > 0, sample_weight=weights)


def _votes(tree: Any | None, X: NDArray[Any]) -> NDArray[np.float64]:
    return np.zeros(len(X)) if tree is None else np.where(tree.predict(X), 1.0, -1.0)

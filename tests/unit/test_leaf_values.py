"""Leaf values: Newton's step over all rows of the leaf, also of rows that the search left out."""

import numpy as np
import pytest
from support import table, uneven_weights

import edgewise

CLIP = 5.0


def residuals(proba, y):
    """r - p without cancellation: for the true class, the sum of the others. (n, K)"""
    r = -proba
    others = proba.copy()
    others[np.arange(len(y)), y] = 0.0
    r[np.arange(len(y)), y] = others.sum(axis=1)
    return r


def pair_hessian(r, y, a, b):
    """p_a (1 - p_a) + p_b (1 - p_b) + 2 p_a p_b, (n,)"""
    p_a = np.where(y == a, 1.0 - r[:, a], -r[:, a])
    p_b = np.where(y == b, 1.0 - r[:, b], -r[:, b])
    h = np.abs(r) * (1.0 - np.abs(r))
    return h[:, a] + h[:, b] + 2.0 * p_a * p_b


def step(G, H):
    return np.clip(G / H, -CLIP, CLIP)


def expected_values(classes, rows, r, y, w, rate, factor):
    """What a leaf of these rows must add to the scores of its classes."""
    K = r.shape[1]
    if len(classes) == 2:
        a, b = classes
        G = w[rows] @ (r[rows, a] - r[rows, b])
        v = step(G, w[rows] @ pair_hessian(r[rows], y[rows], a, b))
        return rate * np.array([v, -v])
    size = np.abs(r[rows][:, classes])
    values = step(factor * (w[rows] @ r[rows][:, classes]), w[rows] @ (size * (1.0 - size)))
    return rate * (values - values.mean() if len(classes) == K else values)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rounds", [1, 3, 40])
def test_leaf_values_are_newton_steps(make_logistic, K, weighted, rounds):
    X, y = table(0, n=300, K=K, missing=0.1, noise=0.02)
    w = uneven_weights(0, len(y)) if weighted else np.ones(len(y))
    parameters = {"n_estimators": rounds, "learning_rate": 0.4, "min_samples_leaf": 2}
    model = make_logistic(**parameters).fit(X, y, sample_weight=w if weighted else None)
    before = model.model_.first_rounds(rounds - 1).scores(X, 1)
    proba = np.exp(before - before.max(axis=1, keepdims=True))
    r = residuals(proba / proba.sum(axis=1, keepdims=True), y)
    factor = 1.0 if isinstance(model, edgewise.NewtonBoostClassifier) else (K - 1) / K
    first, last = model.model_.round_start[-2:]
    leaves = np.zeros((len(X), last - first), dtype=np.int32)
    model.model_.forest.apply(X, int(first), int(last), leaves, 1)
    for t in range(first, last):
        width, at = model.model_.width[t], model.model_.value_start[t]
        for leaf in np.unique(leaves[:, t - first]):
            place = slice(at + leaf * width, at + (leaf + 1) * width)
            rows = np.flatnonzero(leaves[:, t - first] == leaf)
            np.testing.assert_allclose(
                model.model_.values[place],
                expected_values(model.model_.classes[place], rows, r, y, w, 0.4, factor),
                rtol=1e-6,
                atol=1e-9,
            )

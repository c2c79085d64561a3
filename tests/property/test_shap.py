"""Shapley values against their definition, and what must hold for any model and any rows."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support import VARIANTS, nominal_table, table, uneven_weights

import edgewise

SEEDS = st.integers(0, 2**32 - 1)


def goes_left(model, node, x):
    value = x[model.feature[node]]
    if np.isnan(model.threshold[node]):
        s = np.count_nonzero(np.isnan(model.threshold[:node]))
        return value in model.set_values[model.set_start[s] : model.set_start[s + 1]]
    return bool(model.missing_left[node]) if np.isnan(value) else value <= model.threshold[node]


def worth(model, x, known):
    """Expected scores of a row of which only the features `known` are: (K)"""
    scores = model.start.copy()

    def walk(t, i, share):
        node = model.node_start[t] + i
        left = model.left[node]
        if model.feature[node] < 0:
            first = model.value_start[t] + left * model.width[t]
            for v in range(first, first + model.width[t]):
                scores[model.classes[v]] += share * model.values[v]
        elif model.feature[node] in known:
            walk(t, left + (not goes_left(model, node, x)), share)
        else:
            covers = model.cover[model.node_start[t] + left :][:2]
            to_left = covers[0] / covers.sum() if covers.sum() > 0 else 0.5
            walk(t, left, share * to_left)
            walk(t, left + 1, share * (1 - to_left))

    for t in range(model.n_trees):
        walk(t, 0, 1.0)
    return scores


def shapley_by_definition(model, x):
    """(d, K): the mean of what a feature adds to the worth of those that came before it."""
    d = len(x)
    phi = np.zeros((d, model.n_classes))
    worths = {s: worth(model, x, s) for r in range(d + 1) for s in combinations(range(d), r)}
    for coalition, of_it in worths.items():
        s = len(coalition)
        for j in set(range(d)) - set(coalition):
            weight = factorial(s) * factorial(d - 1 - s) / factorial(d)
            phi[j] += weight * (worths[tuple(sorted({*coalition, j}))] - of_it)
    return phi


def rows_near(X, rng, n):
    """Rows as in training, with more gaps, values never seen, and the thresholds' neighbours."""
    rows = X[rng.integers(len(X), size=n)]
    rows[rng.random(rows.shape) < 0.15] = np.nan
    rows[rng.random(rows.shape) < 0.1] = 12.5
    return rows


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS, weighted=st.booleans())
def test_values_are_those_of_the_definition(make, seed, weighted):
    X, y = nominal_table(seed, n=80, d=4, missing=0.1)
    w = uneven_weights(seed, len(X)) if weighted else None
    fitted = make(n_estimators=2, categorical_features=[0, 1]).fit(X, y, sample_weight=w)
    rows = rows_near(X, np.random.default_rng(seed), 4)
    phi = fitted.shap_values(rows)
    assert phi.shape == (4, 4, 3)
    for x, of_row in zip(rows, phi, strict=True):
        np.testing.assert_allclose(of_row, shapley_by_definition(fitted.model_, x), atol=1e-12)
    empty = worth(fitted.model_, rows[0], ())
    np.testing.assert_allclose(fitted.shap_start_, empty, atol=1e-12)


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
@settings(max_examples=3, deadline=None)
@given(seed=SEEDS, K=st.integers(2, 5), n=st.integers(1, 200))
def test_values_add_up_to_the_scores(make, seed, K, n):
    X, y = table(seed, K=K, d=7, missing=0.1)
    fitted = make(max_leaf_nodes=20, max_depth=9).fit(X, y)
    rows = rows_near(X, np.random.default_rng(seed), n)
    phi = fitted.shap_values(rows)
    scores = fitted.model_.scores(rows, 1)
    np.testing.assert_allclose(phi.sum(axis=1) + fitted.shap_start_, scores, rtol=0, atol=1e-9)


def deep_model(n=700, d=40, seed=0):
    """Trees whose paths have more features than a table has room for."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.integers(3, size=n)
    many = {"n_estimators": 2, "max_leaf_nodes": None, "min_samples_leaf": 1}
    return edgewise.LogitBoostClassifier(**many).fit(X, y), X


def test_long_paths_add_up():
    fitted, X = deep_model()
    phi = fitted.shap_values(X)
    scores = fitted.model_.scores(X, 1)
    np.testing.assert_allclose(phi.sum(axis=1) + fitted.shap_start_, scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize("sizes", [(1, 700), (8, 9, 64, 65)])
def test_a_row_has_its_values_whatever_rows_are_beside_it(sizes):
    """With few rows integrals are computed, with many they are looked up: the same bits."""
    fitted, X = deep_model()
    whole = fitted.shap_values(X)
    for n in sizes:
        assert fitted.shap_values(X[-n:]).tobytes() == whole[-n:].tobytes()


def test_threads_change_nothing():
    fitted, X = deep_model()
    alone, together = (fitted.set_params(n_jobs=n).shap_values(X) for n in (1, 3))
    assert alone.tobytes() == together.tobytes()


def test_a_feature_that_no_tree_splits_has_no_importance():
    X, y = table(0)
    X = np.column_stack([X, np.zeros(len(X))])
    fitted = VARIANTS["aoso_pair"]().fit(X, y)
    phi = fitted.shap_values(X)
    assert not phi[:, -1].any()
    assert phi[:, 0].any()


def test_features_that_are_alike_share_alike():
    """Two features that only one tree each splits, in the same way, have the same values."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    y = (X.sum(axis=1) == 2).astype(int)
    fitted = edgewise.LogitBoostClassifier(n_estimators=1, min_samples_leaf=1).fit(X, y)
    phi = fitted.shap_values([[1.0, 1.0]])[0]
    np.testing.assert_allclose(phi[0], phi[1], atol=1e-12)


def test_sparse_rows_have_the_values_of_dense_ones():
    X, y = table(2, n=150, d=6)
    X[X < 0.4] = 0.0
    fitted = VARIANTS["logitboost"]().fit(X, y)
    dense = fitted.shap_values(X)
    assert fitted.shap_values(sparse.csr_array(X)).tobytes() == dense.tobytes()

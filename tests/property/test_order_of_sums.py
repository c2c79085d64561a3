"""Where floats are added up beside the core, the order of the rows does not matter."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from support import assert_same_model, table

import edgewise
from edgewise._data.groups import _best_cut
from edgewise._ground.sums import exact_sums, ordered_product, ordered_sum
from edgewise.losses import TransitionLoss


def rough(seed, shape):
    """Numbers of many sizes, whose sum depends on the order in which they are added."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * 10.0 ** rng.integers(-8, 8, size=shape)


def test_sums_are_those_of_any_order():
    X = rough(0, (500, 3))
    order = np.random.default_rng(1).permutation(500)
    assert (X.sum(axis=0) != X[order].sum(axis=0)).any()  # what a plain sum would give
    np.testing.assert_array_equal(exact_sums(X), exact_sums(X[order]))


@pytest.mark.parametrize("n", [1, 7, 64, 301])
def test_products_of_a_row_are_those_of_the_row_alone(n):
    a, b = rough(2, (n, 13)), rough(3, (13, 13))
    whole = ordered_product(a, b)
    np.testing.assert_allclose(whole, a @ b, rtol=1e-6)
    for i in range(n):
        np.testing.assert_array_equal(ordered_product(a[i : i + 1], b)[0], whole[i])
    np.testing.assert_array_equal(ordered_product(np.asfortranarray(a), b.T.copy().T), whole)


def test_ordered_sums_are_sums():
    w, X = np.arange(1.0, 40.0), rough(4, (39, 5))
    total = np.zeros(5)
    for i in range(39):
        total += w[i] * X[i]
    np.testing.assert_array_equal(ordered_sum(w, X), total)
    np.testing.assert_array_equal(ordered_sum(w, np.asfortranarray(X)), total)


def test_the_cut_of_categories_does_not_depend_on_memory_layout():
    q, mass = np.random.default_rng(5).dirichlet(np.ones(6), size=300), np.arange(1.0, 301.0)
    one, other = _best_cut(q, mass), _best_cut(np.asfortranarray(q), mass)
    assert one[:3] == other[:3]


@pytest.mark.parametrize("seed", range(8))
def test_soft_labels_with_balanced_classes(seed):
    rng = np.random.default_rng(seed)
    X, _ = table(seed, n=97, K=3)
    soft = rng.dirichlet(np.ones(3), size=97)
    order = rng.permutation(97)
    make = {"n_estimators": 3, "class_weight": "balanced", "min_samples_leaf": 2}
    one = edgewise.MARTClassifier(**make).fit(X, soft)
    other = edgewise.MARTClassifier(**make).fit(X[order], soft[order])
    assert_same_model(one.model_, other.model_)


@pytest.mark.parametrize("K", [2, 10, 13, 20])
def test_transition_loss(K):
    """BLAS treats the last rows of a matrix differently from the others."""
    rng = np.random.default_rng(K)
    X, y = table(K, n=403, K=K)
    noise = 0.5 * np.eye(K) + 0.5 * rng.dirichlet(np.ones(K), size=K)
    order = rng.permutation(len(y))
    make = {"loss": TransitionLoss(noise), "n_estimators": 8, "min_samples_leaf": 1}
    one = edgewise.NewtonBoostClassifier(**make).fit(X, y)
    other = edgewise.NewtonBoostClassifier(**make).fit(X[order], y[order])
    assert_same_model(one.model_, other.model_)
    np.testing.assert_array_equal(one.history_["loss"], other.history_["loss"])


@pytest.mark.parametrize("seed", range(6))
def test_the_history_of_martiboost(seed):
    rng = np.random.default_rng(seed)
    X, y = table(seed, n=301, K=2)
    w, order = rng.uniform(0.1, 3.0, size=301), rng.permutation(301)
    one, other = (
        edgewise.MartiBoostClassifier(n_layers=8).fit(X[rows], y[rows], sample_weight=w[rows])
        for rows in (slice(None), order)
    )
    np.testing.assert_array_equal(one.history_["frozen"], other.history_["frozen"])


@pytest.mark.parametrize("K", [2, 3])
def test_scores_of_a_truth_table_are_those_of_the_row_alone(K):
    X, y = table(K, n=203, K=K, noise=0.6)
    trees = [DecisionTreeClassifier(max_depth=2, max_features=1, random_state=s) for s in range(15)]
    named = [(f"tree{s}", tree) for s, tree in enumerate(trees)]
    vote = edgewise.TruthTableClassifier(named, cv=3).fit(X, y)
    whole = vote.decision_function(X)
    for i in range(len(X)):
        np.testing.assert_array_equal(vote.decision_function(X[i : i + 1])[0], whole[i])


@pytest.mark.parametrize("scoring", ["loss", "neg_log_loss"])
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_validation_rows(scoring, seed):
    """The figures of a fit are the same, bit for bit, and so is the round that is kept."""
    X, y = table(seed, n=240, K=3)
    order = np.random.default_rng(seed).permutation(120)
    validation = X[120:], y[120:]
    make = {"n_estimators": 12, "n_iter_no_change": 3, "scoring": scoring, "min_samples_leaf": 3}
    one, other = (
        edgewise.LogitBoostClassifier(**make).fit(
            X[:120], y[:120], X_val=validation[0][rows], y_val=validation[1][rows]
        )
        for rows in (slice(None), order)
    )
    assert_same_model(one.model_, other.model_)
    for name in ("loss", "validation_score"):
        np.testing.assert_array_equal(other.history_[name], one.history_[name], err_msg=name)

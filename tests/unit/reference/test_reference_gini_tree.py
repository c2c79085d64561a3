"""The reference's Gini tree: against brute force, against scikit-learn, and by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from support import table, uneven_weights

from edgewise.reference import _gini_tree


def stats_of(y, w=None, K=None):
    """Y_stats (n, K) of labels and weights."""
    y = np.asarray(y)
    w = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    return np.eye(K or y.max() + 1)[y] * w[:, None]


def grown(x, y, max_leaf_nodes=2, w=None, **limits):
    X = np.asarray(x, dtype=float).reshape(len(y), -1)
    return X, _gini_tree.grow(X, stats_of(y, w), max_leaf_nodes, **limits)


def impurity_of(stats):
    """The weight of a side times its Gini impurity sum_c p_c (1 - p_c)."""
    P = stats.sum(axis=0)
    p = P / P.sum()
    return P.sum() * (p * (1 - p)).sum()


def brute_force_gain(X, stats, min_samples_leaf):
    """The largest decrease of impurity over every way to part the rows by one value."""
    rows = stats.any(axis=1)
    X, stats = X[rows], stats[rows]
    gains = [0.0]
    for x in X.T:
        for value in np.unique(x[~np.isnan(x)]):
            for missing_left in (False, True):
                left = np.where(np.isnan(x), missing_left, x <= value)
                if min(left.sum(), (~left).sum()) >= min_samples_leaf:
                    sides = impurity_of(stats[left]) + impurity_of(stats[~left])
                    gains.append(impurity_of(stats) - sides)
    return max(gains)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 16),
    K=st.integers(2, 4),
    missing=st.sampled_from([0.0, 0.3]),
    zeros=st.sampled_from([0.0, 0.3]),
    min_samples_leaf=st.integers(1, 3),
)
def test_first_split_has_the_gain_of_brute_force(seed, n, K, missing, zeros, min_samples_leaf):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, size=(n, 2)).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    w = rng.integers(1, 9, size=n) * (rng.random(n) >= zeros)
    stats = stats_of(rng.integers(K, size=n), w, K)
    split = _gini_tree.grow(X, stats, 2, min_samples_leaf=min_samples_leaf).nodes[0].split
    expected = brute_force_gain(X, stats, min_samples_leaf) if stats.any() else 0.0
    assert (split.gain if split else 0.0) == pytest.approx(expected, abs=1e-9)


def leaves_of(tree):
    """The rows of each leaf, in an order that does not depend on the tree."""
    return sorted(tuple(node.rows) for node in tree.nodes if not node.split)


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 12])
@pytest.mark.parametrize("K", [2, 5])
def test_tree_is_that_of_scikit_learn(seed, K, max_leaf_nodes):
    # Continuous values and uneven weights: nothing ties. scikit-learn keeps values in float32, and
    # it parts some pure nodes because of rounding, but not before the gains are as small.
    X, y = table(seed, n=90, K=K)
    X, w = X.astype(np.float32).astype(float), uneven_weights(seed, 90)
    tree = _gini_tree.grow(X, stats_of(y, w), max_leaf_nodes)
    theirs = DecisionTreeClassifier(max_leaf_nodes=max_leaf_nodes, random_state=0)
    at = theirs.fit(X, y, sample_weight=w).apply(X)
    assert leaves_of(tree) == sorted(tuple(np.flatnonzero(at == leaf)) for leaf in np.unique(at))
    np.testing.assert_array_equal(_gini_tree.classes(tree, X), theirs.predict(X))


@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"min_samples_leaf": 6}], ids=str)
def test_limits_are_those_of_scikit_learn(seed, limits):
    X, y = table(seed + 10, n=90, K=3)
    X, w = X.astype(np.float32).astype(float), uneven_weights(seed, 90)
    tree = _gini_tree.grow(X, stats_of(y, w), 30, **limits)
    theirs = DecisionTreeClassifier(max_leaf_nodes=30, random_state=0, **limits)
    theirs.fit(X, y, sample_weight=w)
    assert len(leaves_of(tree)) == theirs.get_n_leaves()
    np.testing.assert_array_equal(_gini_tree.classes(tree, X), theirs.predict(X))


def test_gain_by_hand():
    # Weights: class 0 has 2 and 1, class 1 has 1 and 4, cut between the pairs.
    _, tree = grown([0, 0, 1, 1], [0, 1, 0, 1], w=[2, 1, 1, 4])
    split = tree.nodes[0].split
    assert split.threshold == 0.5
    assert split.gain == pytest.approx((4 + 1) / 3 + (1 + 16) / 5 - (9 + 25) / 8, rel=1e-12)
    np.testing.assert_allclose([tree.nodes[i].value for i in (1, 2)], [[2, 1], [1, 4]])


def test_leaf_of_the_largest_gain_is_split_first():
    # After 3.5 the right half (1, 1, 2, 2) has more to gain than the left (0, 0, 0, 1).
    _, tree = grown(range(8), [0, 0, 0, 1, 1, 1, 2, 2], 3)
    thresholds = [node.split.threshold if node.split else None for node in tree.nodes]
    assert thresholds == [2.5, None, 5.5, None, None]


def test_ties_go_to_the_lowest_feature_then_missing_right_then_the_lowest_cut():
    x = [0, 1, 2, 3]
    assert grown(np.transpose([x, x]), [0, 0, 1, 1])[1].nodes[0].split.feature == 0
    assert grown(x, [1, 0, 0, 1])[1].nodes[0].split.threshold == 0.5
    split = grown([0, 1, 2, np.nan], [0, 1, 0, 0])[1].nodes[0].split
    assert (split.threshold, split.missing_left) == (1.5, False)


def test_missing_values_follow_the_larger_child_where_none_were_seen():
    assert grown([0, 1, 1], [0, 1, 1])[1].nodes[0].split.missing_left is False
    assert grown([0, 0, 1], [0, 0, 1])[1].nodes[0].split.missing_left is True


def test_equal_weights_tie_exactly_and_the_lowest_class_wins():
    # 0.1 three times is not 0.3 in floating point, but the sums of the tree are exact.
    X, tree = grown([0] * 6, [1, 0, 1, 0, 1, 0], w=[0.1] * 6)
    assert len(tree.nodes) == 1
    np.testing.assert_array_equal(_gini_tree.classes(tree, X), 0)


def test_rows_without_weight_take_no_part(seed):
    X, y = table(seed + 20, n=80, K=3, levels=9, missing=0.1)
    w = uneven_weights(seed, 80) * (np.arange(80) % 3 > 0)
    kept = w > 0
    tree = _gini_tree.grow(X, stats_of(y, w), 8, min_samples_leaf=4)
    alone = _gini_tree.grow(X[kept], stats_of(y[kept], w[kept]), 8, min_samples_leaf=4)
    np.testing.assert_array_equal(
        _gini_tree.classes(tree, X[kept]), _gini_tree.classes(alone, X[kept])
    )
    assert min(len(node.rows) for node in tree.nodes) >= 4


def test_no_split_of_a_pure_node_nor_without_weights():
    assert len(grown([0, 1, 2], [1, 1, 1], 4)[1].nodes) == 1
    X, tree = grown([0, 1], [0, 1], w=[0, 0])
    np.testing.assert_array_equal(tree.predict(X), np.zeros((2, 2)))

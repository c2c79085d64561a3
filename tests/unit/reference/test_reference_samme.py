"""SAMME of the reference: scikit-learn's AdaBoostClassifier, the first rounds by hand, its ends."""

from math import log

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from support import table, uneven_weights

from edgewise.reference import _gini_tree, samme


def continuous(seed, n=90, K=3):
    """A table without ties, in float32 as scikit-learn's trees keep it."""
    X, y = table(seed, n=n, K=K)
    return X.astype(np.float32).astype(float), y


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("learning_rate", [1.0, 0.4])
def test_predictions_are_those_of_scikit_learn(seed, K, learning_rate):
    X, y = continuous(seed, K=K)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 15, "learning_rate": learning_rate}
    leaves = 3 * (K - 1)
    ours = samme(X, y, max_leaf_nodes=leaves, sample_weight=w, **options)
    tree = DecisionTreeClassifier(max_leaf_nodes=leaves)
    theirs = AdaBoostClassifier(tree, random_state=0, **options).fit(X, y, sample_weight=w)
    rounds = len(theirs.estimators_)
    assert len(ours.rounds) == rounds
    np.testing.assert_allclose(ours.history["error"], theirs.estimator_errors_[:rounds])
    np.testing.assert_allclose(ours.history["alpha"], theirs.estimator_weights_[:rounds])
    np.testing.assert_array_equal(ours.scores.argmax(axis=1), theirs.predict(X))


def test_weights_have_the_floor_of_scikit_learn():
    # The first stump gets the middle row wrong and its weight becomes 2^100 times that of the
    # others, which stay at the floor; the second gets those wrong.
    fit = samme(
        [[0.0], [1.0], [2.0]], [0, 1, 0], n_estimators=2, max_leaf_nodes=2, learning_rate=100
    )
    np.testing.assert_allclose(fit.history["error"], [1 / 3, 2 * np.finfo(float).eps])


def test_two_rounds_by_hand():
    # Two leaves, three classes: the first tree gets the row of class 2 wrong, then its weight is
    # three times that of the others together and the second tree has to get it right.
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 2])
    fit = samme(X, y, n_estimators=2, max_leaf_nodes=2)
    alphas = [log(3) + log(2), None]
    w = np.array([1, 1, 1, 6]) / 9
    second = fit.rounds[1][1]
    wrong = _gini_tree.classes(second, X) != y
    assert not wrong[3]
    alphas[1] = log((1 - w @ wrong) / (w @ wrong)) + log(2)
    np.testing.assert_allclose(fit.history["alpha"], alphas)
    np.testing.assert_allclose(fit.history["error"], [1 / 4, w @ wrong])
    first = np.array([0, 0, 1, 1])
    expected = alphas[0] * np.eye(3)[first] + alphas[1] * np.eye(3)[_gini_tree.classes(second, X)]
    np.testing.assert_allclose(fit.scores, expected)


def test_tree_without_error_ends_the_fit_with_weight_one():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    fit = samme(X, y, n_estimators=5, max_leaf_nodes=3)
    assert fit.stop_reason == "no error"
    np.testing.assert_array_equal(fit.history["alpha"], [1.0])
    np.testing.assert_array_equal(fit.scores, np.eye(3)[y])


def test_tree_no_better_than_chance_is_dropped():
    X, y = np.zeros((6, 1)), np.array([0, 0, 1, 1, 2, 2])
    fit = samme(X, y, n_estimators=5)
    assert fit.stop_reason == "no better than chance"
    assert fit.rounds == []
    np.testing.assert_array_equal(fit.decision_function(X), np.zeros((6, 3)))
    # One class in the majority: the first tree is kept; it balances the weights for the second.
    fit = samme(X, np.array([0, 0, 0, 0, 1, 1]), n_estimators=5)
    assert fit.stop_reason == "no better than chance"
    np.testing.assert_allclose(fit.history["error"], [1 / 3])


def test_scores_are_those_of_the_decision_function(seed):
    X, y = table(seed, n=80, K=4, missing=0.15)
    fit = samme(X, y, n_estimators=6, max_leaf_nodes=5)
    np.testing.assert_array_equal(fit.decision_function(X), fit.scores)
    assert fit.stop_reason == "rounds"


def test_weight_is_repetition(seed):
    X, y = table(seed, n=40, K=3, missing=0.1)
    times = np.random.default_rng(seed).integers(0, 4, size=len(y))
    times[:3] = 1
    w = uneven_weights(seed, len(y))  # so that no two splits tie by coincidence
    options = {"n_estimators": 5, "max_leaf_nodes": 4}
    weighted = samme(X, y, sample_weight=times * w, **options)
    again = np.repeat(np.arange(len(y)), times)
    repeated = samme(X[again], y[again], sample_weight=w[again], **options)
    np.testing.assert_allclose(repeated.scores, weighted.scores[again])


def test_limits_reach_the_tree():
    X, y = table(9, n=80, K=3)
    for _, tree in samme(X, y, n_estimators=3, max_depth=2, min_samples_leaf=7).rounds:
        assert max(node.depth for node in tree.nodes) == 2
        assert min(len(node.rows) for node in tree.nodes) >= 7

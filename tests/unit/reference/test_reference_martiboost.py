"""MartiBoost of the reference: its two-sided learners, its walk, and the noisy toy problem."""

import numpy as np
import pytest
from support import table, uneven_weights

from edgewise.experiments.softmax_toy import BITS, FIRST, noisy_bits
from edgewise.reference import _gini_tree, martiboost
from edgewise.reference._tree import Table
from edgewise.reference.martiboost import Walk, train_node


def binary(seed, n=60, noise=0.3):
    return table(seed, n=n, K=2, missing=0.1, noise=noise)


def uniforms(seed, layers, n):
    return np.random.default_rng([seed, layers]).random((layers, n))


class TestNode:
    def test_learner_is_two_sided(self, seed):
        # On the balanced rows it says 1 half of the time, and of each class it gets more than half.
        X, y = binary(seed)
        w = uneven_weights(seed, len(y))
        node = train_node(Table(X), y, w, (2, None, 1), 0.5)
        q = node.probability(X)
        of_class = [np.average(q[y == c], weights=w[y == c]) for c in (0, 1)]
        assert np.mean(of_class) == pytest.approx(0.5)
        assert of_class[1] > 0.5 > of_class[0]

    @pytest.mark.parametrize(("said", "right"), [(0.8, (0.0, 0.625)), (0.3, (2 / 7, 1.0))])
    def test_randomised_answers_by_hand(self, said, right):
        # A feature that is 1 in a share `said` of both classes, but for a little: the tree says 1
        # where it is 1, so its answer 1 comes with probability `said`.
        X = np.array([[0.0], [1.0], [0.0], [1.0]])
        y = np.array([0, 0, 1, 1])
        w = np.array([1 - said + 0.05, said - 0.05, 1 - said - 0.05, said + 0.05])
        node = train_node(Table(X), y, w, (2, None, 1), 0.5)
        np.testing.assert_allclose(node.right, right)

    def test_node_without_a_split_tosses_a_coin(self):
        node = train_node(Table(np.zeros((4, 1))), np.array([0, 0, 0, 1]), np.ones(4), (2,), 0.5)
        np.testing.assert_allclose(node.probability(np.zeros((2, 1))), 0.5)

    @pytest.mark.parametrize(("w", "label"), [([1, 1, 0], 0.0), ([0, 0, 1], 1.0), ([0, 0, 0], 0.5)])
    def test_node_that_misses_a_class_is_frozen(self, w, label):
        table = Table(np.arange(3.0)[:, None])
        node = train_node(table, np.array([0, 0, 1]), np.array(w), (2,), 0.5)
        assert node.tree is None
        np.testing.assert_array_equal(node.right, [label, label])


class TestWalk:
    def test_shares_of_a_row_are_kept(self, seed):
        X, y = binary(seed)
        fit = martiboost(X, y, n_layers=6)
        walk = Walk(len(X))
        for nodes in fit.layers:
            frozen = walk.mass @ [node.tree is None for node in nodes]
            before = walk.mass.sum(axis=1)
            walk.step(X, nodes, None)
            np.testing.assert_allclose(walk.mass.sum(axis=1), before - frozen, atol=1e-12)
        np.testing.assert_array_equal(walk.end(), fit.scores)

    def test_random_walk_has_the_expected_end(self):
        X, y = binary(3)
        fit = martiboost(X, y, n_layers=5, uniforms=uniforms(3, 5, len(y)))
        many = [fit.predict_proba(X[:10], uniforms(i, 5, 10)) for i in range(400)]
        np.testing.assert_allclose(np.mean(many, axis=0), fit.predict_proba(X[:10]), atol=0.08)

    @pytest.mark.parametrize("random", [False, True])
    def test_training_rows_end_where_they_were_routed(self, seed, random):
        X, y = binary(seed)
        u = uniforms(seed, 7, len(y)) if random else None
        fit = martiboost(X, y, n_layers=7, uniforms=u)
        np.testing.assert_allclose(fit.predict_proba(X, u), fit.scores, atol=1e-12)
        if random:
            assert set(fit.scores) <= {0.0, 0.5, 1.0}

    def test_first_two_layers_by_hand(self, seed):
        X, y = binary(seed)
        fit = martiboost(X, y, n_layers=2)
        assert [len(nodes) for nodes in fit.layers] == [1, 2]
        q = fit.layers[0][0].probability(X)
        for i, mass in enumerate((1 - q, q)):
            stats = np.eye(2)[y] * mass[:, None]
            tree = _gini_tree.grow(X, stats / (2 * stats.sum(axis=0)), 2)
            np.testing.assert_array_equal(
                _gini_tree.classes(tree, X), _gini_tree.classes(fit.layers[1][i].tree, X)
            )
        after = [node.probability(X) for node in fit.layers[1]]
        # Right twice is class 1, once is undecided.
        expected = q * after[1] + 0.5 * (q * (1 - after[1]) + (1 - q) * after[0])
        np.testing.assert_allclose(fit.scores, expected)


def test_separable_data_are_learnt(seed):
    X, y = binary(seed, noise=0.0)
    X = np.nan_to_num(X)
    y = (X[:, 0] + 0.5 * X[:, 3] > 0).astype(int)
    scores = martiboost(X, y, n_layers=25).scores
    assert np.mean((scores > 0.5) == y) > 0.95


def test_classes_may_be_exchanged(seed):
    X, y = binary(seed, n=50)
    w = uneven_weights(seed, 50)
    here, there = (
        martiboost(X, labels, n_layers=6, sample_weight=w).scores for labels in (y, 1 - y)
    )
    np.testing.assert_allclose(here, 1 - there, atol=1e-9)


def test_weight_is_repetition(seed):
    X, y = binary(seed, n=30)
    times = np.random.default_rng(seed).integers(1, 4, size=30)
    weighted = martiboost(X, y, n_layers=5, sample_weight=times)
    repeated = martiboost(np.repeat(X, times, axis=0), np.repeat(y, times), n_layers=5)
    np.testing.assert_allclose(repeated.scores, np.repeat(weighted.scores, times), atol=1e-9)


class TestToyProblem:
    def test_kinds_of_rows(self):
        X, y = noisy_bits(np.random.default_rng(0), 400)
        right = np.equal(X, y[:, None])
        assert right[:100].all()
        assert right[100:200, :FIRST].all()
        assert not right[100:200, FIRST:].any()
        np.testing.assert_array_equal(right[200:, :FIRST].sum(axis=1), 5)
        np.testing.assert_array_equal(right[200:, FIRST:].sum(axis=1), 6)
        assert len(np.unique(right[200:], axis=0)) > 150
        np.testing.assert_array_equal(X.sum(axis=1) > BITS / 2, y)  # the majority is the label

    def test_noise(self):
        clean, noisy = (noisy_bits(np.random.default_rng(1), 4000, p) for p in (0.0, 0.2))
        np.testing.assert_array_equal(clean[0], noisy[0])
        assert np.mean(clean[1] != noisy[1]) == pytest.approx(0.2, abs=0.03)

    def test_error_stays_below_the_noise(self):
        rng = np.random.default_rng(2)
        X, y = noisy_bits(rng, 800, noise=0.3)
        X_test, y_test = noisy_bits(rng, 500)
        fit = martiboost(X, y, n_layers=20)
        assert np.mean((fit.predict_proba(X_test) > 0.5) != y_test) < 0.3

"""Soft-max boosting of the reference: its gradient, its guarantee, and its projection."""

import numpy as np
import pytest
from support import table, uneven_weights

from edgewise.reference import _gini_tree, softmax_boost
from edgewise.reference.softmax_boost import SMOOTHNESS, centred_cost, outputs, pairs_by_uniforms

STEP = 1e-5


def softmax(psi):
    e = np.exp(psi - psi.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def risk(psi, cost):
    return (softmax(psi) * cost).sum(axis=-1)


def some_costs(seed, n=40, K=3):
    """X, and costs in [0, 1] that differ from row to row."""
    X, y = table(seed, n=n, K=K, missing=0.1)
    cost = np.random.default_rng(seed).random((n, K))
    cost[np.arange(n), y] = 0.0
    return X, cost


@pytest.mark.parametrize("K", [2, 3, 5])
def test_gradient_is_that_of_finite_differences(seed, K):
    rng = np.random.default_rng([seed, K])
    psi, cost = rng.normal(size=(8, K)), rng.random((8, K))
    g, delta = centred_cost(psi, cost)
    for k, e in enumerate(np.eye(K)):
        slope = (risk(psi + STEP * e, cost) - risk(psi - STEP * e, cost)) / (2 * STEP)
        np.testing.assert_allclose((g * delta)[:, k], slope, atol=1e-9)
    np.testing.assert_allclose((g * delta).sum(axis=1), 0.0, atol=1e-15)


def test_gradient_of_the_binary_loss():
    # With eta = P(true label): -eta (1 - eta) for it and eta eta_k for label k.
    psi = np.array([[0.3, -0.4, 1.0]])
    g, delta = centred_cost(psi, np.array([[1.0, 0.0, 1.0]]))
    eta = g[0, 1]
    np.testing.assert_allclose(g * delta, [[eta * g[0, 0], -eta * (1 - eta), eta * g[0, 2]]])


def curvature(psi, cost):
    """The largest absolute eigenvalue of the Hessian of g(psi) . cost."""
    g, delta = centred_cost(psi[None], cost[None])
    f, gradient = g[0], (g * delta)[0]
    hessian = np.diag(gradient) - np.outer(f, gradient) - np.outer(gradient, f)
    return np.abs(np.linalg.eigvalsh(hessian)).max()


@pytest.mark.parametrize("K", [2, 3, 6])
def test_smoothness_is_one_over_three_roots_of_three(K):
    rng = np.random.default_rng(K)
    found = [curvature(rng.normal(size=K) * 2, rng.integers(2, size=K)) for _ in range(1000)]
    assert max(found) <= SMOOTHNESS + 1e-12
    # Two labels, one of them free: the second derivative of the logistic function, at its largest.
    psi = np.full(K, -40.0)
    psi[:2] = [np.log(2 + np.sqrt(3)), 0.0]
    assert curvature(psi, np.eye(K)[0]) == pytest.approx(SMOOTHNESS)


@pytest.mark.parametrize("draws", [0, 20])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_constant_step_never_raises_the_risk(seed, draws, scale):
    X, cost = some_costs(seed)
    draw = pairs_by_uniforms(np.random.default_rng(seed).random((20, draws))) if draws else None
    fit = softmax_boost(X, scale * cost, n_estimators=20, step="constant", draw=draw)
    start = scale * cost.mean(axis=1).mean()
    assert (np.diff([start, *fit.history["risk"]]) <= 1e-12).all()


def test_constant_step_goes_down_as_far_as_smoothness_promises(seed):
    # R falls by at least (gradient, h)^2 / (2 L |h|^2): half the step times the slope.
    X, cost = some_costs(seed)
    fit = softmax_boost(X, cost, n_estimators=15, step="constant")
    psi, before = np.zeros(cost.shape), cost.mean(axis=1).mean()
    for (step, trees), after in zip(fit.rounds, fit.history["risk"], strict=True):
        h = outputs(trees, X)
        g, delta = centred_cost(psi, cost)
        slope = (g * delta * h).sum(axis=1).mean()
        scaled = slope / np.ptp(cost, axis=1).max()
        assert step == pytest.approx(scaled / 3 * 3 * np.sqrt(3))  # |h|^2 = K = 3
        assert before - after >= 0.5 * step * slope - 1e-12
        psi, before = psi - step * h, after


def test_first_round_by_hand(seed):
    X, y = table(seed, n=50, K=4)
    cost = 1 - np.eye(4)[y]
    w = uneven_weights(seed, 50)
    fit = softmax_boost(X, cost, n_estimators=1, max_leaf_nodes=3, sample_weight=w)
    share = w / w.sum()
    # At first g = 1/4 and the average cost is 3/4: the true label is cheaper by 3/4, the others
    # dearer by 1/4.
    h = np.empty((50, 4))
    for k in range(4):
        stats = np.stack([share * (y == k) * 3 / 16, share * (y != k) * 1 / 16], axis=1)
        h[:, k] = 2 * _gini_tree.classes(_gini_tree.grow(X, stats, 3), X) - 1
    gradient = share[:, None] * np.where(np.eye(4)[y] == 1, -3 / 16, 1 / 16)
    rate = (gradient * h).sum()
    np.testing.assert_allclose(fit.scores, -rate * h)
    assert fit.history["risk"][0] == pytest.approx(share @ risk(-rate * h, cost))


def test_drawn_pairs_are_found_in_the_cumulated_probabilities():
    p = np.array([[0.1, 0.2], [0.0, 0.3], [0.4, 0.0]])
    draw = pairs_by_uniforms(np.array([[0.0, 0.05, 0.1, 0.299, 0.31, 0.59, 0.61, 0.999]]))
    np.testing.assert_array_equal(draw(0, p), [0, 0, 1, 1, 3, 3, 4, 4])


def test_drawn_round_by_hand():
    X, y = table(3, n=30, K=3)
    cost, M = 1 - np.eye(3)[y], 25
    u = np.random.default_rng(3).random((1, M))
    fit = softmax_boost(X, cost, n_estimators=1, draw=pairs_by_uniforms(u), max_leaf_nodes=4)
    rows, labels = np.divmod((u[0] * 90).astype(int), 3)  # all pairs are equally likely
    delta = np.where(y[rows] == labels, -2 / 3, 1 / 3)
    h = np.zeros((30, 3))
    for k in range(3):
        stats = np.zeros((30, 2))
        mine = labels == k
        np.add.at(stats, (rows[mine], (delta[mine] > 0).astype(int)), np.abs(delta[mine]))
        h[:, k] = 2 * _gini_tree.classes(_gini_tree.grow(X, stats, 4), X) - 1
    rate = (delta * h[rows, labels]).mean()  # R_M of eq. 8
    assert fit.history["step"][0] == pytest.approx(rate)
    np.testing.assert_allclose(fit.scores, -rate * h)


def test_all_pairs_drawn_alike_are_the_exact_projection(seed):
    X, cost = some_costs(seed)
    exact = softmax_boost(X, cost, n_estimators=1)
    drawn = softmax_boost(X, cost, n_estimators=1, draw=lambda m, p: np.arange(p.size))
    np.testing.assert_allclose(drawn.scores, exact.scores)


def test_class_without_a_pair_has_no_tree():
    X, y = table(4, n=30, K=3)
    fit = softmax_boost(X, 1 - np.eye(3)[y], n_estimators=2, draw=lambda m, p: np.arange(0, 90, 3))
    assert [tree is None for tree in fit.rounds[0][1]] == [False, True, True]
    np.testing.assert_array_equal(fit.scores[:, 1:], 0.0)
    np.testing.assert_array_equal(fit.decision_function(X), fit.scores)


@pytest.mark.parametrize("step", ["paper", "constant"])
def test_only_differences_of_costs_matter_and_not_their_unit(seed, step):
    X, cost = some_costs(seed)
    options = {"n_estimators": 5, "step": step, "max_leaf_nodes": 4}
    here = softmax_boost(X, cost, **options)
    there = softmax_boost(X, 7.0 * cost + np.arange(len(cost))[:, None], **options)
    np.testing.assert_allclose(there.scores, here.scores, atol=1e-9)


@pytest.mark.parametrize("step", ["paper", "constant"])
def test_risk_falls_to_nothing_on_separable_data(step):
    X = np.arange(30.0)[:, None]
    y = np.arange(30) // 10
    fit = softmax_boost(X, 1 - np.eye(3)[y], n_estimators=60, step=step, max_leaf_nodes=4)
    assert fit.history["risk"][-1] < 0.05
    np.testing.assert_array_equal(fit.scores.argmax(axis=1), y)


def test_several_right_labels():
    # Labels 0 and 1 are both free on the left: the rule may share its probability among them.
    X = np.arange(20.0)[:, None]
    cost = np.where(X < 10, [[0, 0, 1]], [[1, 1, 0]])
    fit = softmax_boost(X, cost, n_estimators=60)
    assert fit.history["risk"][-1] < 0.05
    np.testing.assert_array_equal(fit.scores[:, 0], fit.scores[:, 1])


def test_equal_costs_end_the_fit():
    fit = softmax_boost(np.zeros((4, 1)), np.ones((4, 3)), n_estimators=3)
    assert fit.stop_reason == "flat"
    assert fit.rounds == []


def test_weight_is_repetition(seed):
    X, cost = some_costs(seed, n=30)
    times = np.random.default_rng(seed).integers(0, 4, size=30)
    options = {"n_estimators": 4, "max_leaf_nodes": 4}
    weighted = softmax_boost(X, cost, sample_weight=times, **options)
    repeated = softmax_boost(np.repeat(X, times, axis=0), np.repeat(cost, times, axis=0), **options)
    np.testing.assert_allclose(repeated.scores, np.repeat(weighted.scores, times, axis=0))

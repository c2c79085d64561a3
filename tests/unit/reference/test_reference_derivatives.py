"""The derivative formulas of every algorithm against finite differences of the loss."""

import numpy as np
import pytest

from edgewise.reference._fit import class_losses, log_softmax, prepare
from edgewise.reference._tree import LEAF_CLIP, Grower, newton_step
from edgewise.reference.abc_logitboost import derivatives as abc_logitboost_derivatives
from edgewise.reference.abc_mart import derivatives as abc_mart_derivatives
from edgewise.reference.aoso_logitboost import derivatives as aoso_derivatives
from edgewise.reference.aoso_logitboost import node_pair
from edgewise.reference.logitboost import derivatives as logitboost_derivatives
from edgewise.reference.mart import derivatives as mart_derivatives

STEP = 1e-4


def row_losses(F, y):
    return np.log(np.exp(F).sum(axis=1)) - F[np.arange(len(y)), y]  # (n,)


def slope_and_curvature(F, y, direction):
    """First and second derivative of each row's loss along a direction (K,), (n,) each."""
    before, here, after = (row_losses(F + s * direction, y) for s in (-STEP, 0.0, STEP))
    return (after - before) / (2 * STEP), (after - 2 * here + before) / STEP**2


@pytest.fixture(params=[2, 3, 5])
def state(request):
    """Scores (n, K) that sum to zero, labels (n,), indicators and probabilities (n, K)."""
    K = request.param
    rng = np.random.default_rng(K)
    F = rng.normal(size=(12, K))
    F -= F.mean(axis=1, keepdims=True)
    y = rng.integers(K, size=12)
    return F, y, np.eye(K)[y], np.exp(log_softmax(F))


@pytest.mark.parametrize("derivatives", [mart_derivatives, logitboost_derivatives])
def test_derivatives_of_one_class(derivatives, state):
    F, y, r, p = state
    for k, e_k in enumerate(np.eye(F.shape[1])):
        g, h = derivatives(r, p, k)
        slope, curvature = slope_and_curvature(F, y, e_k)
        np.testing.assert_allclose(g, -slope, atol=1e-7)
        np.testing.assert_allclose(h, curvature, atol=1e-6)


@pytest.mark.parametrize(
    "derivatives", [abc_mart_derivatives, abc_logitboost_derivatives, aoso_derivatives]
)
def test_derivatives_of_a_pair_keep_the_sum_of_the_scores(derivatives, state):
    F, y, r, p = state
    e = np.eye(F.shape[1])
    for k in range(len(e)):
        for b in set(range(len(e))) - {k}:
            g, h = derivatives(r, p, k, b)
            slope, curvature = slope_and_curvature(F, y, e[k] - e[b])
            np.testing.assert_allclose(g, -slope, atol=1e-7)
            np.testing.assert_allclose(h, curvature, atol=1e-6)


def test_class_losses_sum_to_the_loss(state):
    F, y, r, _ = state
    w = np.arange(1.0, len(y) + 1)
    losses = class_losses(F, r, w)
    np.testing.assert_allclose(losses.sum(), w @ row_losses(F, y))
    np.testing.assert_allclose(losses[0], (w * row_losses(F, y))[y == 0].sum())


def test_class_losses_stay_finite_for_extreme_scores():
    assert (
        class_losses(np.array([[1000.0, -1000.0]]), np.array([[0.0, 1.0]]), np.ones(1)).sum()
        == 2000
    )


@pytest.mark.parametrize("seed", range(20))
def test_node_pair_maximises_the_newton_gain(state, seed):
    F, y, r, p = state
    rng = np.random.default_rng(seed)
    rows, w = np.flatnonzero(rng.random(len(y)) < 0.6), rng.uniform(0.5, 2.0, size=len(y))
    up, down = node_pair(Grower(np.zeros((len(y), 1)), w, 2, 1), r, p, rows)
    assert up == np.argmax(w[rows] @ (r - p)[rows])

    def gain(k):
        g, h = aoso_derivatives(r[rows], p[rows], up, k)
        return (w[rows] @ g) ** 2 / (w[rows] @ h)

    assert down == max(set(range(F.shape[1])) - {up}, key=gain)


@pytest.mark.parametrize(
    ("counts", "pair"), [([1, 4, 6], (2, 1)), ([1, 4, 4], (1, 2)), ([3, 3, 3], (0, 1))]
)
def test_node_pair_is_the_least_certain_where_all_slopes_vanish(counts, pair):
    y = np.repeat([0, 1, 2], counts)
    X, r, w, start = prepare(np.zeros((len(y), 1)), y, None, "prior")
    p = np.exp(log_softmax(np.tile(start, (len(y), 1))))
    assert node_pair(Grower(X, w, 2, 1), r, p, np.arange(len(y))) == pair


def test_equal_slopes_pair_the_lowest_classes():
    r = np.eye(4)[[1, 2, 1, 2, 0, 3]]
    rows = np.arange(4)  # classes 1 and 2 rise alike, 0 and 3 fall alike
    assert node_pair(Grower(np.zeros((6, 1)), np.ones(6), 2, 1), r, r * 0 + 0.25, rows) == (1, 0)


def test_starting_scores():
    _, r, w, prior = prepare([[0.0]] * 4, [0, 1, 1, 2], [1, 1, 2, 4], "prior")
    assert r.shape == (4, 3)
    np.testing.assert_allclose(np.exp(log_softmax(prior[None])), [[1 / 8, 3 / 8, 4 / 8]])
    assert abs(prior.sum()) < 1e-15
    np.testing.assert_array_equal(prepare([[0.0]] * 4, [0, 1, 1, 2], w, "zero")[3], np.zeros(3))


def test_newton_step_is_clipped_and_zero_over_zero_is_zero():
    G = np.array([1.0, -3.0, 9.0, -9.0, 1.0, -1.0, 0.0])
    H = np.array([2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    expected = [0.5, -1.5, LEAF_CLIP, -LEAF_CLIP, LEAF_CLIP, -LEAF_CLIP, 0.0]
    np.testing.assert_array_equal(newton_step(G, H), expected)

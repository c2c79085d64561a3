"""The walk on the simplex: the kernel against the reference, rules, ties, ends."""

import signal
import threading
import time

import numpy as np
import pytest

from edgewise.lab import dynamics
from edgewise.reference import dynamics as reference

TARGETS = {
    "arc-gv": reference.arc_gv,
    "ascent": reference.ascent,
    "adaboost-star": reference.adaboost_star(0.01),
}
SHAPES = [(4, 9), (6, 5), (8, 17), (30, 12), (40, 70)]


def separable(m, n, seed):
    """A random matrix on which some votes are right on every example."""
    for k in range(100):
        M = dynamics.random_matrix(m, n, error_rate=0.3, random_state=1000 * seed + k)
        if 0.01 < dynamics.max_margin(M).value < 0.99:
            return M
    raise AssertionError("no separable matrix found")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_kernel_walks_as_the_reference(shape, seed):
    M = separable(*shape, seed)
    d0 = dynamics.random_weights(len(M), random_state=seed)
    orbit = dynamics.iterate(M, d0, n_steps=60)
    expected = reference.adaboost_map(M, d0, 60)
    np.testing.assert_array_equal(orbit.choices, expected.choices)
    np.testing.assert_allclose(orbit.weights, expected.weights, rtol=1e-9, atol=1e-280)
    np.testing.assert_allclose(orbit.edges, expected.edges, rtol=1e-10)
    np.testing.assert_allclose(orbit.votes, expected.votes, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_step_is_that_of_the_map(shape, seed):
    """Along an orbit of 20,000 steps, where a comparison of whole walks would lose its way."""
    M = separable(*shape, seed)
    orbit = dynamics.iterate(M, dynamics.random_weights(len(M), random_state=seed), n_steps=20_000)
    assert orbit.stopped is None
    columns = M.T[orbit.choices]  # (T, m)
    edges = orbit.weights @ M  # (T, n)
    np.testing.assert_allclose(orbit.edges, (orbit.weights * columns).sum(axis=1), atol=1e-14)
    moved = orbit.weights / (1 + columns * orbit.edges[:, np.newaxis])
    moved /= moved.sum(axis=1, keepdims=True)
    following = np.vstack([orbit.weights[1:], orbit.final_weights])
    np.testing.assert_allclose(following, moved, rtol=1e-11, atol=1e-280)
    # The choice is the lowest of the best, up to rounding.
    behind = edges.max(axis=1) - orbit.edges
    assert behind.max() < 1e-13 + 1e-15
    lower = np.arange(M.shape[1]) < orbit.choices[:, np.newaxis]
    best_lower = np.where(lower, edges, -1).max(axis=1)
    assert (edges.max(axis=1) - best_lower > 1e-13 - 1e-15).all()
    # After a step the column has no edge.
    np.testing.assert_allclose((following * columns).sum(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(orbit.alphas, np.arctanh(orbit.edges), rtol=1e-10)
    expected = np.bincount(orbit.choices, orbit.alphas, minlength=M.shape[1])
    np.testing.assert_allclose(orbit.votes, expected, rtol=1e-12)


@pytest.mark.parametrize("rule", TARGETS)
@pytest.mark.parametrize("uniform", [True, False], ids=["uniform", "uneven"])
def test_votes_of_the_other_rules(rule, uniform, seed):
    M = separable(9, 7, seed)
    d0 = np.full(9, 1 / 9) if uniform else dynamics.random_weights(9, random_state=seed)
    orbit = dynamics.iterate(M, d0, n_steps=300, rule=rule)
    expected = reference.coordinate_walk(M, d0, 300, TARGETS[rule])
    np.testing.assert_array_equal(orbit.choices, expected.choices)
    np.testing.assert_allclose(orbit.weights, expected.weights, rtol=1e-9, atol=1e-280)
    np.testing.assert_allclose(orbit.edges, expected.edges, rtol=1e-10)
    np.testing.assert_allclose(orbit.alphas, expected.alphas, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(orbit.votes, expected.votes, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("rule", TARGETS)
def test_an_example_without_weight_is_not_there(rule):
    M = separable(9, 7, 0)
    d0 = dynamics.random_weights(9, random_state=0)
    with_ghost = dynamics.iterate(np.vstack([M, -M[:1]]), [*d0, 0.0], n_steps=200, rule=rule)
    without = dynamics.iterate(M, d0, n_steps=200, rule=rule)
    np.testing.assert_array_equal(with_ghost.choices, without.choices)
    np.testing.assert_allclose(with_ghost.votes, without.votes, rtol=1e-12)
    assert not with_ghost.weights[:, -1].any()


def test_the_map_in_its_two_forms():
    """d / (1 + M r) and weights from the votes, exp(-M lambda)."""
    M = separable(10, 12, 1)
    d0 = dynamics.random_weights(10, random_state=1)
    orbit = dynamics.iterate(M, d0, n_steps=100)
    votes = np.zeros(12)
    for d, j, alpha in zip(orbit.weights, orbit.choices, orbit.alphas, strict=True):
        by_votes = d0 * np.exp(-(M @ votes))
        np.testing.assert_allclose(d, by_votes / by_votes.sum(), rtol=1e-9, atol=1e-280)
        votes[j] += alpha


@pytest.mark.parametrize("choose", ["first", "best", "weakest"])
def test_threshold_rule(choose, seed):
    M = separable(12, 15, seed)
    threshold = 0.8 * dynamics.max_margin(M).value
    rule = dynamics.Threshold(at_least=threshold, choose=choose)
    orbit = dynamics.iterate(M, n_steps=500, rule=rule)
    assert orbit.stopped is None
    assert orbit.edges.min() >= threshold - 1e-12
    for d, j in zip(orbit.weights, orbit.choices, strict=True):
        edges = d @ M
        able = np.flatnonzero(edges >= threshold - 1e-13)
        if choose == "first":
            assert j == able[0]
        else:
            goal = edges[able].max() if choose == "best" else edges[able].min()
            assert edges[j] == pytest.approx(goal, abs=1e-12)


def test_the_default_threshold_can_always_be_met(seed):
    M = separable(10, 8, seed)
    orbit = dynamics.iterate(M, n_steps=2000, rule="threshold")
    assert orbit.stopped is None
    assert orbit.edges.min() >= dynamics.max_margin(M).value - 1e-9


def test_restricted_columns_keep_their_numbers():
    M = dynamics.one_error_each(6)
    rule = dynamics.Threshold(at_least=0.0, choose="best", columns=(5, 1, 3))
    orbit = dynamics.iterate(M, n_steps=30, rule=rule)
    assert set(orbit.choices) == {1, 3, 5}
    np.testing.assert_array_equal(np.flatnonzero(orbit.votes), [1, 3, 5])


def test_threshold_out_of_reach_ends_the_walk():
    orbit = dynamics.iterate(dynamics.one_error_each(3), rule=dynamics.Threshold(at_least=0.9))
    assert orbit.n_steps == 0
    assert "edge large enough" in orbit.stopped


@pytest.mark.parametrize(("ties", "first"), [("lowest", [0, 1, 2, 3]), ("highest", [3, 2, 1, 0])])
def test_ties(ties, first):
    orbit = dynamics.iterate(dynamics.one_error_each(4), n_steps=8, ties=ties)
    np.testing.assert_array_equal(orbit.choices, first * 2)


def test_ties_by_a_function():
    seen = []

    def second(columns):
        seen.append(columns.tolist())
        return columns[min(1, len(columns) - 1)]

    orbit = dynamics.iterate(dynamics.one_error_each(4), n_steps=8, ties=second)
    assert seen == [[0, 1, 2, 3], [0, 2, 3], [0, 3]]
    np.testing.assert_array_equal(orbit.choices, [1, 2, 3, 0, 1, 2, 3, 0])


def test_a_function_for_ties_gets_columns_of_the_whole_matrix():
    M = dynamics.one_error_each(6)
    rule = dynamics.Threshold(at_least=0.0, choose="best", columns=(1, 3, 5))
    last = dynamics.iterate(M, n_steps=3, rule=rule, ties=lambda columns: columns[-1])
    np.testing.assert_array_equal(last.choices, [5, 3, 1])


def test_ties_function_and_word_agree_over_a_long_walk():
    M = separable(8, 9, 3)
    word = dynamics.iterate(M, n_steps=20_000, ties="highest")
    function = dynamics.iterate(M, n_steps=20_000, ties=lambda columns: columns[-1])
    np.testing.assert_array_equal(word.weights, function.weights)


@pytest.mark.parametrize("rule", ["optimal", *TARGETS])
def test_transient_and_keep_do_not_change_the_walk(rule):
    M = separable(11, 9, 2)
    whole = dynamics.iterate(M, n_steps=9000, rule=rule)
    later = dynamics.iterate(M, n_steps=4000, n_transient=5000, rule=rule)
    np.testing.assert_array_equal(later.weights, whole.weights[5000:])
    np.testing.assert_array_equal(later.alphas, whole.alphas[5000:])
    np.testing.assert_array_equal(later.votes, whole.votes)
    np.testing.assert_allclose(later.margins(), whole.margins()[5000:], rtol=1e-10)
    choices = dynamics.iterate(M, n_steps=9000, rule=rule, keep="choices")
    assert choices.weights.shape == (0, 11)
    np.testing.assert_array_equal(choices.choices, whole.choices)
    nothing = dynamics.iterate(M, n_steps=9000, rule=rule, keep=False)
    assert len(nothing.choices) == len(nothing.edges) == 0
    assert nothing.n_steps == whole.n_steps == later.n_steps == 9000
    np.testing.assert_array_equal(nothing.final_weights, whole.final_weights)
    np.testing.assert_array_equal(nothing.votes, whole.votes)


def test_ten_million_steps_do_not_drift():
    """The sum of the weights would double within some hundred steps if its error grew."""
    orbit = dynamics.iterate(dynamics.one_error_each(3), n_steps=10_000_000, keep=False)
    golden = (np.sqrt(5) - 1) / 2
    expected = [(3 - np.sqrt(5)) / 4, golden / 2, 0.5]
    assert orbit.final_weights.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(np.sort(orbit.final_weights), expected, atol=1e-15)
    np.testing.assert_allclose(orbit.votes, 1e7 / 3 * np.arctanh(golden), rtol=1e-6)


def test_small_weights_stay_normal_and_can_return():
    """Example 0 fades while three columns are right on it; a fourth that errs on it revives it."""
    M = np.vstack([[1, 1, 1, -1], np.column_stack([dynamics.one_error_each(3), [1, 1, 1]])])
    fading = dynamics.Threshold(at_least=0.1, choose="best", columns=(0, 1, 2))
    faded = dynamics.iterate(M, n_steps=5000, rule=fading, keep=False).final_weights
    assert np.finfo(float).tiny < faded[0] < 1e-280
    reviving = dynamics.Threshold(at_least=0.1, columns=(3,))
    revived = dynamics.iterate(M, faded, n_steps=1, rule=reviving).final_weights
    assert revived[0] == pytest.approx(0.5, abs=1e-15)


def test_a_column_without_error_ends_the_walk():
    M = np.array([[1, -1], [1, 1]])
    orbit = dynamics.iterate(M, n_steps=5)
    assert (orbit.n_steps, len(orbit.choices)) == (0, 0)
    assert "right on every example" in orbit.stopped
    np.testing.assert_array_equal(orbit.votes, 0)


def test_no_edge_ends_the_walk():
    """The two examples contradict each other."""
    orbit = dynamics.iterate(np.array([[1, -1], [-1, 1]]), [0.7, 0.3], n_steps=50)
    assert "no column" in orbit.stopped
    np.testing.assert_allclose(orbit.final_weights, 0.5)
    assert orbit.n_steps == 1


def test_one_column_that_is_never_better_than_chance():
    orbit = dynamics.iterate([[1], [-1]], n_steps=5)
    assert orbit.n_steps == 0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 16, 17, 33])
def test_every_width_of_the_kernel(n):
    """Columns are filled up to whole vectors; the filling is never taken."""
    rng = np.random.default_rng(n)
    M = np.where(rng.random((7, n)) < 0.4, -1, 1)
    orbit = dynamics.iterate(M, n_steps=200)
    assert (orbit.choices < n).all()
    if orbit.stopped is None:
        expected = reference.adaboost_map(M, np.full(7, 1 / 7), 20)
        np.testing.assert_array_equal(orbit.choices[:20], expected.choices)


def test_a_long_walk_can_be_interrupted():
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        dynamics.iterate(dynamics.one_error_each(3), n_steps=10**12, keep=False)
    assert time.perf_counter() - begin < 60  # not the hours of so many steps

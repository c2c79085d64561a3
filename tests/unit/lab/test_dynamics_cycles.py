"""Cycles: the theorems and counterexamples of the literature, stability, manifolds, reasons."""

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from edgewise.lab import dynamics
from edgewise.lab.dynamics._cycle_map import jacobian, shortest_period, walk_given

GOLDEN = (sqrt(5) - 1) / 2
TRIPLE = [(3 - sqrt(5)) / 4, (sqrt(5) - 1) / 4, 0.5]


@pytest.mark.parametrize("seed", range(12))
def test_the_3x3_case_ends_in_one_of_two_cycles(seed):
    M = dynamics.one_error_each(3)
    cycle = dynamics.find_cycle(M, dynamics.random_weights(3, random_state=seed))
    assert cycle.length == 3
    np.testing.assert_allclose(cycle.edges, GOLDEN, atol=1e-12)
    np.testing.assert_allclose(np.sort(cycle.weights, axis=1), [TRIPLE] * 3, atol=1e-12)
    at_zero = int(np.flatnonzero(cycle.choices == 0)[0])
    order = tuple(np.roll(cycle.choices, -at_zero))
    assert order in {(0, 1, 2), (0, 2, 1)}
    assert cycle.is_stable
    assert cycle.manifold_dimension == 0
    assert cycle.residual < 1e-14
    assert cycle.margin == pytest.approx(1 / 3, abs=1e-14)
    assert cycle.gap == pytest.approx(sqrt(5) - 2, abs=1e-12)


def test_both_cycles_of_the_3x3_case_occur():
    M = dynamics.one_error_each(3)
    ends = {
        tuple(dynamics.find_cycle(M, start).choices.tolist())
        for start in permutations((0.1, 0.3, 0.6))
    }
    cyclic = {tuple(np.roll(c, -c.index(0))) for c in ends}
    assert cyclic == {(0, 1, 2), (0, 2, 1)}


@pytest.mark.parametrize("m", [3, 4, 5, 6, 8, 10, 13])
def test_the_m_by_m_case(m, seed):
    M = dynamics.one_error_each(m)
    cycle = dynamics.find_cycle(M, dynamics.random_weights(m, random_state=seed))
    r = brentq(lambda r: (m - 1) * np.log1p(r) + np.log1p(-r), 0.3, 1 - 1e-12, xtol=1e-15)
    assert cycle.length == m
    assert sorted(cycle.choices) == list(range(m))
    np.testing.assert_allclose(cycle.edges, r, atol=1e-12)
    assert cycle.margin == pytest.approx(1 - 2 / m, abs=1e-10)
    assert dynamics.upsilon(r) == pytest.approx(1 - 2 / m, abs=1e-10)
    assert cycle.is_stable
    np.testing.assert_allclose(cycle.votes, 1 / m, atol=1e-10)
    assert cycle.margin <= dynamics.max_margin(M).value + 1e-12


@pytest.mark.parametrize("m", [3, 4, 5])
def test_every_order_of_the_columns_is_a_stable_cycle(m):
    """(m - 1)! of them."""
    M = dynamics.one_error_each(m)
    for order in permutations(range(1, m)):
        cycle = dynamics.cycle_from_choices(M, [0, *order])
        assert cycle
        assert cycle.is_stable
        np.testing.assert_array_equal(cycle.choices, [0, *order])


def test_the_8x8_case_misses_the_maximum_margin():
    known = dynamics.example("8x8")
    assert dynamics.max_margin(known.matrix).value == pytest.approx(3 / 8, abs=1e-12)
    for start in (known.start, None):
        cycle = dynamics.find_cycle(known.matrix, start)
        assert cycle.length == 3
        assert set(cycle.choices) == {0, 1, 2}
        np.testing.assert_allclose(cycle.edges, GOLDEN, atol=1e-12)
        np.testing.assert_array_equal(cycle.support, range(7))
        assert cycle.margin == pytest.approx(1 / 3, abs=1e-12)
        assert cycle.is_stable
    on_it = dynamics.iterate(known.matrix, known.start, n_steps=3)
    np.testing.assert_array_equal(on_it.choices, [0, 2, 1])
    np.testing.assert_allclose(on_it.final_weights, known.start, atol=1e-14)
    far = dynamics.iterate(known.matrix, n_steps=100_000, keep=False)
    assert far.margin == pytest.approx(1 / 3, abs=1e-5)


@pytest.mark.parametrize("rule", ["arc-gv", "ascent", "adaboost-star"])
def test_the_8x8_case_under_the_other_rules(rule):
    orbit = dynamics.iterate(dynamics.example("8x8").matrix, n_steps=10_000, rule=rule, keep=False)
    assert 0.372 < orbit.margin < 3 / 8


def test_the_4x5_case():
    known = dynamics.example("4x5")
    optimal = dynamics.find_cycle(known.matrix)
    assert (optimal.length, sorted(optimal.choices)) == (4, [0, 1, 2, 3])
    assert optimal.margin == pytest.approx(1 / 2, abs=1e-12)
    orbit = dynamics.iterate(known.matrix, rule=known.rule, n_steps=1000)
    assert orbit.edges.min() >= 0.5 - 1e-12  # a weak learner that keeps its promise
    other = dynamics.find_cycle(known.matrix, rule=known.rule)
    assert (other.length, sorted(other.choices)) == (3, [2, 3, 4])
    assert other.margin == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.parametrize("choose", ["first", "weakest"])
def test_cycles_of_the_threshold_rule(choose):
    M = dynamics.one_error_each(4)
    rule = dynamics.Threshold(at_least=0.3, choose=choose)
    cycle = dynamics.find_cycle(M, rule=rule)
    assert cycle
    again = dynamics.iterate(M, cycle.weights[0], n_steps=cycle.length, rule=rule)
    np.testing.assert_allclose(again.final_weights, cycle.weights[0], atol=1e-9)


def test_repeated_rows_make_a_manifold_of_cycles():
    known = dynamics.example("5x3")
    cycles = [
        dynamics.find_cycle(known.matrix, dynamics.random_weights(5, random_state=s))
        for s in range(4)
    ]
    for cycle in cycles:
        assert cycle.length == 3
        assert cycle.manifold_dimension == 2
        assert cycle.spectral_radius == pytest.approx(1, abs=1e-12)
        assert cycle.is_stable
        merged = np.column_stack([cycle.weights[:, 0], *(cycle.weights[:, [k, k + 1]].sum(axis=1)
                                                         for k in (1, 3))])  # fmt: skip
        np.testing.assert_allclose(np.sort(merged, axis=1), [TRIPLE] * 3, atol=1e-12)
    assert abs(cycles[0].weights - cycles[1].weights).max() > 1e-3


@pytest.mark.parametrize("start", [0.2, 0.5, 0.9])
def test_the_share_within_repeated_rows_is_kept(start):
    M = dynamics.repeated_rows(dynamics.one_error_each(3), (2, 1, 1))
    cycle = dynamics.find_cycle(M, [0.3 * start, 0.3 * (1 - start), 0.3, 0.4])
    np.testing.assert_allclose(cycle.weights[:, 0] / cycle.weights[:, :2].sum(axis=1), start)


def test_conserved_quantities_beyond_repeated_rows():
    """Rows 0 and 1 have the same sum as rows 2 and 3, so d_0 d_1 / (d_2 d_3) never changes."""
    M = np.array([[1, -1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1], [-1, -1, 1, 1], [1, 1, 1, 1]])
    orbit = dynamics.iterate(M, [0.1, 0.2, 0.25, 0.15, 0.3], n_steps=8)
    assert orbit.n_steps == 8
    quantity = np.log(orbit.weights[:, :4]) @ [1, 1, -1, -1]
    np.testing.assert_allclose(quantity, quantity[0], atol=1e-12)


def test_jacobian_by_finite_differences(seed):
    rng = np.random.default_rng(seed)
    M = np.where(rng.random((6, 5)) < 0.4, -1, 1).astype(np.int8)
    M[0], M[1] = 1, -1  # either side of every column is occupied
    d, choices = rng.dirichlet(np.ones(6)), rng.integers(5, size=7).astype(np.int32)
    after, J = jacobian(M, d, choices)
    np.testing.assert_allclose(after, walk_given(M, d, choices)[2], rtol=1e-13)
    for k in range(6):
        h = 1e-6 * np.eye(6)[k] * d[k]
        difference = walk_given(M, d + h, choices)[2] - walk_given(M, d - h, choices)[2]
        np.testing.assert_allclose(J[:, k], difference / (2 * h[k]), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(J @ d, 0, atol=1e-12)  # degree zero
    np.testing.assert_allclose(J.sum(axis=0), 0, atol=1e-12)  # the sum stays 1


def test_the_spectral_radius_is_the_rate_of_approach():
    M = dynamics.one_error_each(3)
    cycle = dynamics.find_cycle(M)
    d = cycle.weights[0] + np.array([1e-4, -1e-4, 0])
    errors = []
    for _ in range(3):
        d = dynamics.iterate(M, d, n_steps=3, keep=False).final_weights
        errors.append(abs(d - cycle.weights[0]).max())
    assert errors[2] / errors[1] == pytest.approx(cycle.spectral_radius, rel=1e-3)


def test_an_example_that_dies_out():
    """Example 3 is right under every column of the 3x3 case; it leaves the support."""
    M = np.vstack([dynamics.one_error_each(3), [1, 1, 1]])
    cycle = dynamics.find_cycle(M)
    np.testing.assert_array_equal(cycle.support, [0, 1, 2])
    np.testing.assert_array_equal(cycle.weights[:, 3], 0)
    assert cycle.is_stable
    factors = abs(cycle.eigenvalues)
    assert factors.max() == pytest.approx((1 + GOLDEN) ** -3, abs=1e-12)


def test_an_example_without_weight_that_would_take_over():
    """Example 3 is wrong under every column; the cycle of the others is not stable."""
    M = np.vstack([dynamics.one_error_each(3), [-1, -1, -1]])
    cycle = dynamics.find_cycle(M, [0.2, 0.3, 0.5, 0.0])
    assert cycle.length == 3
    assert cycle.is_stable is False
    assert cycle.spectral_radius == pytest.approx((1 - GOLDEN) ** -3, rel=1e-9)


def test_columns_alike_on_the_support():
    """Columns 0 and 3 differ on an example without weight only: either makes the same step."""
    M = np.vstack([dynamics.one_error_each(3), [1, 1, 1]])
    twin = M[:, [0]].copy()
    twin[3] = -1
    M = np.column_stack([M, twin])
    cycle = dynamics.find_cycle(M, [0.2, 0.3, 0.5, 0.0])
    assert cycle.length == 3
    assert cycle.gap == pytest.approx(sqrt(5) - 2, abs=1e-12)
    assert cycle.is_stable is None  # at worst the example keeps its weight: (1 - r)(1 + r)^2 = 1


@pytest.mark.parametrize(
    ("M", "d0", "outcome", "words"),
    [
        ([[1, -1], [1, 1]], None, "no error", "right on every example"),
        ([[1, -1], [-1, 1]], [0.7, 0.3], "no edge", "edge large enough"),
        (dynamics.example("20x8").matrix, None, "not found", "no cycle of at most 3 steps"),
    ],
    ids=["no error", "no edge", "not found"],
)
def test_no_cycle_says_why(M, d0, outcome, words):
    end = dynamics.find_cycle(M, d0, max_steps=5000, max_length=3)
    assert not end
    assert end.outcome == outcome
    assert words in end.reason


def test_edges_that_tend_to_zero():
    """Three examples that cannot all be right: the maximum margin is 0."""
    M = np.array([[1, -1, 1], [-1, 1, 1], [1, 1, -1], [-1, -1, -1], [-1, -1, 1]])
    assert dynamics.max_margin(M).value <= 1e-12
    end = dynamics.find_cycle(M, max_steps=20_000)
    assert not end
    assert end.outcome == "no edge"


def test_choices_without_a_cycle():
    M = dynamics.one_error_each(4)
    assert not dynamics.cycle_from_choices(M, [0, 1])
    assert not dynamics.cycle_from_choices([[1, -1], [1, 1]], [0])
    better = dynamics.cycle_from_choices(dynamics.example("4x5").matrix, [2, 3, 4])
    assert not better
    assert "would be taken" in better.reason


def test_a_period_within_the_period_is_found():
    cycle = dynamics.cycle_from_choices(dynamics.one_error_each(3), [0, 1, 2] * 4)
    assert cycle.length == 3


@pytest.mark.parametrize(
    ("sequence", "period"),
    [
        ("abcabcabc", 3),
        ("abcabcab", 3),
        ("aaaa", 1),
        ("aabaab", 3),
        ("abcab", 0),  # not twice
        ("abcd", 0),
        ("xabab", 0),  # not from the start
        ("a", 0),
    ],
)
def test_shortest_period(sequence, period):
    assert shortest_period(np.frombuffer(sequence.encode(), np.uint8)) == period


@pytest.mark.parametrize("seed", range(8))
def test_support_vectors_share_the_smallest_margin(seed):
    M = dynamics.random_matrix(10, 10, error_rate=0.4, random_state=seed)
    cycle = dynamics.find_cycle(M, dynamics.random_weights(10, random_state=seed))
    if not cycle:
        pytest.skip(cycle.reason)
    margins = dynamics.margins(M, cycle.votes)
    np.testing.assert_allclose(margins[cycle.support], cycle.margin, atol=1e-9)


def test_max_steps_bounds_the_walk():
    M = dynamics.random_matrix(20, 20, error_rate=0.4, random_state=1)
    for steps in (1, 7, 3000, 10_000):
        assert dynamics.find_cycle(M, max_steps=steps).n_steps == steps


def test_results_show_themselves_in_a_line():
    M = dynamics.one_error_each(3)
    assert repr(dynamics.find_cycle(M)) == "Cycle(length 3, margin 0.333333, stable)"
    orbit = dynamics.iterate(M, n_steps=7, n_transient=3)
    assert repr(orbit) == "Orbit(10 steps, 7 kept, Optimal())"
    ended = dynamics.iterate([[1, -1], [1, 1]])
    assert "stopped: the chosen column" in repr(ended)


def test_results_do_not_follow_the_matrix():
    M = dynamics.one_error_each(3)
    orbit, cycle = dynamics.iterate(M), dynamics.find_cycle(M)
    before = orbit.margin
    M[:] = 1
    assert orbit.margin == before
    assert (cycle.matrix == orbit.matrix).all()
    assert (cycle.matrix < 0).any()

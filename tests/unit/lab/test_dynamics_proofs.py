"""Certificates of cycles in interval arithmetic, and choices without rounding."""

import builtins
from dataclasses import replace
from fractions import Fraction
from math import log

import mpmath
import numpy as np
import pytest

from edgewise.lab import dynamics
from edgewise.lab.dynamics import _exact
from edgewise.lab.dynamics._certify import _left_null_space


@pytest.mark.parametrize("digits", [20, 50, 400])
def test_the_golden_edge_to_many_digits(digits):
    certificate = dynamics.find_cycle(dynamics.one_error_each(3)).certify(digits)
    assert certificate
    assert certificate.stable
    with mpmath.workdps(digits + 10):
        golden = (mpmath.sqrt(5) - 1) / 2
        exact = [(3 - mpmath.sqrt(5)) / 4, golden / 2, mpmath.mpf(1) / 2]
        for edge in certificate.edges:
            assert abs(edge - golden) < mpmath.mpf(10) ** -digits
        for weights in certificate.weights:
            assert max(abs(a - b) for a, b in zip(sorted(weights), exact, strict=True)) < (
                mpmath.mpf(10) ** -digits
            )
        assert certificate.residual < mpmath.mpf(10) ** -digits
        assert certificate.radius < mpmath.mpf(10) ** -digits
    assert certificate.gap == pytest.approx(5**0.5 - 2, rel=1e-10)
    assert certificate.gap < 5**0.5 - 2


@pytest.mark.parametrize("m", [4, 5, 7])
def test_certificates_of_the_m_by_m_case(m):
    certificate = dynamics.find_cycle(dynamics.one_error_each(m)).certify(40)
    assert certificate
    assert certificate.stable
    with mpmath.workdps(60):
        for r in certificate.edges:
            assert abs((1 - r) * (1 + r) ** (m - 1) - 1) < mpmath.mpf(10) ** -38


@pytest.mark.parametrize("name", ["5x3", "8x8"])
def test_certificates_on_manifolds(name):
    M = dynamics.example(name).matrix
    cycle = dynamics.find_cycle(M, dynamics.random_weights(len(M), random_state=0))
    assert cycle.manifold_dimension > 0
    certificate = cycle.certify(30)
    assert certificate
    assert certificate.stable
    near = np.array([[float(x) for x in row] for row in certificate.weights])
    np.testing.assert_allclose(near, cycle.weights, atol=1e-12)
    assert certificate.support == tuple(cycle.support)


@pytest.mark.parametrize("seed", [0, 2, 3, 7])
def test_certificates_of_random_cycles(seed):
    M = dynamics.random_matrix(9, 9, error_rate=0.35, random_state=seed)
    cycle = dynamics.find_cycle(M)
    if not cycle:
        pytest.skip(cycle.reason)
    certificate = cycle.certify(20)
    assert certificate.proved or certificate.reason
    assert certificate.proved == (cycle.gap > 1e-12)
    assert not certificate.stable or cycle.is_stable


def test_a_copied_column_is_not_a_rival():
    M = dynamics.one_error_each(3)
    certificate = dynamics.find_cycle(np.column_stack([M, M[:, 0]])).certify(20)
    assert certificate
    assert certificate.gap == pytest.approx(5**0.5 - 2, rel=1e-10)


def test_an_unstable_cycle_is_proved_but_not_its_stability():
    M = np.vstack([dynamics.one_error_each(3), [-1, -1, -1]])
    certificate = dynamics.find_cycle(M, [0.2, 0.3, 0.5, 0.0]).certify(20)
    assert certificate
    assert not certificate.stable


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda M: np.column_stack([M, [1, 1, 1, 1]]), "as large an edge"),
        (lambda M: np.vstack([[1, 1, 1, 1], M[1:]]), "not converge"),
        (lambda M: np.vstack([M[:3], M[:1]]), "not converge"),
        (lambda M: -M, "an edge may be 0 or 1"),
    ],
    ids=["a better column", "an example always right", "column 3 is right on all", "all wrong"],
)
def test_a_non_cycle_is_not_certified(change, reason):
    """The choices of a cycle on another matrix."""
    cycle = dynamics.find_cycle(dynamics.one_error_each(4))
    other = replace(cycle, matrix=change(cycle.matrix).astype(np.int8))
    certificate = other.certify(20)
    assert not certificate
    assert reason in certificate.reason


def test_conserved_quantities_are_exact():
    M = np.array([[1, -1, 1, -1], [-1, 1, -1, 1], [1, 1, -1, -1], [-1, -1, 1, 1], [1, 1, 1, 1]])
    (vector,) = _left_null_space(M.astype(np.int8))
    scale = vector[0]
    assert [v / scale for v in vector] == [1, 1, -1, -1, 0]


def test_the_20x8_case_never_cycles():
    """Bursts of five in either half of the columns, at a frequency that no period has."""
    known = dynamics.example("20x8")
    exact = dynamics.exact_choices(known.matrix, known.start, n_steps=300)
    assert exact.stopped is None
    bursts = exact.choices.reshape(-1, 5)
    in_left = bursts[:, 0] < 4
    patterns = {tuple(burst % 4 + 1) for burst in bursts}
    assert patterns == {(1, 3, 4, 1, 2), (1, 4, 3, 1, 2)}
    assert ((bursts < 4) == in_left[:, np.newaxis]).all()
    contraction = {True: 0.0944920595, False: 0.2038817329}  # per burst (Wang 2026)
    rate = log(contraction[False]) / (log(contraction[True]) + log(contraction[False]))
    drift = np.cumsum(in_left) - rate * np.arange(1, 61)
    assert abs(drift).max() < 1
    for period in range(1, 21):  # no period is seen in the second half
        assert (in_left[30:] != in_left[30 - period : -period]).any()


def test_exact_choices_agree_with_the_walk_while_rounding_is_small():
    known = dynamics.example("20x8")
    exact = dynamics.exact_choices(known.matrix, known.start, n_steps=60)
    double = dynamics.iterate(known.matrix, known.start, n_steps=60, keep="choices")
    np.testing.assert_array_equal(exact.choices, double.choices)


@pytest.mark.parametrize("ties", ["lowest", "highest"])
@pytest.mark.parametrize("bits", [60, 2000])
def test_exact_ties(ties, bits, monkeypatch):
    monkeypatch.setattr(_exact, "_LONG", bits)
    exact = dynamics.exact_choices(dynamics.one_error_each(4), n_steps=100, ties=ties)
    order = [0, 1, 2, 3] if ties == "lowest" else [3, 2, 1, 0]
    np.testing.assert_array_equal(exact.choices, order * 25)
    assert (exact.n_whole < 100) == (exact.digits > 0) == (bits == 60)


def test_exact_weights_may_be_of_any_rational_kind():
    M = dynamics.one_error_each(3)
    ways = ([1, 2, 3], [Fraction(1, 6), Fraction(1, 3), 0.5], np.array([1.0, 2.0, 3.0]))
    first, *others = (dynamics.exact_choices(M, d, n_steps=30).choices for d in ways)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_exact_walks_end_where_the_walk_does():
    no_error = dynamics.exact_choices([[1, -1], [1, 1]], n_steps=5)
    assert (len(no_error.choices), no_error.stopped) == (0, "a column makes no error")
    no_edge = dynamics.exact_choices([[1, -1], [-1, 1]], [2, 1], n_steps=5)
    assert (len(no_edge.choices), no_edge.stopped) == (1, "no column has an edge")


def test_intervals_do_not_decide_a_tie(monkeypatch):
    monkeypatch.setattr(_exact, "_LONG", 0)
    exact = dynamics.exact_choices(dynamics.one_error_each(4), n_steps=5, max_digits=400)
    assert (len(exact.choices), exact.n_whole, exact.digits) == (0, 0, 400)
    assert "a tie, or nearly one" in exact.stopped


def test_without_mpmath_there_is_a_clear_message(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "mpmath":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    cycle = dynamics.find_cycle(dynamics.one_error_each(3))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="extra 'lab'"):
        cycle.certify()

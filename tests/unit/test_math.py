"""exp and log of the core: within 2 and 3 ulp of the true value."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise import _core

core_exp, core_log = _core.testing.exp, _core.testing.log
RNG = np.random.default_rng(0)


def ulps(got, true):
    """Distance of a double from a value in extended precision, in units of the last place."""
    return float(abs(np.longdouble(got) - true) / np.spacing(abs(float(true))))


def exp_error(x):
    return ulps(core_exp(x), np.exp(np.longdouble(x)))


def log_error(x):
    return ulps(core_log(x), np.log(np.longdouble(x))) if x != 1.0 else abs(core_log(x))


@given(st.floats(-700, 700))
def test_exp_is_within_two_ulp(x):
    assert exp_error(x) <= 2


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 10.0, 700.0])
def test_exp_is_within_two_ulp_on_every_scale(scale):
    assert max(map(exp_error, RNG.uniform(-scale, scale, size=3000))) <= 2


def test_exp_at_multiples_of_half_log_two():
    for n in range(-2000, 2000):
        x = n * math.log(2) / 2
        if abs(x) <= 700:
            assert exp_error(x) <= 2
            assert exp_error(np.nextafter(x, 0)) <= 2


def test_exp_of_zero_is_one():
    assert core_exp(0.0) == core_exp(-0.0) == 1.0


def test_exp_stays_a_normal_number():
    smallest, largest = core_exp(-math.inf), core_exp(math.inf)
    assert smallest == core_exp(-700.0) == core_exp(-1e300)
    assert largest == core_exp(700.0) == core_exp(1e300)
    assert smallest > np.finfo(float).tiny
    assert math.isfinite(largest)


@given(st.floats(np.finfo(float).tiny, np.finfo(float).max))
def test_log_is_within_three_ulp(x):
    assert log_error(x) <= 3


@pytest.mark.parametrize("center", [1.0, math.sqrt(0.5), math.sqrt(2.0), 2.0, 0.5])
@pytest.mark.parametrize("spread", [1e-13, 1e-6, 0.1])
def test_log_is_within_three_ulp_where_it_could_cancel(center, spread):
    assert max(map(log_error, center * (1 + RNG.uniform(-spread, spread, size=2000)))) <= 3


def test_log_over_all_magnitudes():
    assert max(map(log_error, np.exp(RNG.uniform(-700, 700, size=5000)))) <= 3


def test_log_undoes_exp():
    x = RNG.uniform(-600, 600, size=2000)
    np.testing.assert_allclose([core_log(core_exp(v)) for v in x], x, rtol=1e-15, atol=1e-15)


def test_softmax_is_that_of_numpy():
    scores = RNG.normal(scale=20, size=(50, 7))
    expected = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    for n_threads in (1, 3):
        got = scores.copy()
        _core.softmax(got, n_threads)
        np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_softmax_of_extreme_scores_is_finite():
    scores = np.array([[1e4, -1e4, 0.0], [-1e308, 1e308, 0.0]])
    _core.softmax(scores, 1)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    np.testing.assert_array_equal(scores.argmax(axis=1), [0, 1])


@pytest.mark.parametrize("n", [1, 10**6, 2**32])
@pytest.mark.parametrize("bound", [0.0, 1e-300, 1e-290, 1.0, 1e300])
def test_sums_have_a_finite_scale(n, bound):
    scale = _core.sum_scale(n, bound)
    assert 0.0 < scale < math.inf
    assert n * (bound * scale) < 2**63

"""Margins, smooth margins, the maximum margin, Upsilon."""

import numpy as np
import pytest

from edgewise.lab import dynamics

MATRICES = {
    name: (dynamics.example(name).matrix, dynamics.example(name).max_margin)
    for name in dynamics.EXAMPLES
}


@pytest.mark.parametrize("name", MATRICES)
def test_maximum_margins_of_the_literature(name):
    M, value = MATRICES[name]
    best = dynamics.max_margin(M)
    assert best.value == pytest.approx(float(value), abs=1e-12)
    assert 0 <= best.gap < 1e-10
    for vector in (best.votes, best.weights):
        assert (vector >= 0).all()
        assert vector.sum() == pytest.approx(1, abs=1e-14)
    assert (M @ best.votes).min() == pytest.approx(best.value, abs=1e-10)
    assert (best.weights @ M).max() == pytest.approx(best.value, abs=1e-10)


def test_maximum_margins_at_the_ends():
    for M, value in (([[1]], 1), ([[-1]], -1), ([[1], [-1]], -1), ([[1, -1], [-1, 1]], 0)):
        assert dynamics.max_margin(M).value == pytest.approx(value, abs=1e-12)


def test_margins_along_an_orbit():
    M = dynamics.example("8x8").matrix
    orbit = dynamics.iterate(M, n_steps=5000)  # more than one chunk
    smallest, smooth = orbit.margins(), orbit.smooth_margins()
    votes = np.zeros(8)
    for t, (j, alpha) in enumerate(zip(orbit.choices, orbit.alphas, strict=True)):
        votes[j] += alpha
        if t in (0, 1, 17, 4095, 4096, 4999):
            assert smallest[t] == pytest.approx(dynamics.margins(M, votes).min(), abs=1e-12)
            assert smooth[t] == pytest.approx(dynamics.smooth_margin(M, votes), abs=1e-12)
            by_hand = -np.log(np.exp(-(M @ votes)).sum()) / votes.sum() if t < 20 else smooth[t]
            assert smooth[t] == pytest.approx(by_hand, abs=1e-12)
    assert orbit.margin == pytest.approx(smallest[-1], abs=1e-12)
    assert (smooth <= smallest + 1e-12).all()
    assert (np.diff(smooth[smooth > 0]) > -1e-12).all()  # AdaBoost raises G once it is positive


def test_an_example_of_twice_the_weight_counts_as_two():
    M = dynamics.one_error_each(4)
    doubled = dynamics.repeated_rows(M, (1, 2, 1, 1))
    votes = [1.0, 2.0, 0.5, 1.5]
    weighted = dynamics.smooth_margin(M, votes, [0.2, 0.4, 0.2, 0.2])
    assert weighted == pytest.approx(dynamics.smooth_margin(doubled, votes), abs=1e-14)


def test_margins_of_empty_orbits():
    orbit = dynamics.iterate(dynamics.one_error_each(3), keep=False)
    assert orbit.margins().shape == orbit.smooth_margins().shape == (0,)


def test_upsilon():
    golden = (np.sqrt(5) - 1) / 2
    assert dynamics.upsilon(golden) == pytest.approx(1 / 3, abs=1e-15)
    assert dynamics.upsilon(0.0) == 0.0
    assert dynamics.upsilon(1.0) == 1.0
    assert dynamics.upsilon(1e-9) == pytest.approx(5e-10, rel=1e-6)
    r = np.linspace(1e-6, 1 - 1e-9, 1001)
    value = dynamics.upsilon(r)
    assert value.shape == r.shape
    assert ((r / 2 < value) & (value < r)).all()
    assert (np.diff(value) > 0).all()
    np.testing.assert_allclose(value, -np.log(1 - r**2) / np.log((1 + r) / (1 - r)), rtol=1e-4)


@pytest.mark.parametrize("name", ["3x3", "4x4", "5x5", "8x8"])
def test_the_margin_lies_between_upsilon_of_the_edges(name):
    """If all edges lie in [a, b], the margin ends in [Upsilon(a), Upsilon(b)]."""
    cycle = dynamics.find_cycle(dynamics.example(name).matrix)
    low, high = dynamics.upsilon(cycle.edges.min()), dynamics.upsilon(cycle.edges.max())
    assert low - 1e-12 <= cycle.margin <= high + 1e-12


def test_the_bounds_of_adaboost_star():
    """Within nu of the maximum after 2 ln(m) / nu^2 steps."""
    M = dynamics.example("8x8").matrix
    for nu in (0.3, 0.1, 0.03):
        steps = int(np.ceil(2 * np.log(len(M)) / nu**2))
        rule = dynamics.AdaBoostStar(nu=nu)
        assert dynamics.iterate(M, n_steps=steps, rule=rule, keep=False).margin >= 3 / 8 - nu

"""The stability margin: bounds in the right order, certificates that hold, counterexamples."""

import numpy as np
import pytest
from scipy.optimize import linprog

from edgewise import InvalidDataError, InvalidParameterError
from edgewise.lab.truth_table import (
    CustomLoss,
    ExponentialLoss,
    LogisticLoss,
    TruthTable,
    _stability,
)


def some_table(seed, M, n=400):
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1)) + rng.uniform(0.2, 1.5, size=M)
    H = np.where(rng.random((n, M)) < 1 / (1 + np.exp(-ease)), 1, -1)
    return TruthTable.from_predictions(np.ones(n, dtype=int), H)


def mixture(x):
    return 0.5 * np.exp(-x) + 0.5 * np.logaddexp(0.0, -x) / np.log(2.0)


LOSSES = {"exponential": "exponential", "logistic": "logistic", "phi": CustomLoss(mixture)}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def signs(patterns, beta):
    return np.sign(patterns @ beta)


def frequencies(table, cells):
    """Of given cells (n_cells, M), in a table."""
    known = {tuple(s): c / table.total for s, c in zip(table.patterns, table.counts, strict=True)}
    return np.array([known.get(tuple(s), 0.0) for s in cells])


def every_cell(M):
    return np.array(np.meshgrid(*[[-1, 1]] * M, indexing="ij")).reshape(M, -1).T


@every_loss
@pytest.mark.parametrize("M", [2, 3, 5])
def test_bounds_bracket_and_the_counterexample_is_one(loss, M, seed):
    table = some_table(seed, M)
    found = table.stability(loss)
    assert 0 < found.lower <= found.upper
    assert found.gap == found.upper - found.lower
    assert found.upper <= 3 * found.first_order
    cells = every_cell(M)
    other = found.counterexample
    change = frequencies(other, cells) - frequencies(table, cells)
    assert abs(change).max() <= found.upper * (1 + 1e-9) + 1e-15
    assert other.total == pytest.approx(1.0, abs=1e-12)
    if found.pattern is None:
        assert not other.existence.exists
    else:
        here, there = table.minimise(loss).beta, other.minimise(loss).beta
        assert signs(found.pattern, here) != signs(found.pattern, there)


@every_loss
def test_no_change_below_the_lower_bound_changes_a_sign(loss, seed):
    """Changes at the corners of what is allowed, random and along every cell's steepest descent."""
    table = some_table(seed, 3)
    found = table.stability(loss)
    cells = every_cell(3)
    p = frequencies(table, cells)
    here = table.minimise(loss).beta
    rng = np.random.default_rng(seed)
    pulls = [rng.normal(size=8) for _ in range(40)]
    phi = {"exponential": ExponentialLoss(), "logistic": LogisticLoss()}.get(loss, loss)
    effect = -cells * phi.slope(cells @ here)[:, None]  # minus the gradient of each cell
    bend = (cells * (p * phi.curvature(cells @ here))[:, None]).T @ cells
    pulls += [side * effect @ np.linalg.solve(bend, s) for s in cells for side in (1, -1)]
    for pull in pulls:
        order = np.argsort(pull)
        delta = np.zeros(8)
        delta[order] = _stability._fill(np.minimum(p, found.lower)[order], np.full(8, found.lower))
        assert abs(delta.sum()) < 1e-15
        changed = TruthTable.from_cells(cells, np.maximum(p + delta, 0))
        there = changed.minimise(loss).beta
        np.testing.assert_array_equal(signs(cells, there), signs(cells, here))


def test_two_classifiers_by_hand():
    """Two pairs stand alone: a sign changes where m_l = n_l, so kappa is half the difference,

    shared by four cells, or less where a pair's smaller cell can be emptied.
    """
    table = TruthTable.from_cells([[1, 1], [-1, -1], [1, -1], [-1, 1]], [60, 20, 11, 9])
    found = table.stability()
    assert found.first_order == pytest.approx(0.01, rel=0.02)
    assert found.lower <= 0.01 <= found.upper * (1 + 1e-3)
    assert found.upper == pytest.approx(0.01, rel=1e-3)
    assert found.lower > 0.008
    assert found.pattern.tolist() in ([1, -1], [-1, 1])


def test_emptied_cells_leave_no_minimum():
    """A good classifier alone: kappa is its error, after which it is perfect."""
    table = TruthTable.from_cells([[1], [-1]], [95, 5])
    found = table.stability()
    assert found.pattern is None
    assert found.upper == pytest.approx(0.05)
    assert not found.counterexample.existence.exists
    assert 0.02 < found.lower < 0.05


def test_a_tie_has_no_margin():
    table = TruthTable.from_cells([[1, 1], [1, -1], [-1, 1], [-1, -1]], [5, 2, 2, 1])
    found = table.stability()
    assert found.lower == found.upper == found.gap == 0
    assert found.pattern.tolist() == [1, -1]


def test_certificates_are_refused_beyond_the_counterexample(seed):
    table = some_table(seed, 4)
    found = table.stability()
    pairs = table._frequencies("all")
    perturbed = _stability.Perturbed(
        pairs, ExponentialLoss(), table.minimise().beta, np.ones(16, dtype=bool)
    )
    assert _stability.is_stable(perturbed, found.lower)
    assert not _stability.is_stable(perturbed, found.upper)
    assert not _stability.is_stable(perturbed, found.upper * 2)


def test_without_a_certificate_the_lower_bound_is_zero(monkeypatch):
    monkeypatch.setattr(_stability, "is_stable", lambda table, kappa: False)
    found = some_table(0, 3).stability()
    assert found.lower == 0
    assert found.upper > 0


def test_small_margins_have_small_gaps():
    """Near a sign change everything is linear: the bounds meet."""
    cells = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
    found = [
        TruthTable.from_cells(cells, [6000, 2000, 1000 + k, 1000 - k]).stability()
        for k in (300, 100, 10)
    ]
    ratios = [f.lower / f.upper for f in found]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 0.97


def test_occupied_cells_only(seed):
    table = some_table(seed, 6, n=60)
    if not table.existence.unique:
        pytest.skip("this draw has no unique minimum")
    found = table.stability(cells="occupied")
    assert found.cells == "occupied"
    assert set(found.counterexample.codes) <= set(table.codes)
    assert 0 < found.lower <= found.upper
    assert found.upper >= table.stability().lower


def test_extremes_are_those_of_linear_programs(seed):
    table = some_table(seed, 3, n=40)
    pairs = table._frequencies("all")
    perturbed = _stability.Perturbed(
        pairs, ExponentialLoss(), table.minimise().beta, np.ones(8, dtype=bool)
    )
    kappa = 0.04
    least, most = perturbed.extremes(kappa)
    rows = zip(perturbed.effect, perturbed.p_sorted, least, most, strict=True)
    for effect, frequencies_, low, high in rows:
        bounds = [(-min(kappa, p), kappa) for p in frequencies_]
        for sign, expected in ((1, low), (-1, -high)):
            solved = linprog(sign * effect, A_eq=[[1.0] * 8], b_eq=[0.0], bounds=bounds)
            assert solved.fun == pytest.approx(expected, abs=1e-9)


def test_stability_checks_its_inputs():
    separable = TruthTable.from_cells([[1, 1], [1, -1]], [3, 2])
    with pytest.raises(InvalidDataError, match="no minimum"):
        separable.stability()
    flat = TruthTable.from_cells([[1, 1], [-1, -1]], [3, 2])
    with pytest.raises(InvalidDataError, match="one minimiser.*rank 1"):
        flat.stability()
    wide = some_table(0, 13, n=1000)
    with pytest.raises(InvalidParameterError, match=r"at most 4096.*8192.*cells='occupied'"):
        wide.stability()


def test_margin_is_zero_where_a_vote_is_tied():
    """The slides call kappa strictly positive: not of two classifiers that are equally good."""
    table = TruthTable.from_cells([(1, 1), (1, -1), (-1, 1), (-1, -1)], [50, 10, 10, 5])
    found = table.stability()
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert found.pattern.tolist() in ([1, -1], [-1, 1])

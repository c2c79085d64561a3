"""What must hold for the truth table of any classifiers."""

import itertools

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog, minimize, root
from scipy.special import expit

from edgewise.lab.truth_table import CustomLoss, TruthTable, _losses

EPS = np.finfo(float).eps


def mixture(x):
    return 0.5 * np.exp(-x) + 0.5 * np.logaddexp(0.0, -x) / np.log(2.0)


def mixture_slope(x):
    return -0.5 * np.exp(-x) - 0.5 * expit(-x) / np.log(2.0)


LOSSES = {
    "exponential": "exponential",
    "logistic": "logistic",
    "mixture": CustomLoss(mixture, mixture_slope),
}
losses = st.sampled_from(sorted(LOSSES))
closed_form_losses = st.sampled_from(["exponential", "logistic"])
some_examples = settings(max_examples=25, deadline=None)


@st.composite
def raw_examples(draw, most_classifiers=5):
    """Labels (n,), predictions (n, M) and weights (n,) or None."""
    M = draw(st.integers(1, most_classifiers))
    n = draw(st.integers(1, 40))
    signs = st.sampled_from([-1, 1])
    y = draw(arrays(np.int8, n, elements=signs))
    H = draw(arrays(np.int8, (n, M), elements=signs))
    weight = st.floats(1e-3, 1e3)
    return y, H, draw(st.none() | arrays(np.float64, n, elements=weight))


@st.composite
def tables(draw, M=None, most=1000):
    """Tables of up to five classifiers, cells empty or not."""
    M = M or draw(st.integers(1, 5))
    every = np.array(list(itertools.product([-1, 1], repeat=M)))
    counts = draw(arrays(np.int64, len(every), elements=st.integers(0, most)))
    assume(counts.any())
    return TruthTable.from_cells(every, counts)


@st.composite
def tables_with_minimum(draw, M=None, most=1000):
    """Where pairs are not full relaxation may take very many sweeps: they are filled."""
    table = draw(tables(M, most))
    return table if table.existence.sufficient else table.smoothed(0.05 * table.total)


def coefficients(M):
    return arrays(np.float64, M, elements=st.floats(-3, 3))


@some_examples
@given(data=raw_examples(), draw=st.data(), loss=losses)
def test_compressed_risk_is_the_risk_of_the_examples(data, draw, loss):
    y, H, w = data
    beta = draw.draw(coefficients(H.shape[1]))
    table = TruthTable.from_predictions(y, H, w)
    weights = np.ones(len(y)) if w is None else w
    margins = y * (H @ beta)
    phi = _losses.loss_of(LOSSES[loss])
    raw = np.average(phi.value(margins), weights=weights)
    np.testing.assert_allclose(table.risk(beta, LOSSES[loss]), raw, rtol=1e-13)
    np.testing.assert_allclose(table.errors(beta), weights[margins <= 0].sum(), rtol=1e-13)


@some_examples
@given(table=tables_with_minimum(), loss=losses)
def test_every_relaxation_step_lowers_the_risk(table, loss):
    """A step at the minimum changes nothing but the last bits."""
    risks = table.minimise(LOSSES[loss], method="relaxation", tol=1e-9).trace.risks
    assert (risks[1:] <= risks[:-1] * (1 + 8 * EPS)).all()
    assert (np.diff(risks)[abs(np.diff(risks)) > 1e-14] < 0).all()


@some_examples
@given(table=tables_with_minimum(), loss=losses)
def test_relaxation_newton_and_scipy_agree(table, loss):
    phi = _losses.loss_of(LOSSES[loss])
    newton = table.minimise(phi)
    relaxed = table.minimise(phi, method="relaxation")
    np.testing.assert_allclose(relaxed.beta, newton.beta, atol=1e-9)
    scipys = minimize(table.risk, np.zeros(table.n_classifiers), args=(phi,), method="BFGS")
    assert newton.risk <= scipys.fun + 1e-14
    if newton.unique:
        polished = root(table.pairs.gradient, scipys.x, (phi,), jac=table.pairs.hessian, tol=1e-13)
        np.testing.assert_allclose(polished.x, newton.beta, atol=1e-9)


@some_examples
@given(table=tables_with_minimum(M=3, most=10**6), loss=closed_form_losses)
def test_closed_form_of_three_classifiers(table, loss):
    exact = table.closed_form(loss)
    np.testing.assert_allclose(exact, table.minimise(loss).beta, atol=1e-9)
    np.testing.assert_allclose(exact, table.minimise(loss, method="relaxation").beta, atol=1e-9)


@some_examples
@given(table=tables(most=2))
def test_existence_is_what_one_linear_program_says(table):
    """max sum_s s v over 0 <= s v, |v| <= 1 is zero exactly where there is a minimum."""
    cells = table.patterns.astype(float)
    box = [(-1, 1)] * table.n_classifiers
    solved = linprog(-cells.sum(axis=0), A_ub=-cells, b_ub=np.zeros(len(cells)), bounds=box)
    found = table.existence
    assert found.certified
    assert found.exists == (solved.fun > -1e-7)
    assert found.unique == (found.exists and np.linalg.matrix_rank(cells) == table.n_classifiers)
    if found.sufficient:
        assert found.unique
    if not found.exists:
        margins = table.patterns @ found.direction
        assert margins.min() >= 0
        assert margins.max() > 0
        far = [table.risk(t * found.direction / abs(found.direction).max()) for t in (0, 1, 2, 4)]
        assert (np.diff(far) < 0).all()


@some_examples
@given(table=tables(), draw=st.data())
def test_no_vote_beats_the_zero_one_minimum(table, draw):
    found = table.zero_one_minimum()
    assert table.errors(found.beta) == found.errors
    assert table.errors(draw.draw(coefficients(table.n_classifiers))) >= found.errors
    if table.existence.exists:
        assert table.errors(table.minimise().beta) >= found.errors


@settings(max_examples=15, deadline=None)
@given(table=tables_with_minimum(), loss=closed_form_losses, draw=st.data())
def test_bounds_of_the_stability_margin(table, loss, draw):
    assume(table.existence.unique)
    found = table.stability(loss)
    assert 0 <= found.lower <= found.upper
    if found.lower == 0:
        return
    M = table.n_classifiers
    every = np.array(list(itertools.product([-1, 1], repeat=M)))
    p = np.zeros(2**M)
    place = (table.patterns[:, None, :] == every).all(axis=2).argmax(axis=1)
    p[place] = table.counts / table.total
    # A change of that size, with as much taken away as is given.
    raw = draw.draw(arrays(np.float64, 2**M, elements=st.floats(-1, 1)))
    delta = np.maximum(raw * found.lower, -p)
    up, down = delta.clip(min=0).sum(), -delta.clip(max=0).sum()
    assume(min(up, down) > 1e-12)
    delta = np.where(delta > 0, delta * min(1, down / up), delta * min(1, up / down))
    changed = TruthTable.from_cells(every, np.maximum(p + delta, 0.0))
    here, there = (t.minimise(loss).beta for t in (table, changed))
    np.testing.assert_array_equal(np.sign(every @ there), np.sign(every @ here))


@some_examples
@given(data=raw_examples(), times=st.integers(1, 3))
def test_tables_add_up(data, times):
    y, H, w = data
    whole = TruthTable.from_predictions(y, H, w)
    cut = len(y) // 2
    assume(cut > 0)
    parts = [slice(0, cut), slice(cut, None)]
    added = sum(
        (
            TruthTable.from_predictions(y[part], H[part], None if w is None else w[part])
            for part in parts[1:]
        ),
        start=TruthTable.from_predictions(y[:cut], H[:cut], None if w is None else w[:cut]),
    )
    np.testing.assert_array_equal(added.codes, whole.codes)
    np.testing.assert_allclose(added.counts, whole.counts, rtol=1e-14)
    repeated = TruthTable.from_predictions(np.repeat(y, times), np.repeat(H, times, axis=0))
    single = TruthTable.from_predictions(y, H)
    np.testing.assert_array_equal(repeated.counts, times * single.counts)

"""Minima: relaxation, Newton's method, SciPy and the closed form for three classifiers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from edgewise import InvalidDataError, InvalidParameterError
from edgewise.lab.truth_table import CustomLoss, TruthTable


def some_table(seed, M, n=400):
    """A table with one minimum: answers of different accuracy, correlated by difficulty."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1)) + rng.uniform(0.0, 1.5, size=M)
    H = np.where(rng.random((n, M)) < 1 / (1 + np.exp(-ease)), 1, -1)
    return TruthTable.from_predictions(np.ones(n, dtype=int), H)


def heavy(x):
    """(sqrt(4 + x^2) - x) / 2: linear on one side, like 1 / x on the other."""
    far = np.sqrt(4.0 + x**2)
    return np.where(x > 0, 2.0 / (far + abs(x)), (far - x) / 2)


LOSSES = {"exponential": "exponential", "logistic": "logistic", "phi": CustomLoss(heavy)}
every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
every_method = pytest.mark.parametrize("method", ["newton", "relaxation"])


@every_loss
@every_method
@pytest.mark.parametrize("M", [1, 3, 8])
def test_the_gradient_is_zero_there(loss, method, M, seed):
    table = some_table(seed, M)
    found = table.minimise(loss, method=method)
    assert found.converged
    assert found.unique
    assert found.distance < 1e-10
    assert found.risk == table.risk(found.beta, loss)
    h = 1e-4
    for j in range(M):  # risk is even around the minimum up to third order
        step = h * (np.arange(M) == j)
        ahead, behind = table.risk(found.beta + step, loss), table.risk(found.beta - step, loss)
        assert abs(ahead - behind) / (2 * h) < 1e-7
        assert min(ahead, behind) > found.risk


@every_loss
def test_scipy_agrees(loss, seed):
    table = some_table(seed, 5)
    ours = table.minimise(loss)
    theirs = minimize(table.risk, np.zeros(5), args=(loss,), method="BFGS", tol=1e-9)
    np.testing.assert_allclose(ours.beta, theirs.x, atol=1e-5)
    assert ours.risk <= theirs.fun + 1e-15


def test_one_classifier_by_hand():
    """errors 20 of 100: beta = log(80/20) / 2 and log(80/20)."""
    table = TruthTable.from_cells([[1], [-1]], [80, 20])
    assert table.minimise("exponential").beta[0] == pytest.approx(np.log(4) / 2, abs=1e-14)
    assert table.minimise("exponential").risk == pytest.approx(2 * np.sqrt(0.8 * 0.2), abs=1e-15)
    assert table.minimise("logistic").beta[0] == pytest.approx(np.log(4), abs=1e-13)


def test_relaxation_follows_the_slides_weights():
    """The slide's loop over examples, literally."""
    table = some_table(3, 4)
    cells, counts = table.patterns, table.counts
    examples = np.repeat(cells, counts, axis=0).astype(float)
    w, beta = np.full(len(examples), 1 / len(examples)), np.zeros(4)
    path = [beta.copy()]
    for _ in range(5):
        for j in range(4):
            epsilon = w[examples[:, j] < 0].sum() / w.sum()
            alpha = np.log((1 - epsilon) / epsilon)
            w *= np.exp(-0.5 * alpha * examples[:, j])
            beta[j] += alpha / 2
        path.append(beta.copy())
    with pytest.warns(ConvergenceWarning, match="after 5 iterations"):
        found = table.minimise(method="relaxation", max_iter=5)
    np.testing.assert_allclose(found.trace.betas, path, atol=1e-13)
    assert not found.converged


@every_method
def test_traces(method):
    table = some_table(1, 4)
    found = table.minimise(method=method)
    betas, risks = found.trace.betas, found.trace.risks
    assert betas.shape == (found.n_iter + 1, 4)
    assert len(risks) == 1 + found.n_iter * (4 if method == "relaxation" else 1)
    assert risks[0] == 1.0  # phi(0)
    np.testing.assert_array_equal(betas[-1], found.beta)
    every = 4 if method == "relaxation" else 1
    np.testing.assert_allclose([table.risk(b) for b in betas], risks[::every], rtol=1e-13)


@every_loss
@every_method
def test_of_many_minimisers_the_shortest_is_given(loss, method):
    rng = np.random.default_rng(2)
    H = np.where(rng.random((300, 3)) < 0.7, 1, -1)
    doubled = np.column_stack([H, H[:, 0], -H[:, 1]])
    one = TruthTable.from_predictions(np.ones(300, int), H).minimise(loss)
    many = TruthTable.from_predictions(np.ones(300, int), doubled).minimise(loss, method=method)
    assert not many.unique
    b = one.beta
    np.testing.assert_allclose(
        many.beta, [b[0] / 2, b[1] / 2, b[2], b[0] / 2, -b[1] / 2], atol=1e-9
    )
    assert many.risk == pytest.approx(one.risk, rel=1e-13)


def test_weights_scale_out(seed):
    table = some_table(seed, 4)
    heavier = TruthTable.from_cells(table.patterns, table.counts * 1e-7)
    np.testing.assert_allclose(heavier.minimise().beta, table.minimise().beta, atol=1e-11)
    assert heavier.minimise().risk == pytest.approx(table.minimise().risk, rel=1e-13)


def test_many_classifiers():
    table = some_table(0, 15, n=600)
    newton, relaxed = table.minimise(), table.minimise(method="relaxation")
    np.testing.assert_allclose(newton.beta, relaxed.beta, atol=1e-9)
    sixty = some_table(0, 60, n=900)
    assert sixty.minimise().distance < 1e-10
    assert sixty.existence.certified


# --- three classifiers ------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_closed_form(loss, seed):
    rng = np.random.default_rng(seed)
    every = np.array([[a, b, c] for a in (1, -1) for b in (1, -1) for c in (1, -1)])
    kinds = set()
    for _ in range(80):
        counts = rng.integers(0, rng.choice([2, 5, 1000, 10**7]), size=8)
        if not counts.any():
            continue
        table = TruthTable.from_cells(every, counts)
        if table.existence.exists:
            exact = table.closed_form(loss)
            np.testing.assert_allclose(exact, table.minimise(loss).beta, atol=1e-9)
            kinds.add((table.existence.full_pairs, len(table.pairs.m)))
        else:
            with pytest.raises(InvalidDataError, match="no minimum"):
                table.closed_form(loss)
    assert len(kinds) >= 4  # full, half-empty and empty pairs were among them


def test_closed_form_where_no_pair_is_full():
    """Half-empty pairs alone: X_l = log(m_l / s), and s = (m_1 m_2 m_3 n_0)^(1/4)."""
    table = TruthTable.from_cells([[-1, 1, 1], [1, -1, 1], [1, 1, -1], [-1, -1, -1]], [2, 3, 5, 7])
    s = (2 * 3 * 5 * 7) ** 0.25
    x1, x2, x3 = np.log(np.array([2, 3, 5]) / s)
    expected = [(x2 + x3) / 2, (x1 + x3) / 2, (x1 + x2) / 2]
    np.testing.assert_allclose(table.closed_form(), expected, atol=1e-13)


def test_closed_form_is_for_two_losses():
    table = some_table(0, 3)
    with pytest.raises(InvalidParameterError, match="'exponential' or 'logistic'.*'heavy'"):
        table.closed_form(heavy)

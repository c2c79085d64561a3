"""Linear starts of AutoBoost: the products, the descent, its scores as trees, the trial."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from support import assert_same_model

import edgewise
from edgewise import AutoBoostClassifier, _core
from edgewise._auto.columns import FARTHEST, MOST_STEPS, UNIT, columns_of
from edgewise._auto.linear import MOST_WORK, _Descent, fitted_linear, pays
from edgewise._auto.members import start_scores
from edgewise._auto.metric import MOST_COLUMNS, RIDGE, metric_of
from edgewise._boosting.grower import binned
from edgewise._data.rows import Rows

SETTING = "linear start, "


def sloping(n=600, d=12, K=4, seed=0, noise=1.0):
    """Classes are parted by sums of columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    scores = 5 / np.sqrt(d) * X @ np.random.default_rng(d).normal(size=(d, K))
    return X, (scores + noise * rng.gumbel(size=(n, K))).argmax(axis=1)


def boxes(n=500, seed=2):
    """Two rare classes are boxes in columns with long tails; most columns are empty."""
    rng = np.random.default_rng(seed)
    X = np.exp(1.5 * rng.normal(size=(n, 5)))
    rare = X[:, 0] > np.quantile(X[:, 0], 0.92)
    y = np.where(rare & (X[:, 1] < 1), 0, np.where(rare & (X[:, 2] < 1), 1, 2))
    return np.c_[X, np.zeros((n, 300))], y


def prepared(X, y, categorical=()):
    rows = Rows(np.asarray(X, dtype=float), y.astype(np.int32), None)
    return rows, columns_of(rows, binned(rows, 255, list(categorical), 1), list(categorical))


def n_linear(model):
    of_members = model.members_["setting"]
    return sum(setting.startswith(SETTING) for setting in of_members)


# --- the products -----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 255, 256, 257, 1500])
@pytest.mark.parametrize("K", [1, 3])
def test_the_products_are_those_of_numpy(n, K):
    rng = np.random.default_rng(n)
    values = rng.integers(-(2**15), 2**15, (5, n)).astype(np.int16)
    coefficients, residuals = rng.normal(size=(5, K)), rng.uniform(-1, 1, (n, K))
    scores, gradient = np.empty((n, K)), np.empty((5, K))
    _core.linear_scores(values, coefficients, scores, 2)
    _core.linear_gradient(values, residuals, gradient, 2)
    np.testing.assert_allclose(scores, values.T @ coefficients / UNIT, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, values @ residuals / UNIT, rtol=0, atol=1e-6 * n)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_gradient_has_the_same_bits_in_any_order_of_rows(n_threads):
    rng = np.random.default_rng(7)
    values = rng.integers(-(2**15), 2**15, (9, 3001)).astype(np.int16)
    residuals = rng.uniform(-1, 1, (3001, 4))
    first, second = np.empty((9, 4)), np.empty((9, 4))
    _core.linear_gradient(values, residuals, first, 1)
    order = rng.permutation(3001)
    shuffled = np.ascontiguousarray(values[:, order])
    _core.linear_gradient(shuffled, np.ascontiguousarray(residuals[order]), second, n_threads)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.0001, -2.0, 1e308])
def test_residuals_beyond_one_are_refused(bad):
    residuals = np.zeros((700, 3))
    residuals[699, 2] = bad
    with pytest.raises(ValueError, match="residuals must be from -1 to 1"):
        _core.linear_gradient(np.ones((2, 700), np.int16), residuals, np.empty((2, 3)), 1)


@pytest.mark.parametrize("shapes", [((2, 5), (3, 4), (5, 4)), ((2, 5), (2, 4), (6, 4))])
def test_products_of_shapes_that_do_not_agree_are_refused(shapes):
    columns, coefficients, scores = (np.zeros(shape) for shape in shapes)
    with pytest.raises(ValueError, match="must agree"):
        _core.linear_scores(columns.astype(np.int16), coefficients, scores, 1)
    with pytest.raises(ValueError, match="must agree"):
        _core.linear_gradient(columns.astype(np.int16), scores, coefficients, 1)


# --- columns and the descent ------------------------------------------------------------------


def test_columns_are_standardised_steps():
    rng = np.random.default_rng(1)
    X = np.c_[rng.normal(5, 3, 2000), rng.integers(0, 2, 2000), np.full(2000, 4.0)]
    X[:100, 0] = np.nan
    _, columns = prepared(X, rng.integers(0, 3, 2000))
    assert [column.feature for column in columns.each] == [0, 1]
    assert len(columns.each[0].steps) == MOST_STEPS
    heights = columns.values[:-1] / UNIT
    np.testing.assert_allclose(heights[:, 100:].mean(axis=1), 0, atol=0.02)
    np.testing.assert_allclose(heights[:, 100:].std(axis=1), 1, atol=0.02)
    assert np.abs(heights).max() <= FARTHEST
    assert (np.abs(heights[0, :100]) < 0.1).all()  # missing values are near the mean
    assert (np.diff(columns.each[0].steps) >= 0).all()
    np.testing.assert_allclose([column.cover.sum() for column in columns.each], 1)


@pytest.mark.parametrize("scale", [1e-300, 1e300, 1.7e308])
def test_columns_of_extreme_size_are_finite_or_left_out(scale):
    X, y = sloping(200, 3)
    rows, columns = prepared(X / np.abs(X).max() * scale, y)
    if columns is not None:
        linear = fitted_linear(columns, rows, np.arange(200) % 4 == 0, np.zeros(4), 1)
        assert np.isfinite(linear.coefficients).all()


def test_the_descent_reaches_the_maximum_likelihood():
    X, y = sloping(noise=3.0)
    rows, columns = prepared(X, y)
    held_out = np.arange(len(y)) % 5 == 0
    descent = _Descent(columns, rows, held_out, start_scores(rows.take(~held_out), 4), 1)
    for _ in range(400):
        descent.step()
    T = (columns.values[:-1] / UNIT).T
    best = LogisticRegression(C=1e6, max_iter=2000).fit(T[~held_out], y[~held_out])
    reached = -np.mean(descent_log_proba(columns, descent, y)[~held_out])
    expected = log_loss(y[~held_out], best.predict_proba(T[~held_out]))
    assert abs(reached - expected) < 1e-5


def descent_log_proba(columns, descent, y):
    scores = (columns.values / UNIT).T @ descent.coefficients
    scores -= scores.max(axis=1, keepdims=True)
    return scores[np.arange(len(y)), y] - np.log(np.exp(scores).sum(axis=1))


def test_the_metric_saves_steps_where_columns_go_together():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(800, 1)) + 0.3 * rng.normal(size=(800, 10))
    scores = X @ rng.normal(size=(10, 5)) / 0.3
    y = (scores + rng.gumbel(size=(800, 5))).argmax(axis=1)
    rows, columns = prepared(X, y)
    held_out = np.arange(800) % 4 == 0
    losses = []
    for given in (columns, columns._replace(metric=None)):
        descent = _Descent(given, rows, held_out, np.zeros(5), 1)
        assert all(descent.step() for _ in range(8))
        losses.append(-descent_log_proba(given, descent, y)[~held_out].mean())
    assert losses[0] < 0.8 * losses[1]


def test_a_descent_that_has_arrived_says_so():
    X, y = sloping(200, 2, 2, noise=5.0)
    rows, columns = prepared(X, y)
    descent = _Descent(columns, rows, np.arange(200) % 4 == 0, np.zeros(2), 1)
    steps = 0
    while descent.step():
        steps += 1
        assert steps < 200
    assert steps > 2


@pytest.mark.parametrize("n_columns", [1, 15, 16, 17, 40])
def test_the_metric_is_the_inverse_of_weighted_moments(n_columns):
    rng = np.random.default_rng(n_columns)
    values = rng.integers(-3 * 2048, 3 * 2048, (n_columns, 90)).astype(np.int16)
    weights = rng.uniform(0.5, 2.0, 90)
    rows = Rows(np.zeros((90, 1)), np.zeros(90, np.int32), weights)
    T = values / UNIT
    moments = (T * weights) @ T.T / weights.sum() + RIDGE * np.eye(n_columns)
    metric = metric_of(values, UNIT, FARTHEST + 1, rows)
    np.testing.assert_allclose(metric @ moments, np.eye(n_columns), atol=1e-5)


def test_many_columns_have_no_metric_and_descend_all_the_same():
    X, y = sloping(400, MOST_COLUMNS, 2)
    rows, columns = prepared(X, y)
    assert columns.metric is None
    held_out = np.arange(400) % 4 == 0
    descent = _Descent(columns, rows, held_out, np.zeros(2), 1)
    assert all(descent.step() for _ in range(10))
    after = -descent_log_proba(columns, descent, y)[~held_out].mean()
    assert after < 0.7 * np.log(2)


def test_two_even_classes_do_not_diverge():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(400, 1)), 20, axis=1)  # one direction has all the variance
    y = (X[:, 0] + rng.logistic(size=400) > 0).astype(int)
    rows, columns = prepared(X, y)
    held_out = np.arange(400) % 4 == 0
    descent = _Descent(columns, rows, held_out, np.zeros(2), 1)
    losses = [descent.held_out_loss()]
    for _ in range(60):
        descent.step()
        losses.append(descent.held_out_loss())
    assert max(losses) == losses[0]


def test_labels_of_held_out_rows_only_say_when_to_stop():
    X, y = sloping()
    rows, columns = prepared(X, y)
    held_out = np.arange(len(y)) % 3 == 0
    other = rows._replace(codes=np.where(held_out, (y + 1) % 4, y).astype(np.int32))
    first = _Descent(columns, rows, held_out, np.zeros(4), 1)
    second = _Descent(columns, other, held_out, np.zeros(4), 1)
    for _ in range(5):
        first.step()
        second.step()
    np.testing.assert_array_equal(first.coefficients, second.coefficients)


def test_linear_scores_are_trees_of_one_column():
    rng = np.random.default_rng(2)
    X, y = sloping(500, 6)
    X[:, 3] = np.round(X[:, 3])
    X[rng.random(X.shape) < 0.1] = np.nan
    rows, columns = prepared(X, y)
    linear = fitted_linear(columns, rows, np.arange(500) % 4 == 0, np.zeros(4), 1)
    model = linear.model(columns)
    expected = (columns.values[:-1] / UNIT).T @ linear.coefficients + linear.start
    np.testing.assert_allclose(model.scores(X, 1), expected, atol=1e-12)
    assert model.n_trees == 6
    assert model.n_rounds == 1
    far = model.scores(np.full((1, 6), 1e30), 1) - model.scores(np.nanmax(X, axis=0)[None], 1)
    np.testing.assert_array_equal(far, 0.0)
    type(model).from_arrays(model.arrays(), 6)  # passes the checks of model files


def test_many_columns_and_classes_do_not_pay():
    assert pays(1000, 10, 10)
    assert not pays(MOST_WORK, 1, 2)
    assert not pays(1000, 0, 2)


# --- members ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sloped():
    X, y = sloping()
    return AutoBoostClassifier(effort="fast").fit(X, y), X, y


def test_sums_of_columns_are_learned_better(sloped):
    model, _, _ = sloped
    X_new, y_new = sloping(4000, seed=1)
    trees_only = AutoBoostClassifier(effort="fast", monotonic_cst=[0] * 12)
    trees_only.fit(*sloped[1:])
    assert n_linear(model) == 4
    assert n_linear(trees_only) == 0
    ours, theirs = (log_loss(y_new, m.predict_proba(X_new)) for m in (model, trees_only))
    assert ours < 0.85 * theirs


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_linear_starts_that_do_not_help_are_left_out(n_jobs):
    model = AutoBoostClassifier(effort="fast", n_jobs=n_jobs).fit(*boxes())
    assert n_linear(model) == 0
    assert len(model.members_["setting"]) == 5


def test_rounds_of_the_model_are_those_of_the_members(sloped):
    model, X, _ = sloped
    assert model.n_iter_ == model.members_["rounds"].sum() == len(model.history_["loss"])
    assert model.n_iter_ == len(list(model.staged_predict(X[:2])))
    assert np.isfinite(model.history_["held_out_loss"]).all()
    first = np.flatnonzero(np.diff(model.model_.round_start) != 1)
    assert len(first) == n_linear(model)  # all trees of linear starts are in one of these rounds
    assert np.diff(model.model_.round_start)[first].sum() == X.shape[1]


def test_what_reads_models_reads_linear_starts(sloped, tmp_path):
    model, X, _ = sloped
    scores = model.model_.scores(X[:20], 1)
    shares = model.model_.shapley_values(X[:20], 1)
    np.testing.assert_allclose(
        shares.sum(axis=1) + model.model_.expected_scores(), scores, atol=1e-9
    )
    assert (model.feature_importances_ > 0).all()
    model.save(tmp_path / "m.edgewise")
    again = edgewise.load(tmp_path / "m.edgewise")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_limit_on_trees_counts_those_of_linear_starts(sloped):
    model, X, y = sloped
    for most in (5, 23, 24, 30, 60, model.model_.n_trees - 1):
        limited = AutoBoostClassifier(effort="fast", max_trees=most).fit(X, y)
        assert 0 < limited.model_.n_trees <= most
        assert limited.n_iter_ == len(limited.history_["loss"])


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_the_model_is_the_same_for_any_threads_and_order(sloped, n_jobs):
    model, X, y = sloped
    order = np.random.default_rng(n_jobs).permutation(len(y))
    again = AutoBoostClassifier(effort="fast", n_jobs=n_jobs).fit(X[order], y[order])
    assert_same_model(again.model_, model.model_)


def test_sparse_rows_have_the_linear_start_of_dense_ones():
    X, y = sloping(300, 5)
    X[np.abs(X) < 0.4] = 0
    dense = AutoBoostClassifier(effort="fast").fit(X, y)
    sparse = AutoBoostClassifier(effort="fast").fit(sp.csr_matrix(X), y)
    assert n_linear(dense) > 0
    assert_same_model(sparse.model_, dense.model_)


def test_weights_and_soft_labels_reach_the_linear_start():
    X, y = sloping(400, 5, 3)
    weights = np.where(y == 0, 3.0, 1.0)
    soft = np.full((400, 3), 0.1) + 0.7 * np.eye(3)[y]
    weighted = AutoBoostClassifier(effort="fast").fit(X, y, weights)
    uneven = AutoBoostClassifier(effort="fast", class_weight={0: 3.0, 1: 1.0, 2: 1.0}).fit(X, y)
    softened = AutoBoostClassifier(effort="fast").fit(X, soft)
    assert n_linear(weighted) == n_linear(softened) == 4
    assert_same_model(weighted.model_, uneven.model_)
    assert softened.predict_proba(X).max() < weighted.predict_proba(X).max()

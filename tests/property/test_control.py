"""Constraints hold exactly, draws are the same however a fit is run, and weights mean rows."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from support import LOGISTIC_VARIANTS, VARIANTS, assert_same_model, table

import edgewise
from edgewise import FitWarning, _core

every_logistic = pytest.mark.parametrize(
    "make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS.keys()
)


def random_table(seed, n, K, missing):
    """Four columns; the first two tell the classes apart, but not in one direction; the third has
    four values without an order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(1)
    X[:, 2] = rng.integers(4, size=n)
    y = ((2 * np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] + rng.normal(size=n)) % K).astype(int)
    y[:K] = np.arange(K)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def scores_along(model, X, column, seed):
    """Scores (rows, steps, K) of some rows, the values of one column replaced by a grid."""
    rng = np.random.default_rng(seed)
    some = rng.choice(len(X), 20)
    seen = X[:, column][~np.isnan(X[:, column])]
    grid = np.unique(np.concatenate([seen, seen + 1e-9, [-np.inf, -9.0, 9.0, np.inf]]))
    rows = np.repeat(X[some], len(grid), axis=0)
    rows[:, column] = np.tile(grid, len(some))
    return model.model_.scores(rows, 1).reshape(len(some), len(grid), -1)


def assert_rises(scores, k, j, d):
    """The log odds of k against j never go against d: exactly, not up to rounding."""
    odds = scores[..., k] - scores[..., j]
    assert (d * np.diff(odds, axis=1) >= 0).all()


def draw_constraint(data, K):
    """The entry of a column, and the pairs of classes that it means."""
    kind = data.draw(st.sampled_from(["one", "up and down", "pair"]))
    k, j, *_ = data.draw(st.permutations(range(K)))
    d = data.draw(st.sampled_from([-1, 1]))
    others = [(k, other, d) for other in range(K) if other != k]
    if kind == "pair":
        return {(k, j): d}, [(k, j, d)]
    if kind == "one":
        return {k: d}, others
    return {k: d, j: -d}, others + [(j, other, -d) for other in range(K) if other != j]


@every_logistic
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_log_odds_are_monotone(make, data):
    seed = data.draw(st.integers(0, 2**32 - 1))
    K = data.draw(st.integers(2, 5))
    X, y = random_table(
        seed, data.draw(st.integers(20, 200)), K, data.draw(st.sampled_from([0, 0.2]))
    )
    columns = data.draw(st.sampled_from([[0], [1, 0], [0, 1, 3]]))
    drawn = {c: draw_constraint(data, K) for c in columns}
    model = make(
        n_estimators=8,
        monotonic_cst={c: entry for c, (entry, _) in drawn.items()},
        categorical_features=[2],
        random_state=0,
        max_leaf_nodes=data.draw(st.sampled_from([4, 16, None])),
        min_samples_leaf=data.draw(st.sampled_from([1, 5])),
        l2_regularization=data.draw(st.sampled_from([0.0, 1.0])),
        max_delta=data.draw(st.sampled_from([None, 0.5])),
        subsample=data.draw(st.sampled_from([1.0, 0.6])),
        learning_rate=data.draw(st.sampled_from([0.1, 1.0])),
    ).fit(X, y)
    for c, (_, pairs) in drawn.items():
        scores = scores_along(model, X, c, seed)
        for pair in pairs:
            assert_rises(scores, *pair)


@every_logistic
@pytest.mark.parametrize("K", [2, 4])
def test_without_constraints_log_odds_are_not_monotone_and_with_them_they_move(make, K):
    X, y = random_table(1, 300, K, 0.1)
    free = make(n_estimators=20).fit(X, y)
    with pytest.raises(AssertionError):
        assert_rises(scores_along(free, X, 0, 0), 1, 0, 1)
    bound = make(n_estimators=20, monotonic_cst={0: {1: 1}, 1: {1: -1}}).fit(X, y)
    for column in (0, 1):
        scores = scores_along(bound, X, column, 0)
        assert np.ptp(scores[..., 1] - scores[..., 0], axis=1).max() > 0.05
    assert bound.history_["loss"][-1] < bound.history_["loss"][0]


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ([{0, 1}, {1, 2}], [{0, 1}, {1, 2}, {3}]),
    ],
    ids=str,
)
def test_paths_stay_within_a_set(make, given, sets):
    X, y = random_table(2, 300, 3, 0.1)
    model = make(interaction_cst=given).fit(X, y)
    met = paths(model.model_)
    assert all(any(path <= s for s in sets) for path in met), met
    free = make().fit(X, y)
    if make.keywords.get("base") != "stump":
        assert not all(any(path <= s for s in sets) for path in paths(free.model_))


def paths(model):
    """The sets of features on the paths of all trees."""
    found = set()
    for first, last in zip(model.node_start[:-1], model.node_start[1:], strict=True):
        feature, left = model.feature[first:last], model.left[first:last]
        above = [frozenset()] * len(feature)
        for i in range(len(feature)):
            if feature[i] < 0:
                found.add(above[i])
            else:
                above[left[i]] = above[left[i] + 1] = above[i] | {int(feature[i])}
    return found


EVERYTHING = {
    "l2_regularization": 0.5,
    "min_gain": 0.01,
    "max_delta": 1.0,
    "subsample": 0.7,
    "max_features": 3,
    "interaction_cst": [{0, 1, 2}, {1, 3}],
    "categorical_features": [2],
    "random_state": 5,
}


def everything(make, K, **others):
    monotone = {0: 1, 3: -1} if K == 2 else {0: {0: 1}, 3: {1: -1}}
    return partial(make, monotonic_cst=monotone, **EVERYTHING | others)


@every_logistic
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("zeros", [0.0, 0.9])
def test_threads_and_orders(make, K, zeros):
    X, y = random_table(3, 400, K, 0.1)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < zeros] = 0.0  # nine of ten make the layout sparse
    assert _core.BinnedData(X, None, 255, 1, [2]).sparse == (zeros > 0)
    w = rng.integers(1, 4, size=len(y)).astype(float)
    fitted = everything(make, K, n_jobs=1)().fit(X, y, sample_weight=w)
    assert (fitted.model_.feature >= 0).any()
    order = rng.permutation(len(y))
    for n_jobs in (1, 2, 4):
        other = everything(make, K, n_jobs=n_jobs)()
        other.fit(X[order], y[order], sample_weight=w[order])
        assert_same_model(other.model_, fitted.model_)


@pytest.mark.parametrize(
    "name", ["mart", "logitboost", "abc_logitboost", "aoso_pair", "aoso_vector"]
)
def test_threads_share_large_nodes(name):
    X, y = random_table(4, 40_000, 3, 0.1)
    make = everything(LOGISTIC_VARIANTS[name], 3, n_estimators=2)
    one, four = make(n_jobs=1).fit(X, y), make(n_jobs=4).fit(X, y)
    assert_same_model(one.model_, four.model_)


@every_logistic
def test_continued_fit_is_a_longer_fit(make):
    X, y = random_table(5, 150, 3, 0.1)
    whole = everything(make, 3, n_estimators=9)().fit(X, y)
    parts = everything(make, 3, n_estimators=4, warm_start=True)().fit(X, y)
    parts.set_params(n_estimators=9).fit(X, y)
    assert whole.n_iter_ == 9
    assert_same_model(parts.model_, whole.model_)


@every_logistic
def test_early_stopping_with_draws(make):
    X, y = table(6, n=300, K=3, levels=6)
    model = everything(make, 3, n_estimators=300, early_stopping=True, n_iter_no_change=5)()
    model.set_params(monotonic_cst={0: {2: 1}, 3: {0: -1}}).fit(X, y)
    assert 0 < model.n_iter_ < 300
    assert model.stop_reason_ == "early stopping"


@every_logistic
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_weight_is_repetition_and_one_is_none(make, subsample):
    X, y = random_table(7, 120, 3, 0.0)  # values missing only elsewhere go where most rows went
    w = np.random.default_rng(0).integers(1, 4, size=len(y))
    make = partial(
        make, l2_regularization=3.0, min_gain=0.5, subsample=subsample, random_state=1,
        max_delta=0.7, monotonic_cst={0: {2: 1}},
    )  # fmt: skip
    weighted = make().fit(X, y, sample_weight=w).predict_proba(X)
    repeated = make().fit(np.repeat(X, w, axis=0), np.repeat(y, w)).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-6)
    ones = make().fit(X, y, sample_weight=np.ones(len(y))).predict_proba(X)
    np.testing.assert_allclose(ones, make().fit(X, y).predict_proba(X), atol=1e-12)


@every_logistic
def test_rounds_draw_a_share_of_the_rows_and_move_all(make):
    X, y = table(8, n=2000, K=3)
    model = make(subsample=0.3, n_estimators=1, random_state=0, max_leaf_nodes=4).fit(X, y)
    whole = make(n_estimators=1, max_leaf_nodes=4).fit(X, y)
    assert not np.array_equal(model.model_.values, whole.model_.values)
    moved = (model.model_.scores(X, 1) != model.model_.start).any(axis=1)
    assert moved.mean() > 0.99
    # The loss told is that of all rows.
    p = model.predict_proba(X)[np.arange(len(y)), y]
    assert model.history_["loss"][-1] == pytest.approx(-np.log(p).mean())


@every_logistic
def test_a_draw_that_teaches_nothing_does_not_end_boosting(make):
    X, y = table(9, n=100, K=3)
    X[:, 1:] = 0.0  # three features of four are constant
    model = make(max_features=1, random_state=0, n_estimators=12).fit(X, y)
    assert model.n_iter_ == 12
    with pytest.warns(FitWarning, match="no tree has a split"):  # one row a round
        alone = make(subsample=1e-9, random_state=0, n_estimators=3).fit(X, y)
    assert alone.n_iter_ == 3


def test_seeds_differ_and_integers_repeat():
    X, y = table(10, n=200, K=3)
    make = partial(edgewise.AOSOLogitBoostClassifier, subsample=0.5, n_estimators=3)
    first, again, other = (make(random_state=s).fit(X, y).predict_proba(X) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@every_logistic
@pytest.mark.parametrize("max_delta", [0.2, 1.0])
def test_max_delta_bounds_steps(make, max_delta):
    X, y = table(11, n=150, K=3, noise=0.0)
    model = make(max_delta=max_delta, learning_rate=0.5).fit(X, y)
    assert np.abs(model.model_.values).max() == pytest.approx(0.5 * max_delta, rel=0.35)
    centred = 1 if make.keywords.get("leaf") != "vector" else 2
    assert np.abs(model.model_.values).max() <= centred * 0.5 * max_delta


# --- with the rest of the library ---------------------------------------------------------------


@every_logistic
@pytest.mark.parametrize("calibration", ["temperature", "vector"])
def test_calibration_keeps_log_odds_monotone(make, calibration):
    X, y = random_table(12, 300, 3, 0.1)
    constraints = {0: {1: 1}, 1: {2: -1, 0: 1}}
    model = make(monotonic_cst=constraints, calibration=calibration, early_stopping=False)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    first, second = (scores_along(model, X, column, 0) for column in (0, 1))
    for j in (0, 2):
        assert_rises(first, 1, j, 1)
    assert_rises(second, 2, 1, -1)
    assert_rises(second, 0, 1, 1)


@every_logistic
def test_sparse_matrices_draw_and_constrain_as_dense_ones(make):
    X, y = random_table(13, 200, 3, 0.0)
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0.0
    make = everything(make, 3, categorical_features=None)
    dense, of_scipy = make().fit(X, y), make().fit(scipy.sparse.csr_array(X), y)
    assert_same_model(of_scipy.model_, dense.model_)


@every_logistic
def test_saved_constraints_come_back(make, tmp_path):
    X, y = random_table(14, 150, 3, 0.1)
    model = everything(make, 3, warm_start=True)()
    model.set_params(monotonic_cst={0: {(0, 1): 1}, 1: {np.int64(2): -1}}).fit(X, y)
    model.save(tmp_path / "model.edgewise")
    loaded = edgewise.load(tmp_path / "model.edgewise")
    for one in (model, loaded):
        one.set_params(n_estimators=9).fit(X, y)
    assert_same_model(loaded.model_, model.model_)


@every_logistic
def test_soft_labels_that_are_hard_are_labels(make):
    X, y = random_table(15, 150, 3, 0.1)
    make = partial(make, l2_regularization=2.0, min_gain=0.1, subsample=0.7, random_state=0)
    hard, soft = make().fit(X, y), make().fit(X, np.eye(3)[y])
    np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
def test_columns_of_very_many_categories_keep_to_themselves(make):
    rng = np.random.default_rng(16)
    X = np.column_stack([rng.integers(2000, size=4000), rng.normal(size=(4000, 2)).round(1)])
    y = np.where(X[:, 0] % 7 < 3, 2, X[:, 1] > 1.5)
    model = make(categorical_features=[0], interaction_cst="no_interactions", n_estimators=3)
    model.fit(X, y)
    assert all(len(path) <= 1 for path in paths(model.model_))
    assert frozenset({0}) in paths(model.model_)

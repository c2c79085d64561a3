"""Categorical features: bins of their own, sets in the trees, and the parameter itself."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, assert_same_model, fitted_attributes, nominal_table, uneven_weights

import edgewise
from edgewise import InvalidParameterError, _core

NOMINAL = [0, 1]  # of the columns of `nominal_table`
MARTI = partial(edgewise.MartiBoostClassifier, n_layers=4, max_leaf_nodes=4)
MOST = 254  # categories that have a bin of their own
FEW = ["logitboost", "aoso_pair", "mh_tree", "mh_product", "samme", "softmax_boost"]
some_variants = pytest.mark.parametrize("make", [VARIANTS[name] for name in FEW], ids=FEW)


def binned(column, weights=None, n_threads=1):
    X = np.asarray(column, dtype=float).reshape(-1, 1)
    return _core.BinnedData(X, weights, 2, n_threads, [0])


def codes_of(data):
    return [data.code(i, 0) for i in range(data.n_rows)]


def trees_of(estimator):
    return getattr(estimator.model_, "trees", estimator.model_)


# --- bins ---------------------------------------------------------------------------------------


def test_every_value_has_a_bin_in_its_order_whatever_max_bins_is():
    data = binned([5, -3, 5, 0.5, 1e300, -3])
    assert data.cuts(0) == [-3.0, 0.5, 5.0, 1e300]
    assert codes_of(data) == [2, 0, 2, 1, 3, 0]


def test_missing_and_infinite_values_share_the_last_bin():
    data = binned([2, np.nan, 1, np.inf, -np.inf, 2])
    assert data.cuts(0) == [1.0, 2.0]
    assert codes_of(data) == [1, 2, 0, 2, 2, 1]


def test_zeros_are_one_category():
    assert codes_of(binned([0.0, -0.0, 1.0])) == [0, 0, 1]


def test_a_column_without_values_has_one_bin():
    data = binned([np.nan, np.nan])
    assert data.cuts(0) == []
    assert codes_of(data) == [0, 0]


def test_as_many_categories_as_there_may_be():
    x = np.arange(MOST)
    assert codes_of(binned(x)) == x.tolist()


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_rarest_of_too_many_categories_count_as_missing(n_threads):
    count = np.full(300, 2)
    count[[3, 7, 299]] = 1  # rarer than the others
    data = binned(np.repeat(np.arange(300), count), n_threads=n_threads)
    # Of equally frequent ones the lowest stay.
    kept = np.setdiff1d(np.arange(300), [3, 7, 299])[:MOST]
    assert data.cuts(0) == kept.tolist()
    codes = np.array(codes_of(data))
    expected = np.where(np.isin(np.arange(300), kept), np.searchsorted(kept, np.arange(300)), MOST)
    assert codes.tolist() == np.repeat(expected, count).tolist()


def test_weights_decide_which_categories_are_frequent():
    x = np.arange(MOST + 2)
    weights = np.ones(len(x))
    weights[[0, 100]] = 0.5
    assert binned(x, weights).cuts(0) == np.delete(x, [0, 100]).tolist()


def test_other_columns_keep_their_cuts():
    X = np.array([[3.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
    data = _core.BinnedData(X, None, 255, 1, [1])
    assert data.cuts(0) == [1.5, 2.5]
    assert data.cuts(1) == [1.0, 2.0, 3.0]


# --- trees --------------------------------------------------------------------------------------


def stump(x, y, **kwargs):
    """A LogitBoost model of one split on one categorical column."""
    options = {"n_estimators": 1, "max_leaf_nodes": 2, "min_samples_leaf": 1, "init": "zero"}
    model = edgewise.LogitBoostClassifier(categorical_features=[0], **options | kwargs)
    return model.fit(np.asarray(x, dtype=float).reshape(-1, 1), np.asarray(y))


def test_a_set_separates_what_no_threshold_can():
    x = [1, 2, 3, 4, 5] * 4
    model = stump(x, [v in (2, 5) for v in x])
    assert np.isnan(model.model_.threshold[0])
    assert model.model_.set_values.tolist() == [2.0, 5.0]  # the smaller side goes left
    assert model.model_.set_start.tolist() == [0, 2]
    assert model.predict([[1], [2], [3], [4], [5]]).tolist() == [False, True, False, False, True]


def test_unseen_values_go_where_most_rows_went():
    x = [1, 2, 3, 4, 5] * 4
    model = stump(x, [v in (2, 5) for v in x])
    unseen = np.array([[6.0], [-1.0], [2.5], [np.nan], [np.inf], [-np.inf]])
    assert not model.predict(unseen).any()


def test_unseen_values_go_where_missing_values_went():
    x = [1, 2, 3, 4, 5] * 4 + [np.nan] * 3
    model = stump(x, [v in (2, 5) or np.isnan(v) for v in x])
    assert model.model_.set_values.tolist() == [1.0, 3.0, 4.0]
    assert model.predict([[6.0], [np.nan], [np.inf], [2.0]]).all()


def test_missing_values_alone_can_be_one_side():
    x = [1, 2, 3] * 4 + [np.nan] * 3
    model = stump(x, np.isnan(x))
    assert model.model_.set_values.tolist() == [1.0, 2.0, 3.0]
    assert model.predict([[np.nan], [4.0], [1.0]]).tolist() == [True, True, False]


def test_rare_categories_beyond_the_limit_are_treated_as_missing():
    x = np.concatenate([np.repeat(np.arange(MOST), 2), np.arange(MOST, MOST + 40)])
    model = stump(x, x >= MOST)
    assert model.model_.set_values.tolist() == np.arange(MOST).tolist()
    assert model.predict(x.reshape(-1, 1)).tolist() == (x >= MOST).tolist()


def node_of_some_categories(c, y):
    """A tree that first sets x = 1 apart, where all of 1..9 occur, and then splits by c."""
    others = np.repeat(np.arange(1, 10), 40)
    x = np.repeat([0, 1], [len(c), len(others)])
    X = np.column_stack([x, np.concatenate([c, others])])
    options = {"n_estimators": 1, "max_leaf_nodes": 3, "min_samples_leaf": 1, "init": "zero"}
    model = edgewise.AOSOLogitBoostClassifier(categorical_features=[1], **options)
    model.fit(X, np.concatenate([y, np.zeros(len(others), dtype=int)]))
    assert model.model_.feature[0] == 0
    return model


def test_a_category_that_a_node_has_not_seen_follows_the_order_of_the_values():
    c = np.repeat([2, 3, 7, 8], [6, 5, 4, 5])
    model = node_of_some_categories(c, np.where(c > 5, 2, 1))
    rows = np.column_stack([np.zeros(9), np.arange(1, 10)])
    assert model.predict(rows).tolist() == [1, 1, 1, 1, 2, 2, 2, 2, 2]  # the gap is halved


def test_a_category_that_a_node_has_not_seen_goes_with_those_that_do_not_stand_apart():
    c = np.repeat([1, 3, 5, 7, 9], [40, 40, 6, 6, 40])
    y = np.where(np.isin(c, [1, 9]), 1, 2)
    y[np.isin(c, [5, 7])] = [1, 2] * 6
    model = node_of_some_categories(c, y)
    assert len(model.model_.set_start) == 2
    chosen = set(model.model_.set_values.tolist())
    assert ({1.0, 9.0} <= chosen) != ({3.0} <= chosen)
    together = {2.0, 4.0, 5.0, 6.0, 7.0, 8.0}
    assert together <= chosen or together.isdisjoint(chosen)


def test_rare_categories_are_not_sorted_by_their_labels():
    """A column of noise in which every category has three rows: nothing is learned from it."""
    rng = np.random.default_rng(0)
    noise = np.repeat(np.arange(200), 3)
    y = rng.integers(0, 3, size=len(noise))
    for make in (edgewise.AOSOLogitBoostClassifier, edgewise.LogitBoostClassifier):
        model = make(n_estimators=1, max_leaf_nodes=2, min_samples_leaf=1, categorical_features=[0])
        X = noise[:, np.newaxis].astype(float)
        share = np.mean(model.fit(X, y).predict(X) == y)
        assert share < 0.5, "labels were learned by heart"


def test_weights_that_are_shares_of_a_whole_change_nothing():
    X, y = nominal_table(18, n=200, K=3)
    options = {"n_estimators": 3, "min_samples_leaf": 1, "categorical_features": NOMINAL}
    plain = edgewise.LogitBoostClassifier(**options).fit(X, y)
    shares = edgewise.LogitBoostClassifier(**options).fit(X, y, np.full(len(y), 1.0 / 256))
    assert len(plain.model_.set_start) > 1
    np.testing.assert_array_equal(shares.model_.set_values, plain.model_.set_values)
    np.testing.assert_allclose(shares.predict_proba(X), plain.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32])
def test_categories_of_any_numeric_type(dtype):
    x = np.array([0, 1, 1, 0, 1, 0, 0, 1] * 3, dtype=dtype).reshape(-1, 1)
    y = x[:, 0].astype(int)
    model = edgewise.MARTClassifier(
        n_estimators=2, min_samples_leaf=1, categorical_features=[0]
    ).fit(x, y)
    assert len(model.model_.set_start) > 1
    np.testing.assert_array_equal(model.predict(x), y)


@pytest.mark.parametrize("min_samples_leaf", [2, 10, 25])
@pytest.mark.parametrize("name", [*VARIANTS, "martiboost"])
def test_min_samples_leaf(name, min_samples_leaf):
    X, y = nominal_table(5, n=200, K=2 if name == "martiboost" else 4, missing=0.1, levels=12)
    make = MARTI if name == "martiboost" else partial(VARIANTS[name], n_estimators=2)
    model = make(min_samples_leaf=min_samples_leaf, categorical_features=NOMINAL).fit(X, y)
    trees = trees_of(model)
    assert len(trees.set_start) > 1
    if name in ("martiboost", "mh_product"):  # whose trees do not hold all rows, or are products
        return
    leaves = np.zeros((len(X), trees.n_trees), dtype=np.int32)
    trees.forest.apply(X, 0, trees.n_trees, leaves, 1)
    for column in leaves.T:
        assert np.unique(column, return_counts=True)[1].min() >= min_samples_leaf


@pytest.mark.parametrize("make", [*VARIANTS.values(), MARTI], ids=[*VARIANTS, "martiboost"])
def test_sets_are_sorted_and_belong_to_the_nodes_without_threshold(make):
    X, y = nominal_table(6, n=150, K=2, missing=0.1)
    trees = trees_of(make(categorical_features=NOMINAL).fit(X, y))
    of_set = np.isnan(trees.threshold)
    assert of_set.sum() == len(trees.set_start) - 1 > 0
    assert np.isin(trees.feature[of_set], NOMINAL).all()
    assert not np.isin(trees.feature[~of_set], NOMINAL).any()
    assert not trees.missing_left[of_set].any()
    for categories in np.split(trees.set_values, trees.set_start[1:-1]):
        assert (np.diff(categories) > 0).all()
        assert len(categories) > 0


def test_trees_of_the_core_show_their_sets():
    data = _core.BinnedData(np.arange(6.0).reshape(-1, 1), None, 255, 1, [0])
    labels = np.array([0, 1, 0, 1, 1, 1], dtype=np.int32)
    tree = _core.grow_gini_tree(data, labels, np.ones(6), 2, _core.GrowLimits(2, 0, 1), 1)
    assert tree.sets == [[0.0, 2.0]]


def test_a_forest_needs_a_set_for_every_node_without_threshold():
    x = [1, 2, 3] * 4
    model = stump(x, [v == 2 for v in x]).model_
    arrays = {name: a for name, a in model.arrays().items() if name not in ("start", "round_start")}
    arrays["set_start"] = np.zeros(1, dtype=np.int64)
    with pytest.raises(ValueError, match="a set for every node"):
        _core.Forest(**arrays)


# --- models -------------------------------------------------------------------------------------


@some_variants
def test_training_rows_are_predicted_where_they_were_trained(make):
    """Scores kept by bins while training are those that values lead to."""
    X, y = nominal_table(7, n=400, K=3, levels=40, missing=0.05)
    X[::50, 0] = np.inf
    once = make(n_estimators=4, categorical_features=NOMINAL).fit(X, y)
    twice = make(n_estimators=2, categorical_features=NOMINAL, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=4).fit(X, y)  # replays the values
    assert_same_model(twice.model_, once.model_)
    np.testing.assert_array_equal(twice.history_["loss"], once.history_["loss"])


def test_a_warm_start_may_meet_new_categories():
    X, y = nominal_table(8, n=200, K=3)
    options = {"n_estimators": 2, "min_samples_leaf": 1, "categorical_features": NOMINAL}
    model = edgewise.LogitBoostClassifier(warm_start=True, **options).fit(X, y)
    first = model.model_
    Z = X.copy()
    Z[:, 0] += 1000
    model.set_params(n_estimators=4).fit(Z, y)
    np.testing.assert_array_equal(model.model_.first_rounds(2).scores(X, 1), first.scores(X, 1))
    assert (model.model_.set_values > 500).any()
    assert model.score(Z, y) > edgewise.LogitBoostClassifier(**options).fit(X, y).score(Z, y)


def test_a_feature_may_become_categorical_later():
    X, y = nominal_table(8, n=200, K=3)
    options = {"n_estimators": 2, "min_samples_leaf": 1, "warm_start": True}
    model = edgewise.LogitBoostClassifier(**options).fit(X, y)
    first = model.model_
    model.set_params(n_estimators=4, categorical_features=NOMINAL).fit(X, y)
    np.testing.assert_array_equal(model.model_.first_rounds(2).scores(X, 1), first.scores(X, 1))
    assert len(model.model_.set_start) > 1


@some_variants
def test_rounds_can_be_cut_and_joined(make):
    X, y = nominal_table(9, n=150, K=3, missing=0.1)
    fit = partial(make, categorical_features=NOMINAL)
    whole = fit(n_estimators=4).fit(X, y).model_
    part = fit(n_estimators=2).fit(X, y).model_
    assert_same_model(whole.first_rounds(2), part)
    np.testing.assert_array_equal(whole.first_rounds(2).scores(X, 1), part.scores(X, 1))
    joined = part.followed_by(part)
    np.testing.assert_allclose(
        joined.scores(X, 1) - joined.start, 2 * (part.scores(X, 1) - part.start), atol=1e-12
    )
    assert_same_model(whole.first_rounds(0).followed_by(whole), whole)


@pytest.mark.parametrize("make", [VARIANTS["aoso_pair"], MARTI], ids=["aoso", "martiboost"])
def test_pickle(make):
    X, y = nominal_table(10, n=150, K=2)
    model = make(categorical_features=NOMINAL).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert_same_model(copy.model_, model.model_)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_models_without_categories_store_nothing_for_them():
    X, y = nominal_table(10)
    model = edgewise.MARTClassifier(n_estimators=3, min_samples_leaf=1).fit(X, y).model_
    assert model.set_start.tolist() == [0]
    assert model.set_values.size == 0


def test_early_stopping_watches_with_sets():
    X, y = nominal_table(11, n=400, K=3, noise=0.1)
    model = edgewise.LogitBoostClassifier(
        n_estimators=10, min_samples_leaf=5, categorical_features=NOMINAL, n_iter_no_change=20
    ).fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    proba = model.predict_proba(X[300:])[np.arange(100), y[300:]]
    best = model.history_["validation_score"].max()
    assert best == pytest.approx(np.log(proba).mean(), abs=1e-12)


def test_many_indicator_labels():
    X, y = nominal_table(12, n=200, K=4)
    Y = np.column_stack([y == 0, y >= 2, y % 2]).astype(int)
    model = edgewise.AdaBoostMHClassifier(n_estimators=20, categorical_features=NOMINAL).fit(X, Y)
    plain = edgewise.AdaBoostMHClassifier(n_estimators=20).fit(X, Y)
    assert (model.predict(X) == Y).mean() > (plain.predict(X) == Y).mean()


# --- the parameter ------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [*VARIANTS.values(), MARTI], ids=[*VARIANTS, "martiboost"])
def test_columns_by_number_name_and_mask_are_the_same(make):
    X, y = nominal_table(13, n=100, K=2)
    frame = pd.DataFrame(X, columns=["colour", "shape", "size"])
    expected = make(categorical_features=[0, 1]).fit(X, y)
    assert expected.is_categorical_.tolist() == [True, True, False]
    given = [
        ["colour", "shape"],
        np.array(["shape", "colour"], dtype=object),
        frame.columns[:2],
        [True, True, False],
        np.array([1, 0]),
        (0, 1, 1),
    ]
    for columns in given:
        model = make(categorical_features=columns).fit(frame, y)
        assert_same_model(model.model_, expected.model_)


@pytest.mark.parametrize("nothing", [None, [], [False, False, False], np.array([], dtype=int)])
def test_no_columns(nothing):
    X, y = nominal_table(14)
    model = edgewise.MARTClassifier(n_estimators=1, categorical_features=nothing).fit(X, y)
    assert model.is_categorical_ is None


WRONG = [
    ([3], "from 0 to 2.*Got 3"),
    ([0, -1], "from 0 to 2.*Got -1"),
    ([True, False], "one bool for each of the 3 columns.*Got 2"),
    (["colour", "weight"], "'colour', 'shape', 'size'.*Got 'weight'"),
]


@pytest.mark.parametrize(("columns", "words"), WRONG, ids=str)
@pytest.mark.parametrize(
    "make", [VARIANTS["mart"], VARIANTS["samme"], MARTI], ids=["mart", "samme", "martiboost"]
)
def test_unknown_columns_are_refused(make, columns, words):
    X, y = nominal_table(15, n=60, K=2)
    model = make(categorical_features=columns)
    with pytest.raises(InvalidParameterError, match=words) as caught:
        model.fit(pd.DataFrame(X, columns=["colour", "shape", "size"]), y)
    assert "'categorical_features'" in str(caught.value)
    assert type(model).__name__ in str(caught.value)
    assert fitted_attributes(model) == set()


def test_names_need_a_table_with_names():
    X, y = nominal_table(15)
    with pytest.raises(InvalidParameterError, match="have no names.*Got 'colour'"):
        edgewise.MARTClassifier(categorical_features=["colour"]).fit(X, y)


@pytest.mark.parametrize("classifier", [edgewise.AdaBoostMHClassifier, edgewise.SAMMEClassifier])
def test_foreign_base_learners_reject_categories(classifier):
    X, y = nominal_table(16, n=60)
    base = DecisionTreeClassifier(max_depth=2)
    model = classifier(base=base, n_estimators=2, categorical_features=[1])
    with pytest.raises(InvalidParameterError, match=r"'base'.*DecisionTreeClassifier.*\[1\]"):
        model.fit(X, y)
    model.set_params(categorical_features=[]).fit(X, y)


@pytest.mark.parametrize("value", [0, "colour", [0.5], [[0]], [0, True], [None]])
def test_other_kinds_of_columns_are_refused(value):
    X, y = nominal_table(17, n=60, K=2)
    for make in (VARIANTS["aoso_pair"], VARIANTS["mh_tree"], MARTI):
        with pytest.raises(InvalidParameterError, match="column numbers, of column names"):
            make(categorical_features=value).fit(X, y)


def test_weights_stand_for_repeated_rows():
    X, y = nominal_table(18, n=80, K=3)
    times = np.random.default_rng(0).integers(1, 4, size=len(y))
    options = {"n_estimators": 3, "min_samples_leaf": 1, "categorical_features": NOMINAL}
    options |= {"max_leaf_nodes": 4}
    weighted = edgewise.LogitBoostClassifier(**options).fit(X, y, sample_weight=times)
    repeated = edgewise.LogitBoostClassifier(**options).fit(np.repeat(X, times, 0), y.repeat(times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_rows_of_weight_zero_have_no_categories():
    X, y = nominal_table(19, n=80, K=3)
    w = uneven_weights(0, len(y))
    w[::2] = 0.0
    X[::2, 0] += 100
    make = partial(VARIANTS["aoso_pair"], categorical_features=NOMINAL)
    assert_same_model(
        make().fit(X, y, sample_weight=w).model_,
        make().fit(X[w > 0], y[w > 0], sample_weight=w[w > 0]).model_,
    )

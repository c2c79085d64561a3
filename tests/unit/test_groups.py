"""Columns of more categories than there are bins: groups, found without learning by heart."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from support import VARIANTS, assert_same_model, uneven_weights

import edgewise
from edgewise import _core
from edgewise._data.groups import FOLDS, MOST, _folds, as_trained, grouped
from edgewise._data.rows import Rows

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=4)
every_variant = pytest.mark.parametrize(
    "make", [*VARIANTS.values(), MARTI], ids=[*VARIANTS, "martiboost"]
)
fast = partial(
    edgewise.LogitBoostClassifier, n_estimators=5, min_samples_leaf=5, categorical_features=[0]
)


def many(seed, n=3000, C=600, K=2, *, signal=2.0, zipf=False):
    """Codes of C categories and a number (n, 2), and labels that depend on both."""
    effect = signal * np.random.default_rng(0).normal(size=(C, K))
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, C + 1) ** (1.1 if zipf else 0.0)
    code = rng.choice(C, size=n, p=weight / weight.sum())
    x = rng.normal(size=n)
    score = effect[code] + np.outer(x, np.arange(K))
    y = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    y[:K] = np.arange(K)
    return np.column_stack([(code * 7919) % 100_003, x]), y.astype(np.int32)


def rows(seed=0, **kwargs):
    X, y = many(seed, **kwargs)
    return Rows(X, y, None)


def codes_by_group(group, values):
    """The group of every value by the table, n_groups where it has none."""
    at = np.searchsorted(group.values, values).clip(max=len(group.values) - 1)
    return np.where(group.values[at] == values, group.group[at], len(group.stand_in))


# --- groups ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 5])
def test_every_category_has_a_group_and_every_group_a_rare_category(K):
    given = rows(K=K)
    (group,) = grouped(given, [0], K).groups
    assert group.values.tolist() == np.unique(given.X[:, 0]).tolist()
    assert len(group.own) == MOST
    assert np.unique(group.group).tolist() == list(range(len(group.stand_in)))
    assert len(group.stand_in) <= MOST
    assert not np.isin(group.stand_in, group.own).any()
    assert codes_by_group(group, group.stand_in).tolist() == list(range(len(group.stand_in)))


def test_the_heaviest_categories_have_bins_of_their_own():
    given = rows(zipf=True, n=9000)
    (group,) = grouped(given, [0], 2).groups
    values, counts = np.unique(given.X[:, 0], return_counts=True)
    rare = ~np.isin(values, group.own)
    assert counts[rare].max() <= counts[~rare].min()


def test_frequent_categories_are_where_the_table_says():
    given = rows(zipf=True, n=9000)
    (group,) = grouped(given, [0], 2).groups
    frequent = np.isin(given.X[:, 0], group.own)
    expected = codes_by_group(group, given.X[:, 0])
    np.testing.assert_array_equal(group.codes[frequent], expected[frequent])
    assert (group.codes[~frequent] != expected[~frequent]).mean() > 0.2  # others', not all rows


def test_categories_alike_are_together():
    """Two kinds of categories, pure in their class: groups do not mix them."""
    rng = np.random.default_rng(0)
    code = rng.integers(500, size=6000)
    y = (code % 2).astype(np.int32)
    (group,) = grouped(Rows(np.column_stack([code, rng.normal(size=6000)]), y, None), [0], 2).groups
    kinds = [np.unique(group.values[group.group == g] % 2) for g in range(len(group.stand_in))]
    assert all(len(kind) == 1 for kind in kinds)


def test_a_row_alone_with_its_category_is_missing():
    code = np.concatenate([np.repeat(np.arange(300), 10), 1000 + np.arange(50)])
    rng = np.random.default_rng(1)
    y = np.where(code < 1000, code % 2, rng.integers(2, size=len(code))).astype(np.int32)
    X = np.column_stack([code, rng.normal(size=len(code))])
    (group,) = grouped(Rows(X, y, None), [0], 2).groups
    assert (group.codes[code >= 1000] == len(group.stand_in)).all()
    assert (group.codes[code < 1000] < len(group.stand_in)).all()


def test_values_that_are_not_finite_are_missing():
    given = rows()
    given.X[:3, 0] = np.nan, np.inf, -np.inf
    (group,) = grouped(given, [0], 2).groups
    assert (group.codes[:3] == len(group.stand_in)).all()
    assert np.isfinite(group.values).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_a_signal_there_are_no_groups(seed):
    assert grouped(rows(seed, signal=0.0), [0], 2).groups == ()


def test_few_categories_have_no_groups():
    assert grouped(rows(C=MOST), [0], 2).groups == ()


def test_ids_have_no_groups():
    given = rows()
    given.X[:, 0] = np.arange(len(given.X))
    assert grouped(given, [0], 2).groups == ()


def test_weights_stand_for_importance():
    """Rows of tiny weight say nothing: the groups follow the classes of the others."""
    given = rows()
    heavy = np.arange(len(given.X)) % 2 == 0
    noise = np.random.default_rng(5).integers(2, size=len(heavy)).astype(np.int32)
    codes = np.where(heavy, given.codes, noise)

    def likeness(weights):
        """How near a category's class frequency is to its group's, among the heavy rows."""
        (group,) = grouped(Rows(given.X, codes, weights), [0], 2).groups
        at = np.searchsorted(group.values, given.X[heavy, 0])
        C = len(group.values)
        rows_in, ones = np.bincount(at, minlength=C), np.bincount(at, codes[heavy], C)
        mean = np.bincount(group.group, ones) / np.bincount(group.group, rows_in).clip(1)
        seen = rows_in > 0
        return np.corrcoef((ones / rows_in.clip(1))[seen], mean[group.group][seen])[0, 1]

    assert likeness(np.where(heavy, 1.0, 1e-6)) > 0.99
    assert likeness(None) < 0.97


def test_rare_classes_are_counted_together(monkeypatch):
    monkeypatch.setattr("edgewise._data.groups.MOST_COUNTS", 600 * 3)
    (group,) = grouped(rows(K=6), [0], 6).groups
    assert len(group.stand_in) > 10


def test_rows_as_trained_lead_where_training_led():
    given = grouped(rows(zipf=True, n=9000), [0], 2)
    (group,) = given.groups
    X = as_trained(given)
    np.testing.assert_array_equal(
        codes_by_group(group, X[:, 0])[~np.isnan(X[:, 0])], group.codes[~np.isnan(X[:, 0])]
    )
    np.testing.assert_array_equal(np.isnan(X[:, 0]), group.codes == len(group.stand_in))
    np.testing.assert_array_equal(np.isin(X[:, 0], group.own), np.isin(given.X[:, 0], group.own))
    np.testing.assert_array_equal(X[:, 1], given.X[:, 1])


def test_folds_are_of_one_size_and_the_same_in_any_order():
    given = rows()
    given.X[:100] = given.X[0]  # alike but for their labels
    folds = _folds(given)
    assert np.bincount(folds, minlength=FOLDS).min() > 0.15 * len(folds)
    order = np.random.default_rng(0).permutation(len(folds))
    again = _folds(given.take(order))
    np.testing.assert_array_equal(again[np.argsort(order)][100:], folds[100:])
    for label in (0, 1):
        alike = given.codes[:100] == label
        before, after = folds[:100][alike], again[np.argsort(order)][:100][alike]
        assert sorted(before) == sorted(after)


# --- models ---------------------------------------------------------------------------------------


@every_variant
def test_groups_help_every_estimator(make, monkeypatch):
    X, y = many(1, n=6000)
    X_test, y_test = many(2, n=2000)
    options = {"categorical_features": [0], "min_samples_leaf": 20}
    if make is not MARTI:
        options["n_estimators"] = 20
    with_groups = make(**options).fit(X, y).score(X_test, y_test)
    monkeypatch.setattr("edgewise._data.groups.SURE", np.inf)
    without = make(**options).fit(X, y).score(X_test, y_test)
    assert with_groups > without + 0.01


@pytest.mark.parametrize("name", ["logitboost", "aoso_pair", "mh_tree", "samme", "softmax_exact"])
def test_order_of_rows_and_threads_do_not_matter(name):
    X, y = many(3, K=3)
    w = uneven_weights(0, len(y))
    make = partial(VARIANTS[name], categorical_features=[0], min_samples_leaf=5)
    once = make(n_jobs=1).fit(X, y, w)
    order = np.random.default_rng(0).permutation(len(y))
    assert_same_model(make(n_jobs=2).fit(X[order], y[order], w[order]).model_, once.model_)


@pytest.mark.parametrize(
    "name", ["logitboost", "abc_logitboost", "aoso_vector", "mh_tree", "samme"]
)
def test_a_warm_start_continues_the_same_model(name):
    X, y = many(4, K=3)
    make = partial(VARIANTS[name], categorical_features=[0], min_samples_leaf=5)
    once = make(n_estimators=6).fit(X, y)
    twice = make(n_estimators=3, warm_start=True).fit(X, y).set_params(n_estimators=6).fit(X, y)
    assert_same_model(twice.model_, once.model_)
    np.testing.assert_array_equal(twice.history_["loss"], once.history_["loss"])


def test_sets_are_whole_groups_or_frequent_categories():
    X, y = many(5)
    model = fast().fit(X, y).model_
    (group,) = grouped(Rows(X, y, None), [0], 2).groups
    kinds = set()
    for values in np.split(model.set_values, model.set_start[1:-1]):
        inside = np.isin(group.values, values)
        assert inside.sum() == len(values)
        whole = not np.intersect1d(group.group[inside], group.group[~inside]).size
        assert whole or np.isin(values, group.own).all()
        kinds.add(bool(np.isin(values, group.own).all()))
    assert kinds == {False, True}
    assert set(model.feature[model.feature >= 0]) <= {0, 1}


def test_drawn_features_bring_their_groups():
    X, y = many(6)
    model = edgewise.SAMMEClassifier(
        n_estimators=8, max_features=1, categorical_features=[0], random_state=0
    ).fit(X, y)
    sizes = np.diff(model.model_.set_start)
    assert sizes.max() > MOST  # a set of groups
    for t in range(model.n_iter_):
        nodes = slice(*model.model_.node_start[t : t + 2])
        features = model.model_.feature[nodes]
        assert len(np.unique(features[features >= 0])) <= 1


def test_unseen_categories_go_with_missing_ones():
    X, y = many(7)
    model = fast().fit(X, y)
    Z = X[:50].copy()
    Z[:, 0] = -1.0
    missing = Z.copy()
    missing[:, 0] = np.nan
    np.testing.assert_array_equal(model.predict_proba(Z), model.predict_proba(missing))


def test_labels_are_not_learned_by_heart():
    """With three rows for each of 2000 categories and labels at random, nothing is learned."""
    rng = np.random.default_rng(8)
    X = np.column_stack([np.arange(6000) % 2000, rng.normal(size=6000)])
    y = rng.integers(2, size=6000)
    model = fast(n_estimators=30, min_samples_leaf=20).fit(X, y)
    assert model.score(X, y) < 0.6


def test_65537_categories():
    n = 140_000
    rng = np.random.default_rng(9)
    code = rng.permutation(np.arange(n) % 65_537)
    y = ((code * 2_654_435_761) >> 7) % 2
    frame = pd.DataFrame({"c": np.char.add("id", code.astype(str)), "x": rng.normal(size=n)})
    model = edgewise.LogitBoostClassifier(n_estimators=3, learning_rate=1.0).fit(frame, y)
    assert len(model.categories_[0]) == 65_537
    assert model.score(frame, y) > 0.9
    assert model.predict(pd.DataFrame({"c": ["id-1"], "x": [0.0]})).shape == (1,)


def test_many_labels():
    X, y = many(10, K=3)
    Y = np.column_stack([y == 0, y > 0, y == 2]).astype(int)
    (group,) = grouped(Rows(X, np.zeros(len(y), np.int32), None, Y.astype(bool)), [0], 3).groups
    assert len(group.stand_in) > 10
    model = edgewise.AdaBoostMHClassifier(n_estimators=10, categorical_features=[0]).fit(X, Y)
    assert np.diff(model.model_.set_start).max() > MOST


def test_early_stopping_watches_categories_as_they_are():
    X, y = many(11, n=4000)
    model = fast(n_estimators=20).fit(X[:3000], y[:3000], X_val=X[3000:], y_val=y[3000:])
    right = model.predict_proba(X[3000:])[np.arange(1000), y[3000:]]
    assert model.history_["validation_score"].max() == pytest.approx(
        np.log(right).mean(), abs=1e-12
    )


# --- the core -------------------------------------------------------------------------------------


def core_groups(**changes):
    given = {
        "feature": 0,
        "own": np.array([1.0]),
        "values": np.array([1.0, 2.0, 3.0]),
        "group": np.array([0, 1, 0], dtype=np.uint8),
        "codes": np.array([0, 1, 2, 0], dtype=np.uint8),
    }
    return _core.Grouped(**given | changes)


def test_a_column_of_groups_is_binned_behind_the_features():
    X = np.array([[1.0, 9.0], [2.0, 8.0], [np.nan, 7.0], [3.0, 6.0]])
    data = _core.BinnedData(X, None, 255, 1, [0], [core_groups()])
    assert data.n_features == 3
    assert [data.code(i, 0) for i in range(4)] == [0, 1, 1, 1]  # 1 is missing
    assert [data.code(i, 2) for i in range(4)] == [0, 1, 2, 0]


WRONG = [
    {"values": np.array([2.0, 1.0, 3.0])},
    {"values": np.array([1.0, 2.0])},
    {"values": np.empty(0), "group": np.empty(0, dtype=np.uint8)},
    {"own": np.arange(255.0)},
    {"codes": np.array([0, 1, 3, 0], dtype=np.uint8)},
    {"group": np.array([0, 254, 0], dtype=np.uint8)},
]


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_groups_that_make_no_sense_are_refused(changes):
    with pytest.raises(ValueError, match="group"):
        core_groups(**changes)


def test_codes_of_other_rows_are_refused():
    with pytest.raises(ValueError, match="one group code per row"):
        _core.BinnedData(np.ones((3, 1)), None, 255, 1, [0], [core_groups()])


def test_columns_of_fewer_categories_have_groups_on_request():
    rng = np.random.default_rng(0)
    category = rng.integers(40, size=600).astype(float)
    rows = Rows(category[:, None], (category % 3).astype(np.int32), None)
    assert grouped(rows, [0], 3).groups == ()
    assert grouped(rows, [0], 3, most_alone=40).groups == ()
    (group,) = grouped(rows, [0], 3, most_alone=39).groups
    np.testing.assert_array_equal(group.own, np.arange(40))
    np.testing.assert_array_equal(group.values, np.arange(40))
    of_class = [set(group.group[k::3]) for k in range(3)]
    assert not set.intersection(*of_class)
    assert sum(map(len, of_class)) == len(set.union(*of_class))

"""The state of a fit where classes are many: lists of the classes that matter."""

import numpy as np
import pytest
from support import assert_same_model

from edgewise import (
    AOSOLogitBoostClassifier,
    InvalidDataError,
    aoso_logitboost,
    estimate_memory,
    load,
)

MANY = {"pair": 300, "vector": 2100}  # with vector leaves more than a list holds


def spread(leaf, n=5000, n_features=4, seed=0):
    """Classes around centres, all of which occur."""
    n_classes = MANY[leaf]
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    centres = rng.normal(size=(n_classes, n_features)) * 3
    return centres[y] + rng.normal(size=(n, n_features)), y


@pytest.mark.parametrize("leaf", ["pair", "vector"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_state_is_that_of_the_model(leaf, weighted):
    """Up to what leaves lists: classes of less than 2^-24; with vector leaves, beyond 512 more."""
    X, y = spread(leaf)
    w = np.random.default_rng(2).uniform(0.1, 1.0, len(y)) if weighted else None
    model = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=30).fit(X, y, sample_weight=w)
    own = -np.log(model.predict_proba(X)[np.arange(len(y)), y])
    losses = model.history_["loss"]
    share = 1e-5 if leaf == "pair" else 0.01
    assert losses[-1] == pytest.approx(np.average(own, weights=w), rel=share)
    assert losses[-1] < losses[0]


def test_leaves_list_few_classes_and_probabilities_sum_to_one():
    X, y = spread("vector")
    model = AOSOLogitBoostClassifier(leaf="vector", n_estimators=5).fit(X, y)
    assert model.model_.width.max() <= 256
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("leaf", ["pair", "vector"])
def test_threads_and_order_do_not_change_a_bit(leaf):
    X, y = spread(leaf)
    w = np.random.default_rng(3).uniform(0.1, 1.0, len(y))
    order = np.random.default_rng(4).permutation(len(y))

    def fitted(which=slice(None), **params):
        model = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=6, **params)
        return model.fit(X[which], y[which], sample_weight=w[which])

    one = fitted(n_jobs=1)
    for other in (fitted(n_jobs=3), fitted(order, n_jobs=2)):
        assert_same_model(one.model_, other.model_)
        np.testing.assert_array_equal(one.history_["loss"], other.history_["loss"])


@pytest.mark.parametrize("leaf", ["pair", "vector"])
def test_a_warm_start_gives_the_bits_of_a_single_fit(leaf):
    X, y = spread(leaf)
    whole = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=8).fit(X, y)
    parts = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=3, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=8).fit(X, y)
    assert_same_model(whole.model_, parts.model_)


@pytest.mark.parametrize("leaf", ["pair", "vector"])
def test_a_saved_model_predicts_and_resumes_with_the_same_bits(leaf, tmp_path):
    X, y = spread(leaf)
    whole = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=6).fit(X, y)
    part = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=3, warm_start=True).fit(X, y)
    part.save(tmp_path / "part.edgewise")
    loaded = load(tmp_path / "part.edgewise")
    for ours, theirs in zip(part.predict_top_k(X, 4), loaded.predict_top_k(X, 4), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    loaded.set_params(n_estimators=6).fit(X, y)
    assert_same_model(whole.model_, loaded.model_)


@pytest.mark.parametrize("leaf", ["pair", "vector"])
def test_lists_learn_what_the_dense_state_learns(leaf, monkeypatch):
    X, y = spread(leaf)
    lists = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=25).fit(X, y)
    monkeypatch.setattr(aoso_logitboost, "LISTED_CLASSES", 10**6)
    dense = AOSOLogitBoostClassifier(leaf=leaf, n_estimators=25).fit(X, y)
    first = np.log(MANY[leaf])
    gained = [first - model.history_["loss"][-1] for model in (lists, dense)]
    assert gained[0] > 0.85 * gained[1]


def test_few_classes_and_monotone_fits_stay_dense():
    booster = AOSOLogitBoostClassifier()
    assert booster._layout(256) == "by_row"
    assert booster._layout(257) == "lists"
    booster.set_params(monotonic_cst={0: {"a": 1}})
    assert booster._layout(257) == "by_row"


def test_the_leaf_follows_the_number_of_classes():
    """The default moves the classes of `leaf="pair"` up to 64 classes, beyond all of them."""
    for n_classes, leaf in ((64, "pair"), (65, "vector")):
        rng = np.random.default_rng(0)
        y = np.arange(1300) % n_classes
        X = rng.normal(size=(1300, 3)) + y[:, None] / 10
        chosen = AOSOLogitBoostClassifier(n_estimators=3).fit(X, y)
        asked = AOSOLogitBoostClassifier(n_estimators=3, leaf=leaf).fit(X, y)
        assert_same_model(chosen.model_, asked.model_)
        assert chosen.model_.width.max() == (2 if leaf == "pair" else 65)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_more_classes_than_can_be_counted_are_refused():
    y = np.arange(2**20 + 1)
    with pytest.raises(InvalidDataError, match="at most 1048576 classes. Got 1048577"):
        AOSOLogitBoostClassifier(n_estimators=1).fit(np.zeros((len(y), 1)), y)


def test_estimated_memory_follows_the_lists():
    model = AOSOLogitBoostClassifier(leaf="vector", n_estimators=20)
    sizes = [estimate_memory(200_000, 32, K, estimator=model) for K in (256, 10_000)]
    assert sizes[1] < 3 * sizes[0]  # the probabilities of all rows alone would be forty times
    assert sizes[1] < 2e9


def test_names_and_classes_of_one_row_change_no_bit():
    X, y = spread("pair", n=2000)
    y[y == 7] = 8
    y[0] = 7  # its only row
    names = np.array([f"class {k:03d}" for k in range(MANY["pair"])])
    w = np.random.default_rng(5).uniform(0.0, 3.0, len(y))
    one, named = (
        AOSOLogitBoostClassifier(n_estimators=4, n_jobs=n_jobs).fit(X, labels, sample_weight=w)
        for n_jobs, labels in ((1, y), (2, names[y]))
    )
    assert_same_model(one.model_, named.model_)
    np.testing.assert_array_equal(names[one.predict(X)], named.predict(X))
    np.testing.assert_array_equal(names[one.predict_top_k(X, 3)[0]], named.predict_top_k(X, 3)[0])

"""The model is the same, bit for bit, for any number of threads and any order of the rows."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import VARIANTS, assert_same_model, table

import edgewise
from edgewise import _core

every_variant = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)


def random_table(seed, n, d, K, *, sparse, missing, weighted):
    """X, y, w; in the sparse layout nine values of ten are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, ::2] = np.round(X[:, ::2] * 4)
    if sparse:
        X[rng.random((n, d)) < 0.9] = 0.0
    y = rng.integers(K, size=n)
    y = np.where(X[:, 0] > 0.5, y % 2, y)
    y[:K] = np.arange(K)
    X[rng.random((n, d)) < missing] = np.nan
    return X, y, rng.uniform(0.01, 5.0, size=n) if weighted else None


def assert_same_for_threads_and_orders(make, X, y, w, seed=0, n_jobs=(2, 4)):
    expected = make(n_jobs=1).fit(X, y, sample_weight=w)
    proba = expected.predict_proba(X)
    order = np.random.default_rng(seed).permutation(len(y))
    shuffled = X[order], y[order], None if w is None else w[order]
    for n in n_jobs:
        other = make(n_jobs=n).fit(X, y, sample_weight=w)
        assert_same_model(other.model_, expected.model_)
        np.testing.assert_array_equal(other.history_["loss"], expected.history_["loss"])
        np.testing.assert_array_equal(other.predict_proba(X), proba)
    for n in (1, n_jobs[-1]):
        other = make(n_jobs=n).fit(*shuffled[:2], sample_weight=shuffled[2])
        assert_same_model(other.model_, expected.model_)
        np.testing.assert_array_equal(other.history_["loss"], expected.history_["loss"])
        np.testing.assert_array_equal(other.predict_proba(shuffled[0]), proba[order])


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # some hold nothing to learn
@every_variant
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(10, 400),
    d=st.integers(1, 6),
    K=st.integers(2, 5),
    sparse=st.booleans(),
    missing=st.sampled_from([0.0, 0.1, 0.5]),
    weighted=st.booleans(),
    min_samples_leaf=st.sampled_from([1, 3]),
    max_leaf_nodes=st.sampled_from([3, 9, None]),
)
def test_small_tables(
    make, seed, n, d, K, sparse, missing, weighted, min_samples_leaf, max_leaf_nodes
):
    X, y, w = random_table(seed, n, d, K, sparse=sparse, missing=missing, weighted=weighted)

    def small(**kwargs):
        return make(
            n_estimators=3,
            min_samples_leaf=min_samples_leaf,
            max_leaf_nodes=max_leaf_nodes,
            **kwargs,
        )

    assert_same_for_threads_and_orders(small, X, y, w, seed)


LARGE = 80_000  # rows: more than the 2^16 from which a partition, and 2^15 a node, is shared out


@every_variant
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("min_samples_leaf", [1, 20])
def test_large_tables(make, sparse, min_samples_leaf):
    """Large enough that rows, not only trees and leaves, are shared out among the threads."""
    X, y, w = random_table(0, LARGE, 4, 3, sparse=sparse, missing=0.05, weighted=True)
    assert _core.BinnedData(X, None, 255, 1).sparse == sparse

    def large(**kwargs):
        return make(n_estimators=2, max_leaf_nodes=8, min_samples_leaf=min_samples_leaf, **kwargs)

    assert_same_for_threads_and_orders(large, X, y, w)


@every_variant
def test_many_classes(make):
    X, y, w = random_table(1, 3000, 5, 40, sparse=False, missing=0.0, weighted=False)
    assert_same_for_threads_and_orders(partial_rounds(make, 2), X, y, w)


def partial_rounds(make, n_estimators):
    return lambda **kwargs: make(n_estimators=n_estimators, **kwargs)


@every_variant
def test_many_columns(make):
    """Several blocks of features, whose histograms are built one after the other."""
    X, y, w = random_table(2, 500, 150, 3, sparse=False, missing=0.02, weighted=False)
    assert_same_for_threads_and_orders(partial_rounds(make, 2), X, y, w, n_jobs=(3,))


@every_variant
def test_converged_rounds(make):
    """Late rounds, where most rows hardly count any more."""
    X, y, w = random_table(3, 2500, 3, 3, sparse=False, missing=0.0, weighted=True)
    y = np.digitize(np.nan_to_num(X[:, 1]), [-0.4, 0.4])

    def long(**kwargs):
        return make(n_estimators=40, learning_rate=0.5, **kwargs)

    assert_same_for_threads_and_orders(long, X, y, w, n_jobs=(2,))


MANY_LABELS = {
    "mh": partial(edgewise.AdaBoostMHClassifier, max_leaf_nodes=6),
    "mh_one_vs_all": partial(edgewise.AdaBoostMHClassifier, base="one_vs_all", votes="real"),
    "mh_stump": partial(
        edgewise.AdaBoostMHClassifier, base="stump", votes="ternary", initial_weights="uniform"
    ),
    "softmax_boost": partial(edgewise.SoftmaxBoostClassifier, random_state=0),
}


@pytest.mark.parametrize("make", MANY_LABELS.values(), ids=MANY_LABELS)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_labels(make, sparse, weighted):
    X, y, w = random_table(5, 400, 5, 4, sparse=sparse, missing=0.1, weighted=weighted)
    labels = (y[:, None] == np.arange(4)) | (X[:, :1] > 0.7)
    assert_same_for_threads_and_orders(partial_rounds(make, 4), X, labels.astype(int), w)


@pytest.mark.parametrize("projection", ["sampled", "exact"])
def test_costs_of_rows(projection):
    X, y, w = random_table(6, 400, 4, 3, sparse=False, missing=0.1, weighted=True)
    costs = np.random.default_rng(6).uniform(size=(400, 3))
    order = np.random.default_rng(7).permutation(400)
    make = {"projection": projection, "n_estimators": 4, "random_state": 0}
    one, two = (
        edgewise.SoftmaxBoostClassifier(n_jobs=n_jobs, **make).fit(
            X[rows], y[rows], sample_weight=w[rows], costs=costs[rows]
        )
        for n_jobs, rows in ((1, slice(None)), (3, order))
    )
    assert_same_model(one.model_, two.model_)
    np.testing.assert_array_equal(one.history_["loss"], two.history_["loss"])


@pytest.mark.parametrize("K", [2, 3])
def test_the_vote_of_a_truth_table(K):
    X, y = table(K, n=203, K=K, noise=0.6)
    make = partial(edgewise.MARTClassifier, n_estimators=1, max_leaf_nodes=3, max_features=1)
    named = [(f"mart{s}", make(random_state=s).fit(X, y)) for s in range(5)]
    rng = np.random.default_rng(K)
    w, order = rng.uniform(0.1, 3.0, size=203), rng.permutation(203)
    one, two = (
        edgewise.TruthTableClassifier(named, cv="prefit").fit(
            X[rows], y[rows], sample_weight=w[rows]
        )
        for rows in (slice(None), order)
    )
    np.testing.assert_array_equal(one.beta_, two.beta_)
    for mine, others in zip(one.tables_, two.tables_, strict=True):
        np.testing.assert_array_equal(mine.counts, others.counts)
    np.testing.assert_array_equal(one.predict_proba(X)[order], two.predict_proba(X[order]))


@every_variant
def test_fits_repeat(make):
    X, y, w = random_table(4, 300, 4, 4, sparse=False, missing=0.2, weighted=True)
    first, second = (make(n_jobs=2).fit(X, y, sample_weight=w).model_ for _ in range(2))
    assert_same_model(first, second)

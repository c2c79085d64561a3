"""Categories: what must hold whatever numbers stand for them."""

from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support import CUT_DRAWING, VARIANTS, assert_same_model, nominal_table, uneven_weights

import edgewise
from edgewise import _core

SEEDS = st.integers(0, 2**32 - 1)
NOMINAL = [0, 1]
# Draws that belong to rows (see _data.chance) depend on the values in X, and would hide the rest.
MAKERS = VARIANTS | {
    "softmax_boost": partial(VARIANTS["softmax_boost"], projection="exact"),
    "martiboost": partial(edgewise.MartiBoostClassifier, n_layers=5, max_leaf_nodes=4),
}
CUTTING_IN_ORDER = (
    edgewise.LogitBoostClassifier,
    edgewise.ABCLogitBoostClassifier,
    edgewise.AOSOLogitBoostClassifier,
)
# With random cuts the two kinds of feature draw from different lists.
COMPARABLE = {name: make for name, make in MAKERS.items() if name not in CUT_DRAWING}
every_maker = pytest.mark.parametrize(
    ("make", "two_classes"),
    [(make, name == "martiboost") for name, make in MAKERS.items()],
    ids=MAKERS,
)
some_examples = settings(max_examples=6, deadline=None)


def trees_of(estimator):
    return getattr(estimator.model_, "trees", estimator.model_)


def assert_same_but_for_rounding(a, X, b, Z):
    """Left and right may be exchanged, and sums over leaves be taken in another order."""
    np.testing.assert_allclose(a.decision_function(X), b.decision_function(Z), atol=1e-12)
    np.testing.assert_allclose(
        np.sort(trees_of(a).gain), np.sort(trees_of(b).gain), rtol=1e-6, atol=1e-9
    )


@every_maker
@some_examples
@given(seed=SEEDS, missing=st.sampled_from([0.0, 0.1]), samples=st.sampled_from([1, 4]))
@example(seed=44805, missing=0.1, samples=4)  # a category all of whose rows could be left out
def test_numbers_of_the_categories_do_not_matter(make, two_classes, seed, missing, samples):
    """But for their order, in trees that also cut in the order of the values."""
    X, y = nominal_table(seed, n=90, K=2 if two_classes else 4, missing=missing)
    w = uneven_weights(seed, len(y))
    rng = np.random.default_rng(seed)
    Z = X.copy()
    for j in NOMINAL:
        values = np.unique(X[np.isfinite(X[:, j]), j])
        numbers = rng.permutation(100)[: len(values)] - 50.5
        if isinstance(make(), CUTTING_IN_ORDER):
            numbers.sort()
        renamed = dict(zip(values, numbers, strict=True))
        Z[:, j] = [renamed.get(v, np.nan) for v in X[:, j]]
    options = {"categorical_features": NOMINAL, "min_samples_leaf": samples}
    here, there = (make(**options).fit(T, y, sample_weight=w) for T in (X, Z))
    assert_same_but_for_rounding(there, Z, here, X)


@pytest.mark.parametrize("name", COMPARABLE)
@some_examples
@given(seed=SEEDS, missing=st.sampled_from([0.0, 0.1]))
@example(seed=78, missing=0.1)  # all missing rows of a node could be left out
def test_two_categories_are_as_good_as_numbers(name, seed, missing):
    """So a table of one-hot columns gives the same model either way."""
    make = COMPARABLE[name]
    X, y = nominal_table(seed, n=90, K=2 if name == "martiboost" else 4, missing=missing)
    w = uneven_weights(seed, len(y))
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, X[:, 0] > 4)
    X[:, 1] = np.where(np.isnan(X[:, 1]), np.nan, X[:, 1] > 10)
    numbers = make().fit(X, y, sample_weight=w)
    nominal = make(categorical_features=NOMINAL).fit(X, y, sample_weight=w)
    assert_same_but_for_rounding(nominal, X, numbers, X)


@every_maker
@some_examples
@given(
    seed=SEEDS,
    n=st.integers(20, 300),
    levels=st.sampled_from([2, 9, 40]),
    sparse=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    samples=st.sampled_from([1, 3]),
)
def test_threads_and_the_order_of_rows_do_not_matter(
    make, two_classes, seed, n, levels, sparse, missing, samples
):
    X, y = table_of_layout(seed, n, 2 if two_classes else 3, levels, sparse, missing)
    fit = partial(make, min_samples_leaf=samples, categorical_features=NOMINAL)
    assert_same_for_threads_and_orders(fit, X, y, seed, n_jobs=(2, 4))


def table_of_layout(seed, n, K, levels, sparse, missing):
    """As `nominal_table`; in the sparse layout one category has nine rows of ten."""
    X, y = nominal_table(seed, n=n, K=K, levels=levels, missing=missing)
    if sparse:
        usual = np.random.default_rng(seed).random((n, 3)) < 0.9
        X = np.where(usual & ~np.isnan(X), 5.0, X)
    return X, y


def assert_same_for_threads_and_orders(fit, X, y, seed, n_jobs):
    expected = fit(n_jobs=1).fit(X, y)
    scores = expected.decision_function(X)
    for n in n_jobs:
        other = fit(n_jobs=n).fit(X, y)
        assert_same_model(other.model_, expected.model_)
        np.testing.assert_array_equal(other.decision_function(X), scores)
    order = np.random.default_rng(seed).permutation(len(y))
    other = fit(n_jobs=n_jobs[-1]).fit(X[order], y[order])
    assert_same_model(other.model_, expected.model_)
    np.testing.assert_array_equal(other.decision_function(X[order]), scores[order])


@pytest.mark.parametrize("name", ["logitboost", "aoso_pair", "mh_tree", "samme"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_large_tables(name, sparse):
    """Rows of a node are shared out among threads from 2^16 on."""
    X, y = table_of_layout(0, 70_000, 3, 300, sparse, 0.02)
    assert _core.BinnedData(X, None, 255, 1, NOMINAL).sparse == sparse
    make = partial(VARIANTS[name], n_estimators=1, max_leaf_nodes=6, categorical_features=NOMINAL)
    assert_same_for_threads_and_orders(make, X, y, 0, n_jobs=(2,))

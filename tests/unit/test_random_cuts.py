"""Random cuts, `splitter="random"`: what is drawn, and what that changes.

The draws themselves are held to the references in tests/equivalence/test_random_cuts.py.
"""

import numpy as np
import pytest
from scipy.stats import chisquare
from sklearn.datasets import load_digits
from support import assert_same_model, table, trees_of

from edgewise import (
    AdaBoostMHClassifier,
    AOSOLogitBoostClassifier,
    LogitBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
)

RANDOM = {"splitter": "random", "random_state": 0}
STUMPS = {"max_leaf_nodes": 2, "learning_rate": 1e-9}  # rounds that do not change the weights
MAKERS = {
    "hamming_tree": AdaBoostMHClassifier,
    "one_vs_all": lambda **given: AdaBoostMHClassifier(base="one_vs_all", **given),
    "samme": SAMMEClassifier,
    "softmax": lambda **given: SoftmaxBoostClassifier(projection="exact", **given),
    "logitboost": lambda **given: LogitBoostClassifier(**{"min_samples_leaf": 1} | given),
    "aoso": lambda **given: AOSOLogitBoostClassifier(**{"min_samples_leaf": 1} | given),
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def make(request):
    return request.param


def root_splits(model):
    """(feature, threshold, missing left) of the roots of the first tree of every round."""
    return [next(iter(trees_of(model.model_, m)))[0] for m in range(model.n_iter_)]


# --- what is drawn ----------------------------------------------------------------------------


def test_cuts_are_drawn_evenly(make):
    X, y = np.repeat(np.arange(10.0), 6)[:, None], np.repeat([0, 1], 30)
    model = make(n_estimators=900, **STUMPS, **RANDOM).fit(X, y)
    thresholds = [split[1] for split in root_splits(model)]
    values, counts = np.unique(thresholds, return_counts=True)
    assert values.tolist() == list(np.arange(9) + 0.5)
    assert chisquare(counts).pvalue > 1e-3


def test_best_of_the_drawn_cuts_is_taken(make):
    """One of ten features says the label: it is split, though not always where it should be."""
    rng = np.random.default_rng(0)
    X = rng.integers(8, size=(200, 10)).astype(float)
    model = make(n_estimators=60, **STUMPS, **RANDOM).fit(X, (X[:, 4] > 3).astype(int))
    features, thresholds, _ = zip(*root_splits(model), strict=True)
    assert np.mean(np.array(features) == 4) > 0.8
    assert len(set(thresholds)) > 3


@pytest.mark.parametrize("least", [1, 20])
def test_both_sides_have_rows_enough(make, least):
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    options = STUMPS | {"min_samples_leaf": least, "n_estimators": 300}
    thresholds = [split[1] for split in root_splits(make(**options, **RANDOM).fit(X, y))]
    assert min(thresholds) == least - 0.5
    assert max(thresholds) == 59.5 - least


def test_missing_values_go_to_either_side_or_alone(make):
    X = np.repeat([0.0, 1.0, 2.0, np.nan], 15)[:, None]
    y = np.repeat([0, 1, 1, 0], 15)
    y[::7] = 1 - y[::7]
    model = make(n_estimators=100, **STUMPS, **RANDOM).fit(X, y)
    kinds = {(threshold, left) for _, threshold, left in root_splits(model)}
    assert {(0.5, True), (np.inf, False)} <= kinds  # with the zeros, and against all values
    assert kinds <= {(c, left) for c in (0.5, 1.5) for left in (True, False)} | {(np.inf, False)}


@pytest.mark.parametrize("name", ["hamming_tree", "samme"])
def test_sets_of_categories_are_beginnings_in_the_order_of_a_class(name):
    rng = np.random.default_rng(1)
    X = rng.integers(6, size=(400, 1)).astype(float)
    y = np.where(rng.random(400) < 0.5, rng.integers(3, size=400), X[:, 0] // 2).astype(int)
    given = {"categorical_features": [0], "n_estimators": 80, **STUMPS}
    model = MAKERS[name](**given, **RANDOM).fit(X, y)
    shares = np.array([np.bincount(y[X[:, 0] == v], minlength=3) for v in range(6)], dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    beginnings = {frozenset(np.argsort(shares[:, k])[:n]) for k in range(3) for n in range(1, 6)}
    parts = {frozenset(np.unique(X[left])) for left in map(np.flatnonzero, sides(model, X))}
    assert len(parts) > 5
    assert all(p in beginnings or frozenset(range(6)) - p in beginnings for p in parts)


def sides(model, X):
    """For every round the rows whose scores move as those of the first row do."""
    before = np.zeros((len(X), 3))
    for scores in model.model_.staged_scores(X, 1):
        moved = scores - before
        yield (
            np.sign(moved - moved.mean(axis=1, keepdims=True))
            == np.sign(moved[0] - moved[0].mean())
        ).all(axis=1)
        before = scores.copy()


# --- what it depends on -----------------------------------------------------------------------


def test_same_random_state_same_model(make):
    X, y = table(3, n=150, K=3, missing=0.1)
    first, again = (make(n_estimators=6, **RANDOM).fit(X, y).model_ for _ in range(2))
    assert_same_model(first, again)
    other = make(n_estimators=6, splitter="random", random_state=1).fit(X, y).model_
    assert not np.array_equal(first.threshold, other.threshold)


def test_scales_of_features_do_not_matter(make):
    X, y = table(4, n=150, K=3)
    Z = np.exp(2 * X)
    model, stretched = (make(n_estimators=6, **RANDOM).fit(T, y) for T in (X, Z))
    np.testing.assert_array_equal(model.decision_function(X), stretched.decision_function(Z))


def test_a_resumed_fit_continues_its_draws(make):
    X, y = table(5, n=150, K=3)
    once = make(n_estimators=9, **RANDOM).fit(X, y)
    twice = make(n_estimators=4, warm_start=True, **RANDOM).fit(X, y)
    assert_same_model(twice.set_params(n_estimators=9).fit(X, y).model_, once.model_)


# --- what it is good for ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_vs_all", "samme"])
def test_an_error_free_tree_does_not_stop_boosting(name):
    X, y = load_digits(return_X_y=True)
    settings = {"max_leaf_nodes": None, "n_estimators": 60}
    best = MAKERS[name](**settings).fit(X[:150], y[:150])
    drawn = MAKERS[name](**settings, **RANDOM).fit(X[:150], y[:150])
    assert best.n_iter_ == 1
    assert drawn.stop_reason_ == "all rounds done"
    assert drawn.score(X[150:], y[150:]) > best.score(X[150:], y[150:]) + 0.1


# --- chance is no end ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hamming_tree", "samme", "logitboost", "aoso"])
@pytest.mark.parametrize("given", [{"max_features": 1}, {"splitter": "random"}], ids=str)
def test_useless_draws_do_not_stop_boosting(name, given):
    """Nine features of ten are constant, and one cut of the tenth says something."""
    X = np.ones((60, 10))
    X[:, 7] = np.repeat(np.arange(30.0), 2)
    y = np.tile([0, 1], 30)
    y[20:22], y[22:24] = 0, 1
    model = MAKERS[name](n_estimators=12, max_leaf_nodes=2, random_state=0, **given).fit(X, y)
    assert model.n_iter_ == 12
    assert set(model.model_.feature) == {7, -1}

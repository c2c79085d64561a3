"""Many rows at once, led by bins of one byte, against a few at a time, led by walks."""

import numpy as np
import pytest

from edgewise import AOSOLogitBoostClassifier, LogitBoostClassifier, MARTClassifier


def table(n, d=6, *, missing=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(2)
    X[:, 1] = rng.integers(0, 3, size=n)
    X[rng.random((n, d)) < missing] = np.nan
    X[rng.random((n, d)) < 0.02] = np.inf
    X[rng.random((n, d)) < 0.02] = -np.inf
    y = (np.nan_to_num(X[:, 0], posinf=1.0) > 0).astype(int) + (np.nan_to_num(X[:, 1]) > 1)
    return X, np.where(rng.random(n) < 0.1, rng.integers(3, size=n), y)


def by_walks(model, X):
    few = [model.decision_function(X[i : i + 20]) for i in range(0, len(X), 20)]
    return np.concatenate(few)


def on_the_thresholds(model, X):
    """Rows whose values are the model's own thresholds, and the numbers next to them."""
    cuts = model.model_.threshold[np.isfinite(model.model_.threshold)]
    rows = np.random.default_rng(1).choice(cuts, size=(300, X.shape[1]))
    return np.concatenate([rows, np.nextafter(rows, np.inf), np.nextafter(rows, -np.inf)])


MODELS = {
    "one class a tree": LogitBoostClassifier(n_estimators=30, max_leaf_nodes=12),
    "stumps": MARTClassifier(n_estimators=20, max_leaf_nodes=2),
    "pairs": AOSOLogitBoostClassifier(n_estimators=60),
    "all classes": AOSOLogitBoostClassifier(n_estimators=20, leaf="vector", max_leaf_nodes=64),
    "256 leaves": MARTClassifier(n_estimators=4, max_leaf_nodes=256, min_samples_leaf=1),
    "257 leaves": MARTClassifier(n_estimators=4, max_leaf_nodes=257, min_samples_leaf=1),
}


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_walks(name, missing):
    X, y = table(1500, missing=missing)
    model = MODELS[name].fit(X, y)
    for rows in (table(1111, seed=3)[0], on_the_thresholds(model, X)):
        np.testing.assert_array_equal(model.decision_function(rows), by_walks(model, rows))


def test_every_layout_of_the_rows():
    X, y = table(600, missing=0.0)
    X = X.clip(-9, 9)
    model = LogitBoostClassifier(n_estimators=25).fit(X, y)
    expected = by_walks(model, X)
    for rows in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1].copy()[:, ::-1]):
        np.testing.assert_array_equal(model.decision_function(rows), expected)
    whole = X.round().astype(np.int16)
    np.testing.assert_array_equal(model.decision_function(whole), by_walks(model, whole))
    single = X.astype(np.float32)
    np.testing.assert_array_equal(model.decision_function(single), by_walks(model, single))


def test_more_thresholds_than_a_byte_can_tell():
    """Two fits on different rows have cuts of their own."""
    (X, y), (more, labels) = table(3000, missing=0.0), table(3000, missing=0.0, seed=9)
    X, more = np.arange(18000.0).reshape(3000, 6), np.arange(18000.0).reshape(3000, 6) + 0.25
    model = LogitBoostClassifier(n_estimators=60, warm_start=True, max_leaf_nodes=40).fit(X, y)
    model.set_params(n_estimators=120).fit(more, labels)
    trees = model.model_
    thresholds = trees.threshold[trees.feature == 0]
    assert len(np.unique(thresholds)) > 254
    np.testing.assert_array_equal(model.decision_function(X), by_walks(model, X))


def test_rounds_one_by_one_add_up():
    X, y = table(400)
    model = LogitBoostClassifier(n_estimators=12).fit(X, y)
    *_, last = model.staged_decision_function(X)
    np.testing.assert_array_equal(last, model.decision_function(X))

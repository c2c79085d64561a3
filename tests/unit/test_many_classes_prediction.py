"""Prediction where classes are many: no matrix of all rows and classes unless it is asked for."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from edgewise import (
    AdaBoostMHClassifier,
    AOSOLogitBoostClassifier,
    InvalidDataError,
    InvalidParameterError,
    MARTClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
)
from edgewise._boosting import prediction


def blobs(n=400, n_classes=12, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    y[:n_classes] = np.arange(n_classes)
    return rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y] * 2, y


def ranked(proba, k):
    """The order that predict_top_k promises, by a stable sort of everything."""
    return np.argsort(-proba, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize(
    "estimator",
    [
        AOSOLogitBoostClassifier(n_estimators=5),
        MARTClassifier(n_estimators=3),
        AdaBoostMHClassifier(n_estimators=3),
        SAMMEClassifier(n_estimators=3),
        SoftmaxBoostClassifier(n_estimators=3),
    ],
    ids=lambda e: type(e).__name__,
)
@pytest.mark.parametrize("block", [2**22, 100])
def test_top_k_is_the_head_of_sorted_probabilities(estimator, block, monkeypatch):
    monkeypatch.setattr(prediction, "BLOCK", block)  # rows in one block, then in several
    X, y = blobs()
    model = estimator.fit(X, np.array([f"class {k:02}" for k in y]))
    proba = model.predict_proba(X)
    for k in (1, 3, 12):
        labels, best = model.predict_top_k(X, k)
        assert labels.shape == best.shape == (len(X), k)
        np.testing.assert_array_equal(labels, model.classes_[ranked(proba, k)])
        np.testing.assert_array_equal(best, np.take_along_axis(proba, ranked(proba, k), axis=1))


def test_blocks_give_the_bits_of_the_whole(monkeypatch):
    X, y = blobs()
    model = AOSOLogitBoostClassifier(n_estimators=5).fit(X, y)
    proba, labels = model.predict_proba(X), model.predict(X)
    parts = list(model.predict_proba_blocks(X, 150))
    assert [len(part) for part in parts] == [150, 150, 100]
    np.testing.assert_array_equal(np.concatenate(parts), proba)
    small = model.predict_proba_blocks(X, np.int8(100))  # 200 is no number of 8 bits
    np.testing.assert_array_equal(np.concatenate(list(small)), proba)
    monkeypatch.setattr(prediction, "BLOCK", 100)
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.predict(sparse.csr_array(X)), labels)


@pytest.mark.parametrize("threshold", [1e-3, 0.2, 1.0])
def test_sparse_probabilities_are_those_at_least_the_threshold(threshold):
    X, y = blobs()
    model = AOSOLogitBoostClassifier(n_estimators=5).fit(X, y)
    proba = model.predict_proba(X)
    listed = model.predict_proba_sparse(X, threshold)
    assert listed.format == "csr"
    np.testing.assert_array_equal(listed.toarray(), np.where(proba >= threshold, proba, 0.0))
    assert listed.nnz == np.count_nonzero(proba >= threshold)


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_memory_does_not_grow_with_rows_times_classes():
    n_classes = 2000
    X = np.repeat(np.arange(n_classes, dtype=float)[:, np.newaxis], 3, axis=0)
    model = AOSOLogitBoostClassifier(n_estimators=1, max_leaf_nodes=4).fit(X, X[:, 0].astype(int))
    rows = np.tile(X, (7, 1))  # 42 000 rows: all probabilities would take 672 MB
    tracemalloc.start()
    model.predict(rows)
    model.predict_top_k(rows, 3)
    model.predict_proba_sparse(rows, 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize("k", [0, 13, -1, 2.0, True, "3", None])
def test_a_k_that_is_no_number_of_classes_is_refused(k):
    X, y = blobs()
    model = AOSOLogitBoostClassifier(n_estimators=1).fit(X, y)
    with pytest.raises(InvalidParameterError, match="from 1 to 12, the number of classes. Got"):
        model.predict_top_k(X, k)


def test_bad_blocks_and_thresholds_are_refused():
    X, y = blobs()
    model = AOSOLogitBoostClassifier(n_estimators=1).fit(X, y)
    with pytest.raises(InvalidParameterError, match="'n_rows' parameter of predict_proba_blocks"):
        model.predict_proba_blocks(X, 0)
    with pytest.raises(InvalidParameterError, match="'threshold' parameter of predict_proba_s"):
        model.predict_proba_sparse(X, 1.5)


def test_a_dask_collection_is_refused_with_a_message():
    da = pytest.importorskip("dask.array")
    X, y = blobs()
    model = AOSOLogitBoostClassifier(n_estimators=1).fit(X, y)
    for answer in (lambda X: model.predict_top_k(X, 2), model.predict_proba_blocks):
        with pytest.raises(InvalidDataError, match="Got a Dask collection"):
            answer(da.from_array(X))

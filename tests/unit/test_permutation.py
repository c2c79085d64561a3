"""Permutation importances: their definition, classes, weights, kinds of X, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC
from support import VARIANTS, table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, permutation_importances


@pytest.fixture(scope="module")
def fitted():
    X, y = table(0, n=300)
    labels = np.array(["low", "middle", "high"])[y]
    return VARIANTS["logitboost"]().fit(X[:150], labels[:150]), X[150:], labels[150:]


def test_importances_are_rises_of_the_loss(fitted):
    model, X, y = fitted
    found = permutation_importances(model, X, y, n_repeats=2, random_state=3)
    assert found.repeats.shape == (2, 3, 4)
    assert found.by_class.shape == found.by_class_std.shape == (3, 4)
    seed = int(np.random.RandomState(3).randint(2**31 - 1))
    for r in range(2):
        for j in range(4):
            dealt = X.copy()
            dealt[:, j] = X[np.random.default_rng([seed, j, r]).permutation(len(X)), j]
            for k, label in enumerate(model.classes_):
                of = y == label
                before, after = (-np.log(model.predict_proba(Z[of])[:, k]) for Z in (X, dealt))
                assert found.repeats[r, k, j] == pytest.approx(after.mean() - before.mean())
            whole = log_loss(y, model.predict_proba(dealt)) - log_loss(y, model.predict_proba(X))
            assert found._overall()[r, j] == pytest.approx(whole, abs=1e-12)


def test_features_that_matter_come_first(fitted):
    model, X, y = fitted  # the classes depend on the first and the last column
    for measure in ("log_loss", "recall"):
        found = permutation_importances(model, X, y, measure=measure, random_state=0)
        assert np.argsort(found.overall)[-2:].tolist() == [3, 0]
        theirs = permutation_importance(
            model, X, y, scoring="accuracy" if measure == "recall" else "neg_log_loss", n_repeats=30
        ).importances_mean
        np.testing.assert_allclose(found.overall, theirs, atol=0.15)


def test_one_seed_one_result(fitted):
    model, X, y = fitted
    first, again, other = (
        permutation_importances(model, X, y, n_repeats=1, random_state=s).repeats for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_weights_of_zero_are_absent_rows(fitted):
    model, X, y = fitted
    weights = (np.arange(len(X)) % 2).astype(float)
    found = permutation_importances(model, X, y, sample_weight=weights, random_state=0)
    kept = weights > 0
    shares = [np.mean(y[kept] == label) for label in model.classes_]
    np.testing.assert_allclose(found.class_shares, shares)


def test_a_class_without_rows_has_no_number(fitted):
    model, X, y = fitted
    some = y != "middle"
    found = permutation_importances(model, X[some], y[some], random_state=0)
    assert np.isnan(found.by_class[2]).all()  # sorted: high, low, middle
    assert np.isfinite(found.by_class[:2]).all()
    assert np.isfinite(found.overall).all()


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_kinds_of_tables(fitted, kind):
    model, X, y = fitted
    expected = permutation_importances(model, X, y, n_repeats=1, random_state=0).repeats
    if kind == "list":
        given = X.tolist()
    else:
        frames = pytest.importorskip(kind)
        given = frames.DataFrame({f"x{j}": X[:, j] for j in range(4)})
        model = VARIANTS["logitboost"]().fit(given, y)
        expected = permutation_importances(
            VARIANTS["logitboost"]().fit(X, y), X, y, n_repeats=1, random_state=0
        ).repeats
    if kind == "pandas":
        given.index = np.arange(len(given))[::-1]  # rows go by place, not by label
    found = permutation_importances(model, given, y, n_repeats=1, random_state=0)
    np.testing.assert_allclose(found.repeats, expected, atol=1e-12)


def test_sparse_rows_of_a_classifier_of_another_library():
    X, y = table(0)
    X[X < 0.5] = 0.0
    model = LogisticRegression().fit(X, y)
    dense = permutation_importances(model, X, y, random_state=0).repeats
    found = permutation_importances(model, sparse.csr_array(X), y, random_state=0)
    np.testing.assert_allclose(found.repeats, dense, atol=1e-12)


def test_bad_input(fitted):
    model, X, y = fitted
    with pytest.raises(NotFittedError):
        permutation_importances(edgewise.MARTClassifier(), X, y)
    with pytest.raises(InvalidParameterError, match="measure must be one of"):
        permutation_importances(model, X, y, measure="auc")
    with pytest.raises(InvalidParameterError, match="n_repeats must be 1 or more. Got 0"):
        permutation_importances(model, X, y, n_repeats=0)
    with pytest.raises(InvalidDataError, match="X with 149 rows and y with 150"):
        permutation_importances(model, X[1:], y)
    with pytest.raises(InvalidDataError, match="'none', which does not|none, which does not"):
        permutation_importances(model, X, np.where(y == "low", "none", y))
    with pytest.raises(ValueError, match="zero"):
        permutation_importances(model, X, y, sample_weight=np.zeros(len(X)))
    svc = LinearSVC().fit(X, y)
    with pytest.raises(InvalidParameterError, match="LinearSVC does not have"):
        permutation_importances(svc, X, y)
    assert permutation_importances(svc, X, y, measure="recall").overall.shape == (4,)

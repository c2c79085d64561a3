"""Calibration: probabilities that say frequencies, whatever the class weights."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax
from sklearn.metrics import log_loss
from support import LOGISTIC, LOGISTIC_VARIANTS, assert_same_model, table

import edgewise
from edgewise._boosting.calibration import PULL, Scaling
from edgewise._data.rows import Rows

X, Y = table(0, n=400, K=3)
X_VAL, Y_VAL = table(1, n=300, K=3)
WEIGHTS = {0: 1.0, 1: 4.0, 2: 0.5}
variants = pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS)


def rows_of(scores, codes, weights=None):
    return Rows(np.zeros((len(scores), 1)), codes.astype(np.int32), weights)


@variants
def test_priors_undo_class_weight(make):
    plain = make(class_weight=WEIGHTS).fit(X, Y)
    model = make(class_weight=WEIGHTS, calibration="priors").fit(X, Y)
    undone = plain.predict_proba(X) / np.array([1.0, 4.0, 0.5])
    undone /= undone.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), undone, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), undone.argmax(axis=1))


def test_priors_undo_balanced_weights():
    rare = np.flatnonzero((Y != 2) | (np.arange(len(Y)) % 8 == 0))
    x, y = X[rare], Y[rare]
    counts = np.bincount(y)
    make = LOGISTIC_VARIANTS["aoso_pair"]
    model = make(class_weight="balanced", calibration="priors").fit(x, y)
    plain = make(class_weight="balanced").fit(x, y)
    share = counts / counts.sum()
    undone = plain.predict_proba(x) * share
    undone /= undone.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(x), undone, rtol=1e-12)
    # and they are the better probabilities: their mean is near the frequencies of the classes
    assert np.abs(model.predict_proba(x).mean(axis=0) - share).max() < 0.03
    assert np.abs(plain.predict_proba(x).mean(axis=0) - share).max() > 0.05


@pytest.mark.parametrize("seed", range(3))
def test_temperature_has_the_largest_likelihood(seed):
    rng = np.random.default_rng(seed)
    scores, codes = rng.normal(size=(200, 4)) * 3, rng.integers(4, size=200)
    weights = rng.uniform(0.1, 1, size=200)

    def loss(log_factor):
        log_p = log_softmax(np.exp(log_factor) * scores, axis=1)[np.arange(200), codes]
        return PULL * log_factor**2 - np.average(log_p, weights=weights)

    best = minimize_scalar(loss, bounds=(-9, 9), method="bounded", options={"xatol": 1e-10})
    factor = Scaling(scores, rows_of(scores, codes, weights)).temperature()
    assert len(set(factor)) == 1
    assert loss(np.log(factor[0])) <= best.fun + 1e-12


def test_vector_has_the_largest_likelihood():
    rng = np.random.default_rng(7)
    scores, codes = rng.normal(size=(300, 3)), rng.integers(3, size=300)
    scores[np.arange(300), codes] += [3.0, 1.0, 0.3] @ np.eye(3)[codes].T

    def loss(x):
        log_p = log_softmax(np.exp(x[:3]) * scores + x[3:], axis=1)[np.arange(300), codes]
        return PULL * (x**2).sum() - log_p.mean()

    best = minimize(loss, np.zeros(6), method="Powell", options={"xtol": 1e-9, "ftol": 1e-13})
    factor, shift = Scaling(scores, rows_of(scores, codes)).vector()
    assert loss(np.concatenate([np.log(factor), shift])) <= best.fun + 1e-9


def test_derivatives():
    rng = np.random.default_rng(3)
    scores, codes = rng.normal(size=(50, 3)), rng.integers(3, size=50)
    scaling = Scaling(scores, rows_of(scores, codes, rng.uniform(size=50)))
    x = rng.uniform(0.5, 2, size=6)
    _, slope = scaling._loss(x[:3], x[3:])
    for j in range(6):
        step = np.eye(6)[j] * 1e-6
        up, down = (scaling._loss((x + s)[:3], (x + s)[3:])[0] for s in (step, -step))
        assert slope[j] == pytest.approx((up - down) / 2e-6, abs=1e-8)


@variants
@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_an_overfitted_model_gets_better_probabilities(make, method):
    settings = {"n_estimators": 150, "learning_rate": 1.0, "early_stopping": False}
    given = {"X_val": X_VAL, "y_val": Y_VAL}
    plain = make(**settings).fit(X, Y, **given)
    model = make(calibration=method, **settings).fit(X, Y, **given)
    assert model.n_iter_ == plain.n_iter_  # the rows given are for calibration only
    fresh, labels = table(2, n=500, K=3)
    before, after = (log_loss(labels, m.predict_proba(fresh)) for m in (plain, model))
    assert after < before - 0.1
    if method == "temperature":
        np.testing.assert_array_equal(model.predict(fresh), plain.predict(fresh))


def test_rows_are_held_out_where_none_are_given():
    make = LOGISTIC_VARIANTS["mart"]
    model = make(calibration="temperature", random_state=0, n_estimators=60, learning_rate=1.0)
    model.fit(X, Y)
    assert model.n_iter_ == 60
    assert "validation_score" not in model.history_
    with_stopping = make(calibration="temperature", early_stopping=True, random_state=0).fit(X, Y)
    assert "validation_score" in with_stopping.history_


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3.0, 2: 0.5}])
@pytest.mark.parametrize("method", ["priors", "temperature", "vector"])
def test_soft_labels_that_are_certain_are_labels(method, class_weight):
    X, y = table(5, n=200, K=3)
    make = {"calibration": method, "class_weight": class_weight, "n_estimators": 5}
    one, other = (
        edgewise.MARTClassifier(**make).fit(X[:140], t[:140], X_val=X[140:], y_val=t[140:])
        for t in (y, np.eye(3)[y])
    )
    assert_same_model(one.model_, other.model_)


@pytest.mark.parametrize("method", ["temperature", "vector"])
def test_the_order_of_rows_does_not_matter(method):
    make = LOGISTIC_VARIANTS["aoso_pair"]
    a = make(calibration=method).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    order = np.random.default_rng(0).permutation(len(X_VAL))
    b = make(calibration=method).fit(X, Y, X_val=X_VAL[order], y_val=Y_VAL[order])
    assert_same_model(a.model_, b.model_)


def test_scores_and_stages_agree_with_the_probabilities():
    model = LOGISTIC_VARIANTS["aoso_vector"](calibration="vector", class_weight=WEIGHTS)
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    F = model.decision_function(X)
    np.testing.assert_allclose(np.log(model.predict_proba(X)), log_softmax(F, axis=1), rtol=1e-9)
    *_, last = model.staged_predict_proba(X)
    np.testing.assert_allclose(last, model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("classifier", LOGISTIC)
def test_no_warm_start(classifier):
    with pytest.raises(edgewise.InvalidParameterError, match=r"calibration.*warm_start"):
        classifier(calibration="priors", warm_start=True).fit(X, Y)

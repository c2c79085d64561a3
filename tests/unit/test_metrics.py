"""Figures that judge predictions, against scikit-learn and against sums written out."""

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import binomtest
from sklearn import metrics as sk

from edgewise import InvalidDataError, InvalidParameterError, MARTClassifier, metrics


def forecasts(seed, n=200, K=3):
    """Labels, and probabilities that know something about them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n)
    y[:K] = np.arange(K)
    proba = rng.dirichlet(np.ones(K), size=n) + 0.4 * np.eye(K)[y] * rng.random((n, 1))
    return y, proba / proba.sum(axis=1, keepdims=True), rng.random(n)


def naive_ece(forecast, came, weights, n_bins):
    """The sum of the definition, bin by bin."""
    total = 0.0
    for b in range(n_bins):
        inside = [
            i
            for i, p in enumerate(forecast)
            if (b / n_bins < p or b == 0) and (p <= (b + 1) / n_bins or b == n_bins - 1)
        ]
        w = math.fsum(weights[i] for i in inside)
        if w > 0:
            confidence = math.fsum(weights[i] * forecast[i] for i in inside) / w
            share = math.fsum(weights[i] * came[i] for i in inside) / w
            total += w * abs(share - confidence)
    return total / math.fsum(weights)


@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_brier_score_is_scikit_learns(K, weighted):
    y, proba, w = forecasts(K, K=K)
    w = w if weighted else None
    given = proba[:, 1] if K == 2 else proba
    expected = sk.brier_score_loss(y, given, sample_weight=w, labels=np.arange(K))
    assert metrics.brier_score(y, proba, sample_weight=w) == pytest.approx(expected, rel=1e-12)
    assert metrics.brier_score(y, given, sample_weight=w) == pytest.approx(expected, rel=1e-12)


def test_brier_score_of_several_labels_is_the_mean_of_each():
    rng = np.random.default_rng(0)
    Y, P = rng.integers(2, size=(50, 4)), rng.random((50, 4))
    expected = np.mean([sk.brier_score_loss(Y[:, k], P[:, k]) for k in range(4)])
    assert metrics.brier_score(Y, P) == pytest.approx(expected, rel=1e-12)
    assert metrics.brier_score(sparse.csr_array(Y), P) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_is_scikit_learns(K, weighted):
    y, proba, w = forecasts(K, K=K)
    proba[0] = np.eye(K)[(y[0] + 1) % K]  # quite sure and wrong
    w = w if weighted else None
    expected = sk.log_loss(y, proba, sample_weight=w)
    assert metrics.log_loss(y, proba, sample_weight=w) == pytest.approx(expected, rel=1e-12)


def test_log_loss_of_several_labels_is_the_mean_of_each():
    rng = np.random.default_rng(0)
    Y, P = rng.integers(2, size=(50, 4)), rng.random((50, 4))
    expected = np.mean([sk.log_loss(Y[:, k], P[:, k]) for k in range(4)])
    assert metrics.log_loss(Y, P) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_bins", [1, 4, 15])
@pytest.mark.parametrize("weighted", [False, True])
def test_calibration_error_is_its_definition(n_bins, weighted):
    y, proba, w = forecasts(5)
    weights = w if weighted else np.ones(len(y))
    given = w if weighted else None
    top = naive_ece(proba.max(axis=1), proba.argmax(axis=1) == y, weights, n_bins)
    each = np.mean([naive_ece(proba[:, k], y == k, weights, n_bins) for k in range(3)])
    ask = {"n_bins": n_bins, "sample_weight": given}
    assert metrics.calibration_error(y, proba, **ask) == pytest.approx(top, rel=1e-12)
    classwise = metrics.calibration_error(y, proba, kind="classwise", **ask)
    assert classwise == pytest.approx(each, rel=1e-12)


def test_calibration_error_of_known_forecasts():
    proba = np.array([[0.8, 0.2]] * 10)
    assert metrics.calibration_error([0] * 8 + [1] * 2, proba) == pytest.approx(0.0, abs=1e-15)
    assert metrics.calibration_error([0] * 5 + [1] * 5, proba) == pytest.approx(0.3)
    assert metrics.calibration_error([0] * 9 + [1], np.eye(2)[[0] * 10]) == pytest.approx(0.1)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_curve_holds_all_rows(strategy):
    y, proba, _ = forecasts(1, n=500)
    curve = metrics.reliability_curve(y, proba, n_bins=10, strategy=strategy)
    top = proba.max(axis=1)
    assert curve.count.sum() == 500
    assert curve.weight.sum() == pytest.approx(1.0)
    assert curve.weight @ curve.forecast == pytest.approx(top.mean())
    assert curve.weight @ curve.observed == pytest.approx(np.mean(proba.argmax(axis=1) == y))
    assert (curve.lower <= curve.forecast).all()
    assert (curve.forecast <= curve.upper).all()
    if strategy == "quantile":
        assert curve.count.min() == curve.count.max() == 50
    assert curve.error <= curve.max_error


def test_reliability_of_one_class_is_scikit_learns():
    from sklearn.calibration import calibration_curve  # noqa: PLC0415

    y, proba, _ = forecasts(2)
    curve = metrics.reliability_curve(y, proba, label=1, n_bins=7)
    share, forecast = calibration_curve(y == 1, proba[:, 1], n_bins=7)
    np.testing.assert_allclose(curve.observed, share, rtol=1e-12)
    np.testing.assert_allclose(curve.forecast, forecast, rtol=1e-12)


def test_equal_forecasts_stay_together():
    proba = np.array([[0.7, 0.3]] * 9 + [[0.9, 0.1]])
    curve = metrics.reliability_curve([0, 1] * 5, proba, n_bins=5, strategy="quantile")
    np.testing.assert_array_equal(curve.count, [9, 1])


@pytest.mark.parametrize("K", [2, 4])
def test_margins_tell_right_from_wrong(K):
    rng = np.random.default_rng(K)
    y, F = rng.integers(K, size=90), rng.normal(size=(90, K))
    y[:K] = np.arange(K)
    got = metrics.margins(y, F)
    np.testing.assert_array_equal(got > 0, F.argmax(axis=1) == y)
    assert np.abs(got).max() <= 1
    by_hand = [F[i, y[i]] - max(F[i, k] for k in range(K) if k != y[i]) for i in range(90)]
    np.testing.assert_array_equal(metrics.margins(y, F, normalise=False), by_hand)
    if K == 2:
        np.testing.assert_allclose(metrics.margins(y, F[:, 1] - F[:, 0]), got, rtol=1e-12)


def test_margins_of_several_labels():
    got = metrics.margins([[1, 0], [0, 0]], [[2.0, 1.0], [-4.0, 0.0]])
    np.testing.assert_array_equal(got, [[0.5, -0.25], [1.0, 0.0]])
    np.testing.assert_array_equal(metrics.margins([0, 1], np.zeros((2, 2))), [0, 0])


def told(*labels, **options):
    return [astuple(c) for c in metrics.worst_confusions(*labels, **options)]


def test_confusions():
    y = list("aaaabbbbbc")
    said = list("aabcbbbaac")
    counts, classes = metrics.confusion_matrix(y, said)
    np.testing.assert_array_equal(counts, sk.confusion_matrix(y, said))
    assert list(classes) == ["a", "b", "c"]
    worst = told(y, said, n=2)
    assert worst[0] == ("b", "a", 2.0, 0.4, 2.0)
    assert worst[1][:4] == ("a", "b", 1.0, 0.25)
    cost = np.array([[0, 1, 9], [1, 0, 1], [1, 1, 0]])
    assert told(y, said, n=1, by="cost", cost=cost)[0] == ("a", "c", 1, 0.25, 9)
    weights = [1.0] * 7 + [0.25, 0.25, 1.0]
    assert told(y, said, sample_weight=weights, n=1)[0][:2] == ("a", "b")
    assert told(y, y) == []


def test_rates_are_of_the_true_class():
    worst = told([0] * 9 + [1], [1] * 2 + [0] * 8, by="rate")
    assert [w[:4] for w in worst] == [(1, 0, 1.0, 1.0), (0, 1, 2.0, 2 / 9)]


@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_interval_is_wilsons(n, data, level):
    wrong = data.draw(st.integers(0, n))
    expected = binomtest(wrong, n).proportion_ci(level, method="wilson")
    got = metrics.error_interval(wrong, n, level=level)
    assert got.low == pytest.approx(expected.low, abs=1e-12)
    assert got.high == pytest.approx(expected.high, abs=1e-12)


def test_an_estimators_forecasts_fit():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = MARTClassifier(n_estimators=3).fit(X, y)
    proba = model.predict_proba(X)
    assert metrics.brier_score(y, proba) == metrics.brier_score(y, proba, classes=model.classes_)
    wrong = np.mean(metrics.margins(y, model.decision_function(X), classes=model.classes_) <= 0)
    assert wrong == 1 - model.score(X, y)
    # Rows of one class only: the classes say which columns there are.
    assert metrics.brier_score(["yes"] * 3, [[0.0, 1.0]] * 3, classes=model.classes_) == 0


WRONG_DATA = {
    "columns": lambda: metrics.brier_score([0, 1, 2], [[0.5, 0.5]] * 3),
    "one class": lambda: metrics.brier_score([0, 0], [[1.0], [1.0]]),
    "unknown label": lambda: metrics.brier_score([0, 5], [[1, 0], [0, 1]], classes=[0, 1]),
    "rows": lambda: metrics.brier_score([0, 1], [[0.5, 0.5]] * 3),
    "no rows": lambda: metrics.brier_score([], np.zeros((0, 2)), classes=[0, 1]),
    "not finite": lambda: metrics.calibration_error([0, 1], [[np.nan, 1.0]] * 2),
    "negative": lambda: metrics.calibration_error([0, 1], [[-0.5, 1.5]] * 2),
    "no probabilities": lambda: metrics.calibration_error([0, 1], [[0.5, 0.9]] * 2),
    "above one": lambda: metrics.brier_score([[0, 1], [1, 0]], [[0.5, 1.9]] * 2),
    "text": lambda: metrics.brier_score([0, 1], [["a", "b"]] * 2),
    "indicator": lambda: metrics.brier_score([[0, 2], [1, 0]], [[0.5, 0.9]] * 2),
    "weights": lambda: metrics.brier_score([0, 1], [[0.5, 0.5]] * 2, sample_weight=[-1, 1]),
    "scores": lambda: metrics.margins([0, 1], [[np.inf, 0.0]] * 2),
    "ragged": lambda: metrics.margins([0, 1], [[1.0], [1.0, 2.0]]),
    "lengths": lambda: metrics.confusion_matrix([0, 1], [0]),
    "labels": lambda: metrics.confusion_matrix([0, 1], [0, 2], classes=[0, 1]),
    "several labels": lambda: metrics.worst_confusions([[0, 1]], [[0, 1]]),
}
WRONG_PARAMETERS = {
    "kind": lambda: metrics.calibration_error([0, 1], [[0.5, 0.5]] * 2, kind="top"),
    "bins": lambda: metrics.calibration_error([0, 1], [[0.5, 0.5]] * 2, n_bins=0),
    "strategy": lambda: metrics.reliability_curve([0, 1], [[0.5, 0.5]] * 2, strategy="x"),
    "label": lambda: metrics.reliability_curve([0, 1], [[0.5, 0.5]] * 2, label=7),
    "top label": lambda: metrics.calibration_error([[0, 1], [1, 1]], [[0.5, 0.5]] * 2),
    "by": lambda: metrics.worst_confusions([0, 1], [1, 0], by="size"),
    "n": lambda: metrics.worst_confusions([0, 1], [1, 0], n=0),
    "cost": lambda: metrics.worst_confusions([0, 1], [1, 0], cost=[[0, 1]]),
    "wrong": lambda: metrics.error_interval(4, 3),
    "level": lambda: metrics.error_interval(1, 3, level=1.0),
}


@pytest.mark.parametrize("ask", WRONG_DATA.values(), ids=WRONG_DATA)
def test_wrong_data_is_refused(ask):
    with pytest.raises(InvalidDataError):
        ask()


@pytest.mark.parametrize("ask", WRONG_PARAMETERS.values(), ids=WRONG_PARAMETERS)
def test_wrong_parameters_are_refused(ask):
    with pytest.raises(InvalidParameterError):
        ask()

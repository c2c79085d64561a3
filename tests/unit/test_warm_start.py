"""Warm start: k rounds, then up to k + m, are the k + m rounds of one fit, bit for bit."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from support import CUT_DRAWING, VARIANTS, assert_same_model, table, training_loss, uneven_weights

from edgewise import (
    ABCMARTClassifier,
    InvalidDataError,
    InvalidParameterError,
    LogitBoostClassifier,
)

CONTINUED = [(1, 1), (2, 5), (5, 3)]


def same_history(a, b):
    assert a.keys() == b.keys()
    for name in a.keys() - {"seconds"}:
        np.testing.assert_array_equal(a[name], b[name])
    assert (np.diff(a["seconds"]) >= 0).all()


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize(("k", "m"), CONTINUED)
def test_two_fits_are_one(make, k, m, K):
    X, y = table(0, n=120, K=K)
    once = make(n_estimators=k + m).fit(X, y)
    twice = make(n_estimators=k, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=k + m).fit(X, y)
    assert_same_model(twice.model_, once.model_)
    assert twice.n_iter_ == k + m
    same_history(twice.history_, once.history_)
    np.testing.assert_array_equal(twice.predict_proba(X), once.predict_proba(X))


def test_init(make_logistic):
    X, y = table(0, n=100, K=3)
    once = make_logistic(n_estimators=5, init="zero").fit(X, y)
    twice = make_logistic(n_estimators=2, init="zero", warm_start=True).fit(X, y)
    assert_same_model(twice.set_params(n_estimators=5).fit(X, y).model_, once.model_)


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_missing_values_and_weights(make, seed):
    X, y = table(seed, n=150, K=3, missing=0.25)
    X[::17, 0] = np.inf
    w = uneven_weights(seed, len(y))
    w[::11] = 0.0
    w[::13] *= 1e-9  # too light to count
    settings = {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}, "max_bins": 30}
    once = make(n_estimators=7, **settings).fit(X, y, sample_weight=w)
    steps = make(n_estimators=1, warm_start=True, **settings)
    for n_estimators in (1, 2, 4, 7):
        steps.set_params(n_estimators=n_estimators).fit(X, y, sample_weight=w)
    assert_same_model(steps.model_, once.model_)
    same_history(steps.history_, once.history_)


@pytest.mark.parametrize("name", ["digits", "small_integers"])
def test_other_data(make, name, request):
    X, y = request.getfixturevalue(name)
    once = make(n_estimators=4).fit(X, y)
    twice = make(n_estimators=2, warm_start=True).fit(X, y).set_params(n_estimators=4).fit(X, y)
    assert_same_model(twice.model_, once.model_)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_may_change_between_the_fits(make, n_jobs):
    X, y = table(1, n=200, K=3, missing=0.1)
    once = make(n_estimators=5, n_jobs=1).fit(X, y)
    twice = make(n_estimators=2, n_jobs=2, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=5, n_jobs=n_jobs).fit(X, y)
    assert_same_model(twice.model_, once.model_)


def test_no_more_rounds_change_nothing(make):
    X, y = table(2, n=80, K=3)
    model = make(warm_start=True).fit(X, y)
    before, history = model.model_, model.history_
    model.fit(X, y)
    assert_same_model(model.model_, before)
    assert len(model.history_["loss"]) == model.n_iter_ == 6
    same_history(model.history_, history)
    model.set_params(n_estimators=9).fit(X, y)
    assert_same_model(model.model_, make(n_estimators=9).fit(X, y).model_)


def test_without_warm_start_a_fit_begins_anew(make):
    X, y = table(3, n=80, K=3)
    model = make().fit(X[:40], y[:40])
    assert_same_model(model.fit(X, y).model_, make().fit(X, y).model_)


# Soft-max boosting never ends, and where cuts are drawn a tree without errors is no end.
ENDING = {
    name: make
    for name, make in VARIANTS.items()
    if not name.startswith("softmax") and name not in CUT_DRAWING
}


@pytest.mark.parametrize("make", ENDING.values(), ids=ENDING)
def test_finished_models_stay_finished(make):
    """Where nothing is left to learn, rounds that are asked for later add nothing either."""
    X = np.arange(40.0).reshape(-1, 1)
    y = (X[:, 0] >= 20).astype(int)
    once = make(n_estimators=60, learning_rate=1.0).fit(X, y)
    assert once.n_iter_ < 40
    twice = make(n_estimators=40, learning_rate=1.0, warm_start=True).fit(X, y)
    twice.set_params(n_estimators=60).fit(X, y)
    assert_same_model(twice.model_, once.model_)
    assert twice.stop_reason_ == once.stop_reason_ != "all rounds done"


def test_other_rows_may_follow(make):
    X, y = table(4, n=160, K=3)
    rare = (y != 2) | (np.arange(160) % 3 == 0)
    model = make(n_estimators=3, warm_start=True).fit(X[:80], y[:80])
    first = model.model_
    X, y = X[80:][rare[80:]], y[80:][rare[80:]]  # other class frequencies
    model.set_params(n_estimators=6).fit(X, y)
    assert model.n_iter_ == 6
    assert_same_model(model.model_.first_rounds(3), first)
    loss = training_loss(model, X, y, np.ones(len(y)))
    assert model.history_["loss"][-1] == pytest.approx(loss, abs=1e-11)


# --- what cannot be continued -----------------------------------------------------------------


def test_fewer_rounds_are_refused(make):
    X, y = table(5, n=60, K=3)
    model = make(warm_start=True).fit(X, y)
    before = model.model_
    with pytest.raises(InvalidParameterError, match=r"n_estimators.*at least the 6.*Got 2"):
        model.set_params(n_estimators=2).fit(X, y)
    assert model.model_ is before


def test_other_columns_are_refused(make):
    X, y = table(5, n=60, K=3)
    model = make(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="3 features.*4 features"):
        model.set_params(n_estimators=9).fit(X[:, :3], y)
    np.testing.assert_array_equal(model.predict(X), make().fit(X, y).predict(X))


def test_new_classes_are_refused(make):
    X, y = table(5, n=60, K=3)
    model = make(warm_start=True).fit(X[y < 2], y[y < 2])
    with pytest.raises(InvalidDataError, match=r"label.*2.*training labels"):
        model.set_params(n_estimators=9).fit(X, y)
    assert model.classes_.tolist() == [0, 1]


# --- with early stopping ----------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["loss", "accuracy"])
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_watching_resumes_from_the_best_round(make, scoring):
    X, y = table(6, n=250, K=3, noise=0.2)
    X_val, y_val = table(7, n=120, K=3, noise=0.2)
    model = make(n_estimators=3, warm_start=True, scoring=scoring, n_iter_no_change=5)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    first = model.model_
    model.set_params(n_estimators=40).fit(X, y, X_val=X_val, y_val=y_val)
    assert_same_model(model.model_.first_rounds(first.n_rounds), first)
    assert model.n_iter_ == model.model_.n_rounds >= first.n_rounds
    scores = model.history_["validation_score"]
    assert scores[model.n_iter_ - 1] == scores.max()
    assert len(scores) == len(model.history_["loss"])


@pytest.mark.parametrize("seed", range(3))
def test_base_class_resumes_from_the_best_round(seed):
    """Not from the rounds after it, which early stopping has taken back."""
    X, y = table(seed, n=300, K=4, noise=0.2)
    X_val, y_val = table(seed + 50, n=100, K=4, noise=0.2)
    settings = {"gap": 5, "learning_rate": 0.2, "max_leaf_nodes": 4, "min_samples_leaf": 1}
    model = ABCMARTClassifier(n_estimators=60, n_iter_no_change=20, warm_start=True, **settings)
    model.fit(X, y, X_val=X_val, y_val=y_val)
    assert 0 < model.n_iter_ < 60
    n_estimators = model.n_iter_ + 4
    model.set_params(n_estimators=n_estimators, early_stopping=False).fit(X, y)
    once = ABCMARTClassifier(n_estimators=n_estimators, **settings).fit(X, y)
    assert_same_model(model.model_, once.model_)


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_base_class_is_searched_where_none_is_known():
    """After a warm-up, where its length changes between the fits; and after no rounds at all."""
    X, y = table(8, n=120, K=4)
    model = ABCMARTClassifier(n_estimators=3, warmup=3, gap=5, warm_start=True).fit(X, y)
    model.set_params(n_estimators=5, warmup=0).fit(X, y)
    assert (model.history_["base_class"][3:] >= 0).all()
    model = ABCMARTClassifier(n_estimators=3, warm_start=True, scoring=lambda *_: 0.0)
    assert model.fit(X, y, X_val=X, y_val=y).n_iter_ == 0
    assert model.fit(X, y).n_iter_ == 3


def test_every_estimator_can_resume():
    assert all("warm_start" in make().get_params() for make in VARIANTS.values())


def test_rows_left_out_of_the_search_find_their_leaves():
    """Late in boosting most rows are led to their leaves afterwards, many side by side."""
    X, y = load_digits(return_X_y=True)
    part = LogitBoostClassifier(n_estimators=60, learning_rate=0.5, warm_start=True).fit(X, y)
    resumed = part.set_params(n_estimators=70).fit(X, y)  # replays its rounds from the raw values
    whole = LogitBoostClassifier(n_estimators=70, learning_rate=0.5).fit(X, y)
    assert_same_model(resumed.model_, whole.model_)

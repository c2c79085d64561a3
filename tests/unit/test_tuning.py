"""Tuning: the time is kept, the same trials find the same setting."""

import time

import numpy as np
import pytest
from sklearn.datasets import load_digits
from support import table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError
from edgewise.tuning import _search, drawn, space, tune

AOSO = edgewise.AOSOLogitBoostClassifier
ROUNDED = [
    estimator
    for estimator in (AOSO, edgewise.MARTClassifier, edgewise.SAMMEClassifier)
    + (edgewise.AdaBoostMHClassifier, edgewise.SoftmaxBoostClassifier)
]


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    monkeypatch.setattr(_search, "MOST_ROUNDS", 12)


def figures(found):
    return [(t.setting, t.params, t.rows, t.rounds, t.log_loss, t.error) for t in found.trials]


@pytest.mark.parametrize("estimator", ROUNDED, ids=lambda e: e.__name__)
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_the_same_number_of_trials_finds_the_same(estimator):
    X, y = table(0, n=150)
    first, second = (tune(estimator, X, y, budget=60, trials=4, seed=3) for _ in range(2))
    assert len(first.trials) == 4
    assert figures(first) == figures(second)
    assert first.stopped == "trials"
    assert first.trials[0].params == {}
    assert set(first.trials[1].params) == set(space(estimator))
    best = min(first.trials, key=lambda trial: trial.log_loss)
    assert first.best is best
    assert first.params == {**best.params, "n_estimators": best.rounds}
    assert np.array_equal(first.model.predict_proba(X), second.model.predict_proba(X))
    other = tune(estimator, X, y, budget=60, trials=2, seed=4)
    assert other.trials[1].params != first.trials[1].params


def test_a_trial_is_an_ordinary_fit():
    X, y = table(1, n=200)
    found = tune(AOSO, X, y, budget=60, trials=2, seed=0, refit=False)
    trial = found.trials[1]
    train, held = _search._split(y, 0)
    model = AOSO(**trial.params, n_estimators=12, random_state=0)
    model.fit(X[train], y[train], X_val=X[held], y_val=y[held])
    proba = model.predict_proba(X[held])
    assert trial.rounds == model.n_iter_
    assert trial.log_loss == pytest.approx(-np.log(proba[np.arange(len(held)), y[held]]).mean())
    assert trial.error == np.mean(model.predict(X[held]) != y[held])
    assert found.held_out == len(held)
    assert found.model is None


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_halving(monkeypatch):
    monkeypatch.setattr(_search, "LEAST_ROWS", 10)
    X, y = table(2, n=250)
    found = tune(AOSO, X, y, budget=120, trials=14, seed=0, refit=False)
    shares = [round(trial.share, 2) for trial in found.trials]
    assert shares == [1.0] + [0.11] * 9 + [0.33] * 3 + [1.0]
    first, third = found.trials[1:10], found.trials[10:13]
    best = sorted(first, key=lambda t: (t.log_loss, t.number))[:3]
    assert [t.setting for t in third] == [t.setting for t in best]
    last = min(third, key=lambda t: (t.log_loss, t.number))
    assert found.trials[13].setting == last.setting
    assert found.best.share == 1.0
    for trial in first:
        assert trial.rows == pytest.approx(200 / 9, abs=3)


def test_the_time_is_kept(monkeypatch):
    monkeypatch.setattr(_search, "MOST_ROUNDS", 100_000)
    X, y = load_digits(return_X_y=True)
    begin, budget = time.perf_counter(), 1.5
    found = tune(AOSO, X, y, budget=budget, params={"n_iter_no_change": 100_000})
    # Not the minutes of so many rounds; on a busy machine a round may end late.
    assert time.perf_counter() - begin < budget + 30
    assert found.stopped == "time"
    assert found.trials[0].rounds < 100_000  # the first counts though it was cut off
    assert found.model.time_limit is None


def test_settings_lie_in_their_ranges():
    settings = [drawn(AOSO, 0, number, {}) for number in range(1, 200)]
    rates = [setting["learning_rate"] for setting in settings]
    leaves = [setting["max_leaf_nodes"] for setting in settings]
    assert 0.02 <= min(rates) < 0.025
    assert 0.25 < max(rates) <= 0.3
    assert (min(leaves), max(leaves)) == (4, 128)
    assert {setting["leaf"] for setting in settings} == {"pair", "vector"}
    assert drawn(AOSO, 0, 0, {}) == {}
    assert "leaf" not in drawn(AOSO, 0, 1, {"leaf": "pair"})


def test_fixed_parameters_are_not_searched():
    X, y = table(3, n=120)
    found = tune(AOSO, X, y, budget=60, trials=2, params={"max_leaf_nodes": 5})
    assert "max_leaf_nodes" not in found.trials[1].params
    assert found.params["max_leaf_nodes"] == 5
    assert found.model.max_leaf_nodes == 5


@pytest.mark.parametrize(
    ("estimator", "options", "message"),
    [
        (AOSO, {"budget": 0}, "'budget' parameter of tune must be a number above 0"),
        (AOSO, {"trials": 0}, "'trials'"),
        (AOSO, {"params": {"depth": 2}}, "'depth' cannot be fixed"),
        (AOSO, {"params": {"n_estimators": 2}}, "'n_estimators' cannot be fixed"),
        (edgewise.MartiBoostClassifier, {}, "has no parameters to tune"),
    ],
)
def test_bad_options(estimator, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        tune(estimator, *table(0), **{"budget": 5, **options})


@pytest.mark.parametrize(
    ("y", "message"), [([1, 1, 1], "at least two classes"), ([0, 1, 2], "one row only")]
)
def test_bad_labels(y, message):
    with pytest.raises(InvalidDataError, match=message):
        tune(AOSO, np.zeros((3, 1)), y, budget=5)

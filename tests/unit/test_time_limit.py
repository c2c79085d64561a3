"""A fit that ends before its rounds are used up: by the clock, by Ctrl-C, by a callback."""

import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, assert_same_model, fitted_attributes, table

import edgewise
from edgewise._boosting import callbacks, loop

X, Y = table(0, n=150, K=3)
variants = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)


class StopAfter:
    """A callback that ends the fit with round `n`, or raises then."""

    def __init__(self, n, error=None):
        self.n, self.error, self.calls, self.models = n, error, [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None, X=None):
        self.calls.append(f"end {context.task_name}")
        self.models.append(fitted_estimator)
        self.X = X
        if context.task_name == "round" and context.task_id + 1 == self.n:
            if self.error:
                raise self.error
            return True
        return False


# --- the clock ----------------------------------------------------------------------------------


class Clock:
    """Seconds that pass only as a test says."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(loop.time, "perf_counter", lambda: self.now)


def test_no_round_begins_that_would_end_too_late(monkeypatch):
    clock = Clock(monkeypatch)
    deadline = loop.Deadline(10.0, begin=clock.now)
    clock.now += 2.0  # binning took two seconds
    deadline._last = clock.now
    clock.now += 3.0
    assert deadline.watch(None, [], None) is None  # 5 done, a round takes 3
    clock.now += 1.0
    assert deadline.watch(None, [], None) is None  # 6 + 3 <= 10
    clock.now += 1.5
    assert deadline.watch(None, [], None) == "time limit"  # 7.5 + 3 > 10


@variants
def test_a_short_limit_leaves_a_model_of_the_rounds_done(make):
    model = make(n_estimators=10**6, time_limit=1e-9, learning_rate=0.05).fit(X, Y)
    assert (model.n_iter_, model.stop_reason_) == (1, "time limit")
    assert_same_model(model.model_, make(n_estimators=1, learning_rate=0.05).fit(X, Y).model_)


def test_the_limit_is_kept():
    big, labels = table(1, n=4000, K=4)
    begin = time.perf_counter()
    model = edgewise.AOSOLogitBoostClassifier(
        n_estimators=10**7, learning_rate=1e-3, time_limit=0.5
    ).fit(big, labels)
    assert model.stop_reason_ == "time limit"
    assert model.n_iter_ > 1
    assert model.history_["seconds"][-1] < 0.5
    assert time.perf_counter() - begin < 30  # only that it ended at all: the machine may be busy


@variants
@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")  # one round may have no split
def test_a_fit_that_was_cut_short_can_be_continued(make):
    settings = {"random_state": 0, "warm_start": True}
    model = make(time_limit=1e-9, **settings).fit(X, Y)
    model.set_params(time_limit=None).fit(X, Y)
    assert_same_model(model.model_, make(**settings).fit(X, Y).model_)


# --- Ctrl-C ------------------------------------------------------------------------------------


@variants
def test_kept_rounds_are_those_of_a_shorter_fit(make):
    model = make(on_interrupt="keep").set_callbacks(StopAfter(3, KeyboardInterrupt()))
    model.fit(X, Y)
    assert (model.n_iter_, model.stop_reason_) == (3, "interrupted")
    assert {len(figures) for figures in model.history_.values()} == {3}
    assert_same_model(model.model_, make(n_estimators=3).fit(X, Y).model_)


def test_with_early_stopping_the_best_of_the_kept_rounds():
    make = VARIANTS["aoso_pair"]
    settings = {"n_estimators": 40, "learning_rate": 1.0, "n_iter_no_change": 40}
    X_val, y_val = table(1, n=100, K=3)
    given = {"X_val": X_val, "y_val": y_val}
    whole = make(**settings).fit(X, Y, **given)
    model = make(on_interrupt="keep", **settings).set_callbacks(StopAfter(9, KeyboardInterrupt()))
    model.fit(X, Y, **given)
    assert model.n_iter_ == int(np.argmax(whole.history_["validation_score"][:9])) + 1
    assert len(model.history_["validation_score"]) == 9


def test_nothing_learned_nothing_kept(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(edgewise.mart.MARTRule, "round", interrupted)
    model = edgewise.MARTClassifier(on_interrupt="keep")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert fitted_attributes(model) == set()


def test_a_round_cut_in_the_middle_is_not_kept(monkeypatch):
    """The trees are in the model, but its loss is not known yet."""
    losses = iter([1.0, 0.9, 0.8])

    def loss(engine):
        try:
            return next(losses)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("edgewise._boosting.grower.Engine.loss", loss)
    model = edgewise.LogitBoostClassifier(n_estimators=9, on_interrupt="keep").fit(X, Y)
    assert model.n_iter_ == model.model_.n_rounds == len(model.history_["loss"]) == 2


# --- callbacks -----------------------------------------------------------------------------------


@variants
def test_a_callback_sees_every_round_and_may_end_the_fit(make):
    callback = StopAfter(3)
    model = make().set_callbacks(callback).fit(X, Y)
    assert (model.n_iter_, model.stop_reason_) == (3, "a callback")
    rounds = ["begin round", "end round"] * 3
    assert callback.calls == ["setup", "begin fit", *rounds, "end fit", "teardown"]
    assert callback.X is X
    for m, seen in enumerate(callback.models[:3], start=1):
        assert seen.n_iter_ == m
        alone = make(n_estimators=m).fit(X, Y)
        assert_same_model(seen.model_, alone.model_)
        np.testing.assert_array_equal(seen.predict(X), alone.predict(X))


def test_a_callback_that_fails_is_torn_down_and_nothing_is_left():
    callback = StopAfter(2, RuntimeError("enough"))
    model = VARIANTS["aoso_pair"]().set_callbacks(callback)
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, Y)
    assert callback.calls[-1] == "teardown"
    assert fitted_attributes(model) == set()
    assert not hasattr(model, "_callback_fit_ctx")


def test_a_continued_fit_shows_the_rounds_of_both():
    make = VARIANTS["aoso_pair"]
    model = make(n_estimators=2, warm_start=True).fit(X, Y)
    callback = StopAfter(10)
    model.set_params(n_estimators=4).set_callbacks(callback).fit(X, Y)
    assert [seen.n_iter_ for seen in callback.models] == [3, 4, 4]
    assert_same_model(callback.models[0].model_, make(n_estimators=3).fit(X, Y).model_)


def test_scikit_learns_own_callbacks(capsys):
    monitor = ScoringMonitor(scoring="accuracy")
    model = VARIANTS["mart"]().set_callbacks(monitor, ProgressBar()).fit(X, Y)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "round"]
    expected = [np.mean(labels == Y) for labels in model.staged_predict(X)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_callbacks_reach_the_estimator_in_a_search():
    monitor = ScoringMonitor(scoring="accuracy")
    pipe = make_pipeline(StandardScaler(), VARIANTS["aoso_pair"]().set_callbacks(monitor))
    grid = {"aosologitboostclassifier__max_leaf_nodes": [2, 4]}
    search = GridSearchCV(pipe, grid, cv=2).set_callbacks(ProgressBar()).fit(X, Y)
    assert search.best_estimator_[-1].n_iter_ == 6
    rounds = [row for row in monitor.get_logs().data if row["task_name"] == "round"]
    assert len(rounds) == (2 * 2 + 1) * 6  # candidates times folds, and the refit


def test_a_clone_and_a_fit_without_callbacks_are_as_before():
    model = VARIANTS["mart"]().set_callbacks(StopAfter(1))
    assert clone(model).set_callbacks().fit(X, Y).n_iter_ == 6


def test_foreign_members_are_watched_too():
    base = DecisionTreeClassifier(max_depth=2, random_state=0)
    for classifier in (edgewise.AdaBoostMHClassifier, edgewise.SAMMEClassifier):
        model = classifier(base=base, n_estimators=5, random_state=0).set_callbacks(StopAfter(2))
        assert model.fit(X, Y).n_iter_ == 2


# --- where scikit-learn has no callbacks -------------------------------------------------------


class Own(callbacks.OwnCallbackSupport):
    """An estimator with the stand-in."""


def test_the_stand_in_calls_the_same_two_methods():
    callback, estimator = StopAfter(2), Own()
    estimator.set_callbacks(callback)
    watcher = callbacks.CallbackWatcher(estimator, 5, {"X": X, "y": Y}, lambda b, h: {"round_": b})
    answers = []
    for m in range(2):
        watcher.begin()
        answers.append(watcher.watch(m, [], None))
    watcher.end({"round_": 2})
    assert answers == [None, "a callback"]
    rounds = ["begin round", "end round"] * 2
    assert callback.calls == ["begin fit", *rounds, "end fit"]
    assert [seen.round_ for seen in callback.models] == [0, 1, 2]
    assert callback.X is X
    assert not hasattr(estimator, "round_")


def test_the_stand_in_refuses_what_is_no_callback():
    with pytest.raises(TypeError, match="on_fit_task_begin and on_fit_task_end"):
        Own().set_callbacks(print)

"""Algorithms compared: figures against independent formulas, folds, categories, going on."""

import importlib.util
import json
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from support_cli import cars

import edgewise
from edgewise import InvalidDataError, InvalidParameterError
from edgewise.comparison import (
    OURS,
    PEERS,
    compare,
    corrected_t_test,
    judged,
    mcnemar,
    resampled_interval,
)

QUICK = {"folds": 3, "repeats": 1, "rounds": 5}
INSTALLED = [name for name, peer in PEERS.items() if peer.missing_library() is None]


def without_times(comparison):
    facts = comparison.as_dict()
    for row in facts["methods"]:
        for name in ("fit_seconds", "predict_seconds", "predict_ms_per_1000"):
            del row[name]
    return facts


# --- figures ------------------------------------------------------------------------------------


def test_figures_by_hand():
    truth = np.array([0, 1, 1])
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.6, 0.2, 0.2]])
    figures = judged(truth, proba)
    assert figures["wrong"] == 1
    assert figures["log_loss"] == pytest.approx(-np.log([0.5, 0.8, 0.2]).mean())
    squares = [0.25 + 0.09 + 0.04, 0.01 + 0.04 + 0.01, 0.36 + 0.64 + 0.04]
    assert figures["brier"] == pytest.approx(np.mean(squares))
    # Fifteen bins: 0.6 and 0.5 of the first class fall into different ones, and so on.
    first = (abs(1 - 0.5) + abs(0 - 0.1) + abs(0 - 0.6)) / 3
    second = (abs(0 - 0.3) + abs(1 - 0.8) + abs(1 - 0.2)) / 3
    third = (abs(0 - 0.2) * 2 + abs(0 - 0.1)) / 3
    assert figures["calibration"] == pytest.approx(np.mean([first, second, third]))


def test_certainty_that_is_wrong_is_finite():
    assert judged(np.array([0]), np.array([[0.0, 1.0]]))["log_loss"] == pytest.approx(36.04, 0.01)


def test_without_shared_rows_the_t_test_is_the_ordinary_one(seed):
    values = np.random.default_rng(seed).normal(0.3, 1.0, size=12)
    expected = stats.ttest_1samp(values, 0.0)
    assert corrected_t_test(values, 0.0) == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert resampled_interval(values, 0.0) == pytest.approx((interval.low, interval.high))


def test_the_correction_of_nadeau_and_bengio(seed):
    """Their equation (9): the variance of the mean is (1/J + n2/n1) S^2 instead of S^2/J."""
    values = np.random.default_rng(seed).normal(0.3, 1.0, size=15)
    share = 0.25  # five folds
    variance = (1 / 15 + share) * sum((v - values.mean()) ** 2 for v in values) / 14
    t = values.mean() / math.sqrt(variance)
    assert corrected_t_test(values, share) == pytest.approx(2 * stats.t.sf(abs(t), 14))
    low, high = resampled_interval(values, share)
    assert (low + high) / 2 == pytest.approx(values.mean())
    assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 14) * math.sqrt(variance))


def test_folds_without_a_difference():
    assert corrected_t_test([0.0, 0.0, 0.0], 0.5) == 1.0
    assert corrected_t_test([0.25, 0.25, 0.25], 0.5) == 0.0


@pytest.mark.parametrize(("b", "c"), [(0, 0), (5, 0), (7, 3), (4, 4), (1, 9)])
def test_mcnemar_counts_binomial_chances(b, c):
    first = np.array([True] * b + [False] * c + [True, False])
    second = np.array([False] * b + [True] * c + [True, False])
    n = b + c
    chance = [math.comb(n, k) / 2**n for k in range(n + 1)]
    expected = sum(p for p in chance if p <= chance[b] * (1 + 1e-9))
    assert mcnemar(first, second) == pytest.approx(expected)


# --- splits -------------------------------------------------------------------------------------


def test_errors_are_those_of_the_folds_one_by_one(wine):
    X, y = wine
    found = compare(X, y, methods=["mart"], folds=3, repeats=2, rounds=5, seed=4)
    expected = []
    for repeat in range(2):
        folds = StratifiedKFold(3, shuffle=True, random_state=4 + repeat)
        for train, test in folds.split(X, y):
            model = edgewise.MARTClassifier(n_estimators=5, random_state=4).fit(X[train], y[train])
            expected.append(np.mean(model.predict(X[test]) != y[test]))
    row = found.rows()[0]
    assert row.errors == pytest.approx(expected)
    assert row.error == pytest.approx(np.mean(expected))
    test_share = len(test) / len(train)
    assert row.interval[1] == pytest.approx(resampled_interval(expected, test_share)[1], rel=0.01)
    rows, proba = found.held_out("mart")
    assert rows.tolist() == list(range(len(y)))
    wrong = proba.argmax(axis=1) != np.unique(y, return_inverse=True)[1]
    counts = [result.wrong for result in found.of("mart") if result.repeat == 0]
    assert wrong.sum() == sum(counts)


def test_test_rows(wine):
    X, y = wine
    found = compare(
        X[::2], y[::2], test=(X[1::2], y[1::2]), methods=["mart", "aoso"], rounds=20, seed=0
    )
    model = edgewise.MARTClassifier(n_estimators=20, random_state=0).fit(X[::2], y[::2])
    row = next(row for row in found.rows() if row.method == "mart")
    assert row.error == np.mean(model.predict(X[1::2]) != y[1::2])
    assert row.interval == tuple(edgewise.metrics.error_interval(round(row.error * 89), 89))
    paired = found.paired()
    assert paired.name == "McNemar's exact test"
    right = [found.held_out(m)[1].argmax(axis=1) == y[1::2] for m in (paired.first, paired.second)]
    assert paired.p_value == mcnemar(*right)
    curve = found.of("mart")[0].curve
    assert (len(curve), curve[-1]) == (20, row.error)


def test_rare_classes_are_adapted_to_and_noted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(44, 3))
    y = np.array(["a"] * 20 + ["b"] * 20 + ["c"] * 3 + ["d"])
    found = compare(X, y, methods=["mart"], folds=5, repeats=1, rounds=3)
    assert [note for note in found.notes if "class d has a single row: always trained on" in note]
    assert [note for note in found.notes if "class c has fewer rows than folds" in note]
    tested = np.concatenate(list(found.tested.values()))
    assert sorted(tested.tolist()) == list(range(43))


def test_no_more_folds_than_the_largest_class_has_rows():
    X = np.arange(12.0).reshape(6, 2)
    found = compare(X, [0, 0, 0, 1, 1, 1], methods=["mart"], folds=10, repeats=1, rounds=2)
    assert found.protocol["folds"] == 3
    assert "3 folds instead of 10" in found.notes[0]


def test_a_class_that_training_lacks_is_wrong_and_noted(iris):
    X, y = iris
    known = y < 2
    found = compare(X[known], y[known], test=(X, y), methods=["mart"], rounds=5)
    assert found.rows()[0].error >= 1 / 3
    assert "training lacks" in found.notes[0]
    assert found.held_out("mart")[1][:, 2].max() == 0


# --- methods ------------------------------------------------------------------------------------


def test_all_of_ours_that_suit(iris):
    found = compare(*iris, peers=False, **QUICK)
    assert set(found.methods) == set(OURS) - {"martiboost"}
    assert found.skipped == {"martiboost": "is for two classes"}
    assert all(row.error < 0.2 for row in found.rows())
    errors = [row.error for row in found.rows()]
    assert errors == sorted(errors)


def test_two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    found = compare(X[:200, :8], y[:200], peers=False, folds=2, repeats=1, rounds=3)
    assert "martiboost" in found.methods
    assert set(found.skipped) == {"abc-mart", "abc-logitboost"}


@pytest.mark.parametrize("peer", INSTALLED)
def test_peers_with_categories_and_missing_values(peer):
    frame = pd.DataFrame(cars(240))
    frame["weight"] = pd.to_numeric(frame["weight"])
    X, y = frame[["power", "weight", "body"]], frame["origin"]
    if PEERS[peer].needs_whole:
        X = X.fillna(0.0)
    found = compare(X, y, methods=[peer], folds=2, repeats=1, rounds=10, threads=1)
    assert found.failed == {}
    row = found.rows()[0]
    assert row.error < 0.4
    assert row.model_bytes > 1000
    assert row.library.split()[1][0].isdigit()


@pytest.mark.parametrize("peer", INSTALLED)
def test_peers_take_sparse_rows_or_say_so(peer, iris):
    X, y = iris
    if PEERS[peer].needs_dense:
        with pytest.raises(InvalidParameterError, match="takes no sparse matrix"):
            compare(sparse.csr_array(X), y, methods=[peer], **QUICK)
        return
    dense = compare(X, y, methods=[peer], **QUICK, threads=1).rows()[0]
    thin = compare(sparse.csr_array(X), y, methods=[peer], **QUICK, threads=1).rows()[0]
    assert thin.error == pytest.approx(dense.error, abs=0.1)


def test_a_category_has_one_code_in_training_and_test_rows():
    train = pd.DataFrame({"word": ["b", "c", "b", "c"] * 5, "n": range(20)})
    test = pd.DataFrame({"word": ["a", "b", "c", None], "n": range(4)})
    found = compare(
        train, [0, 1] * 10, test=(test, [0, 0, 1, 1]), methods=["sklearn-rf"], rounds=20
    )
    assert found.held_out("sklearn-rf")[1].argmax(axis=1)[1:3].tolist() == [0, 1]


def test_ours_learn_from_categories():
    frame = pd.DataFrame({"word": ["x", "y", "z"] * 30})
    found = compare(frame, [0, 1, 2] * 30, peers=False, folds=3, repeats=1, rounds=40)
    assert [row.error for row in found.rows()] == [0.0] * 11


def test_parameters_reach_their_method(iris):
    params = {"mart": {"max_leaf_nodes": 2}}
    found = compare(*iris, methods=["mart", "aoso"], params=params, **QUICK)
    assert found.parameters == {
        "mart": {"n_estimators": 5, "max_leaf_nodes": 2}, "aoso": {"n_estimators": 5},
    }  # fmt: skip


def test_a_method_that_fails_does_not_stop_the_others(iris, monkeypatch):
    def fit(*_):
        raise RuntimeError("it broke\nin many lines")

    monkeypatch.setattr(type(PEERS["sklearn-rf"]), "fit", fit)
    found = compare(*iris, methods=["sklearn-rf", "mart"], **QUICK)
    assert found.failed == {"sklearn-rf": "it broke"}
    assert found.methods == ["mart"]
    assert found.paired() is None
    with pytest.raises(InvalidDataError, match="No method could be fitted. sklearn-rf: it broke"):
        compare(*iris, methods=["sklearn-rf"], **QUICK)


def test_warnings_become_notes(iris, monkeypatch):
    def predict_proba(self, model, features, setting):
        warnings.warn("something odd", UserWarning, stacklevel=1)
        return model.predict_proba(features.matrix)

    monkeypatch.setattr(type(PEERS["sklearn-rf"]), "predict_proba", predict_proba)
    found = compare(*iris, methods=["sklearn-rf"], **QUICK)
    assert found.notes == ("sklearn-rf: something odd",)


def test_the_same_numbers_for_any_number_of_threads(iris):
    one, two = (
        without_times(compare(*iris, methods=["aoso", "samme"], threads=n, **QUICK)) for n in (1, 2)
    )
    one["protocol"].pop("threads")
    two["protocol"].pop("threads")
    assert one == two


# --- going on -----------------------------------------------------------------------------------


class Count:
    """Counts what was measured and what was found."""

    def __init__(self, stop_after=None):
        self.fresh = self.found = 0
        self.stop_after = stop_after

    def begin(self, n_steps, methods, notes):
        self.n_steps = n_steps

    def step(self, method, split):
        if self.fresh == self.stop_after:
            raise KeyboardInterrupt

    def done(self, method, result, *, fresh):
        self.fresh += fresh
        self.found += not fresh


def test_a_stopped_run_resumes(iris, tmp_path):
    options = {"methods": ["mart", "aoso"], **QUICK}
    whole = compare(*iris, **options)
    with pytest.raises(KeyboardInterrupt):
        compare(*iris, **options, out=tmp_path, watcher=Count(stop_after=3))
    with open(tmp_path / "results.jsonl", "ab") as lines:
        lines.write(b'{"key": "torn')  # as a kill may leave it
    rest = Count()
    again = compare(*iris, **options, out=tmp_path, watcher=rest)
    assert (rest.fresh, rest.found) == (3, 3)
    assert without_times(again) == without_times(whole)
    assert np.array_equal(again.held_out("mart")[1], whole.held_out("mart")[1])


def test_a_result_without_its_probabilities_is_measured_again(iris, tmp_path):
    options = {"methods": ["mart"], **QUICK, "out": tmp_path}
    compare(*iris, **options)
    next((tmp_path / "answers").iterdir()).unlink()
    watcher = Count()
    compare(*iris, **options, watcher=watcher)
    assert (watcher.fresh, watcher.found) == (1, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"rounds": 6},
        {"folds": 4},
        {"threads": 3},
        {"params": {"mart": {"max_leaf_nodes": 3}}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_other_settings_are_another_run(iris, tmp_path, change):
    options = {"methods": ["mart"], "threads": 1, **QUICK, "out": tmp_path}
    compare(*iris, **options)
    watcher = Count()
    compare(*iris, **{**options, **change}, watcher=watcher)
    assert watcher.found == 0


def test_other_data_are_another_run(iris, tmp_path):
    X, y = iris
    options = {"methods": ["mart"], **QUICK, "out": tmp_path}
    compare(X, y, **options)
    changed = X.copy()
    changed[3, 1] += 1e-9
    for other in ((changed, y), (X, np.roll(y, 1))):
        watcher = Count()
        compare(*other, **options, watcher=watcher)
        assert watcher.found == 0


def test_another_version_is_another_run(iris, tmp_path, monkeypatch):
    options = {"methods": ["mart"], **QUICK, "out": tmp_path}
    compare(*iris, **options)
    monkeypatch.setattr(type(OURS["mart"]), "version", lambda self: "edgewise 99")
    watcher = Count()
    compare(*iris, **options, watcher=watcher)
    assert watcher.found == 0


def test_more_methods_take_up_what_is_there(iris, tmp_path):
    compare(*iris, methods=["mart"], **QUICK, out=tmp_path)
    watcher = Count()
    compare(*iris, methods=["mart", "aoso"], **QUICK, out=tmp_path, watcher=watcher)
    assert (watcher.fresh, watcher.found) == (3, 3)


def test_a_folder_of_something_else(iris, tmp_path):
    (tmp_path / "results.jsonl").write_text(json.dumps({"something": "else"}) + "\n")
    with pytest.raises(InvalidDataError, match="line 1 is not a result of a comparison"):
        compare(*iris, methods=["mart"], **QUICK, out=tmp_path)


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["magic"]}, "no method 'magic'. There are auto, "),
        ({"methods": ["martiboost"]}, "martiboost is for two classes"),
        ({"folds": 1}, "'folds' parameter of compare must be an integer of at least 2"),
        ({"repeats": 0}, "'repeats'"),
        ({"rounds": 0}, "'rounds'"),
        ({"params": {"magic": {}}}, "not among the methods to run"),
        ({"params": {"mart": {"depth": 3}}}, "MARTClassifier has no parameter 'depth'"),
    ],
)
def test_bad_options(iris, options, message):
    given = {"methods": ["mart"], **QUICK, **options}
    with pytest.raises(InvalidParameterError, match=message):
        compare(*iris, **given)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((4, 2)), [1, 1, 1, 1], "at least two classes"),
        (np.zeros((4, 2)), [0, 1], "as many rows"),
        (np.zeros((3, 2)), [0, 1, 2], "Every class has one row only"),
        (np.zeros((0, 2)), [], "at least one row"),
        (np.array([["a"], ["b"]]), [0, 1], "matrix of numbers or a data frame"),
    ],
)
def test_bad_data(X, y, message):
    with pytest.raises(InvalidDataError, match=message):
        compare(X, y, methods=["mart"])


def test_a_peer_that_is_not_there_is_skipped(iris, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "lightgbm" else find(name)
    )
    with pytest.raises(InvalidParameterError, match="lightgbm is not installed"):
        compare(*iris, methods=["lightgbm"], **QUICK)

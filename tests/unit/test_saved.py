"""Model files: what is saved comes back, whole and bit by bit, and nothing else does."""

import json
import os
import pickle
import resource
import signal
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from safetensors import safe_open
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from support import EVERY_CLASSIFIER, VARIANTS, assert_same_model, nominal_table, table
from support_files import frame_of_categories, rewritten, save_aoso, say

import edgewise
from edgewise import ModelFormatError
from edgewise._ground.estimator import ESTIMATORS
from edgewise._tools.load import from_bytes
from edgewise.losses import GeneralizedCrossEntropy, LogLoss, TransitionLoss

MAKERS = VARIANTS | {
    "auto": lambda **parameters: edgewise.AutoBoostClassifier(effort="fast", **parameters),
    "martiboost": lambda **parameters: edgewise.MartiBoostClassifier(n_layers=4, **parameters),
}
NOT_SAVED = {"oof_proba_"}  # as large as the training rows


def labels_for(name, y):
    """Two classes where the estimator knows no more."""
    return (y > 0).astype(int) if name == "martiboost" else y


@pytest.fixture(params=MAKERS)
def saved(request, tmp_path):
    """A fitted estimator with categories and gaps, its rows, and its file."""
    X, y = nominal_table(0, missing=0.1)
    y = labels_for(request.param, y)
    model = MAKERS[request.param](categorical_features=[0, 1]).fit(X, y)
    path = tmp_path / "model.edgewise"
    model.save(path)
    return model, (X, y), path


def assert_same(a, b, X):
    """Two estimators are the same, in all that a fit left and in what they predict."""
    assert type(a) is type(b)
    assert repr(a.get_params()) == repr(b.get_params())
    assert vars(a).keys() - NOT_SAVED == vars(b).keys() - NOT_SAVED
    assert_same_model(a.model_, b.model_)
    assert a.history_.keys() == b.history_.keys()
    for name, column in a.history_.items():
        assert column.dtype == b.history_[name].dtype
        np.testing.assert_array_equal(column, b.history_[name])
    elsewhere = {"model_", "history_", "categories_", *a.get_params(), *NOT_SAVED}
    for name in vars(a).keys() - elsewhere:
        mine, theirs = getattr(a, name), getattr(b, name)
        assert type(mine) is type(theirs), name
        for part in mine if isinstance(mine, dict) else [...]:  # a table, or one thing
            pair = (mine, theirs) if part is ... else (mine[part], theirs[part])
            np.testing.assert_array_equal(*pair, err_msg=name)
    assert a.classes_.dtype == b.classes_.dtype
    for answer in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(a, answer)(X), getattr(b, answer)(X))


def reloaded(model, tmp_path):
    model.save(tmp_path / "again.edgewise")
    return edgewise.load(tmp_path / "again.edgewise")


# --- what is saved comes back -------------------------------------------------------------------


def test_every_boosting_estimator_can_be_saved():
    assert set(ESTIMATORS.values()) == set(EVERY_CLASSIFIER)
    assert {type(make()) for make in MAKERS.values()} == set(EVERY_CLASSIFIER)


def test_a_loaded_estimator_is_the_saved_one(saved):
    model, (X, y), path = saved
    assert np.isnan(model.model_.arrays()["threshold"]).any()  # it has sets of categories
    assert_same(model, edgewise.load(path), X)


def test_the_same_estimator_gives_the_same_bytes(saved, tmp_path):
    _, _, path = saved
    edgewise.load(path).save(tmp_path / "second")
    assert path.read_bytes() == (tmp_path / "second").read_bytes()


def test_a_loaded_estimator_can_be_pickled_and_cloned(saved):
    _, (X, y), path = saved
    loaded = edgewise.load(path)
    assert_same(loaded, pickle.loads(pickle.dumps(loaded)), X)
    assert repr(clone(loaded)) == repr(loaded)
    assert not hasattr(clone(loaded), "model_")


@pytest.mark.parametrize("name", VARIANTS)
def test_a_loaded_estimator_continues_as_the_saved_one(name, tmp_path):
    X, y = table(3, K=4, missing=0.1)
    model = VARIANTS[name](n_estimators=3, warm_start=True).fit(X, y)
    loaded = reloaded(model, tmp_path)
    for estimator in (model, loaded):
        estimator.set_params(n_estimators=6).fit(X, y)
    assert_same_model(model.model_, loaded.model_)
    whole = VARIANTS[name](n_estimators=6).fit(X, y)
    assert_same_model(whole.model_, loaded.model_)
    assert loaded.history_.keys() == model.history_.keys()
    for stage, of_whole in zip(loaded.staged_predict(X), whole.staged_predict(X), strict=True):
        np.testing.assert_array_equal(stage, of_whole)


def test_rounds_after_the_best_one_stay_in_the_history(tmp_path):
    X, y = table(1, n=300, noise=0.6)
    model = edgewise.MARTClassifier(
        n_estimators=40, early_stopping=True, n_iter_no_change=5, learning_rate=0.5, random_state=0
    ).fit(X, y)
    assert model.stop_reason_ == "early stopping"
    assert_same(model, reloaded(model, tmp_path), X)


def test_multi_label_models(tmp_path):
    X, y = table(1)
    Y = np.stack([y == 0, y > 0, X[:, 0] > 0], axis=1).astype(int)
    for cls in (edgewise.AdaBoostMHClassifier, edgewise.SoftmaxBoostClassifier):
        model = cls(n_estimators=3).fit(X, Y)
        assert model.multi_label_
        assert_same(model, reloaded(model, tmp_path), X)


LABELS = {
    "int64": [3, -7, 2**62],
    "int8": np.array([3, -7, 100], dtype=np.int8),
    "uint64": np.array([3, 2**63 + 1, 2**64 - 1], dtype=np.uint64),
    "float": [0.0, -5.0, 1e15],
    "float32": np.array([1, 2, 7], dtype=np.float32),
    "text": ["naïve", "", 'a "b"\n\x00c'],
    "objects": np.array(["x", "yy", "☃"], dtype=object),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_kind(kind, tmp_path):
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=2).fit(X, np.asarray(LABELS[kind])[y])
    loaded = reloaded(model, tmp_path)
    assert_same(model, loaded, X)
    assert [type(label) for label in loaded.classes_] == [type(c) for c in model.classes_]


def test_boolean_labels(tmp_path):
    X, y = table(0, K=2)
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=2).fit(X, y == 1)
    assert model.classes_.dtype == bool
    assert_same(model, reloaded(model, tmp_path), X)


def test_feature_names(tmp_path):
    X, y = table(0)
    frame = pd.DataFrame(X, columns=["a", "ß", "a b", ""])
    model = edgewise.MARTClassifier(n_estimators=2, categorical_features=["a b"]).fit(frame, y)
    loaded = reloaded(model, tmp_path)
    assert_same(model, loaded, frame)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["ß", "a", "a b", ""]])


@pytest.mark.parametrize("name", MAKERS)
def test_categories_by_value(name, tmp_path):
    frame, y = frame_of_categories()
    y = labels_for(name, y)
    model = MAKERS[name]().fit(frame, y)
    loaded = reloaded(model, tmp_path)
    assert_same(model, loaded, frame)
    assert loaded.categories_.keys() == set(range(1, 7))
    for column, values in model.categories_.items():
        assert loaded.categories_[column].dtype == values.dtype
        np.testing.assert_array_equal(loaded.categories_[column], values)
    strange = frame.assign(text="never seen", whole=pd.Categorical([5] * len(frame)))
    np.testing.assert_array_equal(loaded.predict_proba(strange), model.predict_proba(strange))


def test_many_categories(tmp_path):
    names = [f"category {i}" for i in range(70_000)]
    frame = pd.DataFrame({"x": names * 2})
    y = np.arange(len(frame)) % 3
    model = edgewise.MARTClassifier(n_estimators=1, max_leaf_nodes=3).fit(frame, y)
    loaded = reloaded(model, tmp_path)
    np.testing.assert_array_equal(loaded.categories_[0], model.categories_[0])
    few = frame[::1000]
    np.testing.assert_array_equal(loaded.predict_proba(few), model.predict_proba(few))


PLAIN = {
    "class_weight": {0: 1.0, 1: np.float32(2.5), 2: 3},
    "learning_rate": np.float64(0.25),
    "max_depth": np.int32(3),
    "categorical_features": np.array([True, False, False, False]),
    "random_state": 7,
    "scoring": "roc_auc_ovr",
    "interaction_cst": [{0, 1}, {2, 3}],
    "monotonic_cst": {0: {0: 1, (1, 2): -1}},
    "time_limit": 1e6,
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_parameters_keep_their_value(name, tmp_path):
    X, y = table(0, levels=4)
    model = edgewise.MARTClassifier(n_estimators=2, **{name: PLAIN[name]}).fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert type(getattr(loaded, name)) in (dict, float, int, list, np.ndarray, str)
    np.testing.assert_equal(getattr(loaded, name), PLAIN[name])
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_cost_matrix_is_a_plain_parameter(tmp_path):
    X, y = table(0)
    cost = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.1], [5.0, 1e-300, 0.0]])
    for given in (cost, cost.tolist(), tuple(map(tuple, cost))):
        model = edgewise.SoftmaxBoostClassifier(cost=given, n_estimators=2).fit(X, y)
        loaded = reloaded(model, tmp_path)
        assert type(loaded.cost) is type(given)
        np.testing.assert_array_equal(loaded.cost, cost)


LOSSES = {
    "log": LogLoss(smoothing=0.1),
    "gce": GeneralizedCrossEntropy(q=0.5),
    "transition": TransitionLoss([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_our_own(name, tmp_path):
    X, y = table(0)
    settings = {"loss": LOSSES[name], "n_estimators": 3, "warm_start": True}
    model = edgewise.NewtonBoostClassifier(**settings).fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert repr(loaded.loss) == repr(LOSSES[name])
    assert_same(model, loaded, X)
    for estimator in (model, loaded):
        estimator.set_params(n_estimators=5).fit(X, y)
    assert_same_model(model.model_, loaded.model_)


def test_losses_of_others_are_refused(tmp_path):
    class Mine(LogLoss):
        pass

    X, y = table(0)
    model = edgewise.NewtonBoostClassifier(loss=Mine(), n_estimators=1).fit(X, y)
    with pytest.raises(ModelFormatError, match="cannot hold the parameter 'loss'"):
        model.save(tmp_path / "model.edgewise")


WRONG_LOSSES = {
    "unknown": {"check_loss": {}},
    "two": {"LogLoss": {"smoothing": 0.1}, "GeneralizedCrossEntropy": {"q": 0.5}},
    "none": {},
    "a list": ["LogLoss"],
    "numbers missing": {"LogLoss": {}},
    "numbers too many": {"LogLoss": {"smoothing": 0.1, "more": 1}},
    "numbers as a list": {"LogLoss": [0.1]},
    "not a share": {"LogLoss": {"smoothing": 2.0}},
    "not a number": {"GeneralizedCrossEntropy": {"q": "0.5"}},
    "not a matrix": {"TransitionLoss": {"noise": [[1.0], [0.5, 0.5]]}},
    "not probabilities": {"TransitionLoss": {"noise": [[1.0, 1.0], [0.5, 0.5]]}},
}


@pytest.mark.parametrize("name", WRONG_LOSSES)
def test_wrong_losses_are_refused(name, tmp_path):
    X, y = table(0)
    path = tmp_path / "model.edgewise"
    edgewise.NewtonBoostClassifier(n_estimators=1).fit(X, y).save(path)
    change = say("parameters", "loss", value={"loss": WRONG_LOSSES[name]})
    with pytest.raises(ModelFormatError):
        from_bytes(rewritten(path, change))


# --- what cannot be saved -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("random_state", np.random.RandomState(0)),
        ("scoring", lambda model, X, y: 0.0),
        ("class_weight", {0: object()}),
    ],
)
def test_parameters_that_are_not_plain_are_refused_with_a_message(parameter, value, tmp_path):
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y).set_params(**{parameter: value})
    words = f"cannot hold the parameter '{parameter}' of MARTClassifier.*Set it to something plain"
    with pytest.raises(ModelFormatError, match=words):
        model.save(tmp_path / "model.edgewise")
    assert list(tmp_path.iterdir()) == []


def test_parameters_that_are_not_allowed_are_refused(tmp_path):
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y).set_params(n_estimators="many")
    with pytest.raises(ModelFormatError, match="'n_estimators' parameter of MARTClassifier must"):
        model.save(tmp_path / "model.edgewise")


@pytest.mark.parametrize("cls", [edgewise.AdaBoostMHClassifier, edgewise.SAMMEClassifier])
def test_classifiers_of_other_libraries_are_refused(cls, tmp_path):
    X, y = table(0)
    model = cls(base=DecisionTreeClassifier(max_depth=1), n_estimators=2).fit(X, y)
    with pytest.raises(ModelFormatError, match="another library's. Use pickle or skops"):
        model.save(tmp_path / "model.edgewise")


def test_the_truth_table_classifier_is_refused(tmp_path):
    X, y = table(0)
    model = edgewise.TruthTableClassifier([("tree", DecisionTreeClassifier())]).fit(X, y)
    with pytest.raises(ModelFormatError, match="any library's. Use pickle or skops"):
        model.save(tmp_path / "model.edgewise")


def test_classes_of_others_are_refused(tmp_path):
    class Mine(edgewise.MARTClassifier):
        pass

    X, y = table(0)
    with pytest.raises(ModelFormatError, match="Mine cannot be saved.*not one of edgewise's own"):
        Mine(n_estimators=1).fit(X, y).save(tmp_path / "model.edgewise")


def test_dates_as_labels_are_refused(tmp_path):
    X, y = table(0)
    days = np.array(["2001-01-01", "2002-01-01", "2003-01-01"], dtype="M8[D]")
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y)
    model.classes_ = days
    with pytest.raises(ModelFormatError, match=r"cannot hold the class labels.*datetime64\[D\]"):
        model.save(tmp_path / "model.edgewise")


def test_attributes_unknown_to_the_format_are_refused(tmp_path):
    """So that a new attribute of a fit cannot be forgotten silently."""
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y)
    model.note = "the user's own business"
    model.save(tmp_path / "model.edgewise")
    model.temper_ = 1.5
    with pytest.raises(ModelFormatError, match="'temper_' of MARTClassifier"):
        model.save(tmp_path / "model.edgewise")


def test_an_unfitted_estimator_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        edgewise.MARTClassifier().save(tmp_path / "model.edgewise")


# --- files --------------------------------------------------------------------------------------


def test_a_file_that_does_not_exist_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        edgewise.load(tmp_path / "none")


def test_something_that_is_no_file_is_refused():
    with pytest.raises(ModelFormatError, match="regular file"):
        edgewise.load(os.devnull)


def test_the_file_has_the_usual_rights_and_links_are_followed(tmp_path):
    X, y = table(0)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y)
    plain = tmp_path / "plain"
    plain.touch()
    (tmp_path / "link").symlink_to(tmp_path / "target")
    model.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    rights = [stat.S_IMODE(p.stat().st_mode) for p in (plain, tmp_path / "target")]
    assert rights[0] == rights[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "plain", "target"]


FULL_DISK = """
import resource, signal, sys
import edgewise
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
model = edgewise.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    model.save(sys.argv[1])
except OSError as error:
    print("refused:", error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs a limit of file sizes")
@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="needs a limit of file sizes")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = save_aoso(tmp_path / "model.edgewise")
    before = path.read_bytes()
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "refused: [Errno 27]" in done.stdout
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_other_tools_can_read_the_file(saved):
    model, _, path = saved
    with safe_open(path, framework="np") as file:
        header = json.loads(file.metadata()["edgewise"])
        threshold = file.get_tensor("model.threshold")
    assert header["format"] == "edgewise model"
    assert header["algorithm"] == type(model).__name__
    assert header["parameters"]["categorical_features"] == [0, 1]
    np.testing.assert_array_equal(threshold, model.model_.arrays()["threshold"])

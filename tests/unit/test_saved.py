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
from safetensors.numpy import save as to_safetensors
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from support import EVERY_CLASSIFIER, VARIANTS, assert_same_model, nominal_table, table

import edgewise
from edgewise import ModelFormatError
from edgewise._model.check import PER_NODE
from edgewise._model.file import unpack
from edgewise._tools.load import ALGORITHMS, from_bytes
from edgewise.losses import GeneralizedCrossEntropy, LogLoss, TransitionLoss

MAKERS = VARIANTS | {
    "martiboost": lambda **parameters: edgewise.MartiBoostClassifier(n_layers=4, **parameters)
}


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
    assert vars(a).keys() == vars(b).keys()
    assert_same_model(a.model_, b.model_)
    assert a.history_.keys() == b.history_.keys()
    for name, column in a.history_.items():
        assert column.dtype == b.history_[name].dtype
        np.testing.assert_array_equal(column, b.history_[name])
    for name in vars(a).keys() - {"model_", "history_", "categories_", *a.get_params()}:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.classes_.dtype == b.classes_.dtype
    for answer in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(a, answer)(X), getattr(b, answer)(X))


def reloaded(model, tmp_path):
    model.save(tmp_path / "again.edgewise")
    return edgewise.load(tmp_path / "again.edgewise")


# --- what is saved comes back -------------------------------------------------------------------


def test_every_boosting_estimator_can_be_saved():
    assert set(ALGORITHMS.values()) == set(EVERY_CLASSIFIER)
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


def frame_of_categories():
    """Columns of strings, of whole, real and true categories, and of numbers; and labels."""
    X, y = nominal_table(2, n=200, d=5)
    code = (X[:, :4] + 9) / 7
    frame = pd.DataFrame({"number": X[:, 4]})
    frame["text"] = np.array(["a", "ß", "☃", "", "a b", 'x"\n'])[code[:, 0].astype(int)]
    frame["whole"] = pd.Categorical((code[:, 1] * 2**40).astype(np.int64))
    frame["small"] = pd.Categorical((code[:, 1]).astype(np.uint8))
    frame["real"] = pd.Categorical((code[:, 2] / 3).astype(np.float32))
    frame["true"] = pd.Categorical(code[:, 3] > 2)
    frame["none"] = pd.Series([None] * len(y), dtype=str)
    return frame, y


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
def test_parameters_that_are_not_plain_are_refused_with_words(parameter, value, tmp_path):
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
    with pytest.raises(ModelFormatError, match="no file"):
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
def test_a_full_disk_leaves_the_old_file(aoso, tmp_path):
    before = aoso.read_bytes()
    path = tmp_path / "model.edgewise"
    path.write_bytes(before)
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


# --- bad files ----------------------------------------------------------------------------------


def rewritten(path, change):
    """The bytes of the file after change(header, arrays), in a valid container."""
    header, arrays = unpack(path.read_bytes())
    change(header, arrays)
    text = json.dumps(header)  # as lenient as JSON is written
    return to_safetensors(arrays, metadata={"edgewise": text})


@pytest.fixture(scope="module")
def aoso(tmp_path_factory):
    """The file of a model of AOSO-LogitBoost with sets of categories."""
    X, y = nominal_table(0, missing=0.1)
    path = tmp_path_factory.mktemp("file") / "aoso.edgewise"
    settings = {"n_estimators": 3, "max_leaf_nodes": 5, "min_samples_leaf": 1}
    edgewise.AOSOLogitBoostClassifier(**settings, categorical_features=[0, 1]).fit(X, y).save(path)
    return path


def put(name, place, value):
    def change(header, arrays):
        arrays[name][place] = value

    return change


def cut(name, n=1):
    def change(header, arrays):
        arrays[name] = arrays[name][:-n]

    return change


def cast(name, dtype):
    def change(header, arrays):
        arrays[name] = arrays[name].astype(dtype)

    return change


def say(*keys, value):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        header[keys[-1]] = value

    return change


def drop(*keys):
    def change(header, arrays):
        for key in keys[:-1]:
            header = header[key]
        del header[keys[-1]]

    return change


def without(name):
    return lambda header, arrays: arrays.pop(name)


def extra(name):
    def change(header, arrays):
        arrays[name] = np.zeros(3)

    return change


def nested(header, arrays):
    value = []
    for _ in range(100):
        value = [value]
    header["parameters"]["class_weight"] = value


CHANGES = {
    "start not a number": put("model.start", 0, np.nan),
    "start infinite": put("model.start", 0, np.inf),
    "start too short": cut("model.start"),
    "start of whole numbers": cast("model.start", np.int64),
    "rounds do not begin at 0": put("model.round_start", 0, 1),
    "rounds fall": put("model.round_start", 1, 99),
    "rounds negative": put("model.round_start", 1, -(2**63)),
    "rounds too few": cut("model.round_start"),
    "nodes of no tree": put("model.node_start", 1, 0),
    "nodes beyond the end": put("model.node_start", 1, 2**62),
    "nodes of a tree cut off": cut("model.node_start"),
    "node arrays of different length": cut("model.gain"),
    "no nodes": lambda header, arrays: arrays.update(
        {f"model.{n}": arrays[f"model.{n}"][:0] for n in PER_NODE}
    ),
    "values beyond the end": put("model.value_start", 1, 2**40),
    "values too few": cut("model.values"),
    "width nought": put("model.width", 0, 0),
    "width negative": put("model.width", 0, -2),
    "width too large": put("model.width", 0, 4),
    "a feature beyond the last": put("model.feature", 0, 3),
    "a feature below -1": put("model.feature", 0, -2),
    "a child before its parent": put("model.left", 0, 0),
    "a child that is its parent": put("model.left", 1, 1),
    "a child beyond the tree": put("model.left", 0, 2**30),
    "a negative child": put("model.left", 0, -1),
    "a child of two": put("model.left", 0, 3),
    "a leaf number beyond the last": put("model.left", -1, 5),
    "a negative leaf number": put("model.left", -1, -1),
    "a leaf number twice": put("model.left", -1, 0),
    "a leaf that is a node": put("model.feature", -1, 0),
    "a node that is a leaf": put("model.feature", 0, -1),
    "a threshold too many is NaN": lambda header, arrays: arrays["model.threshold"].fill(np.nan),
    "missing left of two": put("model.missing_left", 0, 2),
    "a gain that is not a number": put("model.gain", 0, np.nan),
    "a cover above one": put("model.cover", 0, 1.5),
    "a negative cover": put("model.cover", 1, -0.1),
    "a cover that is not a number": put("model.cover", 1, np.nan),
    "a value that is infinite": put("model.values", 0, -np.inf),
    "a class beyond the last": put("model.classes", 0, 3),
    "a negative class": put("model.classes", 0, -1),
    "sets do not begin at 0": put("model.set_start", 0, 1),
    "sets too few": cut("model.set_start"),
    "sets beyond the end": put("model.set_start", 1, 2**62),
    "a set that does not ascend": put("model.set_values", 0, 1e300),
    "a category that is not a number": put("model.set_values", 0, np.nan),
    "a type of its own": cast("model.values", np.float32),
    "an array missing": without("model.gain"),
    "an array too many": extra("model.more"),
    "an array of no part": extra("more"),
    "history too short": cut("history.loss"),
    "history of single precision": cast("history.loss", np.float32),
    "history with an odd name": extra("history.a b"),
    "no history": lambda header, arrays: [
        arrays.pop(name) for name in list(arrays) if name.startswith("history.")
    ],
    "a base class that is none": lambda header, arrays: arrays.update(
        {"history.base_class": np.full(3, 3)}
    ),
    "a base class in floats": lambda header, arrays: arrays.update(
        {"history.base_class": np.full(3, 0.5)}
    ),
    "categorical mask of twos": put("is_categorical", 0, 2),
    "categorical mask too short": cut("is_categorical"),
    "a set of a feature that is not categorical": put("is_categorical", slice(0, 2), 0),
    "no categorical mask": without("is_categorical"),
    "another mask": extra("is_categorical_too"),
    "another format": say("format", value="LightGBM"),
    "version of text": say("version", value="1"),
    "version nought": say("version", value=0),
    "version true": say("version", value=True),
    "no writer": say("edgewise", value=None),
    "no algorithm": say("algorithm", value=None),
    "an algorithm that is a module": say("algorithm", value="os"),
    "another algorithm": say("algorithm", value="MartiBoostClassifier"),
    "an unknown field": say("more", value=1),
    "a field missing": drop("feature_names"),
    "parameters as a list": say("parameters", value=[]),
    "an unknown parameter": say("parameters", "more", value=1),
    "a parameter that is not allowed": say("parameters", "n_estimators", value=0),
    "a parameter too large": say("parameters", "learning_rate", value=10**400),
    "a parameter not a number": say("parameters", "learning_rate", value=float("nan")),
    "columns in no shape": say("parameters", "categorical_features", value=[[0], [0, 1]]),
    "a dict of no pairs": say("parameters", "class_weight", value={"dict": [1, 2]}),
    "a dict with keys that are lists": say(
        "parameters", "class_weight", value={"dict": [[[1], 2]]}
    ),
    "a value of two kinds": say("parameters", "class_weight", value={"dict": [], "set": []}),
    "a value of an unknown kind": say("parameters", "class_weight", value={"object": "os.system"}),
    "an unusual float": say("parameters", "learning_rate", value={"float": "1"}),
    "nested too deeply": nested,
    "labels as a list": say("classes", value=[0, 1, 2]),
    "labels of another type": say("classes", "dtype", value="datetime64[s]"),
    "labels of objects": say("classes", "dtype", value="O"),
    "labels not of their type": say("classes", "values", value=[0, 1, "2"]),
    "labels that are not whole": say("classes", "values", value=[0, 1, 2.5]),
    "labels too large": say("classes", "values", value=[0, 1, 2**63]),
    "labels not sorted": say("classes", "values", value=[0, 2, 1]),
    "labels twice": say("classes", "values", value=[0, 1, 1]),
    "labels of another shape": say("classes", "shape", value=[1, 3]),
    "labels of a negative shape": say("classes", "shape", value=[-3]),
    "labels too few": say(
        "classes", value={"dtype": "int64", "shape": [2], "values": [0, 1]}
    ),
    "one label": say("classes", value={"dtype": "int64", "shape": [1], "values": [0]}),
    "labels that cannot be compared": say(
        "classes", value={"dtype": "object", "shape": [3], "values": [0, "a", 1]}
    ),
    "no features": say("n_features", value=0),
    "features in floats": say("n_features", value=3.0),
    "features true": say("n_features", value=True),
    "too many features": say("n_features", value=2**40),
    "more features than names": say("feature_names", value=["a", "b"]),
    "names of features that are none": say("feature_names", value=[1, 2, 3]),
    "names as text": say("feature_names", value="abc"),
    "half a surrogate pair": say("feature_names", value=["a", "b", "\ud800"]),
    "facts as a list": say("fitted", value=[]),
    "a fact missing": drop("fitted", "n_iter_"),
    "a fact too many": say("fitted", "more", value=1),
    "rounds that are not there": say("fitted", "n_iter_", value=4),
    "multi-label as a number": say("fitted", "multi_label_", value=1),
    "a reason without end": say("fitted", "stop_reason_", value="a" * 1001),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_every_wrong_entry_is_a_model_format_error(aoso, name):
    data = rewritten(aoso, CHANGES[name])
    with pytest.raises(ModelFormatError):
        from_bytes(data)


def test_the_unchanged_entries_are_right(aoso):
    """So that the test above cannot pass for another reason."""
    from_bytes(rewritten(aoso, lambda header, arrays: None))


def test_a_newer_version_is_refused_with_words(aoso):
    def newer(header, arrays):
        header.update(version=2, edgewise="7.8.9", more="unknown")

    words = "version 2 of the format and was written by edgewise 7.8.9.*install a newer"
    with pytest.raises(ModelFormatError, match=words):
        from_bytes(rewritten(aoso, newer))


def test_keys_may_not_occur_twice(aoso):
    data = aoso.read_bytes()
    inner = data.replace(rb"\"version\":1,", rb"\"format\":1,", 1)
    outer = data.replace(b'"model.gain"', b'"model.left"', 1)
    for doubled in (inner, outer):
        assert len(doubled) <= len(data)
        assert doubled != data
        padded = doubled  # the header's length is that of before
        shorter = len(data) - len(doubled)
        if shorter:
            padded = doubled.replace(rb"\"format\":1,", rb"\"format\":1," + b" " * shorter, 1)
        with pytest.raises(ModelFormatError, match="twice"):
            from_bytes(padded)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, -1])
def test_files_cut_short_or_too_long_are_refused(aoso, length):
    data = aoso.read_bytes()
    for wrong in (data[:length], data + b"\0", b"\xff" * 8 + data[8:], data[:8] + b"{" * 4096):
        with pytest.raises(ModelFormatError):
            from_bytes(wrong)


def test_metadata_of_others_is_refused(aoso):
    _, arrays = unpack(aoso.read_bytes())
    for metadata in (None, {}, {"other": "{}"}, {"edgewise": "[]"}, {"edgewise": "{"}):
        with pytest.raises(ModelFormatError):
            from_bytes(to_safetensors(arrays, metadata=metadata))


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The file of a model that knows categories by value."""
    path = tmp_path_factory.mktemp("file") / "words.edgewise"
    edgewise.AOSOLogitBoostClassifier(n_estimators=2).fit(*frame_of_categories()).save(path)
    return path


WORDS = {
    "strings that fall": put("categories.1.start", 1, 99),
    "strings beyond the end": put("categories.1.start", -1, 99),
    "strings cut": cut("categories.1.text"),
    "strings that are no text": put("categories.1.text", 0, 0xFF),
    "strings twice": put("categories.1.text", slice(None), ord("a")),
    "strings missing": without("categories.1.text"),
    "numbers missing": without("categories.2"),
    "numbers twice": put("categories.2", 1, 0),
    "numbers too large for their type": put("categories.3", 1, 256),
    "numbers of another type": cast("categories.2", np.float64),
    "a category that is not a number": put("categories.4", 0, np.nan),
    "a truth that is none": put("categories.5", 0, 2),
    "categories of no column": extra("categories.0"),
    "categories of no number": extra("categories.x"),
    "an unknown type of categories": say("categories", "2", value="O"),
    "a type that is none": say("categories", "2", value=["int64"]),
    "a column that is not categorical": say("categories", "0", value="int64"),
    "categories as a list": say("categories", value=[]),
}


@pytest.mark.parametrize("name", WORDS)
def test_wrong_categories_are_refused(words, name):
    from_bytes(rewritten(words, lambda header, arrays: None))
    with pytest.raises(ModelFormatError):
        from_bytes(rewritten(words, WORDS[name]))


def test_a_file_cannot_ask_for_threads_without_end(aoso):
    model = from_bytes(rewritten(aoso, say("parameters", "n_jobs", value=10**12)))
    assert model.predict(np.zeros((1, 3))).shape == (1,)


# --- branching programs and pickles --------------------------------------------------------------


PROGRAM = {
    "right above one": put("model.right", 0, 1.5),
    "right not a number": put("model.right", 0, np.nan),
    "right too short": cut("model.right"),
    "frozen of two": put("model.frozen", 0, 2),
    "frozen too short": cut("model.frozen"),
    "frozen missing": without("model.frozen"),
    "a layer of other size": put("model.round_start", 1, 2),
    "three classes": say(
        "classes", value={"dtype": "int64", "shape": [3], "values": [0, 1, 2]}
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAM)
def test_wrong_branching_programs_are_refused(name, tmp_path):
    X, y = table(0, K=2)
    edgewise.MartiBoostClassifier(n_layers=3).fit(X, y).save(tmp_path / "model")
    from_bytes(rewritten(tmp_path / "model", lambda header, arrays: None))
    with pytest.raises(ModelFormatError):
        from_bytes(rewritten(tmp_path / "model", PROGRAM[name]))


def test_a_pickle_with_wrong_arrays_does_not_reach_the_core():
    X, y = table(0, K=2)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y).model_
    program = edgewise.MartiBoostClassifier(n_layers=2).fit(X, y).model_
    model.left[0] = 2**20
    program.right[0] = np.nan
    for broken in (model, program):
        with pytest.raises(ModelFormatError):
            pickle.loads(pickle.dumps(broken))

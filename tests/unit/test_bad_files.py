"""Bad model files: every wrong entry is refused before anything is made of it."""

import pickle

import numpy as np
import pytest
from safetensors.numpy import save as to_safetensors
from support import table
from support_files import (
    cast,
    cut,
    drop,
    extra,
    frame_of_categories,
    put,
    rewritten,
    save_aoso,
    say,
    without,
)

import edgewise
from edgewise import ModelFormatError
from edgewise._model.check import PER_NODE
from edgewise._model.file import unpack
from edgewise._tools.load import from_bytes


@pytest.fixture(scope="module")
def aoso(tmp_path_factory):
    return save_aoso(tmp_path_factory.mktemp("file") / "aoso.edgewise")


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
    "values whose sum is infinite": put("model.values", slice(None), 1e308),
    "a value too large": put("model.values", 0, -1e300),
    "a start too large": put("model.start", 0, 1e300),
    "a gain too large": put("model.gain", 0, 1e300),
    "a class beyond the last": put("model.classes", 0, 3),
    "a negative class": put("model.classes", 0, -1),
    "sets do not begin at 0": put("model.set_start", 0, 1),
    "sets too few": cut("model.set_start"),
    "sets beyond the end": put("model.set_start", 1, 2**62),
    "a set that does not ascend": put("model.set_values", 0, 1e300),
    "a category that is not a number": put("model.set_values", 0, np.nan),
    "a type of its own": cast("model.values", np.int32),
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
    "a name twice": say("feature_names", value=["a", "b", "a"]),
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


def test_a_newer_version_is_refused_with_a_message(aoso):
    def newer(header, arrays):
        header.update(version=3, edgewise="7.8.9", more="unknown")

    words = "version 3 of the format and was written by edgewise 7.8.9.*install a newer"
    with pytest.raises(ModelFormatError, match=words):
        from_bytes(rewritten(aoso, newer))


def test_keys_may_not_occur_twice(aoso):
    data = aoso.read_bytes()
    inner = data.replace(rb"\"version\":2,", rb"\"format\":1,", 1)
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
    "a set beyond the table": put("model.set_values", -1, 10**6),
    "a set below the table": put("model.set_values", 0, -1),
    "a set between the places of the table": put("model.set_values", 0, 0.5),
    "a column written in another way": lambda header, arrays: (
        header["categories"].update({"02": header["categories"].pop("2")}),
        arrays.update({"categories.02": arrays.pop("categories.2")}),
    ),
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


@pytest.mark.parametrize("name", ["AdaBoostMHClassifier", "SAMMEClassifier", "MARTClassifier"])
def test_the_largest_values_allowed_predict_and_continue(name, tmp_path):
    X, y = table(0)
    boost = getattr(edgewise, name)
    boost(n_estimators=3).fit(X, y).save(tmp_path / "model")

    def enlarge(header, arrays):
        values = arrays["model.values"]
        arrays["model.values"] = np.where(np.arange(len(values)) % 2, 1.0, -1.0) * (
            1e250 / len(values) / 2
        )

    model = from_bytes(rewritten(tmp_path / "model", enlarge))
    assert np.isfinite(model.predict_proba(X)).all()
    model.set_params(warm_start=True, n_estimators=5).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.history_["loss"]).all()


def test_a_pickle_with_wrong_arrays_does_not_reach_the_core():
    X, y = table(0, K=2)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y).model_
    program = edgewise.MartiBoostClassifier(n_layers=2).fit(X, y).model_
    model.left[0] = 2**20
    program.right[0] = np.nan
    for broken in (model, program):
        with pytest.raises(ModelFormatError):
            pickle.loads(pickle.dumps(broken))

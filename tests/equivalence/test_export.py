"""Exported models decide as the estimator does, for every kind of input."""

import ctypes
import re
import shutil
import subprocess
import sys
from functools import partial

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import treelite
from sklearn.tree import DecisionTreeClassifier
from support import EXPORTED_VARIANTS, nominal_table, table

import edgewise
from edgewise import ModelFormatError
from edgewise.export import as_numbers, to_c, to_onnx, to_python, to_treelite

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")

ADDITIVE = EXPORTED_VARIANTS | {"auto": partial(edgewise.AutoBoostClassifier, effort="fast")}
EVERY = ADDITIVE | {
    "martiboost": lambda **parameters: edgewise.MartiBoostClassifier(n_layers=5, **parameters)
}
SOFTMAX = [n for n in ADDITIVE if not n.startswith(("mh_", "samme"))]


def fitted(name, *, categories=True, K=4):
    """A model of few rounds, with gaps and, if wanted, a category column of whole numbers."""
    X, y = nominal_table(5, n=200, K=2 if name == "martiboost" else K, levels=40, missing=0.1)
    X[:, :2] = (X[:, :2] + 9) / 7  # from 0, as treelite wants categories
    parameters = {"categorical_features": [0, 1]} if categories else {}
    return EVERY[name](**parameters).fit(X, y)


def trees_of(model):
    return getattr(model.model_, "trees", model.model_)


def awkward(model, n=400, *, strangers=(-1.0, 1.5, 77.0)):
    """Rows at, just below and just above thresholds, of categories, gaps and infinities."""
    rng = np.random.default_rng(0)
    trees = trees_of(model)
    sets = np.split(trees.set_values, trees.set_start[1:-1])
    with_set = trees.feature[np.isnan(trees.threshold)]
    X = np.empty((n, trees.n_features))
    for j in range(trees.n_features):
        at = trees.threshold[(trees.feature == j) & np.isfinite(trees.threshold)]
        values = [
            at,
            np.nextafter(at, -np.inf),
            np.nextafter(at, np.inf),
            [np.nan, np.inf, -np.inf],
        ]
        if j in with_set:
            of_sets = [s for s, f in zip(sets, with_set, strict=True) if f == j]
            values = [*of_sets, strangers, [np.nan]]
        X[:, j] = rng.choice(np.concatenate([*values, [0.0]]), size=n)
    return X


def scores_of(model, X):
    return model.model_.scores(X, 1)


def assert_decided_alike(model, X, labels, proba, rtol):
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=rtol, atol=1e-300)


# --- ONNX ---------------------------------------------------------------------------------------


def run_onnx(model, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)
    labels, proba = session.run(["label", "probabilities"], {"X": X})
    assert proba.dtype == np.float64
    return labels, proba


def test_dates_are_seconds_and_parts():
    rng = np.random.default_rng(0)
    when = np.datetime64("2023-01-01") + rng.integers(0, 400, 200).astype("m8[D]")
    when[::9] = "NaT"
    X = pd.DataFrame({"when": when.astype("M8[s]"), "colour": ["red", "blue"] * 100})
    y = (X["when"].dt.day_of_week >= 5).astype(int) + (X["colour"] == "red")
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=20).fit(X, y)
    numbers = as_numbers(model, X)
    assert numbers.shape == (200, 5)
    labels, proba = run_onnx(model, numbers)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=1e-12, atol=1e-300)
    text = to_python(model)
    assert '"when (weekday)"' in text
    scorer = {}
    exec(text, scorer)
    row = [*numbers[1, :1], X["colour"][1], *numbers[1, 2:]]
    assert scorer["scores"](row) == model.decision_function(X[1:2])[0].tolist()
    assert "N_FEATURES = 5" in to_c(model)


@pytest.mark.parametrize("categories", [True, False])
@pytest.mark.parametrize("name", ADDITIVE)
def test_onnx(name, categories):
    model = fitted(name, categories=categories)
    X = awkward(model)
    assert_decided_alike(model, X, *run_onnx(model, X), rtol=1e-12)
    for n in (1, 2, 31):  # runtimes have other ways for few rows
        assert_decided_alike(model, X[:n], *run_onnx(model, X[:n]), rtol=1e-12)


@pytest.mark.parametrize("name", ["mart", "samme", "mh_tree"])
def test_onnx_of_two_classes(name):
    model = fitted(name, K=2)
    X = awkward(model)
    assert_decided_alike(model, X, *run_onnx(model, X), rtol=1e-12)


LABELS = {
    "text": np.array(["a b", "", "☃", "x"]),
    "objects": np.array(["a b", "", "☃", "x"], dtype=object),
    "small": np.array([3, -4, 100, 5], dtype=np.int8),
    "float": np.array([3.0, -4.0, 100.0, 5.0], dtype=np.float32),
}


@pytest.mark.parametrize("kind", LABELS)
def test_onnx_labels(kind):
    X, y = table(0, K=4)
    model = edgewise.MARTClassifier(n_estimators=2).fit(X, LABELS[kind][y])
    labels, _ = run_onnx(model, X)
    assert labels.tolist() == model.predict(X).tolist()


def multi_label(cls):
    X, y = table(1)
    Y = np.stack([y == 0, y > 0, X[:, 0] > 0], axis=1).astype(int)
    return cls(n_estimators=4, learning_rate=0.3).fit(X, Y)


@pytest.mark.parametrize("cls", [edgewise.AdaBoostMHClassifier, edgewise.SoftmaxBoostClassifier])
def test_onnx_of_many_labels(cls):
    model = multi_label(cls)
    X = awkward(model)
    assert_decided_alike(model, X, *run_onnx(model, X), rtol=1e-12)


def test_onnx_names_what_it_cannot_express():
    X, y = table(0, levels=4)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y.astype(np.uint64) + 2**63)
    with pytest.raises(ModelFormatError, match="only labels that are integers of 64 bits"):
        to_onnx(model)


def test_onnx_categories_may_be_any_numbers():
    """Fractions, negative numbers, numbers beyond 32 bits; -0.0 is 0.0."""
    X, y = nominal_table(3, n=300, levels=9)
    X[:, 0] = np.array([0.5, -0.25, 2.0**40, -(2.0**52), 0.0, 1e-300, 1.0, 2.0, 3.0])[
        ((X[:, 0] + 9) / 7).astype(int)
    ]
    model = edgewise.SAMMEClassifier(n_estimators=20, categorical_features=[0]).fit(X, y)
    X = np.vstack([X, awkward(model, strangers=(-0.0, 0.25, np.inf, -np.inf, 2.0**40 + 1))])
    assert_decided_alike(model, X, *run_onnx(model, X), rtol=1e-12)


def test_onnx_of_many_sets_in_parts(monkeypatch):
    """Trees whose sets would need many columns are added up in several parts."""
    model = fitted("mart")
    X, nodes = awkward(model), len(to_onnx(model).graph.node)
    monkeypatch.setattr("edgewise.export._onnx_trees.MOST_SETS", 2)
    assert len(to_onnx(model).graph.node) > nodes
    assert_decided_alike(model, X, *run_onnx(model, X), rtol=1e-12)


def test_onnx_models_describe_themselves():
    X, y = table(0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = to_onnx(edgewise.MARTClassifier(n_estimators=1).fit(frame, y))
    assert model.producer_name == "edgewise"
    assert model.graph.doc_string == "MARTClassifier: 3 classes, 4 features, 3 trees"
    assert model.metadata_props[0].value == "a\nb\nc\nd"


# --- treelite -----------------------------------------------------------------------------------


def run_treelite(model, X, **options):
    exported = to_treelite(model, **options)
    assert exported.input_type == exported.output_type == "float64"
    return treelite.gtil.predict(exported, X, nthread=1).reshape(len(X), -1)


@pytest.mark.parametrize("categories", [True, False])
@pytest.mark.parametrize("name", SOFTMAX)
def test_treelite(name, categories):
    model = fitted(name, categories=categories)
    X = awkward(model, strangers=(77.0, -1.0, 2.0**40, np.inf, -np.inf))
    proba = run_treelite(model, X)
    labels = model.classes_[proba.argmax(axis=1)]
    # Its scores are doubles, but it takes their exponentials in single precision.
    assert_decided_alike(model, X, labels, proba, rtol=1e-6)


@pytest.mark.parametrize("name", ADDITIVE)
def test_treelite_scores(name):
    model = fitted(name)
    X = awkward(model, strangers=(77.0, -1.0, 2.0**40, np.inf, -np.inf))
    scores = run_treelite(model, X, output="scores")
    np.testing.assert_allclose(scores, scores_of(model, X), rtol=1e-12, atol=1e-14)


def test_treelite_names_what_it_cannot_express():
    for name in set(ADDITIVE) - set(SOFTMAX):
        with pytest.raises(ModelFormatError, match="Give output='scores'"):
            to_treelite(fitted(name))
    X, y = nominal_table(0)
    model = edgewise.MARTClassifier(n_estimators=1, categorical_features=[0]).fit(X, y)
    with pytest.raises(ModelFormatError, match="only categories that are whole numbers from 0"):
        to_treelite(model)
    with pytest.raises(edgewise.InvalidParameterError, match="must be 'probabilities' or"):
        to_treelite(model, output="labels")


# --- Python -------------------------------------------------------------------------------------


def module_of(text):
    space = {}
    exec(compile(text, "scorer", "exec"), space)
    return space


@pytest.mark.parametrize("name", EVERY)
def test_python(name):
    model = fitted(name)
    X = awkward(model)
    space = module_of(to_python(model))
    labels = [space["predict"](row) for row in X.tolist()]
    proba = [space["predict_proba"](row) for row in X.tolist()]
    assert_decided_alike(model, X, labels, proba, rtol=1e-12)
    if name != "martiboost":
        scores = [space["scores"](row) for row in X.tolist()]
        np.testing.assert_array_equal(scores, scores_of(model, X))


def test_python_export_has_no_dependencies():
    imports = re.findall(r"^\s*(?:import|from) (\w+)", to_python(fitted("mart")), re.MULTILINE)
    assert imports == ["math"]


@pytest.mark.parametrize("cls", [edgewise.AdaBoostMHClassifier, edgewise.SoftmaxBoostClassifier])
def test_python_of_many_labels(cls):
    model = multi_label(cls)
    X = awkward(model)
    space = module_of(to_python(model))
    labels = [space["predict"](row) for row in X.tolist()]
    proba = [space["predict_proba"](row) for row in X.tolist()]
    assert_decided_alike(model, X, labels, proba, rtol=1e-12)


def in_words():
    """A frame of strings and other categories by value, and labels with spaces and quotes."""
    X, y = nominal_table(2, n=200, d=4)
    code = ((X[:, :3] + 9) / 7).astype(int)
    frame = pd.DataFrame({"number */": X[:, 3]})
    frame['a "b"\n'] = np.array(["a", "ß", "☃ ", "", "a  b", '"""\\'])[code[:, 0]]
    frame["whole"] = pd.Categorical(code[:, 1] * 2**40)
    frame["true"] = pd.Categorical(code[:, 2] > 2)
    labels = np.array(['"""', "*/ two  spaces", "new\nline ?\\"])
    return frame, labels[y]


def test_python_takes_categories_by_value():
    frame, y = in_words()
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=5).fit(frame, y)
    space = module_of(to_python(model))
    strange = frame.assign(**{'a "b"\n': "never seen"})
    for X in (frame, strange):
        rows = X.astype(object).values.tolist()
        labels = [space["predict"](row) for row in rows]
        proba = [space["predict_proba"](row) for row in rows]
        assert_decided_alike(model, X, labels, proba, rtol=1e-12)
    with pytest.raises(ValueError, match="must have 4 values"):
        space["predict"]([1.0])


# --- C ------------------------------------------------------------------------------------------


class Compiled:
    """A C scorer, compiled and loaded."""

    def __init__(self, text, folder, n_classes, prefix="model"):
        source, library = folder / "scorer.c", folder / "scorer.so"
        source.write_text(text, encoding="ascii")
        strict = "-std=c99 -O1 -Wall -Wextra -Werror -pedantic -Wno-unused-function".split()
        command = ["gcc", *strict, "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run(command, check=True)
        self._functions = ctypes.CDLL(str(library))
        self._prefix, self._n_classes = prefix, n_classes

    def _function(self, name):
        return getattr(self._functions, f"{self._prefix}_{name}")

    def rows(self, name, X, dtype=np.float64):
        """What a function writes for every row."""
        out = np.empty((len(X), self._n_classes), dtype=dtype)
        for row, to in zip(X, out, strict=True):
            self._function(name)(row.ctypes, to.ctypes)
        return out

    def predict(self, X):
        return np.array([self._function("predict")(row.ctypes) for row in X])

    def classes(self):
        kind = ctypes.c_char_p * self._n_classes
        return [c.decode() for c in kind.in_dll(self._functions, f"{self._prefix}_classes")]


@needs_gcc
@pytest.mark.parametrize("name", EVERY)
def test_c(name, tmp_path):
    model = fitted(name)
    X = awkward(model)
    compiled = Compiled(to_c(model), tmp_path, len(model.classes_))
    labels = model.classes_[compiled.predict(X)]
    assert_decided_alike(model, X, labels, compiled.rows("probabilities", X), rtol=1e-12)
    if name != "martiboost":
        np.testing.assert_array_equal(compiled.rows("scores", X), scores_of(model, X))


@needs_gcc
@pytest.mark.parametrize("cls", [edgewise.AdaBoostMHClassifier, edgewise.SoftmaxBoostClassifier])
def test_c_of_many_labels(cls, tmp_path):
    model = multi_label(cls)
    X = awkward(model)
    compiled = Compiled(to_c(model), tmp_path, 3)
    proba = compiled.rows("probabilities", X)
    assert_decided_alike(model, X, compiled.rows("predict", X, np.intc), proba, rtol=1e-12)


@needs_gcc
def test_c_with_awkward_names(tmp_path):
    frame, y = in_words()
    model = edgewise.AOSOLogitBoostClassifier(n_estimators=5).fit(frame, y)
    compiled = Compiled(to_c(model, prefix="the_model"), tmp_path, 3, "the_model")
    assert compiled.classes() == model.classes_.tolist()
    X = np.column_stack([frame["number */"], *(places(model, frame, j) for j in (1, 2, 3))])
    labels = model.classes_[compiled.predict(X)]
    assert_decided_alike(model, frame, labels, compiled.rows("probabilities", X), rtol=1e-12)


def places(model, frame, column):
    """The places of a column's values in the model's table."""
    place = {value: i for i, value in enumerate(model.categories_[column].tolist())}
    return [float(place[value]) for value in frame.iloc[:, column]]


@needs_gcc
def test_c_of_a_model_without_rounds(tmp_path):
    with pytest.warns(edgewise.FitWarning, match="learned nothing"):
        model = edgewise.AOSOLogitBoostClassifier(n_estimators=3).fit(np.ones((20, 1)), [0, 1] * 10)
    assert model.n_iter_ == 0
    compiled = Compiled(to_c(model), tmp_path, 2)
    np.testing.assert_array_equal(compiled.rows("probabilities", np.ones((2, 1))), 0.5)
    np.testing.assert_array_equal(run_onnx(model, np.ones((2, 1)))[1], 0.5)
    assert module_of(to_python(model))["predict_proba"]([1.0]) == [0.5, 0.5]


def test_the_prefix_is_a_name():
    for prefix in ("", "1x", "a-b", "a;b"):
        with pytest.raises(edgewise.InvalidParameterError, match="prefix"):
            to_c(fitted("mart"), prefix=prefix)


# --- what cannot be exported ----------------------------------------------------------------------


@pytest.mark.parametrize("export", [to_c, to_onnx, to_python, to_treelite])
def test_classifiers_of_other_libraries_are_refused(export):
    X, y = table(0)
    tree = DecisionTreeClassifier(max_depth=1)
    with pytest.raises(ModelFormatError, match="base classifiers of another library"):
        export(edgewise.SAMMEClassifier(base=tree, n_estimators=2).fit(X, y))
    with pytest.raises(ModelFormatError, match="Got DecisionTreeClassifier"):
        export(tree.fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        export(edgewise.MARTClassifier())


class Squared:
    """A loss with probabilities of its own."""

    def value(self, Y, F):
        return ((Y - F) ** 2).sum(axis=1) / 2

    def gradient(self, Y, F):
        return F - Y

    def hessian(self, Y, F):
        return np.ones_like(F)

    def probabilities(self, F):
        return np.full_like(F, 1 / F.shape[1])


@pytest.mark.parametrize("export", [to_c, to_onnx, to_python, to_treelite])
def test_custom_probabilities_cannot_be_exported(export):
    model = edgewise.NewtonBoostClassifier(loss=Squared(), n_estimators=1).fit(*table(0))
    with pytest.raises(ModelFormatError, match="loss that has probabilities of its own"):
        export(model)


@pytest.mark.parametrize("export", [to_onnx, to_treelite])
def test_a_branching_program_cannot_be_a_sum_of_trees(export):
    with pytest.raises(ModelFormatError, match="cannot express MartiBoostClassifier"):
        export(fitted("martiboost"))


@pytest.mark.parametrize(("export", "library"), [(to_onnx, "onnx"), (to_treelite, "treelite")])
def test_a_missing_library_is_named_with_its_extra(export, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=rf"needs {library}: pip install 'edgewise\[exp"):
        export(fitted("mart"))

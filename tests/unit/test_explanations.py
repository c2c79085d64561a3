"""Importances by class, trees in words, explanations for shap's plots, partial dependence."""

import importlib.util
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, nominal_table, table

import edgewise
from edgewise import InvalidParameterError


@pytest.fixture(scope="module", params=VARIANTS)
def fitted(request):
    X, y = nominal_table(7, n=150, missing=0.1)
    labels = np.array(["low", "middle", "high"])[y]
    return VARIANTS[request.param](categorical_features=[0, 1]).fit(X, labels), X


@pytest.fixture(scope="module")
def foreign():
    X, y = table(0)
    return edgewise.AdaBoostMHClassifier(
        base=DecisionTreeClassifier(max_depth=2), n_estimators=3
    ).fit(X, y), X


# --- importances --------------------------------------------------------------------------------


def naive_gain_by_class(model):
    """The definition, node by node, from the leaves below it."""
    out = np.zeros((model.n_classes, model.n_features))
    for t in range(model.n_trees):
        at = model.node_start[t]

        def leaves(i, at=at, t=t):
            if model.feature[at + i] < 0:
                moves = np.zeros(model.n_classes)
                first = model.value_start[t] + model.left[at + i] * model.width[t]
                for v in range(first, first + model.width[t]):
                    moves[model.classes[v]] += model.values[v]
                return [(model.cover[at + i], moves)]
            return leaves(model.left[at + i]) + leaves(model.left[at + i] + 1)

        for i in np.flatnonzero(model.feature[at : model.node_start[t + 1]] >= 0):
            shares, moves = (np.array(column) for column in zip(*leaves(i), strict=True))
            mean = shares @ moves / (shares.sum() or 1.0)
            spread = shares @ (moves - mean) ** 2
            square = shares @ moves**2
            if spread.max() <= 1e-12 * square.max():
                spread = square
            if not spread.any():
                spread = np.ones(model.n_classes)
            out[:, model.feature[at + i]] += model.gain[at + i] * spread / spread.sum()
    return out


def test_importances_by_class_are_those_of_the_definition(fitted):
    model, _ = fitted
    gains = naive_gain_by_class(model.model_)
    expected = gains / gains.sum()
    np.testing.assert_allclose(model.feature_importances_by_class_, expected, atol=1e-9)


def test_importances_by_class_add_up(fitted):
    model, _ = fitted
    by_class = model.feature_importances_by_class_
    assert by_class.shape == (3, 3)
    np.testing.assert_allclose(by_class.sum(axis=0), model.feature_importances_, atol=1e-12)


def test_a_tree_of_one_class_gives_its_gain_to_that_class():
    X, y = load_iris(return_X_y=True)
    model = edgewise.MARTClassifier(n_estimators=1).fit(X, y)
    by_class, m = model.feature_importances_by_class_, model.model_
    for k in range(3):
        of_tree = slice(m.node_start[k], m.node_start[k + 1])
        assert by_class[k].sum() == pytest.approx(m.gain[of_tree].sum() / m.gain.sum())


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_a_model_without_splits_has_no_importances():
    X, y = np.ones((20, 2)), np.arange(20) % 2
    model = edgewise.SAMMEClassifier(n_estimators=1).fit(X, y)
    assert not model.feature_importances_by_class_.any()
    assert not model.shap_values(X).any()


# --- words --------------------------------------------------------------------------------------


def test_text_has_a_line_for_every_node(fitted):
    model, _ = fitted
    text = model.to_text()
    m = model.model_
    # A title of two lines; for every tree an empty line and its own title.
    assert len(text.splitlines()) == 2 + 2 * m.n_trees + len(m.feature)
    assert text.splitlines()[0].startswith(type(model).__name__)
    assert model.to_text(round=1, tree=0) in text
    first = int(m.round_start[1])
    assert model.to_text(round=1, tree=0) == model.to_text(tree=first)
    of_round = model.to_text(round=0)
    assert of_round.count("tree ") == first


def test_text_in_full():
    X = np.array([["a", 1.0], ["b", 2.0], ["c", 3.0], ["a", np.nan]] * 10, dtype=object)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"kind": X[:, 0], "size": X[:, 1].astype(float)})
    y = np.where(X[:, 0] == "a", "yes", np.where(X[:, 0] == "b", "no", "maybe"))
    settings = {"n_estimators": 1, "max_leaf_nodes": 3, "min_samples_leaf": 1, "init": "zero"}
    model = edgewise.AOSOLogitBoostClassifier(**settings).fit(frame, y)
    lines = model.to_text().splitlines()
    assert lines[:4] == [
        "AOSOLogitBoostClassifier: 1 rounds, 1 trees",
        "scores start at: maybe +0, no +0, yes +0",
        "",
        "tree 0 (round 0)",
    ]
    assert "kind in {" in "\n".join(lines)
    assert all(line.endswith("]") for line in lines[4:])
    assert lines[4].endswith("[100.0%, gain " + f"{model.model_.gain[0]:.4g}]")
    deep = model.to_text(max_depth=1).splitlines()
    assert len(deep) == 7
    assert any("... 2 leaves" in line for line in deep)


def test_long_sets_and_wide_leaves_are_cut():
    X = np.random.default_rng(0).integers(60, size=(2000, 1)).astype(float)
    settings = {"categorical_features": [0], "leaf": "vector", "n_estimators": 1}
    model = edgewise.AOSOLogitBoostClassifier(**settings)
    assert ", 22 more}" in model.fit(X, X[:, 0] % 2).to_text()  # thirty numbers are even
    assert "4 more  [" in model.fit(X, X[:, 0] % 10).to_text()  # of ten classes six are written


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"round": 6}, "round must be from 0 to 5. Got 6"),
        ({"round": -1}, "round must be from 0 to 5. Got -1"),
        ({"round": 0, "tree": 3}, "tree must be from 0 to 2. Got 3"),
        ({"tree": 18}, "tree must be from 0 to 17. Got 18"),
        ({"max_depth": -1}, "max_depth must be 0 or more"),
    ],
)
def test_unknown_trees_and_rounds_are_errors(asked, words):
    model = VARIANTS["mart"]().fit(*table(0))
    with pytest.raises(InvalidParameterError, match=words):
        model.to_text(**asked)


def walk(frame, x):
    """The scores that the rows of a frame of nodes give to a row of numbers by name."""
    scores = 0.0
    for _, tree in frame.groupby("tree"):
        node = tree.iloc[0]
        while node["left"] >= 0:
            value = x[node["feature"]]
            if np.isnan(value):
                left = node["missing"] == "left"
            elif isinstance(node["categories"], str):
                left = f"{value:.6g}" in node["categories"].split(", ")
            else:
                left = value <= node["threshold"]
            node = tree.iloc[int(node["left"] if left else node["right"])]
        scores = scores + node.filter(like="score of ").astype(float).to_numpy()
    return scores


def test_a_frame_suffices_for_prediction(fitted):
    pytest.importorskip("pandas")
    model, X = fitted
    frame = model.to_frame()
    m = model.model_
    assert len(frame) == len(m.feature)
    where = "round tree node parent depth feature threshold categories missing left right"
    assert list(frame.columns[:13]) == [*where.split(), "gain", "cover"]
    assert list(frame.columns[13:]) == [f"score of {c}" for c in model.classes_]
    np.testing.assert_array_equal(frame["cover"], m.cover)
    children = frame[frame["parent"] >= 0]
    above = frame.set_index(["tree", "node"])["depth"].to_dict()
    depths = [above[key] for key in zip(children["tree"], children["parent"], strict=True)]
    assert (children["depth"] == np.array(depths) + 1).all()
    for x in X[:5]:
        named = {f"x{j}": v for j, v in enumerate(x)}
        expected = m.scores(x[np.newaxis], 1)[0]
        np.testing.assert_allclose(m.start + walk(frame, named), expected, atol=1e-9)


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_frames_of_other_libraries(backend, monkeypatch):
    native = pytest.importorskip(backend)
    order = ("pandas", "polars", "pyarrow")
    present = importlib.util.find_spec

    def find_spec(name):
        return None if name in order and name != backend else present(name)

    monkeypatch.setattr("edgewise._model.explained.find_spec", find_spec)
    model = VARIANTS["aoso_pair"]().fit(*table(0))
    frame = model.to_frame()
    kind = native.DataFrame if backend == "polars" else native.Table
    assert isinstance(frame, kind)
    assert frame.shape[0] == len(model.model_.feature)


def test_without_a_library_of_frames_there_are_words(monkeypatch):
    monkeypatch.setattr("edgewise._model.explained.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="needs pandas, polars or pyarrow"):
        VARIANTS["aoso_pair"]().fit(*table(0)).to_frame()


# --- models that are no trees of ours -----------------------------------------------------------


def test_classifiers_of_other_libraries_are_not_explained(foreign):
    model, X = foreign
    for ask in (model.shap_values, model.explanation):
        with pytest.raises(InvalidParameterError, match="classifiers of another library"):
            ask(X)
    for ask in (model.to_text, model.to_frame):
        with pytest.raises(InvalidParameterError, match="needs a model of edgewise's own trees"):
            ask()
    assert not hasattr(model, "shap_start_")
    assert not hasattr(model, "feature_importances_by_class_")


@pytest.mark.parametrize("name", ["shap_start_", "feature_importances_by_class_"])
def test_unfitted_estimators_raise(name):
    with pytest.raises(NotFittedError):
        getattr(edgewise.MARTClassifier(), name)
    with pytest.raises(NotFittedError):
        edgewise.MARTClassifier().to_text()
    with pytest.raises(NotFittedError):
        edgewise.MARTClassifier().shap_values([[0.0]])


# --- other libraries ----------------------------------------------------------------------------


def test_values_are_those_of_lightgbm_for_its_own_forest():
    lightgbm = pytest.importorskip("lightgbm")
    bench_shap = pytest.importorskip("benchmarks.bench_shap")
    X, y = table(3, n=300, K=4, d=6)
    settings = {"n_estimators": 8, "num_leaves": 15, "min_child_samples": 2, "verbosity": -1}
    booster = lightgbm.LGBMClassifier(**settings).fit(X, y).booster_
    model = bench_shap.same_forest(booster)
    theirs = booster.predict(X, pred_contrib=True).reshape(len(X), 4, 7).transpose(0, 2, 1)
    np.testing.assert_allclose(model.shapley_values(X, 1), theirs[:, :-1], atol=1e-12)
    np.testing.assert_allclose(model.expected_scores(), theirs[0, -1], atol=1e-12)


@pytest.mark.filterwarnings("ignore")  # of shap's own
def test_plots_of_shap():
    shap = pytest.importorskip("shap")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    iris = load_iris()
    model = VARIANTS["logitboost"]().fit(iris.data, iris.target_names[iris.target])
    explanation = model.explanation(iris.data)
    assert explanation.shape == (150, 4, 3)
    assert explanation.output_names == ["setosa", "versicolor", "virginica"]
    np.testing.assert_array_equal(explanation.values, model.shap_values(iris.data))
    shap.plots.beeswarm(explanation[:, :, 1], show=False)
    assert len(plt.gca().collections) >= 4  # a swarm for every feature
    plt.close("all")
    shap.plots.waterfall(explanation[0, :, 1], show=False)
    assert plt.gcf().axes
    plt.close("all")


def test_without_shap_there_are_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    X, y = table(0)
    model = VARIANTS["mart"]().fit(X, y)
    with pytest.raises(ImportError, match=r"needs the package shap.*shap_values\(X\)"):
        model.explanation(X)


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_partial_dependence_of_scikit_learn(fitted, method):
    model, X = fitted
    whole = X[~np.isnan(X).any(axis=1)]
    found = partial_dependence(model, whole, [2], response_method=method, grid_resolution=5)
    (grid,) = found["grid_values"]
    assert found["average"].shape == (3, len(grid))
    expected = []
    for value in grid:
        at = whole.copy()
        at[:, 2] = value
        expected.append(getattr(model, method)(at).mean(axis=0))
    np.testing.assert_allclose(found["average"].T, expected, atol=1e-12)

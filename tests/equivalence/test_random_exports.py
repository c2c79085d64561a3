"""Exports of random models with categories agree with the estimator, each in its own runtime.

EDGEWISE_EXPORTS=1200, which `make exports` sets, makes as many models instead of a few.
"""

import os
import shutil

import numpy as np
import onnxruntime
import pytest
import treelite
from support import EXPORTED_VARIANTS, nominal_table

import edgewise
from edgewise import ModelFormatError
from edgewise.export import to_c, to_onnx, to_python, to_treelite
from edgewise.export._compiled import run_c
from edgewise.export._contents import contents_of

N_MODELS = int(os.environ.get("EDGEWISE_EXPORTS", "54"))
NAMES = [*EXPORTED_VARIANTS, "martiboost"]
GROUPS = 18  # tests among which the models are shared out


def random_model(seed):
    """A fitted model of few rounds, with one to three columns of categories."""
    rng = np.random.default_rng(seed)
    name = NAMES[seed % len(NAMES)]
    K = 2 if name == "martiboost" else int(rng.integers(2, 6))
    d = int(rng.integers(2, 5))
    n = int(rng.integers(40, 300))
    levels = int(rng.choice([3, 5, 8, 14, 50]))
    missing = float(rng.choice([0.0, 0.1]))
    X, y = nominal_table(seed, n=n, K=K, d=d, levels=levels, missing=missing)
    X[:, :-1] = (X[:, :-1] + 9) / 7  # from 0, as treelite wants categories
    given = {
        "categorical_features": list(range(int(rng.integers(1, d)))),
        "min_samples_leaf": int(rng.choice([1, 5])),
    }
    if name == "martiboost":
        return edgewise.MartiBoostClassifier(n_layers=int(rng.integers(1, 6)), **given).fit(X, y)
    given |= {"n_estimators": int(rng.integers(3, 25)), "learning_rate": 1.0}
    if name not in ("mh_stump", "mh_product"):
        given["max_leaf_nodes"] = int(rng.integers(2, 9))
    return EXPORTED_VARIANTS[name](**given).fit(X, y)


def random_rows(model, seed, n=100):
    """Thresholds, their neighbours, categories, strangers and gaps."""
    rng = np.random.default_rng([seed, 1])
    trees = getattr(model.model_, "trees", model.model_)
    has_set = np.isnan(trees.threshold)
    X = np.empty((n, trees.n_features))
    for j in range(trees.n_features):
        at = trees.threshold[(trees.feature == j) & ~has_set]
        values = [at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf), [np.inf, -np.inf, 0.0]]
        if np.any(has_set & (trees.feature == j)):
            values = [np.arange(61.0), [-1.0, 77.0]]
        X[:, j] = rng.choice(np.concatenate([*values, [np.nan]]), size=n)
    return X


def onnx_answers(exported, X):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(exported.SerializeToString(), options)
    return session.run(["label", "probabilities"], {"X": X})


def python_answers(text, X):
    """Labels, probabilities and scores; a branching program has no scores."""
    space = {}
    exec(compile(text, "scorer", "exec"), space)
    rows = X.tolist()
    said = [[space[name](row) for row in rows] for name in ("predict", "predict_proba")]
    return *said, [space["scores"](row) for row in rows] if "scores" in space else None


def assert_treelite_agrees(model, X):
    """Probabilities are computed in single precision; AdaBoost.MH and SAMME have scores only."""
    expected = model.model_.scores(X, 1)
    scores = treelite.gtil.predict(to_treelite(model, output="scores"), X, nthread=1)
    np.testing.assert_allclose(scores.reshape(expected.shape), expected, rtol=1e-12, atol=1e-12)
    if isinstance(model, edgewise.AdaBoostMHClassifier | edgewise.SAMMEClassifier):
        return
    expected = model.predict_proba(X)
    proba = treelite.gtil.predict(to_treelite(model), X, nthread=1).reshape(len(X), -1)
    if proba.shape[1] == 1:  # of the second of two classes
        proba = np.hstack([1.0 - proba, proba])
    size = np.abs(model.model_.scores(X, 1)).max(axis=1, keepdims=True)
    assert (np.abs(proba - expected) <= 1e-6 * (1.0 + size)).all()


def assert_agrees(model, X, labels, proba, rtol=1e-12):
    """Labels may differ only where rounding decides between equal scores."""
    expected = model.predict_proba(X)
    walk = isinstance(model, edgewise.MartiBoostClassifier)  # one probability is 1 minus the other
    np.testing.assert_allclose(proba, expected, rtol=rtol, atol=1e-15 if walk else 1e-300)
    if labels is not None:
        best = np.sort(expected, axis=1)
        clear = best[:, -1] - best[:, -2] > 1e-9
        np.testing.assert_array_equal(np.asarray(labels)[clear], model.predict(X)[clear])


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_models(group):
    for seed in range(group, N_MODELS, GROUPS):
        model = random_model(seed)
        X = random_rows(model, seed)
        expected = getattr(model.model_, "scores", lambda X, n: None)(X, 1)
        labels, proba, scores = python_answers(to_python(model), X)
        assert_agrees(model, X, labels, proba)
        np.testing.assert_array_equal(scores, expected)
        if shutil.which("cc"):
            labels, proba, scores = run_c(contents_of(model), to_c(model), "model", X)
            assert_agrees(model, X, labels, proba)
            if expected is not None:
                np.testing.assert_array_equal(scores, expected)
        if isinstance(model, edgewise.MartiBoostClassifier):
            continue
        assert_agrees(model, X, *onnx_answers(to_onnx(model), X))
        assert_treelite_agrees(model, X)


@pytest.mark.parametrize("export", [to_c, to_onnx, to_python, to_treelite])
def test_an_export_that_disagrees_is_refused(export, monkeypatch):
    """The estimator is told to answer otherwise; what stands in the export is then wrong."""
    if export is to_c and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    model = random_model(0)
    right = type(model)._link
    monkeypatch.setattr(
        type(model), "_link", lambda self, F, n: right(self, F, n)[:, ::-1], raising=True
    )
    with pytest.raises(ModelFormatError, match=r"does not agree with it: .* Nothing was written"):
        export(model)

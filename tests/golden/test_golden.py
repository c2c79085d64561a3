"""Tiny fits against committed numbers, so that an unintended change of arithmetic is noticed.

After an intended one: `python tests/golden/regenerate.py`, and say in the change why they moved.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from support import CLASSIFIERS, LOGISTIC

import edgewise

EXPECTED = Path(__file__).with_name("expected.json")
SETTINGS = {"n_estimators": 8, "learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 2}
# Digests cover the parameters too: those whose defaults have changed have the values of before.
SETTINGS |= {"validation_fraction": 0.1}
UNSCALED = {"calibration": None}


def iris():
    return *load_iris(return_X_y=True), None


def gaps():
    """Wine with missing values and uneven weights, all by rule."""
    X, y = load_wine(return_X_y=True)
    i, j = np.indices(X.shape)
    X[(7 * i + 3 * j) % 11 == 0] = np.nan
    rows = np.arange(len(y))
    return X, y, 1.0 + (rows % 5) / 4 + rows / 1000


def digits():
    X, y = load_digits(return_X_y=True)
    return X[:200], y[:200], None


def two_classes():
    X, y = load_iris(return_X_y=True)
    return X[50:], y[50:], 1.0 + np.arange(100) / 64


DATA = {"iris": iris, "gaps": gaps, "digits": digits, "two classes": two_classes}
ESTIMATORS = {
    "mart": (edgewise.MARTClassifier, {}),
    "logitboost": (edgewise.LogitBoostClassifier, {}),
    "abc mart": (edgewise.ABCMARTClassifier, {"search": "exhaustive", "gap": 1}),
    "abc logitboost": (edgewise.ABCLogitBoostClassifier, {"search": 2, "gap": 2, "warmup": 1}),
    "aoso": (edgewise.AOSOLogitBoostClassifier, {}),
    "aoso vector": (edgewise.AOSOLogitBoostClassifier, {"leaf": "vector"}),
    "mh hamming": (edgewise.AdaBoostMHClassifier, {}),
    "mh stump": (edgewise.AdaBoostMHClassifier, {"base": "stump", "votes": "real"}),
    "mh product": (edgewise.AdaBoostMHClassifier, {"base": "product"}),
    "mh one-vs-all": (edgewise.AdaBoostMHClassifier, {"base": "one_vs_all", "votes": "ternary"}),
    "newton_boost": (edgewise.NewtonBoostClassifier, {}),
    "samme": (edgewise.SAMMEClassifier, {"random_state": 0}),
    "softmax": (edgewise.SoftmaxBoostClassifier, {"random_state": 0}),
    "ordinal": (edgewise.OrdinalBoostClassifier, {}),
    "multi_label": (edgewise.MultiLabelBoostClassifier, {}),
}


def fitted(data, estimator):
    X, y, w = DATA[data]()
    classifier, parameters = ESTIMATORS[estimator]
    settings = SETTINGS | (UNSCALED if classifier in LOGISTIC else {})
    return classifier(**settings | parameters).fit(X, y, sample_weight=w)


def figures(data, estimator):
    """What is pinned down: the loss of every round and the first tree."""
    booster = fitted(data, estimator)
    model = booster.model_
    first = slice(0, int(model.node_start[1]))
    return {
        "start": model.start.tolist(),
        "loss": booster.history_["loss"].tolist(),
        "feature": model.feature[first].tolist(),
        "left": model.left[first].tolist(),
        "threshold": [str(t) for t in model.threshold[first].tolist()],  # JSON knows no infinity
        "missing_left": model.missing_left[first].tolist(),
        "gain": model.gain[first].tolist(),
        "classes": model.classes[: model.value_start[1]].tolist(),
        "values": model.values[: model.value_start[1]].tolist(),
    }


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("data", DATA)
def test_figures_are_as_committed(data, estimator):
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))[data][estimator]
    got = figures(data, estimator)
    assert got.keys() == expected.keys()
    for name in ("feature", "left", "missing_left", "classes"):
        assert got[name] == expected[name], name
    for name in ("start", "loss", "gain", "values"):
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(
        [float(t) for t in got["threshold"]], [float(t) for t in expected["threshold"]], rtol=1e-12
    )


def test_every_estimator_has_committed_figures():
    names = {classifier.__name__ for classifier, _ in ESTIMATORS.values()}
    assert names == {classifier.__name__ for classifier in CLASSIFIERS}
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert expected.keys() == DATA.keys()
    assert all(of_data.keys() == ESTIMATORS.keys() for of_data in expected.values())

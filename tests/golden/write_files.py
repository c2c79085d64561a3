"""Writes the model files of the present version of the format, and what they predict."""

import json

import numpy as np
import pandas as pd
from test_files import FILES, in_dates, in_words, rows, rows_for

import edgewise
from edgewise._model.saved import VERSION

SMALL = {"n_estimators": 2, "max_leaf_nodes": 4, "min_samples_leaf": 2, "learning_rate": 0.5}
# Files hold the parameters too: those whose defaults have changed have the values of before.
SMALL |= {"validation_fraction": 0.1}
LOGISTIC = SMALL | {"calibration": None}
CATEGORIES = {"categorical_features": [2]}
WORDS = np.array(["blau", "grün", "rot"])


def answers(X):
    """Classes (40) of three that depend on the rows."""
    return 1 * (np.nan_to_num(X[:, 0]) > 1) + (np.nan_to_num(X[:, 2]) % 2 == 1)


def multi_label(X):
    y = answers(X)
    return np.stack([y == 0, y != 1, X[:, 1] > 0], axis=1).astype(int)


def models():
    """Small fitted models, by name."""
    X = rows()
    y = answers(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    yield "mart", edgewise.MARTClassifier(**LOGISTIC).fit(X, y)
    yield "logitboost", edgewise.LogitBoostClassifier(**LOGISTIC, **CATEGORIES).fit(X, WORDS[y])
    abc = {"search": "exhaustive", "gap": 1, "class_weight": {0: 1.0, 1: 2.0, 2: 1.5}}
    yield "abc_mart", edgewise.ABCMARTClassifier(**LOGISTIC, **abc).fit(X, y)
    yield "abc_logitboost", edgewise.ABCLogitBoostClassifier(**LOGISTIC, warmup=1).fit(X, y)
    yield "aoso", edgewise.AOSOLogitBoostClassifier(**LOGISTIC, **CATEGORIES).fit(frame, WORDS[y])
    yield "aoso_words", edgewise.AOSOLogitBoostClassifier(**LOGISTIC).fit(in_words(frame), y)
    dates = in_dates(frame)
    late = 1 * dates["b"].dt.day_of_week.isin([5, 6]) + (dates["d"] > dates["d"][20])
    yield "aoso_dates", edgewise.AOSOLogitBoostClassifier(**LOGISTIC).fit(dates, late)
    vector = {"leaf": "vector", "early_stopping": True, "random_state": 1}
    # Rows stay held out with warm_start=True, as they did without when the file was written.
    model = edgewise.AOSOLogitBoostClassifier(**LOGISTIC, **vector, warm_start=True).fit(X, y)
    yield "aoso_vector", model.set_params(warm_start=False)
    for base in ("hamming_tree", "stump", "product", "one_vs_all"):
        model = edgewise.AdaBoostMHClassifier(base=base, **SMALL | CATEGORIES)
        yield f"mh_{base}", model.fit(X, y)
    yield "mh_multi_label", edgewise.AdaBoostMHClassifier(**SMALL).fit(X, multi_label(X))
    yield "newton_boost", edgewise.NewtonBoostClassifier(**LOGISTIC).fit(X, y)
    yield "samme", edgewise.SAMMEClassifier(**SMALL, random_state=0).fit(X, y - 1.0)
    cost = {"cost": np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]])}
    yield "softmax", edgewise.SoftmaxBoostClassifier(**SMALL, random_state=0, **cost).fit(X, y)
    auto = edgewise.AutoBoostClassifier(effort="fast", max_trees=12, categorical_features=["c"])
    yield "auto", auto.fit(frame, WORDS[y])
    order = {"order": ["rot", "blau", "grün"], "calibration": None}
    yield "ordinal", edgewise.OrdinalBoostClassifier(**SMALL, **order).fit(X, WORDS[y])
    named = pd.DataFrame(multi_label(X), columns=["z", "a", "m"])
    sketched = {"decision": "micro_f1", "sketch": 2, "random_state": 0}
    yield "multi_label", edgewise.MultiLabelBoostClassifier(**SMALL, **sketched).fit(X, named)
    yield "martiboost", edgewise.MartiBoostClassifier(n_layers=3, **CATEGORIES).fit(X, y > 0)


def without_seconds(model):
    """The model with seconds that are the same every time."""
    for table in (model.history_, getattr(model, "members_", {})):
        if "seconds" in table:
            table["seconds"][:] = np.arange(len(table["seconds"]))
    return model


def write():
    folder = FILES / f"v{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, model in models():
        without_seconds(model).save(folder / f"{name}.edgewise")
        expected[name] = {
            "algorithm": type(model).__name__,
            "classes": model.classes_.tolist(),
            "labels": model.predict(rows_for(model)).tolist(),
            "proba": model.predict_proba(rows_for(model)).tolist(),
        }
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in expected.items())
    (folder / "expected.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    write()

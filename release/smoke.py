"""Tests an installed edgewise: every estimator fits, predicts, saves and loads.

Prints a digest of all models and probabilities, which is the same for every Python and processor.
"""

import hashlib
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

import edgewise

FEW = {"n_estimators": 5, "min_samples_leaf": 3}
ESTIMATORS = [
    edgewise.MARTClassifier(**FEW),
    edgewise.LogitBoostClassifier(**FEW),
    edgewise.ABCMARTClassifier(**FEW),
    edgewise.ABCLogitBoostClassifier(**FEW),
    edgewise.AOSOLogitBoostClassifier(**FEW),
    edgewise.NewtonBoostClassifier(**FEW),
    edgewise.MultiLabelBoostClassifier(**FEW),
    edgewise.OrdinalBoostClassifier(**FEW),
    edgewise.AdaBoostMHClassifier(**FEW),
    edgewise.SAMMEClassifier(**FEW, random_state=0),
    edgewise.SoftmaxBoostClassifier(**FEW, random_state=0),
    edgewise.MartiBoostClassifier(n_layers=3),
    edgewise.AutoBoostClassifier(effort="fast", max_trees=20),
]
# Combines classifiers of any library, and is therefore not saved.
TRUTH_TABLE = edgewise.TruthTableClassifier(
    [(str(n), edgewise.MARTClassifier(n_estimators=n)) for n in (1, 2, 5)]
)


def require(condition, estimator, failure):
    if not condition:
        sys.exit(f"{type(estimator).__name__} {failure}.")


def rows(estimator):
    X, y = load_iris(return_X_y=True)
    return X, (y > 0 if isinstance(estimator, edgewise.MartiBoostClassifier) else y)


def bytes_of(estimator, folder):
    """Fits, saves, loads; returns the model's arrays and probabilities as bytes."""
    X, y = rows(estimator)
    path = folder / "model.edgewise"
    estimator.fit(X, y).save(path)
    loaded = edgewise.load(path)
    proba = loaded.predict_proba(X)
    same = proba.tobytes() == estimator.predict_proba(X).tobytes()
    require(same, estimator, "predicts differently after it is saved and loaded")
    require((loaded.predict(X) == y).mean() > 0.9, estimator, "does not learn")
    parts = [np.ascontiguousarray(array).tobytes() for array in loaded.model_.arrays().values()]
    return b"".join([*parts, proba.tobytes()])


def main():
    tested = {type(estimator).__name__ for estimator in [*ESTIMATORS, TRUTH_TABLE]}
    public = {name for name in edgewise.__all__ if name.endswith("Classifier")}
    if tested != public:
        sys.exit(f"The smoke test must know every estimator; it differs by {tested ^ public}.")
    X, y = rows(TRUTH_TABLE)
    require((TRUTH_TABLE.fit(X, y).predict(X) == y).mean() > 0.9, TRUTH_TABLE, "does not learn")
    with tempfile.TemporaryDirectory() as folder:
        every = b"".join(bytes_of(estimator, Path(folder)) for estimator in ESTIMATORS)
    print(f"{len(tested)} estimators, digest {hashlib.sha256(every).hexdigest()}")


if __name__ == "__main__":
    main()

"""What the guard counts: every grower once, every layout of the data, and prediction.

A case is a table and some work on it, in one thread. Its layout is what the table is there for; a
test checks that the core indeed lays it out so.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import edgewise

Work = Callable[[], Any]


class Table(NamedTuple):
    """X, labels, and columns that hold categories."""

    X: Any
    y: Any
    categorical: list[int] | None = None


class Case(NamedTuple):
    """`prepare` returns the work to count."""

    layout: str
    prepare: Callable[[], Work]


def _labels(score: Any, n_classes: int, rng: np.random.Generator) -> Any:
    """Classes of equal size that depend on `score` (n,), with a tenth of the labels drawn."""
    n = len(score)
    y = np.argsort(np.argsort(score, kind="stable"), kind="stable") * n_classes // n
    return np.where(rng.random(n) < 0.1, rng.integers(n_classes, size=n), y)


def _bytes(n: int = 3000, d: int = 24, n_classes: int = 5) -> Table:
    """Columns of many values."""
    rng = np.random.default_rng(1)
    X = rng.random((n, d), dtype=np.float32)
    return Table(X, _labels(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3], n_classes, rng))


def _joint() -> Table:
    """Columns of sixteen values, as Letter has them."""
    rng = np.random.default_rng(2)
    X = rng.integers(16, size=(4000, 16)).astype(np.float32)
    return Table(X, _labels(X[:, 0] + X[:, 1] + 0.3 * X[:, 5], 8, rng))


def _bits() -> Table:
    """Columns of two values."""
    rng = np.random.default_rng(3)
    X = rng.integers(2, size=(4000, 60)).astype(np.float32)
    return Table(X, _labels(X[:, :8] @ np.arange(1, 9), 5, rng))


def _rows() -> Table:
    """Many values are zero: rows list the others."""
    rng = np.random.default_rng(4)
    X = rng.random((2000, 100), dtype=np.float32)
    X[rng.random(X.shape) < 0.8] = 0
    return Table(X, _labels(X[:, :20].sum(axis=1), 5, rng))


def _equal_rows() -> Table:
    """One-hot columns: rows list equally many."""
    rng = np.random.default_rng(8)
    values = rng.integers(6, size=(3000, 20))
    X = (values[:, :, np.newaxis] == np.arange(6)).reshape(3000, 120).astype(np.float32)
    return Table(X, _labels(values[:, :5].sum(axis=1) + 0.1 * values[:, 5], 5, rng))


def _images() -> Table:
    """Wide, some columns full and most of them empty, as MNIST is: rows hold the shorter lists."""
    rng = np.random.default_rng(5)
    d = 784
    filled = rng.random((1000, d)) < np.where(np.arange(d) % 4 == 0, 0.7, 0.01)
    X = np.where(filled, rng.integers(1, 255, filled.shape), 0).astype(np.float32)
    return Table(X, _labels(X[:, :60].sum(axis=1), 4, rng))


def _columns() -> Table:
    """Wide and next to empty, given as a sparse matrix: columns list their rows."""
    rng = np.random.default_rng(6)
    n, d = 1500, 2000
    filled = rng.random((n, d)) < 0.02
    X = np.where(filled, rng.integers(1, 255, (n, d)), 0).astype(np.float32)
    return Table(sparse.csr_matrix(X), _labels(X[:, :200].sum(axis=1), 3, rng))


def _categories() -> Table:
    """Half of the columns hold categories, and a tenth of the values is missing."""
    rng = np.random.default_rng(7)
    X = rng.integers(40, size=(3000, 12)).astype(np.float32)
    effect = rng.normal(size=40)
    y = _labels(effect[X[:, 0].astype(int)] + effect[X[:, 1].astype(int)], 4, rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    return Table(X, y, categorical=list(range(6)))


TABLES: dict[str, Callable[[], Table]] = {
    "bytes": _bytes,
    "joint": _joint,
    "bits": _bits,
    "rows": _rows,
    "equal rows": _equal_rows,
    "images": _images,
    "columns": _columns,
    "categories": _categories,
}
table = cache(lambda layout: TABLES[layout]())


def _fit(name: str, layout: str, rounds: int, **params: Any) -> Case:
    def prepare() -> Work:
        X, y, categorical = table(layout)
        given: dict[str, Any] = {"n_estimators": rounds, "n_jobs": 1} | params
        if categorical is not None:
            given["categorical_features"] = categorical
        model = getattr(edgewise, f"{name}Classifier")(**given)
        return lambda: model.fit(X, y)

    return Case(layout, prepare)


def _martiboost() -> Case:
    def prepare() -> Work:
        X, y, _ = table("bits")
        model = edgewise.MartiBoostClassifier(n_layers=4, n_jobs=1, random_state=0)
        return lambda: model.fit(X, y > 2)

    return Case("bits", prepare)


def _use(layout: str, work: Callable[[Any, Any], Any]) -> Case:
    """Work with a fitted model; the fit is not counted."""

    def prepare() -> Work:
        X, y, categorical = table(layout)
        model = edgewise.LogitBoostClassifier(
            n_estimators=15, n_jobs=1, categorical_features=categorical
        ).fit(X, y)
        return lambda: work(model, X)

    return Case(layout, prepare)


def _row_by_row(model: Any, X: Any) -> None:
    for i in range(100):
        model.predict_proba(X[i : i + 1])


CASES: dict[str, Case] = {
    # every layout, under class trees and under the tree of pairs
    "logitboost, bytes": _fit("LogitBoost", "bytes", 2),
    "logitboost, joint": _fit("LogitBoost", "joint", 4),
    "logitboost, bits": _fit("LogitBoost", "bits", 3),
    "logitboost, rows": _fit("LogitBoost", "rows", 2),
    "logitboost, equal rows": _fit("LogitBoost", "equal rows", 3),
    "logitboost, images": _fit("LogitBoost", "images", 1),
    "logitboost, columns": _fit("LogitBoost", "columns", 1),
    "logitboost, categories": _fit("LogitBoost", "categories", 4),
    "aoso, bytes": _fit("AOSOLogitBoost", "bytes", 5),
    "aoso, joint": _fit("AOSOLogitBoost", "joint", 8),
    "aoso, bits": _fit("AOSOLogitBoost", "bits", 5),
    "aoso, rows": _fit("AOSOLogitBoost", "rows", 4),
    "aoso, equal rows": _fit("AOSOLogitBoost", "equal rows", 5),
    "aoso, images": _fit("AOSOLogitBoost", "images", 2),
    "aoso, columns": _fit("AOSOLogitBoost", "columns", 2),
    "aoso, categories": _fit("AOSOLogitBoost", "categories", 6),
    # the other growers and leaves
    "aoso, vector leaves": _fit("AOSOLogitBoost", "bytes", 4, leaf="vector"),
    "mart, leaves of one row": _fit("MART", "bytes", 2, min_samples_leaf=1),
    "abc-logitboost": _fit("ABCLogitBoost", "bytes", 1, search="exhaustive"),
    "abc-mart, gap": _fit("ABCMART", "bytes", 2, gap=2, warmup=1),
    "newton boosting": _fit("NewtonBoost", "bytes", 2),
    "random cuts": _fit("LogitBoost", "bytes", 2, splitter="random", random_state=0),
    "adaboost.mh, stumps": _fit("AdaBoostMH", "bytes", 12, base="stump"),
    "adaboost.mh, hamming trees": _fit("AdaBoostMH", "bytes", 3),
    "adaboost.mh, hamming trees, rows": _fit("AdaBoostMH", "rows", 1),
    "adaboost.mh, products": _fit("AdaBoostMH", "bytes", 3, base="product"),
    "adaboost.mh, one-vs-all": _fit("AdaBoostMH", "bytes", 3, base="one_vs_all"),
    "samme": _fit("SAMME", "bytes", 1, random_state=0),
    "soft-max boosting": _fit("SoftmaxBoost", "bytes", 4, random_state=0),
    "martiboost": _martiboost(),
    # models in use
    "predict_proba": _use("bytes", lambda model, X: model.predict_proba(X)),
    "predict_proba, row by row": _use("bytes", _row_by_row),
    "shapley values": _use("bytes", lambda model, X: model.shap_values(X[:100])),
}

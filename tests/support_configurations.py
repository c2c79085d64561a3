"""Random small configurations of everything that a fit may be given, and the same rows in other
orders and memory layouts."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from support import EVERY_CLASSIFIER

import edgewise
from edgewise.losses import GeneralizedCrossEntropy, LogLoss, TransitionLoss

AUTO = edgewise.AutoBoostClassifier
MARTIBOOST = edgewise.MartiBoostClassifier
WITHOUT_ROUNDS = (AUTO, MARTIBOOST)  # given; nor validation rows
MULTI_LABEL = edgewise.MultiLabelBoostClassifier
VOTING = (
    edgewise.AdaBoostMHClassifier,
    edgewise.SoftmaxBoostClassifier,
    edgewise.SAMMEClassifier,
)
SEVERAL_LABELS = (*VOTING[:2], MULTI_LABEL)
ABC = (edgewise.ABCMARTClassifier, edgewise.ABCLogitBoostClassifier)


@dataclass(frozen=True)
class Data:
    """Rows as they are given to `fit`; every part may be taken in another order."""

    X: Any  # (n, d): an array, a CSR matrix or a pandas frame
    y: Any  # (n) labels, (n, K) probabilities or indicators
    weights: Any = None  # (n)
    costs: Any = None  # (n, K)
    groups: Any = None  # (n)

    def take(self, order: Any) -> "Data":
        X = self.X.iloc[order] if isinstance(self.X, pd.DataFrame) else self.X[order]
        others = (self.weights, self.costs, self.groups)
        rest = (None if part is None else part[order] for part in others)
        return Data(X, self.y[order], *rest)

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Configuration:
    """An estimator with parameters, the rows to fit it to, and rows for validation."""

    estimator: type
    params: dict[str, Any]
    train: Data
    validation: Data | None = None
    what: dict[str, Any] = field(default_factory=dict)  # what was drawn, for messages

    def __str__(self) -> str:
        return f"{self.estimator.__name__}({self.params}) on {self.what}"

    def fit(self, train: Data, validation: Data | None, n_jobs: int, **params: Any) -> Any:
        model = self.estimator(**self.params, n_jobs=n_jobs).set_params(**params)
        given: dict[str, Any] = {"sample_weight": train.weights}
        if train.costs is not None:
            given["costs"] = train.costs
        if train.groups is not None:
            given["groups"] = train.groups
        if validation is not None:
            given |= {"X_val": validation.X, "y_val": validation.y}
            given["sample_weight_val"] = validation.weights
        return model.fit(train.X, train.y, **given)


# --- memory layouts -------------------------------------------------------------------------------


def strided(X: Any) -> Any:
    """Every other row and column of a larger array."""
    larger = np.full((2 * X.shape[0], 2 * X.shape[1]), -7.0)
    larger[::2, ::2] = X
    return larger[::2, ::2]


def read_only(X: Any) -> Any:
    X = X.copy()
    X.flags.writeable = False
    return X


def unsorted(X: Any) -> Any:
    """The entries of every row in reverse."""
    X = X.copy()
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[row], X.data[row] = X.indices[row][::-1].copy(), X.data[row][::-1].copy()
    X.has_sorted_indices = False
    return X


ARRAYS: list[Callable[[Any], Any]] = [
    np.ascontiguousarray,
    np.asfortranarray,
    strided,
    read_only,
    lambda X: X[::-1].copy()[::-1],
    lambda X: X.astype(np.float32),  # all values are numbers of single precision
    lambda X: X.astype(">f8"),
]
SPARSE: list[Callable[[Any], Any]] = [
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
    sparse.csr_array,
    unsorted,
]
FRAMES: list[Callable[[Any], Any]] = [
    lambda X: X,
    lambda X: X.set_axis(np.arange(len(X))[::-1], axis=0),
    pl.from_pandas,
    lambda X: pl.from_pandas(X).to_arrow(),
]


def layouts_of(X: Any) -> list[Callable[[Any], Any]]:
    if isinstance(X, pd.DataFrame):
        return FRAMES
    return SPARSE if sparse.issparse(X) else ARRAYS


def in_layout(data: Data, rng: np.random.Generator) -> Data:
    """The same rows in another place of memory."""
    layouts = layouts_of(data.X)
    y = data.y if data.y.ndim == 1 else one_of(rng, np.asarray, np.asfortranarray)(data.y)
    weights = None if data.weights is None else strided(data.weights[:, np.newaxis])[:, 0]
    layout = layouts[rng.integers(len(layouts))]
    return Data(layout(data.X), y, weights, data.costs, data.groups)


# --- drawing --------------------------------------------------------------------------------------


def one_of(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def numbers(rng: np.random.Generator, n: int) -> Any:
    """A column: continuous, with ties, of many sizes, mostly zero, or constant."""
    kind = rng.integers(5)
    x = rng.normal(size=n)
    if kind == 1:
        x = np.round(2 * x)
    elif kind == 2:
        x *= 10.0 ** rng.integers(-9, 9, size=n)
    elif kind == 3:
        x[rng.random(n) < 0.9] = 0.0
    elif kind == 4 and rng.random() < 0.3:
        x[:] = 3.0
    return x.astype(np.float32).astype(np.float64)


def columns(rng: np.random.Generator, n: int, d: int, categorical: list[int]) -> Any:
    """(n, d), with columns and rows that occur twice."""
    X = np.column_stack([numbers(rng, n) for _ in range(d)])
    for j in categorical:
        levels = one_of(rng, 2, 3, 7, 40, 300)
        X[:, j] = rng.integers(levels, size=n)
    plain = [j for j in range(d) if j not in categorical]
    if len(plain) > 1 and rng.random() < 0.3:
        X[:, plain[-1]] = X[:, plain[0]]  # every split is tied
    if rng.random() < 0.3:
        X = X[rng.integers(max(2, n // 2), size=n)]
    return X


def labels_of(rng: np.random.Generator, X: Any, K: int) -> Any:
    """Classes (n) that depend on the columns in part."""
    rank = np.argsort(np.argsort(np.nan_to_num(X) @ rng.normal(size=X.shape[1]), kind="stable"))
    return np.where(rng.random(len(X)) < 0.4, rng.integers(K, size=len(X)), rank * K // len(X))


def target(rng: np.random.Generator, kind: str, y: Any, K: int) -> Any:
    """What is given as y for the classes y."""
    if kind == "soft":
        soft = rng.dirichlet(np.full(K, 0.5), size=len(y)) + np.eye(K)[y]
        soft[rng.random(soft.shape) < 0.3] = 0.0
        soft[np.arange(len(y)), y] += 0.5
        return soft / soft.sum(axis=1, keepdims=True)
    if kind == "several":
        indicators = np.eye(K, dtype=int)[y]
        indicators[rng.random(indicators.shape) < 0.2] = 1
        return indicators
    return np.array([f"class {k}" for k in range(K)])[y] if kind == "text" else y


def weights_of(rng: np.random.Generator, kind: str, n: int) -> Any:
    if kind == "none":
        return None
    if kind == "uniform":
        return rng.uniform(0.01, 5.0, size=n)
    if kind == "whole":
        return rng.integers(1, 4, size=n).astype(float)
    if kind == "wide":
        return 10.0 ** rng.uniform(-5, 5, size=n)
    return np.where(rng.random(n) < 0.8, rng.uniform(0.5, 2.0, size=n), 0.0)  # some weigh nothing


def container(kind: str, X: Any, categorical: list[int]) -> Any:
    if kind == "sparse":
        return sparse.csr_matrix(X)
    if kind == "frame":
        frame = pd.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])})
        for j in categorical:
            text = pd.Series([None if np.isnan(v) else f"c{v:g}" for v in X[:, j]], dtype=object)
            frame[f"x{j}"] = text.astype("str")
        return frame
    return X


def growing(rng: np.random.Generator) -> dict[str, Any]:
    """Parameters that all boosters have."""
    return {
        "n_estimators": int(rng.integers(1, 7)),
        "learning_rate": one_of(rng, 0.1, 0.5, 1.0),
        "max_leaf_nodes": one_of(rng, 2, 3, 6, 12, None),
        "max_depth": one_of(rng, None, None, 1, 3),
        "min_samples_leaf": one_of(rng, 1, 2, 5),
        "min_gain": one_of(rng, 0.0, 0.0, 1e-3),
        "max_features": one_of(rng, None, None, 1, 0.6),
        "splitter": one_of(rng, "best", "best", "random"),
        "interaction_cst": one_of(rng, None, None, None, "pairwise", "no_interactions"),
        "max_bins": one_of(rng, 255, 255, 2, 13, 600),
        "random_state": int(rng.integers(1000)),
    }


def logistic(
    rng: np.random.Generator, estimator: type, d: int, K: int, categorical: list[int]
) -> dict[str, Any]:
    drawn = {
        "l2_regularization": one_of(rng, 0.0, 0.0, 1.0),
        "max_delta": one_of(rng, None, None, 0.5),
        "subsample": one_of(rng, 1.0, 1.0, 0.5),
        "init": one_of(rng, "prior", "zero"),
    }
    if K == 2 and rng.random() < 0.3 and estimator is not MULTI_LABEL:
        directions = rng.integers(-1, 2, size=d)
        directions[categorical] = 0
        drawn["monotonic_cst"] = directions.tolist()
    return drawn


def of_algorithm(rng: np.random.Generator, estimator: type, K: int) -> dict[str, Any]:
    """Parameters that one algorithm has."""
    if estimator in ABC:
        search = one_of(rng, "exhaustive", 1, 2)
        return {"search": search, "gap": one_of(rng, 1, 2), "warmup": one_of(rng, 0, 1)}
    if estimator is edgewise.AOSOLogitBoostClassifier:
        return {"leaf": one_of(rng, "pair", "vector")}
    if estimator is edgewise.NewtonBoostClassifier:
        noise = 0.6 * np.eye(K) + 0.4 * rng.dirichlet(np.ones(K), size=K)
        losses = ("log_loss", LogLoss(0.1), GeneralizedCrossEntropy(0.6), TransitionLoss(noise))
        return {"loss": one_of(rng, *losses)}
    if estimator is edgewise.AdaBoostMHClassifier:
        return {
            "base": one_of(rng, "stump", "hamming_tree", "product", "one_vs_all"),
            "votes": one_of(rng, "binary", "ternary", "real"),
            "initial_weights": one_of(rng, "balanced", "uniform"),
        }
    if estimator is edgewise.SoftmaxBoostClassifier:
        cost = rng.uniform(size=(K, K)) * (1 - np.eye(K))
        return {
            "cost": one_of(rng, None, cost),
            "projection": one_of(rng, "sampled", "exact"),
            "step": one_of(rng, "paper", "constant"),
        }
    return of_other_loss(rng, estimator)


def of_other_loss(rng: np.random.Generator, estimator: type) -> dict[str, Any]:
    if estimator is MULTI_LABEL:
        return {
            "sketch": one_of(rng, 1, 2, 6),
            "leaf_labels": one_of(rng, None, 1, 3),
            "pull": one_of(rng, 0.0, 1.0),
            "decision": one_of(rng, "auto", "half", "micro_f1", "macro_f1", "hamming"),
        }
    ordinal = estimator is edgewise.OrdinalBoostClassifier
    return {"pull": one_of(rng, 0.0, 0.01, 1.0, float("inf"))} if ordinal else {}


def stopping(rng: np.random.Generator, estimator: type, *, several: bool) -> dict[str, Any]:
    """Parameters of a fit that has validation rows."""
    drawn = {
        "n_estimators": int(rng.integers(4, 12)),
        "n_iter_no_change": one_of(rng, 1, 3),
        "scoring": one_of(rng, "loss", "accuracy", "neg_log_loss"),
    }
    if several:  # probabilities of labels that do not exclude each other have no sum
        drawn["scoring"] = one_of(rng, "loss", "accuracy")
    if estimator not in (*VOTING, edgewise.OrdinalBoostClassifier, MULTI_LABEL):
        drawn["calibration"] = one_of(rng, None, None, "priors", "temperature", "vector")
    return drawn


def auto(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "effort": "fast",
        "max_trees": one_of(rng, None, 3, 40),
        "interaction_cst": one_of(rng, None, None, "pairwise"),
        "max_bins": one_of(rng, 255, 2, 13),
        "random_state": int(rng.integers(1000)),
    }


def groups_of(rng: np.random.Generator, n: int) -> Any:
    """Few or many, as numbers or text; two at least."""
    groups = rng.integers(one_of(rng, 2, 3, 12, n), size=n)
    groups[:2] = 0, 1
    return groups if rng.random() < 0.5 else np.array([f"group {g}" for g in groups])


def martiboost(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "n_layers": int(rng.integers(1, 6)),
        "routing": one_of(rng, "expected", "random"),
        "max_leaf_nodes": one_of(rng, 2, 3, 6),
        "min_samples_leaf": one_of(rng, 1, 2, 5),
        "max_bins": one_of(rng, 255, 2, 13),
        "random_state": int(rng.integers(1000)),
    }


def drawn_kinds(rng: np.random.Generator, estimator: type, n: int) -> dict[str, Any]:
    """What kind of table, labels and weights."""
    kinds = {
        "n": n,
        "d": int(rng.integers(1, 7)),
        "K": 2 if estimator is MARTIBOOST else one_of(rng, 2, 2, 3, 4, 5, 11),
        "table": one_of(rng, "array", "array", "sparse", "frame"),
        "missing": one_of(rng, 0.0, 0.0, 0.1, 0.5),
        "weights": one_of(rng, "none", "none", "uniform", "whole", "wide", "zeros"),
        "y": one_of(rng, "numbers", "text", "soft", "soft"),
        "class_weight": one_of(rng, None, "balanced", "balanced", "dict"),
        "validation": estimator not in WITHOUT_ROUNDS and rng.random() < 0.4,
    }
    if estimator is MARTIBOOST and kinds["y"] == "soft":
        kinds["y"] = "numbers"
    if estimator in SEVERAL_LABELS and rng.random() < 0.25:
        kinds |= {"y": "several", "class_weight": None}
    if kinds["table"] == "sparse":
        kinds["missing"] = 0.0 if rng.random() < 0.5 else kinds["missing"]
    n_categorical = one_of(rng, 0, 1, 2) if kinds["table"] != "sparse" else 0
    kinds["categorical"] = list(range(min(kinds["d"], n_categorical)))
    return kinds


def data_of(rng: np.random.Generator, kinds: dict[str, Any]) -> tuple[Data, Data | None]:
    """Training rows and, if there shall be some, rows for validation."""
    n, K, categorical = kinds["n"], kinds["K"], kinds["categorical"]
    n_val = max(K, n // 3) if kinds["validation"] else 0
    X = columns(rng, n + n_val, kinds["d"], categorical)
    if kinds["table"] == "sparse":
        X[rng.random(X.shape) < 0.8] = 0.0
    y = labels_of(rng, X, K)
    first = np.r_[0:K, n : n + min(K, n_val)]  # every class occurs and weighs something
    y[first] = np.arange(len(first)) % K
    X[rng.random(X.shape) < kinds["missing"]] = np.nan
    weights = weights_of(rng, kinds["weights"], n + n_val)
    if weights is not None:
        weights[first] = 1.0
    whole = Data(container(kinds["table"], X, categorical), target(rng, kinds["y"], y, K), weights)
    return whole.take(np.arange(n)), whole.take(np.arange(n, n + n_val)) if n_val else None


def class_weight_of(rng: np.random.Generator, kinds: dict[str, Any]) -> Any:
    if kinds["class_weight"] != "dict":
        return kinds["class_weight"]
    names = [f"class {k}" if kinds["y"] == "text" else k for k in range(kinds["K"])]
    return dict(zip(names, rng.uniform(0.2, 4.0, size=kinds["K"]).tolist(), strict=True))


def random_configuration(seed: int, number: int, n_rows: int | None = None) -> Configuration:
    """The configuration of this number among those of a seed."""
    rng = np.random.default_rng([seed, number])
    estimator = EVERY_CLASSIFIER[number % len(EVERY_CLASSIFIER)]
    n = int(rng.integers(15, 250)) if rng.random() < 0.9 else int(rng.integers(300, 900))
    kinds = drawn_kinds(rng, estimator, n if n_rows is None else n_rows)
    train, validation = data_of(rng, kinds)
    params = {"class_weight": class_weight_of(rng, kinds)}
    if kinds["table"] == "array" and kinds["categorical"]:
        params["categorical_features"] = kinds["categorical"]
    if estimator in WITHOUT_ROUNDS:
        own = martiboost(rng) if estimator is MARTIBOOST else auto(rng)
        if estimator is AUTO and rng.random() < 0.4:
            train = replace(train, groups=groups_of(rng, len(train)))
        return Configuration(estimator, params | own, train, None, kinds)
    params |= growing(rng)
    if estimator not in VOTING:
        params |= logistic(rng, estimator, kinds["d"], kinds["K"], kinds["categorical"])
    params |= of_algorithm(rng, estimator, kinds["K"])
    if params.get("base") in ("stump", "product"):
        for name in ("max_leaf_nodes", "max_depth"):
            params.pop(name)
    if kinds["table"] == "sparse":
        params["max_bins"] = min(params["max_bins"], 255)
    if validation is not None:
        params |= stopping(rng, estimator, several=kinds["y"] == "several")
    if estimator is edgewise.SoftmaxBoostClassifier and kinds["y"] == "numbers" and n % 2:
        train = Data(train.X, train.y, train.weights, rng.uniform(size=(len(train), kinds["K"])))
        params["cost"] = None
    return Configuration(estimator, params, train, validation, kinds)

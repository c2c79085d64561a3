"""What several test files need: every estimator with fast settings, tables, comparisons."""

import re
from functools import partial

import numpy as np
from sklearn.base import ClassifierMixin

import edgewise
from edgewise._boosting.base import Booster
from edgewise._families.logistic import LogisticBooster


def spelled(value):
    """As text without addresses: the name of a test is the same in every process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", str(value))


# All that boost; TruthTableClassifier, which combines what is given, has tests of its own.
EVERY_CLASSIFIER = [
    member
    for member in map(partial(getattr, edgewise), edgewise.__all__)
    if isinstance(member, type)
    and issubclass(member, ClassifierMixin)
    and member is not edgewise.TruthTableClassifier
]
# Those that boost K classes round by round, as many rounds as they are told.
CLASSIFIERS = [
    c for c in EVERY_CLASSIFIER if issubclass(c, Booster) and c is not edgewise.AutoBoostClassifier
]
# Those that lower the log loss of the soft-max; these have losses and links of their own.
OTHER_LOSS = (edgewise.OrdinalBoostClassifier, edgewise.MultiLabelBoostClassifier)
LOGISTIC = [
    c for c in EVERY_CLASSIFIER if issubclass(c, LogisticBooster) and not issubclass(c, OTHER_LOSS)
]

_FAST = {"n_estimators": 6, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 1}
_RANDOM_CUTS = _FAST | {"splitter": "random", "random_state": 2}

# Every public estimator, and both kinds of leaf and of search, in a few small rounds.
VARIANTS = {
    "mart": partial(edgewise.MARTClassifier, **_FAST),
    "logitboost": partial(edgewise.LogitBoostClassifier, **_FAST),
    "abc_mart": partial(edgewise.ABCMARTClassifier, search="exhaustive", gap=1, **_FAST),
    "abc_logitboost": partial(edgewise.ABCLogitBoostClassifier, gap=2, warmup=1, **_FAST),
    "aoso_pair": partial(edgewise.AOSOLogitBoostClassifier, **_FAST),
    "aoso_vector": partial(edgewise.AOSOLogitBoostClassifier, leaf="vector", **_FAST),
    "newton_boost": partial(edgewise.NewtonBoostClassifier, **_FAST),
    "ordinal_boost": partial(edgewise.OrdinalBoostClassifier, **_FAST),
    "ordinal_proportional": partial(edgewise.OrdinalBoostClassifier, pull=float("inf"), **_FAST),
    "multi_label_boost": partial(edgewise.MultiLabelBoostClassifier, **_FAST),
    "multi_label_sketch": partial(
        edgewise.MultiLabelBoostClassifier, sketch=2, leaf_labels=2, random_state=3, **_FAST
    ),
    "logitboost_random_cuts": partial(edgewise.LogitBoostClassifier, **_RANDOM_CUTS),
    "aoso_random_cuts": partial(edgewise.AOSOLogitBoostClassifier, **_RANDOM_CUTS),
    "mh_stump": partial(edgewise.AdaBoostMHClassifier, base="stump", **_FAST),
    "mh_tree": partial(edgewise.AdaBoostMHClassifier, votes="ternary", **_FAST),
    "mh_product": partial(edgewise.AdaBoostMHClassifier, base="product", **_FAST),
    "mh_one_vs_all": partial(edgewise.AdaBoostMHClassifier, base="one_vs_all", **_FAST),
    "mh_random_cuts": partial(edgewise.AdaBoostMHClassifier, **_RANDOM_CUTS),
    "mh_one_vs_all_random_cuts": partial(
        edgewise.AdaBoostMHClassifier, base="one_vs_all", **_RANDOM_CUTS
    ),
    "samme": partial(edgewise.SAMMEClassifier, random_state=0, **_FAST),
    "samme_random_cuts": partial(edgewise.SAMMEClassifier, **_RANDOM_CUTS),
    "softmax_boost": partial(edgewise.SoftmaxBoostClassifier, random_state=1, **_FAST),
    "softmax_exact": partial(edgewise.SoftmaxBoostClassifier, projection="exact", **_FAST),
}
# Those that can be exported: not those whose links or labels no export knows.
EXPORTED_VARIANTS = {
    n: make for n, make in VARIANTS.items() if not n.startswith(("ordinal", "multi_label"))
}
LOGISTIC_VARIANTS = {name: make for name, make in VARIANTS.items() if make.func in LOGISTIC}
# Those whose trees draw their cuts, by the numbers of features and classes.
CUT_DRAWING = {n for n, make in VARIANTS.items() if make.keywords.get("splitter") == "random"}
# Those whose rounds draw nothing at random; other draws depend on every value of a row.
DRAWLESS_VARIANTS = {
    n: make
    for n, make in VARIANTS.items()
    if n not in CUT_DRAWING | {"softmax_boost", "multi_label_sketch"}
}
# Those whose trees may have any number of leaves.
TREE_VARIANTS = {n: make for n, make in VARIANTS.items() if n not in ("mh_stump", "mh_product")}


def table(seed, n=120, K=3, d=4, *, missing=0.0, levels=None, noise=0.3):
    """X (n, d) and labels y of K classes that depend on it in part.

    Values are continuous, or whole numbers below `levels`; a share `missing` of them is NaN.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if levels is None else rng.integers(levels, size=(n, d))
    X = X.astype(float)
    rank = np.argsort(np.argsort(X[:, 0] + 0.5 * X[:, -1], kind="stable"), kind="stable")
    y = np.where(rng.random(n) < noise, rng.integers(K, size=n), rank * K // n)
    y[:K] = np.arange(K)  # every class occurs
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def nominal_table(seed, n=120, K=3, d=3, *, levels=6, missing=0.0, noise=0.3):
    """X (n, d) of codes without an order but for the last column, and labels y of K classes.

    The codes are whole numbers, not consecutive and in part negative; a class belongs to them at
    random, and to the last column, which is continuous, in its order.
    """
    rng = np.random.default_rng(seed)
    number = rng.integers(levels, size=(n, d))
    X = (7 * number - 9).astype(float)
    X[:, -1] = rng.normal(size=n)
    of_code = rng.integers(K, size=(d, levels))
    y = (of_code[0, number[:, 0]] + of_code[1, number[:, 1]] + (X[:, -1] > 0.4)) % K
    y = np.where(rng.random(n) < noise, rng.integers(K, size=n), y)
    y[:K] = np.arange(K)  # every class occurs
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def uneven_weights(seed, n):
    """Weights (n,) under which no two different splits have the same gain by coincidence."""
    return np.random.default_rng([seed, 1]).uniform(0.3, 3.0, size=n)


def assert_same_model(a, b):
    """The arrays of two models are equal bit by bit."""
    mine, theirs = a.arrays(), b.arrays()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.shape == theirs[name].shape, name
        assert array.tobytes() == theirs[name].tobytes(), name


def training_loss(model, X, y, w):
    """The loss that boosting lowers, of rows with labels 0 .. K-1, from the scores of the model."""
    scores = model.model_.scores(X, 1)
    true = y[:, None] == np.arange(scores.shape[1])
    if isinstance(model, edgewise.AdaBoostMHClassifier):
        first = np.where(true, 0.5, 0.5 / (scores.shape[1] - 1))  # balanced
        by_row = (first * np.exp(np.where(true, -scores, scores))).sum(axis=1)
    elif isinstance(model, edgewise.SAMMEClassifier):
        by_row = np.exp(scores.mean(axis=1) - scores[true])
    elif isinstance(model, edgewise.SoftmaxBoostClassifier):
        by_row = 1.0 - model.predict_proba(X)[true]
    elif isinstance(model, edgewise.OrdinalBoostClassifier):
        above = y[:, None] > np.arange(scores.shape[1] - 1)
        by_row = np.logaddexp(0.0, np.where(above, -1, 1) * np.diff(scores)).sum(axis=1)
    elif isinstance(model, edgewise.MultiLabelBoostClassifier):
        by_row = np.logaddexp(0.0, np.where(true, -scores, scores)).mean(axis=1)
    else:
        by_row = -np.log(model.predict_proba(X)[true])
    return np.average(by_row, weights=w)


def fitted_attributes(estimator):
    """Names that a fit has left on an estimator."""
    return {name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")}


def trees_of(model, m):
    """Round m of a fast model, each tree a list of (feature, threshold, missing_left) or None."""
    for t in range(model.round_start[m], model.round_start[m + 1]):
        nodes = range(model.node_start[t], model.node_start[t + 1])
        yield [
            (int(model.feature[i]), float(model.threshold[i]), bool(model.missing_left[i]))
            if model.feature[i] >= 0
            else None
            for i in nodes
        ]

"""Trees with categorical columns: the fast code against references that try all sets.

Where ordering the categories finds the best set (two-channel trees, and Gini trees of two
classes), trees are the same. For Gini trees of more classes and for Hamming trees the search is a
heuristic; it is held to the best single category, and its distance from the best set is pinned.
"""

import numpy as np
import pytest
from support import nominal_table, uneven_weights

import edgewise
from edgewise import _core, reference
from edgewise.reference import _gini_tree, _hamming_tree
from edgewise.reference._categories import bipartitions

NOMINAL = [0, 1]  # of the columns of `nominal_table`
ABC = {"search": "exhaustive", "gap": 0, "warmup": 0}
LOGISTIC = {
    "mart": (edgewise.MARTClassifier, reference.mart, {}),
    "logitboost": (edgewise.LogitBoostClassifier, reference.logitboost, {}),
    "abc_mart": (edgewise.ABCMARTClassifier, reference.abc_mart, ABC),
    "abc_logitboost": (edgewise.ABCLogitBoostClassifier, reference.abc_logitboost, ABC),
    "aoso_pair": (edgewise.AOSOLogitBoostClassifier, reference.aoso_logitboost, {"leaf": "pair"}),
    "aoso_vector": (
        edgewise.AOSOLogitBoostClassifier,
        reference.aoso_logitboost,
        {"leaf": "vector"},
    ),
}


@pytest.fixture(params=[0, 1], ids="seed{}".format)
def seed(request):
    return request.param


def split_of(node):
    """(feature, threshold or the categories that go left, missing_left) of a reference's node."""
    if node.split is None:
        return None
    _, feature, threshold, missing_left, _, categories = node.split
    return feature, threshold if categories is None else categories.tolist(), missing_left


def trees_of(model):
    """The same of a fast model, tree by tree."""
    sets = iter(np.split(model.set_values, model.set_start[1:-1]))
    nodes = [
        None
        if feature < 0
        else (
            int(feature),
            next(sets).tolist() if np.isnan(threshold) else float(threshold),
            bool(left),
        )
        for feature, threshold, left in zip(
            model.feature, model.threshold, model.missing_left, strict=True
        )
    ]
    return [nodes[a:b] for a, b in zip(model.node_start[:-1], model.node_start[1:], strict=True)]


def assert_same_trees(model, trees):
    assert trees_of(model) == [[split_of(node) for node in tree.nodes] for tree in trees]
    assert len(model.set_start) > 1, "no split on categories: the data tests nothing"


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("algorithm", LOGISTIC)
@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_logistic_boosters(algorithm, K, missing, seed):
    fast, slow, own = LOGISTIC[algorithm]
    X, y = nominal_table(seed, n=70, K=K, missing=missing)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 3, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 1}
    options |= own
    a = fast(categorical_features=NOMINAL, early_stopping=False, **options)
    a.fit(X, y, sample_weight=w)
    b = slow(X, y, sample_weight=w, categorical=NOMINAL, **options)
    assert_same_trees(a.model_, [tree for trees in b.rounds for tree in trees])
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)
    unseen = np.random.default_rng(seed).integers(-20, 40, size=X.shape)
    np.testing.assert_allclose(a.model_.scores(unseen, 1), b.decision_function(unseen), atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_one_tree_per_class(missing, seed):
    X, y = nominal_table(seed, n=80, K=4, missing=missing)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 3, "max_leaf_nodes": 5}
    a = edgewise.AdaBoostMHClassifier(
        base="one_vs_all", categorical_features=NOMINAL, early_stopping=False, **options
    ).fit(X, y, sample_weight=w)
    Y = np.where(y[:, None] == np.arange(4), 1, -1)
    b = reference.adaboost_mh(
        X,
        Y,
        base="one_vs_all",
        sample_weight=w,
        categorical=NOMINAL,
        smoothing=1e-6,
        **options,
    )
    assert_same_trees(a.model_, [tree for _, base in b.rounds for tree in base.trees])
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_softmax_boost(missing, seed):
    X, y = nominal_table(seed, n=80, K=3, missing=missing)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 3, "max_leaf_nodes": 5}
    a = edgewise.SoftmaxBoostClassifier(
        projection="exact", categorical_features=NOMINAL, early_stopping=False, **options
    ).fit(X, y, sample_weight=w)
    cost = 1.0 - np.eye(3)[y]
    b = reference.softmax_boost(X, cost, sample_weight=w, categorical=NOMINAL, **options)
    assert_same_trees(a.model_, [tree for _, trees in b.rounds for tree in trees])
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_samme_with_two_classes(missing, seed):
    X, y = nominal_table(seed, n=80, K=2, missing=missing)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 4, "max_leaf_nodes": 5}
    a = edgewise.SAMMEClassifier(
        categorical_features=NOMINAL, early_stopping=False, random_state=0, **options
    ).fit(X, y, sample_weight=w)
    b = reference.samme(X, y, sample_weight=w, categorical=NOMINAL, **options)
    assert_same_trees(a.model_, [tree for _, tree in b.rounds])
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_martiboost(missing, seed):
    X, y = nominal_table(seed, n=90, K=2, missing=missing)
    w = uneven_weights(seed, len(y))
    a = edgewise.MartiBoostClassifier(n_layers=4, max_leaf_nodes=3, categorical_features=NOMINAL)
    a.fit(X, y, sample_weight=w)
    b = reference.martiboost(
        X, y, n_layers=4, max_leaf_nodes=3, sample_weight=w, categorical=NOMINAL
    )
    nodes = [node for layer in b.layers for node in layer]
    trees = [tree for tree, node in zip(trees_of(a.model_.trees), nodes, strict=True) if node.tree]
    assert trees == [[split_of(n) for n in node.tree.nodes] for node in nodes if node.tree]
    unseen = np.random.default_rng(seed).integers(-20, 40, size=X.shape)
    for table in (X, unseen):
        np.testing.assert_allclose(a.predict_proba(table)[:, 1], b.predict_proba(table), atol=1e-9)


# --- heuristics ---------------------------------------------------------------------------------

STUMP = _core.GrowLimits(2, 0, 1, 0.0)


def gini_set(W):
    """The categories that a Gini tree of two leaves sends left; W (m, K) are weights."""
    x, y = (part.ravel() for part in np.indices(W.shape))
    data = _core.BinnedData(x[:, None].astype(float), None, 255, 1, [0])
    tree = _core.grow_gini_tree(data, y.astype(np.int32), W.ravel(), W.shape[1], STUMP, 1)
    return tree.sets


def edge_set(S):
    """The same of a Hamming tree; S (m, K) are signed weights, a row for each category."""
    data = _core.BinnedData(np.arange(len(S), dtype=float)[:, None], None, 255, 1, [0])
    return _core.grow_hamming_tree(data, np.ascontiguousarray(S), STUMP, 1).sets


def purity_gain(L, R):
    return _gini_tree.gini_score(L, R) - _gini_tree.purity(L + R)


def edge_gain(L, R):
    return _hamming_tree.stump_score(L, R) - np.abs(L + R).sum(axis=0)


def problems(K, m, n_problems=60):
    """Tables (m, K) of the weights of categories and classes, pure or mixed, heavy or light."""
    for seed in range(n_problems):
        rng = np.random.default_rng([seed, K, m])
        share = rng.dirichlet(np.full(K, rng.choice([0.2, 1.0, 5.0])), size=m)
        yield share * rng.uniform(0.2, 3.0, size=(m, 1))


def share_met(tables, set_of, gain):
    """How often the set found is the best of all; it is never worse than any single category."""
    met = []
    for W in tables:
        m = len(W)
        sets, total = bipartitions(m), W.sum(axis=0)[:, None]
        left = W.T @ sets.T  # (K, sets)
        gains = np.maximum(gain(left, total - left), 0.0)  # no split gains nothing
        alone = gains[np.isin(sets.sum(axis=1), [1, m - 1])].max()
        chosen = set_of(W)
        found = 0.0
        if chosen:
            left = W[np.array(chosen[0], dtype=int)].sum(axis=0)[:, None]
            found = gain(left, total - left).item()
        rounding = 1e-6 * np.abs(W).sum()
        assert alone - rounding <= found <= gains.max() + rounding
        met.append(found >= gains.max() - rounding)
    return np.mean(met)


@pytest.mark.parametrize("K", [2, 3, 6, 12])
@pytest.mark.parametrize("m", [2, 5, 9])
def test_gini_sets_are_nearly_always_the_best(K, m):
    met = share_met(problems(K, m), gini_set, purity_gain)
    assert met == 1.0 if K == 2 else met >= 0.95


@pytest.mark.parametrize("K", [2, 3, 6, 12])
@pytest.mark.parametrize("m", [2, 5, 9])
def test_sets_nearly_always_have_the_best_edge(K, m):
    centred = (W - W.mean(axis=1, keepdims=True) for W in problems(K, m))
    assert share_met(centred, edge_set, edge_gain) >= 0.9

"""The fast code against the plain NumPy references, tree by tree.

Splits must be the same and scores within the rounding of the fixed point. Weights are uneven
numbers, so that no two different splits have the same gain by coincidence.
"""

import numpy as np
import pytest
from support import table, trees_of, uneven_weights

import edgewise
from edgewise import reference

pytestmark = pytest.mark.usefixtures("nothing_is_negligible")

PAIRS = {
    "mart": (edgewise.MARTClassifier, reference.mart, {}),
    "logitboost": (edgewise.LogitBoostClassifier, reference.logitboost, {}),
    "abc_mart": (
        edgewise.ABCMARTClassifier,
        reference.abc_mart,
        {"search": "exhaustive", "gap": 0, "warmup": 0},
    ),
    "abc_logitboost": (
        edgewise.ABCLogitBoostClassifier,
        reference.abc_logitboost,
        {"search": "exhaustive", "gap": 0, "warmup": 0},
    ),
    "aoso_pair": (edgewise.AOSOLogitBoostClassifier, reference.aoso_logitboost, {"leaf": "pair"}),
    "aoso_vector": (
        edgewise.AOSOLogitBoostClassifier,
        reference.aoso_logitboost,
        {"leaf": "vector"},
    ),
    "ordinal": (edgewise.OrdinalBoostClassifier, reference.ordinal_boost, {"pull": 0.01}),
    "proportional": (
        edgewise.OrdinalBoostClassifier,
        reference.ordinal_boost,
        {"pull": float("inf")},
    ),
    "multi_label": (edgewise.MultiLabelBoostClassifier, reference.multi_label_boost, {}),
    "sketched": (
        edgewise.MultiLabelBoostClassifier,
        reference.multi_label_boost,
        {"sketch": 1, "leaf_labels": 2, "pull": 0.5},
    ),
}
ABC = {"abc_mart", "abc_logitboost"}


@pytest.fixture(params=[0, 1], ids="seed{}".format)
def seed(request):
    return request.param


@pytest.fixture(params=PAIRS)
def algorithm(request):
    return request.param


def fit_both(algorithm, X, y, w, **options):
    fast, slow, own = PAIRS[algorithm]
    defaults = {"learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 1}
    options = {"n_estimators": 5} | defaults | own | options
    return (
        fast(early_stopping=False, **options).fit(X, y, sample_weight=w),
        slow(X, y, sample_weight=w, **options),
    )


def assert_equivalent(X, fast, slow):
    assert fast.n_iter_ == len(slow.rounds)
    for m, trees in enumerate(slow.rounds):
        expected = [[node.split and node.split[1:4] for node in tree.nodes] for tree in trees]
        assert list(trees_of(fast.model_, m)) == expected, f"round {m}"
        children = [node.children[0] for tree in trees for node in tree.nodes if node.split]
        first, last = fast.model_.node_start[fast.model_.round_start[m : m + 2]]
        inner = fast.model_.feature[first:last] >= 0
        assert fast.model_.left[first:last][inner].tolist() == children, f"round {m}"
    np.testing.assert_allclose(fast.model_.start, slow.init, atol=1e-15)
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-6)
    np.testing.assert_allclose(fast.history_["loss"], slow.history["loss"], atol=1e-6)
    if "base_class" in slow.history:
        np.testing.assert_array_equal(fast.history_["base_class"], slow.history["base_class"])


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_weights_and_missing_values(algorithm, K, missing, seed):
    X, y = table(seed, n=70, K=K, missing=missing)
    assert_equivalent(X, *fit_both(algorithm, X, y, uneven_weights(seed, len(y))))


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("init", ["prior", "zero"])
def test_init(algorithm, K, init, seed):
    X, y = table(seed + 10, n=60, K=K, missing=0.1)
    assert_equivalent(X, *fit_both(algorithm, X, y, uneven_weights(seed, len(y)), init=init))


@pytest.mark.parametrize("min_samples_leaf", [2, 5, 12])
def test_min_samples_leaf(algorithm, min_samples_leaf, seed):
    X, y = table(seed + 20, n=80, K=3, missing=0.2)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(algorithm, X, y, w, min_samples_leaf=min_samples_leaf))


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 12])
def test_max_leaf_nodes(algorithm, max_leaf_nodes, seed):
    X, y = table(seed + 30, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(algorithm, X, y, w, max_leaf_nodes=max_leaf_nodes))


def test_small_integers(algorithm, seed):
    X, y = table(seed + 40, n=80, K=4, levels=5, missing=0.1)
    assert_equivalent(X, *fit_both(algorithm, X, y, uneven_weights(seed, len(y))))


@pytest.mark.parametrize("n", [80, 83])  # eight rows to a byte, and some over
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_columns_of_two_values(algorithm, n, missing, seed):
    X, y = table(seed + 45, n=n, K=4, d=6, levels=2)
    X[:, 0] = table(seed + 46, n=n)[0][:, 0]
    X[np.random.default_rng(seed).random(n) < missing, 1] = np.nan
    assert_equivalent(X, *fit_both(algorithm, X, y, uneven_weights(seed, len(y))))


def test_many_rounds(algorithm):
    X, y = table(50, n=60, K=3, missing=0.1)
    w = uneven_weights(50, len(y))
    assert_equivalent(X, *fit_both(algorithm, X, y, w, n_estimators=20, learning_rate=0.1))


@pytest.mark.parametrize("algorithm", ["mart", "logitboost", "aoso_pair", "aoso_vector"])
def test_without_weights(algorithm, seed):
    # Classes of different sizes; two leaves a tree, so that few candidates can tie.
    X, y = table(seed + 60, n=90, K=3, noise=0.4)
    X, y = X[y >= np.arange(90) % 3], y[y >= np.arange(90) % 3]
    assert_equivalent(X, *fit_both(algorithm, X, y, None, max_leaf_nodes=3, n_estimators=3))


@pytest.mark.parametrize("algorithm", sorted(ABC))
@pytest.mark.parametrize(
    "options",
    [
        {"search": 1},
        {"search": 2},
        {"search": 4},
        {"search": "exhaustive", "gap": 2},
        {"search": 2, "gap": 1, "warmup": 2},
        {"search": 1, "gap": 3, "warmup": 1},
    ],
    ids=str,
)
def test_search_of_the_base_class(algorithm, options, seed):
    X, y = table(seed + 70, n=60, K=4, missing=0.1)
    w = uneven_weights(seed, len(y))
    fast, slow = fit_both(algorithm, X, y, w, n_estimators=7, **options)
    assert_equivalent(X, fast, slow)


@pytest.mark.parametrize("algorithm", sorted(ABC))
def test_warm_up_with_two_classes(algorithm):
    X, y = table(80, n=60, K=2)
    assert_equivalent(X, *fit_both(algorithm, X, y, uneven_weights(0, len(y)), warmup=2, gap=1))

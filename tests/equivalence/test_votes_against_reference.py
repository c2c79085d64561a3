"""AdaBoost.MH, SAMME, soft-max boosting and MartiBoost against their references, split by split.

Weights are uneven numbers, so that no two different splits have the same gain by coincidence.
"""

import math

import numpy as np
import pytest
from support import table, trees_of, uneven_weights
from support_votes import (
    BASES,
    assert_equivalent,
    assert_same_splits,
    costs_of,
    labels_of,
    many_labels,
    mostly_zeros,
    splits_of,
)

from edgewise import (
    AdaBoostMHClassifier,
    MartiBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
)
from edgewise._boosting.sampling import seed_of
from edgewise._data.chance import distinct, row_keys, uniforms
from edgewise._families.mh_bases import SMOOTHING
from edgewise.reference.adaboost_mh import adaboost_mh
from edgewise.reference.martiboost import martiboost
from edgewise.reference.samme import samme
from edgewise.reference.softmax_boost import softmax_boost

pytestmark = pytest.mark.usefixtures("nothing_is_negligible")


@pytest.fixture(params=[0, 1], ids="seed{}".format)
def seed(request):
    return request.param


@pytest.fixture(params=BASES)
def base(request):
    return request.param


# --- AdaBoost.MH ------------------------------------------------------------------------------


def fit_both(X, y, w, **options):
    options = {"n_estimators": 5, "max_leaf_nodes": 6} | options
    fast = AdaBoostMHClassifier(**options).fit(X, y, sample_weight=w)
    if options.get("base") == "product":
        options["n_factors"] = options.pop("max_depth", 3)
    slow = adaboost_mh(X, labels_of(y), sample_weight=w, smoothing=SMOOTHING, **options)
    return fast, slow


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_mh_classes(base, K, missing, seed):
    X, y = table(seed, n=70, K=K, missing=missing)
    assert_equivalent(X, *fit_both(X, y, uneven_weights(seed, len(y)), base=base))


@pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
def test_mh_many_labels(base, initial_weights, seed):
    X, y = many_labels(seed)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base=base, initial_weights=initial_weights))


@pytest.mark.parametrize("initial_weights", ["balanced", "uniform"])
def test_mh_initial_weights(base, initial_weights, seed):
    X, y = table(seed + 10, n=60, K=4)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base=base, initial_weights=initial_weights))


@pytest.mark.parametrize("min_samples_leaf", [2, 5, 12])
def test_mh_min_samples_leaf(base, min_samples_leaf, seed):
    X, y = table(seed + 20, n=80, K=3, missing=0.2)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base=base, min_samples_leaf=min_samples_leaf))


@pytest.mark.parametrize("base", ["hamming_tree", "one_vs_all", "product"])
@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_mh_max_depth(base, max_depth, seed):
    X, y = table(seed + 30, n=70, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    options = {"max_depth": max_depth, "max_leaf_nodes": 12}
    fast, slow = fit_both(X, y, w, base=base, **options)
    assert_equivalent(X, fast, slow)
    if base == "product":
        depths = [len(classifier.stumps) for _, classifier in slow.rounds]
        assert max(depths) == max_depth


@pytest.mark.parametrize("base", ["hamming_tree", "one_vs_all"])
@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 12])
def test_mh_max_leaf_nodes(base, max_leaf_nodes, seed):
    X, y = table(seed + 40, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base=base, max_leaf_nodes=max_leaf_nodes))


def test_mh_learning_rate(base, seed):
    X, y = table(seed + 50, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    fast, slow = fit_both(X, y, w, base=base, learning_rate=0.3, n_estimators=15)
    assert_equivalent(X, fast, slow)


def test_mh_small_integers(base, seed):
    X, y = table(seed + 60, n=80, K=4, levels=5, missing=0.1)
    assert_equivalent(X, *fit_both(X, y, uneven_weights(seed, len(y)), base=base))


@pytest.mark.parametrize("K", [9, 17, 70])
def test_mh_more_classes_than_one_vector_holds(K):
    X, y = table(3, n=200, K=K, noise=0.1)
    w = uneven_weights(3, len(y))
    for base in ("stump", "hamming_tree"):
        assert_equivalent(X, *fit_both(X, y, w, base=base, n_estimators=3))


def test_mh_many_rounds(base):
    X, y = table(70, n=50, K=3, missing=0.1, noise=0.5)
    w = uneven_weights(70, len(y))
    fast, slow = fit_both(X, y, w, base=base, n_estimators=25, max_leaf_nodes=3)
    assert_equivalent(X, fast, slow)


def test_mh_real_votes_of_stumps(seed):
    X, y = table(seed + 80, n=60, K=4, missing=0.1)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base="stump", votes="real", n_estimators=8))


def test_mh_ternary_votes_of_stumps_are_never_worse_than_greedy_ones(seed):
    for attempt in range(5):
        X, y = table(seed + 90 + attempt, n=60, K=6, noise=0.6)
        w = uneven_weights(attempt, len(y))
        options = {"base": "stump", "votes": "ternary", "n_estimators": 1}
        fast, slow = fit_both(X, y, w, **options)
        assert_same_splits(fast, slow)
        assert fast.history_["z"][0] <= slow.history["z"][0] + 1e-9


def test_mh_sparse_layout(base, seed):
    X, y = mostly_zeros(seed)
    w = uneven_weights(seed, len(y))
    assert_equivalent(X, *fit_both(X, y, w, base=base, n_estimators=4))


# --- SAMME ------------------------------------------------------------------------------------


def assert_same_samme(X, y, w, **options):
    options = {"n_estimators": 5, "max_leaf_nodes": 6} | options
    fast = SAMMEClassifier(**options).fit(X, y, sample_weight=w)
    slow = samme(X, y, sample_weight=w, **options)
    assert fast.n_iter_ == len(slow.rounds) > 0
    for m, (_, tree) in enumerate(slow.rounds):
        assert list(trees_of(fast.model_, m)) == [splits_of(tree)], f"round {m}"
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-6)
    for name in ("error", "alpha"):
        np.testing.assert_allclose(fast.history_[name], slow.history[name], atol=1e-7)
    return fast, slow


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_samme_classes(K, missing, seed):
    X, y = table(seed, n=70, K=K, missing=missing)
    assert_same_samme(X, y, uneven_weights(seed, len(y)))


@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 4},
        {"min_samples_leaf": 12},
        {"max_depth": 1},
        {"max_depth": 3, "max_leaf_nodes": 12},
        {"max_leaf_nodes": 2},
        {"learning_rate": 0.3, "n_estimators": 15},
    ],
    ids=str,
)
def test_samme_options(options, seed):
    X, y = table(seed + 10, n=80, K=3, missing=0.1)
    assert_same_samme(X, y, uneven_weights(seed, len(y)), **options)


@pytest.mark.parametrize("K", [9, 17, 70])
def test_samme_more_classes_than_one_vector_holds(K):
    X, y = table(4, n=200, K=K, noise=0.1)
    assert_same_samme(X, y, uneven_weights(4, len(y)), n_estimators=3, max_leaf_nodes=20)


def test_samme_sparse_layout(seed):
    X, y = mostly_zeros(seed)
    assert_same_samme(X, y, uneven_weights(seed, len(y)), n_estimators=4, max_leaf_nodes=12)


def test_samme_ends(seed):
    X, y = table(seed + 20, n=60, K=3, noise=0.0)
    fast, slow = assert_same_samme(X, y, None, n_estimators=50, max_leaf_nodes=60)
    assert slow.stop_reason == "no error"
    assert fast.stop_reason_ == "a base classifier makes no errors"


# --- soft-max boosting ------------------------------------------------------------------------


def assert_same_softmax(X, y, w, costs, draw=None, **options):
    options = {"n_estimators": 6, "max_leaf_nodes": 5} | options
    projection = "exact" if draw is None else "sampled"
    fast = SoftmaxBoostClassifier(projection=projection, random_state=3, **options)
    fast.fit(X, y, sample_weight=w, costs=costs)
    slow = softmax_boost(X, costs, sample_weight=w, draw=draw, **options)
    assert fast.n_iter_ == len(slow.rounds)
    for m, (_, trees) in enumerate(slow.rounds):
        expected = [splits_of(tree) if tree else [None] for tree in trees]
        assert list(trees_of(fast.model_, m)) == expected, f"round {m}"
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-6)
    np.testing.assert_allclose(fast.history_["loss"], slow.history["risk"], rtol=1e-6)
    rate = options.get("learning_rate", 1.0)
    np.testing.assert_allclose(rate * fast.history_["step"], slow.history["step"], rtol=1e-6)


@pytest.mark.parametrize("step", ["paper", "constant"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_softmax_exact_projection(step, K, seed):
    X, y = table(seed, n=70, K=K, missing=0.1)
    w = uneven_weights(seed, len(y))
    assert_same_softmax(X, y, w, costs_of(y, K), step=step)


@pytest.mark.parametrize("step", ["paper", "constant"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 300.0])
def test_softmax_costs_of_rows(step, scale, seed):
    X, y = table(seed + 10, n=70, K=4, missing=0.1)
    costs = scale * np.random.default_rng(seed).uniform(0.0, 3.0, size=(len(y), 4))
    w = uneven_weights(seed, len(y))
    assert_same_softmax(X, y, w, costs, step=step)


@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 6},
        {"max_depth": 2, "max_leaf_nodes": 12},
        {"max_leaf_nodes": 2},
        {"learning_rate": 0.3, "n_estimators": 12},
    ],
    ids=str,
)
def test_softmax_options(options, seed):
    X, y = table(seed + 20, n=80, K=3, missing=0.1)
    assert_same_softmax(X, y, uneven_weights(seed, len(y)), costs_of(y, 3), **options)


def test_softmax_sparse_layout(seed):
    X, y = mostly_zeros(seed)
    assert_same_softmax(X, y, uneven_weights(seed, len(y)), costs_of(y, 4), n_estimators=4)


def draw_of_rows(X, costs, seed):
    """Pairs (i, k) for the reference: the label that the fast code draws for every row i."""

    def draw(m, p):
        below = (p / p.sum(axis=1, keepdims=True)).cumsum(axis=1)
        u = uniforms(row_keys(X, costs), seed, m)[:, None]
        labels = np.minimum((below < u).sum(axis=1), p.shape[1] - 1)
        return np.arange(len(p)) * p.shape[1] + labels

    return draw


@pytest.mark.parametrize("step", ["paper", "constant"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_softmax_draws(K, step, seed):
    """Without weights: the reference draws rows too, the fast code takes each of them once."""
    X, y = table(seed + 30, n=60, K=K, missing=0.1)
    costs = np.random.default_rng(seed).uniform(0.1, 1.0, size=(len(y), K))
    assert_same_softmax(X, y, None, costs, draw_of_rows(X, costs, seed_of(3)), step=step)


# --- MartiBoost -------------------------------------------------------------------------------


def assert_same_program(X, fast, slow):
    L = len(slow.layers)
    nodes = [node for layer in slow.layers for node in layer]
    program = fast.model_
    assert program.n_layers == L
    np.testing.assert_array_equal(program.frozen, [node.tree is None for node in nodes])
    for m, layer in enumerate(slow.layers):
        expected = [splits_of(node.tree) if node.tree else [None] for node in layer]
        assert list(trees_of(program.trees, m)) == expected, f"layer {m}"
    np.testing.assert_allclose(
        program.right.reshape(-1, 2), [node.right for node in nodes], atol=1e-9
    )
    np.testing.assert_allclose(fast.predict_proba(X)[:, 1], slow.predict_proba(X), atol=1e-8)


def fit_both_programs(X, y, w, routing, **options):
    options = {"n_layers": 7} | options
    fast = MartiBoostClassifier(routing=routing, random_state=5, **options)
    fast.fit(X, y, sample_weight=w)
    u = None
    if routing == "random":
        keys = distinct(row_keys(X, y, w / math.fsum(w)))
        u = np.array([uniforms(keys, seed_of(5), t + 1) for t in range(options["n_layers"])])
    return fast, martiboost(X, y, sample_weight=w, uniforms=u, **options)


@pytest.mark.parametrize("routing", ["expected", "random"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_leaf_nodes": 5},
        {"max_leaf_nodes": 12, "max_depth": 2},
        {"max_leaf_nodes": 6, "min_samples_leaf": 8, "n_layers": 5},
        {"n_layers": 1},
        {"n_layers": 12},
    ],
    ids=str,
)
def test_programs(routing, options, seed):
    X, y = table(seed, n=70, K=2, missing=0.1)
    fast, slow = fit_both_programs(X, y, uneven_weights(seed, len(y)), routing, **options)
    assert_same_program(X, fast, slow)
    assert_same_program(X[::-2], fast, slow)  # prediction in expectation


@pytest.mark.parametrize("routing", ["expected", "random"])
def test_programs_of_the_sparse_layout(routing, seed):
    X, y = mostly_zeros(seed, n=200, K=2)
    w = uneven_weights(seed, len(y))
    assert_same_program(X, *fit_both_programs(X, y, w, routing, n_layers=4, max_leaf_nodes=4))


@pytest.mark.parametrize("routing", ["expected", "random"])
def test_programs_that_freeze(routing, seed):
    """Rows that are easy to part: many nodes lack a class or are never reached."""
    X, y = table(seed, n=40, K=2, noise=0.0)
    fast, slow = fit_both_programs(X, y, uneven_weights(seed, len(y)), routing, max_leaf_nodes=8)
    assert 0 < fast.model_.frozen.mean() < 1
    assert_same_program(X, fast, slow)

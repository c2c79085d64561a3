"""Regularisation, sampling and constraints: the fast code against the references, tree by tree."""

from itertools import combinations

import numpy as np
import pytest
from support import nominal_table, table, trees_of, uneven_weights

import edgewise
from edgewise import reference
from edgewise._boosting.constraints import directions
from edgewise._boosting.sampling import cut_key, seed_of
from edgewise._data.chance import row_keys, uniforms
from edgewise.reference._control import Control

pytestmark = pytest.mark.usefixtures("nothing_is_negligible")

ABC = {"search": "exhaustive", "gap": 0, "warmup": 0}
PAIRS = {
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
OPTIONS = {"n_estimators": 3, "learning_rate": 0.3, "max_leaf_nodes": 5, "min_samples_leaf": 2}


@pytest.fixture
def seed():
    return 0


@pytest.fixture(params=PAIRS)
def algorithm(request):
    return request.param


def splits_of(trees):
    return [
        [
            None
            if node.split is None
            else (node.split.feature, node.split.threshold, node.split.missing_left)
            for node in tree.nodes
        ]
        for tree in trees
    ]


def assert_equivalent(algorithm, X, y, w, control, given, categorical=(), **options):
    fast, slow, own = PAIRS[algorithm]
    own = OPTIONS | own | options
    a = fast(
        early_stopping=False, categorical_features=list(categorical) or None, **own | given
    ).fit(X, y, sample_weight=w)
    b = slow(X, y, sample_weight=w, categorical=categorical, control=control, **own)
    assert a.n_iter_ == len(b.rounds)
    for m, trees in enumerate(b.rounds):
        np.testing.assert_equal(list(trees_of(a.model_, m)), splits_of(trees), f"round {m}")
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=2e-6)
    gains = [n.split.gain for trees in b.rounds for t in trees for n in t.nodes if n.split]
    np.testing.assert_allclose(gains_of(a, w), gains, rtol=1e-4, atol=1e-6)
    return a


def gains_of(model, w):
    """The gains of all splits in units of the weights, which the model has scaled."""
    return model.model_.gain[model.model_.feature >= 0] * 2.0 ** np.frexp(w.max())[1]


@pytest.mark.parametrize(("K", "weight"), [(2, 1.0), (3, 40.0), (4, 0.1)])
def test_l2(algorithm, K, weight, seed):
    X, y = table(seed, n=50, K=K, missing=0.15)
    w = weight * uneven_weights(seed, len(y))  # as large as it is
    assert_equivalent(algorithm, X, y, w, Control(l2=2.5), {"l2_regularization": 2.5})


@pytest.mark.parametrize("K", [2, 3])
def test_min_gain(algorithm, K, seed):
    X, y = table(seed + 5, n=50, K=K, missing=0.1)
    w = uneven_weights(seed, len(y))
    free = assert_equivalent(algorithm, X, y, w, Control(), {})
    least = float(np.median(gains_of(free, w))) - 1e-3
    a = assert_equivalent(algorithm, X, y, w, Control(min_gain=least), {"min_gain": least})
    assert gains_of(a, w).min() >= least > gains_of(free, w).min()


@pytest.mark.parametrize("max_delta", [0.3, 50.0])
def test_max_delta(algorithm, max_delta, seed):
    X, y = table(seed + 10, n=60, K=3, noise=0.02)
    w = uneven_weights(seed, len(y))
    control = Control(max_delta=max_delta)
    assert_equivalent(algorithm, X, y, w, control, {"max_delta": max_delta})


INTERACTIONS = {
    "pairwise": [set(pair) for pair in combinations(range(4), 2)],
    "no_interactions": [{0}, {1}, {2}, {3}],
    "sets": [{0, 1}, {1, 2, 3}],
    "rest": [{0, 3}, {1, 2}],
}
GIVEN = {
    "pairwise": "pairwise",
    "no_interactions": "no_interactions",
    "sets": [[0, 1], (3, 1, 2)],
    "rest": [{0, 3}],
}


@pytest.mark.parametrize("kind", INTERACTIONS)
def test_interactions(algorithm, kind, seed):
    X, y = table(seed + 15, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    control = Control(interactions=INTERACTIONS[kind])
    assert_equivalent(algorithm, X, y, w, control, {"interaction_cst": GIVEN[kind]})


@pytest.mark.parametrize("K", [2, 3])
def test_drawn_rows_and_features(algorithm, K, seed):
    X, y = table(seed + 20, n=60, K=K, missing=0.1)
    w = uneven_weights(seed, len(y))
    start = seed_of(7)
    keys = row_keys(X, y)
    rows = np.array([uniforms(keys, start, m) < 0.6 for m in range(3)])
    features = [np.random.default_rng([start, m]).choice(4, 2, replace=False) for m in range(3)]
    control = Control(rows=rows, features=[f.tolist() for f in features])
    given = {"subsample": 0.6, "max_features": 0.5, "random_state": 7}
    assert_equivalent(algorithm, X, y, w, control, given)


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("min_samples_leaf", [1, 5])
@pytest.mark.parametrize("K", [2, 3])
def test_drawn_cuts(algorithm, missing, min_samples_leaf, K, seed):
    X, y = table(seed + 60, n=60, K=K, missing=missing)
    w = uneven_weights(seed, len(y))
    control = Control(l2=0.7, cut_keys=[cut_key(seed_of(7), m) for m in range(3)])
    given = {"splitter": "random", "random_state": 7, "l2_regularization": 0.7}
    options = {"min_samples_leaf": min_samples_leaf}
    assert_equivalent(algorithm, X, y, w, control, given, **options)


MONOTONE = {  # of columns 0 and 1
    2: ({0: 1}, {0: -1, 1: 1}),
    3: ({1: {0: 1}}, {0: {2: 1}, 3: {1: -1}}, {0: {2: 1, 0: -1}}, {0: {(0, 1): -1}}),
    4: ({0: {3: 1, 0: -1}, 1: {(2, 3): 1}},),
}
CASES = [(K, given) for K, cases in MONOTONE.items() for given in cases]


@pytest.mark.parametrize(("K", "given"), CASES, ids=str)
def test_monotone(algorithm, K, given, seed):
    X, y = table(seed + 25, n=60, K=K, missing=0.1 if K > 2 else 0.0)
    w = uneven_weights(seed, len(y))
    model = PAIRS[algorithm][0](monotonic_cst=given)
    model.n_features_in_ = 4
    control = Control(directions=directions(model, np.arange(K)))
    assert control.directions is not None
    assert_equivalent(algorithm, X, y, w, control, {"monotonic_cst": given})


@pytest.mark.parametrize("K", [2, 3])
def test_all_together(algorithm, K, seed):
    X, y = nominal_table(seed, n=60, K=K, d=4, levels=4, missing=0.1)
    w = uneven_weights(seed, len(y))
    given = {2: {0: 1}, 3: {1: -1}} if K > 2 else {2: 1, 3: -1}
    model = PAIRS[algorithm][0](monotonic_cst=given)
    model.n_features_in_ = 4
    control = Control(
        l2=0.7,
        min_gain=0.2,
        max_delta=0.8,
        interactions=[{0, 2, 3}, {1, 2}],
        directions=directions(model, np.arange(K)),
    )
    given = {
        "l2_regularization": 0.7,
        "min_gain": 0.2,
        "max_delta": 0.8,
        "interaction_cst": [{0, 2, 3}, {1, 2}],
        "monotonic_cst": given,
    }
    assert_equivalent(algorithm, X, y, w, control, given, categorical=[0, 1])


# --- the boosters that vote ---------------------------------------------------------------------

VOTE_CONTROLS = {
    "min_gain": (Control(min_gain=0.03), {"min_gain": 0.03}),
    "sets": (Control(interactions=[{0, 1}, {1, 2, 3}]), {"interaction_cst": [{0, 1}, {1, 2, 3}]}),
    "pairwise": (Control(interactions=INTERACTIONS["pairwise"]), {"interaction_cst": "pairwise"}),
    "alone": (
        Control(interactions=INTERACTIONS["no_interactions"]),
        {"interaction_cst": "no_interactions"},
    ),
}
every_vote_control = pytest.mark.parametrize(
    ("control", "given"), VOTE_CONTROLS.values(), ids=VOTE_CONTROLS
)


def in_gini(control):
    """Trees for one class tell A^2 / B as their gain, which is twice that of Gini."""
    return control._replace(min_gain=control.min_gain / 2)


@every_vote_control
@pytest.mark.parametrize("base", ["stump", "hamming_tree", "product", "one_vs_all"])
def test_adaboost_mh(base, control, given, seed):
    X, y = table(seed, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 4, "max_leaf_nodes": 6}
    a = edgewise.AdaBoostMHClassifier(base=base, early_stopping=False, **options, **given)
    a.fit(X, y, sample_weight=w)
    Y = np.where(y[:, None] == np.arange(3), 1, -1)
    control = in_gini(control) if base == "one_vs_all" else control
    b = reference.adaboost_mh(
        X, Y, base=base, sample_weight=w, smoothing=1e-6, control=control, **options
    )
    assert a.n_iter_ == len(b.rounds)
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)


@every_vote_control
def test_samme(control, given, seed):
    X, y = table(seed, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 4, "max_leaf_nodes": 6}
    a = edgewise.SAMMEClassifier(early_stopping=False, random_state=0, **options, **given)
    a.fit(X, y, sample_weight=w)
    b = reference.samme(X, y, sample_weight=w, control=control, **options)
    assert [splits_of([t])[0] for _, t in b.rounds] == [
        next(trees_of(a.model_, m)) for m in range(a.n_iter_)
    ]
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)


@every_vote_control
def test_softmax_boost(control, given, seed):
    X, y = table(seed, n=60, K=3, missing=0.1)
    w = uneven_weights(seed, len(y))
    options = {"n_estimators": 4, "max_leaf_nodes": 6}
    a = edgewise.SoftmaxBoostClassifier(
        projection="exact", early_stopping=False, **options, **given
    ).fit(X, y, sample_weight=w)
    cost = 1.0 - np.eye(3)[y]
    b = reference.softmax_boost(X, cost, sample_weight=w, control=in_gini(control), **options)
    for m, (_, trees) in enumerate(b.rounds):
        assert list(trees_of(a.model_, m)) == splits_of(trees), f"round {m}"
    np.testing.assert_allclose(a.model_.scores(X, 1), b.scores, atol=1e-6)

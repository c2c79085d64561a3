"""Random cuts: the fast code against references that draw by the same hash, split by split."""

import numpy as np
import pytest
from support import table, trees_of, uneven_weights
from support_votes import (
    BASES,
    assert_equivalent,
    costs_of,
    labels_of,
    many_labels,
    mostly_zeros,
    splits_of,
)

from edgewise import AdaBoostMHClassifier, SAMMEClassifier, SoftmaxBoostClassifier
from edgewise._boosting.sampling import cut_key, seed_of
from edgewise._families.mh_bases import SMOOTHING
from edgewise.reference._control import Control
from edgewise.reference._draws import mixed
from edgewise.reference.adaboost_mh import adaboost_mh
from edgewise.reference.samme import samme
from edgewise.reference.softmax_boost import softmax_boost

pytestmark = pytest.mark.usefixtures("nothing_is_negligible")

RANDOM = {"splitter": "random", "random_state": 5}
N_ROUNDS = 5
KEYS = Control(cut_keys=[cut_key(seed_of(5), m) for m in range(N_ROUNDS)])

OPTIONS = [
    {},
    {"min_samples_leaf": 4},
    {"min_samples_leaf": 11},
    {"max_depth": 2},
    {"max_leaf_nodes": 2},
    {"learning_rate": 0.4},
]


@pytest.fixture(params=[0, 1, 2], ids="seed{}".format)
def seed(request):
    return request.param


def settings(options):
    return {"n_estimators": N_ROUNDS, "max_leaf_nodes": 8} | options


def assert_same_mh(X, y, w, **options):
    options = settings(options)
    fast = AdaBoostMHClassifier(**options, **RANDOM).fit(X, y, sample_weight=w)
    if options.get("base") == "product":
        options["n_factors"] = options.pop("max_depth", 3)
    labels = labels_of(y)
    slow = adaboost_mh(X, labels, sample_weight=w, smoothing=SMOOTHING, control=KEYS, **options)
    assert_equivalent(X, fast, slow)


def assert_same_samme(X, y, w, **options):
    options = settings(options)
    fast = SAMMEClassifier(**options, **RANDOM).fit(X, y, sample_weight=w)
    slow = samme(X, y, sample_weight=w, control=KEYS, **options)
    assert fast.n_iter_ == len(slow.rounds) > 0
    for m, (_, tree) in enumerate(slow.rounds):
        assert list(trees_of(fast.model_, m)) == [splits_of(tree)], f"round {m}"
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-6)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_mh(base, options, seed):
    X, y = table(seed, n=80, K=3, missing=0.15, noise=0.5)
    assert_same_mh(X, y, uneven_weights(seed, len(y)), base=base, **options)


@pytest.mark.parametrize("base", BASES)
def test_mh_many_labels(base, seed):
    X, y = many_labels(seed)
    assert_same_mh(X, y, uneven_weights(seed, len(y)), base=base)


@pytest.mark.parametrize("base", BASES)
def test_mh_sparse_layout(base, seed):
    X, y = mostly_zeros(seed)
    assert_same_mh(X, y, uneven_weights(seed, len(y)), base=base)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_samme(options, missing, seed):
    X, y = table(seed + 10, n=90, K=4, missing=missing, noise=0.5)
    assert_same_samme(X, y, uneven_weights(seed, len(y)), **options)


def test_samme_sparse_layout(seed):
    X, y = mostly_zeros(seed)
    assert_same_samme(X, y, uneven_weights(seed, len(y)))


def test_samme_small_integers(seed):
    X, y = table(seed, n=90, K=3, levels=4, missing=0.1, noise=0.5)
    assert_same_samme(X, y, uneven_weights(seed, len(y)))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_softmax(options, seed):
    X, y = table(seed + 20, n=80, K=3, missing=0.1)
    w, costs, options = uneven_weights(seed, len(y)), costs_of(y, 3), settings(options)
    fast = SoftmaxBoostClassifier(projection="exact", **options, **RANDOM)
    fast.fit(X, y, sample_weight=w, costs=costs)
    slow = softmax_boost(X, costs, sample_weight=w, control=KEYS, **options)
    for m, (_, trees) in enumerate(slow.rounds):
        expected = [splits_of(tree) if tree else [None] for tree in trees]
        assert list(trees_of(fast.model_, m)) == expected, f"round {m}"
    np.testing.assert_allclose(fast.model_.scores(X, 1), slow.scores, atol=1e-6)


def test_the_hash_is_splitmix():
    """The first numbers of the generator from the seed 1234567, as its authors publish them."""
    state, numbers = 1234567, []
    for _ in range(3):
        numbers.append(mixed(state))
        state = (state + 0x9E3779B97F4A7C15) % 2**64
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_sets_of_categories_are_not_drawn_by_the_reference():
    X, y = table(0, levels=3)
    with pytest.raises(ValueError, match="no sets"):
        samme(X, y, n_estimators=1, categorical=[0], control=KEYS)

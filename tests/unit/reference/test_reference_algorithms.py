"""Properties of the five boosting algorithms of the reference."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgewise.reference import abc_logitboost, abc_mart, aoso_logitboost, logitboost, mart
from edgewise.reference._fit import log_softmax
from edgewise.reference._tree import Grower
from edgewise.reference.abc_logitboost import class_tree as abc_logitboost_tree
from edgewise.reference.abc_mart import class_tree as abc_mart_tree

ALGORITHMS = {
    "mart": mart,
    "logitboost": logitboost,
    "abc_mart": abc_mart,
    "abc_logitboost": abc_logitboost,
    "fast_abc_logitboost": partial(abc_logitboost, search=2, gap=1, warmup=1),
    "aoso_logitboost": aoso_logitboost,
    "aoso_logitboost_vector": partial(aoso_logitboost, leaf="vector"),
}
SEEDS = st.integers(0, 2**32 - 1)
every_algorithm = pytest.mark.parametrize("fit", ALGORITHMS.values(), ids=ALGORITHMS)
# Derandomised: where two different splits happen to have the same gain, rounding decides.
some_examples = settings(max_examples=8, deadline=None, derandomize=True)


def noisy_table(seed, n=30, K=3, missing=0.1):
    """A table (n, 3) with missing values and labels of K classes that depend on it in part."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(n, 3)).astype(float)
    y = np.where(rng.random(n) < 0.3, rng.integers(K, size=n), X[:, 0].astype(int) % K)
    y[:K] = np.arange(K)  # every class occurs
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def uneven_weights(seed, n):
    """Weights (n,) under which no two different splits have the same gain by coincidence."""
    return np.random.default_rng(seed + 1).uniform(0.5, 2.0, size=n)


@every_algorithm
@some_examples
@given(seed=SEEDS, rate=st.sampled_from([0.02, 0.1]))
def test_training_loss_falls(fit, seed, rate):
    X, y = noisy_table(seed)
    loss = fit(X, y, n_estimators=6, learning_rate=rate, max_leaf_nodes=4).history["loss"]
    assert (np.diff(loss) < 1e-12).all()


@every_algorithm
@some_examples
@given(seed=SEEDS)
def test_weight_is_repetition(fit, seed):
    X, y = noisy_table(seed, n=20)
    times = np.random.default_rng(seed).integers(1, 4, size=len(y))
    options = {"n_estimators": 3, "max_leaf_nodes": 4, "learning_rate": 0.3}
    weighted = fit(X, y, sample_weight=times, **options)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), **options)
    np.testing.assert_allclose(
        repeated.scores, np.repeat(weighted.scores, times, axis=0), atol=1e-9
    )
    np.testing.assert_allclose(repeated.history["loss"], weighted.history["loss"])


@every_algorithm
@some_examples
@given(seed=SEEDS)
def test_order_of_rows_does_not_matter(fit, seed):
    X, y = noisy_table(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    options = {"n_estimators": 3, "max_leaf_nodes": 4}
    here, there = fit(X, y, **options), fit(X[order], y[order], **options)
    np.testing.assert_allclose(there.scores, here.scores[order], atol=1e-9)


@pytest.mark.parametrize("tree_of", [abc_mart_tree, abc_logitboost_tree])
@some_examples
@given(seed=SEEDS, K=st.integers(2, 4))
def test_swapping_class_and_base_class_negates_the_pair_step(tree_of, seed, K):
    X, y = noisy_table(seed, K=K)
    rng = np.random.default_rng(seed)
    p = np.exp(log_softmax(rng.normal(size=(len(y), K))))
    k, b = rng.choice(K, size=2, replace=False)
    grower = Grower(X, rng.uniform(0.5, 2, size=len(y)), 5, 1)
    there, back = (tree_of(grower, np.eye(K)[y], p, *pair, 0.1) for pair in ((k, b), (b, k)))
    assert [n.split and n.split[:4] for n in there.nodes] == [
        n.split and n.split[:4] for n in back.nodes
    ]
    # Value and direction of a step value * (e_k - e_b) both change sign: the scores move alike.
    np.testing.assert_array_equal(there.predict(X), back.predict(X))


@some_examples
@given(seed=SEEDS)
def test_all_second_order_algorithms_agree_on_two_classes(seed):
    X, y = noisy_table(seed, K=2)
    options = {"n_estimators": 5, "max_leaf_nodes": 4, "learning_rate": 0.3}
    options["sample_weight"] = uneven_weights(seed, len(y))
    expected = logitboost(X, y, **options).scores
    np.testing.assert_allclose(expected.sum(axis=1), 0.0, atol=1e-12)
    for fit in (
        abc_logitboost,
        partial(abc_logitboost, search=1, warmup=2),
        aoso_logitboost,
        partial(aoso_logitboost, leaf="vector"),
    ):
        np.testing.assert_allclose(fit(X, y, **options).scores, expected, atol=1e-9)


@some_examples
@given(seed=SEEDS)
def test_both_first_order_algorithms_agree_on_two_classes(seed):
    X, y = noisy_table(seed, K=2)
    options = {"n_estimators": 5, "max_leaf_nodes": 4, "learning_rate": 0.3}
    options["sample_weight"] = uneven_weights(seed, len(y))
    abc = abc_mart(X, y, warmup=1, **options)
    np.testing.assert_allclose(abc.scores, mart(X, y, **options).scores, atol=1e-9)
    np.testing.assert_array_equal(abc.history["base_class"], [-1, 0, 0, 0, 0])


@every_algorithm
@pytest.mark.parametrize("K", [2, 4])
def test_training_error_vanishes_on_separable_data(fit, K):
    X = np.random.default_rng(K).permutation(60).reshape(-1, 1).astype(float)
    y = X[:, 0].astype(int) * K // 60
    scores = fit(X, y, n_estimators=15, learning_rate=0.5, max_leaf_nodes=4).scores
    np.testing.assert_array_equal(scores.argmax(axis=1), y)


@every_algorithm
@pytest.mark.parametrize("init", ["prior", "zero"])
def test_scores_are_those_of_the_decision_function(fit, init):
    X, y = noisy_table(0)
    result = fit(X, y, n_estimators=4, max_leaf_nodes=5, init=init)
    np.testing.assert_array_equal(result.decision_function(X), result.scores)
    p = np.exp(log_softmax(result.scores))[np.arange(len(y)), y]
    assert result.history["loss"][-1] == pytest.approx(-np.log(p).mean())
    assert len(result.rounds) == 4


@pytest.mark.parametrize(
    "name", ["abc_mart", "abc_logitboost", "aoso_logitboost", "aoso_logitboost_vector"]
)
def test_scores_sum_to_zero(name):
    X, y = noisy_table(1, K=4)
    scores = ALGORITHMS[name](X, y, n_estimators=5, max_leaf_nodes=4).scores
    np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-12)


@pytest.mark.parametrize("fit", [mart, logitboost], ids=lambda f: f.__name__)
def test_one_tree_per_class_and_one_for_two_classes(fit):
    for K, n_trees in ((2, 1), (3, 3), (4, 4)):
        X, y = noisy_table(2, K=K)
        assert [len(trees) for trees in fit(X, y, n_estimators=2).rounds] == [n_trees] * 2


@pytest.mark.parametrize("abc", [abc_mart, abc_logitboost], ids=lambda f: f.__name__)
class TestBaseClass:
    """The search for the base class of the ABC algorithms, on four classes."""

    X, y = noisy_table(3, n=40, K=4)

    def fit(self, abc, n_estimators, **kwargs):
        return abc(self.X, self.y, n_estimators=n_estimators, max_leaf_nodes=4, **kwargs)

    def test_exhaustive_search_tries_every_class(self, abc):
        every, all_four = self.fit(abc, 4), self.fit(abc, 4, search=4)
        np.testing.assert_array_equal(every.scores, all_four.scores)
        assert [len(trees) for trees in every.rounds] == [3] * 4

    def test_search_takes_the_smallest_loss(self, abc):
        first = self.fit(abc, 1).history["loss"][0]
        assert first <= self.fit(abc, 1, search=2).history["loss"][0]
        assert first <= self.fit(abc, 1, search=1).history["loss"][0]

    def test_search_of_one_takes_the_class_of_largest_loss(self, abc):
        result = self.fit(abc, 3, search=1)
        before = self.fit(abc, 2, search=1).scores
        losses = -log_softmax(before)[np.arange(len(self.y)), self.y]
        assert result.history["base_class"][2] == np.bincount(self.y, losses).argmax()

    def test_gap_keeps_the_base_class(self, abc):
        bases = self.fit(abc, 8, gap=2, warmup=1).history["base_class"]
        assert bases[0] == -1
        assert len(set(bases[1:4])) == len(set(bases[4:7])) == 1

    def test_warm_up_is_the_plain_algorithm(self, abc):
        plain = mart if abc is abc_mart else logitboost
        warm = self.fit(abc, 3, warmup=3)
        np.testing.assert_array_equal(warm.scores, self.fit(plain, 3).scores)
        np.testing.assert_array_equal(warm.history["base_class"], [-1, -1, -1])

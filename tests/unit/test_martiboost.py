"""MartiBoost: the walk through the layers, frozen nodes, the noisy toy problem, bad input."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from support import assert_same_model, fitted_attributes, table, uneven_weights

from edgewise import FitWarning, InvalidDataError, MartiBoostClassifier, SAMMEClassifier
from edgewise.experiments.softmax_toy import noisy_bits
from edgewise.martiboost import majority

BOTH = pytest.mark.parametrize("routing", ["expected", "random"])


def small(**parameters):
    return MartiBoostClassifier(**{"n_layers": 8, "random_state": 0} | parameters)


def walked(model, X, draws):
    """How often random walks through the program end in class 1, (n,): prediction by its words."""
    program, L = model.model_, model.n_layers
    n, rng = len(X), np.random.default_rng(0)
    says = np.zeros((len(program.frozen), n))
    for v in range(len(program.frozen)):
        program.trees.forest.add_scores(X, v, v + 1, of_tree := np.zeros((n, 1)), 1)
        says[v] = of_tree[:, 0]
    ended = np.zeros(n)
    for _ in range(draws):
        for i in range(n):
            at, result = 0, None
            for t in range(L):
                v = t * (t + 1) // 2 + at
                p = program.right[2 * v + int(says[v, i])]
                if program.frozen[v]:
                    result = p
                    break
                at += rng.random() < p
            ended[i] += np.heaviside(2 * at - L, 0.5) if result is None else result
    return ended / draws


@BOTH
def test_probabilities_are_those_of_the_walk(routing):
    X, y = table(0, n=60, K=2, missing=0.1, noise=0.4)
    model = small(routing=routing, n_layers=6).fit(X, y)
    sampled = walked(model, X[:12], draws=3000)
    np.testing.assert_allclose(model.predict_proba(X[:12])[:, 1], sampled, atol=0.04)


@BOTH
def test_predictions_fit_together(routing):
    X, y = table(1, n=100, K=2)
    names = np.array(["no", "yes"])
    model = small(routing=routing).fit(X, names[y])
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert ((proba >= 0) & (proba <= 1)).all()
    np.testing.assert_allclose(model.decision_function(X), proba[:, 1] - proba[:, 0])
    np.testing.assert_array_equal(model.predict(X), names[(proba[:, 1] > 0.5).astype(int)])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, names[y]) > 0.75


def test_majority_of_the_steps():
    assert majority(0) == [0.5]
    assert majority(1) == [0.0, 1.0]
    assert majority(4) == [0.0, 0.0, 0.5, 1.0, 1.0]


@BOTH
def test_programs_have_a_node_more_in_every_layer(routing):
    X, y = table(2, n=80, K=2)
    program = small(routing=routing, n_layers=10).fit(X, y).model_
    assert program.trees.n_trees == len(program.frozen) == 55
    np.testing.assert_array_equal(np.diff(program.trees.round_start), np.arange(1, 11))


@BOTH
def test_weak_learners_are_two_sided(routing):
    """On the balanced rows of the root both answers are equally likely, and class 1 leans right."""
    X, y = table(3, n=200, K=2, noise=0.3)
    w = uneven_weights(3, len(y))
    program = small(routing=routing, n_layers=1).fit(X, y, sample_weight=w).model_
    says = np.zeros((len(X), 1))
    program.trees.forest.add_scores(X, 0, 1, says, 1)
    goes_right = program.right[says[:, 0].astype(int)]
    of_class = [np.average(goes_right[y == k], weights=w[y == k]) for k in (0, 1)]
    assert np.mean(of_class) == pytest.approx(0.5)
    assert of_class[1] > 0.55


@BOTH
def test_frozen_share_grows(routing):
    X, y = table(4, n=100, K=2, noise=0.02)
    frozen = small(routing=routing, n_layers=15, max_leaf_nodes=4).fit(X, y).history_["frozen"]
    assert len(frozen) == 15
    assert (np.diff(frozen) >= -1e-12).all()
    assert frozen[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.1 < frozen[-1] <= 1.0


def test_pure_leaves_end_the_walk():
    X, y = np.arange(20.0)[:, None], (np.arange(20) >= 7).astype(int)
    model = small().fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], y)
    assert model.history_["frozen"][1] == pytest.approx(1.0)


def test_rounding_reaches_no_further_node():
    """Halves of the weight that do not add up exactly let no row leak into another's node."""
    X, y = np.arange(30.0)[:, None], (np.arange(30) >= 11).astype(int)
    for seed in range(10):
        w = np.random.default_rng(seed).uniform(0.1, 1, size=30)
        model = small(n_layers=6).fit(X, y, sample_weight=w)
        assert model.model_.frozen.tolist() == [0] + [1] * 20
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1], y)


def test_nothing_to_learn_is_a_coin():
    with pytest.warns(FitWarning, match="learned nothing"):
        model = small(n_layers=7).fit(np.ones((10, 2)), np.arange(10) % 2)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[0.5, 0.5]], atol=1e-12)


# --- noise ------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.2])
def test_noisy_toy_problem(noise):
    """Noise that brings AdaBoost to its knees hardly harms the branching program."""
    rng = np.random.default_rng(0)
    X, y = noisy_bits(rng, 2000, noise)
    X_test, y_test = noisy_bits(rng, 1000)
    adaboost = SAMMEClassifier(n_estimators=100, max_leaf_nodes=2, random_state=0).fit(X, y)
    clean = SAMMEClassifier(n_estimators=100, max_leaf_nodes=2).fit(*noisy_bits(rng, 2000))
    assert clean.score(X_test, y_test) > 0.99
    assert adaboost.score(X_test, y_test) < 0.78
    for routing, least in (("expected", 0.84), ("random", 0.79)):
        model = small(n_layers=60, routing=routing).fit(X, y)
        assert model.score(X_test, y_test) > least


def test_more_layers_help():
    rng = np.random.default_rng(1)
    X, y = noisy_bits(rng, 2000, 0.1)
    X_test, y_test = noisy_bits(rng, 1000)
    few, many = (small(n_layers=L).fit(X, y).score(X_test, y_test) for L in (3, 60))
    assert many > few + 0.1


# --- the same for any threads and order -------------------------------------------------------


@BOTH
@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("min_samples_leaf", [1, 4])
def test_same_program_for_threads_and_orders(routing, layout, min_samples_leaf):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).round(1)
    if layout == "sparse":
        X[rng.random(X.shape) < 0.9] = 0.0
    y = (X[:, 0] + X[:, 1] + rng.normal(size=600) > 0).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    w = rng.uniform(0.1, 3, size=600)
    make = {"routing": routing, "max_leaf_nodes": 4, "min_samples_leaf": min_samples_leaf}
    one = small(n_jobs=1, **make).fit(X, y, sample_weight=w)
    for n_jobs in (2, 4):
        other = small(n_jobs=n_jobs, **make).fit(X, y, sample_weight=w)
        assert_same_model(other.model_, one.model_)
        np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
    order = rng.permutation(600)
    shuffled = small(n_jobs=2, **make).fit(X[order], y[order], sample_weight=w[order])
    assert_same_model(shuffled.model_, one.model_)
    np.testing.assert_allclose(shuffled.history_["frozen"], one.history_["frozen"], atol=1e-12)


def test_alike_rows_take_different_ways():
    """Else a few distinct rows, repeated, would make the random routing all or nothing."""
    X = np.repeat([[0.0], [1.0]], 200, axis=0)
    y = np.concatenate([np.arange(200) < 80, np.arange(200) < 120]).astype(int)
    model = small(routing="random", n_layers=3).fit(X, y)
    other = small(routing="expected", n_layers=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=0.12)


def test_random_state_draws_the_ways():
    X, y = table(5, n=100, K=2)
    first, again, other = (
        small(routing="random", random_state=s).fit(X, y).model_ for s in (0, 0, 1)
    )
    assert_same_model(first, again)
    assert not np.array_equal(first.right, other.right)
    expected = [small(random_state=s).fit(X, y).model_ for s in (0, 1)]
    assert_same_model(*expected)


def test_pickle_keeps_every_bit():
    X, y = table(6, n=100, K=2, missing=0.1)
    model = small().fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_weightless_rows_are_as_good_as_absent():
    X, y = table(7, n=100, K=2)
    w = np.where(np.arange(100) % 3 == 0, 0.0, uneven_weights(7, 100))
    assert_same_model(
        small().fit(X, y, sample_weight=w).model_,
        small().fit(X[w > 0], y[w > 0], sample_weight=w[w > 0]).model_,
    )


# --- bad input --------------------------------------------------------------------------------

BAD_LABELS = {
    "three classes": (np.arange(40) % 3, ["binary", "two classes", "Got 3", "0, 1, 2"]),
    "one class": (np.zeros(40), ["two classes", "one class only"]),
    "indicator matrix": (np.eye(2)[np.arange(40) % 2], ["1d", "(40, 2)"]),
    "missing": (np.where(np.arange(40) == 3, np.nan, 1.0), ["NaN", "row 3"]),
}


@pytest.mark.parametrize(("y", "words"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_are_refused(y, words):
    model = small()
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are checked below
        model.fit(np.arange(80.0).reshape(40, 2), y)
    for word in words:
        assert word in str(caught.value)
    assert fitted_attributes(model) == set()
    with pytest.raises(NotFittedError):
        model.predict(np.ones((1, 2)))


def test_a_class_without_weight_is_dropped():
    X, y = table(8, n=90, K=3)
    model = small().fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]
    with pytest.raises(InvalidDataError):
        small().fit(X, y)

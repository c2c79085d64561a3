"""What must not change the model, and what the scores must satisfy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import (
    DRAWLESS_VARIANTS,
    LOGISTIC_VARIANTS,
    VARIANTS,
    assert_same_model,
    table,
    uneven_weights,
)

import edgewise

every_variant = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
every_drawless_variant = pytest.mark.parametrize(
    "make", DRAWLESS_VARIANTS.values(), ids=DRAWLESS_VARIANTS
)
SEEDS = st.integers(0, 2**32 - 1)
some_examples = settings(max_examples=10, deadline=None)
# Those to which the order of the classes is nothing.
UNORDERED = {n: make for n, make in DRAWLESS_VARIANTS.items() if not n.startswith("ordinal")}

INCREASING = {
    "affine": lambda x: 3.0 * x - 7.0,
    "cube": lambda x: x**3,
    "exp": np.exp,
    "arctan": np.arctan,
    "tiny": lambda x: x * 1e-300,
    "huge": lambda x: x * 1e300,
}


@every_drawless_variant
@some_examples
@given(
    seed=SEEDS,
    increasing=st.sampled_from(sorted(INCREASING)),
    max_bins=st.sampled_from([5, 30, 255]),
    missing=st.sampled_from([0.0, 0.2]),
)
def test_increasing_transformations_leave_training_scores(
    make, seed, increasing, max_bins, missing
):
    X, y = table(seed, n=100, K=3, missing=missing)
    w = uneven_weights(seed, len(y))
    Z = INCREASING[increasing](X)
    here, there = (make(max_bins=max_bins).fit(data, y, sample_weight=w) for data in (X, Z))
    np.testing.assert_array_equal(there.decision_function(Z), here.decision_function(X))
    np.testing.assert_array_equal(there.model_.feature, here.model_.feature)
    np.testing.assert_array_equal(there.history_["loss"], here.history_["loss"])


@every_drawless_variant
@some_examples
@given(seed=SEEDS)
def test_features_may_be_repeated_at_the_end(make, seed):
    """Ties go to the first feature: its copy is never used."""
    X, y = table(seed, n=80, K=3, missing=0.1)
    here, there = make().fit(X, y), make().fit(np.column_stack([X, X]), y)
    assert_same_model(there.model_, here.model_)


@pytest.mark.usefixtures("nothing_is_negligible")
@every_variant
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_weight_is_repetition(make, missing, seed):
    X, y = table(seed, n=100, K=3, missing=missing)
    w = uneven_weights(seed, len(y))
    times = np.random.default_rng(seed).integers(1, 4, size=len(y))
    weighted = make(n_estimators=4).fit(X, y, sample_weight=w * times)
    repeated = make(n_estimators=4).fit(
        *(np.repeat(array, times, axis=0) for array in (X, y)), sample_weight=np.repeat(w, times)
    )
    np.testing.assert_array_equal(weighted.model_.feature, repeated.model_.feature)
    np.testing.assert_array_equal(weighted.model_.threshold, repeated.model_.threshold)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-7
    )
    np.testing.assert_allclose(weighted.history_["loss"], repeated.history_["loss"], atol=1e-9)


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS)
def test_whole_weights_are_repetition(make, seed):
    X, y = table(seed, n=100, K=3, missing=0.2)
    times = np.random.default_rng(seed).integers(1, 4, size=len(y))
    weighted = make(n_estimators=4).fit(X, y, sample_weight=times)
    repeated = make(n_estimators=4).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(weighted.model_.threshold, repeated.model_.threshold)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-7
    )


@every_variant
@some_examples
@given(seed=SEEDS, weight=st.sampled_from([0.25, 1.0, 2.0, 1024.0]))
def test_equal_weights_are_none(make, seed, weight):
    X, y = table(seed, n=60, K=3)
    # Multi-label boosting shrinks steps by the gain of one row, and a weight of two is two rows.
    same = {"pull": 0.0} if make.func is edgewise.MultiLabelBoostClassifier else {}
    plain = make(**same).fit(X, y)
    weighted = make(**same).fit(X, y, sample_weight=np.full(len(y), weight))
    np.testing.assert_array_equal(weighted.model_.feature, plain.model_.feature)
    np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X), atol=1e-9)


@every_variant
@some_examples
@given(seed=SEEDS, K=st.integers(2, 6))
def test_probabilities_are_probabilities(make, seed, K):
    X, y = table(seed, n=80, K=K, missing=0.1)
    proba = make(n_estimators=10, learning_rate=1.0).fit(X, y).predict_proba(X)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-13)


@pytest.mark.parametrize("name", ["abc_mart", "abc_logitboost", "aoso_pair", "aoso_vector"])
@some_examples
@given(seed=SEEDS, K=st.integers(3, 6))
def test_scores_sum_to_zero(name, seed, K):
    X, y = table(seed, n=80, K=K, missing=0.1)
    parameters = {"warmup": 0} if name.startswith("abc") else {}  # warm-up rounds are plain
    model = VARIANTS[name](n_estimators=8, **parameters).fit(X, y)
    for scores in model.staged_decision_function(X):
        np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-10)


@every_variant
@pytest.mark.parametrize("K", [2, 3, 5])
def test_names_of_the_classes_do_not_matter(make, K):
    X, y = table(0, n=90, K=K)
    names = np.array([f"class {k}" for k in range(K)])
    model, named = make().fit(X, y), make().fit(X, names[y])
    assert_same_model(named.model_, model.model_)
    np.testing.assert_array_equal(named.predict(X), names[model.predict(X)])


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("make", UNORDERED.values(), ids=UNORDERED)
@pytest.mark.parametrize("K", [2, 3, 5])
def test_order_of_the_classes_does_not_matter(make, K, seed):
    X, y = table(seed, n=90, K=K)
    w = uneven_weights(seed, len(y))
    places = np.random.default_rng(seed).permutation(K)
    here = make(n_estimators=4).fit(X, y, sample_weight=w).predict_proba(X)
    there = make(n_estimators=4).fit(X, places[y], sample_weight=w).predict_proba(X)
    np.testing.assert_allclose(there[:, places], here, atol=1e-6)


def loss_before_the_first_round(make, y):
    """Of three classes with scores zero; the logistic family starts with the class frequencies."""
    if make.func is edgewise.OrdinalBoostClassifier:  # two thresholds, at their frequencies
        above = np.array([(y > k).mean() for k in range(2)])
        return -(above * np.log(above) + (1 - above) * np.log(1 - above)).sum()
    if make.func is edgewise.MultiLabelBoostClassifier:
        shares = np.bincount(y) / len(y)
        return -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).mean()
    if make in LOGISTIC_VARIANTS.values():
        frequencies = np.bincount(y) / len(y)
        return -(frequencies * np.log(frequencies)).sum()
    return 2 / 3 if make is VARIANTS["softmax_exact"] else 1.0


@every_drawless_variant
@some_examples
@given(seed=SEEDS)
def test_training_loss_falls(make, seed):
    X, y = table(seed, n=80, K=3, missing=0.1)
    loss = make(learning_rate=0.1, n_estimators=10).fit(X, y).history_["loss"]
    assert (np.diff(loss) < 1e-12).all()
    assert loss[0] < loss_before_the_first_round(make, y)


MIRRORED = {name: make for name, make in DRAWLESS_VARIANTS.items() if name != "samme"}


@pytest.mark.parametrize("make", MIRRORED.values(), ids=MIRRORED)
def test_two_classes_move_against_each_other(make, seed):
    X, y = table(seed, n=80, K=2)
    model = make().fit(X, y)
    scores = model.model_.scores(X, 1)
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], atol=1e-12)


@pytest.mark.usefixtures("nothing_is_negligible")
def test_second_order_algorithms_agree_on_two_classes(seed):
    X, y = table(seed, n=100, K=2, missing=0.1)
    w = uneven_weights(seed, len(y))
    names = ["logitboost", "abc_logitboost", "aoso_pair", "aoso_vector"]
    first, *others = (
        VARIANTS[name]().fit(X, y, sample_weight=w).decision_function(X) for name in names
    )
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-6)


@every_variant
def test_rare_class_is_learned(make):
    X, y = table(0, n=200, K=2, noise=0.0)
    X[0], y[0] = 50.0, 2  # one row of a third class, far away
    model = make(n_estimators=300, learning_rate=1.0).fit(X, y)
    assert model.predict(X[:1]) == 2

"""Soft labels: rows of probabilities in the place of labels."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from support import LOGISTIC_VARIANTS, VARIANTS, assert_same_model, fitted_attributes, table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError

every_variant = pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS)
fast = partial(edgewise.LogitBoostClassifier, n_estimators=5, min_samples_leaf=1)
X, Y = table(0, n=150, K=3)
ONE_HOT = np.eye(3)[Y]


def soft(seed, n=150, K=3):
    """Probabilities (n, K), some of them zero."""
    q = np.random.default_rng(seed).dirichlet(np.full(K, 0.5), size=n)
    q[q < 0.05] = 0.0
    return q / q.sum(axis=1, keepdims=True)


def copies(q, weights=None):
    """The rows that stand for soft labels, and their labels and weights."""
    row, label = np.nonzero(q)
    w = q[row, label] * (1.0 if weights is None else weights[row])
    return row, label, w


# --- what they mean -------------------------------------------------------------------------------


@every_variant
@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_of_one_are_labels(make, weighted):
    w = np.linspace(0.5, 2.0, len(Y)) if weighted else None
    hard, one_hot = make().fit(X, Y, w), make().fit(X, ONE_HOT, w)
    assert_same_model(one_hot.model_, hard.model_)
    assert one_hot.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(one_hot.predict_proba(X), hard.predict_proba(X))


@pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS)
def test_a_row_is_a_copy_for_every_class(make):
    q = soft(1)
    row, label, w = copies(q)
    model = make().fit(X, q)
    expected = make().fit(X[row], label, w)
    assert_same_model(model.model_, expected.model_)


@pytest.mark.parametrize("name", ["mh_tree", "mh_one_vs_all", "softmax_exact"])
def test_voters_see_copies_too(name):
    q = soft(2)
    row, label, w = copies(q)
    make = partial(VARIANTS[name], max_leaf_nodes=5)
    assert_same_model(make().fit(X, q).model_, make().fit(X[row], label, w).model_)


def test_the_loss_is_the_cross_entropy():
    q = soft(3)
    model = fast().fit(X, q)
    entropy = -(q * np.log(model.predict_proba(X))).sum(axis=1).mean()
    assert model.history_["loss"][-1] == pytest.approx(entropy, rel=1e-6)


def test_distillation_finds_the_teacher():
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(2000, 4))
    y = (Z[:, 0] + 0.5 * Z[:, 1] + rng.logistic(size=2000) > 0).astype(int)
    teacher = LogisticRegression().fit(Z, y).predict_proba(Z)
    options = {"n_estimators": 100, "learning_rate": 0.1}
    student = edgewise.LogitBoostClassifier(**options).fit(Z, teacher)
    alone = edgewise.LogitBoostClassifier(**options).fit(Z, y)
    new = rng.normal(size=(2000, 4))
    wanted = LogisticRegression().fit(Z, y).predict_proba(new)

    def distance(model):
        return np.abs(model.predict_proba(new) - wanted).mean()

    assert distance(student) < 0.4 * distance(alone)


def test_leaves_hold_rows_not_copies():
    q = np.full((150, 3), 1 / 3)
    q[:, 0] += np.where(X[:, 0] > 0, 0.3, -0.3)
    q /= q.sum(axis=1, keepdims=True)
    model = fast(min_samples_leaf=40).fit(X, q)
    leaves = np.zeros((150, model.model_.n_trees), dtype=np.int32)
    model.model_.forest.apply(X, 0, model.model_.n_trees, leaves, 1)
    for column in leaves.T:
        assert np.bincount(column).min() >= 40


# --- forms of y -----------------------------------------------------------------------------------


def test_columns_of_a_frame_name_the_classes():
    q = soft(5)
    frame = pd.DataFrame(q, columns=["dog", "ant", "cat"])
    model = fast().fit(X, frame)
    assert model.classes_.tolist() == ["ant", "cat", "dog"]
    expected = fast().fit(X, q[:, [1, 2, 0]])
    assert_same_model(model.model_, expected.model_)
    assert_same_model(fast().fit(X, pl.from_pandas(frame)).model_, expected.model_)
    assert set(model.predict(X)) <= {"ant", "cat", "dog"}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_probabilities_in_other_precisions(dtype):
    q = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.0, 0.5, 0.5]])[np.arange(150) % 3]
    assert_same_model(fast().fit(X, q.astype(dtype)).model_, fast().fit(X, q).model_)
    assert_same_model(fast().fit(X, q.tolist()).model_, fast().fit(X, q).model_)


@pytest.mark.parametrize("validation", ["soft", "hard"])
def test_validation_labels_may_be_soft(validation):
    q = 0.8 * ONE_HOT + 0.2 * soft(6)
    given = q[100:] if validation == "soft" else Y[100:]
    model = fast(n_iter_no_change=20).fit(X[:100], q[:100], X_val=X[100:], y_val=given)
    target = q[100:] if validation == "soft" else ONE_HOT[100:]
    entropy = (target * np.log(model.predict_proba(X[100:]))).sum(axis=1).mean()
    assert model.history_["validation_score"].max() == pytest.approx(entropy, rel=1e-9)


def test_held_out_rows_are_held_out_with_all_their_copies():
    q = 0.8 * ONE_HOT + 0.2 * soft(6)
    settings = {"early_stopping": True, "warm_start": True, "random_state": 0}
    model = fast(n_estimators=3, **settings).fit(X, q)
    assert len(model.history_["validation_score"]) == 3


def test_rounds_are_found_with_soft_labels():
    certain, labels = (edgewise.MARTClassifier().fit(X, y) for y in (ONE_HOT, Y))
    assert certain.n_iter_ == labels.n_iter_ > 0
    np.testing.assert_array_equal(certain.predict_proba(X), labels.predict_proba(X))
    assert edgewise.MARTClassifier().fit(X, 0.8 * ONE_HOT + 0.2 * soft(6)).n_iter_ > 0


def test_class_weights():
    q = soft(8)
    weights = {0: 1.0, 1: 3.0, 2: 0.5}
    row, label, w = copies(q)
    model = fast(class_weight=weights).fit(X, q)
    expected = fast().fit(X[row], label, w * np.array([1.0, 3.0, 0.5])[label])
    assert_same_model(model.model_, expected.model_)
    balanced = fast(class_weight="balanced").fit(X, ONE_HOT)
    assert_same_model(balanced.model_, fast(class_weight="balanced").fit(X, Y).model_)


def test_rows_of_weight_zero_do_not_count():
    q, w = soft(9), np.ones(150)
    w[::3] = 0.0
    kept = fast().fit(X[w > 0], q[w > 0])
    assert_same_model(fast().fit(X, q, w).model_, kept.model_)


def test_integers_stay_indicators():
    labels = ONE_HOT.astype(int)
    labels[0] = 1
    model = edgewise.AdaBoostMHClassifier(n_estimators=2).fit(X, labels)
    assert model.multi_label_
    as_floats = edgewise.AdaBoostMHClassifier(n_estimators=2).fit(X, labels.astype(float))
    assert as_floats.multi_label_  # a row with three labels is no distribution
    assert not edgewise.AdaBoostMHClassifier(n_estimators=2).fit(X, ONE_HOT).multi_label_


def test_a_warm_start_resumes_with_soft_labels():
    q = soft(10)
    once = fast(n_estimators=6).fit(X, q)
    twice = fast(n_estimators=2, warm_start=True).fit(X, q).set_params(n_estimators=6).fit(X, q)
    assert_same_model(twice.model_, once.model_)


# --- errors ---------------------------------------------------------------------------------------


def changed(place, value):
    q = soft(11)
    q[place] = value
    return q


BAD = {
    "sum": (changed((4, 0), 0.9), ["row", "4", "sum 1"]),
    "negative": (changed(3, [-0.5, 1.0, 0.5]), ["Row 3", "from 0 to 1"]),
    "nan": (changed((2, 1), np.nan), ["Row 2", "nan"]),
    "class without rows": (np.column_stack([soft(12), np.zeros(150)]), ["Class 3 has none"]),
}


@pytest.mark.parametrize(("q", "words"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("estimator", [edgewise.MARTClassifier, edgewise.AdaBoostMHClassifier])
def test_what_is_no_distribution_is_refused(estimator, q, words):
    model = estimator(n_estimators=2)
    with pytest.raises(InvalidDataError) as caught:
        model.fit(X, q)
    for word in words:
        assert word.lower() in str(caught.value).lower()
    assert fitted_attributes(model) == set()


def test_validation_labels_of_other_classes_are_refused():
    with pytest.raises(InvalidDataError, match="y_val must have a column for each of the classes"):
        fast().fit(X, soft(13), X_val=X, y_val=soft(13, K=4))
    with pytest.raises(InvalidParameterError, match="class_weight.*'x'"):
        fast(class_weight={"x": 2.0}).fit(X, soft(13))


def test_martiboost_takes_labels_only():
    with pytest.raises(ValueError, match="1d"):
        edgewise.MartiBoostClassifier().fit(X, ONE_HOT)

"""Ordinal boosting: its derivatives, its order of classes, its probabilities, its refusals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_iris
from support import assert_same_model, table, uneven_weights

import edgewise
from edgewise import OrdinalBoostClassifier
from edgewise.export import to_c, to_onnx, to_python, to_treelite
from edgewise.ordinal_boost import margins_of, scores_of
from edgewise.reference.ordinal_boost import all_threshold, probabilities, to_scores

NAMES = np.array(["low", "medium", "high"])
FAST = {"n_estimators": 10, "learning_rate": 0.3, "max_leaf_nodes": 6, "min_samples_leaf": 1}
PULLS = pytest.mark.parametrize("pull", [0.0, 0.01, 3.0, float("inf")])


@pytest.mark.parametrize("K", [2, 3, 6])
def test_derivatives_of_the_loss_are_those_of_finite_differences(K):
    rng = np.random.default_rng(K)
    F = rng.normal(size=(20, K - 1)) * 3
    b = rng.choice([-1.0, 1.0], size=F.shape)
    _, gradient, hessian = all_threshold(b, F)
    for k in range(K - 1):
        step = 1e-4 * np.eye(K - 1)[k]
        down, at, up = (all_threshold(b, F + s * step)[0] for s in (-1, 0, 1))
        np.testing.assert_allclose(gradient[:, k], (up - down) / 2e-4, atol=1e-7)
        np.testing.assert_allclose(hessian[:, k], (up - 2 * at + down) / 1e-8, atol=1e-6)


def test_scores_and_margins_are_each_other_in_any_order():
    rng = np.random.default_rng(0)
    F, order = rng.normal(size=(30, 4)), rng.permutation(5)
    S = scores_of(F, order)
    np.testing.assert_allclose(margins_of(S, order), F, atol=1e-14)
    np.testing.assert_allclose(S[:, order], to_scores(F), atol=1e-14)


@PULLS
def test_probabilities_are_those_of_the_reference_and_labels_their_median(pull):
    X, y = table(3, n=300, K=5, missing=0.1)
    model = OrdinalBoostClassifier(pull=pull, **FAST).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba, probabilities(model.model_.scores(X, 1)), atol=1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-14)
    assert proba.min() >= 0
    falling = (np.diff(margins_of(model.model_.scores(X, 1), model.order_)) <= 0).all(axis=1)
    assert falling.mean() > 0.5
    median = (proba.cumsum(axis=1) < 0.5).sum(axis=1)
    np.testing.assert_array_equal(model.predict(X)[falling], median[falling])


def test_two_classes_are_logitboost():
    X, y = table(1, n=200, K=2)
    ordinal = OrdinalBoostClassifier(pull=0.0, **FAST).fit(X, y)
    logit = edgewise.LogitBoostClassifier(**FAST).fit(X, y)
    np.testing.assert_allclose(ordinal.predict_proba(X), logit.predict_proba(X), atol=1e-6)


def test_proportional_odds_have_one_score_and_ordered_thresholds():
    X, y = table(5, n=300, K=6, noise=0.6)
    model = OrdinalBoostClassifier(pull=float("inf"), **(FAST | {"n_estimators": 40})).fit(X, y)
    for scores in model.model_.staged_scores(X, 1):
        gaps = -np.diff(np.diff(scores))  # theta_{k+1} - theta_k, the same in every row
        assert np.ptp(gaps, axis=0).max() < 1e-10
        assert gaps.min() >= 0


def test_thresholds_of_proportional_odds_come_to_their_optimum():
    X, y = table(6, n=400, K=4, noise=0.5)
    model = OrdinalBoostClassifier(pull=float("inf"), **(FAST | {"n_estimators": 60})).fit(X, y)
    F = np.diff(model.model_.scores(X, 1))
    b = np.where(y[:, None] > np.arange(3), 1.0, -1.0)
    best = minimize(lambda d: all_threshold(b, F + d)[0].mean(), np.zeros(3))
    assert all_threshold(b, F)[0].mean() < best.fun + 1e-3


@pytest.mark.parametrize(("noise", "large"), [(0.1, True), (0.5, False)])
def test_the_size_of_trees_is_the_better_one_on_held_out_rows(noise, large):
    X, y = table(8, n=600, K=4, noise=noise)
    sizes = {True: 20, False: 6}
    fits = {
        size: OrdinalBoostClassifier(max_leaf_nodes=leaves).fit(X, y)
        for size, leaves in sizes.items()
    }
    scores = {size: fit.history_["validation_score"].max() for size, fit in fits.items()}
    assert max(scores, key=scores.get) is large
    chosen = OrdinalBoostClassifier().fit(X, y)
    assert_same_model(chosen.model_, fits[large].model_)
    np.testing.assert_array_equal(
        chosen.history_["validation_score"], fits[large].history_["validation_score"]
    )


def test_without_held_out_rows_trees_are_large():
    X, y = table(8, n=600, K=4, noise=0.5)
    fixed = OrdinalBoostClassifier(n_estimators=5).fit(X, y)
    large = OrdinalBoostClassifier(n_estimators=5, max_leaf_nodes=20).fit(X, y)
    assert_same_model(fixed.model_, large.model_)


@PULLS
def test_an_explicit_order_is_that_of_numbers(pull):
    X, y = table(2, n=200, K=3, missing=0.1)
    w = uneven_weights(0, len(y))
    numbers = OrdinalBoostClassifier(pull=pull, **FAST).fit(X, y, sample_weight=w)
    named = OrdinalBoostClassifier(order=list(NAMES), pull=pull, **FAST)
    named.fit(X, NAMES[y], sample_weight=w)
    assert named.classes_.tolist() == ["high", "low", "medium"]
    assert named.classes_[named.order_].tolist() == NAMES.tolist()
    np.testing.assert_array_equal(named.predict(X), NAMES[numbers.predict(X)])
    np.testing.assert_array_equal(named.predict_proba(X)[:, named.order_], numbers.predict_proba(X))


@PULLS
def test_the_reverse_order_is_the_mirror_image(pull):
    X, y = table(4, n=200, K=4)
    up = OrdinalBoostClassifier(pull=pull, **FAST).fit(X, y)
    down = OrdinalBoostClassifier(order=[3, 2, 1, 0], pull=pull, **FAST).fit(X, y)
    np.testing.assert_allclose(up.predict_proba(X), down.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("column", ["series", "categorical", "polars"])
def test_ordered_categoricals_bring_their_order(column):
    X, y = table(2, n=200, K=3)
    kinds = ["never", *NAMES]
    given = pd.Categorical(NAMES[y], categories=kinds, ordered=True)
    if column == "series":
        given = pd.Series(given)
    if column == "polars":
        given = pl.Series(NAMES[y].tolist(), dtype=pl.Enum(kinds))
    model = OrdinalBoostClassifier(**FAST).fit(X, given)
    expected = OrdinalBoostClassifier(order=list(NAMES), **FAST).fit(X, NAMES[y])
    assert_same_model(model.model_, expected.model_)
    assert model.order_.tolist() == expected.order_.tolist()


def test_unordered_categoricals_are_sorted():
    X, y = table(2, n=200, K=3)
    model = OrdinalBoostClassifier(**FAST).fit(X, pd.Series(NAMES[y], dtype="category"))
    assert model.order_.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (["low", "high"], "must name every class of y. It misses 'medium'"),
        (["low", "medium", "high", "low"], "must name every class once. Got 'low' twice"),
        (["low"], "a list of two labels or more"),
        ("low", "a list of two labels or more"),
    ],
)
def test_an_order_that_is_none_is_refused(order, words):
    X, y = table(2, n=60, K=3)
    with pytest.raises(ValueError, match=words):
        OrdinalBoostClassifier(order=order, **FAST).fit(X, NAMES[y])


def test_labels_of_the_order_that_do_not_occur_are_passed_over():
    X, y = table(2, n=60, K=3)
    model = OrdinalBoostClassifier(order=["none", *NAMES, "most"], **FAST).fit(X, NAMES[y])
    assert model.classes_[model.order_].tolist() == NAMES.tolist()


def test_one_class_is_refused():
    with pytest.raises(edgewise.InvalidDataError, match="at least two classes"):
        OrdinalBoostClassifier().fit(np.zeros((5, 1)), np.ones(5, dtype=int))


@pytest.mark.parametrize("pull", [-1.0, float("nan"), "strong"])
def test_a_pull_that_is_none_is_refused(pull):
    X, y = table(2, n=60, K=3)
    with pytest.raises(edgewise.InvalidParameterError, match="at least 0, or infinity"):
        OrdinalBoostClassifier(pull=pull).fit(X, y)


def test_monotone_constraints_hold_for_all_thresholds():
    X, y = table(7, n=300, K=4, noise=0.6)
    free, bound = (
        OrdinalBoostClassifier(pull=float("inf"), monotonic_cst=cst, **FAST).fit(X, y)
        for cst in (None, {0: 1})
    )

    def falls(model):
        rows = np.repeat(X[:40], 50, axis=0)
        rows[:, 0] = np.tile(np.linspace(-3, 3, 50), 40)
        above = 1 - model.predict_proba(rows).cumsum(axis=1)[:, :-1]
        return np.diff(above.reshape(40, 50, -1), axis=1).min()

    assert falls(free) < -1e-3
    assert falls(bound) > -1e-12


@pytest.mark.parametrize(
    ("cst", "words"), [({0: 1}, "needs pull=float"), ({0: {1: 1}}, "-1, 0 or 1 for a column")]
)
def test_monotone_constraints_that_cannot_hold_are_refused(cst, words):
    X, y = table(7, n=60, K=3)
    with pytest.raises(edgewise.InvalidParameterError, match=words):
        OrdinalBoostClassifier(monotonic_cst=cst, **FAST).fit(X, y)


def test_model_files_keep_the_order(tmp_path):
    X, y = table(2, n=200, K=3)
    model = OrdinalBoostClassifier(order=list(NAMES), **FAST).fit(X, NAMES[y])
    model.save(tmp_path / "model")
    loaded = edgewise.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.order_.tolist() == model.order_.tolist()


@pytest.mark.parametrize("order", [[0, 0, 1], [0, 1], [0, 1, 3]])
def test_model_files_with_a_wrong_order_are_refused(order, tmp_path):
    X, y = table(2, n=100, K=3)
    model = OrdinalBoostClassifier(**FAST).fit(X, y)
    model.order_ = np.array(order)
    with pytest.raises(edgewise.ModelFormatError, match="every class once"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize("export", [to_c, to_onnx, to_python, to_treelite])
def test_exports_are_refused_in_clear_words(export):
    model = OrdinalBoostClassifier(**FAST).fit(*load_iris(return_X_y=True))
    with pytest.raises(edgewise.ModelFormatError, match="OrdinalBoostClassifier cannot be"):
        export(model)


def test_a_warm_start_keeps_the_order():
    X, y = table(2, n=100, K=3)
    model = OrdinalBoostClassifier(warm_start=True, **FAST).fit(X, y)
    with pytest.raises(edgewise.InvalidParameterError, match="that of the fit"):
        model.set_params(order=[2, 1, 0], n_estimators=12).fit(X, y)


def test_shapley_values_of_neighbouring_classes_explain_the_odds_between_them():
    X, y = table(2, n=100, K=4)
    model = OrdinalBoostClassifier(**FAST).fit(X, y)
    scores = model.shap_values(X).sum(axis=1) + model.shap_start_
    above = 1 - model.predict_proba(X).cumsum(axis=1)[:, :-1]
    margins = np.diff(scores)
    falling = (np.diff(margins) <= 0).all(axis=1)
    np.testing.assert_allclose(expit(margins)[falling], above[falling], atol=1e-9)


def test_the_absolute_error_is_below_that_of_a_booster_without_order():
    """On a score with noise, where proportional odds are the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 5))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + rng.logistic(size=3000) * 0.5
    y = np.searchsorted([-2.0, -1.0, 0.0, 1.0, 2.0], score)
    train, test = slice(1000), slice(1000, None)
    cost = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    ordinal = OrdinalBoostClassifier(pull=float("inf")).fit(X[train], y[train])
    plain = edgewise.LogitBoostClassifier().fit(X[train], y[train])
    by_cost = edgewise.minimum_cost_labels(plain.predict_proba(X[test]), cost, plain.classes_)
    assert np.abs(ordinal.predict(X[test]) - y[test]).mean() < np.abs(by_cost - y[test]).mean()

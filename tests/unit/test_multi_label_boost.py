"""Multi-label boosting: indicator matrices, rules from probabilities to labels, sparse leaves."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score, hamming_loss
from sklearn.multioutput import ClassifierChain
from support import assert_same_model

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, ModelFormatError, export
from edgewise._families import label_rules
from edgewise._families.label_rules import Counts, LabelRule, chosen_rule, fitted, score_of

L = 8
X, Y = make_multilabel_classification(n_samples=300, n_classes=L, n_labels=2, random_state=0)
NAMES = [f"label {k}" for k in range(L)][::-1]
FAST = {"n_estimators": 15, "max_leaf_nodes": 8, "min_samples_leaf": 1, "random_state": 0}
METRICS = {
    "micro_f1": lambda t, p: f1_score(t, p, average="micro"),
    "macro_f1": lambda t, p: f1_score(t, p, average="macro", zero_division=1),
    "hamming": lambda t, p: -hamming_loss(t, p),
}


def fit(X=X, Y=Y, **params):
    weights = params.pop("sample_weight", None)
    model = edgewise.MultiLabelBoostClassifier(**FAST | params)
    return model.fit(X, Y, sample_weight=weights)


# --- the booster --------------------------------------------------------------------------------


def test_learns_labels_better_than_their_frequencies():
    half = np.arange(len(X)) % 2 == 0
    model = fit(X[half], Y[half], n_estimators=40)
    proba, frequency = model.predict_proba(X[~half]), Y[half].mean(axis=0)
    true = Y[~half]

    def loss(p):
        return -np.log(np.where(true, p, 1 - p)).mean()

    assert proba.shape == true.shape
    assert loss(proba) < 0.9 * loss(np.broadcast_to(frequency, true.shape))


def test_the_loss_of_the_story_is_that_of_the_training_rows():
    w = np.random.default_rng(0).uniform(0.2, 2.0, len(X))
    model = fit(sample_weight=w)
    p = model.predict_proba(X)
    by_row = -np.log(np.where(Y, p, 1 - p)).mean(axis=1)
    np.testing.assert_allclose(model.history_["loss"][-1], np.average(by_row, weights=w), rtol=1e-9)
    assert (np.diff(model.history_["loss"]) < 0).all()


@pytest.mark.parametrize("params", [{}, {"sketch": 3}, {"leaf_labels": 2}, {"pull": 0.0}])
def test_a_weight_of_two_is_a_row_twice(params):
    w = np.arange(len(X)) % 3
    weighted = fit(sample_weight=w, **params)
    repeated = fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0), **params)
    np.testing.assert_allclose(
        weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-10, atol=1e-12
    )


@pytest.mark.parametrize("params", [{}, {"sketch": 3, "leaf_labels": 3}, {"subsample": 0.6}])
def test_threads_and_order_of_rows_change_no_bit(params):
    order = np.random.default_rng(1).permutation(len(X))
    one, two = fit(n_jobs=1, **params), fit(X[order], Y[order], n_jobs=2, **params)
    assert_same_model(one.model_, two.model_)
    assert one.history_["loss"].tolist() == two.history_["loss"].tolist()


def test_a_warm_start_resumes_with_the_same_bits():
    whole = fit(sketch=3)
    resumed = fit(sketch=3, n_estimators=6, warm_start=True)
    resumed.set_params(n_estimators=15).fit(X, Y)
    assert_same_model(whole.model_, resumed.model_)
    assert whole.history_["loss"].tolist() == resumed.history_["loss"].tolist()


def test_sparse_matrices_say_the_same_as_dense_ones():
    whole = np.where(np.median(X) > X, 0.0, X)
    dense = fit(whole, Y)
    loose = fit(sparse.csr_matrix(whole), sparse.csr_matrix(Y))
    assert_same_model(dense.model_, loose.model_)
    np.testing.assert_array_equal(dense.predict(whole), loose.predict(sparse.csr_matrix(whole)))


def test_leaves_move_the_labels_that_gain_most():
    few, all_of_them = fit(leaf_labels=2), fit(leaf_labels=None)
    assert set(few.model_.width.tolist()) == {2}
    assert set(all_of_them.model_.width.tolist()) == {L}
    assert few.history_["loss"][-1] > all_of_them.history_["loss"][-1]
    leaves = few.model_.classes.reshape(-1, 2)
    assert (leaves[:, 0] < leaves[:, 1]).all()


def test_pull_leaves_noise_alone():
    noise = np.random.default_rng(3).normal(size=(len(X), 5))
    steps = [np.abs(fit(noise, Y, pull=pull).model_.values).mean() for pull in (0.0, 1.0)]
    assert steps[1] < 0.9 * steps[0]
    with pytest.warns(edgewise.FitWarning):
        assert fit(noise, Y, pull=1000.0).n_iter_ == 0


def test_missing_values_and_categories():
    frame = pd.DataFrame(X).add_prefix("x")
    frame.loc[::5, "x0"] = np.nan
    frame["word"] = np.where(Y[:, 0] == 1, "has it", "has it not")
    model = fit(frame, Y, n_estimators=30)
    assert (model.predict(frame)[:, 0] == Y[:, 0]).mean() > 0.99
    assert model.predict_proba(frame.iloc[:3]).shape == (3, L)


def test_labels_that_exclude_each_other_are_boosted_one_against_the_rest():
    y = np.array(["a", "b", "c"])[np.arange(len(X)) % 3]
    model = fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert set(model.predict(X)) <= set("abc")


def test_a_label_that_all_rows_have_is_likely_everywhere():
    always = Y.copy()
    always[:, 0] = 1
    assert (fit(X, always).predict_proba(X)[:, 0] > 0.95).all()


def test_early_stopping_with_validation_rows_and_a_time_limit():
    half = np.arange(len(X)) % 2 == 0
    model = edgewise.MultiLabelBoostClassifier(n_estimators=300, n_iter_no_change=5)
    model.fit(X[half], Y[half], X_val=X[~half], y_val=Y[~half])
    assert model.stop_reason_ == "early stopping"
    assert model.n_iter_ == 1 + int(model.history_["validation_score"].argmax())
    brief = fit(n_estimators=100_000, time_limit=1e-6)
    assert brief.stop_reason_ == "time limit"
    assert brief.n_iter_ == 1


def test_the_number_of_rounds_is_found_on_held_out_rows():
    model = edgewise.MultiLabelBoostClassifier(
        n_iter_no_change=5, learning_rate=0.3, random_state=0
    )
    model.fit(X, Y)
    assert 0 < model.n_iter_ < 500
    assert model.decision_rule_ in label_rules.KINDS
    p = model.predict_proba(X)
    rule = LabelRule(model.decision_rule_, model.thresholds_, model.count_factor_)
    np.testing.assert_array_equal(model.predict(X), rule.labels(p))


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame(Y, columns=NAMES), pl.DataFrame(Y, NAMES)])
def test_labels_have_the_names_of_columns(frame, tmp_path):
    model, plain = fit(X, frame), fit()
    assert model.classes_.tolist() == NAMES
    assert plain.classes_.tolist() == list(range(L))
    assert_same_model(model.model_, plain.model_)
    labels, _ = model.predict_top_k(X[:5], 2)
    np.testing.assert_array_equal(labels, np.array(NAMES)[plain.predict_top_k(X[:5], 2)[0]])
    model.save(tmp_path / "model")
    loaded = edgewise.load(tmp_path / "model")
    assert loaded.classes_.tolist() == NAMES
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_names_are_kept_by_adaboost_mh_too():
    model = edgewise.AdaBoostMHClassifier(n_estimators=3).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert model.classes_.tolist() == NAMES


def test_names_that_are_wrong():
    frame = pd.DataFrame(Y, columns=NAMES)
    with pytest.raises(InvalidDataError, match="different names. Got 'a' twice"):
        fit(X, pd.DataFrame(Y, columns=[*"abcdefg", "a"]))
    model = edgewise.MultiLabelBoostClassifier(n_estimators=3)
    with pytest.raises(InvalidDataError, match="columns of y_val must be those of y in the fit"):
        model.fit(X, frame, X_val=X, y_val=frame[NAMES[::-1]])


# --- rules ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_counts_give_the_metrics_of_scikit_learn(metric):
    rng = np.random.default_rng(0)
    said, true = rng.random((2, 200, 5)) < 0.3
    counts = Counts(*(part.sum(axis=0).astype(float) for part in (said & true, said, true)))
    score = score_of(metric, counts)
    if metric == "hamming":
        score = score / said.size
    np.testing.assert_allclose(score, METRICS[metric](true, said))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", label_rules.KINDS)
def test_a_rule_is_the_best_of_its_kind(metric, kind):
    """Against every rule of the kind, one threshold or factor after the other."""
    rng = np.random.default_rng(5)
    proba = rng.random((120, 3)) * np.array([0.9, 0.5, 0.2])
    true = rng.random(proba.shape) < proba
    score = METRICS[metric]
    rule = fitted(kind, metric, proba, true, np.ones(len(proba)))
    reached = score(true, rule.labels(proba))
    if kind == "common threshold":
        others = [rule._replace(thresholds=np.full(3, t)) for t in label_rules.GRID]
    elif kind == "label thresholds":
        others = [
            rule._replace(thresholds=np.where(np.arange(3) == k, t, rule.thresholds))
            for k in range(3)
            for t in label_rules.GRID
        ]
    elif kind == "row count":
        others = [rule._replace(factor=float(f)) for f in label_rules.FACTORS]
    else:
        others = [label_rules.halves(3)]
    assert rule.kind == kind
    assert reached >= max(score(true, other.labels(proba)) for other in others) - 1e-12


def test_the_row_count_takes_the_most_probable_labels():
    proba = np.array([[0.9, 0.8, 0.1], [0.2, 0.2, 0.2], [0.1, 0.1, 0.1], [1.0, 1.0, 1.0]])
    rule = LabelRule("row count", np.full(3, 0.5), 1.0)
    assert rule.labels(proba).astype(int).tolist() == [
        [1, 1, 0],  # sum 1.8
        [1, 0, 0],  # sum 0.6; the lower of equal ones
        [0, 0, 0],  # sum 0.3
        [1, 1, 1],
    ]


def test_weights_of_rows_count_in_the_choice():
    rng = np.random.default_rng(6)
    proba = rng.random((90, 4))
    true = rng.random(proba.shape) < proba**2
    w = rng.integers(1, 4, size=len(proba))
    for kind in label_rules.KINDS:
        weighted = fitted(kind, "micro_f1", proba, true, w.astype(float))
        repeated = fitted(
            kind, "micro_f1", np.repeat(proba, w, 0), np.repeat(true, w, 0), np.ones(w.sum())
        )
        np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)
        assert weighted.factor == repeated.factor


def test_few_rows_choose_no_rule():
    proba = np.full((5, 3), 0.3)
    assert chosen_rule("micro_f1", proba, proba > 0.1, None).kind == "half"


@pytest.mark.parametrize("metric", METRICS)
def test_decisions_raise_their_metric_on_new_rows(metric):
    """Labels at one half against those of the rule, on rows that neither has seen."""
    A, B = make_multilabel_classification(
        n_samples=1500, n_classes=12, n_labels=2, n_features=20, random_state=1
    )
    B = B[:, B[:500].any(axis=0)]
    plain = fit(A[:500], B[:500], decision="half", n_estimators=25)
    ruled = fit(A[:500], B[:500], decision=metric, n_estimators=25)
    np.testing.assert_array_equal(plain.predict_proba(A), ruled.predict_proba(A))
    assert plain.decision_rule_ == "half"
    gain = METRICS[metric](B[500:], ruled.predict(A[500:])) - METRICS[metric](
        B[500:], plain.predict(A[500:])
    )
    assert gain > (-0.002 if metric == "hamming" else 0.02)


def test_without_held_out_rows_labels_are_those_above_one_half():
    model = fit()
    assert model.decision_rule_ == "half"
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_validation_rows_choose_the_rule():
    half = np.arange(len(X)) % 2 == 0
    model = edgewise.MultiLabelBoostClassifier(**FAST, decision="micro_f1", early_stopping=False)
    model.set_params(calibration=None)
    model.fit(X[half], Y[half], X_val=X[~half], y_val=Y[~half])
    assert model.decision_rule_ in label_rules.KINDS


# --- the contract ---------------------------------------------------------------------------------


def test_in_a_chain_of_classifiers():
    """Each link is a fit to one label: two classes that exclude each other."""
    chain = ClassifierChain(edgewise.MultiLabelBoostClassifier(n_estimators=3)).fit(X, Y[:, :3])
    assert chain.predict(X).shape == (len(X), 3)


def test_tags_say_that_rows_may_have_several_labels():
    assert edgewise.MultiLabelBoostClassifier().__sklearn_tags__().classifier_tags.multi_label


def test_explanations_add_up():
    model = fit(leaf_labels=3)
    shap = model.shap_values(X[:4])
    np.testing.assert_allclose(
        shap.sum(axis=1) + model.shap_start_, model.decision_function(X[:4]), atol=1e-9
    )
    assert model.feature_importances_by_class_.shape == (L, X.shape[1])


def test_files_keep_the_rule(tmp_path):
    model = fit(decision="macro_f1")
    model.save(tmp_path / "model")
    loaded = edgewise.load(tmp_path / "model")
    assert loaded.decision_rule_ == model.decision_rule_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_exports_are_refused_with_a_message():
    with pytest.raises(ModelFormatError, match="MultiLabelBoostClassifier cannot be exported"):
        export.to_python(fit())


def test_bad_label_matrices():
    never = Y.copy()
    never[:, 3] = 0
    with pytest.raises(InvalidDataError, match="Label 3 never does"):
        fit(X, never)
    with pytest.raises(InvalidDataError, match="must hold only 0 and 1. Got 2"):
        fit(X, Y * 2)
    with pytest.raises(InvalidParameterError, match="class_weight"):
        fit(class_weight="balanced")
    with pytest.raises(InvalidParameterError, match="from 1 to 8"):
        fit().predict_top_k(X, 9)

"""Early stopping: which rows are watched, by what figure, and which round is kept."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from support import LOGISTIC, LOGISTIC_VARIANTS, VARIANTS, assert_same_model, table, uneven_weights

from edgewise import FitWarning, MARTClassifier, _core
from edgewise._boosting import base
from edgewise._data.parts import held_out_parts, n_held_out_parts
from edgewise._data.rows import Rows, stratified_split

X, Y = table(0, n=300, K=3, noise=0.25)
X_VAL, Y_VAL = table(1, n=150, K=3, noise=0.25)
LONG = {"n_estimators": 80, "n_iter_no_change": 8}
BY_LOSS = LONG | {"scoring": "loss"}


def staged_scores(model, score):
    return np.array([score(proba) for proba in model.staged_predict_proba(X_VAL)])


def minus_log_loss(proba, weights=None):
    return -log_loss(Y_VAL, proba, sample_weight=weights)


# Not SAMME, which scales its probabilities when the fit is over; nor ordinal boosting, whose labels
# are medians and not the most probable ones.
STAGED = {n: make for n, make in VARIANTS.items() if not n.startswith(("samme", "ordinal"))}
staged = pytest.mark.parametrize("make", STAGED.values(), ids=STAGED)
# Boosters that vote have losses of their own; the logistic family lowers the log loss.
logistic = pytest.mark.parametrize("make", LOGISTIC_VARIANTS.values(), ids=LOGISTIC_VARIANTS)


# --- the round that is kept -------------------------------------------------------------------


@logistic
def test_best_round_is_kept_and_watching_ends_when_patience_does(make):
    model = make(**BY_LOSS | {"learning_rate": 1.0}).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    scores = model.history_["validation_score"]
    assert model.n_iter_ == scores.argmax() + 1 == model.model_.n_rounds
    assert len(scores) == len(model.history_["loss"]) == model.n_iter_ + 8
    np.testing.assert_allclose(staged_scores(model, minus_log_loss), scores[: model.n_iter_])


def test_kept_rounds_are_those_of_a_fit_without_watching(make):
    watched = make(**LONG).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    plain = make(n_estimators=watched.n_iter_).fit(X, Y)
    assert_same_model(watched.model_, plain.model_)


@logistic
def test_predictions_are_those_of_the_best_round(make):
    model = make(**BY_LOSS).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    everything = make(n_estimators=len(model.history_["loss"])).fit(X, Y)
    scores = staged_scores(everything, minus_log_loss)
    assert minus_log_loss(model.predict_proba(X_VAL)) == pytest.approx(scores.max())
    assert len(list(model.staged_predict(X_VAL))) == model.n_iter_


def test_first_of_equal_rounds_is_kept():
    constant = VARIANTS["mart"](scoring=lambda estimator, X, y: 1.0, **LONG)
    with pytest.warns(FitWarning, match="learned nothing"):
        model = constant.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert model.n_iter_ == 0  # no round is better than none
    assert len(model.history_["loss"]) == 8
    np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(Y) / len(Y))


def test_rounds_run_out_before_patience():
    model = VARIANTS["mart"](n_estimators=3, n_iter_no_change=50)
    assert model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL).n_iter_ == 3


@pytest.mark.parametrize("patience", [1, 3, 20])
def test_patience(patience):
    model = VARIANTS["mart"](n_estimators=200, n_iter_no_change=patience)
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(model.history_["loss"]) == model.n_iter_ + patience


# --- what is watched --------------------------------------------------------------------------


@logistic
def test_loss_with_weights(make):
    w = uneven_weights(0, len(Y_VAL))
    model = make(**BY_LOSS).fit(X, Y, X_val=X_VAL, y_val=Y_VAL, sample_weight_val=w)
    expected = staged_scores(model, lambda proba: minus_log_loss(proba, w))
    np.testing.assert_allclose(model.history_["validation_score"][: model.n_iter_], expected)


@pytest.mark.parametrize(
    ("scoring", "score"),
    [
        ("accuracy", lambda proba: accuracy_score(Y_VAL, proba.argmax(axis=1))),
        ("balanced_accuracy", lambda proba: balanced_accuracy_score(Y_VAL, proba.argmax(axis=1))),
        pytest.param("neg_log_loss", minus_log_loss, id="neg_log_loss"),
    ],
)
@staged
def test_scorer_by_name(make, scoring, score):
    model = make(scoring=scoring, **LONG).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    watched = model.history_["validation_score"]
    assert model.n_iter_ == watched.argmax() + 1
    np.testing.assert_allclose(staged_scores(model, score), watched[: model.n_iter_])


def test_scorer_takes_weights():
    w = uneven_weights(0, len(Y_VAL))
    model = VARIANTS["mart"](scoring="accuracy", **LONG)
    model.fit(X, Y, X_val=X_VAL, y_val=Y_VAL, sample_weight_val=w)
    expected = staged_scores(
        model, lambda proba: accuracy_score(Y_VAL, proba.argmax(axis=1), sample_weight=w)
    )
    np.testing.assert_allclose(model.history_["validation_score"][: model.n_iter_], expected)


def test_scorer_sees_the_labels_themselves():
    names = np.array(["low", "mid", "top"])
    seen = []

    def scoring(estimator, X, y):
        seen.append((set(y), set(estimator.predict(X)), list(estimator.classes_)))
        return float((estimator.predict(X) == y).mean())

    model = VARIANTS["mart"](scoring=scoring, **LONG)
    model.fit(X, names[Y], X_val=X_VAL, y_val=names[Y_VAL])
    labels, predicted, classes = seen[-1]
    assert labels == set(names)
    assert predicted <= set(names)
    assert classes == list(names)
    assert model.n_iter_ > 0


@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision", "f1"])
def test_two_classes(make, scoring):
    X, y = table(3, n=200, K=2)
    X_val, y_val = table(4, n=100, K=2)
    model = make(scoring=scoring, **LONG).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.n_iter_ == model.history_["validation_score"].argmax() + 1


@logistic
def test_loss_of_two_classes(make):
    X, y = table(3, n=200, K=2)
    X_val, y_val = table(4, n=100, K=2)
    model = make(**BY_LOSS).fit(X, y, X_val=X_val, y_val=y_val)
    watched = model.history_["validation_score"]
    losses = [-log_loss(y_val, proba) for proba in model.staged_predict_proba(X_val)]
    assert model.n_iter_ == watched.argmax() + 1
    np.testing.assert_allclose(losses, watched[: model.n_iter_])


def test_roc_auc_of_several_classes(make):
    model = make(scoring="roc_auc_ovr", **LONG).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert model.history_["validation_score"].max() > 0.7


# --- when and on which rows -------------------------------------------------------------------


@pytest.fixture
def seen(monkeypatch):
    """Matrices that the fit learns from and that it watches."""
    seen = {"train": [], "watched": []}
    binned, stopper = _core.BinnedData, base.Stopper

    def spy_binned(X, *args, **kwargs):
        seen["train"].append(X)
        return binned(X, *args, **kwargs)

    def spy_stopper(X, *args, **kwargs):
        seen["watched"].append(X)
        return stopper(X, *args, **kwargs)

    monkeypatch.setattr(_core, "BinnedData", spy_binned)
    monkeypatch.setattr(base, "Stopper", spy_stopper)
    return seen


def test_auto_monitors_only_given_rows(make, seen):
    make(early_stopping="auto").fit(X, Y)
    assert seen["watched"] == []
    make(early_stopping="auto").fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert len(seen["watched"]) == 1
    for matrix in (seen["train"][0], seen["train"][-1]):  # between them SAMME's short fit
        np.testing.assert_array_equal(matrix, X)


def test_false_watches_nothing(make, seen):
    model = make(early_stopping=False).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    assert seen["watched"] == []
    assert "validation_score" not in model.history_


def test_given_rows_are_watched_and_none_are_held_out(make, seen):
    make(early_stopping=True).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    watched = seen["watched"][0]  # in an order of their own
    np.testing.assert_array_equal(watched[np.lexsort(watched.T)], X_VAL[np.lexsort(X_VAL.T)])
    np.testing.assert_array_equal(seen["train"][0], X)


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_rows_are_learned_from_in_the_end(make, seen, weighted):
    numbered = np.column_stack([np.arange(len(X)), X])
    w = uneven_weights(0, len(Y)) if weighted else None
    model = make(early_stopping=True).fit(numbered, Y, sample_weight=w)
    whole = make(n_estimators=max(model.n_iter_, 1)).fit(numbered, Y, sample_weight=w)
    assert len(model.history_["validation_score"]) == model.n_iter_
    np.testing.assert_array_equal(model.predict(numbered), whole.predict(numbered))


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("fraction", [0.2, 0.1, 0.5])
def test_parts_are_held_out_in_turn(n, fraction):
    rows = Rows(X[:n], Y[:n].astype(np.int32), None)
    parts = held_out_parts(rows, fraction, None)
    assert len(parts) == min(5, round(1 / fraction))
    held = [set(map(bytes, held.X)) for _, held in parts]
    for (training, _), rest in zip(parts, held, strict=True):
        assert not set(map(bytes, training.X)) & rest
        assert len(training.X) + len(rest) == n
        assert len(rest) == pytest.approx(fraction * n, abs=3)
        assert set(training.codes) == set(Y)
    assert sum(map(len, held)) == len(set.union(*held))


def test_parts_do_not_depend_on_the_order_of_rows(make):
    order = np.random.default_rng(0).permutation(len(X))
    one = make(early_stopping=True, n_estimators=20).fit(X, Y)
    other = make(early_stopping=True, n_estimators=20).fit(X[order], Y[order])
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_parts_follow_the_random_state():
    rows = Rows(X, Y.astype(np.int32), None)
    first, again, other = (held_out_parts(rows, 0.2, state)[0][1].X for state in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_many_rows_need_few_parts():
    assert [n_held_out_parts(n, 0.2) for n in (100, 2000, 5600, 10_000, 20_000)] == [5, 5, 2, 1, 1]


def test_held_out_rows_stay_held_out_for_a_warm_start(make):
    model = make(early_stopping=True, random_state=3, warm_start=True, **LONG).fit(X, Y)
    train, held = stratified_split(Y.astype(np.int32), 0.1, 3)
    rest = make(random_state=3, **LONG).fit(X[train], Y[train], X_val=X[held], y_val=Y[held])
    assert_same_model(model.model_, rest.model_)


# --- as many rounds as held-out rows ask for ----------------------------------------------------


@pytest.mark.parametrize("classifier", LOGISTIC)
def test_rounds_are_found_by_default(classifier):
    model = classifier().fit(X, Y)
    assert model.n_estimators == "auto"
    assert 0 < model.n_iter_ < classifier._most_rounds
    assert model.stop_reason_ == "early stopping"
    given = classifier(n_estimators=model.n_iter_).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X_VAL), given.predict(X_VAL))
    every = classifier(early_stopping=False).fit(X, Y)  # all rounds, probabilities as they are
    losses = [log_loss(Y_VAL, m.predict_proba(X_VAL)) for m in (model, every)]
    assert losses[0] < losses[1] - 0.05


def test_overconfident_scores_are_scaled_down():
    model = MARTClassifier(learning_rate=0.5).fit(X, Y)
    plain = MARTClassifier(learning_rate=0.5, n_estimators=model.n_iter_).fit(X, Y)
    ratio = model.decision_function(X_VAL) / plain.decision_function(X_VAL)
    assert ratio.max() < 0.9
    np.testing.assert_allclose(ratio, ratio[0, 0])
    as_they_are = MARTClassifier(learning_rate=0.5, calibration=None).fit(X, Y)
    same = MARTClassifier(learning_rate=0.5, n_estimators=as_they_are.n_iter_).fit(X, Y)
    assert_same_model(as_they_are.model_, same.model_)


def test_a_number_of_rounds_is_taken_as_it_is(seen):
    model = MARTClassifier(n_estimators=150).fit(X, Y)
    assert model.n_iter_ == 150
    assert len(seen["train"]) == 1


def test_many_rows_get_all_rounds(monkeypatch, seen):
    monkeypatch.setattr(base, "MOST_ROWS", 299)
    assert MARTClassifier().fit(X, Y).n_iter_ == MARTClassifier._most_rounds
    assert len(seen["train"]) == 1


def test_one_row_of_each_class_gets_all_rounds_there_are():
    model = MARTClassifier().fit(np.arange(3.0)[:, np.newaxis], np.arange(3))
    assert model.predict([[0.0], [2.0]]).tolist() == [0, 2]


def test_warm_start_takes_all_rounds(seen):
    model = MARTClassifier(warm_start=True).fit(X, Y)
    assert model.n_iter_ == 200
    model.set_params(n_estimators=201).fit(X, Y)
    assert model.n_iter_ == 201


def test_time_for_trials_is_limited():
    model = MARTClassifier(time_limit=1e-9).fit(X, Y)
    assert (model.n_iter_, model.stop_reason_) == (1, "time limit")


def test_noise_is_not_learned():
    labels = np.random.default_rng(0).integers(3, size=len(X))
    with pytest.warns(FitWarning, match="no round has a better validation score"):
        model = MARTClassifier(learning_rate=1.0).fit(X, labels)
    assert model.n_iter_ == 0


# --- the split --------------------------------------------------------------------------------


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.99])
def test_split_keeps_every_class_on_both_sides(seed, fraction):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(5), [2, 3, 10, 50, 200])).astype(np.int32)
    train, held = stratified_split(codes, fraction, seed)
    np.testing.assert_array_equal(np.sort([*train, *held]), np.arange(len(codes)))
    assert set(codes[train]) == set(codes[held]) == set(range(5))
    assert (np.diff(train) > 0).all()
    assert (np.diff(held) > 0).all()
    share = np.bincount(codes[held]) / np.bincount(codes)
    assert abs(share[3:] - fraction).max() < 0.02


def test_class_of_one_row_stays_in_training():
    codes = np.array([0, 0, 0, 0, 1, 2, 2], dtype=np.int32)
    train, held = stratified_split(codes, 0.5, 0)
    assert set(codes[train]) == {0, 1, 2}
    assert set(codes[held]) == {0, 2}


def test_nothing_to_hold_out_is_a_clear_error():
    X, y = np.arange(6.0).reshape(3, 2), np.arange(3)  # one row of each class
    with pytest.raises(ValueError, match="early_stopping|validation_fraction|hold"):
        MARTClassifier(n_estimators=3, early_stopping=True).fit(X, y)

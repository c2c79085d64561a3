"""Early stopping: which rows are watched, by what figure, and which round is kept."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss
from support import VARIANTS, assert_same_model, table, uneven_weights

from edgewise import MARTClassifier, _core
from edgewise._boosting import base
from edgewise._data.rows import stratified_split

X, Y = table(0, n=300, K=3, noise=0.25)
X_VAL, Y_VAL = table(1, n=150, K=3, noise=0.25)
LONG = {"n_estimators": 80, "n_iter_no_change": 8}
BY_LOSS = LONG | {"scoring": "loss"}


def staged_scores(model, score):
    return np.array([score(proba) for proba in model.staged_predict_proba(X_VAL)])


def minus_log_loss(proba, weights=None):
    return -log_loss(Y_VAL, proba, sample_weight=weights)


# Not SAMME, which scales its probabilities when the fit is over.
STAGED = {name: make for name, make in VARIANTS.items() if not name.startswith("samme")}
staged = pytest.mark.parametrize("make", STAGED.values(), ids=STAGED)


# --- the round that is kept -------------------------------------------------------------------


@staged
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


@staged
def test_predictions_are_those_of_the_best_round(make):
    model = make(**BY_LOSS).fit(X, Y, X_val=X_VAL, y_val=Y_VAL)
    everything = make(n_estimators=len(model.history_["loss"])).fit(X, Y)
    scores = staged_scores(everything, minus_log_loss)
    assert minus_log_loss(model.predict_proba(X_VAL)) == pytest.approx(scores.max())
    assert len(list(model.staged_predict(X_VAL))) == model.n_iter_


def test_first_of_equal_rounds_is_kept():
    constant = VARIANTS["mart"](scoring=lambda estimator, X, y: 1.0, **LONG)
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


@staged
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


@staged
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


def test_auto_watches_only_what_is_given(make, seen):
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
    np.testing.assert_array_equal(seen["watched"][0], X_VAL)
    np.testing.assert_array_equal(seen["train"][0], X)


@pytest.mark.parametrize("weighted", [False, True])
def test_held_out_rows_are_never_trained_on(make, seen, weighted):
    numbered = np.column_stack([np.arange(len(X)), X])
    w = uneven_weights(0, len(Y)) if weighted else None
    make(early_stopping=True, validation_fraction=0.2, random_state=0).fit(
        numbered, Y, sample_weight=w
    )
    trained, watched = set(seen["train"][0][:, 0]), set(seen["watched"][0][:, 0])
    assert not trained & watched
    assert trained | watched == set(range(len(X)))
    assert len(watched) == pytest.approx(0.2 * len(X), abs=3)


def test_held_out_rows_follow_the_random_state(make, seen):
    for random_state in (0, 0, 1):
        make(early_stopping=True, random_state=random_state).fit(X, Y)
    first, again, other = seen["watched"]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_held_out_fit_is_the_fit_on_the_rest(make):
    model = make(early_stopping=True, random_state=3, **LONG).fit(X, Y)
    train, held = stratified_split(Y.astype(np.int32), 0.1, 3)
    rest = make(random_state=3, **LONG).fit(X[train], Y[train], X_val=X[held], y_val=Y[held])
    assert_same_model(model.model_, rest.model_)


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

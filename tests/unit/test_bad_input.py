"""Bad input: one clear error each, and nothing half-fitted is left behind."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError
from support import CLASSIFIERS, VARIANTS, assert_same_model, fitted_attributes, table

import edgewise

X, Y = table(0, n=40, K=3, d=3)
ONES = np.ones(40)


def with_entry(array, place, value, dtype=float):
    changed = np.array(array, dtype=dtype)
    changed[place] = value
    return changed


# case: (arguments of fit, words of the message: what was wrong, what is allowed, what came)
BAD_FITS = {
    "X of one dimension": ((X[:, 0], Y), ["2D", "1D"]),
    "X of three dimensions": ((X[None], Y), ["dim 3", "2"]),
    "X without rows": ((X[:0], Y[:0]), ["0 sample", "minimum of 1"]),
    "X without columns": ((X[:, :0], Y), ["0 feature", "minimum of 1"]),
    "X of strings": ((X.astype(str), Y), ["data frame", "numeric", "strings"]),
    "X with a text column": (
        (np.column_stack([X, np.full(40, "red")]).astype(object), Y),
        ["red", "num"],
    ),
    "X of complex numbers": ((X * 1j, Y), ["Complex data not supported"]),
    "no y": ((X, None), ["y", "None", "one class label per row"]),
    "y of another length": ((X, Y[:-1]), ["40", "39", "inconsistent"]),
    "y of two columns": ((X, np.column_stack([Y, Y])), ["1d|indicator", "(40, 2)|row 2"]),
    "y with NaN": ((X, with_entry(Y, 7, np.nan)), ["NaN", "1 of 40", "row 7", "every row"]),
    "y with infinity": ((X, with_entry(Y, 3, np.inf)), ["infinity", "1 of 40", "row 3"]),
    "y with None": (
        (X, with_entry(Y.astype(str), 5, None, dtype=object)),
        ["missing", "1 of 40", "row 5"],
    ),
    "y with pandas NA": (
        (X, pd.Series([pd.NA, *Y[1:]], dtype="Int64")),
        ["missing", "1 of 40", "row 0"],
    ),
    "y of real numbers": ((X, Y + 0.5 * X[:, 0]), ["continuous", "discrete"]),
    "one class": ((X, np.full(40, 2)), ["two classes", "one class only", "2"]),
    "one class with a weight": (
        (X, Y, (Y == 1).astype(float)),
        ["two classes", "weight zero", "one class only", "1"],
    ),
    "negative weight": (
        (X, Y, with_entry(ONES, 4, -2.5)),
        ["sample_weight", "negative", "-2.5", "row 4"],
    ),
    "weights all zero": ((X, Y, np.zeros(40)), ["eights", "non-zero|positive"]),
    "weight NaN": ((X, Y, with_entry(ONES, 4, np.nan)), ["sample_weight", "NaN"]),
    "weight infinite": ((X, Y, with_entry(ONES, 4, np.inf)), ["sample_weight", "infinity"]),
    "weights too few": ((X, Y, ONES[:-1]), ["sample_weight", "39", "40"]),
    "weights of two columns": ((X, Y, np.ones((40, 2))), ["1D", "2D", "40"]),
    "weights that are words": ((X, Y, ["heavy"] * 40), ["heavy"]),
    "X_val without y_val": ((X, Y, None, X), ["X_val", "without y_val", "both"]),
    "y_val without X_val": ((X, Y, None, None, Y), ["y_val", "without X_val", "both"]),
    "X_val with other columns": ((X, Y, None, X[:, :2], Y), ["2 features", "3 features"]),
    "X_val and y_val of two lengths": ((X, Y, None, X, Y[:-3]), ["X_val", "y_val", "40", "37"]),
    "y_val with an unknown label": (
        (X, Y, None, X, with_entry(Y, 9, 8, dtype=int)),
        ["y_val", "8", "training labels", "0", "1", "2"],
    ),
    "y_val of another kind": ((X, Y, None, X, Y.astype(str)), ["y_val", "training labels"]),
    "y_val with NaN": ((X, Y, None, X, with_entry(Y, 2, np.nan)), ["y_val", "NaN", "row 2"]),
    "negative sample_weight_val": (
        (X, Y, None, X, Y, with_entry(ONES, 1, -1)),
        ["sample_weight", "negative", "-1"],
    ),
    "sample_weight_val without X_val": (
        (X, Y, None, None, None, ONES),
        ["sample_weight_val", "X_val"],
    ),
}
every_classifier = pytest.mark.parametrize("classifier", CLASSIFIERS)
every_case = pytest.mark.parametrize(("arguments", "words"), BAD_FITS.values(), ids=BAD_FITS)


@every_case
@every_classifier
def test_bad_fit_is_refused_with_a_clear_message(classifier, arguments, words):
    model = classifier(n_estimators=3)
    with pytest.raises((ValueError, TypeError)) as caught:
        model.fit(*arguments)
    message = str(caught.value)
    for word in words:
        assert any(part in message for part in word.split("|")), message
    assert fitted_attributes(model) == set()  # nothing half-fitted
    with pytest.raises(NotFittedError):
        model.predict(X)


@every_case
def test_failed_fit_leaves_the_old_model(arguments, words):
    make = VARIANTS["abc_mart"]
    frame = pd.DataFrame(np.column_stack([X, X]), columns=list("abcdef"))
    model = make().fit(frame, Y)  # other columns than those of the bad fits
    before = {name: id(getattr(model, name)) for name in fitted_attributes(model)}
    expected = model.predict_proba(frame)
    with pytest.raises((ValueError, TypeError)):
        model.fit(*arguments)
    assert {name: id(getattr(model, name)) for name in fitted_attributes(model)} == before
    np.testing.assert_array_equal(model.predict_proba(frame), expected)


def test_error_in_the_middle_of_a_fit_leaves_the_old_model(make):
    def fails_late(estimator, X, y):
        fails_late.calls += 1
        if fails_late.calls > 3:
            raise RuntimeError("no score today")
        return fails_late.calls

    fails_late.calls = 0
    model = make().fit(X, Y)
    before = model.model_
    model.set_params(scoring=fails_late)
    with pytest.raises(RuntimeError, match="no score today"):
        model.fit(X[:, :2], Y, X_val=X[:, :2], y_val=Y)
    assert model.model_ is before
    np.testing.assert_array_equal(model.predict(X), make().fit(X, Y).predict(X))


BAD_PREDICTIONS = {
    "fewer columns": (X[:, :2], ["2 features", "3 features"]),
    "more columns": (np.column_stack([X, X]), ["6 features", "3 features"]),
    "one dimension": (X[0], ["2D", "1D"]),
    "no rows": (X[:0], ["0 sample", "minimum of 1"]),
    "words": ([["a", "b", "c"]], ["numeric"]),
}


@pytest.mark.parametrize(("matrix", "words"), BAD_PREDICTIONS.values(), ids=BAD_PREDICTIONS)
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "staged_predict"]
)
def test_bad_prediction_is_refused_with_a_clear_message(make, method, matrix, words):
    model = make().fit(X, Y)
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the words are checked below
        np.asarray(next(iter(getattr(model, method)(matrix))))
    for word in words:
        assert word in str(caught.value)


@every_classifier
def test_prediction_before_fit_is_refused(classifier):
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match=classifier.__name__):
            getattr(classifier(), method)(X)
    with pytest.raises(NotFittedError):
        _ = classifier().feature_importances_


def test_names_of_columns_must_agree(make):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = make().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"c": "d"}))
    with pytest.raises(ValueError, match="feature names"):
        model.fit(frame, Y, X_val=frame[["b", "a", "c"]], y_val=Y)


def test_data_errors_are_of_the_librarys_own_kind(make):
    for arguments in ((X, np.full(40, 2)), (X, Y[:-1]), (X, Y, -ONES), (X, Y, None, X)):
        with pytest.raises(edgewise.InvalidDataError):
            make().fit(*arguments)


# --- what looks bad but is allowed ------------------------------------------------------------


def test_infinite_features_are_allowed(make):
    extreme = with_entry(with_entry(X, (3, 0), np.inf), (5, 1), -np.inf)
    model = make().fit(extreme, Y)
    assert np.isfinite(model.predict_proba(extreme)).all()
    clipped = np.clip(extreme, np.nanmin(X, axis=0), np.nanmax(X, axis=0))
    # They fall into the outer bins, like any value beyond the outermost cut.
    np.testing.assert_array_equal(
        model.decision_function(extreme), model.decision_function(clipped)
    )


def test_rows_of_weight_zero_are_as_good_as_absent(make):
    w = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    assert_same_model(
        make().fit(X, Y, sample_weight=w).model_,
        make().fit(X[w > 0], Y[w > 0], sample_weight=w[w > 0]).model_,
    )


def test_class_of_weight_zero_does_not_exist(make):
    model = make().fit(X, Y, sample_weight=(Y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]


def test_columns_without_information_are_ignored(make_drawless):
    noise = np.column_stack([np.full(40, np.nan), X, np.ones(40)])
    model = make_drawless().fit(noise, Y)
    assert set(model.model_.feature) <= {-1, 1, 2, 3}
    np.testing.assert_array_equal(
        model.decision_function(noise), make_drawless().fit(X, Y).decision_function(X)
    )


@pytest.mark.filterwarnings("ignore::edgewise.FitWarning")
def test_nothing_to_learn_gives_the_class_frequencies(make_logistic):
    y = np.array([0, 0, 0, 1, 1, 2])
    model = make_logistic().fit(np.ones((6, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2))), [[3 / 6, 2 / 6, 1 / 6]])
    assert model.n_iter_ == 0
    assert model.history_["loss"].shape == (0,)


def unshrunk(make):
    """Multi-label boosting shrinks steps by the gain of one row of weight one: two rows teach it
    nothing, and a weight of two is two rows."""
    shrinks = make.func is edgewise.MultiLabelBoostClassifier
    return partial(make, pull=0.0) if shrinks else make


def test_two_rows_are_enough(make):
    model = unshrunk(make)().fit([[0.0], [1.0]], ["no", "yes"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["no", "yes"]


@pytest.mark.usefixtures("nothing_is_negligible")
@pytest.mark.parametrize("scale", [1e-290, 1e-100, 1e100, 1e290])
def test_scale_of_the_weights_does_not_matter(make, scale):
    w = np.random.default_rng(0).uniform(0.3, 3, size=40)
    expected = unshrunk(make)().fit(X, Y, sample_weight=w).predict_proba(X)
    scaled = unshrunk(make)().fit(X, Y, sample_weight=w * scale).predict_proba(X)
    np.testing.assert_allclose(scaled, expected, atol=1e-6)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["b", "a", "c"]),
        np.array(["b", "a", "c"], dtype=object),
        np.array([True, False, True]),
        np.array([-1, 5, 7]),
        np.array([1.0, 2.0, 4.0]),
        np.array([200, 3, 7], dtype=np.uint8),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_every_kind(make, labels):
    y = labels[Y]
    model = make(n_estimators=20, learning_rate=1.0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    assert (predicted == y).mean() > 0.7


def test_columns_of_labels_are_flattened_with_a_warning(make):
    with pytest.warns(DataConversionWarning):
        model = make().fit(X, Y.reshape(-1, 1))
    assert_same_model(model.model_, make().fit(X, Y).model_)

"""Arrays that are more than numbers: dates, masks, strings that end with NUL."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from support import table

import edgewise
from edgewise import InvalidDataError

DAYS = np.array([["2020-01-01", "NaT"], ["2021-05-06", "2020-02-03"]], dtype="M8[D]")
OBJECTS = {
    "objects": DAYS.astype(object),
    "numpy_objects": np.array([[DAYS[0, 0], 1.0], [DAYS[0, 1], 2.0]], dtype=object),
    "list": [[datetime.date(2020, 1, 1), 1.0], [datetime.date(2020, 1, 2), 2.0]],
}
TIMES = {
    **OBJECTS,
    "days": DAYS,
    "seconds": DAYS.astype("M8[s]"),
    "spans": DAYS - DAYS[:1, :1],
    "list_of_numpy": [list(row) for row in DAYS],
    "masked": np.ma.array(DAYS, mask=[[0, 0], [1, 0]]),
}


def mart(**parameters):
    return edgewise.MARTClassifier(n_estimators=3, min_samples_leaf=2, **parameters)


@pytest.mark.parametrize("kind", OBJECTS)
def test_dates_in_arrays_of_objects_are_refused(kind):
    with pytest.raises(InvalidDataError, match=r"dates or times .* column of a data frame"):
        mart().fit(OBJECTS[kind], [0, 1])


@pytest.mark.parametrize("kind", TIMES)
def test_dates_and_times_are_refused_where_numbers_were(kind):
    model = mart().fit([[1.0, 2.0], [2.0, 1.0]] * 4, [0, 1] * 4)
    with pytest.raises(InvalidDataError, match="dates or times|Got (dates|durations)"):
        model.predict(TIMES[kind])


def test_whole_numbers_that_no_float_can_hold_are_refused():
    X = np.array([[10**400, 1], [2, 1]], dtype=object)
    with pytest.raises(InvalidDataError, match="X must contain only numbers.*too large"):
        mart().fit(X, [0, 1])
    with pytest.raises(InvalidDataError, match="X must contain only numbers.*too large"):
        mart().fit([[1.0, 2.0], [2.0, 1.0]] * 4, [0, 1] * 4).predict(X)


def test_missing_dates_are_no_labels():
    X, _ = table(0, n=4)
    y = np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-01"], dtype="M8[D]")
    with pytest.raises(InvalidDataError, match="missing labels"):
        mart().fit(X, y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.int64, np.uint8, bool])
def test_what_is_masked_is_missing(dtype):
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 2 if dtype is bool else 40, size=(80, 3)).astype(dtype)
    mask = rng.random((80, 3)) < 0.3
    y = np.arange(80) % 3
    plain = np.where(mask, np.nan, numbers.astype(np.float64))
    masked = np.ma.array(numbers, mask=mask)
    expected, model = mart().fit(plain, y), mart().fit(masked, y)
    np.testing.assert_array_equal(model.predict_proba(masked), expected.predict_proba(plain))
    np.testing.assert_array_equal(model.model_.threshold, expected.model_.threshold)
    np.testing.assert_array_equal(
        mart().fit(list(masked), y).model_.threshold, expected.model_.threshold
    )


def test_a_mask_of_nothing_changes_nothing():
    X, y = table(1)
    model = mart().fit(np.ma.array(X), np.ma.array(y), sample_weight=np.ma.array(np.ones(len(y))))
    np.testing.assert_array_equal(model.predict_proba(X), mart().fit(X, y).predict_proba(X))


def test_masked_validation_rows_are_missing():
    X, y = table(2)
    mask = np.random.default_rng(2).random(X.shape) < 0.2
    masked, plain = np.ma.array(X, mask=mask), np.where(mask, np.nan, X)
    one, other = (mart().fit(X, y, X_val=V, y_val=y) for V in (masked, plain))
    np.testing.assert_array_equal(
        one.history_["validation_score"], other.history_["validation_score"]
    )


def test_masked_labels_weights_and_costs_are_refused():
    X, y = table(3, n=30)
    first = np.arange(30) == 0
    with pytest.raises(InvalidDataError, match="y must not have masked values. Got 1 of 30"):
        mart().fit(X, np.ma.array(y, mask=first))
    with pytest.raises(InvalidDataError, match="sample_weight must not have masked"):
        mart().fit(X, y, sample_weight=np.ma.array(np.ones(30), mask=first))
    with pytest.raises(InvalidDataError, match="y_val must not have masked"):
        mart().fit(X, y, X_val=X, y_val=np.ma.array(y, mask=first))
    soft = np.ma.array(np.full((30, 3), 1 / 3), mask=np.repeat(first[:, None], 3, axis=1))
    with pytest.raises(InvalidDataError, match="y must not have masked values. Got 3 of 90"):
        mart().fit(X, soft)
    labels = np.ma.array(np.eye(3, dtype=int)[y], mask=np.repeat(first[:, None], 3, axis=1))
    with pytest.raises(InvalidDataError, match="y must not have masked"):
        edgewise.AdaBoostMHClassifier(n_estimators=2).fit(X, labels)
    costs = np.ma.array(np.ones((30, 3)), mask=np.repeat(first[:, None], 3, axis=1))
    with pytest.raises(InvalidDataError, match="costs must not have masked"):
        edgewise.SoftmaxBoostClassifier(n_estimators=2).fit(X, y, costs=costs)


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas_category": lambda d: pd.DataFrame(d).astype("category"),
    "polars": pl.DataFrame,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_strings_that_end_with_nul_are_strings_of_their_own(make, tmp_path):
    words = ["x", "x\0", "x\0\0", ""]
    frame = make({"word": words * 10})
    model = mart(max_leaf_nodes=4).fit(frame, np.array(words * 10, dtype=object))
    assert model.categories_[0].tolist() == sorted(words)
    assert model.predict(frame).tolist() == words * 10
    labels = np.array([0, 1, 2, 3] * 10)
    model = mart(max_leaf_nodes=4).fit(frame, labels)
    model.save(tmp_path / "model")
    loaded = edgewise.load(tmp_path / "model")
    assert loaded.categories_[0].tolist() == sorted(words)
    np.testing.assert_array_equal(loaded.predict(frame), labels)

"""Data frames of every library: numbers, booleans and categories by value."""

import datetime
import decimal
import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from support import VARIANTS, assert_same_model, fitted_attributes, nominal_table

import edgewise
from edgewise import InvalidDataError, InvalidParameterError

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=3)
every_variant = pytest.mark.parametrize(
    "make", [*VARIANTS.values(), MARTI], ids=[*VARIANTS, "martiboost"]
)
fast = partial(edgewise.LogitBoostClassifier, n_estimators=3, min_samples_leaf=1)

LIBRARIES = {
    "pandas": pd.DataFrame,
    "pandas string": lambda c: pd.DataFrame(c).astype({"colour": "string", "shape": "string"}),
    "pandas category": lambda c: pd.DataFrame(c).astype({"colour": "category"}),
    "pandas nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "pandas arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "polars category": lambda c: pl.DataFrame(c, schema_overrides={"colour": pl.Categorical}),
    "polars enum": lambda c: pl.DataFrame(
        c, schema_overrides={"colour": pl.Enum(["red", "green", "blue", "pink", "grey", "black"])}
    ),
    "arrow": pa.table,
    "arrow dictionary": lambda c: pa.table(
        {
            n: pa.array(v).dictionary_encode() if n in ("colour", "shape") else v
            for n, v in c.items()
        }
    ),
}
every_library = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)

COLOURS = np.array(["red", "green", "blue", "pink", "grey", "black"])
SHAPES = np.array(["ring", "star", "cube", "ball", "rod", "cone"])


def columns(seed=0, n=90, K=2, *, missing=True):
    """Columns of several kinds as lists, the same as numbers (n, d), and labels."""
    X, y = nominal_table(seed, n=n, K=K)
    number = ((X[:, :2] + 9) / 7).astype(int)
    listed = {
        "colour": COLOURS[number[:, 0]].tolist(),
        "size": X[:, 2].tolist(),
        "shape": SHAPES[number[:, 1]].tolist(),
        "round": (X[:, 2] > 0.2).tolist(),
        "count": number[:, 1].tolist(),
    }
    rank = [np.argsort(np.argsort(COLOURS)), np.argsort(np.argsort(SHAPES))]
    numbers = np.column_stack(
        [rank[0][number[:, 0]], X[:, 2], rank[1][number[:, 1]], X[:, 2] > 0.2, number[:, 1]]
    ).astype(float)
    if missing:
        for j, name in enumerate(listed):
            listed[name][10 + j] = None
            numbers[10 + j, j] = np.nan
    return listed, numbers, y


# --- what a frame becomes -----------------------------------------------------------------------


@every_library
def test_a_frame_is_learned_like_its_numbers(library):
    listed, numbers, y = columns()
    model = fast().fit(library(listed), y)
    expected = fast(categorical_features=[0, 2]).fit(numbers, y)
    assert model.is_categorical_.tolist() == [True, False, True, False, False]
    assert_same_model(model.model_, expected.model_)
    np.testing.assert_array_equal(
        model.predict_proba(library(listed)), expected.predict_proba(numbers)
    )
    assert sorted(model.categories_) == [0, 2]
    assert model.categories_[0].tolist() == sorted(COLOURS)
    assert model.categories_[0].dtype.kind == "O"


@every_library
def test_other_codes_and_other_libraries_predict_the_same(library):
    listed, _, y = columns()
    model = fast().fit(pd.DataFrame(listed), y)
    expected = model.predict_proba(pd.DataFrame(listed))
    backwards = {name: values[::-1] for name, values in listed.items()}  # codes by first meeting
    np.testing.assert_array_equal(model.predict_proba(library(backwards))[::-1], expected)
    few = {name: values[:2] for name, values in listed.items()}
    np.testing.assert_array_equal(model.predict_proba(library(few)), expected[:2])


@every_variant
def test_every_estimator_takes_frames(make):
    listed, numbers, y = columns()
    frame = pl.DataFrame(listed)
    model = make().fit(frame, y)
    expected = make(categorical_features=[0, 2]).fit(numbers, y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(numbers))
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))


def test_unseen_values_and_null_are_missing():
    listed, numbers, y = columns(missing=False)
    model = fast().fit(pd.DataFrame(listed), y)
    missing = model.predict_proba(pd.DataFrame(listed | {"colour": [None] * 90}))
    unseen = model.predict_proba(pd.DataFrame(listed | {"colour": ["mauve"] * 90}))
    np.testing.assert_array_equal(missing, unseen)
    assert (missing != model.predict_proba(pd.DataFrame(listed))).any()


@pytest.mark.parametrize("values", [[30, 4, 500], [2**60, 2**60 + 1, 5], [0.5, -1.5, 3.0]], ids=str)
def test_categories_that_are_numbers(values):
    place = np.arange(60) % 3
    y = place == 1
    frame = pd.DataFrame({"c": pd.Categorical(np.array(values)[place])})
    model = fast(learning_rate=1.0).fit(frame, y)
    assert model.categories_[0].tolist() == sorted(values)
    np.testing.assert_array_equal(model.predict(frame), y)
    plain = pd.DataFrame({"c": np.array(values)[place]})
    np.testing.assert_array_equal(model.predict(plain), y)  # by value, whatever the type
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(model.predict(plain.to_numpy()), y)
    arrow = pa.table({"c": pa.array(np.array(values)[place]).dictionary_encode()})
    np.testing.assert_array_equal(model.predict(arrow), y)


def test_categories_that_are_booleans():
    truth = np.arange(60) % 3 == 0
    frame = pd.DataFrame({"c": pd.Categorical(truth)})
    model = fast(learning_rate=1.0).fit(frame, truth)
    assert model.categories_[0].tolist() == [False, True]
    assert model.predict(pd.DataFrame({"c": truth})).tolist() == truth.tolist()


def test_explicit_columns_by_name_and_number():
    listed, numbers, y = columns()
    frame = pd.DataFrame(listed)
    expected = fast(categorical_features=[0, 2, 4]).fit(numbers, y)
    for given in (["colour", "shape", "count"], [0, 2, 4], [True, False, True, False, True]):
        model = fast(categorical_features=given).fit(frame, y)
        assert_same_model(model.model_, expected.model_)


def test_unused_categories_do_not_exist():
    values = pd.Categorical(["b", "a"] * 20, categories=["z", "b", "a"])
    model = fast(learning_rate=1.0).fit(pd.DataFrame({"c": values}), [1, 0] * 20)
    assert model.categories_[0].tolist() == ["a", "b"]


def test_objects_that_are_numbers():
    values = [1, 2.5, None, decimal.Decimal("3"), np.int8(4)] * 8
    frame = pd.DataFrame({"x": np.array(values, dtype=object)})
    y = [0, 0, 1, 1, 1] * 8
    model = fast().fit(frame, y)
    assert model.is_categorical_ is None
    numbers = np.array([[np.nan if v is None else float(v)] for v in values])
    assert_same_model(model.model_, fast().fit(numbers, y).model_)


def test_columns_without_values():
    frames = [
        pd.DataFrame({"x": [None] * 20, "z": range(20)}),
        pl.DataFrame({"x": [None] * 20, "z": range(20)}),
        pa.table({"x": [None] * 20, "z": list(range(20))}),
    ]
    y = [0] * 10 + [1] * 10
    for frame in frames:
        model = fast().fit(frame, y)
        np.testing.assert_array_equal(model.predict(frame), y)


def test_names_must_be_strings():
    X, y = nominal_table(1, n=60)
    expected = fast().fit(X, y)
    assert_same_model(fast().fit(pd.DataFrame(X), y).model_, expected.model_)


def test_labels_weights_and_validation_may_be_columns():
    listed, numbers, y = columns()
    weights = np.linspace(1, 2, len(y))
    names = np.array(["no", "yes"])[y]
    expected = fast(categorical_features=[0, 2]).fit(numbers, names, weights, numbers, names)
    for library in (pd.Series, lambda v: pl.Series("v", v), lambda v: pa.chunked_array([v])):
        frame = pl.DataFrame(listed)
        model = fast().fit(frame, library(names), library(weights), frame, library(names))
        assert_same_model(model.model_, expected.model_)
        assert model.classes_.tolist() == ["no", "yes"]


# --- memory ---------------------------------------------------------------------------------------


def test_frames_of_one_numeric_type_are_not_copied(monkeypatch):
    X, y = nominal_table(2, n=60)
    frame = pd.DataFrame(X)
    seen = []
    binned = edgewise._core.BinnedData
    monkeypatch.setattr(
        edgewise._core, "BinnedData", lambda x, *rest: seen.append(x) or binned(x, *rest)
    )
    fast().fit(frame, y)
    assert np.shares_memory(seen[0], frame.to_numpy())


def test_small_types_take_single_precision(monkeypatch):
    seen = []
    binned = edgewise._core.BinnedData
    monkeypatch.setattr(
        edgewise._core, "BinnedData", lambda x, *rest: seen.append(x.dtype) or binned(x, *rest)
    )
    frame = pd.DataFrame({"c": ["a", "b"] * 10, "x": np.arange(20, dtype=np.int16)})
    fast().fit(frame, [0, 1] * 10)
    fast().fit(frame.astype({"x": np.int32}), [0, 1] * 10)
    assert seen == [np.float32, np.float64]


# --- later fits -----------------------------------------------------------------------------------


def test_a_warm_start_keeps_the_numbers_of_known_values():
    listed, _, y = columns()
    frame = pd.DataFrame(listed)
    model = fast(warm_start=True).fit(frame, y)
    before = model.predict_proba(frame)
    other = frame.assign(colour=frame["colour"].replace({"red": "amber", "grey": "violet"}))
    model.set_params(n_estimators=5).fit(other, y)
    assert model.categories_[0].tolist() == [*sorted(COLOURS), "amber", "violet"]
    staged = list(model.staged_predict_proba(frame))
    np.testing.assert_array_equal(staged[2], before)
    once = fast(n_estimators=5).fit(frame, y)
    twice = fast(warm_start=True).fit(frame, y).set_params(n_estimators=5).fit(frame, y)
    assert_same_model(once.model_, twice.model_)


def test_a_new_fit_forgets_the_categories():
    listed, numbers, y = columns()
    model = fast().fit(pd.DataFrame(listed), y).fit(numbers, y)
    assert model.categories_ == {}
    assert model.is_categorical_ is None


def test_scikit_learns_tools_work_with_frames():
    listed, _, y = columns()
    frame = pd.DataFrame(listed)
    assert len(cross_val_score(fast(), frame, y, cv=3, error_score="raise")) == 3
    importance = permutation_importance(fast().fit(frame, y), frame, y, n_repeats=2, random_state=0)
    assert importance.importances_mean.argmax() in (0, 1, 2, 3)


def test_arrays_of_objects_after_a_frame():
    listed, _, y = columns()
    frame = pd.DataFrame(listed)
    model = fast().fit(frame, y)
    with pytest.warns(UserWarning, match="feature names"):
        given = model.predict_proba(frame.to_numpy(dtype=object))
    np.testing.assert_array_equal(given, model.predict_proba(frame))


# --- errors ---------------------------------------------------------------------------------------

Y = [0, 1] * 10
BAD_COLUMNS = {
    "dates and numbers": ([datetime.date(2020, 1, 1), 1] * 10, ["'x'", "one kind", "date, int"]),
    "dates and times": (
        [datetime.date(2020, 1, 1), datetime.time(3)] * 10,
        ["'x'", "one kind", "date, time"],
    ),
    "months": (pd.period_range("2020-01", periods=20, freq="M"), ["'x'", "Unknown"]),
    "mixed objects": (["a", 1] * 10, ["'x'", "one kind", "int, str"]),
    "sets": ([{1}] * 20, ["'x'", "one kind", "set"]),
    "mixed categories": (pd.Categorical(["a", 1] * 10), ["'x'", "one kind", "int, str"]),
    "dates as categories": (
        pd.Categorical(pd.date_range("2020-01-01", periods=20)),
        ["'x'", "dates", "strings"],
    ),
    "intervals as categories": (pd.cut(np.arange(20.0), 3), ["'x'", "one kind", "Interval"]),
}


@pytest.mark.parametrize(("values", "words"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_columns_that_are_refused(values, words):
    model = fast()
    with pytest.raises(InvalidDataError) as caught:
        model.fit(pd.DataFrame({"x": values}), Y)
    for word in words:
        assert word in str(caught.value)
    assert fitted_attributes(model) == set()


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
def test_lists_of_other_libraries(library):
    with pytest.raises(InvalidDataError, match="numbers, booleans, strings or categories"):
        fast().fit(library({"x": [[1, 2]] * 20}), Y)


@pytest.mark.parametrize("given", [None, [1], ["size"], [False, True]], ids=str)
@pytest.mark.parametrize("dtype", [str, "category"])
def test_undeclared_text_is_refused(given, dtype):
    frame = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": range(20)})
    with pytest.raises(InvalidDataError, match=r"'colour'.*categorical_features.*from_dtype"):
        fast(categorical_features=given).fit(frame.astype({"colour": dtype}), Y)


def test_other_kinds_at_predict_are_refused():
    text = pd.DataFrame({"c": ["red", "blue"] * 10})
    numbers = pd.DataFrame({"c": [1, 2] * 10})
    with pytest.raises(InvalidDataError, match=r"'c' held strings.*Got numbers: .*1"):
        fast().fit(text, Y).predict(numbers)
    with pytest.raises(InvalidDataError, match=r"'c' held numbers.*Got strings: .*blue|red"):
        fast().fit(numbers, Y).predict(text)
    with (
        pytest.raises(InvalidDataError, match=r"'c' held strings.*Got numbers"),
        pytest.warns(UserWarning, match="feature names"),
    ):
        fast().fit(text, Y).predict(numbers.to_numpy())


def test_names_and_order_are_checked():
    frame = pl.DataFrame({"a": ["x", "y"] * 10, "b": range(20)})
    model = fast().fit(frame, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame.select("b", "a"))
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c"):
        model.predict(frame.rename({"b": "c"}))


def test_duplicate_names_are_refused():
    arrow = pa.Table.from_arrays([pa.array(range(20))] * 2, names=["a", "a"])
    for frame in (pd.DataFrame(np.zeros((20, 2)), columns=["a", "a"]), arrow):
        with pytest.raises(InvalidDataError, match="different names.*'a'"):
            fast().fit(frame, Y)


def test_lazy_frames_are_refused():
    with pytest.raises(InvalidDataError, match=r"in memory.*LazyFrame.*collect\(\)"):
        fast().fit(pl.LazyFrame({"x": range(20)}), Y)


def test_empty_frames_are_refused():
    with pytest.raises(InvalidDataError, match="0 sample.*minimum of 1"):
        fast().fit(pd.DataFrame({"x": []}), [])
    with pytest.raises(InvalidDataError, match="0 feature.*minimum of 1"):
        fast().fit(pd.DataFrame(index=range(20)), Y)


def test_texts_are_not_categories():
    texts = ["x" * 300_000 + str(i) for i in range(1000)]
    frame = pl.DataFrame({"c": texts})
    with pytest.raises(InvalidDataError, match="1000 distinct strings of up to 300003 characters"):
        fast().fit(frame, [0, 1] * 500)


def test_foreign_base_learners_reject_strings():
    frame = pd.DataFrame({"c": ["red", "blue"] * 10})
    model = edgewise.SAMMEClassifier(base=DecisionTreeClassifier(max_depth=1))
    with pytest.raises(InvalidParameterError, match=r"categorical columns.*DecisionTree.*\[0\]"):
        model.fit(frame, Y)


# --- rare types -------------------------------------------------------------------------------


def test_integers_of_128_bits_are_numbers():
    frame = pl.DataFrame({"a": [1, 2, 3, 4] * 10}, schema={"a": pl.Int128})
    y = np.array([0, 0, 1, 1] * 10)
    boost = edgewise.MARTClassifier(n_estimators=2, min_samples_leaf=2)
    wide = boost.fit(frame, y).predict_proba(frame)
    plain = frame.cast(pl.Int64)
    np.testing.assert_array_equal(wide, boost.fit(plain, y).predict_proba(plain))
    both = frame.with_columns(b=pl.Series([0.5, None] * 20))
    assert boost.fit(both, y).predict(both).tolist() == y.tolist()


def test_views_of_strings_are_strings():
    words, y = ["u", "v", None, "w"] * 10, np.array([0, 1, 1, 0] * 10)
    views = pa.table({"a": pa.array(words, type=pa.string_view())})
    boost = edgewise.MARTClassifier(n_estimators=2, min_samples_leaf=2)
    here = boost.fit(views, y).predict_proba(views)
    plain = pa.table({"a": words})
    np.testing.assert_array_equal(here, boost.fit(plain, y).predict_proba(plain))


def test_structures_are_refused():
    frame = pl.DataFrame({"a": [{"x": 1}, {"x": 2}] * 10})
    with pytest.raises(InvalidDataError, match=r"Column 'a' must hold numbers.*Got Struct"):
        edgewise.MARTClassifier().fit(frame, [0, 1] * 10)

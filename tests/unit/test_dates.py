"""Columns of dates and times, in every estimator."""

import datetime
import pickle
import re
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from support import EVERY_CLASSIFIER, VARIANTS, assert_same_model

import edgewise
from edgewise import InvalidDataError, InvalidParameterError, ModelFormatError
from edgewise._data.dates import DateColumn, part_of, seconds_of_array
from edgewise._model import file

MARTI = partial(edgewise.MartiBoostClassifier, n_layers=4)
every_variant = pytest.mark.parametrize(
    "make", [*VARIANTS.values(), MARTI], ids=[*VARIANTS, "martiboost"]
)
fast = partial(edgewise.LogitBoostClassifier, n_estimators=5, min_samples_leaf=1)
ALL = ("month", "day", "weekday", "hour")


def frame(n=300, seed=0):
    """A frame with a column of moments between two columns of numbers."""
    rng = np.random.default_rng(seed)
    minutes = rng.integers(0, 900 * 24 * 60, n).astype("m8[m]")
    when = np.datetime64("2021-03-01T00:00") + minutes
    numbers = rng.normal(size=(2, n))
    return pd.DataFrame({"a": numbers[0], "when": when.astype("M8[us]"), "b": numbers[1]})


def assert_same(one, other):
    assert_same_model(one.model_, other.model_)


def on_weekends(X):
    return np.where(X["when"].dt.day_of_week >= 5, 1, 0)


# --- what is learned ------------------------------------------------------------------------------


@every_variant
def test_a_class_that_the_weekday_decides_is_learned(make):
    X = frame(800)
    y = on_weekends(X)
    model = make(min_samples_leaf=2) if make is not MARTI else make()
    model.fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) >= 0.97
    assert model.n_features_in_ == 3


@pytest.mark.parametrize(
    "rule",
    [
        lambda when: when.dt.month.isin([6, 7, 8]),
        lambda when: when.dt.day <= 10,
        lambda when: when.dt.hour.between(9, 16),
        lambda when: when >= pd.Timestamp("2022-05-17 11:00"),
    ],
    ids=["summer", "first days", "office hours", "since"],
)
def test_parts_and_elapsed_time_are_learned(rule):
    X = frame(1200)
    y = rule(X["when"]).to_numpy()
    model = edgewise.AutoBoostClassifier(effort="fast", random_state=0).fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) >= 0.99
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_.argmax() == 1


def test_which_parts_there_are():
    X = frame()
    assert fast().fit(X, on_weekends(X)).dates_ == {1: DateColumn("date", ALL)}
    days = X.assign(when=X["when"].dt.normalize())
    assert fast().fit(days, on_weekends(X)).dates_ == {1: DateColumn("date", ALL[:3])}
    times = X.assign(when=[moment.time() for moment in X["when"]], b=X["when"] - X["when"].min())
    found = fast().fit(times, on_weekends(X)).dates_
    assert found == {1: DateColumn("time"), 2: DateColumn("duration")}


def test_parts_are_those_of_the_calendar():
    when = np.array(["1582-10-15T23:59", "1970-01-01T00:00", "2024-02-29T13:30", "NaT"], "M8[s]")
    seconds = seconds_of_array(when, "x")
    shown = [part_of(seconds, part).tolist()[:3] for part in ALL]
    known = [moment.item() for moment in when[:3]]
    assert shown == [
        [moment.month for moment in known],
        [moment.day for moment in known],
        [moment.isoweekday() for moment in known],
        [moment.hour for moment in known],
    ]
    assert all(np.isnan(part_of(seconds, part)[3]) for part in ALL)


# --- the same number for every unit and library ---------------------------------------------------


FORMS = {
    "nanoseconds": lambda X: X.astype({"when": "M8[ns]"}),
    "seconds": lambda X: X.astype({"when": "M8[s]"}),
    "UTC": lambda X: X.assign(when=X["when"].dt.tz_localize("UTC")),
    "zone": lambda X: X.assign(
        when=X["when"].dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    ),
    "arrow in pandas": lambda X: X.assign(when=X["when"].astype("timestamp[us][pyarrow]")),
    "zone of arrow in pandas": lambda X: X.assign(
        when=X["when"].dt.tz_localize("UTC").astype("timestamp[us, tz=America/New_York][pyarrow]")
    ),
    "objects": lambda X: X.assign(when=pd.Series(list(X["when"].dt.to_pydatetime()), dtype=object)),
    "objects with zones": lambda X: X.assign(
        when=pd.Series(
            [
                t.to_pydatetime().replace(tzinfo=datetime.UTC).astimezone(z)
                for t, z in zip(
                    X["when"], [ZoneInfo("Asia/Kolkata"), datetime.UTC] * 150, strict=True
                )
            ],
            dtype=object,
        )
    ),
    "polars": pl.DataFrame,
    "polars milliseconds": lambda X: pl.DataFrame(X).with_columns(
        pl.col("when").cast(pl.Datetime("ms"))
    ),
    "polars zone": lambda X: pl.DataFrame(X).with_columns(
        pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York")
    ),
    "arrow": lambda X: pa.table(
        {"a": X["a"], "when": pa.array(X["when"], pa.timestamp("s")), "b": X["b"]}
    ),
    "arrow zone": lambda X: pa.table(
        {"a": X["a"], "when": pa.array(X["when"], pa.timestamp("ns", "UTC")), "b": X["b"]}
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_same_model(form):
    X = frame()
    y = on_weekends(X)
    model, other = fast().fit(X, y), fast().fit(form(X), y)
    assert_same(model, other)
    assert other.dates_ == model.dates_
    np.testing.assert_array_equal(model.predict_proba(form(X)), model.predict_proba(X))


def test_days_of_every_library():
    X = frame()
    y = on_weekends(X)
    X = X.assign(when=X["when"].dt.normalize())
    days = pl.DataFrame(X).with_columns(pl.col("when").cast(pl.Date))
    model = fast().fit(X, y)
    wide = days.to_arrow().set_column(1, "when", days.to_arrow()["when"].cast(pa.date64()))
    objects = X.assign(when=pd.Series([t.date() for t in X["when"]], dtype=object))
    of_arrow = X.assign(when=objects["when"].astype(pd.ArrowDtype(pa.date32())))
    for form in (days, days.to_arrow(), wide, objects, of_arrow):
        assert_same(model, fast().fit(form, y))
        np.testing.assert_array_equal(model.predict_proba(form), model.predict_proba(X))


def test_times_of_day_and_durations_of_every_library():
    X = frame()
    y = on_weekends(X)
    X = X.assign(when=[t.time() for t in X["when"]], b=X["when"] - X["when"].min())
    model = fast().fit(X, y)
    for form in (pl.DataFrame(X), pl.DataFrame(X).to_arrow(), X.astype({"b": "m8[s]"})):
        assert_same(model, fast().fit(form, y))
        np.testing.assert_array_equal(model.predict_proba(form), model.predict_proba(X))
    words = X.assign(when=[t.isoformat() for t in X["when"]])
    np.testing.assert_array_equal(model.predict_proba(words), model.predict_proba(X))


def test_text_in_iso_form_and_arrays_of_seconds_after_a_fit():
    X = frame()
    model = fast().fit(X, on_weekends(X))
    expected = model.predict_proba(X)
    for words in (X["when"].astype(str), X["when"].dt.strftime("%Y-%m-%dT%H:%M:%SZ")):
        np.testing.assert_array_equal(model.predict_proba(X.assign(when=words)), expected)
    category = X.assign(when=X["when"].astype(str).astype("category"))
    np.testing.assert_array_equal(model.predict_proba(category), expected)
    seconds = (X["when"] - pd.Timestamp(0)) / pd.Timedelta("1s")
    with pytest.warns(UserWarning, match="feature names"):
        numbers = model.predict_proba(X.assign(when=seconds).to_numpy())
    np.testing.assert_array_equal(numbers, expected)
    with pytest.warns(UserWarning, match="feature names"):
        objects = model.predict_proba(X.to_numpy(dtype=object))
    np.testing.assert_array_equal(objects, expected)


def test_arrays_of_dates_and_of_durations():
    X = frame()
    when = X["when"].to_numpy()
    array = np.column_stack([when, when[::-1]])
    model = fast().fit(array, on_weekends(X))
    assert model.dates_ == {0: DateColumn("date", ALL), 1: DateColumn("date", ALL)}
    assert model.score(array, on_weekends(X)) > 0.95
    same = fast().fit(array.astype("M8[ns]"), on_weekends(X))
    assert_same(model, same)
    spans = fast().fit(array - when.min(), on_weekends(X))
    assert spans.dates_ == {0: DateColumn("duration"), 1: DateColumn("duration")}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_missing_dates(library):
    X = frame()
    y = np.where(np.arange(300) % 3 == 0, 2, on_weekends(X))
    when = [None if i % 3 == 0 else t for i, t in enumerate(X["when"])]
    model = fast().fit(library({"when": when}), y)
    assert model.score(library({"when": when}), y) == 1.0
    array = X["when"].to_numpy().copy()[:, np.newaxis]
    array[::3] = "NaT"
    assert_same(model, fast().fit(array, y))
    assert len(model.predict(library({"when": [None, None]}))) == 2


def test_masked_dates_are_missing():
    X = frame()["when"].to_numpy()[:, np.newaxis]
    masked = np.ma.array(X, mask=np.arange(300)[:, np.newaxis] % 2 == 0)
    model = fast().fit(masked, np.arange(300) % 2)
    assert model.score(masked, np.arange(300) % 2) == 1.0


# --- order and threads, continued fits, files -----------------------------------------------------


@every_variant
def test_threads_and_the_order_of_rows_do_not_matter(make):
    X = frame()
    y = on_weekends(X)
    order = np.random.default_rng(1).permutation(len(X))
    one = make(n_jobs=1).fit(X, y)
    two = make(n_jobs=2).fit(X.iloc[order], y[order])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_a_continued_fit():
    X = frame()
    y = on_weekends(X)
    whole = fast(n_estimators=10).fit(X, y)
    model = fast(warm_start=True).fit(X, y)
    model.set_params(n_estimators=10).fit(pl.DataFrame(X), y)
    assert_same(whole, model)
    model.set_params(n_estimators=12)
    with pytest.raises(InvalidDataError, match="'when' held dates in fit"):
        model.fit(X.assign(when=1.0), y)
    with pytest.raises(InvalidDataError, match="'a' held numbers in fit"):
        model.fit(X.assign(a=X["when"]), y)


def test_copies_and_files(tmp_path):
    X = frame()
    y = on_weekends(X)
    X["span"] = X["when"] - X["when"].min()
    model = fast().fit(X, y)
    model.save(tmp_path / "m.edgewise")
    loaded = edgewise.load(tmp_path / "m.edgewise")
    assert loaded.dates_ == model.dates_
    for other in (loaded, pickle.loads(pickle.dumps(model)), clone(model).fit(X, y)):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(other.shap_values(X), model.shap_values(X))
    loaded.set_params(warm_start=True, n_estimators=8).fit(X, y)
    assert_same(loaded, fast(n_estimators=8).fit(X, y))


def test_a_file_without_dates_is_as_it_was(tmp_path):
    X = frame()
    fast().fit(X[["a", "b"]], on_weekends(X)).save(tmp_path / "m.edgewise")
    header, _ = file.unpack((tmp_path / "m.edgewise").read_bytes())
    assert "dates" not in header


BAD_HEADERS = {
    "no object": [],
    "no column": {"9": {"kind": "date", "parts": []}},
    "leading zero": {"01": {"kind": "date", "parts": list(ALL)}},
    "no kind": {"1": {"parts": []}},
    "unknown kind": {"1": {"kind": "era", "parts": []}},
    "kind of a list": {"1": {"kind": ["date"], "parts": []}},
    "unknown part": {"1": {"kind": "date", "parts": ["year"]}},
    "part twice": {"1": {"kind": "date", "parts": ["day", "day", "month", "hour"]}},
    "parts of a duration": {"1": {"kind": "duration", "parts": list(ALL)}},
    "part of a list": {"1": {"kind": "date", "parts": [[], "day", "month", "hour"]}},
    "fewer parts than trees use": {"1": {"kind": "date", "parts": []}},
}


@pytest.mark.parametrize("dates", BAD_HEADERS.values(), ids=BAD_HEADERS)
def test_bad_dates_in_a_file(tmp_path, dates):
    X = frame()
    path = tmp_path / "m.edgewise"
    fast().fit(X, on_weekends(X)).save(path)
    header, arrays = file.unpack(path.read_bytes())
    path.write_bytes(file.pack({**header, "dates": dates}, arrays))
    with pytest.raises(ModelFormatError, match=r"^Not a valid model"):
        edgewise.load(path)


def test_every_estimator_keeps_dates(tmp_path):
    X = frame()
    y = on_weekends(X)
    for classifier in EVERY_CLASSIFIER:
        rounds = {"n_layers": 3} if classifier is edgewise.MartiBoostClassifier else {}
        if "n_estimators" in classifier().get_params():
            rounds = {"n_estimators": 3}
        model = classifier(**rounds).fit(X, y)
        model.save(tmp_path / "m.edgewise")
        loaded = edgewise.load(tmp_path / "m.edgewise")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


# --- explanations and constraints -----------------------------------------------------------------


def test_explanations_are_of_the_given_columns():
    X = frame()
    model = fast().fit(X, on_weekends(X))
    values = model.shap_values(X)
    assert values.shape == (300, 3, 2)
    scores = values.sum(axis=1) + model.shap_start_
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], model.decision_function(X), atol=1e-9)
    assert model.feature_importances_.argmax() == 1
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    by_class = model.feature_importances_by_class_
    assert by_class.shape == (2, 3)
    np.testing.assert_allclose(by_class.sum(axis=0), model.feature_importances_, rtol=1e-9)
    found = edgewise.permutation_importances(model, X, on_weekends(X), n_repeats=2, random_state=0)
    assert found.overall.shape == (3,)
    assert found.overall.argmax() == 1


def test_text_names_parts_and_writes_dates():
    X = frame()
    assert "when (weekday) <= 5.5" in fast().fit(X, on_weekends(X)).to_text()
    since = X["when"] >= pd.Timestamp("2022-05-17")
    assert re.search(r"when <= 2022-05-1\dT", fast().fit(X, since).to_text())
    assert "when (weekday)" in fast().fit(X, on_weekends(X)).to_frame()["feature"].tolist()


def paths(model):
    """The features on every path from a root to a leaf."""
    m = model.model_
    for begin, end in zip(m.node_start[:-1], m.node_start[1:], strict=True):
        above = {0: frozenset()}
        for i in range(end - begin):
            feature, left = int(m.feature[begin + i]), int(m.left[begin + i])
            if feature < 0:
                yield above[i]
            else:
                above[left] = above[left + 1] = above[i] | {feature}


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ("no_interactions", [{0}, {1, 3, 4, 5, 6}, {2}]),
        ([["a", "when"]], [{0, 1, 3, 4, 5, 6}, {2}]),
        ([[0, 2]], [{0, 2}, {1, 3, 4, 5, 6}]),
    ],
    ids=["none", "with the date", "without"],
)
def test_parts_are_in_the_set_of_their_date(given, allowed):
    X = frame(600)
    y = (on_weekends(X) + (X["a"] > 0) + 2 * (X["b"] > 0)).to_numpy()
    model = edgewise.MARTClassifier(n_estimators=10, interaction_cst=given).fit(X, y)
    found = list(paths(model))
    assert any({1, 5} & path and len(path) > 1 for path in found)
    assert all(any(path <= allowed_set for allowed_set in allowed) for path in found)


def test_a_date_that_is_constrained_moves_scores_one_way():
    X = frame(600)
    y = on_weekends(X) | (X["when"] > pd.Timestamp("2022-07-01"))
    model = edgewise.LogitBoostClassifier(n_estimators=20, monotonic_cst={"when": 1}).fit(X, y)
    grid = pd.DataFrame({"a": 0.0, "when": pd.date_range("2021-03-01", "2023-08-01"), "b": 0.0})
    assert (np.diff(model.decision_function(grid)) >= 0).all()
    free = edgewise.LogitBoostClassifier(n_estimators=20).fit(X, y)
    assert (np.diff(free.decision_function(grid)) < 0).any()


# --- errors ---------------------------------------------------------------------------------------

UTC = datetime.UTC
BAD = {
    "zone in some": (
        [datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=UTC)] * 10,
        "all have a time zone, or none",
    ),
    "zone in times of day": ([datetime.time(3, tzinfo=UTC)] * 20, "times of day with a time zone"),
    "too late": (np.array(["10000-01-01"] * 20, "M8[s]"), "years 1 to 9999"),
    "too early": (np.array(["0000-12-31"] * 20, "M8[s]"), "years 1 to 9999"),
}


@pytest.mark.parametrize(("values", "words"), BAD.values(), ids=BAD)
def test_bad_dates(values, words):
    column = (
        pd.Series(values) if isinstance(values, np.ndarray) else pd.Series(values, dtype=object)
    )
    with pytest.raises(InvalidDataError, match=f"^Column 'x'.*{words}"):
        fast().fit(pd.DataFrame({"x": column}), [0, 1] * 10)


def test_years_beyond_seconds():
    years = np.array([[2020], [10**12]], dtype="M8[Y]")
    with pytest.raises(InvalidDataError, match="years 1 to 9999"):
        fast().fit(years, [0, 1])
    with pytest.raises(InvalidDataError, match="without a length in seconds"):
        fast().fit(np.array([[1], [2]], dtype="m8[M]"), [0, 1])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_columns_of_another_kind_than_in_fit():
    X = frame()
    model = fast().fit(X, on_weekends(X))
    words = {
        "held dates in fit and must hold dates. Got numbers": X.assign(when=1.0),
        "held dates in fit and must hold dates. Got booleans": X.assign(when=True),
        "held dates in fit and must hold dates. Got durations": X.assign(
            when=X["when"] - X["when"].min()
        ),
        "held dates in fit; as strings they must be in ISO form": X.assign(when="03/04/2021"),
        "Column 'a' held numbers in fit and must hold numbers. Got dates": X.assign(a=X["when"]),
        "all have a time zone, or none": X.assign(when=["2021-03-01", "2021-03-01T00:00Z"] * 150),
    }
    for message, given in words.items():
        with pytest.raises(InvalidDataError, match=re.escape(message)):
            model.predict(given)
    with pytest.raises(InvalidDataError, match=r"years 1 to 9999.*seconds since 1970"):
        model.predict(pd.DataFrame(np.full((2, 3), 1.6e18), columns=X.columns).to_numpy())
    with pytest.raises(InvalidDataError, match="dates or times, and needs a data frame"):
        model.predict(sparse.csr_array(np.ones((2, 3))))
    coloured = fast().fit(X.assign(a=["red", "blue"] * 150), on_weekends(X))
    with pytest.raises(InvalidDataError, match="held strings in fit.*Got dates"):
        coloured.predict(X.assign(a=X["when"]))


def test_dates_are_no_categories():
    X = frame()
    with pytest.raises(InvalidDataError, match="'when' holds dates or times"):
        fast(categorical_features=["when"]).fit(X, on_weekends(X))
    with pytest.raises(InvalidDataError, match="'when' holds dates or times"):
        fast().fit(X.assign(when=X["when"].astype("category")), on_weekends(X))
    with pytest.raises(InvalidParameterError, match="monotonic_cst"):
        fast(monotonic_cst=[0, 0, 0, 1]).fit(X, on_weekends(X))


# --- findings -------------------------------------------------------------------------------------


def test_findings_about_dates():
    X = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=60, freq="31h")})
    X["zone"] = X["when"].dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    X["start"] = [moment.time() for moment in pd.date_range("2024-01-01", periods=60, freq="7min")]
    y = np.arange(60) % 2
    assert edgewise.data_findings(X, y, list(X)) == []  # different in every row, but no identifiers
    constant = X.assign(when=pd.Timestamp("2024-01-01"))
    assert [f.kind for f in edgewise.data_findings(constant, y, list(X))] == ["constant"]
    weeks = pd.DataFrame({"when": pd.date_range("2024-01-01", periods=60).floor("15D")})
    y = (weeks["when"] > weeks["when"].median()).to_numpy()
    assert [f.kind for f in edgewise.data_findings(weeks, y, ["when"])] == ["leak"]

"""Dates on the command line: the same models and answers as in Python."""

import io

import numpy as np
import pandas as pd
import pytest
from support_cli import done, done_json, refused

import edgewise


@pytest.fixture(scope="module")
def trips():
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2022-01-01") + pd.to_timedelta(rng.integers(0, 10**6, 300), unit="min")
    frame = pd.DataFrame(
        {"when": when, "start": [t.time() for t in when], "a": rng.normal(size=300)}
    )
    frame["kind"] = np.where(frame["when"].dt.day_of_week >= 5, "leisure", "work")
    return frame


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line_and_python_agree(trips, tmp_path, ending):
    data, model = tmp_path / f"t.{ending}", tmp_path / "m.edgewise"
    if ending == "csv":
        trips.to_csv(data, index=False)
    else:
        trips.to_parquet(data)
    options = ["--target", "kind", "--method", "mart", "--seed", 0]
    facts = done_json("fit", data, "--model", model, *options)
    assert facts["data"]["dates"] == 2
    assert facts["training_error"] == 0.0
    X = trips.drop(columns="kind")
    fitted = edgewise.load(model)
    mine = edgewise.MARTClassifier(random_state=0).fit(X, trips["kind"])
    assert mine.dates_ == fitted.dates_
    np.testing.assert_array_equal(mine.predict_proba(X), fitted.predict_proba(X))
    mine.save(model)
    said = pd.read_csv(io.StringIO(done("predict", model, data, "--proba")))
    np.testing.assert_array_equal(said.iloc[:, 0], mine.predict(X))
    np.testing.assert_array_equal(said.iloc[:, 1:].to_numpy(), mine.predict_proba(X))
    if ending == "csv":  # where pandas reads dates as text
        read = pd.read_csv(data).drop(columns="kind")
        np.testing.assert_array_equal(fitted.predict_proba(read), mine.predict_proba(X))
    assert "including 2 dates" in done("inspect", model)


def test_a_column_that_is_no_longer_a_date(trips, tmp_path):
    trips.to_csv(tmp_path / "t.csv", index=False)
    model = tmp_path / "m.edgewise"
    done("fit", tmp_path / "t.csv", "--target", "kind", "--method", "mart", "--model", model)
    trips.assign(when=np.arange(300.0)).to_csv(tmp_path / "n.csv", index=False)
    assert "'when' held dates in fit" in refused("predict", model, tmp_path / "n.csv")
    trips.assign(a=trips["when"]).to_csv(tmp_path / "n.csv", index=False)
    assert "'a' held numbers in fit" in refused("predict", model, tmp_path / "n.csv")


def test_reports_write_dates_as_dates(trips, tmp_path):
    trips.to_parquet(tmp_path / "t.parquet")
    files = ["--model", tmp_path / "m.edgewise", "--report", tmp_path / "r.html"]
    options = ["--target", "kind", "--method", "mart"]
    facts = done_json("fit", tmp_path / "t.parquet", *options, *files)
    assert not any("identifier" in finding for finding in facts["findings"])
    assert str(trips["when"].min()).replace(" ", "T") in (tmp_path / "r.html").read_text()


def test_comparisons_take_dates(trips, tmp_path):
    trips.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "kind", "--methods", "mart,sklearn-rf", "--repeats", 1, "--folds", 2]
    facts = done_json("compare", tmp_path / "t.csv", *options, "--out", tmp_path / "runs")
    errors = {method["method"]: method["error"] for method in facts["methods"]}
    assert errors.keys() == {"mart", "sklearn-rf"}
    assert errors["mart"] < 0.02

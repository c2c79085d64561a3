"""The command line from probabilities to decisions: predict, evaluate, tune, fit and export."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from support_cli import cars, done, done_json, refused, run, write_csv

import edgewise
from edgewise._data.cross_fit import examples, held_out_probabilities
from edgewise.decide import ConformalSets, fit_offsets

ROUNDS = ("--method", "aoso", "--param", "n_estimators=8")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(tmp_path):
    done("fit", "iris", "--model", "iris.edgewise", *ROUNDS)
    return tmp_path / "iris.edgewise"


@pytest.fixture
def rare(tmp_path):
    """A table with a rare class that argmax hardly ever says, and its model with thresholds."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(600) < 0.12, "rare", np.where(rng.random(600) < 0.5, "a", "b"))
    x = np.where(y == "rare", 0.8, 0.0) + rng.normal(size=600)
    write_csv(tmp_path / "rare.csv", {"id": np.arange(600), "x": x.round(3), "label": y})
    return done_json(
        "fit", "rare.csv", "--target", "label", "--drop", "id", "--model", "rare.edgewise",
        "--decide", "macro-f1", *ROUNDS,
    )  # fmt: skip


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


# --- predict --------------------------------------------------------------------------------------


def test_the_most_probable_labels(model, iris):
    X, _ = iris
    fitted = edgewise.load(model)
    proba = fitted.model_.scores(np.asarray(X, dtype=np.float64), 1)
    header, *rows = rows_of(done("predict", model, "iris", "--top-k", 2))
    assert header == ["prediction_1", "probability_1", "prediction_2", "probability_2"]
    best = np.argsort(-proba, axis=1, kind="stable")[:, :2]
    assert [[row[0], row[2]] for row in rows] == fitted.classes_[best].tolist()
    assert all(float(row[1]) >= float(row[3]) for row in rows)
    # more than there are classes: all of them
    facts = done_json("predict", model, "iris", "--top-k", 9)
    assert np.shape(facts["labels"]) == np.shape(facts["probabilities"]) == (150, 3)


def test_columns_are_kept_as_they_stand(tmp_path, model):
    header, *_ = rows_of(done("predict", model, "iris"))
    names = edgewise.load(model).feature_names_in_
    table = {"key": ["007", "x y"], **{name: [5.0, 6.0] for name in names}}
    write_csv(tmp_path / "new.csv", table)
    out = rows_of(done("predict", model, "new.csv", "--keep", "key", "--keep", names[0]))
    assert out[0] == ["key", names[0], *header]
    assert [row[0] for row in out[1:]] == ["007", "x y"]
    facts = done_json("predict", model, "new.csv", "--keep", "key")
    assert facts["kept"] == {"key": ["007", "x y"]}
    said = refused("predict", model, "new.csv", "--keep", "nothing")
    assert "--keep must name columns of new.csv: key," in said
    assert "Got 'nothing'" in said


def test_sets_of_labels(model):
    facts = done_json("predict", model, "iris", "--sets", 0.9, "--calibrate", "iris")
    fitted = edgewise.load(model)
    proba = np.array(done_json("predict", model, "iris", "--proba")["probabilities"])
    codes = np.repeat(np.arange(3), 50)
    inside = ConformalSets(0.9).fit(proba, codes).sets(proba)
    assert facts["sets"] == [fitted.classes_[row].tolist() for row in inside]
    assert facts["mean_size"] == pytest.approx(inside.sum(axis=1).mean())
    header, *rows = rows_of(
        done("predict", model, "iris", "--sets", 0.999 - 0.009, "--calibrate", "iris")
    )
    assert header == ["set", "size"]
    assert all(len([w for w in row[0].split("|") if w]) == int(row[1]) for row in rows)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sets", "1.5", "--calibrate", "iris"), "below 1. Got 1.5"),
        (("--sets", "0.999", "--calibrate", "iris"), "at least 999 calibration rows. Got 150"),
        (("--sets", "0.9", "--calibrate", "wine"), "wine"),
    ],
)
def test_bad_sets(model, words, message):
    assert message in refused("predict", model, "iris", *words)


@pytest.mark.parametrize(
    "words", [("--proba", "--top-k", "2"), ("--sets", "0.9"), ("--calibrate", "iris")]
)
def test_answers_exclude_each_other(model, words):
    result = run("predict", model, "iris", *words)
    assert result.exit_code == 2


# --- thresholds -----------------------------------------------------------------------------------


def test_thresholds_fitted_with_the_model_are_used(rare, tmp_path):
    found = rare["thresholds"]
    assert found["metric"] == "macro-f1"
    assert found["applied"]
    assert found["gain"] > found["gain_error"]
    fitted = edgewise.load("rare.edgewise")
    said = done_json("predict", "rare.edgewise", "rare.csv")["predictions"]
    proba = np.array(done_json("predict", "rare.edgewise", "rare.csv", "--proba")["probabilities"])
    offsets = np.array([found["offsets"][label] for label in fitted.classes_])
    assert said == fitted.classes_[(np.log(proba) + offsets).argmax(axis=1)].tolist()
    assert said.count("rare") > (proba.argmax(axis=1) == 2).sum()
    result = run("predict", "rare.edgewise", "rare.csv")
    assert "thresholds for macro-f1" in result.stderr
    judged = done_json("evaluate", "rare.edgewise", "rare.csv", "--target", "label")
    truth = [row[2] for row in rows_of((tmp_path / "rare.csv").read_text())[1:]]
    assert judged["decided_by"] == "macro-f1"
    assert judged["wrong"] == sum(a != b for a, b in zip(said, truth, strict=True))
    shown = done("evaluate", "rare.edgewise", "rare.csv", "--target", "label")
    assert "thresholds for macro-f1" in shown


def test_a_required_recall_is_told_beside_the_accuracy(rare):
    words = ("fit", "rare.csv", "--target", "label", "--drop", "id", "--model", "m.edgewise")
    result = run(*words, "--decide", "recall:rare:0.6", *ROUNDS)
    found = done_json(*words, "--decide", "recall:rare:0.6", *ROUNDS)["thresholds"]
    assert found["applied"]
    before, after = found["out_of_fold"]["without"], found["out_of_fold"]["with"]
    assert list(before) == list(after) == ["recall of rare", "accuracy"]
    assert before["recall of rare"] < 0.6
    # The search counts rows as their probabilities, too, so the labels may miss it by a little.
    assert after["recall of rare"] == pytest.approx(0.6, abs=0.15)
    for figures in (before, after):
        told = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
        assert told in " ".join(result.stdout.split())


def test_a_report_of_thresholds_tells_them(rare, tmp_path):
    pytest.importorskip("vl_convert")
    done("fit", "rare.csv", "--target", "label", "--drop", "id", "--model", "m.edgewise",
         "--decide", "macro-f1", "--report", "r.html", *ROUNDS)  # fmt: skip
    assert "Thresholds for macro_f1 change the prediction of" in (tmp_path / "r.html").read_text()


def test_thresholds_of_another_model_are_refused(rare):
    done("fit", "rare.csv", "--target", "label", "--drop", "id", "--model", "rare.edgewise",
         "--method", "aoso", "--param", "n_estimators=2")  # fmt: skip
    said = refused("predict", "rare.edgewise", "rare.csv")
    assert "belongs to another model" in said


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"offsets": "x"}', "[" * 5000])
def test_damaged_thresholds_are_refused(rare, tmp_path, content):
    (tmp_path / "rare.edgewise.decision.json").write_text(content)
    assert "was not written by fit --decide" in refused("predict", "rare.edgewise", "rare.csv")


@pytest.mark.parametrize("offsets", [[0.0], [0.0, 0.0, float("nan")]])
def test_thresholds_of_the_wrong_shape_are_refused(rare, tmp_path, offsets):
    path = tmp_path / "rare.edgewise.decision.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"offsets": offsets}))
    assert "a number for each of the 3 classes" in refused("predict", "rare.edgewise", "rare.csv")


@pytest.mark.parametrize("metric", ["f2", "recall:rare", "recall:none:0.5", "recall:rare:2"])
def test_bad_metrics_of_thresholds(rare, metric):
    said = refused(
        "fit", "rare.csv", "--target", "label", "--model", "m.edgewise", "--decide", metric, *ROUNDS
    )
    assert "--decide must be one of macro-f1" in said
    assert f"Got {metric!r}" in said


# --- evaluate and tune ----------------------------------------------------------------------------


def test_costs_and_metrics_of_an_evaluation(tmp_path, model):
    (tmp_path / "cost.csv").write_text("0,1,9\n1,0,9\n1,1,0\n")
    words = ("evaluate", model, "iris", "--cost", "cost.csv", "--metric", "macro-f1")
    facts = done_json(*words, "--metric", "matthews_corrcoef")
    said = np.array(done_json("predict", model, "iris", "--cost", "cost.csv")["predictions"])
    classes = edgewise.load(model).classes_
    cost = np.array([[0, 1, 9], [1, 0, 9], [1, 1, 0.0]])
    paid = cost[np.repeat(np.arange(3), 50), np.searchsorted(classes, said)]
    assert facts["cost"]["mean"] == pytest.approx(paid.mean())
    low, high = facts["cost"]["interval"]
    assert low <= facts["cost"]["mean"] <= high
    most = np.array(done_json("predict", model, "iris")["predictions"])
    plain = cost[np.repeat(np.arange(3), 50), np.searchsorted(classes, most)].mean()
    assert facts["cost"]["most_probable"] == pytest.approx(plain)
    assert set(facts["metrics"]) == {"macro-f1", "matthews_corrcoef"}
    assert facts["metrics"]["macro-f1"] > 0.9
    shown = done(*words)
    assert "macro-f1: 0.9" in shown
    assert "cost of a row: " in shown


def test_bad_metrics_of_an_evaluation(tmp_path, model):
    said = refused("evaluate", model, "iris", "--metric", "f2")
    assert "A metric must be one of accuracy, balanced-accuracy, log-loss, macro-f1" in said
    assert "Got 'f2'" in said
    # a metric that needs labels the rows lack
    with_one = done("predict", model, "iris").splitlines()[1]
    names = edgewise.load(model).feature_names_in_
    write_csv(tmp_path / "one.csv", {n: [5.0, 6.0] for n in names} | {"target": [with_one] * 2})
    said = refused("evaluate", model, "one.csv", "--metric", "roc_auc_ovr")
    assert "'roc_auc_ovr' cannot judge these rows" in said


def test_trials_are_compared_by_the_metric(tmp_path):
    write_csv(tmp_path / "cars.csv", cars(150))
    words = ("cars.csv", "--target", "origin", "--budget", 600, "--trials", 4)
    facts = done_json("tune", *words, "--metric", "macro-f1")
    scores = [trial["score"] for trial in facts["trials"]]
    assert facts["metric"] == "macro-f1"
    assert facts["validation"]["score"] == max(scores)
    plain = done_json("tune", *words)
    assert [t["score"] for t in plain["trials"]] == [-t["log_loss"] for t in plain["trials"]]
    assert "Got 'f2'" in refused("tune", *words, "--metric", "f2")


# --- export ---------------------------------------------------------------------------------------


def test_exports(tmp_path, model, iris):
    X, _ = iris
    expected = np.array(done_json("predict", model, "iris", "--proba")["probabilities"])
    facts = done_json("export", model, "--to", "python")
    assert facts["out"] == str(tmp_path / "iris.py")
    assert facts["bytes"] == (tmp_path / "iris.py").stat().st_size
    code = (
        "import json, iris; print(json.dumps([iris.predict_proba(r) for r in json.load(open(0))]))"
    )
    done_there = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(np.asarray(X).tolist()),
        capture_output=True, text=True, check=True, cwd=tmp_path,
    )  # fmt: skip
    assert np.allclose(json.loads(done_there.stdout), expected, atol=1e-12)

    onnxruntime = pytest.importorskip("onnxruntime")
    result = run("export", model, "--to", "onnx", "--out", "m.onnx")
    assert "onnx: m.onnx" in result.stdout
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    _, proba = session.run(None, {"X": np.asarray(X, dtype=np.float64)})
    assert np.allclose(proba, expected, atol=1e-6)

    treelite = pytest.importorskip("treelite")
    done("export", model, "--to", "treelite")
    trees = treelite.Model.deserialize(tmp_path / "iris.treelite")
    given = treelite.gtil.predict(trees, np.asarray(X, dtype=np.float64))
    assert np.allclose(given.reshape(expected.shape), expected, atol=1e-6)

    done("export", model, "--to", "c")
    assert "model_predict" in (tmp_path / "iris.c").read_text()


def test_bad_exports(tmp_path, model):
    assert run("export", model, "--to", "java").exit_code == 2
    assert "There is no model file" in refused("export", "none.edgewise", "--to", "c")
    said = refused("export", model, "--to", "c", "--out", model)
    assert "would be overwritten" in said
    assert "There is no folder" in refused("export", model, "--to", "c", "--out", "x/y.c")


def test_offsets_of_the_command_are_those_of_the_library(rare, tmp_path):
    rows = rows_of((tmp_path / "rare.csv").read_text())[1:]
    X, y = np.array([[float(row[1])] for row in rows]), np.array([row[2] for row in rows])
    booster = edgewise.AOSOLogitBoostClassifier(n_estimators=8, random_state=0)
    classes = np.unique(y)
    _, proba = held_out_probabilities(booster, examples(X, y, None), classes, 5, n_jobs=None)
    found = fit_offsets(proba, np.searchsorted(classes, y), "macro_f1")
    assert rare["thresholds"]["gain"] == pytest.approx(found.gain)

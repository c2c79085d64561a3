"""edgewise fit, predict, evaluate and inspect: a model file from a table, and its use."""

import csv
import io
import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris, load_wine
from support_cli import cars, done, done_json, process, refused, run, small_disk, write_csv

import edgewise
from edgewise.cli import _report

ROUNDS = ("--method", "aoso", "--param", "n_estimators=8")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def iris_model(tmp_path):
    done("fit", "iris", "--model", "iris.edgewise", *ROUNDS)
    return tmp_path / "iris.edgewise"


@pytest.fixture
def cars_model(tmp_path):
    write_csv(tmp_path / "cars.csv", cars(150))
    done("fit", "cars.csv", "--target", "origin", "--model", "cars.edgewise", *ROUNDS)
    return tmp_path / "cars.edgewise"


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


# --- fit ------------------------------------------------------------------------------------------


def test_the_model_is_that_of_the_library(tmp_path, iris):
    facts = done_json(
        "fit", "iris", "--model", "m.edgewise", *ROUNDS, "--method", "logitboost",
        "--param", "max_leaf_nodes=4", "--param", "early_stopping=false", "--seed", 5,
    )  # fmt: skip
    X, y = iris
    expected = edgewise.LogitBoostClassifier(
        n_estimators=8, max_leaf_nodes=4, early_stopping=False, random_state=5
    ).fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    model = edgewise.load(tmp_path / "m.edgewise")
    assert np.array_equal(expected.predict_proba(X), model.predict_proba(_frame(X, model)))
    assert model.get_params() == expected.get_params()
    assert facts["rounds"] == 8
    assert facts["algorithm"] == "LogitBoostClassifier"
    assert facts["parameters"] == {
        "n_estimators": 8, "max_leaf_nodes": 4, "early_stopping": False,
    }  # fmt: skip
    wrong = expected.predict(X) != expected.classes_[y]
    assert facts["training_error"] == pytest.approx(wrong.mean())
    assert facts["model_bytes"] == (tmp_path / "m.edgewise").stat().st_size


def _frame(X, model):
    return pd.DataFrame(X, columns=model.feature_names_in_)


def test_what_is_shown(tmp_path):
    write_csv(tmp_path / "cars.csv", cars())
    shown = done("fit", "cars.csv", "--model", "m.edgewise", *ROUNDS)
    assert "cars.csv: 90 rows, 3 features (2 numbers, 1 category), 3 classes" in shown
    assert "note: column 'origin', the last column, was taken as the target" in shown
    assert "AOSOLogitBoostClassifier: 8 rounds (all rounds done)" in shown
    assert "again: edgewise fit cars.csv --target origin --method aoso" in shown


def test_the_default_method_says_what_to_expect(tmp_path):
    write_csv(tmp_path / "cars.csv", cars(90))
    facts = done_json("fit", "cars.csv", "--model", "m.edgewise", "--param", "effort=fast")
    value, low, high = facts["expected_error"]
    assert facts["algorithm"] == "AutoBoostClassifier"
    assert 0 <= low <= value <= high <= 1
    assert edgewise.load(tmp_path / "m.edgewise").expected_error_ == (value, low, high)
    shown = done("fit", "cars.csv", "--model", "m.edgewise", "--param", "effort=fast")
    assert f"expected error on new rows: {100 * value:.2f} %" in shown
    assert "again: edgewise fit cars.csv --target origin --method auto" in shown


def test_parameters_from_a_file(tmp_path):
    (tmp_path / "p.json").write_text(json.dumps({"params": {"n_estimators": 3}, "other": 1}))
    words = ("fit", "iris", "--method", "aoso", "--model", "m.edgewise", "--params", "p.json")
    assert done_json(*words)["rounds"] == 3
    assert done_json(*words, "--param", "n_estimators=4")["rounds"] == 4


@pytest.mark.skipif(not _report.can_report(), reason="the libraries of reports are not installed")
def test_reports(tmp_path, iris_model):
    write_csv(tmp_path / "cars.csv", cars(150))
    words = ("fit", "cars.csv", "--model", "m.edgewise", *ROUNDS, "--report", "r.html")
    assert done_json(*words)["report"] == "r.html"
    assert "a model of 120 rows, tested on 30 others" in (tmp_path / "r.html").read_text()
    write_csv(tmp_path / "test.csv", cars(60, seed=1))
    done(*words, "--test", "test.csv")
    assert "AOSOLogitBoostClassifier on cars.csv<" in (tmp_path / "r.html").read_text()


# --- predict --------------------------------------------------------------------------------------


def test_labels_and_probabilities(iris_model, iris):
    model = edgewise.load(iris_model)
    X, _ = iris
    labels = rows_of(done("predict", iris_model, "iris"))
    assert labels[0] == ["prediction"]
    assert [row[0] for row in labels[1:]] == model.predict(_frame(X, model)).tolist()
    chances = rows_of(done("predict", iris_model, "iris", "--proba"))
    assert chances[0] == ["prediction", *model.classes_.tolist()]
    assert [row[0] for row in chances[1:]] == [row[0] for row in labels[1:]]
    read_back = np.array([row[1:] for row in chances[1:]], dtype=float)
    assert np.array_equal(read_back, model.predict_proba(_frame(X, model)))
    facts = done_json("predict", iris_model, "iris")
    assert facts["predictions"] == [row[0] for row in labels[1:]]
    facts = done_json("predict", iris_model, "iris", "--proba")
    assert np.array_equal(facts["probabilities"], read_back)


def test_columns_are_found_by_name(tmp_path, cars_model):
    columns = cars(40, seed=3)
    plain = done("predict", cars_model, write_csv(tmp_path / "new.csv", columns))
    turned = {"extra": range(40), **dict(reversed(columns.items()))}
    del turned["origin"]
    assert done("predict", cars_model, write_csv(tmp_path / "turned.csv", turned)) == plain
    said = [row[0] for row in rows_of(plain)[1:]]
    assert np.mean(np.array(said) == columns["origin"]) > 0.8


def test_categories_that_look_like_numbers(tmp_path):
    """What was text in fit is text in predict, even where all of it could be numbers."""
    write_csv(tmp_path / "t.csv", {"code": ["1", "2", "x", "3"] * 10, "y": [0, 1, 0, 1] * 10})
    done("fit", "t.csv", "--model", "m.edgewise", "--param", "min_samples_leaf=1", *ROUNDS)
    write_csv(tmp_path / "new.csv", {"code": [1, 2, 3]})
    assert rows_of(done("predict", "m.edgewise", "new.csv"))[1:] == [["0"], ["1"], ["1"]]


def test_output_to_a_file(tmp_path, iris_model):
    result = run("predict", iris_model, "iris", "--out", "said.csv")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (tmp_path / "said.csv").read_text() == done("predict", iris_model, "iris")


@pytest.mark.parametrize("named", [True, False])
def test_minimum_cost_labels(tmp_path, iris_model, iris, named):
    model = edgewise.load(iris_model)
    cost = np.array([[0, 1, 9], [1, 0, 50], [1, 1, 0.0]])  # in the order of the classes
    if named:
        order = [2, 0, 1]
        names = model.classes_[order]
        lines = [["", *names]]
        lines += [[names[i], *cost[order[i], order]] for i in range(3)]
    else:
        lines = cost
    text = "".join(",".join(map(str, line)) + "\n" for line in lines)
    (tmp_path / "cost.csv").write_text(text)
    said = rows_of(done("predict", iris_model, "iris", "--cost", "cost.csv"))[1:]
    proba = model.predict_proba(_frame(iris[0], model))
    expected = edgewise.minimum_cost_labels(proba, cost, model.classes_)
    assert [row[0] for row in said] == expected.tolist()
    assert expected.tolist() != model.predict(_frame(iris[0], model)).tolist()


@pytest.mark.parametrize(
    "text",
    [
        "1,2\n3,4\n",
        "a,b,c\n1,2,3\n",
        "1,2,x\n1,2,3\n1,2,3\n",
        ",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n",
    ],
)
def test_bad_costs(tmp_path, iris_model, text):
    (tmp_path / "cost.csv").write_text(text)
    message = refused("predict", iris_model, "iris", "--cost", "cost.csv")
    assert "cost.csv must" in message


def test_svmlight(tmp_path):
    X, y = load_iris(return_X_y=True)
    dump_svmlight_file(X, y, str(tmp_path / "t.svm"))
    done("fit", "t.svm", "--model", "m.edgewise", *ROUNDS)
    said = rows_of(done("predict", "m.edgewise", "t.svm"))[1:]
    assert np.mean([int(row[0]) for row in said] == y) > 0.9
    assert done_json("evaluate", "m.edgewise", "t.svm")["error"] < 0.1
    dump_svmlight_file(np.hstack([X, X]), y, str(tmp_path / "wide.svm"))
    assert "wide.svm has 8 features; the model needs 4" in refused(
        "predict", "m.edgewise", "wide.svm"
    )


# --- evaluate -------------------------------------------------------------------------------------


def test_figures_of_an_evaluation(tmp_path, cars_model):
    test = cars(80, seed=5)
    facts = done_json("evaluate", cars_model, write_csv(tmp_path / "test.csv", test))
    said = [row[0] for row in rows_of(done("predict", cars_model, tmp_path / "test.csv"))[1:]]
    wrong = np.array(said) != test["origin"]
    assert (facts["rows"], facts["wrong"]) == (80, wrong.sum())
    assert facts["error"] == pytest.approx(wrong.mean())
    assert facts["interval"] == list(edgewise.metrics.error_interval(int(wrong.sum()), 80))
    assert facts["target"] == "origin"
    for of_class in facts["classes"]:
        of_label = test["origin"] == of_class["class"]
        assert of_class["rows"] == of_label.sum()
        assert of_class["recall"] == pytest.approx(1 - wrong[of_label].mean())
    counts = [confusion["count"] for confusion in facts["worst_confusions"]]
    assert sum(counts) <= wrong.sum()


def test_an_evaluation_in_words(iris_model):
    shown = done("evaluate", iris_model, "iris")
    assert "error: " in shown
    assert "versicolor taken for virginica" in shown
    assert "setosa        50" in shown


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"power": [1], "weight": [2], "body": ["van"]}, "no column besides the features"),
        ({"power": [1], "weight": [2], "origin": ["usa"]}, "lacks the column 'body'"),
        (
            {"power": [1], "weight": [2], "body": ["van"], "origin": ["mars"]},
            "holds the label mars, which does not occur",
        ),
    ],
)
def test_bad_tables_for_an_evaluation(tmp_path, cars_model, columns, message):
    write_csv(tmp_path / "t.csv", columns)
    assert message in refused("evaluate", cars_model, "t.csv")


# --- inspect --------------------------------------------------------------------------------------


def test_what_is_in_a_model(cars_model):
    facts = done_json("inspect", cars_model)
    model = edgewise.load(cars_model)
    assert facts["algorithm"] == "AOSOLogitBoostClassifier"
    assert facts["classes"] == ["europe", "japan", "usa"]
    assert facts["categories"] == ["body"]
    assert (facts["rounds"], facts["trees"]) == (8, 8)
    assert facts["parameters"] == {"n_estimators": 8, "random_state": 0}
    named = dict(zip(model.feature_names_in_, model.feature_importances_, strict=True))
    assert facts["importances"] == {name: share for name, share in named.items() if share > 0}
    shares = list(facts["importances"].values())
    assert shares == sorted(shares, reverse=True)
    shown = done("inspect", cars_model, "--top", 1)
    assert "features: 3, including 1 category" in shown
    assert f"and {len(shares) - 1} more (--top)" in shown


def test_a_tree_as_text(cars_model):
    shown = done("inspect", cars_model, "--tree", 0)
    assert "power" in shown.partition("share of gain")[2]
    assert "from 0 to 7. Got 8" in refused("inspect", cars_model, "--tree", 8)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "magic"], "There is no method 'magic'. There are auto, "),
        (["--param", "rate"], "--param must be NAME=VALUE"),
        (["--param", "rate=1"], "AutoBoostClassifier has no parameter 'rate'."),
        (["--param", "time_limit=short"], "must be a number above 0"),
        (["--params", "none.json"], "none.json: No such file"),
        (["--target", "z"], "iris has no column 'z'"),
        (["--model", "none/m.edgewise"], "There is no folder 'none' to write m.edgewise to"),
        (["--report", "none/r.html"], "There is no folder 'none'"),
    ],
)
def test_bad_fits(tmp_path, words, message):
    assert message in refused("fit", "iris", "--model", "m.edgewise", *words)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", ["[1]", "{", '{"params": 3}'])
def test_bad_files_of_parameters(tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    message = refused("fit", "iris", "--model", "m.edgewise", "--params", "p.json")
    assert message.startswith("p.json")


@pytest.mark.parametrize(
    ("labels", "message"), [([1, 1, 1], "one class only"), (["", 0, 1], "is missing in 1 of 3")]
)
def test_bad_targets(tmp_path, labels, message):
    write_csv(tmp_path / "t.csv", {"a": range(3), "y": labels})
    assert message in refused("fit", "t.csv", "--model", "m.edgewise")


@pytest.mark.parametrize("command", ["predict", "evaluate", "inspect"])
@pytest.mark.parametrize("content", [None, b"", b"nonsense", b"\x00" * 200])
def test_unreadable_models(tmp_path, command, content):
    if content is not None:
        (tmp_path / "m.edgewise").write_bytes(content)
    data = [] if command == "inspect" else ["iris"]
    message = refused(command, "m.edgewise", *data)
    assert "m.edgewise" in message


def test_a_model_that_was_cut_off(tmp_path, iris_model):
    whole = iris_model.read_bytes()
    iris_model.write_bytes(whole[: len(whole) // 2])
    assert refused("inspect", iris_model).startswith(f"{iris_model}: ")


def test_predict_refuses_tables_of_another_kind(tmp_path, iris_model):
    assert "lacks the column 'sepal length (cm)'" in refused("predict", iris_model, "wine")
    assert run("predict", iris_model, "iris", "--sets", "0.9", "--cost", "c.csv").exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["fit", "iris", "--model", "new"],
        ["predict", "iris.edgewise", "iris", "--proba", "--out", "new"],
        ["tune", "iris", "--budget", "5", "--trials", "1", "--out", "new"],
    ],
    ids=lambda words: words[0],
)
def test_a_full_disk(tmp_path, iris_model, words):
    (tmp_path / "new").write_text("old")
    files = sorted(os.listdir(tmp_path))
    with small_disk(500):
        message = refused(*words)
    assert message.endswith("new: File too large")
    assert sorted(os.listdir(tmp_path)) == files  # nothing half-written
    assert (tmp_path / "new").read_text() == "old"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device(iris_model):
    assert "No space left on device" in refused("predict", iris_model, "iris", "--out", "/dev/full")
    with open("/dev/full", "w") as nowhere:
        full = process(
            "predict", iris_model, "iris",
            capture_output=False, stdout=nowhere, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert full.returncode == 1
    assert full.stderr == "Cannot write: No space left on device\n"


def test_wine_from_end_to_end(tmp_path):
    """As a user does it: two files, fit, evaluate, predict, by the installed command line."""
    X, y = load_wine(return_X_y=True)
    for part, rows in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        columns = {f"f{j}": X[rows, j] for j in range(X.shape[1])}
        write_csv(tmp_path / f"{part}.csv", {**columns, "kind": y[rows]}, delimiter=";")
    for words in (
        ["fit", "train.csv", "--target", "kind", "--model", "wine.edgewise", *ROUNDS],
        ["evaluate", "wine.edgewise", "test.csv", "--json"],
    ):
        result = process(*words)
        assert (result.returncode, result.stderr) == (0, ""), result
    facts = json.loads(result.stdout)
    assert facts["error"] < 0.15
    assert facts["target"] == "kind"


# --- text that is numbers -------------------------------------------------------------------------


def priced(path, price, n=60):
    rows = [f"{price(1000 * (i % 10) + 1)};{'dear' if i % 10 > 4 else 'cheap'}" for i in range(n)]
    path.write_text("price;kind\n" + "\n".join(rows) + "\n")
    return path


def euros(value):
    return f"{value:,} EUR".replace(",", ".")


def test_text_of_numbers_is_read_alike_by_fit_predict_and_python(tmp_path):
    data, model = priced(tmp_path / "t.csv", euros), tmp_path / "m.edgewise"
    told = done("fit", data, "--target", "kind", "--method", "mart", "--model", model)
    assert "note: column 'price' is text of numbers and was read as numbers" in told
    assert "training error 0.00 %" in told
    fitted = edgewise.load(model)
    assert fitted.notations_ == {0: ","}
    expected = ["dear" if i % 10 > 4 else "cheap" for i in range(60)]
    # As plain text, a point would be read as a decimal point and not as one of thousands.
    few = priced(tmp_path / "n.csv", lambda value: f"{value:,}".replace(",", "."))
    for source in (data, few):
        assert done("predict", model, source).split()[1:] == expected
    frame = pd.read_csv(data, sep=";")
    assert fitted.predict(frame[["price"]]).tolist() == expected
    pd.DataFrame({"price": [1000.0 * (i % 10) + 1 for i in range(60)]}).to_parquet(
        tmp_path / "p.parquet"
    )
    assert done("predict", model, tmp_path / "p.parquet").split()[1:] == expected
    assert "error: 0.00 %" in done("evaluate", model, data)
    told = done("compare", data, "--test", few, "--methods", "mart", "--out", tmp_path / "runs")
    assert "0.00" in told


def test_text_of_numbers_stays_text_on_request(tmp_path):
    data, model = priced(tmp_path / "t.csv", euros), tmp_path / "m.edgewise"
    options = ["--target", "kind", *ROUNDS, "--category", "price"]
    facts = done_json("fit", data, "--model", model, *options)
    assert facts["data"]["categories"] == 1
    fitted = edgewise.load(model)
    assert fitted.notations_ == {}
    assert list(fitted.categories_) == [0]
    assert "dear" in done("predict", model, data)


def test_tuned_models_know_it_too(tmp_path):
    data, model = priced(tmp_path / "t.csv", euros), tmp_path / "m.edgewise"
    options = ["--target", "kind", "--method", "mart", "--trials", 1, "--budget", 5]
    done("tune", data, "--model", model, *options)
    assert edgewise.load(model).notations_ == {0: ","}

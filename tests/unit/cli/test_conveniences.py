"""Small comforts of the command line: standard output, suggestions, commands to repeat, help."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer
from support_cli import cars, done, done_json, refused, run, write_csv

from edgewise import load
from edgewise.cli._app import commands

COMMANDS = [*typer.main.get_command(commands).commands]
ROUNDS = ("--method", "mart", "--param", "n_estimators=3")


@pytest.fixture(name="fitted", autouse=True)
def fitted_cars(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "cars.csv", {"id": [f"K{i}" for i in range(90)], **cars()})
    done("fit", "cars.csv", "--drop", "id", "--model", "m.edgewise", *ROUNDS)
    return load("m.edgewise")


# --- predictions ----------------------------------------------------------------------------------


def test_prediction_probabilities_and_key_together(fitted):
    told = done("predict", "m.edgewise", "cars.csv", "--proba", "--keep", "id").splitlines()
    assert told[0] == "id,prediction,europe,japan,usa"
    for line in told[1:]:
        _, label, *proba = line.split(",")
        assert label == fitted.classes_[np.argmax(list(map(float, proba)))]
    facts = done_json("predict", "m.edgewise", "cars.csv", "--proba", "--keep", "id")
    assert {"predictions", "probabilities", "classes", "kept"} <= set(facts)


def test_probabilities_beside_labels_of_least_cost():
    Path("cost.csv").write_text("0,1,1\n1,0,1\n99,99,0\n")
    words = ("predict", "m.edgewise", "cars.csv", "--cost", "cost.csv")
    plain, told = (done(*words, *more).splitlines() for more in ((), ("--proba",)))
    assert [line.split(",")[0] for line in told] == plain
    assert told[0] == "prediction,europe,japan,usa"


def test_a_class_named_prediction_keeps_its_column():
    labels = ["prediction"] * 30 + ["other"] * 30
    write_csv(Path("odd.csv"), {"x": range(60), "kind": labels})
    done("fit", "odd.csv", "--model", "odd.edgewise", *ROUNDS)
    told = done("predict", "odd.edgewise", "odd.csv", "--proba")
    assert told.splitlines()[0] == "prediction_,other,prediction"


def test_a_dash_is_standard_output():
    words = ("predict", "m.edgewise", "cars.csv")
    assert done(*words, "--out", "-") == done(*words)
    code = done("export", "m.edgewise", "--to", "python", "--out", "-")
    assert "def predict_proba(row)" in code
    assert run("export", "m.edgewise", "--to", "c", "--out", "-", "--json").exit_code == 2
    assert not Path("-").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "cars.csv", "--model", "-"),
        ("fit", "cars.csv", "--model", "x.edgewise", "--report", "-"),
        ("tune", "cars.csv", "--budget", "1", "--out", "-"),
        ("tune", "cars.csv", "--budget", "1", "--model", "-"),
        ("compare", "cars.csv", "--methods", "mart", "--out", "-"),
        ("reproduce", "truth-tables", "--out", "-"),
    ],
    ids=" ".join,
)
def test_no_file_is_named_with_a_dash(words):
    assert "- means standard output" in refused(*words)
    assert not Path("-").exists()


def test_one_row_is_not_rows():
    Path("one.csv").write_text("\n".join(Path("cars.csv").read_text().splitlines()[:2]))
    result = run("predict", "m.edgewise", "one.csv", "--out", "p.csv")
    assert result.stderr == "1 row: p.csv\n"


# --- suggestions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("predict", "m.edgewise", "cars.csv", "--keep", "idd"), "'id'"),
        (("evaluate", "m.edgewise", "cars.csv", "--metric", "makro-f1"), "'macro-f1'"),
        (("evaluate", "m.edgewise", "cars.csv", "--target", "orign"), "'origin'"),
        (("fit", "cars.csv", "--model", "x", "--decide", "recall:jpan:0.5", *ROUNDS), "'japan'"),
        (("fit", "cars.csv", "--model", "x", "--category", "powr"), "'power'"),
        (("compare", "cars.csv", "--methods", "lightgmb"), "'lightgbm'"),
        (("compare", "cars.csv", "--methods", "mart", "--param", "mart.eta=1"), "'learning_rate'"),
        (("tune", "cars.csv", "--budget", "1", "--method", "sammy"), "'samme'"),
        (("reproduce", "truth-table"), "'truth-tables'"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else None,
)
def test_the_nearest_name_is_suggested(words, wanted):
    assert f"Did you mean {wanted}?" in refused(*words)


def test_the_nearest_label_is_suggested():
    text = Path("cars.csv").read_text().replace("japan", "japann", 1)
    Path("other.csv").write_text(text)
    message = refused("evaluate", "m.edgewise", "other.csv", "--target", "origin")
    assert "holds the label japann" in message
    assert "Did you mean 'japan'?" in message


def test_text_in_another_encoding_names_the_option():
    text = Path("cars.csv").read_text().replace("van", "wägen")
    Path("latin.csv").write_bytes(text.encode("latin-1"))
    message = refused("fit", "latin.csv", "--model", "x.edgewise", *ROUNDS)
    assert "--encoding latin-1" in message


# --- repeating and help ---------------------------------------------------------------------------


def test_the_command_of_a_fit_repeats_everything():
    write_csv(Path("test.csv"), {"id": [f"T{i}" for i in range(60)], **cars(60, seed=1)})
    words = ["fit", "cars.csv", "--drop", "id", "--model", "a.edgewise", "--report", "r.html"]
    words += ["--test", "test.csv", "--decide", "macro-f1", "--jobs", "1", "--seed", "3", *ROUNDS]
    told = done(*words)
    first = load("a.edgewise").to_text()
    (again,) = re.findall("^again: (.*)$", told, re.MULTILINE)
    for path in ("a.edgewise", "a.edgewise.decision.json", "r.html"):
        Path(path).unlink()
    repeated = done(*shlex.split(again)[1:])
    assert load("a.edgewise").to_text() == first
    assert Path("a.edgewise.decision.json").exists()
    assert Path("r.html").exists()
    assert f"again: {again}" in repeated


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != "lab"])
def test_every_example_has_its_own_line(command):
    help_text = run(command, "--help").stdout
    _, examples = help_text.split("Examples:")
    lines = [line.strip() for line in examples.strip().splitlines() if line.strip()]
    assert len(lines) >= 2
    assert all(line.startswith(f"edgewise {command}") for line in lines)


def test_no_python_representation_is_shown():
    told = [done("inspect", "m.edgewise"), done("evaluate", "m.edgewise", "cars.csv")]
    told += [str(done_json("inspect", "m.edgewise"))]
    told += [done_json("fit", "cars.csv", "--model", "y.edgewise", *ROUNDS)["command"]]
    text = Path("cars.csv").read_text().replace("japan", "mars")
    Path("mars.csv").write_text(text)
    told += [refused("evaluate", "m.edgewise", "mars.csv", "--target", "origin")]
    told += [refused("fit", "cars.csv", "--model", "x", "--decide", "recall:x:2", *ROUNDS)]
    assert not re.search(r"np\.|numpy|array\(|dtype", " ".join(told))

"""Files and options made with bad intent: one line on stderr, nothing lost, no terminal steered."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from support_cli import cars, done, done_json, refused, write_csv

import edgewise
from edgewise import InvalidDataError
from edgewise.comparison._store import folder

ESCAPE = "\x1b[31m\x1b]0;owned\x07\x9b1m\u202e"
STEERING = [chr(c) for c in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066)]


def without_steering(text):
    return not any(character in text for character in STEERING)


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "cars.csv", cars())


@pytest.fixture
def fast():
    return ["--method", "aoso", "--param", "n_estimators=2"]


@pytest.fixture
def model(table, fast, tmp_path):
    done("fit", table, "--model", tmp_path / "m.edgewise", *fast)
    return tmp_path / "m.edgewise"


@pytest.fixture
def hostile(tmp_path):
    """A model whose names and labels steer terminals and are formulas of spreadsheets."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((60, 2)), columns=["a" + ESCAPE, "b"])
    y = np.array(["=cmd|' /C calc'!A0", "@x", "plain" + ESCAPE])[np.arange(60) % 3]
    fitted = edgewise.MARTClassifier(n_estimators=2, min_samples_leaf=1).fit(frame, y)
    fitted.save(tmp_path / "hostile.edgewise")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "hostile.edgewise"


# --- what is printed ------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--tree", "0"], ["--json"]], ids=" ".join)
def test_inspect_does_not_steer_the_terminal(hostile, options):
    shown = done("inspect", hostile, *options)
    assert without_steering(shown)
    assert "\\u001b[31m" in shown


def test_errors_do_not_steer_the_terminal(model, tmp_path):
    table = cars()
    table["origin" + ESCAPE] = table.pop("origin")
    path = write_csv(tmp_path / "new.csv", table)
    assert without_steering(refused("evaluate", model, path, "--target", "o" + ESCAPE))


def test_described_tables_do_not_steer_the_terminal(fast, tmp_path):
    table = cars()
    table["origin"] = np.array([f"{label}{ESCAPE}" for label in table["origin"]])
    path = write_csv(tmp_path / "new.csv", table)
    assert without_steering(done("fit", path, "--model", tmp_path / "m.edgewise", *fast))


def test_formulas_in_labels_are_made_text_where_asked(hostile, tmp_path):
    raw = done("predict", hostile, tmp_path / "rows.csv").splitlines()[1:]
    assert any(line.startswith(("=", '"=')) for line in raw)
    assert any(line.startswith("@") for line in raw)
    for options in ([], ["--proba"]):
        out = tmp_path / "out.csv"
        shown = done("predict", hostile, tmp_path / "rows.csv", "--safe-csv", *options)
        done("predict", hostile, tmp_path / "rows.csv", "--safe-csv", *options, "--out", out)
        assert out.read_text().splitlines() == shown.splitlines()
        cells = [cell for line in shown.splitlines() for cell in line.split(",")]
        assert not any(cell.strip('"').startswith(("=", "+", "-", "@")) for cell in cells)


# --- files that are read and written --------------------------------------------------------------


def test_inputs_are_not_overwritten(table, model, fast, tmp_path):
    params = tmp_path / "p.json"
    params.write_text("{}")
    link = tmp_path / "link.csv"
    link.symlink_to(table)
    before = {path: path.read_bytes() for path in (table, model, params)}
    for words in (
        ["fit", table, "--model", table, *fast],
        ["fit", table, "--model", link, *fast],
        ["fit", table, "--model", params, "--params", params],
        ["fit", table, "--model", tmp_path / "new", "--test", table, "--report", table, *fast],
        ["tune", table, "--budget", "1", "--out", table],
        ["tune", table, "--budget", "1", "--model", table],
        ["predict", model, table, "--out", table],
        ["predict", model, table, "--out", model],
    ):
        assert "would be overwritten" in refused(*words)
    assert {path: path.read_bytes() for path in before} == before


def test_two_outputs_are_two_files(table, fast, tmp_path):
    out = tmp_path / "one"
    assert "different files" in refused("fit", table, "--model", out, "--report", out, *fast)
    assert "different files" in refused(
        "tune", table, "--budget", "1", "--out", out, "--model", out
    )


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", [True, False])
def test_a_first_line_may_be_long(header, tmp_path):
    names = [f"column_number_{j}" for j in range(9000)] + ["y"]
    assert len(",".join(names)) > 1 << 16
    rows = [",".join([str(i + j) for j in range(9000)] + [str(i % 2)]) for i in range(6)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names)] * header + rows) + "\n")
    words = ["--method", "aoso", "--param", "n_estimators=1", "--param", "min_samples_leaf=1"]
    facts = done_json("fit", path, "--target", "-1", "--model", tmp_path / "m", *words)
    assert (facts["data"]["rows"], facts["data"]["features"]) == (6, 9000)


def test_lines_may_end_with_carriage_returns(table, fast, tmp_path):
    old = tmp_path / "old.csv"
    old.write_bytes(table.read_bytes().replace(b"\n", b"\r"))
    facts = done_json("fit", old, "--model", tmp_path / "m", *fast)
    assert facts["data"]["rows"] == 90


@pytest.fixture(params=[131_072, 10**9])
def limit_of_cells(request):
    """The CSV reader's limit is the process's: SciPy's reader of ARFF files lifts it, for one."""
    before = csv.field_size_limit(request.param)
    yield request.param
    csv.field_size_limit(before)


@pytest.mark.usefixtures("limit_of_cells")
def test_a_cell_that_is_too_long_is_refused(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("x" * 200_000 + ",y\n1,2\n")
    assert "cannot be read as CSV" in refused("fit", path, "--model", tmp_path / "m")


def test_uneven_lines_with_a_long_cell_are_refused(limit_of_cells, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + "x" * 200_000 + ",1,2\n1,2\n")
    reason = "cannot be read as CSV" if limit_of_cells < 200_000 else "line 2: 3 cells"
    assert reason in refused("fit", path, "--model", tmp_path / "m")


@pytest.mark.parametrize("place", ["4294967296", "99999999999999999999", "2147483647", "-1"])
def test_places_in_svmlight_files_are_checked(place, tmp_path):
    path = tmp_path / "x.svm"
    path.write_text(f"0 1:2\n1 {place}:3\n0 1:1\n1 1:5\n")
    refused("fit", path, "--model", tmp_path / "m")


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["1" + "0" * 20, "9" * 5000, "[" * 3000 + "]" * 3000, "-" * 100_000 + "1", "{[]: 1}", "{{}}"],
    ids=["10**20", "many digits", "nested", "signs", "unhashable", "a set of dicts"],
)
def test_odd_values_of_parameters_are_refused(table, value, tmp_path):
    words = refused("fit", table, "--model", tmp_path / "m", "--param", f"n_estimators={value}")
    assert "n_estimators" in words
    assert len(words) < 1000


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, '{"a":' * 100_000, "[]", "\xff", '{"params":1}'],
    ids=["lists", "objects", "a list", "no text", "a number"],
)
def test_odd_files_of_parameters_are_refused(table, content, tmp_path):
    path = tmp_path / "p.json"
    path.write_bytes(content.encode("latin-1"))
    assert "p.json" in refused("fit", table, "--model", tmp_path / "m", "--params", path)


# --- journals -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A comparison that has been run: its command and its journal."""
    folder = tmp_path_factory.mktemp("run")
    table = write_csv(folder / "cars.csv", cars())
    words = ["compare", table, "--methods", "mart", "--folds", "2", "--repeats", "1"]
    words += ["--rounds", "2", "--out", folder]
    done(*words)
    return words, folder / "results.jsonl"


@pytest.fixture
def compared(finished):
    path = finished[1]
    before = path.read_bytes()
    yield finished
    path.write_bytes(before)


EDITS = {
    "nested": lambda line: "[" * 100_000,
    "an object nested": lambda line: '{"a":' * 100_000 + "1" + "}" * 100_000,
    "no key": lambda line: json.dumps({**json.loads(line), "key": None}),
    "a key that is a path": lambda line: json.dumps({**json.loads(line), "key": "../../x"}),
    "a method that is a list": lambda line: json.dumps({**json.loads(line), "method": []}),
    "an error of text": lambda line: json.dumps({**json.loads(line), "log_loss": "0.1"}),
    "an error that is no number": lambda line: json.dumps(
        {**json.loads(line), "log_loss": float("nan")}
    ),
    "an error that is too large": lambda line: json.dumps(
        {**json.loads(line), "log_loss": 10**400}
    ),
    "rows of a float": lambda line: json.dumps({**json.loads(line), "n_test": 4.5}),
    "no rows": lambda line: json.dumps({**json.loads(line), "n_test": 0}),
    "a curve of text": lambda line: json.dumps({**json.loads(line), "curve": "abc"}),
    "a curve of lists": lambda line: json.dumps({**json.loads(line), "curve": [[1]]}),
    "warnings of numbers": lambda line: json.dumps({**json.loads(line), "warnings": [1]}),
}


@pytest.mark.parametrize("name", EDITS)
def test_odd_lines_of_a_journal_are_refused(compared, name):
    words, path = compared
    first, *rest = path.read_text().splitlines()
    before = "\n".join([EDITS[name](first), *rest]) + "\n"
    path.write_text(before)
    assert "line 1 is not a result of a comparison" in refused(*words)
    assert path.read_text() == before


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\3\4", b"\x80\4."])
def test_damaged_probabilities_are_refused(compared, content):
    _, path = compared
    (answers, *_) = (path.parent / "answers").iterdir()
    answers.write_bytes(content)
    with folder(path.parent) as store, pytest.raises(InvalidDataError, match="is damaged"):
        store.answers(answers.stem)


# --- output ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["inspect", "predict"])
def test_a_closed_output_is_one_line(command, model, table):
    words = [command, str(model), *([str(table)] if command == "predict" else [])]
    line = [sys.executable, "-m", "edgewise.cli", *words]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *line], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "Cannot write: standard output is closed.\n"


def test_all_may_be_closed(model):
    line = [sys.executable, "-m", "edgewise.cli", "inspect", str(model)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *line], check=False)
    assert done.returncode == 1


def test_models_with_many_columns_can_be_inspected(model, tmp_path):
    """Names are made of the columns that are used, not of all."""
    rng = np.random.default_rng(0)
    fitted = edgewise.MARTClassifier(n_estimators=1, monotonic_cst=np.array([1, 0]))
    fitted.fit(rng.random((60, 2)), np.arange(60) % 2).save(tmp_path / "m2")
    shown = done("inspect", tmp_path / "m2")
    assert "monotonic_cst=array([1, 0])" in shown

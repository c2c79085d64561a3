"""edgewise compare."""

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_wine
from support_cli import PLAIN, cars, done, done_json, refused, run, small_disk, write_csv

from edgewise.cli import _report
from edgewise.cli.compare import _Bar
from edgewise.comparison import compare

QUICK = ("--folds", 2, "--repeats", 1, "--rounds", 4)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Without reports, which take seconds; those have a test of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    monkeypatch.setattr("edgewise.cli.compare.can_report", lambda: False)


def figures(facts):
    """What must be the same in every run: all but times."""
    return [
        {name: value for name, value in row.items() if "seconds" not in name and "ms" not in name}
        for row in facts["methods"]
    ]


def test_the_figures_are_those_of_the_library():
    facts = done_json("compare", "wine", "--methods", "mart,aoso", *QUICK, "--seed", 3)
    X, y = load_wine(return_X_y=True)
    found = compare(X, y, methods=["mart", "aoso"], folds=2, repeats=1, rounds=4, seed=3)
    expected = json.loads(json.dumps(found.as_dict()))
    assert figures(facts) == figures(expected)
    assert facts["paired_test"] == expected["paired_test"]
    assert facts["data"]["rows"] == 178
    assert facts["data"]["classes"] == ["class_0", "class_1", "class_2"]


def test_the_table(tmp_path):
    write_csv(tmp_path / "cars.csv", cars())
    shown = done("compare", "cars.csv", "--target", "origin", "--methods", "mart,samme", *QUICK)
    assert "cars.csv: 90 rows, 3 features (2 numbers, 1 category), 3 classes" in shown
    assert "missing: 6 values, in 1 of the 3 features" in shown
    assert "2-fold stratified cross-validation; seed 0" in shown
    lines = shown.splitlines()
    rows = [line.split() for line in lines if line.split() and line.split()[0] in ("mart", "samme")]
    assert len(rows) == 2
    facts = json.loads((tmp_path / "edgewise-runs/cars/comparison.json").read_text())
    for row, method in zip(rows, facts["methods"], strict=True):
        assert row[:2] == [method["method"], f"{100 * method['error']:.2f}"]
        assert row[3] == f"{method['log_loss']:.3f}"
    assert f"p = {facts['paired_test']['p_value']:.3g}" in shown
    assert "pip install 'edgewise[report]'" in shown


def test_the_command_shown_does_the_same_again(tmp_path):
    write_csv(tmp_path / "cars.csv", cars() | {"id": np.arange(90)})
    first = done_json(
        "compare", "cars.csv", "--target", "origin", "--methods", "mart", *QUICK, "--drop", "id",
        "--param", "mart.max_leaf_nodes=3", "--category", "power",
    )  # fmt: skip
    words = shlex.split(first["command"])
    assert words[:2] == ["edgewise", "compare"]
    again = done_json(*words[1:-2], "--out", "elsewhere", *words[-2:][2:])
    assert figures(again) == figures(first)
    assert again["parameters"] == {"mart": {"n_estimators": 4, "max_leaf_nodes": 3}}
    assert again["data"]["categories"] == 2


def test_without_data_the_digits_are_compared_once(monkeypatch):
    seen = {}

    def fake(X, y, **options):
        seen.update(options, shape=X.shape)
        raise ValueError("enough")

    monkeypatch.setattr("edgewise.cli.compare.compare", fake)
    assert refused("compare") == "enough"
    assert (seen["name"], seen["shape"], seen["repeats"]) == ("digits", (1797, 64), 1)
    assert refused("compare", "wine") == "enough"
    assert seen["repeats"] == 3


def test_a_test_file(tmp_path):
    write_csv(tmp_path / "train.csv", cars(120))
    test = {name: cars(60, seed=1)[name] for name in ("origin", "body", "weight", "power")}
    write_csv(tmp_path / "test.csv", test)
    facts = done_json(
        "compare", "train.csv", "--target", "origin", "--test", "test.csv", "--rounds", 5,
        "--methods", "mart,aoso",
    )  # fmt: skip
    assert facts["protocol"]["kind"] == "test rows"
    assert facts["data"]["test_rows"] == 60
    assert facts["paired_test"]["name"] == "McNemar's exact test"
    assert facts["methods"][0]["error"] < 0.2


def test_a_set_with_a_test_part_is_tested_on_it(tmp_path, monkeypatch):
    X, y = load_wine(return_X_y=True)
    parts = {"X_train": X[::2], "y_train": y[::2], "X_test": X[1::2], "y_test": y[1::2]}
    np.savez(tmp_path / "wines.npz", **parts)
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    facts = done_json("compare", "wines", "--methods", "mart", "--rounds", 5)
    assert facts["data"]["test_rows"] == 89
    assert "--test wines:test" in facts["command"]


def test_svmlight(tmp_path):
    X, y = load_wine(return_X_y=True)
    dump_svmlight_file(X[:120], y[:120], str(tmp_path / "train.svm"))
    dump_svmlight_file(X[:120, :12], y[:120], str(tmp_path / "test.svm"))
    facts = done_json(
        "compare", "train.svm", "--methods", "sklearn-rf", "--rounds", 5, "--test", "test.svm"
    )
    assert facts["data"]["sparse"]
    assert facts["data"]["features"] == 13


def test_rare_classes_are_noted(tmp_path):
    write_csv(tmp_path / "t.csv", {"a": range(21), "y": [0, 1] * 10 + [2]})
    shown = done("compare", "t.csv", "--methods", "mart", "--rounds", 2, "--repeats", 1)
    assert "note: column 'y' was taken as the target" in shown
    assert "note: class 2 has a single row: always trained on, never tested" in shown


@pytest.mark.skipif(not _report.can_report(), reason="the libraries of reports are not installed")
def test_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr("edgewise.cli.compare.can_report", lambda: True)
    write_csv(tmp_path / "cars.csv", cars())
    shown = done("compare", "cars.csv", "--methods", "mart,sklearn-rf", *QUICK)
    page = (tmp_path / "edgewise-runs/cars/report.html").read_text()
    assert "report: edgewise-runs/cars/report.html" in shown
    assert "sklearn-rf" in page
    assert "edgewise compare cars.csv" in page
    assert len(page) < 3_000_000


# --- killed, and started again --------------------------------------------------------------------


def lines_of(folder):
    path = folder / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_killed_run_resumes_and_ends_with_the_same_numbers(tmp_path):
    words = ["compare", "digits", "--methods", "aoso,mart,samme", "--rounds", "15"]
    words += ["--folds", "4", "--repeats", "2", "--jobs", "2"]
    killed = subprocess.Popen(
        [sys.executable, "-m", "edgewise.cli", *words, "--out", "run"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while lines_of(tmp_path / "run") < 4 and killed.poll() is None:
            time.sleep(0.005)
        killed.send_signal(signal.SIGKILL)
    finally:
        killed.kill()
        killed.wait()
    before = lines_of(tmp_path / "run")
    assert 4 <= before < 24  # in the middle
    left = (tmp_path / "run/results.jsonl").read_bytes()
    again = done_json(*words, "--out", "run")
    whole = done_json(*words, "--out", "whole")
    assert lines_of(tmp_path / "run") == 24
    assert (tmp_path / "run/results.jsonl").read_bytes().startswith(left.rpartition(b"\n")[0])
    assert figures(again) == figures(whole)
    assert again["paired_test"] == whole["paired_test"]
    files = [sorted(os.listdir(tmp_path / name / "answers")) for name in ("run", "whole")]
    assert files[0] == files[1]
    assert len(files[0]) == 24
    for name in files[0]:
        both = [np.load(tmp_path / run / "answers" / name) for run in ("run", "whole")]
        assert np.array_equal(*both)


def test_ctrl_c_is_told_and_what_is_done_is_kept(monkeypatch, tmp_path):
    def step(self, method, split):
        if split.fold == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(_Bar, "step", step)
    assert refused("compare", "iris", "--methods", "mart", *QUICK, code=130) == "Interrupted."
    assert lines_of(tmp_path / "edgewise-runs/iris") == 1


# --- a terminal -----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_is_shown_on_a_terminal():
    words = ["compare", "iris", "--methods", "mart", "--rounds", "4", "--repeats", "1", "--json"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "edgewise.cli", *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | PLAIN | {"TERM": "xterm"},
    ) as watched:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            shown += piece
        document = watched.stdout.read()
    os.close(ours)
    assert watched.returncode == 0
    assert b"mart (repeat 1, fold" in shown
    assert b"5/5" in shown
    json.loads(document)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "There is no file 'none.csv'"),
        (["iris", "--target", "z"], "iris has no column 'z'"),
        (["iris", "--drop", "z"], "iris has no column 'z'"),
        (["iris", "--methods", "magic"], "There is no method 'magic'"),
        (["iris", "--methods", "martiboost"], "martiboost is for two classes"),
        (["iris", "--param", "mart"], "--param must be NAME=VALUE. Got 'mart'"),
        (["iris", "--param", "rate=1"], "--param must be METHOD.NAME=VALUE"),
        (["iris", "--methods", "mart", "--param", "mart.no=1"], "no parameter 'no'"),
        (["iris", "--test", "none.csv"], "There is no file 'none.csv'"),
        (["iris", "--test", "wine"], "wine lacks the column 'sepal length (cm)' and 3 more"),
    ],
)
def test_bad_options(words, message):
    assert message in refused("compare", *words)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1] * 6, "at least two classes"),
        (list("abcdef"), "Every class has one row only"),
        ([0.5, 1, 2, 3, 4, 5], "holds the number 0.5"),
        ([0, 1, "", 1, 0, 1], "is missing in 1 of 6 rows, the first in row 3"),
    ],
)
def test_bad_targets(tmp_path, labels, message):
    write_csv(tmp_path / "t.csv", {"a": range(6), "y": labels})
    assert message in refused("compare", "t.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "t.csv is empty"), ("a,y\n1,0\n2,1,5\n", "t.csv, line 3: 3 cells")],
)
def test_bad_files(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    assert message in refused("compare", "t.csv")


@pytest.mark.parametrize("words", [["--folds", "1"], ["--repeats", "0"], ["--jobs", "x"]])
def test_wrong_usage(words):
    result = run("compare", "iris", *words)
    assert result.exit_code == 2
    assert words[0] in result.stderr


def test_a_full_disk(tmp_path):
    words = ("compare", "iris", "--methods", "mart", *QUICK)
    with small_disk(1000):
        assert refused(*words).endswith(".npy: File too large")
    folder = tmp_path / "edgewise-runs/iris"
    assert sorted(os.listdir(folder)) == ["answers", "results.jsonl"]
    assert os.listdir(folder / "answers") == []
    done(*words)


def test_an_output_folder_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("")
    assert "taken" in refused("compare", "iris", "--methods", "mart", *QUICK, "--out", "taken")

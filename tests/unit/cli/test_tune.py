"""edgewise tune."""

import json
import time

import pytest
from support_cli import cars, done, done_json, refused, run, write_csv

import edgewise
from edgewise.tuning import _search


@pytest.fixture(autouse=True)
def quickly(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_search, "MOST_ROUNDS", 10)
    write_csv(tmp_path / "cars.csv", cars(120))


def test_what_it_tried_and_what_it_found(tmp_path):
    words = ("tune", "cars.csv", "--budget", 60, "--trials", 4)
    facts = done_json(*words, "--out", "best.json", "--model", "best.edgewise")
    assert len(facts["trials"]) == 4
    best = min(facts["trials"], key=lambda trial: trial["log_loss"])
    assert facts["params"] == {**best["params"], "n_estimators": best["rounds"]}
    assert facts["validation"]["log_loss"] == best["log_loss"]
    assert facts["data"]["categories"] == 1
    model = edgewise.load(tmp_path / "best.edgewise")
    assert model.n_iter_ == best["rounds"]
    written = json.loads((tmp_path / "best.json").read_text())
    assert written["params"] == facts["params"]
    refitted = done_json("fit", "cars.csv", "--model", "m.edgewise", "--params", "best.json")
    assert refitted["rounds"] == best["rounds"]
    both = [
        done("predict", name, "cars.csv", "--proba") for name in ("m.edgewise", "best.edgewise")
    ]
    assert both[0] == both[1]


def test_the_table():
    shown = done("tune", "cars.csv", "--budget", 60, "--trials", 3, "--method", "samme")
    lines = [line.split() for line in shown.splitlines()]
    trials = [words for words in lines if words and words[0] in ("0", "1", "2")]
    assert len(trials) == 3
    assert trials[0][1:4] == ["default"] * 3
    assert "3 trials in " in shown
    assert "as many as requested" in shown
    assert "best: trial" in shown


def test_the_time_is_kept(monkeypatch):
    monkeypatch.setattr(_search, "MOST_ROUNDS", 100_000)
    begin = time.perf_counter()
    shown = done("tune", "cars.csv", "--budget", "1", "--param", "n_iter_no_change=100000")
    assert time.perf_counter() - begin < 30  # not the minutes of so many rounds
    assert "the time is up" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "There is no file 'none.csv'"),
        (["cars.csv", "--method", "magic"], "There is no method 'magic'"),
        (["cars.csv", "--method", "martiboost"], "has no parameters to tune"),
        (["cars.csv", "--param", "n_estimators=5"], "'n_estimators' cannot be fixed"),
        (["cars.csv", "--out", "none/best.json"], "There is no folder 'none'"),
    ],
)
def test_bad_options(words, message):
    assert message in refused("tune", *words, "--budget", 5)


def test_wrong_usage():
    result = run("tune", "cars.csv")
    assert result.exit_code == 2
    assert "--budget" in result.stderr
    assert run("tune", "cars.csv", "--budget", "-1").exit_code == 2

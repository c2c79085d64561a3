"""A table with everything wrong with it: report and command line name all six."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from support_cli import done, done_json, process, refused

from edgewise import LogitBoostClassifier
from edgewise._tools.findings import Outcome, data_findings, model_findings
from edgewise.report import model_report
from edgewise.tables import read

N = 400


@pytest.fixture(name="messy")
def messy_table(tmp_path, monkeypatch):
    """Labels that are half noise, a leak, an id, a constant, prices as text, a class of one row."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    signal = rng.normal(size=(N, 3))
    labels = np.where(signal[:, 0] + 2 * rng.normal(size=N) > 0, "yes", "no").astype(object)
    labels[7] = "odd"
    with open("messy.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["customer", "a", "b", "c", "branch", "price", "paid_back", "answer"])
        for i in range(N):
            price = f"${rng.integers(1000, 9999):,}" if i else "on request"
            told = {"yes": 2, "no": 5, "odd": 9}[labels[i]]
            writer.writerow([f"C{i:05d}", *signal[i].round(3), "main", price, told, labels[i]])
    return "messy.csv"


SIX = {
    "leak": "'paid_back' nearly decides the target alone",
    "identifier": "'customer' has a different value in every row",
    "constant": "'branch' has the same value in every row",
    "numbers": "'price' is text that looks like numbers",
    "rare class": "'odd' has a single row",
}
OVERFIT = "The model is overfit"


def test_fit_names_the_five_of_the_data(messy):
    told = done("fit", messy, "--target", "answer", "--model", "m.edgewise", "--method", "mart")
    for words in SIX.values():
        assert words in told


def test_fit_with_a_report_names_all_six_in_both(messy):
    words = ["fit", messy, "--target", "answer", "--model", "m.edgewise", "--report", "r.html"]
    words += ["--method", "mart", "--drop", "paid_back,customer", "--param", "min_samples_leaf=1"]
    words += ["--param", "n_estimators=300"]
    told = done(*words)
    page = Path("r.html").read_text()
    for kind in ("constant", "numbers", "rare class"):
        assert SIX[kind] in told
        assert SIX[kind].replace("'", "&#39;") in page
    assert OVERFIT in told
    assert OVERFIT in page
    assert "again: " in told
    assert "--drop paid_back,customer" in told


def test_one_report_names_all_six(messy):
    """The leak and the id are written over in the held-out rows, so that they do not help there."""
    pd = pytest.importorskip("pandas")
    frame = pd.read_csv(messy)
    X, y = frame.drop(columns="answer"), frame["answer"].to_numpy().astype(str)
    X["customer"], X["price"] = X["customer"].astype("category"), X["price"].astype("category")
    X["branch"] = X["branch"].astype("category")
    half = np.arange(N) % 2 == 1
    held = X[~half].assign(paid_back=np.random.default_rng(1).permutation(X["paid_back"][~half]))
    model = LogitBoostClassifier(min_samples_leaf=1).fit(X[half], y[half])
    page = model_report(model, held, y[~half], X_train=X[half], y_train=y[half])
    told = " ".join(page.findings)
    for words in [*SIX.values(), OVERFIT]:
        assert words in told
        assert words.replace("'", "&#39;") in page.html


def test_one_command_names_all_six_in_the_terminal_and_the_report(tmp_path, monkeypatch):
    """Amounts are read as numbers here; in the test rows the leak is broken."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    signal = rng.normal(size=N)
    labels = np.where(signal + 2 * rng.normal(size=N) > 0, "late", "in time").astype(object)
    labels[7] = "unknown"
    told = np.select([labels == "in time", labels == "late"], [0, 2], 5)
    told[300:] = rng.permutation(told[300:])
    lines = [
        f'{70000 + i},{signal[i]:.2f},DE,"${rng.integers(900, 20000):,}",{told[i]},{labels[i]}'
        for i in rng.permutation(N)
    ]
    header = "customer id,income,country,amount,reminders,outcome"
    train = [line for line in lines if int(line.split(",")[0]) < 70300]
    Path("train.csv").write_text("\n".join([header, *train]))
    Path("test.csv").write_text("\n".join([header, *(set(lines) - set(train))]))
    words = ["fit", "train.csv", "--test", "test.csv", "--method", "logitboost"]
    words += ["--param", "n_estimators=100", "--param", "min_samples_leaf=1"]
    terminal = done(*words, "--model", "m.edgewise", "--report", "r.html")
    page = Path("r.html").read_text()
    for finding in (
        "'reminders' nearly decides the target alone",
        "'customer id' has a different value in every row",
        "'country' has the same value in every row",
        "'amount' is text of numbers, such as amounts of money, and was read as numbers",
        "'unknown' has a single row",
        OVERFIT,
    ):
        assert finding in terminal
        assert finding.replace("'", "&#39;") in page


def test_amounts_that_happen_to_differ_are_no_identifier():
    amounts = np.random.default_rng(1).permutation(np.arange(0, 9_000_000, 10_000))[:300] + 0.0
    labels = np.arange(300) % 3
    assert data_findings(amounts[:, None], labels, ["amount"]) == []
    assert [f.kind for f in data_findings(amounts[:, None], labels, ["order id"])] == ["identifier"]
    numbers = np.random.default_rng(1).permutation(300)[:, None]
    assert [f.kind for f in data_findings(numbers, labels, ["order"])] == ["identifier"]


def test_a_warning_is_one_line_without_the_place_in_the_sources(messy):
    words = ("fit", messy, "--target", "answer", "--model", "m.edgewise", "--param", "effort=fast")
    warned = process(*words, "--report", "r.html").stderr.splitlines()
    assert [line for line in warned if "only one row" in line] == [
        "warning: Class odd has only one row, which is learned from but never held out."
    ]
    assert "FitWarning" not in "".join(warned)


def test_an_overfit_model_is_named_by_its_rounds():
    found = model_findings(None, [0.6, 0.5, 0.4, 0.5, 0.9])
    assert [finding.kind for finding in found] == ["overfit"]
    assert "lowest after 3 rounds (0.4) and rises to 0.9 after all 5" in found[0].text


def test_an_overfit_model_is_named_by_its_errors():
    assert model_findings(Outcome(0.0, 0.3, 400))[0].kind == "overfit"
    assert model_findings(Outcome(0.0, 0.3, 4)) == []  # too few rows to say
    assert model_findings(Outcome(0.2, 0.3, 400)) == []


def test_clean_tables_have_no_findings():
    for name in ("iris", "digits", "wine"):
        table = read(name)
        names = [column.name for column in table.columns]
        found = [f for f in data_findings(table.X, table.y, names) if f.kind != "constant"]
        assert found == []  # some pixels of digits are the same in all images


def test_json_has_the_findings(messy):
    facts = done_json(
        "fit", messy, "--target", "answer", "--model", "m.edgewise", "--method", "mart"
    )
    assert len(facts["findings"]) == 5
    assert json.dumps(facts["findings"])


# --- options -----------------------------------------------------------------------------------


ROUNDS = ("--param", "n_estimators=5")


def test_decimal_commas_are_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},5;{'a' if i % 2 else 'b'}" for i in range(40))
    Path("t.csv").write_text("x;label\n" + rows)
    words = ("fit", "t.csv", "--model", "m.edgewise", "--method", "mart", *ROUNDS)
    assert "1 feature (1 number)" in done(*words, "--decimal", ",")
    assert "'x' is text of numbers and was read as numbers ('0,5' is 0.5)" in done(*words)
    assert "1 feature (1 category)" in done(*words, "--category", "x")
    assert "must be '.' or ','" in refused(*words, "--decimal", ";")


def test_encodings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},{'käse' if i % 2 else 'brot'}" for i in range(40))
    Path("t.csv").write_bytes(("x,label\n" + rows).encode("latin-1"))
    words = ("fit", "t.csv", "--model", "m.edgewise", "--method", "mart", *ROUNDS)
    told = done(*words, "--encoding", "latin-1")
    assert "käse" in told
    assert "--encoding latin-1" in told
    assert "Did you mean 'latin-1'?" in refused(*words, "--encoding", "latin_99")
    assert "is not text in utf-8" in refused(*words, "--encoding", "utf-8")


def test_early_stopping_keeps_fewer_rounds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["fit", "iris", "--model", "m.edgewise", "--param", "n_iter_no_change=5"]
    facts = done_json(*words, "--method", "mart", "--early-stopping")
    assert facts["rounds"] < 200
    assert facts["stopped"] == "early stopping"
    assert "early_stopping=True" in facts["command"]
    assert "always stops early" in refused("fit", "iris", "--model", "m", "--early-stopping")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--method", "marrt"], "Did you mean 'mart'?"),
        (["--target", "targt"], "Did you mean 'target'?"),
        (["--method", "mart", "--param", "num_leaves=9"], "Did you mean 'max_leaf_nodes'?"),
        (["--drop", "petal length"], "Did you mean 'petal length (cm)'?"),
    ],
)
def test_the_name_that_was_meant_is_suggested(words, wanted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert wanted in refused("fit", "iris", "--model", "m.edgewise", *words)

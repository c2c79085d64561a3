"""Plans, runs, results and pages, with an experiment made for the test."""

import json
from dataclasses import replace

import numpy as np
import pytest

from edgewise import InvalidParameterError, experiments
from edgewise.experiments import (
    EXPERIMENTS,
    Cell,
    DataSetMissingError,
    Experiment,
    Finding,
    Picture,
    Run,
    Table,
    _data,
    _effort,
    open_store,
)


class Watcher:
    def __init__(self):
        self.cells = []

    def finished(self, job, record):
        self.cells.append((job.cell.name, record))


def toy(ran, *, name="toy", n_cells=4, fails_at=None, **changes):
    """Cells that square their seed; `ran` collects those that were really run."""

    def cells(scale):
        return [Cell(f"cell={k}", {"power": 2}, seed=k) for k in range(n_cells)]

    def run(cell, data, threads):
        if cell.seed == fails_at:
            raise RuntimeError("out of order")
        ran.append(cell.name)
        return {"square": cell.seed ** cell.params["power"]}

    def findings(scale, records):
        total = sum(record.outcome["square"] for record in records.values())
        return [Finding("sum of squares", 14, total, "", "agrees" if total == 14 else "differs")]

    made = Experiment(
        name, "A toy", "Nobody, nowhere", "none", cells=cells, run=run, findings=findings
    )
    return replace(made, **changes)


def carry_out(experiment, folder, **options):
    with open_store(folder) as store:
        run = Run([experiment], store, **options)
        watcher = Watcher()
        run.carry_out(watcher)
        return run.results(experiment, folder), watcher


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_run_and_its_files(tmp_path, jobs):
    ran = []
    results, watcher = carry_out(toy(ran), tmp_path, jobs=jobs)
    assert sorted(ran) == [f"cell={k}" for k in range(4)]
    assert sorted(name for name, _ in watcher.cells) == sorted(ran)
    assert results["verdicts"] == {"agrees": 1}
    assert results["seeds"] == [0, 1, 2, 3]
    assert results["command"] == "edgewise reproduce toy --scale small"
    assert json.loads((tmp_path / "toy-small.json").read_text()) == results
    page = (tmp_path / "toy-small.md").read_text()
    assert "| sum of squares | 14 | 14 |  | agrees |  |" in page
    assert not list(tmp_path.glob(".*"))  # nothing half-written beside


def test_a_run_that_broke_resumes(tmp_path):
    first, second = [], []
    with pytest.raises(RuntimeError, match="out of order"):
        carry_out(toy(first, fails_at=2), tmp_path)
    assert first == ["cell=0", "cell=1"]
    results, _ = carry_out(toy(second), tmp_path)
    assert second == ["cell=2", "cell=3"]
    assert results["verdicts"] == {"agrees": 1}


@pytest.mark.parametrize("changes", [{"version": 2}, {"name": "other"}])
def test_another_version_or_experiment_starts_anew(tmp_path, changes):
    carry_out(toy([]), tmp_path)
    ran = []
    carry_out(toy(ran, **changes), tmp_path)
    assert len(ran) == 4


def test_other_parameters_are_not_taken_for_the_same(tmp_path):
    carry_out(toy([]), tmp_path)
    ran = []
    cubes = [Cell(f"cell={k}", {"power": 3}, seed=k) for k in range(4)]
    carry_out(toy(ran, cells=lambda scale: cubes), tmp_path)
    assert len(ran) == 4


def test_the_file_has_a_line_for_each_cell_and_names_few_of_those_not_run(tmp_path):
    cells = [Cell(f"cell={k}", {"power": 0}, seed=k) for k in range(100)]
    made = toy([], cells=lambda scale: cells)
    results, _ = carry_out(made, tmp_path, only=["cell=9*"])
    text = (tmp_path / "toy-small.json").read_text()
    assert json.loads(text) == results
    assert len([line for line in text.splitlines() if line.startswith('{"experiment"')]) == 11
    assert len(results["cells"]) == 11
    assert (results["n_missing"], len(results["missing"])) == (89, 12)
    assert "and 77 more" in (tmp_path / "toy-small.md").read_text()


def test_experiments_of_a_family_share_their_cells(tmp_path):
    ran = []
    two = [toy(ran, name=name, family="squares") for name in ("a", "b")]
    with open_store(tmp_path) as store:
        run = Run(two, store)
        assert len(run.plan.jobs) == 8
        assert len(run.todo()) == 4
        run.carry_out(Watcher())
        assert not run.todo()
        assert [run.results(each, tmp_path)["verdicts"] for each in two] == [{"agrees": 1}] * 2
    assert len(ran) == 4


def test_only_some_cells_are_run_and_those_that_are_done_count(tmp_path):
    ran = []
    results, _ = carry_out(toy(ran), tmp_path, only=["*=1", "*=3"])
    assert ran == ["cell=1", "cell=3"]
    assert results["verdicts"] == {"differs": 1}
    assert results["missing"] == ["cell=0", "cell=2"]
    results, _ = carry_out(toy(ran), tmp_path, only=["*=[02]"])
    assert ran[2:] == ["cell=0", "cell=2"]
    assert results["verdicts"] == {"agrees": 1}


def test_a_missing_set_is_skipped_with_a_line(tmp_path, monkeypatch):
    monkeypatch.delenv(_data.FOLDER, raising=False)
    monkeypatch.setattr(_data, "_reachable", lambda: False)
    ran = []
    cells = [Cell("a", data="letter"), Cell("b", data="covertype"), Cell("c", {"power": 2})]
    results, _ = carry_out(toy(ran, cells=lambda scale: cells), tmp_path, scale="paper")
    assert ran == ["c"]
    assert results["skipped"] == [
        "skipped: data set 'letter': EDGEWISE_DATA is not set, and OpenML cannot be reached "
        "(1 cells)",
        "skipped: data set 'covertype': EDGEWISE_DATA is not set, and OpenML has no original split "
        "(1 cells)",
    ]


def test_at_small_scale_another_set_stands_in(tmp_path, monkeypatch):
    monkeypatch.delenv(_data.FOLDER, raising=False)

    def run(cell, data, threads):
        return {"square": len(data.y_train)}

    made = toy([], cells=lambda scale: [Cell("a", data="letter@2000")], run=run)
    results, _ = carry_out(made, tmp_path)
    (entry,) = results["data"]
    assert (entry["name"], entry["stand_in_for"]) == ("digits", "letter@2000")
    assert results["cells"][0]["outcome"] == {"square": 1347}


def test_a_library_that_is_not_installed_skips_the_cell(tmp_path):
    def run(cell, data, threads):
        raise ModuleNotFoundError("proofs need mpmath, of the extra 'lab'")

    results, watcher = carry_out(toy([], run=run), tmp_path)
    assert results["skipped"] == ["skipped: proofs need mpmath, of the extra 'lab' (4 cells)"]
    assert [record for _, record in watcher.cells] == [None] * 4


def test_the_estimate_falls_as_cells_are_done(tmp_path, monkeypatch):
    monkeypatch.setattr(_effort, "speed", lambda threads: 2.0)
    cells = [Cell("a", {"power": 2}, effort=10.0), Cell("b", {"power": 2}, effort=30.0)]
    made = toy([], cells=lambda scale: cells)
    with open_store(tmp_path) as store:
        assert Run([made], store).expected_seconds() == 80.0
        assert Run([made], store, jobs=2).expected_seconds() == 40.0
    carry_out(made, tmp_path, only=["a"])
    with open_store(tmp_path) as store:
        assert Run([made], store).expected_seconds() == 60.0
    carry_out(made, tmp_path)
    with open_store(tmp_path) as store:
        assert Run([made], store).expected_seconds() == 0.0


def test_calibration_measures_this_machine():
    assert 0.05 < _effort.speed(1) < 200


def test_pictures_are_drawn_and_shown(tmp_path):
    pytest.importorskip("matplotlib")
    picture = Picture("line", "A line", lambda figure: figure.subplots().plot([0, 1]))
    table = Table("Some | table", ["a", "b"], [[1, 0.123456789], [None, "x|y"]])
    made = toy([], pictures=lambda *_: [picture], tables=lambda *_: [table])
    results, _ = carry_out(made, tmp_path)
    assert (tmp_path / results["pictures"][0]["file"]).read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "toy-small.md").read_text()
    assert "![A line](toy-small-line.png)" in page
    assert "|  | x\\|y |" in page


def test_outcomes_must_be_plain_finite_json(tmp_path):
    made = toy([], run=lambda *_: {"square": float("nan")})
    with pytest.raises(ValueError, match="Out of range float"):
        carry_out(made, tmp_path)
    assert (tmp_path / "cells.jsonl").read_bytes() == b""


def test_registry():
    assert all(name == each.name for name, each in EXPERIMENTS.items())
    assert [each.name for each in experiments.find_experiments("all")] == list(EXPERIMENTS)
    with pytest.raises(InvalidParameterError, match="is one of abc-summary, .* Got 'nothing'"):
        experiments.experiment("nothing")
    with pytest.raises(InvalidParameterError, match="scale of reproduce|'tiny'"):
        experiments.reproduce("dynamics", scale="tiny")


@pytest.mark.parametrize("scale", experiments.SCALES)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_planned_and_judged_before_anything_is_run(name, scale):
    each = EXPERIMENTS[name]
    cells = each.cells(scale)
    names = [cell.name for cell in cells]
    assert len(set(names)) == len(names) > 0
    assert all(cell.effort > 0 for cell in cells)
    assert all(json.loads(json.dumps(dict(cell.params))) == cell.params for cell in cells)
    assert {finding.verdict for finding in each.findings(scale, {})} <= {"not run"}
    assert each.tables(scale, {}) is not None
    assert each.pictures(scale, {}) == []
    assert each.tolerance
    assert each.paper


def test_missing_data_errors_say_what_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(_data, "_reachable", lambda: False)
    np.savez(tmp_path / "wine.npz", X_train=np.ones((2, 1)))
    with pytest.raises(DataSetMissingError, match="wine.npz has no 'y_train"):
        _data.load("wine", folder=str(tmp_path))
    (tmp_path / "letter.npz").write_bytes(b"PK garbage")
    with pytest.raises(DataSetMissingError, match="letter.npz cannot be read"):
        _data.load("letter", folder=str(tmp_path))
    with pytest.raises(DataSetMissingError, match="no vowel.npz in the data folder"):
        _data.load("vowel", folder=str(tmp_path))

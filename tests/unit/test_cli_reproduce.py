"""edgewise reproduce, as a user runs it."""

import errno
import json
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from edgewise import experiments
from edgewise.cli._app import commands

FAST = "softmax-figure-5"
ONLY = ["--only", "segment/*"]


def run(*arguments):
    return CliRunner(env={"COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb"}).invoke(
        commands, ["reproduce", *map(str, arguments)]
    )


def test_help_has_an_example():
    shown = run("--help")
    assert shown.exit_code == 0
    assert "edgewise reproduce --list" in shown.stdout


def test_list_names_every_experiment():
    shown = run("--list")
    assert shown.exit_code == 0
    assert all(name in shown.stdout for name in experiments.EXPERIMENTS)
    listed = json.loads(run("--list", "--json").stdout)["experiments"]
    assert list(dict.fromkeys(each["name"] for each in listed)) == list(experiments.EXPERIMENTS)
    assert all(each["item"] and each["seconds"] > 0 for each in listed)


def test_list_tells_the_last_verdict_of_each_scale(tmp_path):
    assert run(FAST, *ONLY, "--out", tmp_path).exit_code == 0
    (tmp_path / "differences-small.json").write_text("not JSON")
    listed = json.loads(run("--list", "--json", "--out", tmp_path).stdout)["experiments"]
    told = {(each["name"], each["scale"]): each for each in listed}
    done = json.loads((tmp_path / f"{FAST}-small.json").read_text())
    assert told[FAST, "small"]["verdicts"] == done["verdicts"]
    assert told[FAST, "small"]["done"] == len(done["cells"])
    assert told[FAST, "paper"]["verdict"] == told["differences", "small"]["verdict"] == "not run"
    shown = " ".join(run("--list", "--out", tmp_path).stdout.split())
    assert f"({len(done['cells'])} cells)" in shown or "not judged" in shown


def test_a_run_writes_results_and_prints_their_folder(tmp_path):
    done = run(FAST, *ONLY, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "6 cells to run; about" in done.stderr
    assert "[6/6]" in done.stderr
    assert str(tmp_path / f"{FAST}-small.md") in done.stdout
    results = json.loads((tmp_path / f"{FAST}-small.json").read_text())
    assert len(results["cells"]) == 6
    report = (tmp_path / f"{FAST}-small.html").read_text()
    assert results["title"] in report
    assert "data:image/png" in report
    again = run(FAST, *ONLY, "--out", tmp_path, "--json", "--jobs", "2")
    assert "nothing to run, 6 more are done already" in again.stderr
    (read,) = json.loads(again.stdout)["results"]
    assert read["cells"] == results["cells"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "Which experiment?"),
        (["nothing"], 1, "An experiment is one of abc-summary, "),
        ([FAST, "--scale", "huge"], 2, "huge"),
        ([FAST, "--jobs", "0"], 2, "--jobs"),
        ([FAST, "--data-dir", "nowhere/at/all"], 1, "--data-dir must be a folder"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, arguments, code, message):
    refused = run(*arguments, "--out", tmp_path / "out")
    assert refused.exit_code == code
    assert message in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "out").exists()


def test_a_run_folder_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("")
    refused = run(FAST, "--out", tmp_path / "file")
    assert refused.exit_code == 1
    assert refused.stderr.count("\n") == 1
    (tmp_path / "cells.jsonl").write_text("{}\n")
    refused = run(FAST, "--out", tmp_path)
    assert refused.exit_code == 1
    assert "line 1 is not a finished cell" in refused.stderr


def test_paper_scale_without_data_skips_and_does_not_crash(tmp_path, monkeypatch):
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    monkeypatch.setattr(experiments._data, "_reachable", lambda: False)
    done = run("abc-grid-letter", "--scale", "paper", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "skipped: data set 'letter': EDGEWISE_DATA is not set" in done.stdout


def test_small_scale_without_data_runs_on_stand_ins(tmp_path, monkeypatch):
    monkeypatch.delenv("EDGEWISE_DATA", raising=False)
    done = run("softmax-table-2", "--only", "segment/SAMME/*", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "on iris" in done.stdout
    assert "not judged" in done.stdout


def test_killed_in_the_middle_it_goes_on_and_ends_with_the_same_numbers(tmp_path):
    """A real process, killed with SIGKILL after some cells; then the same command again."""
    command = [sys.executable, "-m", "edgewise.cli", "reproduce", FAST]
    command += ["--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cells = tmp_path / "killed" / "cells.jsonl"
    _wait_for(lambda: cells.exists() and cells.read_bytes().count(b"\n") >= 2, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = cells.read_bytes()
    n_before = before.count(b"\n")
    assert 2 <= n_before < 12
    done = run(FAST, "--out", tmp_path / "killed")
    assert done.exit_code == 0, done.output
    assert f"{12 - n_before} cells to run, {n_before} more are done already" in done.stderr
    assert cells.read_bytes().startswith(before[: before.rindex(b"\n") + 1])
    (fresh,) = experiments.reproduce(FAST, out=tmp_path / "fresh")
    continued = json.loads((tmp_path / "killed" / f"{FAST}-small.json").read_text())
    assert len(_numbers(fresh)) == 12
    assert _numbers(continued) == _numbers(fresh)
    assert continued["findings"] == fresh["findings"]


def _numbers(results):
    return {cell["cell"]: cell["outcome"] for cell in results["cells"]}


def _wait_for(condition, process, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the process ended by itself"
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def test_a_second_run_in_the_same_folder_is_refused(tmp_path):
    with experiments.open_store(tmp_path):
        refused = run(FAST, "--out", tmp_path)
    assert refused.exit_code == 1
    assert "Another run is writing to" in refused.stderr


def test_ctrl_c_keeps_finished_cells(tmp_path, monkeypatch):
    figure = experiments.EXPERIMENTS[FAST]
    calls = []

    def interrupted(cell, data, threads):
        calls.append(cell.name)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return figure.run(cell, data, threads)

    changed = experiments.Experiment(**vars(figure) | {"run": interrupted})
    monkeypatch.setitem(experiments.EXPERIMENTS, FAST, changed)
    stopped = run(FAST, *ONLY, "--out", tmp_path)
    assert stopped.exit_code == 130
    assert "Finished cells are kept" in stopped.stderr
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 2


def test_a_full_disk_is_one_line(tmp_path, monkeypatch):
    def full(path, text):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(experiments._files, "write_text", full)
    refused = run(FAST, *ONLY, "--out", tmp_path)
    assert refused.exit_code == 1
    assert refused.stderr.splitlines()[-1].endswith(".json: No space left on device")
    assert not list(tmp_path.glob("*.json"))

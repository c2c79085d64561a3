"""The run folder: what a kill, a full disk, a second run or a stranger's file do to it."""

import errno
import json
import os

import pytest

from edgewise import InvalidDataError
from edgewise._ground import journal
from edgewise.experiments import Record, open_store


def record(cell="a", **changes):
    given = {
        "experiment": "toy",
        "scale": "small",
        "cell": cell,
        "seed": 0,
        "params": {"leaves": 4},
        "data": None,
        "data_hash": "drawn",
        "version": 1,
        "outcome": {"errors": 3},
        "seconds": 0.5,
    }
    return Record(**given | changes)


def filled(folder, *cells):
    with open_store(folder) as store:
        for cell in cells:
            store.append(record(cell))
    return folder / "cells.jsonl"


def test_what_was_appended_is_found_again(tmp_path):
    filled(tmp_path / "new" / "run", "a", "b")
    with open_store(tmp_path / "new" / "run") as store:
        assert len(store) == 2
        assert store.get(record("a").key()) == record("a")
        assert store.get(record("c").key()) is None


def test_cells_of_a_file_of_results_count_if_the_journal_lacks_them(tmp_path):
    """As in docs/results, which keeps the results and not the journal."""
    told = [vars(record("a")), vars(record("b", outcome={"errors": 4})), {"cell": "half"}, 7]
    (tmp_path / "toy-small.json").write_text(json.dumps({"verdicts": {}, "cells": told}))
    (tmp_path / "other.json").write_text("[1, 2]")
    (tmp_path / "torn.json").write_text('{"cells": [')
    filled(tmp_path, "b")
    with open_store(tmp_path) as store:
        assert len(store) == 2
        assert store.get(record("a").key()) == record("a")
        assert store.get(record("b").key()) == record("b")


@pytest.mark.parametrize(
    "changes",
    [{"seed": 1}, {"scale": "paper"}, {"version": 2}, {"data_hash": "ff"}, {"experiment": "x"}],
    ids=str,
)
def test_every_part_of_the_key_counts(tmp_path, changes):
    filled(tmp_path, "a")
    with open_store(tmp_path) as store:
        assert store.get(record("a", **changes).key()) is None


@pytest.mark.parametrize("cut", [1, 20, -1])
def test_a_line_cut_off_by_a_kill_is_dropped_and_the_file_mended(tmp_path, cut):
    path = filled(tmp_path, "a", "b")
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:cut])
    with open_store(tmp_path) as store:
        assert len(store) == 1
        store.append(record("c"))
    assert [json.loads(line)["cell"] for line in path.read_text().splitlines()] == ["a", "c"]


@pytest.mark.parametrize("line", ["not JSON", "[]", '{"cell": "a"}', ""])
def test_a_file_of_something_else_is_refused_and_kept(tmp_path, line):
    path = filled(tmp_path, "a")
    path.write_text(f"{line}\n{path.read_text()}")
    before = path.read_bytes()
    with pytest.raises(InvalidDataError, match="line 1 is not a"), open_store(tmp_path):
        pass
    assert path.read_bytes() == before


def test_one_run_at_a_time(tmp_path):
    with (
        open_store(tmp_path),
        pytest.raises(InvalidDataError, match="Another run"),
        open_store(tmp_path),
    ):
        pass
    with open_store(tmp_path):  # and the lock goes with the run
        pass


def test_a_full_disk_leaves_whole_lines_only(tmp_path, monkeypatch):
    path = filled(tmp_path, "a")
    before = path.read_bytes()
    write = os.write

    def half(descriptor, data):
        write(descriptor, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_store(tmp_path) as store:
        monkeypatch.setattr(journal.os, "write", half)
        with pytest.raises(OSError, match="No space left on device"):
            store.append(record("b"))
        monkeypatch.undo()
        assert path.read_bytes() == before
        store.append(record("b"))
    assert len(path.read_text().splitlines()) == 2

"""The results in the documents are what the experiments say of the cells beside them."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from edgewise.experiments import EXPERIMENTS, Record
from edgewise.experiments._page import page

FOLDER = Path(__file__).parents[3] / "docs" / "results"
NAMES = [path.name.removesuffix("-paper.json") for path in sorted(FOLDER.glob("*-paper.json"))]


@pytest.fixture(scope="module")
def cells():
    names = {field.name for field in fields(Record)}
    lines = map(json.loads, (FOLDER / "cells.jsonl").read_text().splitlines())
    return [Record(**line) for line in lines if set(line) == names]


@pytest.mark.parametrize("name", NAMES)
def test_findings_follow_from_the_cells(cells, name):
    each = EXPERIMENTS[name]
    planned = {cell.name: cell for cell in each.cells("paper")}
    mine = {
        record.cell: record
        for record in cells
        if record.experiment == each.kept_as and record.cell in planned
    }
    assert all(record.version == each.version for record in mine.values())
    assert all(record.params == planned[cell].params for cell, record in mine.items())
    told = json.loads((FOLDER / f"{name}-paper.json").read_text())
    assert {cell["cell"] for cell in told["cells"]} == set(mine)
    in_order = {cell: mine[cell] for cell in planned if cell in mine}
    found = [finding.as_dict() for finding in each.findings("paper", in_order)]
    assert json.loads(json.dumps(found)) == told["findings"]
    assert (FOLDER / f"{name}-paper.md").read_text() == page(told)


def test_every_page_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert NAMES
    assert all(f"({name}-paper.md)" in listed for name in NAMES)


def test_results_know_nothing_of_the_machine_they_came_from():
    for path in FOLDER.glob("*.[jm]*"):
        text = path.read_text()
        assert not any(f"/{folder}/" in text for folder in ("tmp", "home", "root", "work"))

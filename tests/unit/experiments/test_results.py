"""The results in the documents follow from the experiments and the cells beside them."""

import json
from pathlib import Path

import pytest

from edgewise.experiments import EXPERIMENTS, Record
from edgewise.experiments._page import page

FOLDER = Path(__file__).parents[3] / "docs" / "results"
NAMES = [path.name.removesuffix("-paper.json") for path in sorted(FOLDER.glob("*-paper.json"))]


@pytest.mark.parametrize("name", NAMES)
def test_findings_follow_from_the_cells(name):
    each = EXPERIMENTS[name]
    planned = {cell.name: cell for cell in each.cells("paper")}
    told = json.loads((FOLDER / f"{name}-paper.json").read_text())
    mine = {cell["cell"]: Record(**cell) for cell in told["cells"]}
    assert all(record.version == each.version for record in mine.values())
    assert all(record.params == planned[cell].params for cell, record in mine.items())
    in_order = {cell: mine[cell] for cell in planned if cell in mine}
    found = [finding.as_dict() for finding in each.findings("paper", in_order)]
    assert json.loads(json.dumps(found)) == told["findings"]
    words = (each.title, each.paper, each.tolerance, list(each.remarks))
    assert words == tuple(told[key] for key in ("title", "paper", "tolerance", "remarks"))
    titles = [table.title for table in each.tables("paper", in_order)]
    assert titles == [table["title"] for table in told["tables"]]
    assert (FOLDER / f"{name}-paper.md").read_text() == page(told)


def test_every_experiment_has_a_line_with_its_command():
    """What was not run at the papers' scale has a line, too, and says so."""
    listed = (FOLDER / "README.md").read_text()
    missing = [name for name in EXPERIMENTS if f"`edgewise reproduce {name}" not in listed]
    assert not missing


def test_every_page_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert NAMES
    assert all(f"({name}-paper.md)" in listed for name in NAMES)


def test_results_know_nothing_of_the_machine_they_came_from():
    for path in FOLDER.glob("*.[jm]*"):
        text = path.read_text()
        assert not any(f"/{folder}/" in text for folder in ("tmp", "home", "root", "work"))

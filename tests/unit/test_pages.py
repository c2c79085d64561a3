"""Every block of code on every page runs as written, from the top of the page to its end."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n((?:    [^\n]*\n)+))?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["tutorial", "migration", "gallery"])
def test_a_page_runs_as_written(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = BLOCK.findall((DOCS / f"{name}.md").read_text())
    assert len(blocks) >= 2
    for code, told in blocks:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, names)
        assert output.getvalue() == re.sub(r"^    ", "", told, flags=re.MULTILINE), code


# These run elsewhere, or need more than this process.
ELSEWHERE = {
    "field": "needs the benchmarks and their data",
    "scale": "starts processes of Dask; tests/distributed",
    "lab_convergence": "a session of Python, run by doctest",
    "lab_dynamics": "a session of Python, run by doctest",
}


def other_pages():
    """Pages without printed output and without figures, which test_docs.py compares."""
    figures = re.compile(r"^\w+ = .*# (?:[\d.]+(?:e-?\d+)?|True|False)\b", re.MULTILINE)
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text()
        known = path.stem in (*ELSEWHERE, "tutorial", "migration", "gallery")
        if "```python" in text and not known and not figures.search(text):
            yield path


@pytest.mark.parametrize("page", list(other_pages()), ids=lambda path: path.stem)
def test_blocks_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code, _ in BLOCK.findall(page.read_text()):
        exec(code, names)

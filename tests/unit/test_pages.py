"""Pages whose blocks build on each other run from top to bottom and print what stands below."""

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

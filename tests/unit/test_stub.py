"""The committed stub of the compiled module is what nanobind makes of the module."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
STUB = PROJECT / "src" / "edgewise" / "_core.pyi"


def test_the_stub_is_up_to_date(tmp_path):
    pytest.importorskip("nanobind", reason="nanobind, of the extra 'test', makes the stub")
    made = tmp_path / "_core.pyi"
    patterns = PROJECT / "cpp" / "stub_patterns.txt"
    generator = [sys.executable, "-m", "nanobind.stubgen", "-q"]
    subprocess.run(
        [*generator, "-m", "edgewise._core", "-p", patterns, "-o", made], check=True, timeout=60
    )
    assert STUB.read_text() == made.read_text(), "bindings have changed: run `make stub`"

"""The lint rule against sums that depend on the order of the rows finds what it is for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lint.sums_over_rows import FOR_PRODUCTS, FOR_SUMS, PACKAGE, findings

SCRIPT = Path(__file__).parents[1] / "lint" / "sums_over_rows.py"


def lint(package):
    return subprocess.run(
        [sys.executable, SCRIPT, package], capture_output=True, text=True, check=False
    )


def test_the_sources_pass():
    done = lint(PACKAGE)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        ("p @ noise", FOR_PRODUCTS),
        ("p @= noise", FOR_PRODUCTS),
        ("np.dot(p, noise)", FOR_PRODUCTS),
        ("np.matmul(p, noise)", FOR_PRODUCTS),
        ("np.einsum('ij->j', p)", FOR_PRODUCTS),
        ("p.sum(axis=0)", FOR_SUMS),
        ("p.sum(0)", FOR_SUMS),
        ("np.sum(p, axis=0)", FOR_SUMS),
        ("np.sum(p, 0)", FOR_SUMS),
        ("np.sum(p)", FOR_SUMS),
        ("p.mean()", FOR_SUMS),
        ("np.average(p, weights=w)", FOR_SUMS),
        ("np.add.at(a, w, b)", FOR_SUMS),
        ("np.bincount(w, b)", FOR_SUMS),
    ],
)
def test_a_sum_over_rows_is_found(code, instead):
    assert findings(f"def f():\n    {code}\n") == [("f", 2, instead)]


@pytest.mark.parametrize(
    "code",
    ["p.sum(axis=1)", "np.sum(p, 1)", "p.max()", "np.bincount(w)", "math.fsum(p)", "np.cumsum(p)"],
)
def test_other_code_is_not(code):
    assert findings(f"def f():\n    {code}\n") == []


@pytest.mark.parametrize(
    "file", ["_data/soft.py", "distributed/_rows.py", "losses.py", "_new/package.py"]
)
def test_a_planted_line_fails_the_lint(tmp_path, file):
    package = shutil.copytree(PACKAGE, tmp_path / "edgewise")
    (package / file).parent.mkdir(exist_ok=True)
    with (package / file).open("a", encoding="utf-8") as source:
        source.write("\n\ndef planted(p, w):\n    return (p * w).sum(axis=0)\n")
    done = lint(package)
    assert done.returncode == 1
    assert f"{file}:" in done.stdout
    assert f"planted: depends on the order of rows or on BLAS; use {FOR_SUMS}" in done.stdout


def test_an_unneeded_exception_fails_the_lint(tmp_path):
    package = shutil.copytree(PACKAGE, tmp_path / "edgewise")
    path = package / "_data" / "soft.py"
    path.write_text("", encoding="utf-8")
    done = lint(package)
    assert done.returncode == 1
    assert "_data/soft.py: soft_labels: 1 exceptions, but 0 are needed" in done.stdout

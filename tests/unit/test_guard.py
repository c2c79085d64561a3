"""The guard of speed: its cases are what they claim to be, and it compares what it should."""

import json
import shutil
from collections import Counter

import pytest
from scipy import sparse

from edgewise import _core
from edgewise._data.sparse import SparseRows

guard = pytest.importorskip("benchmarks.guard.__main__")
callgrind = pytest.importorskip("benchmarks.guard.callgrind")
cases = pytest.importorskip("benchmarks.guard.cases")


def binned(layout):
    X, _, categorical = cases.table(layout)
    matrix = SparseRows.of(X) if sparse.issparse(X) else X
    return _core.BinnedData(matrix, None, 255, 1, categorical or [])


@pytest.mark.parametrize("layout", cases.TABLES)
def test_tables_have_the_layout_they_are_named_for(layout):
    data = binned(layout)
    n = data.n_rows
    assert data.sparse == (layout in ("rows", "equal rows", "images", "columns"))
    assert (data.n_joint > 0) == (layout in ("joint", "bits"))
    assert data.pays_by_columns(n) == (layout == "columns")
    assert any(data.row_widths) == (layout == "equal rows")
    assert layout != "images" or len(data.row_widths) > 1


def test_every_layout_is_counted():
    assert {case.layout for case in cases.CASES.values()} == set(cases.TABLES)


LINES = """desc: Trigger: Client Request: a case
events: Ir
ob=(1) /site/edgewise/_core.so
fn=(1) kernel
12 100
+3 20
cob=(2) /lib/libc.so.6
cfn=(2) memset
calls=3 0
* 50
cob=(3) /usr/bin/python3
cfn=(3) PyErr_CheckSignals
calls=1 0
* 7
cfn=(4) helper
calls=1 0
16 1000
fn=(4)
1 1000
ob=(3)
fn=(3)
5 9
ob=(1)
fn=(5) cgroup_limit
5 3000
"""


def test_counts_are_of_the_module_and_the_c_library(tmp_path):
    """Of a call within the module only what the called function itself writes down counts."""
    path = tmp_path / "out.1"
    path.write_text(LINES)
    assert callgrind._read(path) == ("a case", Counter(kernel=170, helper=1000))


@pytest.mark.parametrize(
    ("now", "status", "words"),
    [
        (104, 0, "within 5%"),
        (106, 1, "SLOWER"),
        (90, 0, "fewer"),
    ],
)
def test_five_percent_more_fail(now, status, words, capsys):
    then = {"a case": {"instructions": 100_000_000, "functions": {"kernel": 60_000_000}}}
    counts = {"a case": Counter(kernel=(now - 40) * 1_000_000, other=40_000_000)}
    assert guard.compared(then, counts) == status
    out = capsys.readouterr().out
    assert words in out
    assert ("+6.0 M  kernel" in out) == (status == 1)


def test_a_case_that_the_baseline_lacks_fails(capsys):
    assert guard.compared({}, {"a case": Counter(kernel=1)}) == 1
    assert "not in the baseline" in capsys.readouterr().out


def test_the_baseline_has_every_case_and_a_reason():
    baseline = json.loads(guard.BASELINE.read_text())
    assert list(baseline["counts"]) == list(cases.CASES)
    assert baseline["reason"]


def test_elsewhere_it_skips_and_says_why(monkeypatch, capsys):
    monkeypatch.setattr(guard, "environment", lambda: elsewhere)
    monkeypatch.setattr(guard.callgrind, "need_tools", lambda: None)
    elsewhere = json.loads(guard.BASELINE.read_text())["environment"] | {"compiler": "Clang 19"}
    assert guard.main([]) == 0
    assert "skipped, the baseline is of another environment: compiler Clang 19" in (
        capsys.readouterr().out
    )


def test_without_valgrind_it_skips_and_says_why(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert guard.main([]) == 0
    assert "skipped, valgrind is not installed" in capsys.readouterr().out


def test_a_new_baseline_needs_a_reason(capsys):
    with pytest.raises(SystemExit):
        guard.main(["--renew", " "])
    assert "needs a reason" in capsys.readouterr().err


@pytest.mark.skipif(not shutil.which("valgrind"), reason="needs valgrind")
def test_valgrind_counts_the_kernels_of_a_case():
    name = "predict_proba"
    counts = callgrind.count([name])
    assert list(counts) == [name]
    assert 1e6 < counts[name].total() < 1e9

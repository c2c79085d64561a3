"""The benchmarks of shapes and of the roofline, on tables that take no time."""

import json
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

shapes = pytest.importorskip("benchmarks.shapes")
main = pytest.importorskip("benchmarks.__main__")
roofline = pytest.importorskip("benchmarks.bench_roofline")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(main.report, "RESULTS", tmp_path)
    return tmp_path


def test_all_pairs_of_levels_occur_in_the_fraction():
    def pairs(chosen):
        return {pair for shape in chosen for pair in combinations(enumerate(shape), 2)}

    possible = shapes.all_shapes()
    chosen = shapes.fraction(possible)
    assert pairs(chosen) == pairs(possible)
    assert len(chosen) < 40
    assert {s.rows for s in possible} == set(shapes.ROWS)
    assert {s.classes for s in possible} == set(shapes.CLASSES)
    # The beginning tells most.
    assert len(pairs(chosen[:12])) > 0.7 * len(pairs(chosen))


@pytest.mark.parametrize("density", [0.1, 1.0])
@pytest.mark.parametrize("bins", [2, 16, 1020])
def test_tables_are_as_asked_for(density, bins):
    X, y = shapes.table(shapes.Shape(5000, 20, density, bins, 10, 1))
    assert X.shape == (5000, 20)
    assert sparse.issparse(X) == (density < 1 and bins <= 255)
    assert len(np.unique(X.toarray() if sparse.issparse(X) else X)) == bins
    assert np.bincount(y).tolist() == [500] * 10
    if density < 1:
        assert (X != 0).sum() == 5000 * 20 * density


def test_a_map_is_measured_within_a_budget_and_resumed(results, capsys):
    pytest.importorskip("lightgbm")
    tiny = ["shapes", "--quick", "--most-work", "1500", "--resume"]
    assert main.main([*tiny, "--budget", "0"]) == 0
    assert "no cell was measured" in capsys.readouterr().out
    assert main.main(tiny) == 0
    first = json.loads((results / "shapes-quick.json").read_text())["results"]
    ratios = [line["ratio"] for line in first]
    assert ratios == sorted(ratios, reverse=True)
    assert min(ratios) > 0
    assert main.main(tiny) == 0  # nothing is left to do
    assert json.loads((results / "shapes-quick.json").read_text())["results"] == first
    assert f"worst ratio {ratios[0]:.2f}" in capsys.readouterr().out


def test_the_roofline_has_a_line_per_layout_and_node(results):
    assert main.main(["roofline", "--quick", "--parts", "kernel"]) == 0
    lines = json.loads((results / "roofline-quick.json").read_text())["results"]["kernel"]
    assert [line["layout"] for line in lines[::2]] == list(roofline.LAYOUTS)
    assert all(line["additions/ns"] > 0 for line in lines)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("void edgewise::add_to_histogram<edgewise::PlainBin>(edgewise::BinnedData", "histograms"),
        ("edgewise::Split edgewise::find_split<edgewise::PlainBin>(", "search"),
        ("edgewise::(anonymous namespace)::Router::operator()", "partition"),
        ("edgewise::(anonymous namespace)::Sorter::distinct", "binning"),
        ("edgewise::TwoChannelEvaluator<edgewise::CountedBin, NewtonLeaves>::sum", "histograms"),
        ("edgewise::(anonymous namespace)::NewtonLeaves::steps", "posterior"),
        ("edgewise::Posterior::add(", "posterior"),
        ("nanobind::detail::nb_func_vectorcall", "other"),
    ],
)
def test_functions_are_sorted_by_their_work(function, kind):
    assert roofline.kind_of(function) == kind


def test_samples_of_the_core_are_counted():
    listing = (
        "# Samples\n"
        "       12|_core.so|[.] edgewise::find_split\n"
        "        3|libc.so.6|[.] memset\n"
        "        5|_core.so|[.] edgewise::Posterior::add\n"
    )
    assert roofline.count_samples(listing) == {"search": 12, "posterior": 5}

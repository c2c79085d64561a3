"""The core's kernels are compiled by the core alone.

The linker keeps one copy of an inline function or a template, from whichever object it sees first.
A kernel that the bindings also instantiate would run as fast as the bindings happen to be compiled.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
COMPILER = shutil.which("c++")

# Weak functions of the core's namespace, that of the bindings below it aside.
OF_THE_CORE = re.compile(r"_ZNK?8edgewise(?!8bindings)")
SPECIAL = re.compile(r"(?P<type>\w+)(<.*>)?::~?(?P=type)\(")  # constructors and destructors
# What Python calls through a pointer: none is called from a loop of the core.
ACCESSORS = {
    "edgewise::BinnedData::code",
    "edgewise::BinnedData::has_lists",
    "edgewise::Forest::n_trees",
    "edgewise::LabelScores::n_labels",
    "edgewise::LabelWeights::log_risk",
    "edgewise::Posterior::n_classes",
    "edgewise::Tree::moves_nothing",
    "edgewise::keep_buffers",
    "edgewise::release_buffers",
    "edgewise::sum_scale",
}

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("nm"), reason="needs nm and objects in ELF format"
)


def binding_objects():
    """Of the builds in this checkout: by `make`, or by pip with the build folder of the project."""
    builds = [PROJECT / ".venv/build", *(PROJECT / "build").glob("*")]
    objects = [path for build in builds for path in build.glob("CMakeFiles/_core.dir/cpp/*.o")]
    if not objects:
        pytest.skip("no objects: this checkout has no build folder")
    return objects


def symbols(path, *options):
    """(type, name) of what an object defines, in the order of the file."""
    command = ["nm", "--defined-only", "--no-sort", *options, str(path)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=2)[1:] for line in lines]


def copies_of_the_core(path):
    """Weak functions of the core that an object carries, accessors aside, demangled."""
    found = []
    for (kind, name), (_, spelled) in zip(symbols(path), symbols(path, "-C"), strict=True):
        if kind != "W" or not OF_THE_CORE.match(name) or SPECIAL.search(spelled):
            continue
        # It names the arrays of trees and touches no element.
        listing = re.search(r"edgewise::each_of_(nodes|values|trees)<", spelled)
        if spelled.partition("(")[0] not in ACCESSORS and not listing:
            found.append(spelled)
    return found


def test_bindings_carry_no_kernel():
    copies = {path.stem: copies_of_the_core(path) for path in binding_objects()}
    assert len(copies) >= 6
    assert not any(copies.values()), copies


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_a_kernel_in_an_object_is_found(tmp_path):
    """The same check on a binding that instantiates a kernel and one that only calls one."""
    start = f'#include "{PROJECT}/cpp/core/histogram.hpp"\n#include "{PROJECT}/cpp/core/math.hpp"\n'
    sources = {
        "calls": "auto kernel = &edgewise::add_to_histogram<edgewise::PlainBin>;",
        "template": "template void edgewise::clear_histogram(const edgewise::BinnedData&, "
        "const std::vector<int>&, std::vector<edgewise::PlainBin>&);",
        "inline": "auto kernel = &edgewise::exp_portable;",
    }
    found = {}
    for name, text in sources.items():
        source, made = tmp_path / f"{name}.cpp", tmp_path / f"{name}.o"
        source.write_text(start + text + "\n")
        command = [COMPILER, "-std=c++20", "-O3", "-Wno-psabi", "-c", str(source), "-o", str(made)]
        subprocess.run(command, check=True)
        found[name] = [spelled.partition("(")[0] for spelled in copies_of_the_core(made)]
    assert found["calls"] == []
    assert "void edgewise::clear_histogram<edgewise::PlainBin>" in found["template"]
    assert found["inline"] == ["edgewise::exp_portable"]

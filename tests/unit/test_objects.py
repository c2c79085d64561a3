"""The core's kernels are compiled by the core alone, and its clones with all that they call.

The linker keeps one copy of an inline function or a template, from whichever object it sees first.
A kernel that the bindings also instantiate would run as fast as the bindings happen to be compiled.

A kernel with clones (clones.hpp) is as fast as its slowest part: a helper that the compiler does
not inline is compiled for plain x86-64 only.
"""

import platform
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
    "edgewise::Posterior::room",
    "edgewise::Tree::moves_nothing",
    "edgewise::keep_buffers",
    "edgewise::release_buffers",
    "edgewise::sum_scale",
}

FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
CALL = re.compile(r"\b(?:call|jmp)\s+[0-9a-f]+ <([^>+]+)>$")  # in the same section of an object
ELSEWHERE = re.compile(r"R_X86_64_PLT32\s+(_ZNK?8edgewise\w+)")
CLONE = ".arch_x86_64_v3"

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("nm"), reason="needs nm and objects in ELF format"
)


def built_objects(folder):
    """Of the builds in this checkout: by `make`, or by pip with the build folder of the project."""
    builds = [PROJECT / ".venv/build", *(PROJECT / "build").glob("*")]
    objects = [path for build in builds for path in build.glob(f"CMakeFiles/{folder}/*.o")]
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
    copies = {path.stem: copies_of_the_core(path) for path in built_objects("_core.dir/cpp")}
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


def calls_out_of_clones(path):
    """(clone, function) for every call from a clone to a function that has no clones."""
    command = ["objdump", "--disassemble", "--reloc", "--no-show-raw-insn", str(path)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    cloned = {
        name.partition(".")[0]
        for line in text.splitlines()
        for name in FUNCTION.findall(line)
        if CLONE in name
    }
    found, at = set(), ""
    for line in text.splitlines():
        if function := FUNCTION.match(line):
            at = function[1]
        elif CLONE in at and (call := CALL.search(line) or ELSEWHERE.search(line)):
            found.add((at, call[1]))
    return {(at, called) for at, called in found if called.partition(".")[0] not in cloned}


@pytest.mark.skipif(not shutil.which("objdump"), reason="needs objdump")
def test_clones_call_nothing_that_is_compiled_for_plain_processors():
    calls = {p.stem: calls_out_of_clones(p) for p in built_objects("edgewise_core.dir/cpp/core")}
    assert not any(calls.values()), calls


@pytest.mark.skipif(
    COMPILER is None or not shutil.which("objdump") or platform.machine() != "x86_64",
    reason="needs a C++ compiler, objdump and x86-64",
)
@pytest.mark.parametrize("how", ["noinline", "always_inline"])
def test_a_helper_that_is_not_inlined_is_found(how, tmp_path):
    source, made = tmp_path / "kernel.cpp", tmp_path / "kernel.o"
    source.write_text(
        f"""#include "{PROJECT}/cpp/core/clones.hpp"
        namespace edgewise {{
        [[gnu::{how}]] static inline double twice(double x) {{ return x + x; }}
        EDGEWISE_CLONES void kernel(double* x, int n) {{
          for (int i = 0; i < n; ++i) x[i] = twice(x[i]);
        }}
        }}"""
    )
    command = [COMPILER, "-std=c++20", "-O3", "-fPIC", "-c", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    if not any(CLONE in name for _, name in symbols(made)):
        pytest.skip("this compiler makes no clones")
    found = {function.split("twice")[0] for _, function in calls_out_of_clones(made)}
    assert len(found) == (how == "noinline")

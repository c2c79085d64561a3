"""Tests of headers of the core in C++, a program each; all else is tested from Python."""

import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
CORE = FOLDER.parents[1] / "cpp" / "core"
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.parametrize("source", sorted(FOLDER.glob("test_*.cpp")), ids=lambda path: path.stem)
def test_header(source, tmp_path):
    program = tmp_path / source.stem
    command = [COMPILER, *FLAGS, f"-I{CORE}", f"-I{FOLDER}", str(source), "-o", str(program)]
    subprocess.run(command, check=True, timeout=300)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_every_program_is_about_a_header():
    for source in FOLDER.glob("test_*.cpp"):
        assert (CORE / f"{source.stem.removeprefix('test_')}.hpp").is_file()

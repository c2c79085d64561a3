"""Builds the core with a sanitizer, shows that it finds bugs, and runs a part of the tests with it.

    python tests/sanitize/run.py address|hostile|thread BUILD_FOLDER [PYTEST_ARGS ...]

`hostile` is a small part of `address`: parameters, files and matrices made with bad intent.

The package is laid out anew in BUILD_FOLDER with the compiled module beside its sources, and the
sanitizer's runtime is loaded before Python itself.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).parents[2]
COMPILER = os.environ.get("CXX", "g++")


class Sanitizer(NamedTuple):
    flags: str
    libraries: tuple[str, ...]
    options: dict[str, str]
    bugs: dict[str, str]  # by call of a planted bug: what the sanitizer says of it
    tests: tuple[str, ...]


# Leaks: Python itself leaves some. Too large a piece of memory is for us to refuse.
ADDRESS = Sanitizer(
    "address,undefined",
    ("libasan.so", "libubsan.so", "libstdc++.so"),
    {
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    },
    {
        "planted_read_past_the_end(8)": "AddressSanitizer: heap-buffer-overflow",
        "planted_overflow(2**31 - 1)": "runtime error: signed integer overflow",
    },
    (
        "equivalence/test_finer_bins.py",
        "fuzz",
        "golden",
        "property/test_determinism.py",
        "property/test_shap.py",
        "unit/test_adaboost_mh.py",
        "unit/test_bad_files.py",
        "unit/test_binning.py",
        "unit/test_categories.py",
        "unit/test_constraints.py",
        "unit/test_equal_rows.py",
        "unit/test_groups.py",
        "unit/test_histogram.py",
        "unit/test_layouts.py",
        "unit/test_losses.py",
        "unit/test_martiboost.py",
        "unit/test_many_rows.py",
        "unit/test_math.py",
        "unit/test_nasty_data.py",
        "unit/test_permutation.py",
        "unit/test_posterior.py",
        "unit/test_random_cuts.py",
        "unit/test_routing.py",
        "unit/test_samme.py",
        "unit/test_saved.py",
        "unit/test_single_rows.py",
        "unit/test_softmax_boost.py",
        "unit/test_sparse.py",
        "unit/test_threads.py",
    ),
)
# A child forked from a process with threads has but one: the runtime refuses to go on there.
THREAD = Sanitizer(
    "thread",
    ("libtsan.so", "libstdc++.so"),
    {"TSAN_OPTIONS": "halt_on_error=1:history_size=4:die_after_fork=0"},
    {"planted_race(4)": "ThreadSanitizer: data race"},
    (
        "golden",
        "property/test_determinism.py",
        "unit/test_martiboost.py",
        "unit/test_threads.py",
        "--deselect=tests/unit/test_threads.py::TestFork",
    ),
)
HOSTILE = ADDRESS._replace(
    tests=(
        "unit/test_bad_files.py",
        "unit/test_core_pickles.py",
        "unit/test_gate.py",
        "unit/test_sparse_places.py",
        "fuzz/test_targets.py",
        "--deselect=tests/fuzz/test_targets.py::test_a_planted_bug_is_found",
        # Changed while they are read, on purpose, by a process that is not ours to preload.
        "--deselect=tests/unit/test_sparse_places.py::"
        "test_a_matrix_changed_by_another_thread_is_safe",
    )
)
SANITIZERS = {"address": ADDRESS, "hostile": HOSTILE, "thread": THREAD}


def build(flags: str, folder: Path) -> Path:
    """Compiles and lays the package out; the folder to put on PYTHONPATH."""
    nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    where = subprocess.run(nanobind, check=True, capture_output=True, text=True).stdout.strip()
    settings = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_CXX_COMPILER": COMPILER,
        "EDGEWISE_SANITIZE": flags,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": where,
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-G", "Ninja", "-S", PROJECT, "-B", folder, *defined], check=True)
    subprocess.run(["cmake", "--build", folder], check=True)
    site = folder / "site"
    shutil.rmtree(site, ignore_errors=True)
    no_modules = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(PROJECT / "src" / "edgewise", site / "edgewise", ignore=no_modules)
    for module in folder.glob("_core*.so"):
        shutil.copy(module, site / "edgewise")
    return site


def runtime(library: str) -> str:
    command = [COMPILER, f"-print-file-name={library}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def missing(sanitizer: Sanitizer) -> str:
    """Why the sanitizer cannot run here, or nothing."""
    if sys.platform != "linux" or not all(map(shutil.which, (COMPILER, "setarch"))):
        return f"it needs Linux, {COMPILER} and setarch"
    absent = [name for name in sanitizer.libraries if not Path(runtime(name)).is_absolute()]
    return f"{COMPILER} has no {absent[0]}" if absent else ""


def environment(sanitizer: Sanitizer, site: Path) -> dict[str, str]:
    preload = ":".join(map(runtime, sanitizer.libraries))
    return {**os.environ, **sanitizer.options, "LD_PRELOAD": preload, "PYTHONPATH": str(site)}


def command(*arguments: str) -> list[str]:
    """Python without random addresses, among which the runtimes may not find their own."""
    return ["setarch", "-R", sys.executable, *arguments]


def check_planted_bugs(sanitizer: Sanitizer, env: dict[str, str]) -> None:
    for call, words in sanitizer.bugs.items():
        code = f"from edgewise import _core; print(_core.testing.{call})"
        done = subprocess.run(
            command("-c", code), env=env, capture_output=True, text=True, check=False
        )
        if done.returncode == 0 or words not in done.stderr:
            sys.exit(f"{call} was not found. The sanitizer is not on:\n{done.stderr[-2000:]}")
        print(f"planted bug found: {call}: {words}", flush=True)


def main(kind: str, folder: str, *pytest_args: str) -> int:
    sanitizer = SANITIZERS[kind]
    if reason := missing(sanitizer):
        print(f"{kind}: skipped, {reason}")
        return 0
    begin = time.perf_counter()
    site = build(sanitizer.flags, Path(folder).resolve())
    env = environment(sanitizer, site)
    check_planted_bugs(sanitizer, env)
    tests = [t if t.startswith("-") else f"tests/{t}" for t in sanitizer.tests]
    # No time limit of pytest's own: it would start a thread that the runtimes do not know.
    # Only Python's own output is captured: a report is not to perish with the process.
    options = ["-q", "--capture=sys", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=0"]
    arguments = command("-m", "pytest", *options, *tests, *pytest_args)
    status = subprocess.run(arguments, cwd=PROJECT, env=env, check=False).returncode
    verdict = "clean" if status == 0 else f"NOT clean, pytest ended with {status}"
    print(f"{kind}: {verdict}, {time.perf_counter() - begin:.0f} s")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Instructions by function, counted by valgrind's callgrind.

Only the compiled module is counted, with what it calls of the C and C++ libraries: Python's own
instructions depend on the version of every package that takes part.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from ..symbols import site_with_symbols

PROJECT = Path(__file__).parents[2]
MARKS = Path(__file__).with_name("marks.c")
NAMED = re.compile(r"(c?ob|c?fn)=\((\d+)\)(?: (.*))?")  # a name in full, later its number
HELPERS = re.compile(r"/(libc|libm|libstdc\+\+|libgcc_s|ld-linux[^/]*)[.-][^/]*$")
OF_THE_MACHINE = "cgroup_"  # functions that read how many processors there are


class CannotCountError(Exception):
    """Something that counting needs is not here."""


def count(names: Collection[str]) -> dict[str, Counter[str]]:
    """By case, and by function of the core, how many instructions it took."""
    need_tools()
    with TemporaryDirectory() as name:
        folder = Path(name)
        command = [
            *("valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"),
            f"--callgrind-out-file={folder / 'out'}",
            *(sys.executable, "-m", "benchmarks.guard.counted", str(_marks(folder)), *names),
        ]
        # Hashes of strings are not to depend on the run.
        env = {
            **os.environ,
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(site_with_symbols(folder / "site")),
        }
        done = subprocess.run(
            command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"counting failed:\n{done.stderr}")
        found = dict(_read(path) for path in folder.glob("out.*"))
    return {name: found[name] for name in names}


def need_tools() -> None:
    """Raises with the reason where instructions cannot be counted."""
    for tool in ("valgrind", "readelf", "cc"):
        if not shutil.which(tool):
            raise CannotCountError(f"{tool} is not installed")
    if sys.platform != "linux":
        raise CannotCountError(f"it is made for Linux, this is {sys.platform}")


def _marks(folder: Path) -> Path:
    library = folder / f"marks{sysconfig.get_config_var('SHLIB_SUFFIX')}"
    command = ["cc", "-O1", "-shared", "-fPIC", str(MARKS), "-o", str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotCountError(f"valgrind's headers are not installed: {done.stderr}")
    return library


def _read(path: Path) -> tuple[str, Counter[str]]:
    """The name of a case, and its counts, from one of callgrind's files."""
    lines = path.read_text().splitlines()
    trigger = next(line for line in lines if line.startswith("desc: Trigger:"))
    counts: Counter[str] = Counter()
    for module, function, called, cost in _costs(lines):
        ours = "/_core." in module and OF_THE_MACHINE not in function
        if ours and (not called or HELPERS.search(called)):
            counts[function] += cost
    return trigger.rpartition("Client Request: ")[2], counts


def _costs(lines: Iterable[str]) -> Iterator[tuple[str, str, str, int]]:
    """(module, function, "", own cost), or (module, function, called module, cost of the call)."""
    names: dict[tuple[str, str], str] = {}
    at = {"ob": "", "fn": "", "cob": ""}
    calls = False
    for line in lines:
        if named := NAMED.fullmatch(line):
            key, number, name = named.groups()
            kind = key[-2:]
            names.setdefault((kind, number), name)
            at[key] = names[kind, number]
        elif line.startswith("calls="):
            calls = True
        elif line[:1] in "+-*0123456789" and line[:1] and at["fn"]:
            cost = int(line.split()[1])
            if not calls:
                yield at["ob"], at["fn"], "", cost
            elif at["cob"] and at["cob"] != at["ob"]:
                yield at["ob"], at["fn"], at["cob"], cost
            at["cob"], calls = "", False

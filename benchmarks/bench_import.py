"""What `import edgewise` costs on top of the scikit-learn modules that it uses.

Each figure is the median over fresh interpreters, interleaved. Which modules of scikit-learn
edgewise uses is not listed here but looked up, in one run beforehand.
"""

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from statistics import median

from . import report
from .measure import interleaved

NAME = "import"
TARGET_SECONDS = 0.1
QUICK = {"repeats": 3}

_LOOK_UP = """
import json, sys
import {package}
print(json.dumps(sorted(m for m in sys.modules if m.partition(".")[0] == "sklearn")))
"""
_TIME = """
import importlib, json, sys, time
before, timed = json.loads(sys.argv[1])
for module in before:
    importlib.import_module(module)
start = time.perf_counter()
for module in timed:
    importlib.import_module(module)
print(time.perf_counter() - start)
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--package", default="edgewise", help="the package to measure")
    parser.set_defaults(repeats=15)


def run(args: Namespace) -> None:
    """Three times: bare scikit-learn, the modules used of it, and the package on top."""
    used = json.loads(_python(_LOOK_UP.format(package=args.package)))
    base = used or ["sklearn"]
    tasks = {
        "import sklearn": lambda: _seconds([], ["sklearn"]),
        f"the {len(base)} modules of sklearn in use": lambda: _seconds([], base),
        f"import {args.package} after them": lambda: _seconds(base, [args.package]),
    }
    taken = interleaved(tasks, args.repeats)
    report.save(NAME, vars(args), taken, quick=args.quick)
    rows = [[name, median(times), min(times), max(times)] for name, times in taken.items()]
    rows[-1].append(report.verdict(rows[-1][1], TARGET_SECONDS if args.judged else None))
    for row in rows[:-1]:
        row.append("")
    title = (
        f"seconds to import, fresh interpreters (wanted: {args.package} at most {TARGET_SECONDS})"
    )
    report.print_table(title, ["what", "median", "least", "most", "verdict"], rows)


def _seconds(before: list[str], timed: list[str]) -> float:
    return float(_python(_TIME, json.dumps([before, timed])))


def _python(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"a fresh interpreter failed:\n{done.stderr}")
    return done.stdout

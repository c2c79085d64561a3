"""How near the histogram kernels are to the limit of the machine, and where the rest of a fit goes.

kernel  of every layout: bytes read and additions made per second, one thread, over the bytes that a
        streaming copy reads and the additions of a streaming addition (NumPy, 64-bit integers,
        arrays beyond the caches). In the root all rows follow each other; in a child half of the
        rows, drawn, are fetched.
        Wanted of dense bytes: 0.5 of the bytes or of the additions.
shares  of a fit's processor time on each data set: histograms, search for splits, partition of
        rows, posterior and derivatives, the rest of the core, and what is outside it. One thread;
        sampled by `perf`, so it takes no quiet machine; left out where there is no perf.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from . import report
from .shapes import Shape, table
from .symbols import site_with_symbols

NAME = "roofline"
PARTS = ("kernel", "shares")
QUICK: dict[str, Any] = {"rows": 2000, "rounds": 2, "sets": ["synthetic-1000-16-5"], "repeats": 2}
SETS = "letter pendigits optdigits satimage usps isolet covertype mnist".split()
ROUNDS = {"isolet": 5, "mnist": 6, "covertype": 20}
WANTED = 0.5
HERTZ = 999
# Columns, density, bins and the width of a code in bytes, by layout. Rows of sparse tables list
# their entries as places of two bytes.
LAYOUTS = {
    "bytes": (32, 1.0, 255, 1),
    "joint": (32, 1.0, 16, 1),
    "bits": (64, 1.0, 2, 1),
    "sparse rows": (200, 0.1, 255, 2),
    "by columns": (2000, 0.01, 255, 5),  # a row's number and a code
}
# The first that matches the name of a function says what it does.
WORK = {
    "binning": r"Sorter|[a-z]_cuts|Matrix::\w|BinnedData::\w|encode_|Transposed|Cuts::",
    "histograms": r"histogram|add_(dense|joint|column|by_|equal|listed|row)|"
    r"Evaluator<.*>::(sum|build|remove_rows)",
    "search": r"find_split|search|Search|rough_|scores_of|advance|hopeless|best_",
    "partition": r"Router|artition|route|choose_|LeafBoard|steps_of",
    "posterior": r"osterior|deriv|esidual|pack_rows|mark_rows|select_rows|exp_|log_|largest|"
    r"sum_of_sizes|normalise|take_log|units|sum_rows|cross_sum|add_pair|Leaves|eights|cover_sums",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, default=200_000, help="of the kernels' tables")
    parser.add_argument("--rounds", type=int, help="of the fits; default: by data set")
    parser.add_argument("--sets", nargs="+", default=SETS, help="whose fits are sampled")
    parser.add_argument("--estimators", nargs="+", default=["LogitBoost", "AOSOLogitBoost"])
    parser.set_defaults(repeats=7)


def run(args: Namespace) -> None:
    """Both tables."""
    results: dict[str, list[dict[str, Any]]] = {}
    for part in args.parts:
        results[part] = {"kernel": kernels, "shares": shares}[part](args)
        report.save(NAME, vars(args), results, quick=args.quick)
        if results[part]:
            columns = list(results[part][0])
            lines = [[line[key] for key in columns] for line in results[part]]
            report.print_table(part, columns, lines)


def kernels(args: Namespace) -> list[dict[str, Any]]:
    """A line per layout and kind of node."""
    copied, added = _limits(args)
    lines = []
    for layout, (columns, density, bins, width) in LAYOUTS.items():
        # About as many entries as the dense table has.
        rows = min(args.rows, int(args.rows * 32 / (columns * density)))
        X, _ = table(Shape(rows, columns, density, bins, 2, 1))
        data, entries = _binned(X), rows * columns * density
        chosen = np.random.default_rng(0).random(rows) < 0.5
        for node, of in (
            ("root", np.arange(rows, dtype=np.uint32)),
            ("child", np.flatnonzero(chosen).astype(np.uint32)),
        ):
            share = len(of) / rows
            # Without rows it zeroes, completes and copies as much.
            seconds = _least(_histogram(data, of), args.repeats)
            seconds = max(seconds - _least(_histogram(data, of[:0]), args.repeats), 1e-9)
            read = share * entries * width + 12 * len(of)  # 4 of the row's number, 8 of its sums
            line = {
                "layout": layout,
                "node": node,
                "GB/s": read / seconds / 1e9,
                "of a copy": read / seconds / copied,
                "additions/ns": share * entries / seconds / 1e9,
                "of an addition": share * entries / seconds / added,
            }
            best = max(line["of a copy"], line["of an addition"])
            judged = layout == "bytes" and not args.quick
            line["verdict"] = ("met" if best >= WANTED else "MISSED") if judged else ""
            lines.append(line)
    print(f"streaming copy {copied / 1e9:.2f} GB/s, addition {added / 1e9:.2f} a nanosecond")
    return lines


def _limits(args: Namespace) -> tuple[float, float]:
    """Bytes per second of a copy, and additions of 64-bit integers per second."""
    n = max(32 * args.rows, 1 << 16)
    total, given = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    copy = _least(lambda: np.copyto(total, given), args.repeats)
    addition = _least(lambda: np.add(total, given, out=total), args.repeats)
    return 8 * n / copy, n / addition


def _histogram(data: Any, rows: Any) -> Callable[[], Any]:
    from edgewise import _core

    stats = np.full(len(rows), (1 << 32) + 1, dtype=np.int64)
    return lambda: _core.testing.histogram(data, rows, stats, False)


def _binned(X: Any) -> Any:
    from scipy import sparse

    from edgewise import _core
    from edgewise._data.sparse import SparseRows

    return _core.BinnedData(SparseRows.of(X) if sparse.issparse(X) else X, None, 255, 1)


def _least(work: Callable[[], Any], repeats: int) -> float:
    """Processor seconds of the quickest run, after one that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return max(min(taken[1:]), 1e-9)


def shares(args: Namespace) -> list[dict[str, Any]]:
    """A line per data set and estimator; none without perf."""
    if not shutil.which("perf"):
        report.note("perf is not installed: the shares of a fit's time are left out")
        return []
    return [
        _shares_of(data_set, estimator, args)
        for data_set in args.data_sets or args.sets
        for estimator in args.estimators
    ]


def _shares_of(data_set: str, estimator: str, args: Namespace) -> dict[str, Any]:
    rounds = args.rounds or ROUNDS.get(data_set, 60)
    with TemporaryDirectory() as name:
        folder = Path(name)
        samples, cpu = _sampled(folder, [data_set, estimator, str(rounds), str(args.max_rows or 0)])
    seconds = Counter({what: n / HERTZ for what, n in samples.items()})
    cpu = max(cpu, seconds.total())
    line: dict[str, Any] = {"data": data_set, "estimator": estimator, "CPU s": cpu}
    for what in (*WORK, "other"):
        line[f"{what} %"] = 100 * seconds[what] / cpu
    line["Python, libc %"] = 100 * (cpu - seconds.total()) / cpu
    line["not histograms %"] = 100 - line["histograms %"]
    return line


def _sampled(folder: Path, job: list[str]) -> tuple[Counter[str], float]:
    """Samples in the core by kind of work, and the processor seconds of the fit."""
    data = folder / "perf.data"
    command = [
        *("perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(HERTZ), "-o", str(data)),
        *(sys.executable, "-m", "benchmarks.bench_roofline", *job),
    ]
    site = site_with_symbols(folder / "site")
    env = {**os.environ, "PYTHONPATH": str(site)}
    fit = _ran(command, env=env, cwd=Path(__file__).parents[1])
    listing = ["perf", "report", "-i", str(data), "--stdio", "--no-children", "-g", "none"]
    listing += ["-F", "sample,dso,sym", "-t", "|"]
    return count_samples(_ran(listing)), float(fit.splitlines()[-1])


def count_samples(listing: str) -> Counter[str]:
    """From the lines of `perf report`: number of samples, module and function."""
    counts: Counter[str] = Counter()
    for line in listing.splitlines():
        number, _, rest = line.partition("|")
        module, _, function = rest.partition("|")
        if number.strip().isdigit() and "_core." in module and "pybind11" not in function:
            counts[kind_of(function)] += int(number)
    return counts


def kind_of(function: str) -> str:
    """What a function of the core does, by its name."""
    return next((kind for kind, names in WORK.items() if re.search(names, function)), "other")


def _ran(command: list[str], **options: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed:\n{done.stderr}")
    return done.stdout


def fit_once(data_set: str, estimator: str, rounds: str, max_rows: str) -> float:
    """Processor seconds of one fit, in one thread."""
    import edgewise

    from .datasets import load

    X, y, *_ = load(data_set, max_rows=int(max_rows) or None)
    model = getattr(edgewise, f"{estimator}Classifier")(n_estimators=int(rounds), n_jobs=1)
    begin = time.process_time()
    model.fit(X, y)
    return time.process_time() - begin


if __name__ == "__main__":
    print(fit_once(*sys.argv[1:]))

"""The field: every table, all libraries with their defaults; ranks, ratios, wins and losses.

Each cell (a contender on a split of a table) is a process of its own and a line in the folder of
--results; a run takes up what is there, so that it may be killed, and a new build of edgewise needs
only its own cells again: --rerun edgewise. --summary measures nothing and shows what there is.

AutoGluon and FLAML come as autogluon@60 and flaml@60, with a budget in seconds; edgewise-auto@60 is
AutoBoostClassifier with the same. Libraries that cannot share an environment are run by another
interpreter: --python autogluon=PATH flaml=PATH.
"""

import shutil
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from pathlib import Path

from . import report
from .field import summary
from .field.cell import in_fresh_process, missing
from .field.cells import Cells, Job, frame
from .field.contenders import USUAL, contender
from .field.tables import check_names, halves, table_names

NAME = "field"
FOLDER = Path("edgewise-runs") / "field"
PYTHON = (3, 12)  # XGBoost 3.3 and later need it
QUICK = {
    "contenders": ["edgewise-aoso", "lightgbm", "catboost"],
    "seeds": [0],
    "max_rows": 400,
    "few": 2,
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--contenders", nargs="+", type=_name, default=USUAL, metavar="NAME")
    parser.add_argument("--tables", nargs="+", dest="data_sets", metavar="NAME")
    parser.add_argument("--half", choices=["choosing", "confirming"], help="of the tables")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the cells")
    parser.add_argument("--summary", action="store_true", help="measure nothing")
    parser.add_argument(
        "--rerun", nargs="+", default=[], metavar="PREFIX", help="contenders to measure again"
    )
    parser.add_argument(
        "--python",
        nargs="+",
        type=_interpreter,
        default=[],
        metavar="PREFIX=PATH",
        help="interpreter of the contenders so called: autogluon=ag-env/bin/python",
    )
    parser.add_argument(
        "--publish", action="store_true", help="write results/field.json and docs/images/field.png"
    )
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds of a cell")
    parser.set_defaults(max_rows=20_000, threads=2, few=None)


def run(args: Namespace) -> None:
    """The cells that are missing, then the summary of all."""
    if sys.version_info < PYTHON:
        report.note("XGBoost 3.3 and later need Python 3.12: an older XGBoost is measured here")
    tables = chosen_tables(args)
    if not args.summary:
        measure(args, tables)
    cells = frame(args.results, max_rows=args.max_rows, threads=args.threads)
    summary.show(cells, args, tables)


def chosen_tables(args: Namespace) -> list[str]:
    """Those asked for, or all."""
    check_names(args.data_sets or [])
    parts = dict(zip(("choosing", "confirming"), halves(), strict=True))
    half = parts.get(args.half, table_names())
    return [name for name in args.data_sets or half if name in half][: args.few]


def measure(args: Namespace, tables: list[str]) -> None:
    """Runs the cells that are not there, seed after seed, the contenders in turn."""
    python = {name: _python(name, args) for name in args.contenders}
    present = [name for name in args.contenders if _is_here(name, python[name])]
    jobs = list(_jobs(args, tables, present))
    with Cells(args.results, present) as cells:
        again = tuple(args.rerun)
        todo = [
            j for j in jobs if cells.get(j) is None or (again and j.contender.startswith(again))
        ]
        print(f"{len(jobs) - len(todo)} of {len(jobs)} cells are there", flush=True)
        for number, job in enumerate(todo, start=1):
            figures = in_fresh_process(job, args.timeout, python[job.contender])
            cells.put(job, figures)
            _print(f"{number}/{len(todo)}", job, figures)


def _name(text: str) -> str:
    """The name of a contender; an unknown one is an error of the command line."""
    try:
        contender(text)
    except LookupError as error:
        raise ArgumentTypeError(str(error)) from None
    return text


def _interpreter(text: str) -> tuple[str, str]:
    """PREFIX=PATH of an interpreter that can be run."""
    prefix, equals, path = text.partition("=")
    if not (prefix and equals):
        raise ArgumentTypeError(f"PREFIX=PATH wanted, got {text!r}")
    if shutil.which(path) is None:
        raise ArgumentTypeError(f"{path!r} is no program that can be run")
    return prefix, path


def _python(name: str, args: Namespace) -> str:
    """The interpreter of a contender: the last one given for it, or this one."""
    given = [path for prefix, path in args.python if name.startswith(prefix)]
    return [sys.executable, *given][-1]


def _is_here(name: str, python: str) -> bool:
    reason = missing(name, python)
    if reason:
        report.note(f"{name} is left out: {reason}")
    return reason is None


def _jobs(args: Namespace, tables: list[str], contenders: list[str]) -> Iterator[Job]:
    """Another contender begins on each table: none always follows the same one."""
    for seed in args.seeds:
        for place, table in enumerate(tables):
            first = (place + seed) % max(len(contenders), 1)
            for name in contenders[first:] + contenders[:first]:
                params = args.param if name.startswith("edgewise") else {}
                yield Job(name, table, seed, args.max_rows, args.threads, params)


def _print(place: str, job: Job, figures: dict) -> None:
    text = figures.get("failed") or (
        f"error {figures['wrong'] / figures['n_test']:.4f}, log loss {figures['log_loss']:.4f}, "
        f"{figures['fit_seconds']:.2f} s"
    )
    print(f"  {place} {job.table}, seed {job.seed}, {job.contender}: {text}", flush=True)

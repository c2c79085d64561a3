"""How time and memory grow, each fit in a process of its own.

rows     fit time as the rows double; wanted: at most 2.2 times per doubling
classes  AOSO with K = 10, 100, 1000 on the same rows and features; wanted: the time of a
         round grows less than K does. Memory is stated.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from . import report
from .measure import Cost, Job, in_fresh_process, median_cost

NAME = "growth"
DOUBLING_TARGET = 2.2
QUICK = {
    "start_rows": 1000,
    "doublings": 2,
    "class_rows": 2000,
    "classes": [10, 40],
    "rounds": 3,
    "repeats": 1,
}


def add_arguments(parser: ArgumentParser) -> None:
    ours = ["edgewise-logitboost", "edgewise-aoso"]
    parser.add_argument("--contenders", nargs="+", default=[*ours, "lightgbm"], metavar="NAME")
    parser.add_argument("--class-contenders", nargs="+", default=ours[1:], metavar="NAME")
    parser.add_argument("--start-rows", type=int, default=20_000)
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--class-rows", type=int, default=50_000)
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--features", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--leaves", type=int, default=20)
    parser.add_argument("--shrinkage", type=float, default=0.1)


def run(args: Namespace) -> None:
    """First the rows, then the classes."""
    results: dict[str, list[dict[str, Any]]] = {"rows": [], "classes": []}
    sizes = [(args.start_rows << i, 10) for i in range(args.doublings + 1)]
    results["rows"] = _ladder(args.contenders, sizes, args, key="rows", cost="seconds")
    report.save(NAME, vars(args), results, quick=args.quick)
    _print("fit time as the rows double (10 classes)", results["rows"])

    sizes = [(args.class_rows, n_classes) for n_classes in args.classes]
    results["classes"] = _ladder(
        args.class_contenders, sizes, args, key="classes", cost="seconds_per_round"
    )
    report.save(NAME, vars(args), results, quick=args.quick)
    _print(f"time of a round as the classes grow ({args.class_rows} rows)", results["classes"])


def _ladder(
    names: list[str], sizes: list[tuple[int, int]], args: Namespace, *, key: str, cost: str
) -> list[dict[str, Any]]:
    """All sizes for all contenders, interleaved; each step compared with the one before."""
    costs: dict[tuple[str, tuple[int, int]], list[Cost]] = {}
    for _ in range(args.repeats):
        for name in names:
            for size in sizes:
                costs.setdefault((name, size), []).append(in_fresh_process(_job(name, size, args)))
    lines = [_line(name, size, median_cost(found)) for (name, size), found in costs.items()]
    previous: dict[str, dict[str, Any]] = {}
    for line in lines:
        _compare(line, previous.get(line["contender"]), key, cost, judged=args.judged)
        previous[line["contender"]] = line
    return lines


def _job(name: str, size: tuple[int, int], args: Namespace) -> Job:
    rows, n_classes = size
    return Job(
        contender=name,
        data=f"synthetic-{rows}-{args.features}-{n_classes}",
        rounds=args.rounds,
        leaves=args.leaves,
        shrinkage=args.shrinkage,
        threads=args.threads,
        params=args.param if name == "edgewise-aoso" else {},
    )


def _line(name: str, size: tuple[int, int], cost: Cost) -> dict[str, Any]:
    return {
        "contender": name,
        "rows": size[0],
        "classes": size[1],
        "seconds": cost.seconds,
        "seconds_per_round": cost.seconds_per_round,
        "before_mb": cost.before_mb,
        "peak_mb": cost.peak_mb,
    }


def _compare(
    line: dict[str, Any], before: dict[str, Any] | None, key: str, cost: str, *, judged: bool
) -> None:
    """Add how much more this step costs, and what was allowed."""
    factor = line[cost] / before[cost] if before else None
    allowed = None
    if before and judged and line["contender"].startswith("edgewise"):
        allowed = DOUBLING_TARGET if key == "rows" else line[key] / before[key]
    line |= {"times": factor, "wanted": allowed, "verdict": report.verdict(factor, allowed)}


def _print(title: str, lines: list[dict[str, Any]]) -> None:
    columns = list(lines[0])
    report.print_table(title, columns, [[line[key] for key in columns] for line in lines])

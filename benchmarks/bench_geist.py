"""AdaBoost.MH, SAMME and soft-max boosting beside the tables of Geist's "Soft-max boosting".

Test errors after 10, 100 and 1000 rounds on the splits of the paper: one tree of 12 leaves per
class and round, or one of (K - 1) * 12 leaves for SAMME (Table 2). With --noise a random fifth of
the training rows exchange their labels among themselves; the mean over --repeats draws counts
(Table 3). An error agrees with the paper's if it is within the binomial 95 % band around it. With
--toy the noisy toy problem of section 5.5.2, also for MartiBoost. Results are written as they come;
--resume keeps those of the last run and goes on.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np

from edgewise.experiments._geist import (
    ALGORITHMS,
    DATA_SETS,
    SOFTMAX,
    STAGES,
    TABLE_2,
    TABLE_3,
    at_stages,
    build,
    exchanged,
    wrong_by_round,
)
from edgewise.experiments._verdict import band as band_around

from . import datasets, geist_toy, report

NAME = "geist"
DRAWN = {"splitter", "max_features"}  # parameters by which every algorithm draws something
QUICK = {"rounds": 10, "max_rows": 300, "repeats": 1}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--noise", action="store_true", help="Table 3 instead of Table 2")
    parser.add_argument("--toy", action="store_true", help="the toy problem instead of the tables")
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--leaves", type=int, default=12, help="of a tree for one class")
    parser.add_argument("--layers", type=int, default=300, help="of MartiBoost, in the toy problem")
    parser.add_argument("--resume", action="store_true", help="keep the results of the last run")


def run(args: Namespace) -> None:
    """One line per data set, algorithm and draw of the labels, written as soon as it is there."""
    if args.toy:
        geist_toy.run(args)
        return
    name = f"{NAME}-table-3" if args.noise else f"{NAME}-table-2"
    results = report.saved(name, quick=args.quick) if args.resume else []
    done = {_key(result) for result in results}
    chosen = args.data_sets or datasets.available(list(DATA_SETS), quick=args.quick)
    for todo in _todo(chosen, args):
        if _key(todo) not in done:
            print(f"  {todo['algorithm']} on {todo['data']}, draw {todo['draw']} ...", flush=True)
            results.append(_line(todo, args))
            report.save(name, vars(args), results, quick=args.quick)
    wanted = {_key(todo) for todo in _todo(chosen, args)}
    _print([result for result in results if _key(result) in wanted], args)


def _todo(chosen: list[str], args: Namespace) -> Iterator[dict[str, Any]]:
    """What to run, and all that a result depends on."""
    for data in chosen:
        for algorithm in args.algorithms:
            by_chance = args.noise or algorithm == SOFTMAX or DRAWN & args.param.keys()
            for draw in range(args.repeats if by_chance else 1):
                yield {
                    "data": data,
                    "algorithm": algorithm,
                    "draw": draw,
                    "rounds": args.rounds,
                    "leaves": args.leaves,
                    "max_rows": args.max_rows,
                    "param": args.param,
                }


def _key(result: dict[str, Any]) -> tuple[str, ...]:
    keys = ("data", "algorithm", "draw", "rounds", "leaves", "max_rows", "param")
    return tuple(str(result.get(key)) for key in keys)


def _line(todo: dict[str, Any], args: Namespace) -> dict[str, Any]:
    name = "letter@15000" if todo["data"] == "letter" else todo["data"]  # libsvm's split
    data = datasets.load(name, max_rows=args.max_rows)
    y = exchanged(data.y_train, todo["draw"]) if args.noise else data.y_train
    n_classes = len(np.unique(y))
    shape = {"rounds": args.rounds, "leaves": args.leaves, "threads": args.threads}
    model = build(todo["algorithm"], n_classes, todo["draw"], **shape, **args.param)
    start = perf_counter()
    model.fit(data.X_train, y)
    seconds = perf_counter() - start
    wrong = wrong_by_round(model, data.X_test, data.y_test)
    return todo | {
        "test_rows": len(data.y_test),
        "rounds_done": len(wrong),
        "errors": at_stages(wrong, args.rounds),
        "seconds": seconds,
    }


def _print(results: list[dict[str, Any]], args: Namespace) -> None:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["data"], result["algorithm"]), []).append(result)
    columns = ["data", "algorithm", "T", "error %", "paper %", "band %", "verdict", "s"]
    rows = [row for group in groups.values() for row in _rows(group, args)]
    report.print_table("test errors beside the paper's", columns, rows)
    if args.noise:
        _print_winners(groups)


def _rows(group: list[dict[str, Any]], args: Namespace) -> Iterator[list[Any]]:
    data, algorithm, n = (group[0][key] for key in ("data", "algorithm", "test_rows"))
    table = TABLE_3 if args.noise else TABLE_2
    paper = dict(zip(STAGES, table.get(data, {}).get(algorithm, ()), strict=False))
    seconds = mean(result["seconds"] for result in group)
    for stage in group[0]["errors"]:
        errors = mean(result["errors"][stage] for result in group)
        rate = paper.get(int(stage)) if args.judged else None
        low, high = band_around(rate * n / 100, n) if rate is not None else (None, None)
        band = "" if rate is None else f"{100 * low / n:.2f} to {100 * high / n:.2f}"
        verdict = "" if rate is None else _verdict(errors, low, high)
        yield [data, algorithm, int(stage), 100 * errors / n, rate, band, verdict, seconds]


def _verdict(errors: float, low: float, high: float) -> str:
    if errors > high:
        return "ABOVE"
    return "within" if errors >= low else "below"


def _print_winners(groups: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    """On how many sets soft-max boosting has the least error after the last round."""
    for stage in map(str, STAGES):
        errors: dict[str, dict[str, float]] = {}
        for (data, algorithm), group in groups.items():
            if stage in group[0]["errors"]:
                of_draw = [result["errors"][stage] for result in group]
                errors.setdefault(data, {})[algorithm] = mean(of_draw)
        whole = [found for found in errors.values() if set(found) == set(ALGORITHMS)]
        best = sum(min(found, key=lambda a: found[a]) == SOFTMAX for found in whole)
        if whole:
            print(f"T = {stage}: {SOFTMAX} has the least error on {best} of {len(whole)} sets")

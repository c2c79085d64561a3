"""Time and memory beside the peers, as ratios taken in one run.

fit      fit time at the same rounds, leaves, shrinkage and threads, over LightGBM's
error    time until LightGBM's best test error is reached, over LightGBM's own time
predict  `predict_proba` for the same number of trees and leaves, over XGBoost's
memory   peak memory of a process that does one fit, over LightGBM's
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from . import datasets, report
from .contenders import Contender, Fitted, contender
from .measure import Job, in_fresh_process, interleaved, median_cost

NAME = "speed"
QUICK = {
    "rounds": 5,
    "peer_rounds": 20,
    "aoso_rounds": 40,
    "peer_leaves": 20,
    "repeats": 1,
    "max_rows": 500,
}

# The most that a ratio may be: by data set, for the algorithm of ours named beside.
FIT_TARGETS = {"letter": 0.35, "pendigits": 0.5, "optdigits": 0.5, "covertype": 0.7, "mnist": 0.7}
ERROR_TARGETS = {"letter": 0.2, "pendigits": 0.2, "satimage": 0.3, "covertype": 0.3}
PREDICT_TARGETS = dict.fromkeys(FIT_TARGETS, 0.6)
MEMORY_TARGETS = {"mnist": 1.0, "covertype": 1.0}

# LightGBM's leaves and rounds, and our rounds, in the race to its best error.
PEER_RACE = {"covertype": (64, 200)}
AOSO_ROUNDS = {"covertype": 200}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument(
        "--contenders", nargs="+", metavar="NAME", help="instead of each part's own challengers"
    )
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=20)
    parser.add_argument("--shrinkage", type=float, default=0.1)
    race = parser.add_argument_group("the race to LightGBM's best error, and AOSO in any part")
    race.add_argument("--peer-rounds", type=int, help="default 1000; covertype 200")
    race.add_argument("--peer-leaves", type=int, help="default 20; covertype 64")
    race.add_argument("--aoso-rounds", type=int, help="default 1000; covertype 200")
    race.add_argument("--aoso-leaves", type=int, help="default: the estimator's own")
    race.add_argument("--aoso-shrinkage", type=float, help="default: the estimator's own")


def run(args: Namespace) -> None:
    """Each part writes what it has as soon as a data set is done."""
    results: dict[str, list[dict[str, Any]]] = {}
    for part in args.parts:
        measure, wanted, title = PARTS[part]
        results[part] = []
        for name in args.data_sets or datasets.available(list(wanted), quick=args.quick):
            print(f"  {part} on {name} ...", flush=True)
            results[part] += [_judge(line, wanted, args) for line in measure(name, args)]
            report.save(NAME, vars(args), results, quick=args.quick)
        _print(title, results[part])


def fit_times(name: str, args: Namespace) -> list[dict[str, Any]]:
    data = datasets.load(name, max_rows=args.max_rows)
    challengers = ["edgewise-logitboost", "xgboost", "catboost", "sklearn-hgb"]
    chosen = _chosen(args, challengers, reference="lightgbm")
    _warm_up(chosen, data, args)
    extra: dict[str, Any] = {each.name: {} for each in chosen}

    def fit_once(each: Contender) -> float:
        fitted = _fit(each, data, args)
        labels = each.predict_proba(fitted, data.X_test).argmax(axis=1)
        extra[each.name]["errors"] = int(np.count_nonzero(labels != data.y_test))
        return fitted.seconds

    taken = interleaved({each.name: partial(fit_once, each) for each in chosen}, args.repeats)
    return _lines(name, taken, "seconds", "lightgbm", extra)


def race_to_error(name: str, args: Namespace) -> list[dict[str, Any]]:
    """Errors are found once; the times are then taken of fits that stop at that round."""
    data = datasets.load(name, max_rows=args.max_rows)
    chosen = _chosen(args, ["edgewise-aoso"], reference="lightgbm")
    _warm_up(chosen, data, args)
    curves = {each.name: _error_curve(each, name, data, args) for each in chosen}
    goal = int(curves["lightgbm"].min())
    stops = {key: _first_at_most(curve, goal) for key, curve in curves.items()}

    def fit_to_goal(each: Contender) -> float:
        setting = {**_race_setting(each, name, args), "rounds": stops[each.name]}
        fitted = each.fit(data.X_train, data.y_train, threads=args.threads, **setting)
        return float(each.times_by_round(fitted)[-1])

    arrived = {each.name: partial(fit_to_goal, each) for each in chosen if stops[each.name]}
    taken = {key: [] for key in curves} | interleaved(arrived, args.repeats)
    extra = {
        key: {"goal": goal, "round": stops[key], "best": int(curve.min())}
        for key, curve in curves.items()
    }
    return _lines(name, taken, "seconds", "lightgbm", extra)


def predict_times(name: str, args: Namespace) -> list[dict[str, Any]]:
    data = datasets.load(name, max_rows=args.max_rows)
    chosen = _chosen(args, ["edgewise-logitboost"], reference="xgboost")
    models = {each.name: _fit(each, data, args) for each in chosen}

    def predict_once(each: Contender) -> float:
        start = perf_counter()
        each.predict_proba(models[each.name], data.X_test)
        return perf_counter() - start

    tasks = {each.name: partial(predict_once, each) for each in chosen}
    interleaved(tasks, 1)  # the first call may build something that later ones reuse
    taken = interleaved(tasks, 3 * args.repeats)  # they are short
    extra = {key: {"rows": len(data.y_test)} for key in taken}
    return _lines(name, taken, "seconds", "xgboost", extra)


def memory_peaks(name: str, args: Namespace) -> list[dict[str, Any]]:
    names = args.contenders or ["edgewise-logitboost", "edgewise-aoso"]
    jobs = [_job(each, name, args) for each in _with_reference(names, "lightgbm")]
    costs: dict[str, list[Any]] = {job.contender: [] for job in jobs}
    for _ in range(args.repeats):
        for job in jobs:
            costs[job.contender].append(in_fresh_process(job))
    taken = {key: [cost.peak_mb for cost in values] for key, values in costs.items()}
    before = {key: {"before_mb": median_cost(values).before_mb} for key, values in costs.items()}
    return _lines(name, taken, "peak_mb", "lightgbm", before)


def _with_reference(names: list[str], reference: str) -> list[str]:
    return [*(name for name in names if name != reference), reference]


def _chosen(args: Namespace, default: list[str], reference: str) -> list[Contender]:
    names = _with_reference(args.contenders or default, reference)
    return [contender(name, **_params(name, args)) for name in names]


def _params(name: str, args: Namespace) -> dict[str, Any]:
    """--param is meant for AOSO: LogitBoost knows other names."""
    return args.param if name == "edgewise-aoso" else {}


def _fit(each: Contender, data: datasets.Split, args: Namespace) -> Fitted:
    shared = {"rounds": args.rounds, "leaves": args.leaves, "shrinkage": args.shrinkage}
    return each.fit(data.X_train, data.y_train, threads=args.threads, **shared)


def _warm_up(chosen: list[Contender], data: datasets.Split, args: Namespace) -> None:
    """One tiny fit each, so that no first timing pays for imports and thread pools."""
    small = datasets.thin(data, 500)
    for each in chosen:
        setting = {"rounds": 2, "leaves": 4, "shrinkage": 0.1, "threads": args.threads}
        each.fit(small.X_train, small.y_train, **setting)


def _race_setting(each: Contender, name: str, args: Namespace) -> dict[str, Any]:
    if each.name == "edgewise-aoso":
        rounds = args.aoso_rounds or AOSO_ROUNDS.get(name, 1000)
        return {"rounds": rounds, "leaves": args.aoso_leaves, "shrinkage": args.aoso_shrinkage}
    leaves, rounds = PEER_RACE.get(name, (args.leaves, 1000))
    return {
        "rounds": args.peer_rounds or rounds,
        "leaves": args.peer_leaves or leaves,
        "shrinkage": args.shrinkage,
    }


def _error_curve(each: Contender, name: str, data: datasets.Split, args: Namespace) -> Any:
    setting = _race_setting(each, name, args)
    fitted = each.fit(data.X_train, data.y_train, threads=args.threads, **setting)
    return each.errors_by_round(fitted, data.X_test, data.y_test)


def _first_at_most(curve: Any, goal: int) -> int | None:
    """The first round with at most `goal` errors, counted from 1; None if there is none."""
    reached = np.flatnonzero(curve <= goal)
    return int(reached[0]) + 1 if len(reached) else None


def _job(each: str, name: str, args: Namespace) -> Job:
    ours = each == "edgewise-aoso"
    return Job(
        contender=each,
        data=name,
        rounds=args.rounds,
        leaves=args.aoso_leaves if ours else args.leaves,
        shrinkage=args.aoso_shrinkage if ours else args.shrinkage,
        threads=args.threads,
        params=_params(each, args),
        max_rows=args.max_rows,
    )


def _lines(
    data: str, taken: dict[str, list[float]], unit: str, reference: str, extra: dict[str, Any]
) -> list[dict[str, Any]]:
    middle = {key: median(values) if values else None for key, values in taken.items()}
    return [
        {
            "data": data,
            "contender": key,
            **extra[key],
            unit: middle[key],
            "ratio": middle[key] / middle[reference] if middle[key] else None,
            "all": values,
        }
        for key, values in taken.items()
    ]


def _judge(line: dict[str, Any], wanted: dict[str, float], args: Namespace) -> dict[str, Any]:
    ours = line["contender"].startswith("edgewise")
    target = wanted.get(line["data"]) if ours and args.judged else None
    return {**line, "wanted": target, "verdict": report.verdict(line["ratio"], target)}


def _print(title: str, lines: list[dict[str, Any]]) -> None:
    columns = [key for key in lines[0] if key != "all"]
    report.print_table(title, columns, [[line[key] for key in columns] for line in lines])


PARTS: dict[str, tuple[Callable[..., list[dict[str, Any]]], dict[str, float], str]] = {
    "fit": (fit_times, FIT_TARGETS, "fit time; ratio to LightGBM's"),
    "error": (race_to_error, ERROR_TARGETS, "time to LightGBM's best test error; ratio to its own"),
    "predict": (predict_times, PREDICT_TARGETS, "predict_proba, test rows; ratio to XGBoost's"),
    "memory": (memory_peaks, MEMORY_TARGETS, "peak memory of a fit; ratio to LightGBM's"),
}

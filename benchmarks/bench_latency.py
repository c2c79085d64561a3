"""Time of `predict_proba` for one row, through the scikit-learn interfaces.

A service that answers one request after the other calls it so. Calls of all contenders take turns;
the peers stand with all threads, their default, and with one.
"""

from argparse import ArgumentParser, Namespace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from . import report
from .contenders import contender
from .datasets import load

NAME = "latency"
TARGET = 1.0
QUICK = {"rounds": 5, "calls": 20}
SETS = ["optdigits", "letter"]
OURS = ("edgewise-logitboost", "edgewise-aoso")
PEERS = ("lightgbm", "xgboost")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=20)
    parser.add_argument("--shrinkage", type=float, default=0.1)
    parser.add_argument("--calls", type=int, default=500)


def run(args: Namespace) -> None:
    """All contenders on each data set."""
    title = f"microseconds per row, median of {args.calls} calls (wanted: below every peer's)"
    report.print_lines(NAME, title, args, args.data_sets or SETS, _lines)


def _lines(name: str, args: Namespace) -> list[dict[str, Any]]:
    split = load(name, max_rows=args.max_rows)
    rows = np.ascontiguousarray(split.X_test, dtype=np.float64)
    models = _models(split, args)
    seconds: dict[str, list[float]] = {who: [] for who in models}
    for call in range(args.calls):
        row = rows[call % len(rows)][np.newaxis]
        for who, model in models.items():
            start = perf_counter()
            model.predict_proba(row)
            seconds[who].append(perf_counter() - start)
    least = min(median(seconds[who]) for who in seconds if who not in OURS)
    lines = []
    for who, taken in seconds.items():
        ratio = median(taken) / least
        judged = args.judged and who in OURS
        lines.append(
            {
                "data": name,
                "contender": who,
                "median": 1e6 * median(taken),
                "99 %": 1e6 * float(np.quantile(taken, 0.99)),
                "over the fastest peer": ratio,
                "verdict": report.verdict(ratio, TARGET if judged else None),
            }
        )
    return lines


def _models(split: Any, args: Namespace) -> dict[str, Any]:
    setting = {"rounds": args.rounds, "leaves": args.leaves, "shrinkage": args.shrinkage}
    models = {}
    for who in (*OURS, *PEERS):
        chosen = contender(who, **(args.param if who == "edgewise-aoso" else {}))
        fitted = chosen.fit(split.X_train, split.y_train, **setting, threads=args.threads)
        if who in OURS:
            models[who] = fitted.model.set_params(n_jobs=None)
            continue
        models[who] = fitted.model
        one = chosen.fit(split.X_train, split.y_train, **setting, threads=1)
        models[f"{who}, one thread"] = one.model
    return models

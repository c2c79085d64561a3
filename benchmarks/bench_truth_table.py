"""Truth tables: how fast they are counted, what minimising costs, and what the votes are worth.

count     predictions tabulated per second, for several numbers of classifiers, on one thread and
          on all; wanted: 50 million
minimise  time to minimise a table of 12 classifiers made of 10^3 ... 10^7 examples; wanted: the
          same, where as many cells are occupied. Examples come in kinds that all classifiers
          answer alike, so that a thousand show all cells; "independent" ones do not.
combine   test errors and log loss of five classifiers of different kinds, and of their vote by
          scikit-learn's voting and stacking and by truth tables
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import mean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import datasets, report
from .measure import interleaved

NAME = "truth-table"
RATE_TARGET = 50e6  # predictions per second
SAME = 1.2  # times that count as the same
PARTS = ["count", "minimise", "combine"]
QUICK = {
    "classifiers": [3, 12, 25],
    "examples": [1000, 10_000],
    "predictions": 200_000,
    "splits": 1,
    "repeats": 1,
    "sets": ["sklearn:wine"],
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--classifiers", type=int, nargs="+", default=[3, 5, 8, 12, 16, 20, 40, 60])
    parser.add_argument("--predictions", type=int, default=100_000_000, help="of each count")
    parser.add_argument("--examples", type=int, nargs="+", default=[10**i for i in range(3, 8)])
    parser.add_argument("--splits", type=int, default=10, help="of data without an original split")
    parser.add_argument(
        "--sets", nargs="+", default=["sklearn:breast_cancer", "vowel", "satimage"], metavar="NAME"
    )


def run(args: Namespace) -> None:
    results: dict[str, Any] = {}
    for part in args.parts:
        results[part] = {"count": _count, "minimise": _minimise, "combine": _combine}[part](args)
        report.save(NAME, vars(args), results, quick=args.quick)
        for title, lines in results[part].items():
            columns = list(lines[0])
            report.print_table(title, columns, [[line.get(c) for c in columns] for line in lines])


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# --- counting ------------------------------------------------------------------------------------


def _answers(n: int, M: int, seed: int = 0) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    rng = np.random.default_rng(seed)
    H = rng.integers(2, size=(n, M), dtype=np.int8)
    H += H
    H -= 1
    y = (2 * rng.integers(2, size=n, dtype=np.int8) - 1).astype(np.int8)
    return y, H


def _count(args: Namespace) -> dict[str, list[dict[str, Any]]]:
    from edgewise.lab.truth_table import TruthTable

    lines = []
    for M in args.classifiers:
        n = max(1000, args.predictions // M)
        y, H = _answers(n, M)
        weights = np.random.default_rng(1).random(n)
        tasks = {
            f"{kind}, {threads} threads": _task(TruthTable, y, H, w, threads)
            for kind, w in (("counts", None), ("weights", weights))
            for threads in sorted({1, args.threads})
        }
        for name, seconds in interleaved(tasks, args.repeats).items():
            rate = n * M / median(seconds)
            lines.append(
                {
                    "classifiers": M,
                    "examples": n,
                    "what": name,
                    "million predictions/s": rate / 1e6,
                    "verdict": report.verdict(RATE_TARGET, rate) if args.judged else "",
                }
            )
    return {"counting": lines}


def _task(table: Any, y: Any, H: Any, weights: Any, threads: int) -> Callable[[], float]:
    return lambda: _timed(lambda: table.from_predictions(y, H, weights, n_jobs=threads))


# --- minimising ----------------------------------------------------------------------------------


def _examples(n: int, *, independent: bool) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """12 classifiers, right in about three of four cases."""
    rng = np.random.default_rng(0)
    if independent:
        right = rng.random((n, 12), dtype=np.float32) < 0.75
    else:
        kinds = rng.random((300, 12)) < 0.75
        kinds = np.vstack([kinds, ~kinds[:100]])
        right = kinds[rng.permutation(np.arange(n) % len(kinds))]
    return np.ones(n, dtype=np.int8), np.where(right, 1, -1).astype(np.int8)


def _minimise(args: Namespace) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for independent in (False, True):
        name = "independent answers" if independent else "400 kinds of examples"
        lines = [_counted(n, independent=independent) for n in args.examples]
        times = interleaved(
            {
                f"{what} {line['examples']}": _work(what, line.pop(what))
                for line in lines
                for what in ("decide", "newton", "relaxation")
            },
            5 * args.repeats,
        )
        for line in lines:
            for what in ("decide", "newton", "relaxation"):
                line[f"{what} ms"] = 1e3 * median(times[f"{what} {line['examples']}"])
            line["newton ratio"] = line["newton ms"] / lines[0]["newton ms"]
            allowed = None if independent or not args.judged else SAME
            line["verdict"] = report.verdict(line["newton ratio"], allowed)
        found[f"minimising a table of 12 classifiers: {name}"] = lines
    return found


def _counted(n: int, *, independent: bool) -> dict[str, Any]:
    """A line of the report, with the table for each kind of work."""
    from edgewise.lab.truth_table import TruthTable

    y, H = _examples(n, independent=independent)
    counting = median(_timed(lambda: TruthTable.from_predictions(y, H)) for _ in range(3))
    table = TruthTable.from_predictions(y, H)
    line = {"examples": n, "cells": table.n_cells, "count ms": 1e3 * counting}
    return line | dict.fromkeys(("decide", "newton", "relaxation"), table)


def _work(what: str, table: Any) -> Callable[[], float]:
    """Whether there is a minimum is decided once for a table, whatever the loss and the method."""
    from edgewise.lab.truth_table import TruthTable

    if what == "decide":
        return lambda: _timed(lambda: TruthTable(table.codes, table.counts, 12).existence)
    usable = table if table.existence.exists else table.smoothed()
    assert usable.existence.exists
    return lambda: _timed(lambda: usable.minimise(method=what))


# --- combining -----------------------------------------------------------------------------------


def kinds() -> list[tuple[str, Any]]:
    """Five classifiers of different kinds, as they come."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    svm = CalibratedClassifierCV(SVC(), ensemble=False, cv=3)
    return [
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
        ("naive Bayes", GaussianNB()),
        ("nearest neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier())),
        ("tree", DecisionTreeClassifier(random_state=0)),
        ("support vectors", make_pipeline(StandardScaler(), svm)),
    ]


def _contenders() -> dict[str, Any]:
    from sklearn.ensemble import StackingClassifier, VotingClassifier
    from sklearn.linear_model import LogisticRegression

    from edgewise.truth_table_classifier import TruthTableClassifier

    return {
        **dict(kinds()),
        "voting, hard": VotingClassifier(kinds()),
        "voting, soft": VotingClassifier(kinds(), voting="soft"),
        "stacking": StackingClassifier(kinds(), LogisticRegression(max_iter=5000), cv=5),
        "truth table, exponential": TruthTableClassifier(kinds()),
        "truth table, logistic": TruthTableClassifier(kinds(), loss="logistic"),
    }


def _combine(args: Namespace) -> dict[str, list[dict[str, Any]]]:
    names = datasets.available(args.data_sets or args.sets)
    found = {}
    for name in names:
        seeds = range(args.splits if ":" in name else 1)
        splits = [datasets.load(name, max_rows=args.max_rows, seed=seed) for seed in seeds]
        lines = []
        for label, estimator in _contenders().items():
            runs = [_judge(estimator, split) for split in splits]
            lines.append({"what": label} | _summary(runs))
        title = (
            f"{name}: {len(splits[0].y_train)} + {len(splits[0].y_test)} rows, {len(splits)} splits"
        )
        found[title] = lines
    return found


def _judge(estimator: Any, split: datasets.Split) -> dict[str, float]:
    from sklearn.base import clone
    from sklearn.metrics import log_loss

    model = clone(estimator)
    X_train, X_test = (X.astype(np.float64) for X in (split.X_train, split.X_test))
    seconds = _timed(lambda: model.fit(X_train, split.y_train))
    wrong = model.predict(X_test) != split.y_test
    run = {"errors": float(wrong.sum()), "error %": 100 * float(wrong.mean()), "fit s": seconds}
    if hasattr(model, "predict_proba"):
        run["log loss"] = float(log_loss(split.y_test, model.predict_proba(X_test)))
    if hasattr(model, "kappa_"):
        run["smoothed"] = float(model.smoothed_.sum())
        run["kappa"] = float(np.nanmin(model.kappa_[:, 0]))
    return run


def _summary(runs: list[dict[str, float]]) -> dict[str, Any]:
    keys = ["errors", "error %", "log loss", "fit s", "smoothed", "kappa"]
    line: dict[str, Any] = {k: mean(r[k] for r in runs) if k in runs[0] else None for k in keys}
    line["sd of error %"] = stdev(r["error %"] for r in runs) if len(runs) > 1 else None
    return line

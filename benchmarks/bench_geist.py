"""AdaBoost.MH, SAMME and soft-max boosting beside the tables of Geist's "Soft-max boosting".

Test errors after 10, 100 and 1000 rounds on the splits of the paper: one tree of 12 leaves per
class and round, or one of (K - 1) * 12 leaves for SAMME (Table 2). With --noise a random fifth of
the training rows exchange their labels among themselves; the mean over --repeats draws counts
(Table 3). An error agrees with the paper's if it is within the binomial 95 % band around it. With
--toy the noisy toy problem of section 5.5.2, also for MartiBoost. Results are written as they come;
--resume keeps those of the last run and goes on.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from . import datasets, geist_toy, report

NAME = "geist"
QUICK = {"rounds": 10, "max_rows": 300, "repeats": 1}
STAGES = (10, 100, 1000)
NOISY_SHARE = 0.2
MH, SAMME, SOFTMAX = "AdaBoost.MH", "SAMME", "sm-boost"
ALGORITHMS = [MH, SAMME, SOFTMAX]

# Test errors in percent after 10, 100 and 1000 rounds.
TABLE_2 = {
    "dna": {MH: (5.14, 3.96, 4.05), SAMME: (6.15, 4.64, 4.46), SOFTMAX: (6.49, 4.89, 4.13)},
    "letter": {MH: (15.0, 3.72, 2.34), SAMME: (13.0, 3.68, 2.84), SOFTMAX: (26.9, 10.7, 5.40)},
    "mnist": {MH: (12.7, 4.14, 1.76), SAMME: (10.8, 3.72, 2.52), SOFTMAX: (14.0, 7.12, 3.56)},
    "pendigits": {MH: (4.86, 2.43, 2.17), SAMME: (3.03, 2.49, 2.29), SOFTMAX: (8.23, 4.57, 2.83)},
    "satimage": {MH: (13.0, 10.0, 9.20), SAMME: (13.7, 9.85, 8.8), SOFTMAX: (12.9, 10.8, 8.95)},
    "segment": {MH: (5.90, 6.00, 6.38), SAMME: (10.86,) * 3, SOFTMAX: (9.19, 6.95, 6.19)},
    "splice": {MH: (2.94, 2.71, 2.53), SAMME: (5.75, 3.17, 2.71), SOFTMAX: (4.64, 3.63, 3.08)},
    "vowel": {MH: (49.4, 44.6, 42.9), SAMME: (47.8, 39.4, 38.3), SOFTMAX: (56.9, 45.7, 46.3)},
}
TABLE_3 = {
    "dna": {MH: (8.26, 7.67, 7.25), SAMME: (13.8, 10.5, 8.85), SOFTMAX: (6.15, 4.64, 6.24)},
    "letter": {MH: (26.2, 15.1, 8.58), SAMME: (25.8, 11.6, 6.84), SOFTMAX: (20.2, 13.2, 6.98)},
    "mnist": {MH: (19.8, 11.5, 7.01), SAMME: (17.4, 12.1, 5.48), SOFTMAX: (14.1, 6.96, 3.78)},
    "pendigits": {MH: (10.9, 7.63, 5.7), SAMME: (11.7, 6.66, 4.49), SOFTMAX: (9.06, 3.97, 3.06)},
    "satimage": {MH: (16.7, 12.8, 10.9), SAMME: (17.3, 12.9, 10.7), SOFTMAX: (13.8, 11.8, 10.4)},
    "segment": {MH: (15.6, 13.8, 13.9), SAMME: (17.0, 14.0, 13.0), SOFTMAX: (15.9, 12.4, 12.0)},
    "splice": {MH: (16.9, 16.7, 14.9), SAMME: (18.3, 17.2, 14.3), SOFTMAX: (9.15, 10.7, 13.1)},
    "vowel": {MH: (55.8, 47.2, 47.6), SAMME: (54.1, 44.6, 41.3), SOFTMAX: (52.8, 48.9, 43.7)},
}
DATA_SETS = ["segment", "vowel", "splice", "dna", "satimage", "pendigits", "letter", "mnist"]


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
    chosen = args.data_sets or datasets.available(DATA_SETS, quick=args.quick)
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
            by_chance = args.noise or algorithm == SOFTMAX
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
    model = BUILD[todo["algorithm"]](n_classes, todo["draw"], args)
    start = perf_counter()
    model.fit(data.X_train, y)
    seconds = perf_counter() - start
    wrong = [np.count_nonzero(p != data.y_test) for p in model.staged_predict(data.X_test)]
    stages = [stage for stage in STAGES if stage <= args.rounds]
    return todo | {
        "test_rows": len(data.y_test),
        "rounds_done": len(wrong),
        "errors": {str(stage): int(wrong[min(stage, len(wrong)) - 1]) for stage in stages},
        "seconds": seconds,
    }


def exchanged(y: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The labels, those of a random fifth of the rows permuted among themselves."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(y), size=round(NOISY_SHARE * len(y)), replace=False)
    y = y.copy()
    y[rows] = y[rng.permutation(rows)]
    return y


def adaboost_mh(n_classes: int, seed: int, args: Namespace) -> Any:
    import edgewise

    own = {"base": "one_vs_all", "initial_weights": "uniform", "max_leaf_nodes": args.leaves}
    return edgewise.AdaBoostMHClassifier(**shared(args) | own | args.param)


def samme(n_classes: int, seed: int, args: Namespace) -> Any:
    import edgewise

    own = {"max_leaf_nodes": (n_classes - 1) * args.leaves}
    return edgewise.SAMMEClassifier(**shared(args) | own | args.param)


def softmax_boost(n_classes: int, seed: int, args: Namespace) -> Any:
    import edgewise

    own = {"projection": "sampled", "random_state": seed, "max_leaf_nodes": args.leaves}
    return edgewise.SoftmaxBoostClassifier(**shared(args) | own | args.param)


def shared(args: Namespace) -> dict[str, Any]:
    return {"n_estimators": args.rounds, "min_samples_leaf": 1, "n_jobs": args.threads}


BUILD: dict[str, Callable[[int, int, Namespace], Any]] = {
    MH: adaboost_mh,
    SAMME: samme,
    SOFTMAX: softmax_boost,
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
        low, high = binom.interval(0.95, n, rate / 100) if rate is not None else (None, None)
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

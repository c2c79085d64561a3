"""Thousands of classes: how a fit grows with them, tables against XGBoost, prediction.

growth      AOSO with vector leaves on synthetic rows (class = cell of a grid in four of the
            features, a tenth of the labels drawn), K = 10 .. 100 000; wanted: seconds per round
            grow at most 2.5 times per tenfold K beyond 100, memory below 2 GB at 10 000 classes
            and 6 GB at 100 000, and a better log loss than the class frequencies
tables      geo_timezone, geo_admin1 and flights_dest of EDGEWISE_DATA/classes: seconds to the best
            log loss on held-out rows that XGBoost reaches (two strategies, two learning rates, each
            with early stopping and at most `--peer-seconds` of CPU time), and best errors; wanted:
            at most 0.2 of XGBoost's time
prediction  predict_top_k, predict_proba and single rows of a model of 10 000 classes; wanted: one
            row below a millisecond
"""

import json
import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import report
from .datasets import DataSetMissingError

NAME = "classes"
TABLES = ("geo_timezone", "geo_admin1", "flights_dest")
GRID = 4  # features that say the class
NOISE = 0.1  # labels that are drawn
MOST_GROWTH = 2.5  # per tenfold K
MOST_MEMORY = {10_000: 2e9, 100_000: 6e9}
CHECKED = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 80, 90, 100, 120, 160)  # rounds
STRATEGIES = ("one_output_per_tree", "multi_output_tree")
QUICK = {"rows": 3000, "classes": [10, 300], "rounds": 2, "tables": [], "predict_classes": 300}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--classes", type=int, nargs="*", default=[10**e for e in range(1, 6)])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), metavar="NAME")
    parser.add_argument("--table-rounds", type=int, default=200)
    parser.add_argument("--peer-strategies", nargs="+", choices=STRATEGIES, default=STRATEGIES)
    parser.add_argument("--peer-rates", type=float, nargs="+", default=[0.3, 0.1])
    parser.add_argument("--peer-seconds", type=float, default=300.0, help="CPU time of a fit")
    parser.add_argument("--predict-classes", type=int, default=10_000, help="0: no predictions")


def run(args: Namespace) -> None:
    results = _kept(args)
    for K in args.classes:
        line = _apart("growth", rows=args.rows, K=K, rounds=args.rounds, threads=args.threads)
        _judge(line, results["growth"][-1] if results["growth"] else None)
        results["growth"].append(line)
        print(_growth_words(line), flush=True)
    peer = {
        "strategies": args.peer_strategies,
        "rates": args.peer_rates,
        "cpu_seconds": args.peer_seconds,
    }
    for name in args.tables:
        line = _apart("table", name=name, rounds=args.table_rounds, threads=args.threads, peer=peer)
        results["tables"].append(line)
        print(_table_words(line), flush=True)
        report.save(NAME, vars(args), results, quick=args.quick)
    if args.predict_classes:
        found = _apart("prediction", K=args.predict_classes, rows=args.rows, threads=args.threads)
        results["prediction"] = found
        print(", ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
    report.save(NAME, vars(args), results, quick=args.quick)


def _kept(args: Namespace) -> dict[str, Any]:
    """What an earlier run found and this one does not measure."""
    kept: dict[str, Any] = {"growth": [], "tables": [], "prediction": {}}
    kept |= report.saved(NAME, quick=args.quick) or {}
    if args.classes:
        kept["growth"] = []
    kept["tables"] = [line for line in kept["tables"] if line["name"] not in args.tables]
    return kept


def _judge(line: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Adds by how much a round grew for a tenfold number of classes."""
    if before is None or before["K"] < 100:
        return
    decades = np.log10(line["K"] / before["K"])
    for growth, of in (("growth", "round"), ("growth_cpu", "round_cpu")):
        line[growth] = (line[of] / before[of]) ** (1 / decades)
    line["met"] = bool(
        line["growth"] <= MOST_GROWTH and line["bytes"] < MOST_MEMORY.get(line["K"], np.inf)
    )


def _growth_words(line: dict[str, Any]) -> str:
    grown = ""
    if "growth" in line:
        grown = f", {line['growth']:.2f} times per tenfold K ({line['growth_cpu']:.2f} by CPU time)"
    return (
        f"K {line['K']:>7}: {line['round']:.3f} s a round ({line['round_cpu']:.3f} s of CPU time)"
        f"{grown}; {line['bytes'] / 1e6:.0f} MB; log loss {line['loss']:.3f} "
        f"(class frequencies {line['frequencies']:.3f})"
    )


def _table_words(line: dict[str, Any]) -> str:
    words = [f"{line['name']} {line['rows']} x {line['features']} x {line['K']}:"]
    ours, theirs = line["edgewise"], line["xgboost"]
    for who, of, error in (
        ("edgewise", ours, ours["error"]),
        ("xgboost", theirs, theirs["best_error"]),
    ):
        words.append(
            f"{who} log loss {of['loss']:.4f} after {of['rounds']} rounds, {of['seconds']:.1f} s "
            f"({of['cpu_seconds']:.1f} s of CPU time), best error {error:.2%};"
        )
    reached = ours["to_peer"]
    if reached is None:
        words.append("edgewise does not reach the log loss of xgboost")
    else:
        share = {key: reached[key] / theirs[key] for key in ("seconds", "cpu_seconds")}
        words.append(
            f"edgewise reaches it after {reached['rounds']} rounds, in {share['seconds']:.3f} of "
            f"its time ({share['cpu_seconds']:.3f} of its CPU time)"
        )
    return " ".join(words)


# --- parts, each in a process of its own ------------------------------------------------------


def _apart(part: str, **asked: Any) -> dict[str, Any]:
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_classes", part, json.dumps(asked)],
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return found


def grid(rows: int, K: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Rows whose class is a cell of a grid in some of 32 features; every class occurs."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 32), dtype=np.float32)
    side = int(np.ceil(K ** (1 / GRID)))
    y = np.ravel_multi_index(tuple((X[:, :GRID] * side).astype(int).T), (side,) * GRID) % K
    drawn = rng.random(rows) < NOISE
    y[drawn] = rng.integers(K, size=int(drawn.sum()))
    y[:K] = np.arange(K)
    return X, y


def growth(rows: int, K: int, rounds: int, threads: int) -> dict[str, Any]:
    from resource import RUSAGE_SELF, getrusage

    from edgewise import AOSOLogitBoostClassifier

    X, y = grid(max(rows, K), K)
    counts = np.bincount(y)
    model = AOSOLogitBoostClassifier(leaf="vector", n_estimators=rounds, n_jobs=threads)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    in_rounds = float(model.history_["seconds"][-1])
    return {
        "K": K,
        "seconds": seconds,
        "round": float(np.median(np.diff(model.history_["seconds"], prepend=0.0))),
        "round_cpu": cpu * in_rounds / seconds / rounds,
        "bytes": 1024 * (getrusage(RUSAGE_SELF).ru_maxrss - before),
        "loss": float(model.history_["loss"][-1]),
        "frequencies": float(-(counts / len(y) * np.log(counts / len(y))).sum()),
    }


def table_of(name: str) -> tuple[NDArray[Any], ...]:
    """X, y of the training rows and of the held-out rows; classes that training has five of."""
    import pyarrow.parquet as pq

    path = Path(os.environ.get("EDGEWISE_DATA", "")) / "classes" / f"{name}.parquet"
    if not path.exists():
        raise DataSetMissingError(f"there is no {path.name} in EDGEWISE_DATA/classes")
    table = pq.read_table(path)
    X = np.column_stack([_numbers(table[c]) for c in table.schema.names if c != "target"])
    y = np.unique(np.array(table["target"].to_pylist(), dtype=str), return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))
    train, held = np.split(order, [int(0.7 * len(y))])
    classes = np.flatnonzero(np.bincount(y[train], minlength=y.max() + 1) >= 5)
    parts = []
    for rows in (train, held):
        known = rows[np.isin(y[rows], classes)]
        parts += [X[known], np.searchsorted(classes, y[known])]
    return tuple(parts)


def _numbers(column: Any) -> NDArray[np.float64]:
    """A column as numbers, NaN where it has no value; texts become their numbers in order."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return np.array(column.to_pandas(), dtype=np.float64)
    texts = column.to_pylist()
    number = {text: float(j) for j, text in enumerate(sorted({t for t in texts if t is not None}))}
    return np.array([number.get(text, np.nan) for text in texts])


def table(name: str, rounds: int, threads: int, peer: dict[str, Any]) -> dict[str, Any]:
    X, y, X_val, y_val = table_of(name)
    theirs = _xgboost(X, y, X_val, y_val, threads, **peer)
    ours = _ours(X, y, X_val, y_val, rounds=rounds, threads=threads, wanted=theirs["loss"])
    return {
        "name": name,
        "rows": len(X),
        "features": X.shape[1],
        "K": int(y.max()) + 1,
        "edgewise": ours,
        "xgboost": theirs,
    }


def _xgboost(
    X: NDArray[Any],
    y: NDArray[Any],
    X_val: NDArray[Any],
    y_val: NDArray[Any],
    threads: int,
    *,
    strategies: list[str],
    rates: list[float],
    cpu_seconds: float,
) -> dict[str, Any]:
    """The best fit by log loss of all strategies and learning rates; seconds up to its best round.

    A fit ends early if its loss has not fallen for ten rounds, and when its CPU time is used up."""
    import xgboost

    fits = []
    for strategy in strategies:
        for rate in rates:
            clock = _clock(cpu_seconds)
            model = xgboost.XGBClassifier(
                n_estimators=200,
                learning_rate=rate,
                multi_strategy=strategy,
                tree_method="hist",
                early_stopping_rounds=10,
                n_jobs=threads,
                callbacks=[clock],
            )
            model.fit(X, y, eval_set=[(X_val, y_val)], verbose=False)
            best = int(model.best_iteration)
            cpu, seconds = clock.spent[best]
            fits.append(
                {
                    "strategy": strategy,
                    "rate": rate,
                    "rounds": best + 1,
                    "loss": float(model.best_score),
                    "error": float(np.mean(model.predict(X_val) != y_val)),
                    "cpu_seconds": cpu,
                    "seconds": seconds,
                    "out_of_time": clock.out_of_time,
                }
            )
    return min(fits, key=lambda fit: fit["loss"]) | {
        "best_error": min(fit["error"] for fit in fits),
        "fits": fits,
    }


def _clock(cpu_seconds: float) -> Any:
    """A callback of XGBoost: CPU time and wall time after every round; ends a fit out of time."""
    import xgboost

    class Clock(xgboost.callback.TrainingCallback):  # type: ignore[misc]
        def __init__(self) -> None:
            self.begin = time.process_time(), time.perf_counter()
            self.spent: list[tuple[float, float]] = []
            self.out_of_time = False

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            cpu, seconds = time.process_time(), time.perf_counter()
            self.spent.append((cpu - self.begin[0], seconds - self.begin[1]))
            self.out_of_time = self.spent[-1][0] > cpu_seconds
            return self.out_of_time

    return Clock()


def _ours(
    X: NDArray[Any],
    y: NDArray[Any],
    X_val: NDArray[Any],
    y_val: NDArray[Any],
    *,
    rounds: int,
    threads: int,
    wanted: float,
) -> dict[str, Any]:
    """The best of the first 1, 2, 3, 5, ... rounds; and when the wanted loss was reached. CPU time
    up to a round is the fit's, by the round's share of the time."""
    from edgewise import AOSOLogitBoostClassifier

    model = AOSOLogitBoostClassifier(n_estimators=rounds, n_jobs=threads)
    begin, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    whole_seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    rounds = len(model.history_["seconds"])
    prepared = whole_seconds - model.history_["seconds"][-1]
    found: dict[str, Any] = {"loss": np.inf, "error": 1.0, "to_peer": None}
    whole = model.model_
    for n in sorted({rounds, *(k for k in CHECKED if k < rounds)}):
        model.model_ = whole.first_rounds(n)
        loss, error = _held_out(model, X_val, y_val)
        seconds = prepared + float(model.history_["seconds"][n - 1])
        at = {"rounds": n, "seconds": seconds, "cpu_seconds": cpu * seconds / whole_seconds}
        found["error"] = min(found["error"], error)
        if loss < found["loss"]:
            found |= {"loss": loss, **at}
        if found["to_peer"] is None and loss <= wanted:
            found["to_peer"] = at
    return found


def _held_out(model: Any, X: NDArray[Any], y: NDArray[Any]) -> tuple[float, float]:
    loss = wrong = 0.0
    at = 0
    for proba in model.predict_proba_blocks(X):
        own = y[at : at + len(proba)]
        loss -= np.log(np.clip(proba[np.arange(len(own)), own], 1e-15, 1.0)).sum()
        wrong += np.count_nonzero(proba.argmax(axis=1) != own)
        at += len(own)
    return loss / len(y), wrong / len(y)


def prediction(K: int, rows: int, threads: int) -> dict[str, Any]:
    from edgewise import AOSOLogitBoostClassifier

    X, y = grid(max(rows // 4, K), K)
    model = AOSOLogitBoostClassifier(leaf="vector", n_estimators=20, n_jobs=threads).fit(X, y)
    many = X[:10_000]

    def seconds(answer: Any, times: int) -> float:
        spent = []
        for _ in range(times):
            begin = time.perf_counter()
            answer()
            spent.append(time.perf_counter() - begin)
        return min(spent)

    labels, top = model.predict_top_k(many, 5)
    exact = np.concatenate(
        [np.sort(p, axis=1)[:, :-6:-1] for p in model.predict_proba_blocks(many)]
    )
    return {
        "top_5_seconds": seconds(lambda: model.predict_top_k(many, 5), 3),
        "predict_seconds": seconds(lambda: model.predict(many), 3),
        "predict_proba_seconds": seconds(lambda: model.predict_proba(many), 3),
        "row_top_5_ms": 1e3 * seconds(lambda: model.predict_top_k(X[:1], 5), 200),
        "row_predict_ms": 1e3 * seconds(lambda: model.predict(X[:1]), 200),
        "top_5_differences": int(np.count_nonzero(top != exact)),
        "rows": len(labels),
    }


PARTS = {"growth": growth, "table": table, "prediction": prediction}

if __name__ == "__main__":
    print(json.dumps(PARTS[sys.argv[1]](**json.loads(sys.argv[2]))))

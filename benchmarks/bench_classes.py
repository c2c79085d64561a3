"""Thousands of classes: how a fit grows with them, tables against XGBoost, prediction.

growth      AOSO with vector leaves on synthetic rows (class = cell of a grid in four of the
            features, a tenth of the labels drawn), K = 10 .. 100 000; wanted: seconds per round
            grow at most 2.5 times per tenfold K beyond 100, memory below 2 GB at 10 000 classes
            and 6 GB at 100 000, and a better log loss than the class frequencies
tables      geo_timezone, geo_admin1 and flights_dest of EDGEWISE_DATA/classes: seconds to the best
            log loss on held-out rows that XGBoost reaches, and best errors; wanted: at most 0.2 of
            XGBoost's time
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
QUICK = {"rows": 3000, "classes": [10, 300], "rounds": 2, "tables": [], "predict_classes": 300}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--classes", type=int, nargs="*", default=[10**e for e in range(1, 6)])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), metavar="NAME")
    parser.add_argument("--table-rounds", type=int, default=200)
    parser.add_argument("--predict-classes", type=int, default=10_000, help="0: no predictions")


def run(args: Namespace) -> None:
    results: dict[str, Any] = {"growth": [], "tables": [], "prediction": {}}
    for K in args.classes:
        line = _apart("growth", rows=args.rows, K=K, rounds=args.rounds, threads=args.threads)
        _judge(line, results["growth"][-1] if results["growth"] else None)
        results["growth"].append(line)
        print(_growth_words(line), flush=True)
    for name in args.tables:
        line = _apart("table", name=name, rounds=args.table_rounds, threads=args.threads)
        results["tables"].append(line)
        print(_table_words(line), flush=True)
    if args.predict_classes:
        found = _apart("prediction", K=args.predict_classes, rows=args.rows, threads=args.threads)
        results["prediction"] = found
        print(", ".join(f"{key} {value:.4g}" for key, value in found.items()), flush=True)
    report.save(NAME, vars(args), results, quick=args.quick)


def _judge(line: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Adds by how much a round grew for a tenfold number of classes."""
    if before is None or before["K"] < 100:
        return
    decades = np.log10(line["K"] / before["K"])
    line["growth"] = (line["round"] / before["round"]) ** (1 / decades)
    line["met"] = bool(
        line["growth"] <= MOST_GROWTH and line["bytes"] < MOST_MEMORY.get(line["K"], np.inf)
    )


def _growth_words(line: dict[str, Any]) -> str:
    grown = f", {line['growth']:.2f} times per tenfold K" if "growth" in line else ""
    return (
        f"K {line['K']:>7}: {line['round']:.3f} s a round ({line['round_cpu']:.3f} s of CPU time)"
        f"{grown}; {line['bytes'] / 1e6:.0f} MB; log loss {line['loss']:.3f} "
        f"(class frequencies {line['frequencies']:.3f})"
    )


def _table_words(line: dict[str, Any]) -> str:
    words = [f"{line['name']} {line['rows']} x {line['features']} x {line['K']}:"]
    for who in ("edgewise", "xgboost"):
        of = line[who]
        words.append(
            f"{who} log loss {of['loss']:.3f} after {of['seconds']:.1f} s, error {of['error']:.2%};"
        )
    reached = line["seconds_to_peer"]
    words.append(
        "not reached" if reached is None else f"{reached / line['xgboost']['seconds']:.2f}"
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
    before, cpu = getrusage(RUSAGE_SELF).ru_maxrss, time.process_time()
    model.fit(X, y)
    cpu = time.process_time() - cpu
    return {
        "K": K,
        "round": float(np.median(np.diff(model.history_["seconds"], prepend=0.0))),
        "round_cpu": cpu / rounds,
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
    columns = [np.array(table[c].to_pylist()) for c in table.schema.names if c != "target"]
    numbers = [np.unique(c, return_inverse=True)[1] if c.dtype.kind in "UO" else c for c in columns]
    X = np.column_stack(numbers).astype(np.float64)
    y = np.unique(np.array(table["target"].to_pylist(), dtype=str), return_inverse=True)[1]
    order = np.random.default_rng(0).permutation(len(y))
    train, held = np.split(order, [int(0.7 * len(y))])
    classes = np.flatnonzero(np.bincount(y[train], minlength=y.max() + 1) >= 5)
    parts = []
    for rows in (train, held):
        known = rows[np.isin(y[rows], classes)]
        parts += [X[known], np.searchsorted(classes, y[known])]
    return tuple(parts)


def table(name: str, rounds: int, threads: int) -> dict[str, Any]:
    X, y, X_val, y_val = table_of(name)
    peer = _xgboost(X, y, X_val, y_val, threads)
    ours, seconds_to_peer = _ours(
        X, y, X_val, y_val, rounds=rounds, threads=threads, wanted=peer["loss"]
    )
    return {
        "name": name,
        "rows": len(X),
        "features": X.shape[1],
        "K": int(y.max()) + 1,
        "edgewise": ours,
        "xgboost": peer,
        "seconds_to_peer": seconds_to_peer,
    }


def _xgboost(
    X: NDArray[Any], y: NDArray[Any], X_val: NDArray[Any], y_val: NDArray[Any], threads: int
) -> dict[str, Any]:
    """The better of both strategies by log loss; seconds up to the best round."""
    import xgboost

    best: dict[str, Any] = {"loss": np.inf}
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = xgboost.XGBClassifier(
            n_estimators=100,
            multi_strategy=strategy,
            tree_method="hist",
            early_stopping_rounds=3,
            n_jobs=threads,
        )
        begin = time.perf_counter()
        model.fit(X, y, eval_set=[(X_val, y_val)], verbose=False)
        seconds = time.perf_counter() - begin
        done = len(model.evals_result()["validation_0"]["mlogloss"])
        if model.best_score < best["loss"]:
            best = {
                "strategy": strategy,
                "loss": float(model.best_score),
                "error": float(np.mean(model.predict(X_val) != y_val)),
                "seconds": seconds * (model.best_iteration + 1) / done,
            }
    return best


def _ours(
    X: NDArray[Any],
    y: NDArray[Any],
    X_val: NDArray[Any],
    y_val: NDArray[Any],
    *,
    rounds: int,
    threads: int,
    wanted: float,
) -> tuple[dict[str, Any], float | None]:
    """The best of the first 5, 10, 20, ... rounds; and when the wanted loss was reached."""
    from edgewise import AOSOLogitBoostClassifier

    model = AOSOLogitBoostClassifier(leaf="vector", n_estimators=rounds, n_jobs=threads)
    begin = time.perf_counter()
    model.fit(X, y)
    prepared = time.perf_counter() - begin - model.history_["seconds"][-1]
    best: dict[str, Any] = {"loss": np.inf, "error": 1.0}
    reached = None
    whole = model.model_
    for n in sorted(
        {rounds, *(k for k in (5, 10, 15, 20, 30, 40, 60, 80, 120, 160) if k < rounds)}
    ):
        model.model_ = whole.first_rounds(n)
        loss, error = _held_out(model, X_val, y_val)
        seconds = prepared + float(model.history_["seconds"][n - 1])
        best["error"] = min(best["error"], error)
        if loss < best["loss"]:
            best |= {"loss": loss, "seconds": seconds, "rounds": n}
        if reached is None and loss <= wanted:
            reached = seconds
    return best, reached


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

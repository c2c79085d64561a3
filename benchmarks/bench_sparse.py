"""Wide sparse data beside LightGBM: time of a fit, and peak memory of the process that does it.

Synthetic, 100 000 x 10 000 with 0.1 % of the entries filled in by default; the class depends on a
tenth of the columns. Same rounds, leaves, shrinkage and threads. Every fit has a process of its
own, and the libraries take turns:

    python -m benchmarks.bench_sparse '{"contender": "logitboost", ...}'
"""

import json
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse

from . import report
from .measure import _reset_peak, _status_mb, noticing_others

NAME = "sparse"
QUICK = {"rows": 5000, "columns": 500, "rounds": 3, "repeats": 1}
CONTENDERS = ("logitboost", "aoso", "lightgbm")
COLUMNS = [
    "estimator",
    "fit s",
    "CPU s",
    "of LightGBM's time",
    "time",
    "peak MB",
    "memory",
    "test error %",
]
MOST_TIME = {"logitboost": 1.3}  # of LightGBM's
MOST_MB = {"logitboost": 2048, "aoso": 2048}
DEFINED_BY = "rows columns density classes".split()


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10_000)
    parser.add_argument("--density", type=float, default=0.001)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--leaves", type=int, default=20)


def run(args: Namespace) -> None:
    """All contenders in turns."""
    costs: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    job = {
        key: getattr(args, key)
        for key in "rows columns density classes rounds leaves threads".split()
    }
    for _ in range(args.repeats):
        for name in CONTENDERS:
            with noticing_others(name):
                costs[name].append(in_fresh_process(job | {"contender": name}))
    medians = {
        name: {key: median(cost[key] for cost in taken) for key in taken[0]}
        for name, taken in costs.items()
    }
    theirs = medians["lightgbm"]["seconds"]
    usual = vars(_defaults())
    judged = args.judged and all(job[key] == usual[key] for key in DEFINED_BY)
    lines = []
    for name, m in medians.items():
        ratio = m["seconds"] / theirs
        time_target, memory_target = (
            target.get(name) if judged else None for target in (MOST_TIME, MOST_MB)
        )
        verdicts = report.verdict(ratio, time_target), report.verdict(m["peak_mb"], memory_target)
        lines.append([name, m["seconds"], m["cpu"], ratio, verdicts[0], m["peak_mb"], verdicts[1]])
        lines[-1].append(m["error"])
    report.save(
        NAME,
        vars(args),
        [dict(zip(COLUMNS, line, strict=True)) for line in lines],
        quick=args.quick,
    )
    title = f"{args.rows} x {args.columns}, {args.density:.2%} filled, {args.rounds} rounds"
    report.print_table(title, COLUMNS, lines)


def _defaults() -> Namespace:
    parser = ArgumentParser()
    add_arguments(parser)
    return parser.parse_args([])


def in_fresh_process(job: dict[str, Any]) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.bench_sparse", json.dumps(job)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{job['contender']} failed:\n{done.stderr}")
    cost: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return cost


def table(job: dict[str, Any], seed: int) -> tuple[Any, Any]:
    """X (rows, columns) in CSR form and labels; the effects of the columns are always the same."""
    d, K = job["columns"], job["classes"]
    effect = 8 * np.random.default_rng(0).normal(size=(d, K))
    effect[np.random.default_rng(1).random(d) > 0.1] = 0.0
    rng = np.random.default_rng([seed, 2])
    X = sparse.random_array((job["rows"], d), density=job["density"], format="csr", rng=rng)
    score = X @ effect
    return sparse.csr_matrix(X), (score + rng.gumbel(size=score.shape)).argmax(axis=1)


def contender(job: dict[str, Any]) -> Any:
    import edgewise

    name, rounds, leaves, threads = (job[k] for k in ("contender", "rounds", "leaves", "threads"))
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=rounds, num_leaves=leaves, n_jobs=threads, verbose=-1, learning_rate=0.1
        )
    kind = {"logitboost": "LogitBoostClassifier", "aoso": "AOSOLogitBoostClassifier"}[name]
    ours = {"n_estimators": rounds, "max_leaf_nodes": leaves, "n_jobs": threads}
    return getattr(edgewise, kind)(learning_rate=0.1, **ours)


def measure(job: dict[str, Any]) -> dict[str, float]:
    X, y = table(job, 1)
    X_test, y_test = table(job | {"rows": min(job["rows"], 20_000)}, 2)
    model = contender(job)
    _reset_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = _status_mb("VmHWM")
    error = 100 * float(np.mean(model.predict(X_test) != y_test))
    return {"seconds": wall, "cpu": cpu, "peak_mb": peak, "error": error}


if __name__ == "__main__":
    print(json.dumps(measure(json.loads(sys.argv[1]))))

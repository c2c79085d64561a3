"""Fits on Dask: beside the local fit, and what the trips cost.

overhead  Covertype, 100 rounds of AOSO with 21 leaves (three per class; --leaves 0: AOSO's own, 256
          there) on 2 local worker processes with one thread each, in turn with the local fit on
          two threads; wanted: at most 2.5 times its time. The time is broken down into
          preparing (classes, cuts, binning), work of the blocks, waiting beyond that (Dask's
          messages and transfer; the first wait, for the binning, belongs to preparing too), and
          the rest, which is the driver's: facts, and choosing splits.
workers   the same fit on 1, 2, 4 and 8 worker processes, as far as this machine's cores carry them
memory    by how much the largest worker process grows while one more such fit goes on, beside its
          share of bins and state
latency   a trip on which nothing is worked: nothing and 100 kB of answers, by messages and by tasks
"""

import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

import numpy as np

from . import report
from .datasets import Split, load

NAME = "dask"
TARGET = 2.5
QUICK = {"rounds": 3, "workers": [1, 2], "max_rows": 5000, "repeats": 1}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--leaves", type=int, default=21, help="of a tree; 0: AOSO's own")


def run(args: Namespace) -> None:
    from edgewise import AOSOLogitBoostClassifier

    name = (args.data_sets or ["covertype"])[0]
    data = load(name, max_rows=args.max_rows)
    params: dict[str, Any] = {"n_estimators": args.rounds, **args.param}
    if args.leaves:
        params["max_leaf_nodes"] = args.leaves
    estimator = AOSOLogitBoostClassifier(**params)
    print(f"  {name}, {len(data.y_train)} rows, {args.rounds} rounds; local: on two threads")
    rows = []
    for n_workers in args.workers:
        rows.append({"workers": n_workers, **_remote(estimator, data, n_workers, args.repeats)})
        print("  " + _line(rows[-1]), flush=True)
        report.save(NAME, vars(args), rows, quick=args.quick)


def _local_seconds(estimator: Any, data: Split) -> float:
    from sklearn.base import clone

    begin = time.perf_counter()
    clone(estimator).set_params(n_jobs=2).fit(data.X_train, data.y_train)
    return time.perf_counter() - begin


def _remote(estimator: Any, data: Split, n_workers: int, repeats: int) -> dict[str, Any]:
    """What fits on so many worker processes cost, beside local ones."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = _scattered(data, n_workers)
        local, fits = [], []
        for _ in range(repeats):
            local.append(_local_seconds(estimator, data))
            fits.append(_fit(estimator, X, y))
        costs = sorted(fits, key=lambda costs: float(costs["seconds"]))[repeats // 2]
        base = float(np.median(local))
        costs |= {"local": base, "ratio": costs["seconds"] / base}
        memory = _memory(client, lambda: _fit(estimator, X, y))
        share = _state_bytes(estimator, data) / n_workers / 1e6
        return costs | memory | {"share_megabytes": share} | _latency(client)


def _scattered(data: Split, n_workers: int) -> tuple[Any, Any]:
    import dask.array as da
    from distributed import wait

    rows = -(-len(data.y_train) // n_workers)
    X = da.from_array(data.X_train, chunks=(rows, -1)).persist()
    y = da.from_array(data.y_train, chunks=rows).persist()
    wait([X, y])
    return X, y


def _fit(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    from sklearn.base import clone

    from edgewise.distributed import settings

    statistics: dict[str, float] = {}
    begin = time.perf_counter()
    with settings(statistics=statistics):
        fitted = clone(estimator).fit(X, y)
    seconds = time.perf_counter() - begin
    loop = float(fitted.history_["seconds"][-1])
    return {
        "seconds": seconds,
        # The first trip waits for the binning, before the loop begins.
        "preparing": seconds - loop,
        "working": statistics["working"],
        "messages": statistics["seconds"] - statistics["working"],
        "driving": seconds - statistics["seconds"],
        "trips": statistics["trips"],
        "megabytes": statistics["bytes"] / 1e6,
    }


def _state_bytes(estimator: Any, data: Split) -> float:
    """Of all rows: bins, and what a fit of AOSO keeps beside them (see docs/scale.md)."""
    from edgewise import _core

    bins = _core.BinnedData(data.X_train, None, estimator.max_bins, 1, []).n_bytes
    K = len(np.unique(data.y_train))
    return float(bins + len(data.y_train) * (8 * K + 12 + 4 * -(-K // 8) * 8 + 12))


class _Peak:
    """The most memory that this process has had while it was watched, in bytes."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.over = threading.Event()

    def begin(self) -> int:
        import psutil

        process = psutil.Process()
        self.seen = [int(process.memory_info().rss)]
        self.over.clear()
        threading.Thread(target=self._watch, args=(process,), daemon=True).start()
        return self.seen[0]

    def _watch(self, process: Any) -> None:
        while not self.over.wait(0.01):
            self.seen.append(int(process.memory_info().rss))

    def end(self) -> int:
        self.over.set()
        return max(self.seen)


_PEAK = _Peak()  # of a worker process


def _begin_watch() -> int:
    return _PEAK.begin()


def _end_watch() -> int:
    return _PEAK.end()


def _memory(client: Any, fit: Callable[[], Any]) -> dict[str, float]:
    before = client.run(_begin_watch)
    fit()
    peak = client.run(_end_watch)
    grown = max(peak[worker] - before[worker] for worker in before)
    return {
        "worker_megabytes_before": max(before.values()) / 1e6,
        "worker_megabytes_grown": grown / 1e6,
    }


def _latency(client: Any) -> dict[str, float]:
    """Milliseconds of a trip to all workers on which nothing is worked."""
    from distributed import wait

    from edgewise.distributed._messages import Messenger

    parts = [client.submit(int, workers=[worker], pure=False) for worker in client.nthreads()]
    wait(parts)
    messenger = Messenger(client)
    ways = {
        "message": lambda n: messenger.sums(_answer, parts, (n,), max),
        "tasks": lambda n: client.gather(client.map(_answer, parts, n=n, pure=False)),
    }
    return {
        f"{way}_ms_{n}": 1e3 * float(np.median([_seconds(trip, n) for _ in range(100)]))
        for way, trip in ways.items()
        for n in (0, 100_000)
    }


def _answer(part: int, n: int) -> bytes:
    return bytes(n)


def _seconds(trip: Callable[[int], Any], n: int) -> float:
    begin = time.perf_counter()
    trip(n)
    return time.perf_counter() - begin


def _line(costs: dict[str, Any]) -> str:
    parts = ", ".join(
        f"{name} {costs[name]:.2f}" for name in ("preparing", "working", "messages", "driving")
    )
    return (
        f"{costs['workers']} workers: {costs['seconds']:.2f} s = {costs['ratio']:.2f} x local, "
        f"{costs['local']:.2f} s ({parts} s); {costs['trips']:.0f} trips, "
        f"{costs['megabytes']:.1f} MB; a worker of {costs['worker_megabytes_before']:.0f} MB grew "
        f"by {costs['worker_megabytes_grown']:.0f} MB, its share of bins and state being "
        f"{costs['share_megabytes']:.0f} MB; a trip without work {costs['message_ms_0']:.1f} ms, "
        f"with 100 kB {costs['message_ms_100000']:.1f} ms, by tasks {costs['tasks_ms_0']:.1f} and "
        f"{costs['tasks_ms_100000']:.1f} ms"
    )

"""How fast the laboratory walks: a step of AdaBoost's map beside a product of d and M.

Both on one thread, interleaved, nothing of the orbit kept. The matrices are random, but for the
3x3 one; those on which AdaBoost stops early are passed over. Wanted: at most 100 ns a step on 3x3
(10 million steps a second); on 200x200 at most 1 / 0.3 of the time of NumPy's product.
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from . import report
from .measure import interleaved

NAME = "dynamics"
NANOSECONDS_3X3 = 100.0
TIMES_PRODUCT = 1 / 0.3
QUICK = {"sizes": [3, 20], "seconds": 0.02, "repeats": 1}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 8, 20, 50, 100, 200, 400])
    parser.add_argument("--seconds", type=float, default=0.5, help="of each timing, about")
    parser.set_defaults(repeats=7)


def run(args: Namespace) -> None:
    """One line per size."""
    from threadpoolctl import threadpool_limits

    lines = []
    with threadpool_limits(1):
        for size in args.sizes:
            M = _matrix(size)
            tasks = {
                "step": lambda M=M: _per_call(_steps(M), args.seconds),
                "product": lambda M=M: _per_call(_products(M), args.seconds),
            }
            lines.append(_line(size, interleaved(tasks, args.repeats), judged=args.judged))
    report.save(NAME, vars(args), lines, quick=args.quick)
    columns = ["size", "step_ns", "product_ns", "ratio", "million_steps_a_second", "verdict"]
    rows = [[line[key] for key in columns] for line in lines]
    report.print_table("a step of the map, and a product d @ M", columns, rows)


def _matrix(size: int) -> Any:
    """Square, separable, no column without an error."""
    from edgewise.lab import dynamics

    if size == 3:
        return dynamics.one_error_each(3)
    for seed in range(1000):
        M = dynamics.random_matrix(size, size, random_state=seed)
        if dynamics.iterate(M, n_steps=20_000, keep=False).stopped is None:
            return M
    raise RuntimeError(f"no {size}x{size} matrix on which AdaBoost goes on")


def _steps(M: Any) -> Callable[[int], float]:
    """Seconds of so many steps."""
    from edgewise.lab import dynamics

    def seconds(n: int) -> float:
        begin = time.perf_counter()
        done = dynamics.iterate(M, n_steps=n, keep=False)
        if done.stopped:
            raise RuntimeError(f"the walk ended early: {done.stopped}")
        return time.perf_counter() - begin

    return seconds


def _products(M: Any) -> Callable[[int], float]:
    """Seconds of so many products; the loop itself costs some ten nanoseconds each."""
    dense, d = M.astype(np.float64), np.full(len(M), 1 / len(M))
    edges = np.empty(M.shape[1])

    def seconds(n: int) -> float:
        begin = time.perf_counter()
        for _ in range(n):
            np.dot(d, dense, out=edges)
        return time.perf_counter() - begin

    return seconds


def _per_call(seconds: Callable[[int], float], wanted: float) -> float:
    """Seconds per call, over about `wanted` seconds."""
    n = 1000
    while (taken := seconds(n)) < wanted / 4:
        n *= 4
    return min(taken, seconds(n)) / n


def _line(size: int, taken: dict[str, list[float]], *, judged: bool) -> dict[str, Any]:
    step, product = median(taken["step"]), median(taken["product"])
    verdict = ""
    if judged and size == 3:
        verdict = report.verdict(step * 1e9, NANOSECONDS_3X3)
    elif judged and size == 200:
        verdict = report.verdict(step / product, TIMES_PRODUCT)
    return {
        "size": f"{size}x{size}",
        "step_ns": step * 1e9,
        "product_ns": product * 1e9,
        "ratio": step / product,
        "million_steps_a_second": 1e-6 / step,
        "verdict": verdict,
        "times": taken,
    }

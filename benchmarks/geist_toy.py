"""The noisy toy problem of Geist's section 5.5.2: `python -m benchmarks geist --toy`.

Long and Servedio's 21 bits, 4000 training rows with a share p of wrong labels, 10 000 test rows
without. Stumps: 1000 rounds of SAMME (here AdaBoost) and of soft-max boosting, and MartiBoost with
300 layers. The paper says of its Figure 7: all are perfect without noise; SAMME degrades from 5 %
on; MartiBoost stays below the noise level; soft-max boosting is perfect for a large range of noise.
"Perfect" is here a mean error of at most 0.1 %. `--param` is for soft-max boosting alone.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, pstdev
from time import perf_counter
from typing import Any

import numpy as np

from . import report

TESTS = Path(__file__).parents[1] / "tests"
NAME = "geist-toy"
NOISE = [round(0.05 * step, 2) for step in range(11)]
SAMME, SOFTMAX, MARTI = "SAMME", "sm-boost", "MartiBoost"
ALGORITHMS = [SAMME, SOFTMAX, MARTI]
TRAIN_ROWS, TEST_ROWS = 4000, 10_000
PERFECT = 0.001
KEYS = ("noise", "algorithm", "draw", "rounds", "layers", "max_rows", "param")


def run(args: Namespace) -> None:
    """One line per noise level, algorithm and draw of the data, written as soon as it is there."""
    results = report.saved(NAME, quick=args.quick) if args.resume else []
    done = {_key(result) for result in results}
    for todo in _todo(args):
        if _key(todo) not in done:
            results.append(_line(todo, args))
            report.save(NAME, vars(args), results, quick=args.quick)
    wanted = {_key(todo) for todo in _todo(args)}
    results = [result for result in results if _key(result) in wanted]
    table = _table(results)
    _print(table)
    if args.judged:
        _judge({key: mean(errors) for key, errors in table.items()})
    _draw(results, args.quick)


def _todo(args: Namespace) -> Iterator[dict[str, Any]]:
    for draw in range(args.repeats):
        for noise in NOISE:
            for algorithm in ALGORITHMS:
                param = args.param if algorithm == SOFTMAX else {}
                todo = (noise, algorithm, draw, args.rounds, args.layers, args.max_rows, param)
                yield dict(zip(KEYS, todo, strict=True))


def _key(result: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(result.get(key)) for key in KEYS)


def _line(todo: dict[str, Any], args: Namespace) -> dict[str, Any]:
    noisy_bits = _generator()
    rng = np.random.default_rng([todo["draw"], NOISE.index(todo["noise"])])
    X, y = noisy_bits(rng, args.max_rows or TRAIN_ROWS, todo["noise"])
    X_test, y_test = noisy_bits(rng, args.max_rows or TEST_ROWS)
    model = _build(todo["algorithm"], todo["draw"], args)
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    error = float(np.mean(model.predict(X_test) != y_test))
    print(
        f"  p = {todo['noise']}, {todo['algorithm']}, draw {todo['draw']}: {error:.4f}", flush=True
    )
    return todo | {"error": error, "seconds": seconds}


def _generator() -> Callable[..., Any]:
    """The one that the tests use."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    from support_toy import noisy_bits

    return noisy_bits


def _build(algorithm: str, seed: int, args: Namespace) -> Any:
    import edgewise

    if algorithm == MARTI:
        return edgewise.MartiBoostClassifier(
            n_layers=args.layers, random_state=seed, n_jobs=args.threads
        )
    stumps = {
        "n_estimators": args.rounds,
        "max_leaf_nodes": 2,
        "min_samples_leaf": 1,
        "n_jobs": args.threads,
    }
    if algorithm == SAMME:
        return edgewise.SAMMEClassifier(**stumps)
    own = {"projection": "sampled", "random_state": seed}
    return edgewise.SoftmaxBoostClassifier(**stumps | own | args.param)


def _table(results: list[dict[str, Any]]) -> dict[tuple[float, str], list[float]]:
    table: dict[tuple[float, str], list[float]] = {}
    for result in results:
        table.setdefault((result["noise"], result["algorithm"]), []).append(result["error"])
    return table


def _print(table: dict[tuple[float, str], list[float]]) -> None:
    rows = []
    for noise in NOISE:
        cells = [table[noise, algorithm] for algorithm in ALGORITHMS]
        rows.append([noise, *(f"{100 * mean(e):.2f} ± {100 * pstdev(e):.2f}" for e in cells)])
    report.print_table("test error %, mean ± standard deviation", ["p", *ALGORITHMS], rows)


def _judge(error: dict[tuple[float, str], float]) -> None:
    """Print what the paper says of Figure 7, and whether it holds here."""
    some = [noise for noise in NOISE if 0.05 <= noise <= 0.3]
    claims = {
        "all are perfect without noise": all(error[0.0, a] <= PERFECT for a in ALGORITHMS),
        "sm-boost is perfect up to 30 %": all(error[p, SOFTMAX] <= PERFECT for p in [0.0, *some]),
        "SAMME errs more than the labels at 5 %": error[0.05, SAMME] > 0.05,
        "MartiBoost stays below the noise level": all(
            error[p, MARTI] < p for p in NOISE if 0 < p < 0.5
        ),
        "MartiBoost is between the two from 5 to 30 %": all(
            error[p, SOFTMAX] <= error[p, MARTI] <= error[p, SAMME] for p in some
        ),
    }
    report.print_table(
        "Figure 7",
        ["claim", "verdict"],
        [[claim, "met" if holds else "MISSED"] for claim, holds in claims.items()],
    )


def _draw(results: list[dict[str, Any]], quick: bool) -> None:
    try:
        from . import plot_toy
    except ImportError:
        report.note("no picture: matplotlib is not installed")
        return
    target = report.RESULTS / (f"{NAME}-quick.png" if quick else f"{NAME}.png")
    plot_toy.draw(results, target)
    print(f"drawn: {target.name}")

"""The noisy toy problem of Geist's section 5.5.2: `python -m benchmarks geist --toy`.

Long and Servedio's 21 bits, 4000 training rows with a share p of wrong labels, 10 000 test rows
without. Stumps: 1000 rounds of SAMME (here AdaBoost) and of soft-max boosting, and MartiBoost with
300 layers. The paper says of its Figure 7: all are perfect without noise; SAMME degrades from 5 %
on; MartiBoost stays below the noise level; soft-max boosting is perfect for a large range of noise.
"Perfect" is here a mean error of at most 0.1 %. `--param` is for soft-max boosting alone.
"""

from argparse import Namespace
from collections.abc import Iterator
from statistics import mean, pstdev
from time import perf_counter
from typing import Any

from edgewise.experiments.softmax_toy import (
    ALGORITHMS,
    NOISE,
    SOFTMAX,
    TEST_ROWS,
    TRAIN_ROWS,
    build,
    claims,
    draw_errors,
    error,
)

from . import report

NAME = "geist-toy"
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
    _draw(table, args.quick)


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
    model = build(
        todo["algorithm"],
        todo["draw"],
        rounds=args.rounds,
        layers=args.layers,
        threads=args.threads,
        **todo["param"],
    )
    start = perf_counter()
    sizes = args.max_rows or TRAIN_ROWS, args.max_rows or TEST_ROWS
    found = error(model, todo["noise"], todo["draw"], *sizes)
    print(
        f"  p = {todo['noise']}, {todo['algorithm']}, draw {todo['draw']}: {found:.4f}", flush=True
    )
    return todo | {"error": found, "seconds": perf_counter() - start}


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
    report.print_table(
        "Figure 7",
        ["claim", "verdict"],
        [[claim, "met" if holds else "MISSED"] for claim, holds in claims(error).items()],
    )


def _draw(errors: dict[tuple[float, str], list[float]], quick: bool) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        report.note("no picture: matplotlib is not installed")
        return
    target = report.RESULTS / (f"{NAME}-quick.png" if quick else f"{NAME}.png")
    figure = Figure(figsize=(5.2, 3.8), layout="constrained")
    draw_errors(figure, errors)
    figure.savefig(target, dpi=110)
    print(f"drawn: {target.name}")

"""A map of shapes: the time of a round of LogitBoost over LightGBM's, the worst cells first.

Rows 10^3 to 10^6, columns 5 to 2000, density 0.1 % to 100 %, 2 to 1020 bins, 2 to 1000 classes, one
and two threads. Not the whole product: a fraction in which all pairs of levels occur, in an order
that tells most at the beginning, so that --budget may end it anywhere. The table and all fits of a
cell are in one process of their own, in which the libraries take turns:

    python -m benchmarks.bench_shapes '{"shape": [1000, 50, 1.0, 255, 10, 1], ...}'

--resume keeps the cells that were measured on the same commit.
"""

import json
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from statistics import median
from typing import Any

from . import report
from .contenders import contender
from .measure import interleaved, noticing_others
from .shapes import Shape, all_shapes, fraction, table

NAME = "shapes"
OURS, THEIRS = "edgewise-logitboost", "lightgbm"
QUICK: dict[str, Any] = {"most_work": 2e5, "repeats": 1, "leaves": 4}
ALLOWED = 1.0  # of LightGBM's time


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--budget", type=float, help="minutes after which no cell is begun")
    parser.add_argument("--resume", action="store_true", help="keep cells of the same commit")
    parser.add_argument("--most-work", type=float, help="leave out cells of more additions a round")
    parser.add_argument("--strength", type=int, default=2, help="3: all triples of levels occur")
    parser.add_argument("--leaves", type=int, default=20)
    parser.set_defaults(repeats=3)


def run(args: Namespace) -> None:
    """Cell after cell, saving what there is."""
    begin, commit = time.monotonic(), report.commit()
    lines = [
        line
        for line in (report.saved(NAME, quick=args.quick) if args.resume else [])
        if line["commit"] == commit
    ]
    done = {_shape(line) for line in lines}
    allowed = [s for s in all_shapes() if s.work <= (args.most_work or s.work)]
    cells = fraction(allowed, args.strength)
    for cell in cells:
        if cell in done:
            continue
        if args.budget is not None and time.monotonic() - begin > 60 * args.budget:
            break
        lines.append(_line(cell, args, commit))
        report.save(NAME, vars(args), _worst_first(lines), quick=args.quick)
        print(f"{_text(cell)}: {lines[-1]['ratio']:.2f}", flush=True)
    _print(_worst_first(lines), len(cells))


def rounds_of(shape: Shape) -> int:
    """More where they are quick: the first is not counted."""
    return int(min(40, max(4, 4e8 / (shape.work + 10 * shape.rows * shape.classes))))


def _line(shape: Shape, args: Namespace, commit: str) -> dict[str, Any]:
    job = {"shape": shape, "leaves": args.leaves, "repeats": args.repeats}
    command = [sys.executable, "-m", "benchmarks.bench_shapes", json.dumps(job)]
    with noticing_others(_text(shape)):
        found = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[1],
        )
    if found.returncode != 0:
        raise RuntimeError(f"{_text(shape)} failed:\n{found.stderr}")
    times = json.loads(found.stdout.splitlines()[-1])
    ratio = times[OURS] / times[THEIRS]
    return {
        **shape._asdict(),
        "round ms": 1e3 * times[OURS],
        "LightGBM ms": 1e3 * times[THEIRS],
        "ratio": ratio,
        "verdict": report.verdict(ratio, ALLOWED if args.judged else None),
        "commit": commit,
    }


def measure(shape: Shape, leaves: int, repeats: int) -> dict[str, float]:
    """Seconds of a round of both, medians of fits that take turns."""
    X, y = table(shape)
    setting = {
        "rounds": rounds_of(shape),
        "leaves": leaves,
        "shrinkage": 0.1,
        "threads": shape.threads,
    }
    both = [contender(OURS, max_bins=max(2, shape.bins)), contender(THEIRS, max_bin=shape.bins)]

    def seconds(who: Any) -> float:
        times = who.times_by_round(who.fit(X, y, **setting))
        return float((times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else times[0])

    tasks = {who.name: lambda who=who: seconds(who) for who in both}
    return {name: median(taken) for name, taken in interleaved(tasks, repeats).items()}


def _shape(line: dict[str, Any]) -> Shape:
    return Shape(*(line[field] for field in Shape._fields))


def _text(shape: Shape) -> str:
    return (
        f"{shape.rows} x {shape.columns}, {shape.density:.1%} filled, {shape.bins} bins, "
        f"{shape.classes} classes, {shape.threads} threads"
    )


def _worst_first(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(lines, key=lambda line: -line["ratio"])


def _print(lines: list[dict[str, Any]], n_cells: int) -> None:
    if not lines:
        print("no cell was measured within the budget")
        return
    columns = [key for key in lines[0] if key != "commit"]
    report.print_table(
        "time of a round over LightGBM's",
        columns,
        [[line[key] for key in columns] for line in lines],
    )
    above = sum(line["ratio"] > ALLOWED for line in lines)
    print(f"{len(lines)} of {n_cells} cells; worst ratio {lines[0]['ratio']:.2f}, {above} above 1")


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(measure(Shape(*given["shape"]), given["leaves"], given["repeats"])))

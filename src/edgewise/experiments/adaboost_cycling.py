"""Does AdaBoost cycle? Random matrices by size and by budget of steps.

Rudin, Daubechies and Schapire (2004) leave open whether AdaBoost always ends in a cycle; Wang
(2026) has a matrix where it does not. The experiment measures how often a cycle is found within a
budget, how long it is, the largest Lyapunov exponent if none is found, and the margin of the
averaged classifier compared with the maximum.
"""

from statistics import median
from typing import Any

import numpy as np

from ..lab import dynamics
from . import _verdict, adaboost_dynamics
from ._data import Split
from ._types import Cell, Experiment, Finding, Outcome, Record, Records, Scale, Table

SIZES = {"small": (6, 10), "paper": (10, 15, 20, 25, 30)}
BUDGETS = {"small": (1_000, 10_000), "paper": (10_000, 100_000, 1_000_000)}
MATRICES = {"small": 5, "paper": 30}
TANGENT_STEPS = 20_000
RESTING = 1e-3  # an exponent of that size cannot be told from 0


def cells(scale: Scale) -> list[Cell]:
    """One cell per size, with growing budgets for the matrices without a cycle so far."""
    return [
        Cell(
            f"{m}x{m}",
            {"m": m, "budgets": list(BUDGETS[scale]), "matrices": MATRICES[scale]},
            effort=m * MATRICES[scale] * BUDGETS[scale][-1] / 2e7,
        )
        for m in SIZES[scale]
    ]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    return {"runs": [_one(cell.params, seed) for seed in range(cell.params["matrices"])]}


def _one(params: Any, seed: int) -> dict[str, Any]:
    M, best = _with_margin(params["m"], seed)
    start = dynamics.random_weights(params["m"], random_state=seed)
    found: dict[str, Any] = {"outcome": "not found", "length": 0, "budget": None}
    for budget in params["budgets"]:
        end = dynamics.find_cycle(M, start, max_steps=budget, max_length=budget // 10)
        if isinstance(end, dynamics.Cycle):
            found = {"outcome": "cycle", "length": end.length, "budget": budget}
            break
        if end.outcome != "not found":
            return {"outcome": end.outcome, "length": 0, "budget": budget}
    walk = dynamics.iterate(M, start, n_steps=params["budgets"][-1], keep=False)
    exponent = lyapunov(M, start) if found["outcome"] == "not found" else None
    return found | {"margin": float(walk.margin), "max_margin": best, "lyapunov": exponent}


def _with_margin(m: int, seed: int) -> tuple[Any, float]:
    """A random matrix with a positive maximum margin; on others no column keeps an edge."""
    for attempt in range(10_000):
        M = dynamics.random_matrix(m, m, random_state=10_000 * seed + attempt)
        best = float(dynamics.max_margin(M).value)
        if best > RESTING:
            return M, best
    raise RuntimeError(f"no {m}x{m} matrix with a positive margin was drawn")


def lyapunov(M: Any, start: Any, n_steps: int = TANGENT_STEPS) -> float:
    """The mean growth of the logarithm of a tangent vector a step, after a tenth of the steps.

    Of d_i' = d_i / (1 + M_ij r), r = (d'M)_j, with the column j fixed: the map is smooth where no
    two edges tie.
    """
    signs = np.asarray(M, dtype=float)
    d = np.array(start, dtype=float)
    tangent = np.random.default_rng(0).normal(size=len(d))
    tangent -= tangent.mean()
    growth = 0.0
    skipped = n_steps // 10
    for step in range(n_steps):
        edges = d @ signs
        j = int(edges.argmax())
        column, r = signs[:, j], edges[j]
        scale = 1 + column * r
        tangent = tangent / scale - d * column * (tangent @ column) / scale**2
        d = d / scale
        d /= d.sum()
        tangent -= tangent.sum() * d  # stay in the simplex: rounding would grow across it
        size = float(np.abs(tangent).sum())
        tangent /= size
        if step >= skipped:
            growth += float(np.log(size))
    return float(growth / (n_steps - skipped))


def _runs(record: Record) -> list[dict[str, Any]]:
    """The runs that do not reach a column without errors, or no column with an edge."""
    return [r for r in record.outcome["runs"] if r["outcome"] in ("cycle", "not found")]


def _open(record: Record, budget: int) -> float:
    """The share of runs without a cycle within the budget."""
    runs = _runs(record)
    late = sum(r["budget"] is None or bool(r["budget"] > budget) for r in runs)
    return late / max(len(runs), 1)


def findings(scale: Scale, records: Records) -> list[Finding]:
    known = [records[cell.name] for cell in cells(scale) if cell.name in records]
    complete = len(known) == len(SIZES[scale])
    last = BUDGETS[scale][-1]
    shares = [_open(record, last) for record in known]
    positive = [
        r["lyapunov"] > RESTING
        for record in known
        for r in _runs(record)
        if r["lyapunov"] is not None
    ]
    told = ", ".join(f"{r.cell}: {s:.0%}" for r, s in zip(known, shares, strict=True))
    return [
        _verdict.claim(
            f"every matrix has a cycle that is found within {last} steps",
            all(s == 0 for s in shares) if complete else None,
            f"none found: {told}",
        ),
        _verdict.claim(
            "orbits without a cycle are chaotic: the largest Lyapunov exponent is positive",
            all(positive) if positive else None,
            f"{sum(positive)} of {len(positive)} above {RESTING:g}",
        ),
    ]


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = []
    for cell in cells(scale):
        record = records.get(cell.name)
        if record is None:
            continue
        runs = _runs(record)
        lengths = [r["length"] for r in runs if r["length"]]
        exponents = [r["lyapunov"] for r in runs if r["lyapunov"] is not None]
        short = [r["max_margin"] - r["margin"] for r in runs]
        rows.append([
            cell.name,
            len(runs),
            *(f"{_open(record, budget):.0%}" for budget in BUDGETS[scale]),
            f"{median(lengths):g}, {max(lengths)}" if lengths else "-",
            f"{min(exponents):.4f} to {max(exponents):.4f}" if exponents else "-",
            f"{median(short):.4f}, {max(short):.4f}" if short else "-",
        ])  # fmt: skip
    columns = ["size", "runs", *(f"no cycle in {b}" for b in BUDGETS[scale])]
    columns += ["length: median, largest", "Lyapunov, no cycle", "margin missed: median, largest"]
    return [Table("Random matrices, 40 % of the entries wrong", columns, rows)] if rows else []


EXPERIMENT = Experiment(
    name="adaboost-cycling",
    title="Does AdaBoost cycle? Random matrices by size and budget",
    paper=adaboost_dynamics.PAPER,
    tolerance="A cycle is one that find_cycle reports: it closes and has at most a tenth of the "
    "budget as steps. An exponent above 0.001 counts as positive.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    item="the open question whether AdaBoost always cycles",
)

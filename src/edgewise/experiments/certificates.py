"""Tests of certificates: vote mass by label cardinality, and kappa compared with a bootstrap.

Mass: for rows with r of K labels each the least mass of the best votes is the minimum of a convex
function of one variable (docs/answers/certificates.md), in closed form for r = 0, 1 and K/2; a
linear program must find the same. Kappa: no resampled table whose frequencies change by at most the
certified bound may have another sign, and tables with a small kappa are those whose signs change.
`_separated` has a second certificate, for tables on which the laboratory's is far from sharp.
"""

from math import comb
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import hypergeom, spearmanr

from ..lab.convergence import mass_bound, sharp_constant
from ..lab.truth_table import TruthTable
from . import _verdict, truth_tables
from ._data import Split
from ._separated import separated_bound
from ._types import Cell, Experiment, Finding, Outcome, Record, Records, Scale, Table

CLASSES = {"small": (4, 7), "paper": (4, 6, 7, 8, 10, 13, 16, 20)}
TABLES = {"small": 5, "paper": 60}
RESAMPLED = {"small": 50, "paper": 300}
CLOSE = 1e-6


def mass_of_share(share: float, K: int, r: int) -> float:
    """The largest mean mass over numbers p of +1 votes, where r labels share `share` evenly."""
    if r == 0:
        return 1.0
    largest = 0.0
    for p in range(K // 2 + 1):
        j = np.arange(max(0, p + r - K), min(p, r) + 1)
        kept = share * (2 * j - r) / r - (1 - share) * (2 * (p - j) - (K - r)) / (K - r)
        largest = max(largest, float(hypergeom.pmf(j, K, r, p) @ np.abs(kept)))
    return largest


def least_mass(K: int, r: int) -> float:
    """The least mass of the best votes for rows with r of K labels."""
    found = minimize_scalar(
        mass_of_share, bounds=(0, 1), args=(K, r), method="bounded", options={"xatol": 1e-10}
    )
    return float(min(found.fun, mass_of_share(0.5, K, r)))


def closed_form(K: int, r: int) -> float | None:
    """For r = 0, 1 and K / 2; None otherwise."""
    if r == 0:
        return 1.0
    if r == 1:
        return sharp_constant(K)
    if 2 * r != K:
        return None
    m = (r + 1) // 2  # the best number of +1 votes is 2m - 1, the largest odd one up to K / 2
    return 2 * comb(r - 1, m - 1) ** 2 / comb(K, 2 * m - 1)


def cells(scale: Scale) -> list[Cell]:
    mass = [Cell(f"mass/K={K}", {"K": K}, effort=0.2) for K in CLASSES[scale]]
    sizes = {"tables": TABLES[scale], "resampled": RESAMPLED[scale]}
    kappa = Cell("kappa", sizes, effort=3.0 if scale == "small" else 60.0)
    both = Cell("both certificates", {"tables": TABLES[scale]}, effort=0.2 * TABLES[scale])
    return [*mass, kappa, both]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    if cell.name == "both certificates":
        return _both(cell)
    return _kappa(cell) if cell.name == "kappa" else _mass(cell.params["K"])


def _mass(K: int) -> Outcome:
    rows = {}
    for r in range(K // 2 + 1):
        program = mass_bound(K, {r})
        rows[str(r)] = {
            "program": program,
            "minimum": least_mass(K, r),
            "closed": closed_form(K, r),
        }
    return {"by_labels": rows}


def _kappa(cell: Cell) -> Outcome:
    rng = np.random.default_rng(cell.seed)
    drawn = [truth_tables.random_table(rng) for _ in range(cell.params["tables"])]
    return {"tables": [_bootstrap(table, cell.params["resampled"], rng) for table in drawn]}


def _both(cell: Cell) -> Outcome:
    """The certificate of the laboratory, and that of `_separated`, on the same tables."""
    rng = np.random.default_rng(cell.seed)
    found = []
    for _ in range(cell.params["tables"]):
        table = truth_tables.random_table(rng)
        bounds = table.stability()
        separated = separated_bound(table, bounds.upper)
        found.append({
            "box": float(bounds.lower),
            "separated": separated,
            "upper": float(bounds.upper),
        })  # fmt: skip
    return {"tables": found}


def _bootstrap(table: TruthTable, n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Signs of all pairs on resampled tables, and the bounds of kappa."""
    bounds = table.stability()
    V = table.pairs.V
    signs = np.sign(V @ table.minimise().beta)
    counts = np.asarray(table.counts, dtype=float)
    total = int(counts.sum())
    flips, within, broken = 0, 0, 0
    for _ in range(n):
        resampled = rng.multinomial(total, counts / total)
        kept = resampled > 0
        again = TruthTable.from_cells(table.patterns[kept], resampled[kept])
        changed = not again.existence.unique or bool(
            (np.sign(V @ again.minimise().beta) != signs).any()
        )
        small = float(np.abs(resampled - counts).max()) / total <= bounds.lower
        flips, within, broken = flips + changed, within + small, broken + (small and changed)
    return {
        "lower": float(bounds.lower),
        "upper": float(bounds.upper),
        "flips": flips / n,
        "within": within / n,
        "broken": broken,
    }


def findings(scale: Scale, records: Records) -> list[Finding]:
    mass = [r for name, r in records.items() if name.startswith("mass")]
    entries = [e for r in mass for e in r.outcome["by_labels"].values()]
    off = max((abs(e["program"] - e["minimum"]) for e in entries), default=None)
    closed = [abs(e["program"] - e["closed"]) for e in entries if e["closed"] is not None]
    found = [
        _verdict.close("minimum over one variable minus the linear program's", off, 0.0, CLOSE),
        _verdict.close(
            "closed form (r = 0, 1, K/2) minus the linear program's",
            max(closed, default=None),
            0.0,
            CLOSE,
        ),
    ]
    kappa = records.get("kappa")
    tables = kappa.outcome["tables"] if kappa else []
    broken = sum(t["broken"] for t in tables)
    rank = spearmanr([t["lower"] for t in tables], [t["flips"] for t in tables]) if tables else None
    return [
        *found,
        _verdict.claim(
            "no resampled table within the certified kappa changes a sign",
            broken == 0 if kappa else None,
            f"{broken} of {len(tables)} tables",
        ),
        _verdict.claim(
            "tables with a larger kappa change their signs less often: rank correlation below -0.8",
            bool(rank.statistic < -0.8) if rank is not None else None,
            f"{rank.statistic:.3f}" if rank is not None else "",
        ),
        _second(records.get("both certificates")),
    ]


def _second(record: Record | None) -> Finding:
    what = "the second certificate never exceeds the counterexample"
    if record is None:
        return _verdict.claim(what, None, "")
    ratios = _ratios(record)
    box, separated, larger = ratios.values()
    better = sum(second > first for first, second in zip(box, separated, strict=True))
    told = f"larger than the first on {better} of {len(box)} tables; least share of the "
    told += f"counterexample {min(box):.3f}, with the second {min(larger):.3f}"
    return _verdict.claim(what, max(separated) <= 1.0, told)


def _ratios(record: Record) -> dict[str, list[float]]:
    """Certified bounds over the smallest counterexample."""
    found = record.outcome["tables"]
    shares = {of: [t[of] / t["upper"] for t in found] for of in ("box", "separated")}
    larger = [max(pair) for pair in zip(*shares.values(), strict=True)]
    return shares | {"the larger of the two": larger}


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = [
        [record.params["K"], r, entry["program"], entry["minimum"], entry["closed"]]
        for name, record in records.items()
        if name.startswith("mass")
        for r, entry in record.outcome["by_labels"].items()
    ]
    shown = [Table("Least mass", ["K", "r", "program", "one variable", "closed"], rows)]
    kappa, both = records.get("kappa"), records.get("both certificates")
    if both is not None:
        ratios_of = _ratios(both).items()
        lines = [[of, f"{median(r):.2f}", f"{min(r):.2f}"] for of, r in ratios_of]
        title = "Certified kappa over the smallest counterexample"
        shown.append(Table(title, ["certificate", "median", "least"], lines))
    if kappa is None:
        return shown
    found = kappa.outcome["tables"]
    ratios = [t["lower"] / t["upper"] for t in found if t["upper"] > 0]
    cells_of = [
        f"{median(ratios):.2f}",
        f"{min(ratios):.2f}",
        f"{median(t['flips'] for t in found):.2f}",
        f"{median(t['within'] for t in found):.2f}",
    ]
    columns = ["lower / upper, median", "least", "tables that change", "within kappa"]
    return [*shown, Table("Kappa and resampled tables, 1000 examples", columns, [cells_of])]


EXPERIMENT = Experiment(
    name="certificates",
    title="Vote mass by label cardinality; kappa compared with a bootstrap",
    paper=f"B. Kégl, COLT 2014; {truth_tables.PAPER}",
    tolerance="The three computations of the least mass must agree within 1e-6. One resampled "
    "table within the certified kappa that changes a sign refutes the certificate.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    item="vote mass (Kégl), the margin kappa (Brossier and Lafitte)",
)

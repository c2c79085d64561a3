"""A search for the sharp smoothness constant of the soft-max risk, 1 / (3 sqrt(3)).

Geist's Lemma 1 has 1. docs/answers/smoothness.md proves that no curvature is larger than 1 / (3
sqrt(3)); here a search over probabilities, costs and directions tries to find one.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from . import _geist, _verdict
from ._data import Split
from ._types import Cell, Experiment, Finding, Outcome, Records, Scale

CONSTANT = 1 / (3 * sqrt(3))
CLASSES = (2, 3, 4, 6, 10)
STARTS = {"small": 5, "paper": 60}


def curvature(psi: NDArray[np.float64], costs: NDArray[np.float64]) -> float:
    """The largest |v'Hv| over unit v, of the Hessian H of sum_k softmax(psi)_k c_k."""
    g = np.exp(psi - psi.max())
    g /= g.sum()
    slope = g * (costs - g @ costs)
    hessian = np.diag(slope) - np.outer(g, slope) - np.outer(slope, g)
    return float(np.abs(np.linalg.eigvalsh(hessian)).max())


def cells(scale: Scale) -> list[Cell]:
    return [Cell(f"K={K}", {"K": K, "starts": STARTS[scale]}, effort=0.3) for K in CLASSES]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    K, rng = cell.params["K"], np.random.default_rng(cell.seed)
    bounds = [(-9.0, 9.0)] * K + [(0.0, 1.0)] * K
    found = [
        -minimize(
            lambda x: -curvature(x[:K], x[K:]),
            [*rng.normal(size=K), *rng.uniform(size=K)],
            bounds=bounds,
        ).fun
        for _ in range(cell.params["starts"])
    ]
    return {"largest": float(max(found))}


def findings(scale: Scale, records: Records) -> list[Finding]:
    found = []
    for cell in cells(scale):
        record = records.get(cell.name)
        largest = None if record is None else record.outcome["largest"]
        what = f"{cell.params['K']} classes: the largest curvature found is 1 / (3 sqrt(3))"
        found.append(_verdict.close(what, largest, CONSTANT, 1e-4))
    return found


EXPERIMENT = Experiment(
    name="softmax-smoothness",
    title="The smoothness constant of the soft-max risk (Lemma 1)",
    paper=_geist.PAPER,
    tolerance="The largest curvature that the search finds must be within 1e-4 of 1 / (3 "
    "sqrt(3)); a larger one would refute the proof in docs/answers/smoothness.md.",
    cells=cells,
    run=run,
    findings=findings,
    item="Lemma 1",
)

"""ABC-MART's search for the base class on resampled splits, by paired tests.

One test set with its original split says little about searches that differ by a few errors. Here
training and test rows are drawn anew, and all settings use the same splits. The differences of
their errors are tested by Nadeau and Bengio's t-test for resampled splits (2003), whose variance
accounts for overlapping training rows.
"""

from collections.abc import Sequence
from math import sqrt
from statistics import mean, stdev
from typing import Any

import numpy as np
from scipy.stats import t

from . import _converge, _li, abc_search
from ._data import Split
from ._effort import seconds_of_trees
from ._types import Cell, Experiment, Finding, Outcome, Records, Scale, Table, Verdict

EXHAUSTIVE = "exhaustive"
SETTINGS: dict[str, dict[str, Any]] = {
    EXHAUSTIVE: {"search": "exhaustive", "gap": 0, "warmup": 0},
    "exhaustive, gap 5": {"search": "exhaustive", "gap": 5, "warmup": 0},
    "two worst": {"search": 2, "gap": 0, "warmup": 0},
    "two worst, gap 5": {"search": 2, "gap": 5, "warmup": 0},
    "worst": {"search": 1, "gap": 0, "warmup": 0},
    "worst, gap 20": {"search": 1, "gap": 20, "warmup": 0},
    "MART": {},
}
SETS = {"small": ("optdigits",), "paper": ("optdigits", "pendigits", "letter", "isolet")}
SPLITS = {"small": 3, "paper": 10}
SIZES = {  # training rows, test rows, rounds
    "small": {"optdigits": (300, 1000, 20)},
    "paper": {
        "optdigits": (1500, 3000, 100),
        "pendigits": (1500, 5000, 100),
        "letter": (2500, 10_000, 60),
        "isolet": (1200, 3000, 15),
    },
}
SIGNIFICANT = 0.05


def cells(scale: Scale) -> list[Cell]:
    found = []
    for data in SETS[scale]:
        train, test, rounds = SIZES[scale][data]
        known = _li.DATA_SETS[data]
        for split in range(SPLITS[scale]):
            for name, own in SETTINGS.items():
                trees = abc_search.trees_per_round(own, known.n_classes) if own else known.n_classes
                found.append(
                    Cell(
                        f"{data}/{name}/split={split}",
                        {"own": own, "train": train, "test": test, "rounds": rounds},
                        data=known.source,
                        seed=split,
                        effort=seconds_of_trees(rounds * trees, train, known.columns),
                    )
                )
    return found


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    assert data is not None
    p = cell.params
    drawn = resampled(data, cell.seed, p["train"], p["test"])
    algorithm = "abc-mart" if p["own"] else "mart"
    model = _converge.build(algorithm, leaves=20, shrinkage=0.1, threads=threads, **p["own"])
    model.set_params(n_estimators=p["rounds"]).fit(drawn.X_train, drawn.y_train)
    wrong = int(np.count_nonzero(model.predict(drawn.X_test) != drawn.y_test))
    return {"errors": wrong, "test_rows": len(drawn.y_test), "rounds": int(model.n_iter_)}


def resampled(data: Split, seed: int, train: int, test: int) -> Split:
    """Training and test rows drawn anew from all rows."""
    X = np.concatenate([data.X_train, data.X_test])
    y = np.concatenate([data.y_train, data.y_test])
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = order[:train], order[train:][:test]
    return Split(X[first], y[first], X[second], y[second])


def of_splits(records: Records, data: str, setting: str, scale: Scale) -> list[float] | None:
    return rates(records, [f"{data}/{setting}/split={k}" for k in range(SPLITS[scale])])


def rates(records: Records, names: Sequence[str]) -> list[float] | None:
    """Test errors in percent of these cells; None unless all are there."""
    if any(name not in records for name in names):
        return None
    outcomes = [records[name].outcome for name in names]
    return [100 * o["errors"] / o["test_rows"] for o in outcomes]


def corrected_p(differences: list[float], train: int, test: int) -> float:
    """Two-sided P-value of a mean difference of resampled splits (Nadeau and Bengio)."""
    n, spread = len(differences), stdev(differences)
    if spread == 0:
        return 1.0 if mean(differences) == 0 else 0.0
    statistic = mean(differences) / (spread * sqrt(1 / n + test / train))
    return float(2 * t.sf(abs(statistic), n - 1))


def findings(scale: Scale, records: Records) -> list[Finding]:
    return [
        _beside(data, setting, scale, records)
        for data in SETS[scale]
        for setting in SETTINGS
        if setting != EXHAUSTIVE
    ]


def _beside(data: str, setting: str, scale: Scale, records: Records) -> Finding:
    full, ours = (of_splits(records, data, each, scale) for each in (EXHAUSTIVE, setting))
    what = f"{data}: {setting} compared with the exhaustive search"
    return compared(what, full, ours, *SIZES[scale][data][:2])


def compared(
    what: str, usual: list[float] | None, ours: list[float] | None, train: int, test: int
) -> Finding:
    """Two settings on the same splits, by their errors in percent, with so many rows each."""
    if usual is None or ours is None:
        return Finding(what, None, None, "", "not run")
    differences = [b - a for a, b in zip(usual, ours, strict=True)]
    p = corrected_p(differences, train, test)
    verdict: Verdict = "agrees"
    if p < SIGNIFICANT:
        verdict = "more errors" if mean(differences) > 0 else "fewer errors"
    told = f"{mean(ours):.2f} ({mean(differences):+.2f})"
    return Finding(what, f"{mean(usual):.2f} (ours)", told, f"P = {p:.2g}, paired", verdict)


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = []
    for data in SETS[scale]:
        for setting, own in SETTINGS.items():
            found = of_splits(records, data, setting, scale)
            if found is None:
                continue
            K = _li.DATA_SETS[data].n_classes
            trees = abc_search.trees_per_round(own, K) if own else float(K)
            rows.append([data, setting, f"{trees:.0f}", f"{mean(found):.2f}"])
    columns = ["data", "search", "trees per round", "test error %"]
    return [Table("Cost and error, means over the splits", columns, rows)] if rows else []


EXPERIMENT = Experiment(
    name="base-class",
    title="Which base class? Searches on resampled splits, by paired tests",
    paper=abc_search.PAPER,
    tolerance="A search differs from the exhaustive one if the corrected resampled t-test is "
    "significant (P < 0.05, two-sided, not corrected for the number of settings).",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    remarks=(
        "The fits use a fixed number of rounds and a part of the rows, with 20 leaves and "
        "shrinkage 0.1; they do not run to convergence.",
    ),
    item="the search for the base class",
)

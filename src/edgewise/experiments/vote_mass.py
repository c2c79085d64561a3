"""Factorised AdaBoost.MH on real data: edge, vote mass, and the bounds of the theory.

Kégl's open problem asks for a lower bound on the weight w' that votes leave to the base classifier,
independent of the number of rows; Zou and Xu (2026) have the sharp one. Here it is compared with
real fits. A cell is a data set and a base learner.
"""

from typing import Any

import numpy as np

from .. import AdaBoostMHClassifier
from ..lab.convergence import certificate, rounds_bound, sharp_constant
from . import _verdict
from ._data import Split, thin
from ._effort import seconds_of_trees
from ._types import Cell, Experiment, Finding, Outcome, Picture, Record, Records, Scale, Table

PAPER = (
    'B. Kégl, "Open problem: a (missing) boosting-type convergence result for AdaBoost.MH with '
    'factorized multi-class classifiers", COLT 2014; X. Zou, J. Xu, arXiv 2608.01091, 2026'
)
BASES = ("stump", "hamming_tree")
SHAPES = {  # rows, columns, classes
    "iris": (112, 4, 3),
    "wine": (133, 13, 3),
    "digits": (1347, 64, 10),
    "satimage": (4435, 36, 6),
    "optdigits": (3823, 64, 10),
    "pendigits": (7494, 16, 10),
    "letter": (16000, 16, 26),
}
SMALL = ("iris", "wine", "digits")


def cells(scale: Scale) -> list[Cell]:
    small = scale == "small"
    return [
        Cell(
            f"{data}/{base}",
            {"base": base, "rounds": 50 if small else 500, "max_rows": 400 if small else None},
            data=data,
            effort=_effort(data, 50 if small else 500),
        )
        for data in (SMALL if small else tuple(SHAPES))
        for base in BASES
    ]


def _effort(data: str, rounds: int) -> float:
    rows, columns, n_classes = SHAPES[data]
    return seconds_of_trees(rounds * n_classes, rows, columns, "vote") + 2e-7 * rounds * rows * 64


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    assert data is not None
    p = cell.params
    rows = data if p["max_rows"] is None else thin(data, p["max_rows"])
    model = AdaBoostMHClassifier(base=p["base"], n_estimators=p["rounds"], n_jobs=threads)
    model.fit(rows.X_train, rows.y_train)
    every = max(1, model.n_iter_ // 50)
    found = certificate(model, rows.X_train, rows.y_train, every=every)
    n_classes = len(model.classes_)
    zero = np.flatnonzero(found.hamming_loss == 0)
    return {
        "n_rows": found.n_rows,
        "n_classes": n_classes,
        "checks": found.checks,
        "mass_bound": found.mass_bound,
        "sharp_constant": sharp_constant(n_classes),
        "rounds": found.rounds.tolist(),
        "edge": found.edge.tolist(),
        "vote_mass": found.vote_mass.tolist(),
        "best_mass": found.best_mass.tolist(),
        "risk": found.bound.tolist(),
        "hamming_loss": found.hamming_loss.tolist(),
        "first_without_error": int(found.rounds[zero[0]]) if len(zero) else None,
        "rounds_bound": _bound(found, n_classes),
        "discrepancy": max(found.discrepancy.values(), default=0.0),
    }


def _bound(found: Any, n_classes: int) -> int | None:
    """Eq. 13 with the least observed edge."""
    delta = float(found.edge.min())
    if not 0 < delta <= 1:
        return None
    return int(rounds_bound(found.n_rows, n_classes, delta, version="edge"))


def findings(scale: Scale, records: Records) -> list[Finding]:
    return [finding for cell in cells(scale) for finding in _of(cell.name, records.get(cell.name))]


def _of(name: str, record: Record | None) -> list[Finding]:
    data, base = name.split("/")
    if record is None:
        return [_verdict.claim(f"{data}, {base}: the theory's inequalities", None, "")]
    o = record.outcome
    held = sum(o["checks"].values())
    least = min(o["best_mass"])
    return [
        _verdict.claim(
            f"{data}, {base}: the theory's inequalities hold in every round",
            held == len(o["checks"]),
            f"{held} of {len(o['checks'])}, {len(o['rounds'])} rounds looked at",
        ),
        _verdict.claim(
            f"{data}, {base}: the best votes keep at least C_K = {o['mass_bound']:.4f}",
            least >= o["mass_bound"] - 1e-9,
            f"least {least:.4f}, of {o['n_classes']} classes and {o['n_rows']} rows",
        ),
        *_within_bound(data, base, o),
    ]


def _within_bound(data: str, base: str, o: Outcome) -> list[Finding]:
    first, bound = o["first_without_error"], o["rounds_bound"]
    if first is None or bound is None:
        return []
    return [
        _verdict.claim(
            f"{data}, {base}: no training label is wrong after at most T* rounds (eq. 13)",
            first <= bound,
            f"after {first}, T* = {bound}",
        )
    ]


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = [
        [
            name,
            record.outcome["n_classes"],
            f"{min(record.outcome['edge']):.4f}",
            f"{min(record.outcome['vote_mass']):.4f}",
            f"{min(record.outcome['best_mass']):.4f}",
            f"{record.outcome['mass_bound']:.4f}",
            record.outcome["first_without_error"] or "-",
        ]
        for name, record in records.items()
    ]
    columns = ["data, base", "K", "least edge", "least vote mass", "least best mass", "bound"]
    title = "Over the rounds examined; the last column is the first round without a wrong label"
    return [Table(title, [*columns, "no error after"], rows)] if rows else []


def pictures(scale: Scale, records: Records) -> list[Picture]:
    chosen = list(records.values())
    if not chosen:
        return []
    size = (8.0, 2.3 * ((len(chosen) + 1) // 2))
    title = "Edge, vote mass, the mass of the best votes and its bound over the rounds"
    return [Picture("mass", title, lambda figure: _draw(figure, chosen), size)]


def _draw(figure: Any, records: list[Record]) -> None:
    axes = figure.subplots((len(records) + 1) // 2, 2, squeeze=False)
    for ax in axes.flat[len(records) :]:
        ax.axis("off")
    for ax, record in zip(axes.flat, records, strict=False):
        o = record.outcome
        for name, colour in (
            ("best_mass", "#5b8c3a"),
            ("vote_mass", "#2f6f9f"),
            ("edge", "#c4451c"),
        ):
            label = name.replace("_", " ")
            ax.plot(o["rounds"], o[name], color=colour, linewidth=1, label=label)
        ax.axhline(o["mass_bound"], color="#222222", linewidth=0.8, linestyle="--", label="bound")
        ax.set(title=record.cell, xlabel="round", ylim=(0, 1.05))
        ax.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=7)


EXPERIMENT = Experiment(
    name="vote-mass",
    item="eqs. 13 to 15",
    title="Edge, vote mass and the bounds of AdaBoost.MH in real fits",
    paper=PAPER,
    tolerance="The inequalities must hold in every round that is examined, up to rounding (1e-9).",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    pictures=pictures,
    remarks=(
        "The vote mass of a round with a Hamming tree is that of its root.",
        "With more than 24 classes the best votes are only bracketed; the table shows the best "
        "found.",
    ),
)

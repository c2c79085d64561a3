"""Soft-max boosting needs noise: with the exact projection it stalls.

docs/answers/softmax_noise.md proves that with two classes and 0/1 costs the exact projection
repeats the first stump forever, unless a leaf of it is tied. The experiment measures the number of
different stumps, the slope R(h) and the norm of the gradient, for both projections, on the noisy
toy problem and on real sets, and whether more rows delay the escape of the sampled projection.
"""

from typing import Any

import numpy as np

from .. import SoftmaxBoostClassifier
from . import _geist, _verdict, softmax_toy
from ._data import Split
from ._types import Cell, Experiment, Finding, Outcome, Record, Records, Scale, Table

PROJECTIONS = ("exact", "sampled")
REAL = {"small": ("segment",), "paper": ("segment", "splice", "dna", "satimage", "vowel")}
ROWS = {"small": (250, 2000), "paper": (250, 1000, 4000, 16000, 64000)}
ROUNDS = {"small": 50, "paper": 300}


def cells(scale: Scale) -> list[Cell]:
    rounds = ROUNDS[scale]
    toy = [
        Cell(f"toy/{p}", {"projection": p, "rounds": rounds, "rows": 2000, "leaves": 2}, effort=1.0)
        for p in PROJECTIONS
    ]
    real = [
        Cell(
            f"{name}/{p}/{leaves} leaves",
            {"projection": p, "rounds": rounds, "leaves": leaves},
            data=_geist.DATA_SETS[name].source,
            effort=1.0,
        )
        for name in REAL[scale]
        for p in PROJECTIONS
        for leaves in (2, 12)
    ]
    escape = [
        Cell(
            f"escape/rows={n}",
            {"projection": "sampled", "rounds": 100, "rows": n, "leaves": 2},
            effort=n / 2000,
        )
        for n in ROWS[scale]
    ]
    return [*toy, *real, *escape]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    p = cell.params
    if data is None:
        rng = np.random.default_rng(cell.seed)
        train, test = softmax_toy.noisy_bits(rng, p["rows"]), softmax_toy.noisy_bits(rng, 5000)
        data = Split(train[0].astype(np.float32), train[1], test[0].astype(np.float32), test[1])
    model = SoftmaxBoostClassifier(
        projection=p["projection"],
        n_estimators=p["rounds"],
        max_leaf_nodes=p["leaves"],
        min_samples_leaf=1,
        early_stopping=False,
        random_state=cell.seed,
        n_jobs=threads,
    ).fit(data.X_train, data.y_train)
    roots = _roots(model)
    edge = model.history_["edge"]
    return {
        "cuts": len(set(roots)),
        "first_other": next((m for m, cut in enumerate(roots) if cut != roots[0]), None),
        "edge": [float(edge[0]), float(edge[-1])],
        "gradient": [_gradient_norm(model, data, 1), _gradient_norm(model, data, p["rounds"])],
        "risk": float(model.history_["loss"][-1]),
        "train_error": float(np.mean(model.predict(data.X_train) != data.y_train)),
        "test_error": float(np.mean(model.predict(data.X_test) != data.y_test)),
    }


def _roots(model: Any) -> list[tuple[int, float]]:
    """The cut at the root of the first class's tree, round by round."""
    forest, K = model.model_, len(model.classes_)
    starts = np.asarray(forest.node_start)[: K * model.n_iter_ : K]
    return [(int(forest.feature[s]), float(forest.threshold[s])) for s in starts]


def _gradient_norm(model: Any, data: Split, rounds: int) -> float:
    """sqrt(sum_ik w_i (g_ik D_ik)^2) after so many rounds: its norm in the space of functions."""
    psi = model.model_.first_rounds(rounds).scores(data.X_train, 1)
    g = np.exp(psi - psi.max(axis=1, keepdims=True))
    g /= g.sum(axis=1, keepdims=True)
    costs = 1.0 - np.eye(g.shape[1])[data.y_train]
    slope = g * (costs - (g * costs).sum(axis=1, keepdims=True))
    return float(np.sqrt((slope**2).sum(axis=1).mean()))


def findings(scale: Scale, records: Records) -> list[Finding]:
    exact, sampled = records.get("toy/exact"), records.get("toy/sampled")
    two_classes = [r for name, r in records.items() if name.startswith("splice/exact/2")]
    escape = [records[c.name] for c in cells(scale) if c.name in records and "escape" in c.name]
    return [
        _verdict.claim(
            "exact projection, two classes, stumps without ties: every round repeats the first "
            "cut (proved)",
            None if exact is None else all(r.outcome["cuts"] == 1 for r in (exact, *two_classes)),
            "" if exact is None else f"cuts in use: {exact.outcome['cuts']}",
        ),
        _verdict.claim(
            "sampled projection: other cuts are used, too",
            None if sampled is None else sampled.outcome["cuts"] > 1,
            "" if sampled is None else f"cuts in use: {sampled.outcome['cuts']}",
        ),
        _verdict.claim(
            "more rows, less noise: the first other cut is used later",
            _later(escape) if len(escape) == len(ROWS[scale]) else None,
            ", ".join(f"{r.params['rows']} rows: {r.outcome['first_other']}" for r in escape),
        ),
    ]


def _later(escape: list[Record]) -> bool:
    rounds = [r.outcome["first_other"] for r in escape]
    known = [10**9 if m is None else m for m in rounds]
    return known[0] < known[-1]


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = [_row(name, record) for name, record in records.items()]
    columns = ["data", "cuts", "first other", "R(h) first", "last", "gradient first", "last"]
    title = "Different cuts at the root, the slope R(h), the norm of the gradient, errors (%)"
    return [Table(title, [*columns, "training error", "test error"], rows)] if rows else []


def _row(name: str, record: Record) -> list[Any]:
    o = record.outcome
    numbers = [*o["edge"], *o["gradient"]]
    errors = [f"{100 * o[part]:.1f}" for part in ("train_error", "test_error")]
    return [name, o["cuts"], o["first_other"], *(f"{x:.2g}" for x in numbers), *errors]


EXPERIMENT = Experiment(
    name="softmax-stall",
    title="Why soft-max boosting needs noise: exact and sampled projections",
    paper=_geist.PAPER,
    tolerance="A second cut in an exact fit of stumps to two classes with 0/1 costs would refute "
    "the proof in docs/answers/softmax_noise.md, if no leaf of the first stump is tied.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    item="section 4 (open question)",
)

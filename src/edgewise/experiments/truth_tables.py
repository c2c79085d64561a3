"""Three classifiers: relaxation finds the best vote, AdaBoost does not (Brossier and Lafitte).

A cell is a number of random tables, or three stumps on a real data set.
"""

from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from ..lab.truth_table import ThreeClassifierDisplay, TruthTable
from . import _verdict
from ._data import Split
from ._types import Cell, Experiment, Finding, Outcome, Picture, Records, Scale, Table

PAPER = (
    'J. M. Brossier, O. Lafitte, "Supervised learning using truth tables: convergence results and '
    'algorithms", SIAM annual meeting 2022'
)
PATTERNS = [
    [1, 1, 1],
    [-1, 1, 1],
    [1, -1, 1],
    [1, 1, -1],
    [1, -1, -1],
    [-1, 1, -1],
    [-1, -1, 1],
    [-1, -1, -1],
]
EXAMPLE = (500, 60, 90, 110, 95, 55, 40, 50)  # of the documentation of the laboratory
CLOSE = 1e-6  # two coefficients are the same
APART = 1e-3  # and differ
ROUNDS = 200
PER_CELL = 20
KEYS = ("tables", "full", "unique", "relaxed", "closed", "falls", "apart", "kappa")


def cells(scale: Scale) -> list[Cell]:
    n_cells = 2 if scale == "small" else 50
    tables = [
        Cell(f"tables/{k:02d}", {"tables": PER_CELL}, seed=k, effort=1.5) for k in range(n_cells)
    ]
    return [Cell("example", {}), Cell("stumps", {}, data="breast_cancer"), *tables]


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    if cell.name == "example":
        return _outcome(TruthTable.from_cells(PATTERNS, EXAMPLE))
    if data is not None:
        return _outcome(_stumps(data))
    rng = np.random.default_rng(cell.seed)
    drawn = [random_table(rng) for _ in range(cell.params["tables"])]
    return counted([_outcome(table) for table in drawn])


def random_table(rng: np.random.Generator) -> TruthTable:
    """Three weak classifiers, right more often than not, on 1000 examples; all cells occupied."""
    while True:
        shares = rng.dirichlet(np.ones(8))
        counts = 1 + rng.multinomial(992, shares)
        right = [int(counts[[p[j] > 0 for p in PATTERNS]].sum()) for j in range(3)]
        if min(right) > 500:
            return TruthTable.from_cells(PATTERNS, counts)


def _stumps(data: Split) -> TruthTable:
    """The three stumps that split best, on columns of their own."""
    X, y = np.asarray(data.X_train), np.asarray(data.y_train)
    answers: list[NDArray[Any]] = []
    errors: list[float] = []
    for column in range(X.shape[1]):
        one = X[:, [column]]
        stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(one, y)
        answers.append(stump.predict(one))
        errors.append(float(np.mean(answers[-1] != y)))
    best = np.argsort(errors, kind="stable")[:3]
    return TruthTable.from_predictions(y, np.column_stack([answers[j] for j in best]))


def _outcome(table: TruthTable) -> Outcome:
    """The minimiser in three ways, the point that AdaBoost reaches, and the stability margin."""
    counts = {"".join("-+"[int(s > 0)] for s in p): float(c) for p, c in _occupied(table)}
    if not table.existence.exists:
        return {"counts": counts, "exists": False}
    relaxed = table.minimise(method="relaxation")
    newton = table.minimise()
    path = table.adaboost(ROUNDS)
    stability = table.stability() if table.existence.unique else None
    return {
        "counts": counts,
        "exists": True,
        "unique": bool(table.existence.unique),
        "full_pairs": int(np.sum((table.pairs.m > 0) & (table.pairs.n > 0))),
        "newton": [float(b) for b in newton.beta],
        "relaxation": [float(b) for b in relaxed.beta],
        "closed_form": [float(b) for b in table.closed_form()],
        "sweeps": int(relaxed.n_iter),
        "adaboost": [float(b) for b in path.beta],
        "adaboost_risk_falls": bool((np.diff(path.risks) <= 1e-12).all()),
        "risk": float(newton.risk),
        "adaboost_risk": float(path.risks[-1]),
        "kappa": None if stability is None else [float(stability.lower), float(stability.upper)],
    }


def _occupied(table: TruthTable) -> list[tuple[NDArray[np.int8], float]]:
    return [(p, float(c)) for p, c in zip(table.patterns, table.counts, strict=True)]


def counted(outcomes: list[Outcome]) -> Outcome:
    """The number of tables with a minimum on which each statement holds, and their margins."""
    tables = [each for each in outcomes if each["exists"]]
    full = [each for each in tables if each["full_pairs"] >= 3]
    return {
        "tables": len(tables),
        "full": len(full),
        "unique": sum(each["unique"] for each in full),
        "relaxed": sum(_distance(each, "relaxation") <= CLOSE for each in full),
        "closed": sum(_distance(each, "closed_form") <= CLOSE for each in full),
        "falls": sum(each["adaboost_risk_falls"] for each in tables),
        "apart": sum(_distance(each, "adaboost") > APART for each in tables),
        "kappa": [each["kappa"][0] for each in tables if each["kappa"]],
    }


def _together(records: Records) -> dict[str, Any]:
    """The counts of all cells."""
    outcomes = [record.outcome for record in records.values()]
    parts = [each if "tables" in each else counted([each]) for each in outcomes]
    return {
        key: sum((part[key] for part in parts), start=[] if key == "kappa" else 0) for key in KEYS
    }


def findings(scale: Scale, records: Records) -> list[Finding]:
    total = _together(records)
    if not total["tables"]:
        return [_verdict.claim("relaxation converges to the minimiser", None, "")]
    n_tables, n, kappa = total["tables"], total["full"], total["kappa"]
    return [
        _verdict.claim(
            "three full pairs: there is one minimiser",
            total["unique"] == n,
            f"{total['unique']} of {n}",
        ),
        _verdict.claim(
            "relaxation converges to it", total["relaxed"] == n, f"on {total['relaxed']} of {n}"
        ),
        _verdict.claim(
            "the (corrected) equations for three classifiers give the minimiser",
            total["closed"] == n,
            f"{total['closed']} of {n}",
        ),
        _verdict.claim(
            "AdaBoost lowers the risk in every round",
            total["falls"] == n_tables,
            f"{total['falls']} of {n_tables}",
        ),
        _verdict.claim(
            "AdaBoost need not converge to the minimiser: on some tables it stays away from it",
            total["apart"] > 0,
            f"on {total['apart']} of {n_tables}, after {ROUNDS} rounds",
        ),
        _verdict.claim(
            "the margin kappa is positive",
            all(low > 0 for low in kappa) if kappa else None,
            f"certified from {min(kappa):.2g}, median {median(kappa):.2g}" if kappa else "",
        ),
    ]


def _distance(table: Outcome, way: str) -> float:
    return float(max(abs(a - b) for a, b in zip(table[way], table["newton"], strict=True)))


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = []
    for name in ("example", "stumps"):
        record = records.get(name)
        if record is None or not record.outcome["exists"]:
            continue
        for way in ("newton", "relaxation", "closed_form", "adaboost"):
            rows.append([name, way, *(f"{b:.4f}" for b in record.outcome[way])])
    title = "The vote of least risk, computed in three ways, and the point that AdaBoost reaches"
    return [Table(title, ["table", "way", "beta 1", "beta 2", "beta 3"], rows)] if rows else []


def pictures(scale: Scale, records: Records) -> list[Picture]:
    if "example" not in records:
        return []
    title = "Votes of three classifiers: AdaBoost's path and that of relaxation"
    return [Picture("triangle", title, _draw, (6.0, 5.5))]


def _draw(figure: Any) -> None:
    table = TruthTable.from_cells(PATTERNS, EXAMPLE)
    ThreeClassifierDisplay.from_table(table, ax=figure.subplots())


EXPERIMENT = Experiment(
    name="truth-tables",
    item="three classifiers",
    title="Three classifiers: relaxation against AdaBoost",
    paper=PAPER,
    tolerance=f"Coefficients are equal if they agree within {CLOSE:g} and differ if they are more "
    f"than {APART:g} apart; statements must hold.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    pictures=pictures,
    version=2,  # cells of drawn tables are counts
    remarks=(
        "The slides misprint the coefficients of three classifiers; beta 1 is (X2 + X3) / 2.",
        "AdaBoost's coefficients can only grow; with the negated classifiers among its choices it "
        "would converge.",
    ),
)

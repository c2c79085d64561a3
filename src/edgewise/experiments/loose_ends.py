"""Smaller questions: line search, recomputed probabilities, testing time, falling test errors.

Li's slides: Algorithm 1 (gradient boosting with a line search), probabilities recomputed inside the
loop over classes, and "testing is faster" with K - 1 trees per round. Rudin, Daubechies and
Schapire: the test error falls after the training error has reached zero. Brossier and Lafitte: a
decision tree on the cells gives AdaBoost's path through three classifiers. Geist: a schedule of
steps, and the number M of pairs that a round draws.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import mean, pstdev
from time import process_time
from typing import Any

import numpy as np

from .. import SAMMEClassifier, SoftmaxBoostClassifier
from . import _converge, _geist, _li, _literal, _verdict, base_class, truth_tables
from ._data import Split, thin
from ._types import Cell, Experiment, Finding, Outcome, Records, Scale, Table

SCHEDULES = {"constant": (1.0, 1.0, 1.0), "halved": (1.0, 0.5, 0.25), "doubled": (1.0, 2.0, 4.0)}
ROUNDS = {"small": 10, "paper": 60}
ROWS = {"small": 300, "paper": 1500}
SPLITS = {"small": 2, "paper": 10}
DRAWS = {"small": 1, "paper": 3}
PAIRS = (0.1, 0.3, 1.0, 3.0)  # drawn per row and round; the paper draws one
PAIR_ROUNDS = {"small": 10, "paper": 100}


def cells(scale: Scale) -> list[Cell]:
    size = {"rounds": ROUNDS[scale], "rows": ROWS[scale]}
    many = {"rounds": 100 if scale == "small" else 1000}
    tables = {"tables": 40 if scale == "small" else 1000}
    unit = 0.1 if scale == "small" else 1.0
    found = [
        *(
            Cell(f"mart/{v}", {"variant": v, **size}, data="optdigits", effort=3.0)
            for v in _literal.MART_VARIANTS
        ),
        Cell("testing", size, data="optdigits", effort=2.0),
        Cell("falling", many, data="pendigits", effort=3.0),
        Cell("paths", tables, effort=1.0),
        Cell("decision tree", tables, effort=1.0),
        *_schedules(scale, many),
        *_splits(scale, size),
        *_pairs(scale),
    ]
    return [replace(cell, effort=unit * cell.effort) for cell in found]


def _schedules(scale: Scale, many: Mapping[str, int]) -> Iterator[Cell]:
    for draw in range(DRAWS[scale]):
        for name, rates in SCHEDULES.items():
            of_draw = f"/draw={draw}" if draw else ""
            params = {"rates": list(rates), **many}
            yield Cell(f"schedule/{name}{of_draw}", params, data="satimage", seed=draw, effort=5.0)


def _splits(scale: Scale, size: Mapping[str, int]) -> Iterator[Cell]:
    """The variants of MART on rows drawn anew, the same for all."""
    for split in range(SPLITS[scale]):
        for v in _literal.MART_VARIANTS:
            params = {"variant": v, **size}
            yield Cell(f"splits/{v}/{split}", params, data="optdigits", seed=split, effort=3.0)


def _pairs(scale: Scale) -> Iterator[Cell]:
    for ratio in PAIRS:
        for draw in range(DRAWS[scale]):
            params = {"ratio": ratio, "rounds": PAIR_ROUNDS[scale], "rows": ROWS[scale]}
            effort = 0.5 + 3.5 * ratio
            name = f"pairs/{ratio:g} n/draw={draw}"
            yield Cell(name, params, data="satimage", seed=draw, effort=effort)


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    kind = cell.name.split("/")[0]
    if data is None:
        of_tables = {"paths": _paths, "decision tree": _decided}
        return of_tables[kind](cell.params["tables"])
    runs: dict[str, Callable[[Split, Cell], Outcome]] = {
        "mart": _mart,
        "splits": _resampled_mart,
        "pairs": _drawn_pairs,
        "testing": _testing,
        "falling": _falling,
        "schedule": _schedule,
    }
    return runs[kind](data, cell)


def _mart(data: Split, cell: Cell) -> Outcome:
    p = cell.params
    return _literal.mart(p["variant"], thin(data, p["rows"]), p["rounds"])


def _resampled_mart(data: Split, cell: Cell) -> Outcome:
    p = cell.params
    drawn = base_class.resampled(data, cell.seed, p["rows"], p["rows"])
    return _literal.mart(p["variant"], drawn, p["rounds"])


def _drawn_pairs(data: Split, cell: Cell) -> Outcome:
    p = cell.params
    some = thin(data, p["rows"])
    M = round(p["ratio"] * len(some.y_train))
    return _literal.softmax_boost(some, M, p["rounds"], cell.seed)


def _testing(data: Split, cell: Cell) -> Outcome:
    """Trees and CPU time of prediction, MART beside ABC-MART, the least of nine."""
    found: Outcome = {}
    data, rounds = thin(data, cell.params["rows"]), cell.params["rounds"]
    X = np.concatenate([data.X_test] * max(1, 20_000 // len(data.X_test)))
    for algorithm in ("mart", "abc-mart"):
        model = _converge.build(algorithm, leaves=20, shrinkage=0.1, threads=1)
        model.set_params(n_estimators=rounds).fit(data.X_train, data.y_train)
        seconds = []
        for _ in range(9):
            begin = process_time()
            model.predict(X)
            seconds.append(process_time() - begin)
        found[algorithm] = {"trees": int(model.model_.n_trees), "seconds": min(seconds)}
    return found


def _falling(data: Split, cell: Cell) -> Outcome:
    """Test errors of SAMME with eight leaves per class after the training error is zero."""
    K, rounds = int(data.y_train.max()) + 1, cell.params["rounds"]
    model = SAMMEClassifier(n_estimators=rounds, max_leaf_nodes=8 * K, min_samples_leaf=1)
    model.set_params(early_stopping=False).fit(data.X_train, data.y_train)
    train = _geist.wrong_by_round(model, data.X_train, data.y_train)
    test = _geist.wrong_by_round(model, data.X_test, data.y_test)
    zero = next((m for m, wrong in enumerate(train) if wrong == 0), None)
    at_zero = None if zero is None else test[zero]
    return {"zero": zero, "at_zero": at_zero, "last": test[-1], "test_rows": len(data.y_test)}


def _paths(n_tables: int) -> Outcome:
    """AdaBoost's paths on random tables of three classifiers, each used once."""
    rng = np.random.default_rng(0)
    ways: Counter[str] = Counter()
    for _ in range(n_tables):
        path = truth_tables.random_table(rng).adaboost(3, reuse=False)
        ways["".join(str(int(j) + 1) for j in path.choices)] += 1
    return {"ways": dict(sorted(ways.items()))}


def _decided(n_tables: int) -> Outcome:
    """On how many of the same tables the decision tree gives AdaBoost's path."""
    rng, same = np.random.default_rng(0), 0
    for _ in range(n_tables):
        table = truth_tables.random_table(rng)
        path = [int(j) for j in table.adaboost(3, reuse=False).choices]
        same += path == path_of_cells(table.patterns.tolist(), table.counts.tolist())
    return {"tables": n_tables, "same": same}


def path_of_cells(patterns: Sequence[Sequence[int]], counts: Sequence[float]) -> list[int]:
    """AdaBoost's path through three classifiers, each used once, as a decision tree on the cells.

    All comparisons are of rational numbers: if a classifier is wrong on the share e of the weight,
    AdaBoost multiplies the cells that it has wrong by (1 - e) / e.
    """
    weights = {tuple(p): Fraction(int(c)) for p, c in zip(patterns, counts, strict=True)}
    path: list[int] = []
    while len(path) < len(patterns[0]):
        whole = sum(weights.values(), Fraction(0))
        errors = {
            j: sum((w for p, w in weights.items() if p[j] < 0), Fraction(0)) / whole
            for j in range(len(patterns[0]))
            if j not in path
        }
        best = min(errors, key=lambda j: errors[j])
        if errors[best] >= Fraction(1, 2):
            break
        path.append(best)
        if errors[best] == 0:
            break
        factor = (1 - errors[best]) / errors[best]
        weights = {p: w * factor if p[best] < 0 else w for p, w in weights.items()}
    return path


def _schedule(data: Split, cell: Cell) -> Outcome:
    """Errors with a learning rate for each third of the rounds, by warm start."""
    p = cell.params
    model = SoftmaxBoostClassifier(warm_start=True, early_stopping=False, random_state=cell.seed)
    for part, rate in enumerate(p["rates"], start=1):
        rounds = round(part * p["rounds"] / len(p["rates"]))
        model.set_params(n_estimators=rounds, learning_rate=rate).fit(data.X_train, data.y_train)
    wrong = int(np.count_nonzero(model.predict(data.X_test) != data.y_test))
    return {
        "errors": wrong,
        "test_rows": len(data.y_test),
        "risk": float(model.history_["loss"][-1]),
    }


def findings(scale: Scale, records: Records) -> list[Finding]:
    testing, falling = records.get("testing"), records.get("falling")
    t = testing.outcome if testing else {}
    f = falling.outcome if falling else {}
    trees = {a: t[a]["trees"] for a in t}
    decided = records.get("decision tree")
    d = decided.outcome if decided else {}
    return [
        _verdict.claim(
            "testing is faster: ABC-MART has K - 1 trees per round, MART has K",
            trees["abc-mart"] * 10 == trees["mart"] * 9 if t else None,
            f"trees: {trees}" if t else "",
        ),
        _verdict.claim(
            "testing is faster: ABC-MART's prediction takes less CPU time than MART's",
            t["abc-mart"]["seconds"] < t["mart"]["seconds"] if t else None,
            f"{t['abc-mart']['seconds']:.4f} s for {t['mart']['seconds']:.4f} s" if t else "",
        ),
        _verdict.claim(
            "the test error falls after the training error is zero",
            None if f.get("at_zero") is None else f["last"] < f["at_zero"],
            f"zero after {f['zero'] + 1} rounds: {f['at_zero']} errors, then {f['last']}"
            if f.get("at_zero") is not None
            else "",
        ),
        _verdict.claim(
            "AdaBoost's path through three classifiers is a decision tree on the cells",
            d["same"] == d["tables"] if d else None,
            f"the same path on {d['same']} of {d['tables']} tables" if d else "",
        ),
        *(_beside(v, scale, records) for v in _literal.MART_VARIANTS[1:]),
    ]


def _beside(variant: str, scale: Scale, records: Records) -> Finding:
    """A variant of MART beside the usual one, on the same splits."""
    usual, ours = (
        base_class.rates(records, [f"splits/{v}/{k}" for k in range(SPLITS[scale])])
        for v in (_literal.MART_VARIANTS[0], variant)
    )
    what = (
        f"MART, {variant}, compared with probabilities and Newton steps {_literal.MART_VARIANTS[0]}"
    )
    return base_class.compared(what, usual, ours, ROWS[scale], ROWS[scale])


def tables(scale: Scale, records: Records) -> list[Table]:
    kinds: dict[str, list[Outcome]] = {}
    for name, record in records.items():
        if name.startswith(("mart", "schedule", "splits", "pairs")):
            kinds.setdefault("/".join(name.split("/")[:2]), []).append(record.outcome)
    rows = [_row(kind, found) for kind, found in kinds.items()]
    columns = ["what", "fits", "training loss or cost", "test errors", "of"]
    shown = [Table("Variants, means over the fits", columns, rows)] if rows else []
    if "paths" in records:
        ways = records["paths"].outcome["ways"]
        shown.append(
            Table("AdaBoost's paths", ["first, second, third", "tables"], list(ways.items()))
        )
    return shown


def _row(kind: str, found: Sequence[Outcome]) -> list[Any]:
    cost = mean(outcome["loss" if "loss" in outcome else "risk"] for outcome in found)
    errors = [outcome["errors"] for outcome in found]
    shown = f"{mean(errors):.1f} ± {pstdev(errors):.1f}" if len(errors) > 1 else errors[0]
    return [kind, len(found), f"{cost:.4g}", shown, found[0]["test_rows"]]


EXPERIMENT = Experiment(
    name="loose-ends",
    title="Smaller questions: line search, testing time, AdaBoost's paths, schedules, drawn pairs",
    paper=f"{_li.PAPER}; {truth_tables.PAPER}; {_geist.PAPER}",
    tolerance="The claims as stated. A variant of MART differs from the usual one if the corrected "
    "resampled t-test is significant (P < 0.05, two-sided). The tables are not judged.",
    cells=cells,
    run=run,
    findings=findings,
    tables=tables,
    remarks=(
        "CPU seconds are those of one thread, the least of nine runs, on a machine that may "
        "have been busy.",
        "The fits of 'pairs' are a literal Algorithm 2 over scikit-learn's trees of 12 leaves, on "
        "1500 rows of Satimage, 100 rounds; n is the number of rows.",
    ),
    item="Algorithm 1, 'testing is faster' (Li); introduction (Rudin et al.)",
)

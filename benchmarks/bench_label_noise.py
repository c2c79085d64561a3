"""Planted label errors: how many `suspicious_rows` finds, beside cleanlab.

A tenth of the training labels becomes another class, drawn at random. AutoBoost is fitted to them.
cleanlab's `find_label_issues` gets its out-of-fold probabilities and names k rows; counted are the
planted ones among these, and among the first k rows of `suspicious_rows`. Wanted: not fewer. The
share found among as many rows as were planted is shown too, also for short boosting.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

import numpy as np

from edgewise import AOSOLogitBoostClassifier, AutoBoostClassifier, suspicious_rows

from . import report
from .field import load_split

NAME = "label-noise"
QUICK = {"table_rows": 300, "seeds": 1}
TABLES = ["anuran_species", "dry_bean", "esl_phoneme", "obesity", "pmlb_mfeat_zernike"]
FLIPPED = 0.1
COLUMNS = [
    "table",
    "planted",
    "named by cleanlab",
    "found by cleanlab",
    "found by edgewise",
    "AutoBoost %",
    "AOSO, 50 rounds %",
    "AOSO, 500 rounds %",
]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table-rows", type=int, default=8000)


def run(args: Namespace) -> None:
    """A line per table, means over the seeds."""
    tables = [table for table in TABLES if not args.data_sets or table in args.data_sets]
    lines = []
    for table in tables:
        cells = [_cell(table, seed, args) for seed in range(args.seeds)]
        keys = COLUMNS[1:]
        means = {key: _mean([cell[key] for cell in cells]) for key in keys}
        lines.append({"table": table, **means})
    title = f"label errors, one in ten labels flipped, means of {args.seeds} seeds"
    report.print_table(title, COLUMNS, [[line[key] for key in COLUMNS] for line in lines])
    known = [line for line in lines if line["found by cleanlab"] is not None]
    if known:
        won = sum(line["found by edgewise"] >= line["found by cleanlab"] for line in known)
        words = f"label errors: not fewer than cleanlab on {won} of {len(known)} tables"
        met = "met" if won == len(known) else "MISSED"
        report.note(words + (f", wanted all: {met}" if args.judged else ""))
    report.save(NAME, vars(args), lines, quick=args.quick)


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _cell(table: str, seed: int, args: Namespace) -> dict[str, float | None]:
    X, _, y, _ = load_split(table, seed=seed, max_rows=args.table_rows)
    given, planted = _flipped(np.asarray(y), seed)
    model = AutoBoostClassifier(n_jobs=args.threads).fit(X, given)
    order = suspicious_rows(model, X, given).rows
    named = _by_cleanlab(given, model.oof_proba_)

    def share(rows: Any) -> float:
        return 100 * float(planted[rows[: planted.sum()]].mean())

    def boosted(rounds: int) -> float:
        aoso = AOSOLogitBoostClassifier(n_estimators=rounds, n_jobs=args.threads)
        return share(suspicious_rows(aoso.fit(X, given), X, given).rows)

    return {
        "planted": int(planted.sum()),
        "named by cleanlab": None if named is None else len(named),
        "found by cleanlab": None if named is None else int(planted[named].sum()),
        "found by edgewise": None if named is None else int(planted[order[: len(named)]].sum()),
        "AutoBoost %": share(order),
        "AOSO, 50 rounds %": boosted(50),
        "AOSO, 500 rounds %": boosted(500),
    }


def _flipped(y: Any, seed: int) -> tuple[Any, Any]:
    """Labels with errors, and where these are."""
    rng = np.random.default_rng(seed)
    planted = np.zeros(len(y), dtype=bool)
    planted[rng.permutation(len(y))[: round(FLIPPED * len(y))]] = True
    n_classes = int(y.max()) + 1
    other = (y + rng.integers(1, n_classes, size=len(y))) % n_classes
    return np.where(planted, other, y), planted


def _by_cleanlab(labels: Any, proba: Any) -> Any:
    """The rows it names, or nothing where it is not installed."""
    try:
        from cleanlab.filter import find_label_issues
    except ImportError:
        return None
    kept = np.flatnonzero(np.isfinite(proba).all(axis=1))
    return kept[np.flatnonzero(find_label_issues(labels[kept], proba[kept], n_jobs=1))]

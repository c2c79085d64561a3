"""Students of AutoBoost: what a model of at most 100 kB keeps of its gain in log loss.

The gain is over the class frequencies, on test rows that neither teacher nor student has seen.
The latency is the time of `predict_proba` for one row, so it is right on a quiet machine only.
"""

from argparse import Namespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import edgewise
from edgewise.decide import distill

from .. import report
from ..field.tables import load_split
from .probabilities import Array, chosen

MAX_BYTES = 100_000
TARGET = 0.97
TABLES = [
    "anuran_species",
    "ctg_class",
    "dry_bean",
    "obesity",
    "occupancy",
    "pmlb_ann_thyroid",
    "pmlb_wine_quality_white",
    "pmlb_yeast",
    "rd_storms_status",
    "sdss_class",
]
COLUMNS = ["table", "teacher", "student", "kept", "announced", "target", "trees", "kB", "us"]


def run(args: Namespace) -> None:
    """A line per table."""
    lines: list[dict[str, Any]] = []
    for table in chosen(args.data_sets or TABLES):
        lines.append(cell(table, args))
        report.save("decisions-students", vars(args), lines, quick=args.quick)
    report.print_table(
        f"students of AutoBoost ({args.effort}), at most {MAX_BYTES // 1000} kB: log loss",
        COLUMNS,
        [[line[key] for key in COLUMNS] for line in lines],
    )
    kept = [line["kept"] for line in lines]
    report.note(
        f"students keep {np.mean(kept):.4f} of the gain in the mean, at least {TARGET} of it on "
        f"{sum(share >= TARGET for share in kept)} of {len(kept)} tables"
    )


def cell(table: str, args: Namespace) -> dict[str, Any]:
    split = load_split(table, 0, args.student_rows)
    teacher = edgewise.AutoBoostClassifier(effort=args.effort, n_jobs=args.threads)
    student = distill(
        teacher, split.X_train, split.y_train, max_bytes=MAX_BYTES, n_jobs=args.threads
    )
    shares = np.bincount(split.y_train) / len(split.y_train)
    plain = _loss(np.broadcast_to(shares, (len(split.y_test), len(shares))), split.y_test)
    of_teacher = _loss(student.teacher.predict_proba(split.X_test), split.y_test)
    of_student = _loss(student.model.predict_proba(split.X_test), split.y_test)
    kept = (plain - of_student) / (plain - of_teacher)
    judged = TARGET if args.judged and args.effort == "best" else None
    return {
        "table": table,
        "teacher": of_teacher,
        "student": of_student,
        "kept": kept,
        "announced": student.kept,
        "target": "" if judged is None else "met" if kept >= judged else "MISSED",
        "trees": student.model.model_.n_trees,
        "kB": student.n_bytes / 1000,
        "us": student.microseconds,
    }


def _loss(proba: Array, y: NDArray[np.int64]) -> float:
    chances = np.maximum(proba[np.arange(len(y)), y], 1e-15)
    return float(-np.log(chances).mean())

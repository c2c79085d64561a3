"""Macro-F1 on test rows: thresholds fitted on out-of-fold probabilities beside plain argmax.

On the most imbalanced tables, by the entropy of the class frequencies over its largest value. The
classifier is AutoBoost; thresholds and argmax use the same probabilities. "equal priors" divides
the probabilities by the class frequencies, the usual remedy without a search.

The rule against noise was chosen on seeds 0 to 2. `--first-seed 10` judges it on other splits, into
a file of its own. scikit-learn's TunedThresholdClassifierCV tunes one threshold between two classes
and refuses more, and MAPIE has no thresholds, so neither can take part.
"""

from argparse import Namespace
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from edgewise.decide import fit_offsets

from .. import report
from .probabilities import Answers, answers, chosen, most_imbalanced

COUNT = 10
LEAST_WINS, LEAST_GAIN = 9, 0.02
COLUMNS = ["table", "classes", "argmax", "equal priors", "thresholds", "gain", "announced", "used"]


def run(args: Namespace) -> None:
    """A line per table, means over the seeds; then how many gain, and how much."""
    tables = most_imbalanced(chosen(args.data_sets), COUNT, args.table_rows)
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    name = "decisions-thresholds" + ("-fresh" if args.first_seed else "")
    lines = []
    for table in tables:
        cells = [
            cell(answers(table, seed, args.table_rows, args.effort, args.threads)) for seed in seeds
        ]
        means = {key: float(np.mean([one[key] for one in cells])) for key in cells[0]}
        lines.append({"table": table, **means, "seeds": cells})
        report.save(name, vars(args), lines, quick=args.quick)
    report.print_table(
        f"macro-F1 on test rows, means of {args.seeds} seeds",
        COLUMNS,
        [[line[key] for key in COLUMNS] for line in lines],
    )
    gains = np.array([line["gain"] for line in lines])
    wins = int((gains >= 0).sum())
    judged = args.judged and len(tables) == COUNT
    met = wins >= LEAST_WINS and gains.mean() >= LEAST_GAIN
    report.note(
        f"thresholds: not below argmax on {wins} of {len(tables)} tables, mean gain "
        f"{gains.mean():.4f}; wanted {LEAST_WINS} and {LEAST_GAIN}"
        + (f": {'met' if met else 'MISSED'}" if judged else "")
    )
    report.save(name, vars(args), lines, quick=args.quick)


def cell(said: Answers) -> dict[str, Any]:
    """One seed: macro-F1 of the three answers, and what the fit announced."""
    fitted = fit_offsets(said.held_out, said.y, "macro_f1")
    logs = np.log(np.maximum(said.proba, 1e-300))
    equal = -np.log(np.bincount(said.y) / len(said.y))

    def score(offsets: Any) -> float:
        labels = (logs + offsets).argmax(axis=1)
        return float(f1_score(said.y_test, labels, average="macro"))

    plain, tuned = score(0.0), score(fitted.offsets)
    return {
        "classes": said.proba.shape[1],
        "argmax": plain,
        "equal priors": score(equal),
        "thresholds": tuned,
        "gain": tuned - plain,
        "announced": fitted.gain,
        "used": float(fitted.applied),
    }

"""Decisions on real data: costs, thresholds and prediction sets.

`--parts kdd`: the average cost per test row of KDD Cup 1999; wanted: at most 0.2331, the winner's.
`--parts costs`: who pays least with random cost matrices and noisy labels; a table.
`--parts imbalance`: remedies for rare classes; a table.
`--parts thresholds`: macro-F1 of fitted thresholds on the ten most imbalanced tables; wanted: not
below argmax on nine, and two points more in the mean.
`--parts sets`: coverage and size of prediction sets on every table; wanted: every coverage within
its finite-sample band, and sets not larger than MAPIE's.
`--parts students`: what models of at most 100 kB keep of the gain of AutoBoost in log loss; wanted:
97 % of it, of a teacher with `--effort best`.
`--parts ordinal`: mean absolute class error of ordinal boosting on tables whose classes have an
order; wanted: below AOSO's and AutoBoost's on half of them, and never 2 % above.
"""

from argparse import ArgumentParser, Namespace

from .decisions import costs, imbalance, kdd, ordinal, sets, students, thresholds

NAME = "decisions"
PARTS = {
    "kdd": kdd.run,
    "costs": costs.run,
    "imbalance": imbalance.run,
    "thresholds": thresholds.run,
    "sets": sets.run,
    "students": students.run,
    "ordinal": ordinal.run,
}
QUICK = {
    "seeds": 1,
    "table_rows": 400,
    "set_rows": 400,
    "student_rows": 400,
    "ordinal_rows": 300,
    "cost_rows": 300,
    "cost_rounds": 5,
    "cost_matrices": 1,
    "cost_seeds": 1,
    "kdd_rounds": [3],
    "max_rows": 2000,
    "effort": "fast",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0, help="of the seeds of thresholds")
    parser.add_argument("--effort", choices=["fast", "default", "best"], default="fast")
    parser.add_argument("--coverage", type=float, default=0.9)
    parser.add_argument("--kdd-rounds", type=int, nargs="+", default=[30, 100])
    parser.add_argument(
        "--table-rows", type=int, default=8000, help="rows of a table, for thresholds"
    )
    parser.add_argument("--set-rows", type=int, default=1500, help="rows of a table, for sets")
    parser.add_argument("--cost-rows", type=int, default=1500, help="rows of a table, for costs")
    parser.add_argument("--cost-rounds", type=int, default=100)
    parser.add_argument("--cost-matrices", type=int, default=5)
    parser.add_argument("--cost-seeds", type=int, default=3)
    parser.add_argument(
        "--student-rows", type=int, default=3000, help="rows of a table, for students"
    )
    parser.add_argument(
        "--ordinal-rows", type=int, default=8000, help="rows of a table, for ordered classes"
    )
    parser.add_argument(
        "--ordinal-methods",
        nargs="+",
        choices=ordinal.METHODS,
        default=list(ordinal.METHODS),
        metavar="METHOD",
        help=f"for ordered classes, some of {', '.join(ordinal.METHODS)}",
    )


def run(args: Namespace) -> None:
    """The parts asked for."""
    for part in args.parts:
        PARTS[part](args)

"""Mean absolute class error on tables whose classes have an order.

Ordinal boosting beside boosters without an order, AOSO and AutoBoost, whose labels have the least
expected cost under |i - j|; and the mean of the probabilities of ordinal boosting and of AOSO,
decided in the same way.
"""

from argparse import Namespace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

import edgewise

from .. import report
from ..field.tables import FEWEST_ROWS, TEST_SHARE, TableSplit, whole_table

_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen draw"
).split()

# Classes from the lowest to the highest; rows of other classes are left out.
ORDERS: dict[str, list[str]] = {
    "obesity": [
        "Insufficient_Weight",
        "Normal_Weight",
        "Overweight_Level_I",
        "Overweight_Level_II",
        "Obesity_Type_I",
        "Obesity_Type_II",
        "Obesity_Type_III",
    ],
    "occupancy": list("0123"),
    # Moves to the win of White, a draw being the longest: numbers of their names in the alphabet.
    "pmlb_krkopt": [str(sorted(_NUMBERS).index(name)) for name in _NUMBERS],
    "pmlb_wine_quality_red": list("3456789"),
    "pmlb_wine_quality_white": list("3456789"),
    "rd_diamonds_cut": ["Fair", "Good", "Very Good", "Premium", "Ideal"],
    "rd_gss_abortion_partyid": [
        "Strong Democrat",
        "Not Str Democrat",
        "Ind,Near Dem",
        "Independent",
        "Ind,Near Rep",
        "Not Str Republican",
        "Strong Republican",
    ],
    "rd_nassCDS_dvcat": ["1-9km/h", "10-24", "25-39", "40-54", "55+"],
}
METHODS = ("aoso", "auto", "proportional", "ordinal", "mean")
RIVALS = ("aoso", "auto")


def run(args: Namespace) -> None:
    """A line per table: mean absolute class errors, means over seeds."""
    tables = [name for name in ORDERS if not args.data_sets or name in args.data_sets]
    cells: list[dict[str, Any]] = []
    for table in tables:
        for seed in range(args.seeds):
            split = ordered_split(table, seed, args.ordinal_rows)
            cells.append({"table": table, "seed": seed, **errors(split, args)})
        report.save("decisions-ordinal", vars(args), cells, quick=args.quick)
    asked = [method for method in METHODS if method in args.ordinal_methods]
    lines = [[table, *(mean(cells, table, method) for method in asked)] for table in tables]
    report.print_table(
        f"mean absolute class error, means of {args.seeds} seeds", ["table", *asked], lines
    )
    for method in asked:
        for rival in RIVALS:
            if rival in asked and method not in RIVALS:
                report.note(verdict(cells, tables, method, rival))


def ordered_split(table: str, seed: int, max_rows: int) -> TableSplit:
    """At most `max_rows` rows, 70 % of each class for training; labels in the order of classes."""
    X, labels = whole_table(table)
    rank = pd.Series(labels).map({label: k for k, label in enumerate(ORDERS[table])})
    known = np.flatnonzero(rank.notna())
    rows = np.random.default_rng(seed).permutation(known)[:max_rows]
    y = rank.to_numpy()[rows].astype(np.int64)
    rows, y = (part[np.bincount(y)[y] >= FEWEST_ROWS] for part in (rows, y))
    y = np.unique(y, return_inverse=True)[1]
    train, test = train_test_split(
        np.arange(len(rows)), test_size=TEST_SHARE, stratify=y, random_state=seed
    )
    return TableSplit(X.iloc[rows[train]], X.iloc[rows[test]], y[train], y[test])


def errors(split: TableSplit, args: Namespace) -> dict[str, float]:
    boosters = {
        "aoso": edgewise.AOSOLogitBoostClassifier(n_jobs=args.threads),
        "auto": edgewise.AutoBoostClassifier(effort=args.effort, n_jobs=args.threads),
        "proportional": edgewise.OrdinalBoostClassifier(pull=float("inf"), n_jobs=args.threads),
        "ordinal": edgewise.OrdinalBoostClassifier(n_jobs=args.threads),
    }
    asked = set(args.ordinal_methods)
    needed = asked | ({"ordinal", "aoso"} if "mean" in asked else set())
    proba = {
        name: booster.fit(split.X_train, split.y_train).predict_proba(split.X_test)
        for name, booster in boosters.items()
        if name in needed
    }
    if "mean" in asked:
        proba["mean"] = (proba["ordinal"] + proba["aoso"]) / 2
    return {name: absolute_error(proba[name], split.y_test) for name in METHODS if name in asked}


def absolute_error(proba: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Of the labels of least expected cost under |i - j|."""
    places = np.arange(proba.shape[1])
    cost = np.abs(np.subtract.outer(places, places)).astype(float)
    return float(np.abs(edgewise.minimum_cost_labels(proba, cost) - y).mean())


def mean(cells: list[dict[str, Any]], table: str, method: str) -> float:
    return float(np.mean([cell[method] for cell in cells if cell["table"] == table]))


def verdict(cells: list[dict[str, Any]], tables: list[str], method: str, rival: str) -> str:
    ours, theirs = (
        np.array([mean(cells, table, name) for table in tables]) for name in (method, rival)
    )
    above = [
        f"{table} {100 * (a / b - 1):.1f} %"
        for table, a, b in zip(tables, ours, theirs, strict=True)
        if a > 1.02 * b
    ]
    return (
        f"{method} is below {rival} on {int((ours < theirs).sum())} of {len(tables)} tables; "
        f"more than 2 % above: {', '.join(above) or 'none'}"
    )

"""Columns of categories: as sets, as numbers in an arbitrary order, and as one-hot columns; and one
column of very many categories, beside LightGBM.

Synthetic: the class depends on the categories of half of the columns through a random table of
each, which no order of the codes helps with. Fit and predict times, and the test error; beside
them scikit-learn's histogram boosting with its own sets. No target: it is our own ablation.

`--parts many`: one column of 10 000 categories and five of numbers; see `many_categories`. Wanted:
LogitBoost's test error not above LightGBM's at the same rounds, leaves and shrinkage.

`--parts tables`: text columns of real tables; see `text_columns`. Wanted: as categories, a log loss
at most 1.02 of that with integer codes and of that without the columns.
"""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import OneHotEncoder

import edgewise

from . import many_categories, report, text_columns
from .measure import interleaved

NAME = "categories"
QUICK = {"rows": 1000, "rounds": 3, "repeats": 1, "many": 300, "seeds": 1, "table_rows": 300}
COLUMNS = ["estimator", "columns as", "fit s", "predict s", "test error"]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--levels", type=int, default=60, help="categories of a column")
    parser.add_argument("--classes", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=50)
    parts = ["forms", "many", "tables"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--seeds", type=int, default=3, help="splits of each real table")
    parser.add_argument("--table-rows", type=int, default=8000, help="rows of a real table")
    parser.add_argument("--many", type=int, default=10_000, help="categories, where they are many")


def run(args: Namespace) -> None:
    """The parts asked for."""
    if "forms" in args.parts:
        compare_forms(args)
    if "many" in args.parts:
        many_categories.run(args)
    if "tables" in args.parts:
        text_columns.run(args)


def compare_forms(args: Namespace) -> None:
    """All estimators on all three forms of the table."""
    (codes, y), (codes_test, y_test) = (nominal(args, seed) for seed in (1, 2))
    encoder = OneHotEncoder(sparse_output=False, dtype=np.uint8, handle_unknown="ignore")
    one_hot = encoder.fit_transform(codes), encoder.transform(codes_test)
    every = list(range(codes.shape[1]))
    forms = {
        "sets": ((codes, codes_test), every),
        "numbers": ((codes, codes_test), None),
        "one-hot": (one_hot, None),
    }
    lines = []
    for name, make in estimators(args).items():
        for form, (tables, categorical) in forms.items():
            if name == "HistGradientBoosting" and form == "one-hot":
                continue
            model = make(categorical_features=categorical)
            lines.append([name, form, *figures(model, tables, y, y_test, args.repeats)])
    report.save(
        NAME,
        vars(args),
        [dict(zip(COLUMNS, line, strict=True)) for line in lines],
        quick=args.quick,
    )
    title = f"{args.rows} rows, {args.columns} columns of {args.levels} categories"
    report.print_table(title, COLUMNS, lines)


def nominal(args: Namespace, seed: int) -> tuple[Any, Any]:
    """Codes (rows, columns) and labels; the tables from codes to classes are always the same."""
    effect = np.random.default_rng(0).normal(size=(args.columns, args.levels, args.classes))
    effect[args.columns // 2 :] = 0.0
    rng = np.random.default_rng(seed)
    codes = rng.integers(args.levels, size=(args.rows, args.columns))
    score = sum(effect[j, codes[:, j]] for j in range(args.columns))
    return codes, (score + rng.gumbel(size=score.shape)).argmax(axis=1)


def estimators(args: Namespace) -> dict[str, Callable[..., Any]]:
    """Those of every kind of tree, with the same rounds."""
    ours = {"n_estimators": args.rounds, "n_jobs": args.threads}
    return {
        "LogitBoost": partial(edgewise.LogitBoostClassifier, **ours),
        "AOSO-LogitBoost": partial(edgewise.AOSOLogitBoostClassifier, **ours),
        "AdaBoost.MH, Hamming trees": partial(edgewise.AdaBoostMHClassifier, **ours),
        "SAMME": partial(edgewise.SAMMEClassifier, random_state=0, **ours),
        "HistGradientBoosting": partial(
            HistGradientBoostingClassifier,
            max_iter=args.rounds,
            max_leaf_nodes=20,
            early_stopping=False,
        ),
    }


def figures(
    model: Any, tables: tuple[Any, Any], y: Any, y_test: Any, repeats: int
) -> tuple[float, float, float]:
    """Median seconds of fit and predict, and the test error in percent."""
    train, test = tables
    tasks = {
        "fit": lambda: seconds(lambda: model.fit(train, y)),
        "predict": lambda: seconds(lambda: model.predict(test)),
    }
    taken = {task: median(times) for task, times in interleaved(tasks, repeats).items()}
    return taken["fit"], taken["predict"], 100 * float(np.mean(model.predict(test) != y_test))


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

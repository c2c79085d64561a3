"""One column of very many categories beside five of numbers: test errors and log losses.

The class depends on the numbers, and on the categories through a table of random effects:

- uniform: all categories are equally frequent, five rows each;
- zipf: the frequency of the category of rank r is proportional to r^-1.05;
- rare: the same, but the 200 most frequent have no effect;
- frequent: the same, but only those have one;
- nothing: no category has an effect.
"""

import time
from argparse import Namespace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

import edgewise

from . import report

SETS = ("uniform", "zipf", "rare", "frequent", "nothing")
COLUMNS = ["set", "estimator", "fit s", "test error %", "log loss", "not above LightGBM's"]
ROWS_EACH = 5
NUMBERS = 5
FREQUENT = 200
JUDGED = ("uniform", "zipf")


def run(args: Namespace) -> None:
    """All estimators on all sets, two classes."""
    lines = []
    for name in SETS:
        (X, y), (X_test, y_test) = (table(name, args.many, seed) for seed in (1, 2))
        theirs = None
        for estimator, make in estimators(args).items():
            model, fit = make()
            start = time.perf_counter()
            fit(X, y)
            seconds = time.perf_counter() - start
            proba = model.predict_proba(X_test)
            error = 100 * float(np.mean(proba.argmax(axis=1) != y_test))
            theirs = error if theirs is None else theirs
            wanted = theirs if estimator == "LogitBoost" and name in JUDGED else None
            verdict = report.verdict(error, wanted if not args.quick else None)
            lines.append([name, estimator, seconds, error, log_loss(y_test, proba), verdict])
    report.save(
        "many_categories",
        vars(args),
        [dict(zip(COLUMNS, line, strict=True)) for line in lines],
        quick=args.quick,
    )
    report.print_table(f"one column of {args.many} categories", COLUMNS, lines)


def table(name: str, n_categories: int, seed: int) -> tuple[Any, Any]:
    """X, its first column the category, and labels; effects are always the same."""
    effect = 1.5 * np.random.default_rng(0).normal(size=(n_categories, 2))
    of_numbers = np.random.default_rng(1).normal(size=(NUMBERS, 2))
    if name in ("rare", "nothing"):
        effect[: n_categories if name == "nothing" else FREQUENT] = 0.0
    if name == "frequent":
        effect[FREQUENT:] = 0.0
    rng = np.random.default_rng([seed, 3])
    frequency = np.arange(1, n_categories + 1) ** (0.0 if name in ("uniform", "nothing") else -1.05)
    n = ROWS_EACH * n_categories
    rank = rng.choice(n_categories, size=n, p=frequency / frequency.sum())
    code = np.random.default_rng(4).permutation(n_categories)[rank]
    numbers = rng.normal(size=(n, NUMBERS))
    score = effect[rank] + numbers @ of_numbers
    return np.column_stack([code, numbers]), (score + rng.gumbel(size=score.shape)).argmax(axis=1)


def estimators(args: Namespace) -> dict[str, Any]:
    """LightGBM, whose error is the mark, and ours with the same rounds."""
    leaves = {"learning_rate": 0.1, "max_leaf_nodes": 20}
    ours = {"n_estimators": args.rounds, "n_jobs": args.threads, "categorical_features": [0]}
    return {
        "LightGBM": partial(_lightgbm, args),
        "LogitBoost": partial(_ours, edgewise.LogitBoostClassifier, ours | leaves),
        "AOSO-LogitBoost": partial(_ours, edgewise.AOSOLogitBoostClassifier, ours),
        "AdaBoost.MH, Hamming trees": partial(_ours, edgewise.AdaBoostMHClassifier, ours),
        "SAMME": partial(_ours, edgewise.SAMMEClassifier, ours | {"random_state": 0}),
    }


def _ours(kind: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    model = kind(**options)
    return model, model.fit


def _lightgbm(args: Namespace) -> tuple[Any, Any]:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(
        n_estimators=args.rounds,
        num_leaves=20,
        learning_rate=0.1,
        n_jobs=args.threads,
        verbose=-1,
    )
    return model, partial(model.fit, categorical_feature=[0])

"""Monotone log odds with three classes: who keeps them.

Class 1 rises with feature 0 against both other classes, and the models are told so. The share of 50
lines along the feature on which the log odds of class 1 fall somewhere, by how much at worst, and
the test loss. No target: it shows what the parameter means.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import edgewise

from . import report

NAME = "monotone"
QUICK = {"rows": 500, "rounds": 3}
COLUMNS = ["estimator", "constrained", "lines with a fall", "worst fall", "test loss"]
LINES, POINTS = 50, 201
ROUNDING = 1e-6  # probabilities in single precision


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=100)


def run(args: Namespace) -> None:
    """Every library with and without the constraint; a refusal is told in words."""
    train, test = (three_classes(args.rows, seed) for seed in (1, 2))
    lines = [
        [name, constrained, *figures(make, train, test)]
        for name, pair in estimators(args).items()
        for constrained, make in zip(("no", "yes"), pair, strict=True)
    ]
    rows = [dict(zip(COLUMNS, line, strict=True)) for line in lines]
    report.save(NAME, vars(args), rows, quick=args.quick)
    report.print_table("class 1 is to rise with feature 0", COLUMNS, lines)


def three_classes(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    x, z = X.T
    F = np.column_stack([0 * x, 2 * x + z, z**2 + 1.5 * np.minimum(x, 0.0)])
    return X, (F + rng.gumbel(size=F.shape)).argmax(axis=1)


def figures(make: Callable[[], Any], train: tuple[Any, Any], test: tuple[Any, Any]) -> list[str]:
    try:
        model = make().fit(*train)
    except Exception as refusal:  # every library has an error of its own
        return ["refused", str(refusal).strip().split(": ")[-1], ""]
    falls = falls_of(model)
    proba = model.predict_proba(test[0])[np.arange(len(test[1])), test[1]]
    share = (falls > ROUNDING).any(axis=1).mean()
    return [
        f"{share:.0%}",
        f"{max(falls.max(), 0.0) if share else 0.0:.2f}",
        f"{-np.log(proba).mean():.3f}",
    ]


def falls_of(model: Any) -> Any:
    """How far the log odds of class 1 against 0 and 2 fall from point to point, (lines, ...)."""
    other = np.linspace(-1, 1, LINES)
    rows = np.column_stack([np.tile(np.linspace(-1, 1, POINTS), LINES), np.repeat(other, POINTS)])
    log_p = np.log(model.predict_proba(rows)).reshape(LINES, POINTS, 3)
    odds = log_p[..., [1]] - log_p[..., [0, 2]]
    return -np.diff(odds, axis=1).reshape(LINES, -1)


def estimators(args: Namespace) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Each without and with the constraint."""
    n, threads = args.rounds, args.threads
    ours = {"n_estimators": n, "n_jobs": threads}
    found = {
        name.removesuffix("Classifier"): with_and_without(
            partial(getattr(edgewise, name), **ours), monotonic_cst={0: {1: 1}}
        )
        for name in (
            "MARTClassifier",
            "LogitBoostClassifier",
            "ABCLogitBoostClassifier",
            "AOSOLogitBoostClassifier",
        )
    }
    return found | peers(n, threads)


def with_and_without(make: Callable[..., Any], **constraint: Any) -> tuple[Any, Any]:
    return make, partial(make, **constraint)


def peers(n: int, threads: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    import catboost  # noqa: PLC0415
    import lightgbm  # noqa: PLC0415
    import xgboost  # noqa: PLC0415

    cat = {"iterations": n, "thread_count": threads, "verbose": False, "allow_writing_files": False}
    return {
        "LightGBM": with_and_without(
            partial(lightgbm.LGBMClassifier, n_estimators=n, n_jobs=threads, verbose=-1),
            monotone_constraints=[1, 0],
        ),
        "XGBoost": with_and_without(
            partial(xgboost.XGBClassifier, n_estimators=n, n_jobs=threads),
            monotone_constraints=(1, 0),
        ),
        "HistGradientBoosting": with_and_without(
            partial(HistGradientBoostingClassifier, max_iter=n), monotonic_cst=[1, 0]
        ),
        "CatBoost": with_and_without(
            partial(catboost.CatBoostClassifier, **cat), monotone_constraints=[1, 0]
        ),
    }

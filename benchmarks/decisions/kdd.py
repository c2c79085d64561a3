"""KDD Cup 1999: the average cost per test row under the contest's cost matrix.

Every classifier learns from the distinct training rows with the same number of rounds, and its
answers are those of least expected cost, with three kinds of class frequencies: those of the
training rows, those estimated from the unlabelled test rows, and equal ones. Nothing is chosen by
the test labels; all figures are printed.
"""

import os
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import edgewise
from edgewise.decide import adjust_priors, cost_interval, decide_by_cost, estimate_priors

from .. import report
from ..datasets import DataSetMissingError

TARGET = 0.2331  # the average cost of the contest's winner
COLUMNS = ["classifier", "rounds", "priors", "average cost", "95 % interval", "target", "fit s"]
CATEGORIES = ["f1", "f2", "f3"]


class Contest(NamedTuple):
    """Distinct training rows and all test rows; labels 0..4; costs, a row per true class."""

    X: pd.DataFrame
    y: NDArray[np.int64]
    X_test: pd.DataFrame
    y_test: NDArray[np.int64]
    cost: NDArray[np.float64]


def run(args: Namespace) -> None:
    """Every classifier with every kind of priors."""
    contest = load(args.max_rows)
    lines: list[dict[str, Any]] = []
    for (name, rounds), make in classifiers(args).items():
        start = perf_counter()
        try:
            model = make().fit(contest.X, contest.y)
        except ImportError as missing:
            report.note(f"{name} is left out: {missing}")
            continue
        seconds = perf_counter() - start
        proba = np.asarray(model.predict_proba(contest.X_test), dtype=np.float64)
        for priors, chances in adjusted(proba, contest.y).items():
            lines.append(line(name, rounds, priors, chances, contest, seconds, judged=args.judged))
        report.save("decisions-kdd", vars(args), lines, quick=args.quick)
    report.print_table(
        f"KDD Cup 1999, {len(contest.X_test)} test rows: average cost; the winner's was {TARGET}",
        COLUMNS,
        [[text(row[key]) for key in COLUMNS] for row in lines],
    )


def load(max_rows: int | None = None) -> Contest:
    """The contest's files, from EDGEWISE_DATA/costs."""
    folder = Path(os.environ.get("EDGEWISE_DATA", "")) / "costs"
    if not (folder / "kddcup99_train.parquet").is_file():
        raise DataSetMissingError("EDGEWISE_DATA must name a folder with costs/kddcup99_*")
    train, test = (
        pd.read_parquet(folder / f"kddcup99_{part}.parquet") for part in ("train", "test")
    )
    train = train.drop_duplicates()
    if max_rows is not None:
        train, test = (
            part.sample(min(max_rows, len(part)), random_state=0) for part in (train, test)
        )
    costs = pd.read_csv(folder / "kddcup99_cost.csv", index_col=0)
    classes = sorted(costs.index)
    y, y_test = (part.pop("target").map(classes.index).to_numpy() for part in (train, test))
    for name in CATEGORIES:  # with the values of both parts: some peers refuse new ones
        values = sorted({*train[name], *test[name]})
        train[name], test[name] = (pd.Categorical(part[name], values) for part in (train, test))
    return Contest(train, y, test, y_test, costs.loc[classes, classes].to_numpy(dtype=np.float64))


def adjusted(proba: NDArray[np.float64], y: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """The probabilities by the three kinds of priors."""
    proba = np.maximum(proba, 1e-12)  # a zero in single precision must not rule out a class
    proba /= proba.sum(axis=1, keepdims=True)
    old = np.bincount(y, minlength=proba.shape[1]) / len(y)
    equal = np.full(len(old), 1.0 / len(old))
    return {
        "training": proba,
        "estimated": adjust_priors(proba, old, estimate_priors(proba, old)),
        "equal": adjust_priors(proba, old, equal),
    }


def line(
    name: str,
    rounds: int | None,
    priors: str,
    proba: NDArray[np.float64],
    contest: Contest,
    seconds: float,
    *,
    judged: bool,
) -> dict[str, Any]:
    said = decide_by_cost(proba, contest.cost)
    mean, low, high = cost_interval(contest.cost[contest.y_test, said])
    ours = name in ("AutoBoost", "AOSO") and judged
    values = [mean, [low, high], report.verdict(mean, TARGET if ours else None), round(seconds, 1)]
    return dict(zip(COLUMNS, [name, rounds, priors, *values], strict=True))


def text(value: Any) -> Any:
    """Costs with four digits, as the contest gave them."""
    if isinstance(value, list):
        return " to ".join(f"{end:.4f}" for end in value)
    return f"{value:.4f}" if isinstance(value, float) and value < 10 else value


def classifiers(args: Namespace) -> dict[tuple[str, int | None], Callable[[], Any]]:
    """Ours and the peers', with their defaults but for the rounds."""
    made: dict[tuple[str, int | None], Callable[[], Any]] = {
        ("AutoBoost", None): partial(
            edgewise.AutoBoostClassifier, effort=args.effort, n_jobs=args.threads
        )
    }
    for rounds in args.kdd_rounds:
        made["AOSO", rounds] = partial(
            edgewise.AOSOLogitBoostClassifier, n_estimators=rounds, n_jobs=args.threads
        )
        for name, peer in (("LightGBM", _lightgbm), ("XGBoost", _xgboost), ("CatBoost", _catboost)):
            made[name, rounds] = partial(peer, rounds, args.threads)
    return made


def _lightgbm(rounds: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=rounds, n_jobs=threads, verbose=-1)


def _xgboost(rounds: int, threads: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=rounds, n_jobs=threads, enable_categorical=True)


def _catboost(rounds: int, threads: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        n_estimators=rounds,
        thread_count=threads,
        cat_features=CATEGORIES,
        verbose=False,
        allow_writing_files=False,
    )

"""Coverage and size of prediction sets on every table, beside MAPIE with the same probabilities.

Half of the test rows calibrate, the other half are judged. Given n calibration rows, the number of
m judged rows that are covered has a beta-binomial distribution (Vovk 2012); a coverage must lie
within a band that all of them together leave with a probability of at most 5 %. Where scores tie,
sets can only be larger than that law says, so a coverage above the band is counted by itself.
"""

import math
import warnings
from argparse import Namespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom
from sklearn.base import BaseEstimator, ClassifierMixin

from edgewise.decide import ConformalSets

from .. import report
from .probabilities import Array, answers, chosen

METHODS = ("lac", "aps", "raps", "mondrian")
CHANCE = 0.05  # that any of all coverages lies outside its band
COLUMNS = ["method", "cells", "below", "above", "coverage", "size", "MAPIE's", "not larger"]


class Halves(NamedTuple):
    """Probabilities and labels to calibrate with, and those to judge by."""

    proba: Array
    y: NDArray[np.int64]
    proba_new: Array
    y_new: NDArray[np.int64]


def run(args: Namespace) -> None:
    """Every table, seed and method; a line per method."""
    tables = chosen(args.data_sets)
    lines: list[dict[str, Any]] = []
    for table in tables:
        for seed in range(args.seeds):
            said = answers(table, seed, args.set_rows, args.effort, args.threads)
            halves = cut(said.proba, said.y_test, seed)
            for method in METHODS:
                found = cell(halves, method, args.coverage, seed)
                lines.append({"table": table, "seed": seed, "method": method, **found})
        report.save("decisions-sets", vars(args), lines, quick=args.quick)
    judge(lines)
    report.save("decisions-sets", vars(args), lines, quick=args.quick)
    report.print_table(
        f"prediction sets of coverage {args.coverage:g}: {len(tables)} tables, {args.seeds} seeds",
        COLUMNS,
        [summary(lines, method) for method in METHODS],
    )
    for line in lines:
        if line.get("verdict") in ("below", "above"):
            report.note("{verdict} its band: {table}, seed {seed}, {method}".format(**line))


def cut(proba: Array, y: NDArray[np.int64], seed: int) -> Halves:
    order = np.random.default_rng(seed).permutation(len(y))
    first, second = order[: len(y) // 2], order[len(y) // 2 :]
    return Halves(proba[first], y[first], proba[second], y[second])


def cell(halves: Halves, method: str, coverage: float, seed: int) -> dict[str, Any]:
    """Coverage and size; for Mondrian sets the counts of every class, where all have the rows."""
    mondrian = method == "mondrian"
    least = math.ceil(coverage / (1.0 - coverage) - 1e-9)
    counts = np.bincount(halves.y, minlength=halves.proba.shape[1])
    if mondrian and counts.min() < least:
        return {"skipped": f"a class has {counts.min()} calibration rows, fewer than {least}"}
    kind: Any = "lac" if mondrian else method
    fitted = ConformalSets(coverage, method=kind, class_conditional=mondrian, seed=seed)
    inside = fitted.fit(halves.proba, halves.y).sets(halves.proba_new)
    covered = inside[np.arange(len(halves.y_new)), halves.y_new]
    groups = halves.y_new if mondrian else np.zeros(len(covered), dtype=np.int64)
    return {
        "coverage": float(covered.mean()),
        "size": float(inside.sum(axis=1).mean()),
        "mapie": None if mondrian else mapie_size(halves, method, coverage, seed),
        # Of each group of rows to which the law applies: calibration rows, judged rows, covered.
        "groups": [
            [int(counts[g] if mondrian else counts.sum()), int(at.sum()), int(covered[at].sum())]
            for g in np.unique(groups)
            for at in [groups == g]
        ],
        "asked": coverage,
    }


def judge(lines: list[dict[str, Any]]) -> None:
    """Says of every cell whether its coverage is below, within or above its band."""
    laws = sum(len(line.get("groups", [])) for line in lines)
    for line in lines:
        if "groups" in line:
            verdicts = {side(*group, line["asked"], CHANCE / laws) for group in line["groups"]}
            line["verdict"] = next((v for v in ("below", "above") if v in verdicts), "within")


def side(n: int, m: int, covered: int, coverage: float, chance: float) -> str:
    """Where `covered` of m rows lie in the law after n calibration rows."""
    place = math.ceil((n + 1) * coverage - 1e-9)
    law = betabinom(m, place, n + 1 - place)
    if law.cdf(covered) < chance / 2:
        return "below"
    return "above" if law.sf(covered - 1) < chance / 2 else "within"


def summary(lines: list[dict[str, Any]], method: str) -> list[Any]:
    cells = [line for line in lines if line["method"] == method and "groups" in line]
    if not cells:
        return [method, 0, *[None] * (len(COLUMNS) - 2)]
    pairs = [(c["size"], c["mapie"]) for c in cells if c["mapie"] is not None]
    theirs = float(np.mean([b for _, b in pairs])) if pairs else None
    return [
        method,
        len(cells),
        sum(c["verdict"] == "below" for c in cells),
        sum(c["verdict"] == "above" for c in cells),
        float(np.mean([c["coverage"] for c in cells])),
        float(np.mean([c["size"] for c in cells])),
        theirs,
        f"{sum(a <= b + 1e-12 for a, b in pairs)} of {len(pairs)}" if pairs else None,
    ]


class _Known(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """A classifier whose rows are their probabilities, so that MAPIE sees the same ones."""

    def fit(self, X: Array, y: Any = None) -> "_Known":
        self.classes_ = np.arange(X.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: Array) -> Array:
        return np.asarray(X)

    def predict(self, X: Array) -> NDArray[np.intp]:
        return np.asarray(X).argmax(axis=1)


def mapie_size(halves: Halves, method: str, coverage: float, seed: int) -> float | None:
    """The mean size of MAPIE's sets; None where it is not installed or gives up."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SplitConformalClassifier(
            _Known().fit(halves.proba),
            confidence_level=coverage,
            conformity_score=method,
            prefit=True,
            random_state=seed,
        )
        try:
            _, sets = model.conformalize(halves.proba, halves.y).predict_set(halves.proba_new)
        except ValueError:  # RAPS tunes itself on a fifth of the rows, which can be too few
            return None
    return float(sets[:, :, 0].sum(axis=1).mean())

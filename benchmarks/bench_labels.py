"""Several labels per row: MULAN's sets with their splits, of EDGEWISE_DATA/labels.

MultiLabelBoostClassifier as it is and with `decision="half"`, beside LightGBM and XGBoost with a
model for every label and scikit-learn's histogram boosting in MultiOutputClassifier and
ClassifierChain, all with their own defaults: micro-F1, macro-F1, Hamming loss, the log loss of a
label, and seconds of the fit. "hindsight" is the micro-F1 with the common threshold that is best
on the test rows: what no rule for the labels could have known. Wanted: ahead by micro-F1 on four of
six sets, and on delicious a tenth of the rivals' time.

`--peer-labels N` fits rivals of sets with more labels to N of them, drawn evenly, and scales their
seconds; they have no scores there. Labels that no training row has are left out.
"""

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import f1_score, hamming_loss
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier

import edgewise

from . import report
from .datasets import DataSetMissingError

NAME = "labels"
SETS = ("emotions", "scene", "yeast", "enron", "bibtex", "delicious")
METHODS = ("edgewise", "lightgbm", "xgboost", "hgb", "chain")
SCORES = ("micro_f1", "macro_f1", "hamming", "log_loss", "hindsight")
QUICK = {"data_sets": ["emotions"], "methods": ["edgewise", "lightgbm"]}
Matrix = NDArray[Any]


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--peer-labels", type=int, default=40)


def run(args: Namespace) -> None:
    """A line per set and method; lines of an earlier run for other sets and methods are kept."""
    kept = {(line["set"], line["method"]): line for line in report.saved(NAME, quick=args.quick)}
    for name in args.data_sets or SETS:
        X, Y, X_test, Y_test = read(name)
        for method in args.methods:
            for line in measured(method, (X, Y, X_test, Y_test), args):
                kept[name, line["method"]] = {"set": name, "labels": Y.shape[1], **line}
            report.save(NAME, vars(args), list(kept.values()), quick=args.quick)
    columns = ["set", "method", *SCORES, "seconds", "cpu_seconds", "fitted_labels"]
    rows = [[line.get(column, "") for column in columns] for line in kept.values()]
    report.print_table("several labels per row", columns, rows)


def read(name: str) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """X and Y for training and for the test."""
    path = Path(os.environ.get("EDGEWISE_DATA", "")) / "labels" / f"{name}.npz"
    if not path.is_file():
        raise DataSetMissingError(f"the labels of {name}: set EDGEWISE_DATA to their folder")
    with np.load(path) as stored:
        parts = [
            sparse.csr_matrix(
                (stored[f"{part}_data"], stored[f"{part}_indices"], stored[f"{part}_indptr"]),
                shape=stored[f"{part}_shape"],
            ).toarray()
            for part in ("X_train", "Y_train", "X_test", "Y_test")
        ]
    X, Y, X_test, Y_test = parts
    known = Y.any(axis=0)
    return (
        X.astype(np.float32),
        Y[:, known].astype(int),
        X_test.astype(np.float32),
        Y_test[:, known].astype(int),
    )


def measured(method: str, data: tuple[Matrix, ...], args: Namespace) -> list[dict[str, Any]]:
    """Scores and seconds of a method; of ours a second time with labels above one half."""
    X, Y, X_test, Y_test = data
    n_labels = Y.shape[1]
    fitted = n_labels if method == "edgewise" else min(n_labels, args.peer_labels)
    some = np.linspace(0, n_labels - 1, fitted).astype(int)
    begin, cpu = time.perf_counter(), time.process_time()
    proba_of, decide = PREDICTORS[method](X, Y[:, some], args.threads)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    line = {
        "method": method,
        "seconds": seconds * n_labels / fitted,
        "cpu_seconds": cpu * n_labels / fitted,
        "fitted_labels": fitted,
    }
    if fitted < n_labels:
        return [line]
    proba = proba_of(X_test)
    lines = [line | scores_of(Y_test, proba, decide(X_test))]
    if method == "edgewise":
        lines.append(line | scores_of(Y_test, proba, proba > 0.5) | {"method": "edgewise half"})
    return lines


def scores_of(Y: Matrix, proba: Matrix, labels: Matrix) -> dict[str, float]:
    p = np.clip(proba, 1e-15, 1 - 1e-15)
    order = np.argsort(-proba.ravel(), kind="stable")
    right = np.cumsum(Y.ravel()[order])
    return {
        "micro_f1": float(f1_score(Y, labels, average="micro", zero_division=0)),
        "macro_f1": float(f1_score(Y, labels, average="macro", zero_division=0)),
        "hamming": float(hamming_loss(Y, labels)),
        "log_loss": float(-np.log(np.where(Y, p, 1 - p)).mean()),
        "hindsight": float((2 * right / (np.arange(1, Y.size + 1) + Y.sum())).max()),
    }


# --- methods: fitted, what gives probabilities and what gives labels ------------------------------

Predictor = tuple[Callable[[Matrix], Matrix], Callable[[Matrix], Matrix]]


def ours(X: Matrix, Y: Matrix, threads: int) -> Predictor:
    model = edgewise.MultiLabelBoostClassifier(n_jobs=threads).fit(X, Y)
    return model.predict_proba, model.predict


def one_per_label(make: Callable[[], Any]) -> Callable[[Matrix, Matrix, int], Predictor]:
    def fit(X: Matrix, Y: Matrix, threads: int) -> Predictor:
        models = [make().set_params(n_jobs=threads).fit(X, y) for y in Y.T]

        def proba(X_test: Matrix) -> Matrix:
            return np.column_stack([model.predict_proba(X_test)[:, 1] for model in models])

        return proba, lambda X_test: proba(X_test) > 0.5

    return fit


def lightgbm() -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(verbose=-1)


def xgboost() -> Any:
    import xgboost

    return xgboost.XGBClassifier()


def hgb(X: Matrix, Y: Matrix, threads: int) -> Predictor:
    model = MultiOutputClassifier(HistGradientBoostingClassifier()).fit(X, Y)

    def proba(X_test: Matrix) -> Matrix:
        return np.column_stack([of_label[:, -1] for of_label in model.predict_proba(X_test)])

    return proba, model.predict


def chain(X: Matrix, Y: Matrix, threads: int) -> Predictor:
    model = ClassifierChain(HistGradientBoostingClassifier()).fit(X, Y)
    return model.predict_proba, model.predict


PREDICTORS = {
    "edgewise": ours,
    "lightgbm": one_per_label(lightgbm),
    "xgboost": one_per_label(xgboost),
    "hgb": hgb,
    "chain": chain,
}

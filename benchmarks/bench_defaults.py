"""Defaults of single fits: rounds, early stopping, and what they cost against a fixed number.

`--parts rounds`: AOSO with its defaults on every table of the field, cut to `--max-rows` rows, of
which 70 % are for training. Its log loss beside that of the best of 500 rounds, chosen on the test
rows themselves, and of all 500. Wanted: at most 1.1 of the best, the median over the seeds.
`--parts classic`: the same on digits, Pendigits and Letter, beside the defaults before (500 rounds,
leaves of 20 rows). Wanted: error and log loss at most 1.02 of those.
`--parts votes`: AdaBoost.MH with early stopping beside all of its rounds: Hamming loss on emotions,
yeast and scene, the error on digits. Wanted: at most 1.05.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from edgewise import AdaBoostMHClassifier, AOSOLogitBoostClassifier
from edgewise.metrics import log_loss

from . import report
from .datasets import DataSetMissingError, load
from .field.tables import check_names, load_split, table_names

NAME = "defaults"
QUICK = {"max_rows": 300, "seeds": 1, "data_sets": ["pmlb_yeast"], "sets": ["digits"]}
ROUNDS = 500
BEFORE = {"n_estimators": ROUNDS, "min_samples_leaf": 20}
PARTS = ["rounds", "classic", "votes"]
MANY_LABELS = ["emotions", "yeast", "scene"]


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(max_rows=8000)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", type=int, default=3, help="splits of each set")
    parser.add_argument("--sets", nargs="+", help="of the parts classic and votes: only these")


def run(args: Namespace) -> None:
    """The parts asked for."""
    parts: dict[str, Callable[[Namespace], list[list[Any]]]] = {
        "rounds": _rounds,
        "classic": _classic,
        "votes": _votes,
    }
    columns = {
        "rounds": ["table", "rounds", "log loss", "over the best round's", "500 rounds', over it"],
        "classic": ["set", "rounds", "error %", "over before", "log loss", "over before"],
        "votes": ["set", "rounds", "loss", "over all rounds'"],
    }
    results = {}
    for part in args.parts:
        lines = parts[part](args)
        results[part] = [dict(enumerate(line)) for line in lines]
        report.print_table(part, columns[part], lines)
    report.save(NAME, vars(args), results, quick=args.quick)


def _rounds(args: Namespace) -> list[list[Any]]:
    """Medians over the seeds, the worst table first."""
    names = args.data_sets or table_names()
    check_names(names)
    lines = []
    for name in names:
        figures = [_beside_best_round(name, seed, args) for seed in range(args.seeds)]
        lines.append([name, *(median(column) for column in zip(*figures, strict=True))])
    lines.sort(key=lambda line: -line[3])
    above = [line[0] for line in lines if line[3] > 1.1]
    report.note(f"{len(above)} of {len(lines)} tables above 1.1: {', '.join(above) or 'none'}")
    return lines


def _beside_best_round(name: str, seed: int, args: Namespace) -> tuple[float, ...]:
    X, X_test, y, y_test = load_split(name, seed, args.max_rows)
    make = partial(AOSOLogitBoostClassifier, n_jobs=args.threads, **args.param)
    model = make().fit(X, y)
    watched = {"X_val": X_test, "y_val": y_test}
    curve = make(n_estimators=ROUNDS, n_iter_no_change=ROUNDS).fit(X, y, **watched)
    losses = -curve.history_["validation_score"]
    loss, best = log_loss(y_test, model.predict_proba(X_test)), losses.min()
    return model.n_iter_, loss, loss / best, losses[-1] / best


def _classic(args: Namespace) -> list[list[Any]]:
    lines = []
    for name, splits in _classic_sets(args):
        figures = []
        for X, X_test, y, y_test in splits:
            make = partial(AOSOLogitBoostClassifier, n_jobs=args.threads, **args.param)
            model, before = make().fit(X, y), make(**BEFORE).fit(X, y)
            error, loss = _judged(model, X_test, y_test)
            error_before, loss_before = _judged(before, X_test, y_test)
            figures.append((model.n_iter_, error, error_before, loss, loss_before))
        rounds, *means = (float(np.mean(column)) for column in zip(*figures, strict=True))
        lines.append([name, rounds, 100 * means[0], means[0] / means[1], means[2]])
        lines[-1].append(means[2] / means[3])
    return lines


def _classic_sets(args: Namespace) -> Iterator[tuple[str, list[Any]]]:
    for name in args.sets or ["digits", "pendigits", "letter"]:
        if name == "digits":
            yield name, [_digits(seed) for seed in range(args.seeds)]
        elif name in ("pendigits", "letter"):
            data = load(name)
            yield name, [(data.X_train, data.X_test, data.y_train, data.y_test)]


def _judged(model: Any, X: Any, y: Any) -> tuple[float, float]:
    proba = model.predict_proba(X)
    said = model.classes_[proba.argmax(axis=1)]
    return float(np.mean(said != y)), log_loss(y, proba, classes=model.classes_)


def _votes(args: Namespace) -> list[list[Any]]:
    lines = []
    for name in args.sets or [*MANY_LABELS, "digits"]:
        figures = []
        for seed in range(args.seeds):
            X, X_test, y, y_test = _digits(seed) if name == "digits" else _labels(name, seed)
            make = partial(AdaBoostMHClassifier, n_jobs=args.threads)
            model, all_rounds = make(early_stopping=True).fit(X, y), make().fit(X, y)
            losses = [np.mean(m.predict(X_test) != y_test) for m in (model, all_rounds)]
            figures.append((model.n_iter_, *losses))
        rounds, loss, loss_of_all = (float(np.mean(c)) for c in zip(*figures, strict=True))
        lines.append([name, rounds, loss, loss / loss_of_all])
    return lines


def _digits(seed: int) -> list[Any]:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    return [X, X_test, y, y_test]


def _labels(name: str, seed: int) -> list[Any]:
    """A set of `EDGEWISE_DATA/labels`: its own split for seed 0, others of the same size."""
    path = Path(os.environ.get("EDGEWISE_DATA", "")) / "labels" / f"{name}.npz"
    if not path.exists():
        raise DataSetMissingError(f"there is no {path.name} in the folder labels of EDGEWISE_DATA")
    with np.load(path) as stored:
        X, Y, X_test, Y_test = (
            csr_matrix(
                tuple(stored[f"{part}_{of}"] for of in ("data", "indices", "indptr")),
                shape=stored[f"{part}_shape"],
            ).toarray()
            for part in ("X_train", "Y_train", "X_test", "Y_test")
        )
    Y, Y_test = Y.astype(int), Y_test.astype(int)
    if seed == 0:
        return [X, X_test, Y, Y_test]
    X_all, Y_all = np.concatenate([X, X_test]), np.concatenate([Y, Y_test])
    X, X_test, Y, Y_test = train_test_split(X_all, Y_all, test_size=len(X_test), random_state=seed)
    return [X, X_test, Y, Y_test]

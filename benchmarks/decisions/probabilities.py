"""Probabilities of AutoBoost for a split of a table: what all parts on tables start from."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import edgewise

from ..field.tables import check_names, load_split, table_names

Array = NDArray[np.float64]


class Answers(NamedTuple):
    """Out-of-fold probabilities of the training rows, and those of test rows; labels 0..K-1."""

    held_out: Array
    y: NDArray[np.int64]
    proba: Array
    y_test: NDArray[np.int64]


@cache
def answers(table: str, seed: int, max_rows: int, effort: str, threads: int) -> Answers:
    split = load_split(table, seed, max_rows)
    model = edgewise.AutoBoostClassifier(effort=effort, n_jobs=threads)
    model.fit(split.X_train, split.y_train)
    return Answers(model.oof_proba_, split.y_train, model.predict_proba(split.X_test), split.y_test)


def chosen(names: list[str] | None) -> list[str]:
    """The tables asked for; all of them where none are."""
    check_names(names or [])
    return names or table_names()


def evenness(table: str, max_rows: int) -> float:
    """The entropy of the class frequencies over its largest value: 1 where all are equal."""
    split = load_split(table, 0, max_rows)
    counts = np.bincount(np.concatenate([split.y_train, split.y_test]))
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(shares)))


def most_imbalanced(names: list[str], count: int, max_rows: int) -> list[str]:
    """The tables of least evenness, the least first."""
    return sorted(names, key=lambda name: evenness(name, max_rows))[:count]

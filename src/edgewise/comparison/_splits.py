"""Splits into training rows and test rows."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from .._ground.errors import InvalidDataError

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Split:
    """One fold of one repeat."""

    repeat: int
    fold: int
    train: Rows
    test: Rows


def cross_validation(
    codes: NDArray[Any], labels: NDArray[Any], folds: int, repeats: int, seed: int
) -> tuple[list[Split], list[str]]:
    """Stratified folds, shuffled again in every repeat; and notes on classes that are too rare.

    A class of one row stays in training; otherwise it could not be learned. Classes with fewer
    rows than folds are tested in as many folds as they have rows. There are at most as many folds
    as the largest class has rows.
    """
    counts = np.bincount(codes, minlength=len(labels))
    if counts.max() < 2:
        raise InvalidDataError(
            "Every class has one row only: nothing can be held out to test on. Give a test file, "
            "or more rows."
        )
    n_folds = min(folds, int(counts.max()))
    rare = counts[codes] == 1
    always, dealt = np.flatnonzero(rare), np.flatnonzero(~rare)
    splits = [
        Split(repeat, fold, np.sort(np.concatenate([always, dealt[train]])), dealt[test])
        for repeat in range(repeats)
        for fold, (train, test) in enumerate(_folds(codes[dealt], n_folds, seed + repeat))
    ]
    return splits, _notes(counts, labels, folds, n_folds)


def _folds(codes: NDArray[Any], n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    dealer = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")  # told in the notes
        return list(dealer.split(np.zeros(len(codes)), codes))


def _notes(counts: NDArray[Any], labels: NDArray[Any], folds: int, n_folds: int) -> list[str]:
    notes = []
    if n_folds < folds:
        notes.append(f"{n_folds} folds instead of {folds}: no class has more rows than that")
    single = labels[counts == 1]
    if len(single):
        notes.append(f"{_with_rows(single, 'a single row')}: always trained on, never tested")
    few = labels[(counts > 1) & (counts < n_folds)]
    if len(few):
        notes.append(f"{_with_rows(few, 'fewer rows than folds')}: tested in some folds only")
    return notes


def _with_rows(labels: NDArray[Any], rows: str) -> str:
    shown = ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")
    if len(labels) == 1:
        return f"class {shown} has {rows}"
    return f"classes {shown} have {rows} each"

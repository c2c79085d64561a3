"""The papers' data sets, from a folder of original splits, from OpenML, or a substitute.

A folder (``--data-dir`` or the environment variable EDGEWISE_DATA) holds NAME.npz with X_train,
y_train, X_test and y_test, labels 0..K-1; some also X and y, all rows in their own order. `NAME@n`
uses the first n of these for training and the rest for testing, `NAME@-n` the last n; `NAME~`
exchanges the two parts.
"""

import hashlib
import os
import re
import socket
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FOLDER = "EDGEWISE_DATA"


class Split(NamedTuple):
    """One data set, cut into a training and a test part."""

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]


class DataSetMissingError(LookupError):
    """A requested data set was not found."""


class _OpenML(NamedTuple):
    """A set that OpenML holds with the training rows first."""

    number: int
    n_train: int
    test_counts: tuple[int, ...]  # rows of each class in the original test part


_OPENML = {
    "letter": _OpenML(
        6,
        16000,
        (156, 136, 142, 167, 152, 153, 164, 151, 165, 148, 146, 157, 144)
        + (166, 139, 168, 168, 161, 161, 151, 168, 136, 139, 159, 145, 158),
    ),
    "pendigits": _OpenML(32, 7494, (363, 364, 364, 336, 364, 335, 336, 364, 336, 336)),
    "optdigits": _OpenML(28, 3823, (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)),
    "isolet": _OpenML(300, 6238, (60,) * 12 + (59,) + (60,) * 13),
    "mnist": _OpenML(554, 60000, (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)),
    "dna": _OpenML(40670, 2000, (303, 280, 603)),
}
_OPENML_HOST = ("www.openml.org", 443)

# At small scale, data sets of scikit-learn replace missing originals.
STAND_INS = {
    "letter": "digits",
    "pendigits": "digits",
    "optdigits": "digits",
    "isolet": "digits",
    "usps": "digits",
    "mnist": "digits",
    "covertype": "wine",
    "satimage": "wine",
    "segment": "iris",
    "vowel": "wine",
    "dna": "wine",
    "splice": "breast_cancer",
}
CARRIED = ("breast_cancer", "digits", "iris", "wine")


def load(name: str, *, folder: str | None = None, network: bool = True) -> Split:
    """A data set by its name, from the folder or else from OpenML."""
    if name.endswith("~"):
        return exchanged(load(name.removesuffix("~"), folder=folder, network=network))
    plain, n = _parts(name)
    if has_file(plain, folder):
        return original(plain, folder) if n is None else first_rows(plain, n, folder)
    if network and plain in _OPENML and _reachable():
        return _from_openml(plain, n)
    hint = f"no {plain}.npz in the data folder" if _folder(folder) else f"{FOLDER} is not set"
    online = "OpenML cannot be reached" if plain in _OPENML else "OpenML has no original split"
    raise DataSetMissingError(f"data set {plain!r}: {hint}, and {online}")


def _parts(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+)@(-?\d+)", name)
    return (match[1], int(match[2])) if match else (name, None)


def stand_in(name: str) -> str | None:
    """The name of the substitute for `name`, if there is one."""
    return STAND_INS.get(_parts(name.removesuffix("~"))[0])


def has_file(name: str, folder: str | None = None) -> bool:
    found = _folder(folder)
    return found is not None and (found / f"{name}.npz").is_file()


def _folder(folder: str | None) -> Path | None:
    given = folder or os.environ.get(FOLDER)
    return Path(given) if given else None


def original(name: str, folder: str | None = None) -> Split:
    """The original split, from the folder."""
    arrays = _arrays(name, folder, ("X_train", "y_train", "X_test", "y_test"))
    return Split(
        _features(arrays["X_train"]),
        arrays["y_train"].astype(np.int64),
        _features(arrays["X_test"]),
        arrays["y_test"].astype(np.int64),
    )


def first_rows(name: str, n: int, folder: str | None = None) -> Split:
    """The first n rows (or the last -n) and the rest, of a file with all rows in their order."""
    arrays = _arrays(name, folder, ("X", "y"))
    return _parted(name, _features(arrays["X"]), arrays["y"].astype(np.int64), n)


def _parted(name: str, X: NDArray[np.float32], y: NDArray[np.int64], n: int) -> Split:
    if not 0 < abs(n) < len(y):
        raise DataSetMissingError(f"data set '{name}@{n}': there are only {len(y)} rows")
    if n < 0:
        return Split(X[n:], y[n:], X[:n], y[:n])
    return Split(X[:n], y[:n], X[n:], y[n:])


def _arrays(name: str, folder: str | None, wanted: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The arrays of NAME.npz; an unreadable file counts as missing."""
    path = _file(name, folder)
    try:
        with np.load(path) as file:
            return {key: file[key] for key in wanted}
    except KeyError as missing:
        raise DataSetMissingError(f"data set {name!r}: {path.name} has no {missing}") from None
    except (OSError, ValueError, EOFError) as error:
        raise DataSetMissingError(
            f"data set {name!r}: {path.name} cannot be read: {error}"
        ) from None


def _file(name: str, folder: str | None) -> Path:
    where = _folder(folder)
    if where is None:
        raise DataSetMissingError(
            f"data set {name!r}: set {FOLDER} (or --data-dir) to the folder that holds {name}.npz"
        )
    path = where / f"{name}.npz"
    if not path.is_file():
        there = ", ".join(sorted(file.stem for file in where.glob("*.npz")))
        raise DataSetMissingError(
            f"data set {name!r}: no {path.name} in the data folder; it holds: "
            f"{there or 'no .npz file at all'}"
        )
    return path


def _features(X: NDArray[Any]) -> NDArray[np.float32]:
    return np.ascontiguousarray(X, dtype=np.float32)


def exchanged(split: Split) -> Split:
    """The split with training and test part exchanged (Li's Mnist10k)."""
    return Split(split.X_test, split.y_test, split.X_train, split.y_train)


@lru_cache(maxsize=1)
def _reachable() -> bool:
    try:
        socket.create_connection(_OPENML_HOST, timeout=3).close()
    except OSError:
        return False
    return True


def _from_openml(name: str, n: int | None) -> Split:
    from sklearn.datasets import fetch_openml  # noqa: PLC0415 - slow, and seldom needed

    source = _OPENML[name]
    try:
        X, labels = fetch_openml(data_id=source.number, return_X_y=True, as_frame=False)
    except (OSError, ValueError) as error:
        raise DataSetMissingError(f"data set {name!r}: OpenML failed: {error}") from None
    X, y = _features(X), np.unique(labels, return_inverse=True)[1].astype(np.int64)
    if tuple(np.bincount(y[source.n_train :])) != source.test_counts:
        raise DataSetMissingError(
            f"data set {name!r}: OpenML's copy is not in the order of the original split"
        )
    return _parted(name, X, y, source.n_train if n is None else n)


def carried(name: str, seed: int = 0) -> Split:
    """A data set of scikit-learn, with a quarter of each class for testing."""
    import sklearn.datasets  # noqa: PLC0415 - as above

    if name not in CARRIED:
        raise DataSetMissingError(
            f"data set {name!r}: scikit-learn's here are {', '.join(CARRIED)}"
        )
    X, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return cut(_features(X), y.astype(np.int64), seed)


def cut(X: NDArray[np.float32], y: NDArray[np.int64], seed: int) -> Split:
    """A seeded stratified split with a quarter for the test."""
    from sklearn.model_selection import train_test_split  # noqa: PLC0415 - as above

    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=seed
    )
    return Split(X_train, y_train, X_test, y_test)


def thin(split: Split, max_rows: int) -> Split:
    """At most `max_rows` rows in each part; a class that training loses is not tested."""
    train = _some_rows(len(split.y_train), max_rows)
    test = _some_rows(len(split.y_test), max_rows)
    classes, y_train = np.unique(split.y_train[train], return_inverse=True)
    test = test[np.isin(split.y_test[test], classes)]
    y_test = np.searchsorted(classes, split.y_test[test])
    return Split(split.X_train[train], y_train, split.X_test[test], y_test)


def _some_rows(n: int, max_rows: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(n)[:max_rows])


def digest(split: Split) -> str:
    """SHA-256 of the arrays, their types and shapes, shortened to 16 hexadecimal digits."""
    state = hashlib.sha256()
    arrays: tuple[NDArray[Any], ...] = split
    for name, array in zip(Split._fields, arrays, strict=True):
        state.update(f"{name} {array.dtype.str} {array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()[:16]

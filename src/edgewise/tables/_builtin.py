"""Built-in sets: scikit-learn's small ones, and the papers' in the folder of EDGEWISE_DATA.

`digits` is a set of scikit-learn. `letter` is the training part of letter.npz in that folder, which
holds X_train, y_train, X_test, y_test; `letter:test` is its test part.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

SMALL = ("digits", "iris", "wine", "breast_cancer")
TARGET = "target"


def names() -> list[str]:
    """All built-in sets that are here."""
    return [*SMALL, *sorted(path.stem for path in _folder_files())]


def has(name: str) -> bool:
    stem = name.removesuffix(":test")
    return stem in names() and (name == stem or stem not in SMALL)


def has_test_part(name: str) -> bool:
    """Tell whether a built-in set has a separate test part.

    Parameters
    ----------
    name : str
        Name of the set.

    Returns
    -------
    bool

    Examples
    --------
    >>> from edgewise.tables import has_test_part
    >>> has_test_part("iris")
    False
    """
    return has(name) and has(f"{name}:test")


def load(name: str) -> Any:
    """The columns of a set that is here, the target last."""
    return _small(name) if _is_small(name) else _paper(name)


def _is_small(name: str) -> bool:
    return name.removesuffix(":test") in SMALL


def _small(name: str) -> Any:
    import sklearn.datasets  # noqa: PLC0415 - slow to load

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    labels = bunch.target if name == "digits" else np.asarray(bunch.target_names)[bunch.target]
    return _table(bunch.data, [str(n) for n in bunch.feature_names], labels)


def _paper(name: str) -> Any:
    stem, _, part = name.partition(":")
    path = next(file for file in _folder_files() if file.stem == stem)
    with np.load(path) as arrays:
        X, y = arrays[f"X_{part or 'train'}"], arrays[f"y_{part or 'train'}"]
    return _table(X, [f"x{j}" for j in range(X.shape[1])], y)


def _table(X: Any, columns: list[str], y: Any) -> Any:
    data = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(columns)}
    return pa.table({**data, TARGET: y})


def _folder_files() -> list[Path]:
    folder = os.environ.get("EDGEWISE_DATA")
    return list(Path(folder).glob("*.npz")) if folder else []

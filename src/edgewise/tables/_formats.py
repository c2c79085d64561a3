"""Parquet, ARFF and svmlight files, each by the library that knows it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from .._ground.checks import MOST_FEATURES
from .._ground.errors import InvalidDataError


def read_parquet(path: Path) -> Any:
    import pyarrow.parquet as pq  # noqa: PLC0415 - slow to load

    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidDataError(f"{path} cannot be read as Parquet: {_first_line(error)}") from None


def read_arff(path: Path) -> Any:
    """Nominal attributes as text with null for '?', numeric ones with NaN for it."""
    from scipy.io import arff  # noqa: PLC0415 - slow to load

    try:
        with path.open(encoding="utf-8") as stream:
            rows, about = arff.loadarff(stream)
    except (arff.ArffError, ValueError, NotImplementedError, StopIteration, IndexError) as error:
        raise InvalidDataError(f"{path} cannot be read as ARFF: {_first_line(error)}") from None
    if not about.names():
        raise InvalidDataError(f"{path} cannot be read as ARFF: it declares no attributes.")
    columns = {}
    for name, kind in zip(about.names(), about.types(), strict=True):
        values = np.atleast_1d(rows)[name]
        columns[name] = _words(values) if kind == "nominal" else pa.array(values)
    return pa.table(columns)


def read_svmlight(path: Path) -> tuple[Any, Any]:
    """X (sparse), with a column for number 0, and labels; whole numbers become integers."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 - slow to load

    try:
        X, y = load_svmlight_file(str(path), zero_based=True)
    except (ValueError, OSError, OverflowError) as error:
        raise InvalidDataError(f"{path} cannot be read as svmlight: {_first_line(error)}") from None
    if len(y) == 0:
        raise InvalidDataError(f"{path} is empty.")
    if X.shape[1] > MOST_FEATURES:
        raise InvalidDataError(
            f"{path} may have at most {MOST_FEATURES} columns. Got the column {X.shape[1] - 1}."
        )
    return _narrow(csr_array(X)), y.astype(np.int64) if np.all(y == np.round(y)) else y


def _narrow(X: Any) -> Any:
    """Places as 32-bit numbers where they fit, which some libraries insist on."""
    if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _words(values: Any) -> Any:
    words = [value.decode("utf-8", errors="replace") for value in values]
    return pa.array([None if word == "?" else word for word in words], pa.string())


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return re.sub(r"\s+", " ", lines[0]) if lines else type(error).__name__

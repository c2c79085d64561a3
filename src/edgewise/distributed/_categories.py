"""Columns of text and categories in blocks of data frames: their values become numbers.

One pass over the blocks finds the values, and the tables of a local fit follow from their union.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data import coding, features, frames
from .._ground.errors import InvalidDataError
from ._backend import Backend
from ._facts import Raw

Found = dict[int, "frames.Values"]  # by column


def coded(estimator: Any, backend: Backend, parts: Any, columns: Sequence[int]) -> Any:
    """Parts whose X holds numbers; `columns` are those that may hold something else.

    The estimator learns which columns are categories, and the values of those.
    """
    continues = estimator.warm_start and hasattr(estimator, "model_")
    known = estimator.categories_ if continues else None
    if not columns:
        _need_no_tables(known)
        return parts
    found: Found = backend.sum(_values, parts, list(columns), add=_union)
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    of_columns = [
        found.get(j, frames.Values(name, np.empty(0), is_categories=False))
        for j, name in enumerate(names)
    ]
    features.learn_categories(estimator, of_columns, known)
    return backend.derived(_by_tables, parts, [estimator.categories_] * len(parts))


def _need_no_tables(known: dict[int, NDArray[Any]] | None) -> None:
    if known:
        raise InvalidDataError(
            f"Columns {', '.join(map(str, known))} of X held text or categories in the fit that is "
            "continued, and must hold them again. Got numbers."
        )


def _values(raw: Raw, columns: list[int]) -> Found:
    """The distinct values of some columns of a part."""
    parts = frames.columns(raw.X)
    return {j: coding.values_of(parts[j]) for j in columns}


def _union(a: Found, b: Found) -> Found:
    return {j: a[j].joined(b[j]) for j in a}


def _by_tables(raw: Raw, tables: dict[int, NDArray[Any]]) -> Raw:
    return raw._replace(X=coding.filled(frames.columns(raw.X), tables, {}, {}))

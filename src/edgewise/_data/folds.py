"""Folds for cross-fitting that depend on the content of the rows, not on their order.

Rows are ordered by a hash of their values, a shuffle that needs no random state, and dealt out
class by class. Equal examples share a fold. So the folds are the same for any order of the rows,
and a row of weight two is equivalent to two rows.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from .._ground.errors import InvalidDataError
from . import frames
from .chance import Keys, bits, mixed
from .sparse import sound

Split = tuple[NDArray[np.intp], NDArray[np.intp]]  # training rows, held-out rows


def content_folds(X: Any, codes: NDArray[Any], n_folds: int) -> list[Split]:
    """Splits of rows X with class codes (n,) into training and held-out rows.

    A class with one distinct row keeps it in training; otherwise it could not be learned.
    """
    fold = _fold_of_rows(_row_hashes(X), codes, n_folds)
    if (fold < 0).all():
        raise InvalidDataError(
            "Cross-fitting holds rows out, so at least one class needs two distinct rows. Every "
            "class has only one; give cv='prefit' or other data."
        )
    held = (np.flatnonzero(fold == f) for f in range(n_folds))
    return [(np.flatnonzero(fold != fold[rows[0]]), rows) for rows in held if len(rows)]


def content_order(X: Any) -> NDArray[np.intp]:
    """The order of rows X by a hash of their values, the same whatever order they come in."""
    return np.argsort(_row_hashes(X), kind="stable")


def _fold_of_rows(hashes: Keys, codes: NDArray[Any], n_folds: int) -> NDArray[np.intp]:
    """The fold in which each row is held out, or -1."""
    fold = np.full(len(codes), -1)
    dealt = 0
    for k in np.unique(codes):
        rows = np.flatnonzero(codes == k)
        distinct, place = np.unique(hashes[rows], return_inverse=True)
        if len(distinct) > 1:
            fold[rows] = (place + dealt) % n_folds
            dealt += len(distinct)
    return fold


def _row_hashes(X: Any) -> Keys:
    """One number of 64 bits for each row; equal rows have equal ones."""
    if issparse(X):
        return _sparse_hashes(sound(X).copy())
    total: Keys | None = None
    for column in _columns(X):
        values = _column_hashes(column)
        total = values if total is None else mixed(total ^ values)
    if total is None:
        raise InvalidDataError(
            f"Found X with 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required."
        )
    return total


def _columns(X: Any) -> Iterator[NDArray[Any]]:
    if frames.is_frame(X):
        frames.need_distinct_names(X)
    if hasattr(X, "columns"):  # a data frame: every column has its own type
        for name in getattr(X, "column_names", X.columns):  # of Arrow, or of others
            yield np.asarray(X[name])
        return
    array = np.asarray(X)
    yield from array.reshape(len(array), -1).T if array.ndim != 1 else [array]


def _column_hashes(column: NDArray[Any]) -> Keys:
    if column.dtype.kind in "fiub":
        return mixed(bits(column))
    words, place = np.unique(_as_text(column), return_inverse=True)
    encoded = [str(word).encode(errors="surrogatepass") for word in words]
    digests = [hashlib.blake2b(word, digest_size=8).digest() for word in encoded]
    return np.frombuffer(b"".join(digests), dtype=np.uint64)[place]


def _as_text(column: NDArray[Any]) -> NDArray[Any]:
    """Values that are not numbers, as strings without padding."""
    if column.dtype.kind != "O":
        with contextlib.suppress(ValueError, TypeError):  # bytes, structures
            return column.astype(str)
    return frames.strings([str(value) for value in column.tolist()])


def _sparse_hashes(X: Any) -> Keys:
    """Sums over the entries that are not zero, so that their order does not matter."""
    X.sum_duplicates()
    X.eliminate_zeros()
    places = mixed(X.indices.astype(np.uint64))
    sums = np.concatenate([[np.uint64(0)], np.cumsum(mixed(mixed(bits(X.data)) ^ places))])
    return mixed(sums[X.indptr[1:]] - sums[X.indptr[:-1]])

"""SciPy's sparse matrices and arrays as the core reads them: row by row, never made dense."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .._ground.errors import InvalidDataError
from .chance import Keys, entry_keys

MOST_COLUMNS = 2**31 - 1  # columns of entries are integers of 32 bits


def sound(X: Any, name: str = "X") -> Any:
    """Return a SciPy matrix in CSR form with valid indices, or raise one clear error.

    SciPy trusts the indices, and their owner may change them at any time, so they are copied first
    and then checked. The values are not copied.
    """
    if X.ndim != 2 or X.shape[1] > MOST_COLUMNS:
        raise InvalidDataError(
            f"{name} must have two dimensions and at most {MOST_COLUMNS} columns. Got a sparse "
            f"matrix of shape {X.shape}."
        )
    if X.format in ("csr", "csc", "bsr"):
        return _compressed(X, name).tocsr()
    if X.format == "lil":
        lengths = [[len(row) for row in rows] for rows in (X.rows, X.data)]
        _need(lengths[0] == lengths[1] and len(lengths[0]) == X.shape[0], name)
        return _compressed(X.tocsr(), name)
    return _listed(X.tocoo(), name).tocsr()


def _compressed(X: Any, name: str) -> Any:
    """A copy of a CSR, CSC or BSR matrix that owns its indices."""
    places, starts, data = np.array(X.indices), np.array(X.indptr), X.data
    block = data.shape[1:] if X.format == "bsr" else (1, 1)
    _need(len(block) == 2 and min(block) > 0, name)
    rows, columns = (n // size for n, size in zip(X.shape, block, strict=True))
    n_starts, n_places = (columns, rows) if X.format == "csc" else (rows, columns)
    _need(
        places.dtype.kind in "iu"
        and starts.dtype.kind in "iu"
        and places.ndim == starts.ndim == 1
        and len(starts) == n_starts + 1,
        name,
    )
    starts = starts.astype(np.int64, copy=False)
    n = int(starts[-1])
    _need(
        starts[0] == 0 and n <= min(len(places), len(data)) and (np.diff(starts) >= 0).all(), name
    )
    places = _in_range(places[:n], n_places, name)
    if places.dtype == np.int32 and n <= MOST_COLUMNS:  # others need one type
        starts = starts.astype(np.int32)
    kind = getattr(sparse, f"{X.format}_array")
    return kind((data[:n], places, starts), shape=X.shape)


def _listed(X: Any, name: str) -> Any:
    """A copy of a COO matrix that owns its indices."""
    coords = X.coords if hasattr(X, "coords") else (X.row, X.col)  # before SciPy 1.13
    places = [np.array(of_axis) for of_axis in coords]
    for of_axis, n in zip(places, X.shape, strict=True):
        _need(of_axis.dtype.kind in "iu" and of_axis.shape == (len(X.data),), name)
        _in_range(of_axis, n, name)
    return sparse.coo_array((X.data, tuple(places)), shape=X.shape)


def _in_range(places: NDArray[Any], n: int, name: str) -> NDArray[Any]:
    _need(len(places) == 0 or (places.min() >= 0 and places.max() < n), name)
    return places.astype(np.int32, copy=False) if n <= MOST_COLUMNS else places


def _need(condition: Any, name: str) -> None:
    if not condition:
        raise InvalidDataError(
            f"{name} must be a sparse matrix whose indices lie in its rows and columns and whose "
            "indptr rises from 0 to the number of entries. Its arrays violate this."
        )


class SparseRows(_core.SparseMatrix):
    """Rows of a matrix in canonical CSR form, with the methods of `Rows` arrays."""

    def __init__(self, X: Any) -> None:
        indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)
        super().__init__(X.data, indices, indptr, X.shape[1])
        self._csr = X

    @staticmethod
    def of(X: Any) -> "SparseRows":
        """From a sound SciPy matrix in CSR form, which is not changed."""
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        data = X.data.view(np.uint8) if X.dtype.kind == "b" else X.data
        if data.dtype.kind not in "fiu" or data.itemsize > 8:
            data = data.astype(np.float64)
        native = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("="))
        return SparseRows(sparse.csr_array((native, X.indices, X.indptr), shape=X.shape))

    @property
    def shape(self) -> tuple[int, int]:
        return int(self._csr.shape[0]), int(self._csr.shape[1])

    @property
    def size(self) -> int:
        """Entries plus rows, a measure of the work."""
        return int(self._csr.nnz) + len(self)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> "SparseRows":
        return SparseRows.of(self._csr[rows])

    def column(self, j: int) -> NDArray[np.float64]:
        """One column with its zeros, (n)."""
        return np.asarray(self._csr[:, [j]].toarray()[:, 0], dtype=np.float64)

    def with_column(self, j: int, values: NDArray[np.float64]) -> "SparseRows":
        csc = self._csr.astype(np.float64).tocsc()
        parts = [csc[:, :j], sparse.csc_array(values[:, np.newaxis]), csc[:, j + 1 :]]
        return SparseRows.of(sparse.hstack(parts, format="csr"))

    def scipy(self) -> Any:
        """For classifiers of other libraries."""
        return self._csr

    def key_sums(self, first: int) -> Keys:
        """Return the entries' contributions to the keys of the rows: see ``chance.row_keys``."""
        of_entries = entry_keys(
            self._csr.data, self._csr.indices.astype(np.uint64) + np.uint64(first)
        )
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(of_entries)])
        totals: Keys = sums[self._csr.indptr[1:]] - sums[self._csr.indptr[:-1]]
        return totals


Matrix = NDArray[Any] | SparseRows


def column_of(X: Matrix, j: int) -> NDArray[np.float64]:
    """Column j as doubles, a copy."""
    return X.column(j) if isinstance(X, SparseRows) else X[:, j].astype(np.float64)


def dense(X: Matrix) -> NDArray[Any]:
    """Return the dense array."""
    return np.asarray(X.scipy().toarray()) if isinstance(X, SparseRows) else X


def for_others(X: Matrix) -> Any:
    """Return the matrix in the form that classifiers of other libraries expect."""
    return X.scipy() if isinstance(X, SparseRows) else X

"""SciPy's sparse matrices and arrays as the core reads them: row by row, never made dense."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _core
from .chance import Keys, entry_keys


class SparseRows(_core.SparseMatrix):
    """Rows of a matrix in canonical CSR form; of it, as of an array, rows can be taken."""

    def __init__(self, X: Any) -> None:
        indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)
        super().__init__(X.data, indices, indptr, X.shape[1])
        self._csr = X

    @staticmethod
    def of(X: Any) -> "SparseRows":
        """From a SciPy matrix in CSR form, which stays as it is."""
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
        """Entries, and rows: what work there is."""
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
        """What the entries give to the keys of the rows: see ``chance.row_keys``."""
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
    """With all its zeros."""
    return np.asarray(X.scipy().toarray()) if isinstance(X, SparseRows) else X


def for_others(X: Matrix) -> Any:
    """As classifiers of other libraries want it."""
    return X.scipy() if isinstance(X, SparseRows) else X

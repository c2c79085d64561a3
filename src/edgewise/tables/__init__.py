"""Tables from files: CSV, Parquet, ARFF, svmlight (libsvm), or a built-in set by name.

    read("cars.csv", target="price_class") -> Table with X, y and what was recognised

Numbers, categories (text) and missing values (empty, NA, ?, nan) are recognised column by column.
X is an Arrow table, or a sparse matrix for svmlight; the estimators take both.
"""

try:
    import pyarrow  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "edgewise.tables needs pyarrow: install edgewise with the extra 'cli', for instance with: "
        "pip install 'edgewise[cli]'",
        name="pyarrow",
    ) from missing

from ._builtin import has_test_part
from ._columns import Column
from ._source import open_table, read
from ._table import Columns, SparseRows, Table

__all__ = ["Column", "Columns", "SparseRows", "Table", "has_test_part", "open_table", "read"]

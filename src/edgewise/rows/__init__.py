"""Rows that need not fit into memory: pass them to ``fit`` in place of X and y.

    rows = edgewise.rows.parquet("folder", target="label")
    edgewise.AOSOLogitBoostClassifier().fit(rows)

The model is that of a fit of the same rows in memory, bit for bit. See docs/scale.md.
"""

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any

from .._data.parquet import ParquetRows
from .._ground.params import Rule, check

__all__ = ["ParquetRows", "parquet"]


def parquet(
    source: Any,
    *,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    sample_weight: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> ParquetRows:
    """Rows of Parquet files, which a fit reads piece by piece.

    Parameters
    ----------
    source : path, list of paths, or pyarrow.dataset.FileSystemDataset
        A Parquet file, or a folder of such files.
    target : str or None
        The column of the labels, which a fit needs and a prediction does not.
    columns : list of str or None
        The columns to learn from, which hold numbers. None: all others.
    sample_weight : str or None
        The column of the weights.
    folder : path or None
        Where a fit keeps the rows as bins, two bytes for every value, and their probabilities, in a
        file that disappears when the fit ends, however it ends. None: the folder of temporary
        files.
    """
    given = {"target": target, "columns": columns, "sample_weight": sample_weight, "folder": folder}
    check("edgewise.rows.parquet", given, _RULES)
    return ParquetRows(source, target, columns, sample_weight, folder)


def _is_name(value: Any) -> bool:
    return isinstance(value, str)


def _is_list_of_names(value: Any) -> bool:
    return isinstance(value, Collection) and not _is_name(value) and all(map(_is_name, value))


_NAME: Rule = (lambda v: v is None or _is_name(v), "the name of a column, or None")
_RULES: dict[str, Rule] = {
    "target": _NAME,
    "columns": (lambda v: v is None or _is_list_of_names(v), "a list of names of columns, or None"),
    "sample_weight": _NAME,
    "folder": (lambda v: v is None or isinstance(v, str | PathLike), "a path, or None"),
}

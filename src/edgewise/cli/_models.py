"""Model files, and the tables they are applied to."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import load
from .._data.targets import encode
from .._ground.errors import InvalidDataError
from ..tables import Columns, SparseRows, Table
from ._data import Reading

STDOUT = "-"


def load_model(path: Path) -> Any:
    """Load the estimator in a file; errors name the file."""
    if not path.exists():
        raise InvalidDataError(f"There is no model file {str(path)!r}.")
    try:
        return load(path)
    except ValueError as error:
        raise InvalidDataError(f"{path}: {error}") from None


def need_name(path: Path | None) -> None:
    """Check that a file or folder does not get the name that means standard output."""
    if path is not None and str(path) == STDOUT:
        raise InvalidDataError(
            "- means standard output, which only predict and export support. Give the name of a "
            "file, or use --json."
        )


def need_place(path: Path | None, *inputs: Any) -> None:
    """Check in advance that a file can be written and is not an input."""
    if path is None:
        return
    need_name(path)
    if not path.parent.is_dir():
        raise InvalidDataError(f"There is no folder {str(path.parent)!r} to write {path.name} to.")
    for given in inputs:
        if given is not None and path.exists() and Path(given).exists() and path.samefile(given):
            raise InvalidDataError(
                f"{path} is an input and would be overwritten: choose another output file."
            )


def opened_for(model: Any, reading: Reading, source: str) -> Columns | SparseRows:
    """The table, with the categories of the model as text even if they look like numbers."""
    names = feature_names(model) or []
    tables = getattr(model, "categories_", {})
    text = tuple(names[j] for j, values in tables.items() if names and values.dtype.kind in "OU")
    written = tuple(names[j] for j in getattr(model, "notations_", {}) if names)
    return reading.open(source, text=text, written=written)


def save(model: Any, table: Table, path: Path) -> None:
    """Write a model to a file, with the notation of the columns that were text of numbers."""
    found = {
        j: table.notations[column.name]
        for j, column in enumerate(table.columns)
        if column.name in table.notations
    }
    if found:
        model.notations_ = found
    model.save(path)


def feature_names(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def rows_for(model: Any, opened: Columns | SparseRows) -> Any:
    """The features of the model, in its order."""
    return opened.features(feature_names(model), model.n_features_in_)


def labels_for(
    model: Any, opened: Columns | SparseRows, target: str | None
) -> tuple[NDArray[Any], str]:
    """The correct labels as the model's classes, and the name of their column."""
    table = opened.labelled(target, but=tuple(feature_names(model) or ()))
    classes, y = np.asarray(model.classes_), table.y
    if classes.dtype.kind == "U" and y.dtype.kind != "U":
        y = y.astype(str)
    encode(classes, y, f"The target {table.target!r} of {table.name}")
    return y, table.target

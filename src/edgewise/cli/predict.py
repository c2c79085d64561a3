"""edgewise predict: labels or probabilities for the rows of a table."""

import csv
import io
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from .. import minimum_cost_labels
from .._ground.atomic import write_text
from .._ground.errors import InvalidDataError
from . import _options as o
from ._data import Reading
from ._failures import guarded
from ._models import load_model, need_place, opened_for, rows_for
from ._screen import show_json

EPILOG = (
    "Examples:  edgewise predict cars.edgewise new.csv   |   "
    "edgewise predict cars.edgewise new.csv --proba --out chances.csv   |   "
    "edgewise predict cars.edgewise new.csv --cost cost.csv"
)


@guarded
def predict(
    model: o.ModelFile,
    data: o.Data,
    proba: Annotated[bool, typer.Option(help="A probability for each class.")] = False,
    cost: Annotated[
        Path | None,
        typer.Option(
            help="A CSV file of what mistakes cost, a row per true class and a column per "
            "prediction, with the classes as header and first column or, without these, in sorted "
            "order: predict the label of least expected cost.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="A CSV file to write. By default stdout.", show_default=False),
    ] = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
) -> None:
    """Predict labels for the rows of a table. Columns are found by name; others do no harm."""
    if proba and cost is not None:
        raise typer.BadParameter("--proba and --cost exclude each other.")
    need_place(out)
    fitted = load_model(model)
    rows = rows_for(fitted, opened_for(fitted, Reading(format, header), data))
    columns = _answers(fitted, rows, proba=proba, cost=cost)
    if as_json:
        show_json({"model": str(model), "data": data, "rows": rows.shape[0], **_lists(columns)})
    if out is not None:
        write_text(out, _as_csv(columns))
        if not as_json:
            typer.echo(f"{rows.shape[0]} rows: {out}", err=True)
    elif not as_json:
        sys.stdout.write(_as_csv(columns))


def _answers(fitted: Any, rows: Any, *, proba: bool, cost: Path | None) -> dict[str, NDArray[Any]]:
    """Columns of the answer by name."""
    if not proba and cost is None:
        return {"prediction": fitted.predict(rows)}
    chances = fitted.predict_proba(rows)
    if cost is None:
        return {str(label): chances[:, k] for k, label in enumerate(fitted.classes_)}
    prices = read_cost(cost, fitted.classes_)
    return {"prediction": minimum_cost_labels(chances, prices, fitted.classes_)}


def read_cost(path: Path, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The cost matrix of a CSV file in the order of the classes."""
    rows = [row for row in csv.reader(io.StringIO(path.read_text())) if row]
    names = [str(label) for label in classes]
    order = range(len(names))
    if rows and _is_named(rows, len(names)):
        columns, first = [w.strip() for w in rows[0][1:]], [row[0].strip() for row in rows[1:]]
        if sorted(columns) != sorted(names) or first != columns:
            raise InvalidDataError(
                f"{path} must name the classes {', '.join(names)} in its first line and, in the "
                f"same order, its first column. Got {', '.join(columns)} and {', '.join(first)}."
            )
        order = [columns.index(name) for name in names]  # type: ignore[assignment]
        rows = [row[1:] for row in rows[1:]]
    try:
        matrix = np.array([[float(cell) for cell in row] for row in rows])
    except ValueError:
        matrix = np.zeros(0)
    if matrix.shape != (len(names), len(names)):
        raise InvalidDataError(
            f"{path} must hold a number for each of the {len(names)} true classes (rows) and each "
            f"of the {len(names)} predictions (columns), with the names of the classes around "
            "them or without."
        )
    return matrix[np.ix_(order, order)]


def _is_named(rows: list[list[str]], n_classes: int) -> bool:
    return len(rows) == n_classes + 1 and len(rows[0]) == n_classes + 1


def _lists(columns: dict[str, NDArray[Any]]) -> dict[str, Any]:
    if "prediction" in columns and len(columns) == 1:
        return {"predictions": columns["prediction"]}
    return {"classes": list(columns), "probabilities": np.column_stack(list(columns.values()))}


def _as_csv(columns: dict[str, NDArray[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return text.getvalue()

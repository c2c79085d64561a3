"""edgewise predict: labels, probabilities or sets of labels for the rows of a table."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from .. import minimum_cost_labels
from .._data.targets import encode
from .._ground.atomic import write_text
from .._ground.errors import InvalidDataError
from .._ground.wording import counted, did_you_mean
from ..decide import ConformalSets
from . import _options as o
from ._data import Reading
from ._decide import read_cost, read_decision
from ._failures import guarded
from ._models import STDOUT, labels_for, load_model, need_place, opened_for, rows_for
from ._screen import show_json

EPILOG = o.examples(
    "edgewise predict cars.edgewise new.csv",
    "edgewise predict cars.edgewise new.csv --proba --keep id --out probabilities.csv",
    "edgewise predict cars.edgewise new.csv --sets 0.95 --calibrate labelled.csv",
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a formula may begin

Cost = Annotated[
    Path | None,
    o.option(
        "A CSV file with the costs of mistakes, one row per true class and one column per "
        "prediction, with the classes as header and first column or, without these, in sorted "
        "order: predict the label of least expected cost."
    ),
]
Sets = Annotated[
    float | None,
    o.option(
        "Predict sets of labels that contain the correct one with this probability, such as "
        "0.95; needs --calibrate."
    ),
]
Calibrate = Annotated[
    str | None, o.option("Labelled rows that the model was not fitted to, for --sets.")
]
Keep = Annotated[
    list[str] | None,
    o.option(
        "A column of the table to copy before the predictions, such as a key. May be repeated."
    ),
]


class Answers(NamedTuple):
    """Columns of the CSV file by name, and entries of the JSON document."""

    columns: list[tuple[str, Sequence[Any]]]
    facts: dict[str, Any]


@guarded
def predict(
    model: o.ModelFile,
    data: o.Data,
    proba: Annotated[bool, typer.Option(help="Add a probability for each class.")] = False,
    cost: Cost = None,
    top_k: Annotated[
        int | None, o.option("Number of most probable labels to print, with probabilities.", min=1)
    ] = None,
    sets: Sets = None,
    calibrate: Calibrate = None,
    target: Annotated[
        str | None, o.option("Column of the labels of --calibrate, as in evaluate.")
    ] = None,
    keep: Keep = None,
    out: Annotated[
        Path | None, o.option("A CSV file to write. Default: standard output, also as -.")
    ] = None,
    safe_csv: Annotated[
        bool,
        typer.Option(
            help="Put an apostrophe before labels that a spreadsheet would read as a formula."
        ),
    ] = False,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
) -> None:
    """Predict labels for the rows of a table. Finds columns by name and ignores extra ones."""
    _need_one_answer(proba=proba, cost=cost, top_k=top_k, sets=sets, calibrate=calibrate)
    out = None if str(out) == STDOUT else out
    need_place(out, model, data, cost, calibrate)
    fitted = load_model(model)
    reading = Reading(format, header, encoding=encoding, decimal=decimal)
    rows = rows_for(fitted, opened_for(fitted, reading, data))
    if sets is not None:
        assert calibrate is not None  # checked above
        said = _in_sets(fitted, rows, _calibrated(fitted, reading, calibrate, target, sets))
    elif top_k is not None:
        said = _most_probable(fitted, rows, top_k)
    else:
        said = _labels(fitted, rows, model, cost, quiet=as_json)
        if proba:
            said = _with_probabilities(said, fitted, rows)
    said = _with_kept(said, reading, data, keep or ())
    if as_json:
        show_json({"model": str(model), "data": data, "rows": rows.shape[0], **said.facts})
    if out is not None:
        write_text(out, _as_csv(said.columns, safe=safe_csv))
        if not as_json:
            typer.echo(f"{counted(rows.shape[0], 'row')}: {out}", err=True)
    elif not as_json:
        sys.stdout.write(_as_csv(said.columns, safe=safe_csv))


def _need_one_answer(
    *, proba: bool, cost: Any, top_k: int | None, sets: float | None, calibrate: str | None
) -> None:
    asked = {"--cost": cost is not None, "--top-k": top_k is not None, "--sets": sets is not None}
    given = [name for name, wanted in asked.items() if wanted]
    if proba and given != ["--cost"]:  # probabilities belong to any label
        given.insert(0, "--proba")
    if len(given) > 1:
        raise typer.BadParameter(f"{' and '.join(given)} exclude each other.")
    if (sets is None) != (calibrate is None):
        raise typer.BadParameter("--sets and --calibrate need each other.")


def _labels(fitted: Any, rows: Any, model: Path, cost: Path | None, *, quiet: bool) -> Answers:
    """Labels of least cost, by the thresholds beside the model, or the most probable."""
    decision = None if cost is not None else read_decision(model, fitted.classes_)
    if cost is not None:
        prices = read_cost(cost, fitted.classes_)
        labels = minimum_cost_labels(fitted.predict_proba(rows), prices, fitted.classes_)
    elif decision is not None:
        labels = fitted.classes_[decision.places(fitted.predict_proba(rows))]
        if not quiet:
            typer.echo(f"thresholds for {decision.metric}, fitted with the model", err=True)
    else:
        labels = fitted.predict(rows)
    return Answers([("prediction", labels.tolist())], {"predictions": labels})


def _with_probabilities(said: Answers, fitted: Any, rows: Any) -> Answers:
    """The labels, and after them a column of probabilities for each class."""
    names = [str(label) for label in fitted.classes_]
    chances = fitted.predict_proba(rows)
    ((name, labels),) = said.columns
    while name in names:  # a class of this name
        name += "_"
    columns = [(name, labels), *zip(names, chances.T.tolist(), strict=True)]
    return Answers(columns, {**said.facts, "classes": names, "probabilities": chances})


def _most_probable(fitted: Any, rows: Any, top_k: int) -> Answers:
    """The most probable labels with their probabilities."""
    chances, classes = fitted.predict_proba(rows), fitted.classes_
    order = np.argsort(-chances, axis=1, kind="stable")[:, :top_k]
    best, labels = np.take_along_axis(chances, order, axis=1), classes[order]
    columns = []
    for m in range(order.shape[1]):
        columns.append((f"prediction_{m + 1}", labels[:, m].tolist()))
        columns.append((f"probability_{m + 1}", best[:, m].tolist()))
    return Answers(columns, {"labels": labels, "probabilities": best})


def _calibrated(
    fitted: Any, reading: Reading, source: str, target: str | None, coverage: float
) -> ConformalSets:
    """Prediction sets with the threshold of labelled rows."""
    sets = ConformalSets(coverage)
    opened = opened_for(fitted, reading, source)
    labels, _ = labels_for(fitted, opened, target)
    codes = encode(fitted.classes_, labels, "y").astype(np.intp)
    return sets.fit(fitted.predict_proba(rows_for(fitted, opened)), codes)


def _in_sets(fitted: Any, rows: Any, sets: ConformalSets) -> Answers:
    inside = sets.sets(fitted.predict_proba(rows))
    labels = [fitted.classes_[row].tolist() for row in inside]
    joined = ["|".join(map(str, of_row)) for of_row in labels]
    sizes = [len(of_row) for of_row in labels]
    mean = float(np.mean(sizes)) if sizes else None
    facts = {"coverage": sets.coverage, "mean_size": mean, "sets": labels}
    return Answers([("set", joined), ("size", sizes)], facts)


def _with_kept(said: Answers, reading: Reading, data: str, names: Sequence[str]) -> Answers:
    """The predictions, after unchanged columns of the table."""
    if not names:
        return said
    frame: Any = getattr(reading.open(data, text=tuple(names)), "frame", None)
    there = [] if frame is None else frame.column_names
    absent = [name for name in names if name not in there]
    if absent:
        raise InvalidDataError(
            f"--keep must name columns of {data}: {', '.join(there) or 'it has no names'}. "
            f"Got {absent[0]!r}.{did_you_mean(absent[0], there)}"
        )
    kept = [
        (name, ["" if v is None else v for v in frame.column(name).to_pylist()]) for name in names
    ]
    return Answers(kept + said.columns, {"kept": dict(kept), **said.facts})


def _as_csv(columns: list[tuple[str, Sequence[Any]]], *, safe: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = zip(*(column for _, column in columns), strict=True)
    for row in (tuple(name for name, _ in columns), *rows):
        writer.writerow(map(_harmless, row) if safe else row)
    return text.getvalue()


def _harmless(cell: Any) -> Any:
    """Text that no spreadsheet reads as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell

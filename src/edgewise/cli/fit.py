"""edgewise fit: a model file from a table."""

import json
import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .._ground.errors import InvalidParameterError
from ..comparison import need_parameters
from . import _options as o
from ._data import Reading, described
from ._failures import guarded
from ._models import need_place
from ._report import MISSING, can_report, save_model_report
from ._screen import on_terminal, show_json, size

EPILOG = (
    "Examples:  edgewise fit cars.csv --target origin --model cars.edgewise   |   "
    "edgewise fit digits --model digits.edgewise --param n_estimators=300 --report digits.html"
)


@guarded
def fit(
    data: o.Data,
    model: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    target: o.Target = None,
    method: o.Method = "aoso",
    param: Annotated[
        list[str] | None,
        typer.Option(
            help="A parameter, such as learning_rate=0.05. May be repeated.", show_default=False
        ),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(help="A JSON file of parameters, as tune writes it.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report, one HTML file.", show_default=False)
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="Rows that the report judges by. Without them a fifth of the rows, and a second "
            "model that has not seen them.",
            show_default=False,
        ),
    ] = None,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
    category: o.Category = None,
    drop: o.Drop = None,
) -> None:
    """Fit a model to a table and write it to a file."""
    need_place(model)
    need_place(report)
    if report is not None and not can_report():
        raise InvalidParameterError(f"--report: {MISSING}")
    reading = Reading(format, header, category, drop)
    estimator = o.algorithm(method)
    given = {**(read_params(params) if params else {}), **o.parsed(param)}
    need_parameters(estimator, given)
    table = reading.labelled(data, target)
    tested = None if test is None else reading.alike(test, table)
    if not as_json:
        typer.echo("\n".join(described(table)))
    shown = {"verbose": 1} if on_terminal() else {}
    fitted = estimator(**{"random_state": seed, "n_jobs": jobs, **shown, **given})
    begin = time.perf_counter()
    fitted.fit(table.X, table.y)
    seconds = time.perf_counter() - begin
    fitted.set_params(verbose=given.get("verbose", 0))
    fitted.save(model)
    words = ["edgewise", "fit", data, "--target", table.target, "--method", method]
    words += [word for key, value in given.items() for word in ("--param", f"{key}={value}")]
    words += ["--seed", str(seed), "--model", str(model), *reading.words()]
    facts = {
        "data": table.summary(),
        "method": method,
        "algorithm": estimator.__name__,
        "parameters": given,
        "rounds": getattr(fitted, "n_iter_", None),
        "stopped": getattr(fitted, "stop_reason_", None),
        "training_error": float((fitted.predict(table.X) != table.y).mean()),
        "fit_seconds": seconds,
        "model": str(model),
        "model_bytes": model.stat().st_size if model.is_file() else None,
        "report": None if report is None else str(report),
        "command": shlex.join(words),
    }
    if report is not None:
        save_model_report(fitted, table, report, facts["command"], tested)
    if as_json:
        show_json(facts)
    else:
        _show(facts)


def read_params(path: Path) -> dict[str, Any]:
    """Parameters in a JSON file: an object, or one with an object under "params"."""
    try:
        found = json.loads(path.read_text())
    except ValueError as error:
        raise InvalidParameterError(f"{path} is not JSON: {error}") from None
    params = found.get("params", found) if isinstance(found, dict) else None
    if not isinstance(params, dict):
        raise InvalidParameterError(f"{path} must hold a JSON object of parameters.")
    return params


def _show(facts: dict[str, Any]) -> None:
    rounds = f"{facts['rounds']} rounds ({facts['stopped']})" if facts["rounds"] else "fitted"
    typer.echo(
        f"{facts['algorithm']}: {rounds} in {facts['fit_seconds']:.1f} s, training error "
        f"{100 * facts['training_error']:.2f} %"
    )
    weight = f" ({size(facts['model_bytes'])})" if facts["model_bytes"] is not None else ""
    typer.echo(f"model: {facts['model']}{weight}")
    if facts["report"]:
        typer.echo(f"report: {facts['report']}")
    typer.echo(f"again: {facts['command']}")

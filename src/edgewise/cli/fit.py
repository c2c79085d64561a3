"""edgewise fit: fit a model to a table and write a model file."""

import json
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from .._data.targets import classes_of
from .._ground.errors import InvalidParameterError
from .._ground.wording import counted
from .._tools.catalogue import ALGORITHMS
from ..comparison import need_parameters
from ..decide import DecisionClassifier
from . import _options as o
from ._data import Reading, described, findings, told
from ._decide import metric_of, out_of_fold, write_decision
from ._failures import guarded
from ._models import need_place, save
from ._report import MISSING, can_report, save_model_report
from ._screen import on_terminal, say, show_json, size

EPILOG = o.examples(
    "edgewise fit cars.csv --target origin --model cars.edgewise",
    "edgewise fit digits --model digits.edgewise --param effort=best --report digits.html",
    "edgewise fit cars.csv --encoding latin-1 --decimal , --drop id --model cars.edgewise",
)


@guarded
def fit(
    data: o.Data,
    model: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    target: o.Target = None,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(ALGORITHMS)}. Default: that of --params, or auto.",
            show_default=False,
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(help="A parameter, such as effort=best. May be repeated.", show_default=False),
    ] = None,
    params: Annotated[
        Path | None,
        typer.Option(help="A JSON file of parameters, as tune writes it.", show_default=False),
    ] = None,
    decide: Annotated[
        str | None,
        o.option(
            "Fit thresholds for macro-f1, balanced-accuracy, accuracy or recall:CLASS:LEAST. They "
            "are written beside the model, where predict and evaluate find them."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report to this HTML file.", show_default=False)
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help="Test rows of the report. Default: a fifth of the rows, held out from a second "
            "model.",
            show_default=False,
        ),
    ] = None,
    early_stopping: Annotated[
        bool,
        typer.Option(
            "--early-stopping",
            help="Find the number of rounds on held-out rows, then learn from all rows.",
        ),
    ] = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    as_json: o.Json = False,
    format: o.Format = None,
    header: o.Header = None,
    category: o.Category = None,
    drop: o.Drop = None,
    encoding: o.Encoding = None,
    decimal: o.Decimal = None,
) -> None:
    """Fit a model to a table and write it to a file."""
    _need_places(model, report, (data, params, test))
    reading = Reading(format, header, category, drop, encoding, decimal)
    tuned_method, tuned = read_params(params) if params else (None, {})
    method = method or tuned_method or "auto"
    estimator = o.algorithm(method)
    given = {**tuned, **o.parsed(param)}
    if early_stopping:
        given["early_stopping"] = _stops_early(method, estimator)
    need_parameters(estimator, given)
    table = reading.labelled(data, target)
    tested = None if test is None else reading.alike(test, table)
    if not as_json:
        say("\n".join(described(table)))
    shown = {"verbose": 1} if on_terminal() else {}
    fitted = estimator(**{"random_state": seed, "n_jobs": jobs, **shown, **given})
    begin = time.perf_counter()
    fitted, decider = _fitted(fitted, table, decide)
    seconds = time.perf_counter() - begin
    fitted.set_params(verbose=given.get("verbose", 0))
    save(fitted, table, model)
    if decide is not None and decider is not None:
        write_decision(model, decide, fitted.classes_, decider.offsets_)
    job = _Job(data, table, method, given, model, report, decide)
    facts = _facts(job, fitted, decider, seconds)
    words = [*job.words(), "--seed", str(seed), *reading.words()]
    for name, value in (("--report", report), ("--test", test), ("--jobs", jobs)):
        words += [] if value is None else [name, str(value)]
    facts["command"] = shlex.join(words)
    judged = decider or fitted
    facts["findings"] = (
        findings(table)
        if report is None
        else save_model_report(judged, table, report, facts["command"], tested)
    )
    if as_json:
        show_json(facts)
    else:
        _show(facts)


class _Job(NamedTuple):
    """A requested fit."""

    data: str
    table: Any
    method: str
    given: dict[str, Any]  # parameters
    model: Path
    report: Path | None
    decide: str | None

    def words(self) -> list[str]:
        """Return the words of the command."""
        words = ["edgewise", "fit", self.data, "--target", self.table.target]
        words += ["--method", self.method]
        words += [w for key, value in self.given.items() for w in ("--param", f"{key}={value}")]
        words += [] if self.decide is None else ["--decide", self.decide]
        return [*words, "--model", str(self.model)]


def _facts(
    job: _Job, fitted: Any, decider: DecisionClassifier | None, seconds: float
) -> dict[str, Any]:
    """Facts about the fit, as --json shows them."""
    table, model = job.table, job.model
    return {
        "data": table.summary(),
        "method": job.method,
        "algorithm": type(fitted).__name__,
        "parameters": job.given,
        "members": len(fitted.members_["rounds"]) if hasattr(fitted, "members_") else None,
        "rounds": getattr(fitted, "n_iter_", None),
        "stopped": getattr(fitted, "stop_reason_", None),
        "training_error": float((fitted.predict(table.X) != table.y).mean()),
        "expected_error": getattr(fitted, "expected_error_", None),
        "expected_log_loss": getattr(fitted, "expected_log_loss_", None),
        "thresholds": None if decider is None else _told(job.decide, decider, table.y),
        "fit_seconds": seconds,
        "model": str(model),
        "model_bytes": model.stat().st_size if model.is_file() else None,
        "report": None if job.report is None else str(job.report),
    }


def _fitted(
    estimator: Any, table: Any, decide: str | None
) -> tuple[Any, DecisionClassifier | None]:
    """The fitted estimator, and its decisions by thresholds."""
    if decide is None:
        return estimator.fit(table.X, table.y), None
    metric = metric_of(decide, classes_of(table.y))
    decider = DecisionClassifier(estimator, metric=metric).fit(table.X, table.y)
    return decider.estimator_, decider


def _told(decide: str | None, decider: DecisionClassifier, y: Any) -> dict[str, Any]:
    """Return a description of the thresholds and their gain."""
    found = decider.offsets_
    return {
        "metric": decide,
        "applied": found.applied,
        "plain": found.plain,
        "gain": found.gain,
        "gain_error": found.gain_error,
        "offsets": dict(zip(map(str, decider.classes_), found.offsets.tolist(), strict=True)),
        "out_of_fold": out_of_fold(decider, y),
    }


def read_params(path: Path) -> tuple[str | None, dict[str, Any]]:
    """Method and parameters in a JSON file: an object, or one with an object under "params"."""
    try:
        found = json.loads(path.read_text())
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(f"{path} is not JSON: {error}.") from None
    params = found.get("params", found) if isinstance(found, dict) else None
    if not isinstance(params, dict):
        raise InvalidParameterError(f"{path} must contain a JSON object of parameters.")
    method = found.get("method") if "params" in found else None
    return (method if isinstance(method, str) else None), params


def _need_places(model: Path, report: Path | None, inputs: Sequence[Any]) -> None:
    """Check before the fit that both files can be written."""
    need_place(model, *inputs)
    need_place(report, *inputs)
    if report is not None and report.absolute() == model.absolute():
        raise InvalidParameterError("--model and --report must be different files.")
    if report is not None and not can_report():
        raise InvalidParameterError(f"--report: {MISSING}")


def _stops_early(method: str, estimator: Any) -> bool:
    if method == "auto":
        raise InvalidParameterError("--early-stopping: the method auto always stops early.")
    if "early_stopping" not in estimator().get_params(deep=False):
        raise InvalidParameterError(f"--early-stopping: the method {method} has no rounds.")
    return True


def _show(facts: dict[str, Any]) -> None:
    rounds = (
        f"{counted(facts['rounds'], 'round')} ({facts['stopped']})" if facts["rounds"] else "fitted"
    )
    if facts["members"]:
        rounds = (
            f"{counted(facts['members'], 'member')}, {counted(facts['rounds'], 'round')} in all"
        )
    say(
        f"{facts['algorithm']}: {rounds} in {facts['fit_seconds']:.1f} s, training error "
        f"{100 * facts['training_error']:.2f} %"
    )
    if facts["expected_error"] is not None:
        value, low, high = (100 * share for share in facts["expected_error"])
        typer.echo(f"expected error on new rows: {value:.2f} % ({low:.2f} to {high:.2f} %)")
    if facts["thresholds"] is not None:
        say(_gain(facts["thresholds"]))
    weight = f" ({size(facts['model_bytes'])})" if facts["model_bytes"] is not None else ""
    say(f"model: {facts['model']}{weight}")
    if facts["findings"]:
        say("\n".join(told(facts["findings"])))
    if facts["report"]:
        say(f"report: {facts['report']}")
    say(f"again: {facts['command']}")


def _gain(found: dict[str, Any]) -> str:
    """Return the gain of thresholds on held-out rows."""
    used = "used" if found["applied"] else "not used, since that does not exceed half of its error"
    head, figures = f"thresholds for {found['metric']}", found["out_of_fold"]
    if len(figures["without"]) == 1:
        return (
            f"{head}: {found['plain']:.4f} without them, gain {found['gain']:+.4f} (standard error "
            f"{found['gain_error']:.4f}): {used}"
        )
    if not found["applied"]:
        return f"{head}: {_named(figures['without'])}; they do not pay and are not used"
    return (
        f"{head}: {_named(figures['without'])} without them, {_named(figures['with'])} with them, "
        "on the rows they were fitted to: used"
    )


def _named(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in figures.items())

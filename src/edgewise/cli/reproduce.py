"""edgewise reproduce: rerun the papers' tables and figures."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from .. import experiments
from ..experiments._effort import in_words
from ..experiments._types import BAD
from . import _options as o
from ._failures import INTERRUPTED, fail, guarded
from ._models import need_name
from ._report import MISSING, can_report
from ._screen import bar, console, on_terminal, show_json, spinner

RUNS = Path("edgewise-runs") / "reproduce"
WRONG_USAGE = 2
EPILOG = o.examples(
    "edgewise reproduce --list",
    "edgewise reproduce softmax-table-2",
    "edgewise reproduce abc-summary --scale paper --only 'letter/*'",
)


@guarded
def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Experiments, or 'all'.", show_default=False),
    ] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the experiments with their last verdicts in --out.")
    ] = False,
    scale: Annotated[
        Literal["small", "paper"],
        typer.Option(help="small: seconds; paper: the papers' settings, which may take hours."),
    ] = "small",
    data_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the papers' data sets, NAME.npz. Default: $EDGEWISE_DATA.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Cells to run in parallel; they share the CPUs.")
    ] = 1,
    out: Annotated[
        Path, typer.Option(help="The run folder, from which a killed run resumes.")
    ] = RUNS,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Run only cells whose names match, such as 'letter/*'. May be repeated.",
            show_default=False,
        ),
    ] = None,
    as_json: o.Json = False,
) -> None:
    """Rerun the papers' experiments and compare the numbers."""
    if list_them:
        _list(out, as_json)
        return
    if not names:
        fail("Which experiment? Give a name, or 'all'; --list shows them.", WRONG_USAGE)
    need_name(out)
    if data_dir is not None and not data_dir.is_dir():
        fail(f"--data-dir must be a folder. Got {str(data_dir)!r}, which is none.")
    chosen = experiments.find_experiments(names)
    with experiments.open_store(out) as store:
        folder = None if data_dir is None else str(data_dir)
        run = experiments.Run(
            chosen, store, scale=scale, data_dir=folder, jobs=jobs, only=only or ()
        )
        _carry_out(run)
        results = [run.results(each, out) for each in chosen]
    command = shlex.join(["edgewise", "reproduce", *names, "--scale", scale])
    report = _report(results, out, command)
    if as_json:
        show_json({"results": results, "report": None if report is None else str(report)})
    else:
        _show(results, out, report)


def _carry_out(run: experiments.Run) -> None:
    todo = run.todo()
    done = run.n_done()
    words = f"{len(todo)} cells to run" if todo else "nothing to run"
    if done:
        words += f", {done} more are done already"
    if todo:
        words += f"; about {in_words(run.expected_seconds())}, by a calibration on this machine"
    typer.echo(words, err=True)
    watcher = _Watcher(len(todo))
    try:
        with watcher.progress:
            run.carry_out(watcher)
    except KeyboardInterrupt:
        fail("Stopped. Finished cells are kept: the same command resumes the run.", INTERRUPTED)


class _Watcher:
    """A bar on a terminal, a line per cell elsewhere."""

    def __init__(self, total: int) -> None:
        self.progress = bar(shown=on_terminal())
        self._task = self.progress.add_task("starting", total=total)
        self._total, self._done = total, 0

    def finished(self, job: experiments.Job, record: experiments.Record | None) -> None:
        self._done += 1
        name = f"{job.experiment.name}: {job.cell.name}"
        if on_terminal():
            self.progress.update(self._task, advance=1, description=name)
            return
        took = f"{record.seconds:.1f} s" if record else "skipped"
        print(f"[{self._done}/{self._total}] {name}, {took}", file=sys.stderr, flush=True)


def _report(results: Sequence[Mapping[str, Any]], folder: Path, command: str) -> Path | None:
    """Write one page about all requested experiments; None if its libraries are missing."""
    if not can_report():
        typer.echo(f"note: {MISSING}", err=True)
        return None
    name = results[0]["experiment"] if len(results) == 1 else "experiments"
    path = folder / f"{name}-{results[0]['scale']}.html"
    with spinner("writing the report"):
        experiments.as_report(results, folder, command).save(path)
    return path


def _list(folder: Path, as_json: bool) -> None:
    """Every experiment: its place in the paper, scales, time, the last verdicts in the folder."""
    known = list(experiments.standings(experiments.EXPERIMENTS, folder))
    if as_json:
        rows = [each._asdict() | {"verdict": each.verdict} for each in known]
        show_json({"experiments": rows, "folder": str(folder)})
        return
    shown = Table("name", "of the paper", "scale", "cells", "time", "last verdict", box=None)
    for each in known:
        row = (each.name, each.item) if each.scale == "small" else ("", "")
        shown.add_row(*row, each.scale, str(each.cells), each.time, each.verdict)
    console().print(shown)
    typer.echo(f"time: on one quiet core; last verdict: of the results in {folder}", err=True)


def _show(results: Sequence[Mapping[str, Any]], out: Path, report: Path | None) -> None:
    shown = console()
    for each in results:
        shown.print(f"{each['experiment']}: {each['title']}")
        shown.print(_findings(each))
        for line in each["skipped"]:
            shown.print(line)
        if each["missing"]:
            shown.print(f"{len(each['missing'])} cells have not been run yet")
        shown.print(f"written: {out / each['experiment']}-{each['scale']}.md")
        shown.print()
    if report is not None:
        shown.print(f"report: {report}")


def _findings(results: Mapping[str, Any]) -> Table:
    shown = Table("what", "paper", "ours", "tolerance", "verdict", box=None, padding=(0, 1))
    for finding in results["findings"]:
        verdict = finding["verdict"]
        if verdict == "not run":
            continue
        colour = "red" if verdict in BAD else "dim" if verdict == "not judged" else "green"
        cells = [_text(finding[key]) for key in ("what", "paper", "ours", "tolerance")]
        shown.add_row(*cells, Text(verdict, colour))
    return shown


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

"""edgewise reproduce: the papers' tables and figures, run again."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .. import experiments
from .._errors import EdgewiseError
from ..experiments._effort import in_words
from ..experiments._runner import Job
from ..experiments._types import BAD


def reproduce(  # noqa: PLR0913, PLR0917 - the options of a command
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Experiments, or 'all'.", show_default=False),
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    scale: Annotated[
        Literal["small", "paper"],
        typer.Option(help="small: seconds; paper: the real thing, which may take hours."),
    ] = "small",
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder of the papers' data sets, NAME.npz; default: $EDGEWISE_DATA."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, help="Cells to run at a time; each has its share of the CPUs.")
    ] = 1,
    out: Annotated[
        Path, typer.Option(help="The run folder; a rerun continues what it finds there.")
    ] = Path("edgewise-results"),
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only cells whose names match, e.g. 'letter/*'."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Run the papers' experiments again, and say where the numbers agree."""
    if list_them:
        _print_list(as_json)
        return
    if not names:
        _fail("Which experiment? Give a name, or 'all'; --list shows them.", code=2)
    if data_dir is not None and not data_dir.is_dir():
        _fail(f"--data-dir must be a folder. Got {str(data_dir)!r}, which is none.")
    try:
        chosen = experiments.find_experiments(names)
        with experiments.open_store(out) as store:
            run = experiments.Run(
                chosen,
                store,
                scale=scale,
                data_dir=None if data_dir is None else str(data_dir),
                jobs=jobs,
                only=only or (),
            )
            _carry_out(run)
            results = [run.results(each, out) for each in chosen]
    except EdgewiseError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Stopped. What is finished is kept: the same command goes on from there.", code=130)
    _show(results, out, as_json)


def _carry_out(run: experiments.Run) -> None:
    todo = run.todo()
    done = len(run.plan.jobs) - len(todo)
    kept = f", {done} more are done already" if done else ""
    if todo:
        seconds = in_words(run.expected_seconds())
        typer.echo(
            f"{len(todo)} cells to run{kept}; about {seconds}, by a calibration on this machine",
            err=True,
        )
    else:
        typer.echo(f"nothing to run{kept}", err=True)
    with _Watcher(len(todo)) as watcher:
        run.carry_out(watcher)


class _Watcher:
    """A progress bar on a terminal, a line per cell elsewhere; both on stderr."""

    def __init__(self, total: int) -> None:
        console = Console(stderr=True)
        self._total, self._done = total, 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal or total == 0,
        )
        self._task = self._bar.add_task("starting", total=total)

    def __enter__(self) -> "_Watcher":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def finished(self, job: Job, record: experiments.Record | None) -> None:
        self._done += 1
        name = f"{job.experiment.name}: {job.cell.name}"
        if self._bar.disable:
            took = f"{record.seconds:.1f} s" if record else "skipped"
            print(f"[{self._done}/{self._total}] {name}, {took}", file=sys.stderr, flush=True)
        else:
            self._bar.update(self._task, advance=1, description=name)


def _print_list(as_json: bool) -> None:
    known = experiments.EXPERIMENTS.values()
    if as_json:
        rows = [{"name": each.name, "title": each.title, "paper": each.paper} for each in known]
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table("name", "what", "cells (small, paper)", box=box.SIMPLE)
    for each in known:
        sizes = ", ".join(str(len(each.cells(scale))) for scale in experiments.SCALES)
        table.add_row(each.name, each.title, sizes)
    _console().print(table)


def _show(results: Sequence[Mapping[str, Any]], out: Path, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(list(results), indent=1, allow_nan=False))
        return
    console = _console()
    for each in results:
        console.print(_findings(each))
        for line in each["skipped"]:
            console.print(line, markup=False)
        if each["missing"]:
            console.print(f"{len(each['missing'])} cells have not been run yet")
        console.print(f"written: {out / each['experiment']}-{each['scale']}.md", markup=False)


def _findings(results: Mapping[str, Any]) -> Table:
    title = f"{results['experiment']}: {results['title']}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE)
    for column in ("what", "paper", "ours", "tolerance", "verdict"):
        table.add_column(column)
    for finding in results["findings"]:
        if finding["verdict"] == "not run":
            continue
        verdict = finding["verdict"]
        colour = "red" if verdict in BAD else "dim" if verdict == "not judged" else "green"
        shown = [_text(finding[key]) for key in ("what", "paper", "ours", "tolerance")]
        table.add_row(*shown, f"[{colour}]{verdict}[/]")
    return table


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _console() -> Console:
    console = Console()
    if not console.is_terminal:
        console.width = 160
    return console


def _fail(message: str, code: int = 1) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)

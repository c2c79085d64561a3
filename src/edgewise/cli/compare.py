"""edgewise compare: compare algorithms on a table."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import tables
from .._ground.atomic import write_text
from ..comparison import Comparison, PairedTest, Result, Row, compare
from . import _options as o
from ._data import Reading, described, findings, told
from ._failures import guarded
from ._models import need_name
from ._report import MISSING, can_report, save_comparison_report
from ._screen import bar, console, on_terminal, plain, say, show_json, size, table

DEFAULT = "digits"
RUNS = Path("edgewise-runs")
EPILOG = o.examples(
    "edgewise compare",
    "edgewise compare cars.csv --target origin",
    "edgewise compare train.parquet --test test.parquet --methods aoso,lightgbm --json",
)


Data = Annotated[
    str | None,
    typer.Argument(
        help="A CSV, Parquet, ARFF or svmlight file, or a built-in set. "
        "Default: digits, with one repetition.",
        show_default=False,
    ),
]
Methods = Annotated[
    str | None, o.option("Methods, separated by commas. Default: all that suit the data.")
]
Peers = Annotated[
    bool | None,
    o.option(
        "Also run LightGBM, XGBoost, CatBoost and scikit-learn, if installed. Default: if no "
        "methods are named.",
        "--peers/--no-peers",
    ),
]
Test = Annotated[str | None, o.option("A table of test rows, instead of cross-validation.")]
Folds = Annotated[int, typer.Option(min=2, help="Number of folds of the cross-validation.")]
Repeats = Annotated[
    int | None, o.option("Repetitions of the cross-validation. Default: 3; 1 without DATA.", min=1)
]
Rounds = Annotated[
    int | None, o.option("Number of rounds of every method. Default: that of each method.", min=1)
]
Param = Annotated[
    list[str] | None, o.option("A parameter, such as aoso.learning_rate=0.05. May be repeated.")
]
Out = Annotated[
    Path | None,
    o.option(
        f"Folder of the results and the report; a killed run resumes there. By default {RUNS}/NAME."
    ),
]


@guarded
def compare_command(
    data: Data = None,
    target: o.Target = None,
    methods: Methods = None,
    peers: Peers = None,
    test: Test = None,
    folds: Folds = 5,
    repeats: Repeats = None,
    rounds: Rounds = None,
    param: Param = None,
    out: Out = None,
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
    """Compare algorithms on a table: errors with intervals, calibration, time, model size."""
    name = data or DEFAULT
    reading = Reading(format, header, category, drop, encoding, decimal)
    if test is None and tables.has_test_part(name) and not Path(name).is_file():
        test = f"{name}:test"
    table = reading.labelled(name, target)
    tested = None if test is None else reading.alike(test, table)
    need_name(out)
    folder = out or RUNS / _stem(name)
    if not as_json:
        remarks = [] if test is None else [f"tested on {test}"]
        _say(described(table), [*told(findings(table)), *remarks])
    watcher = _Bar(shown=on_terminal())
    with watcher.progress:
        comparison = compare(
            table.X,
            table.y,
            methods=None if methods is None else [m.strip() for m in methods.split(",")],
            peers=peers,
            test=tested,
            folds=folds,
            repeats=repeats or (1 if data is None else 3),
            seed=seed,
            threads=jobs,
            rounds=rounds,
            params=o.by_method(param),
            name=name,
            out=folder,
            watcher=watcher,
        )
    where = [name, *([] if target is None else ["--target", target]), *reading.words()]
    again = _command(where, test, comparison, param, folder)
    facts = _saved(comparison, again, folder, table, tested)
    if as_json:
        show_json(facts)
    else:
        _show(comparison, facts)


def _saved(
    comparison: Comparison,
    again: str,
    folder: Path,
    table: tables.Table,
    tested: tuple[Any, Any] | None,
) -> dict[str, Any]:
    """Write the results and, if its packages are installed, the report; return the results."""
    report = folder / "report.html" if can_report() else None
    facts = {**comparison.as_dict(), "command": again, "folder": str(folder)}
    facts["data"] = {**table.summary(), **facts["data"]}
    facts["report"] = None if report is None else str(report)
    write_text(folder / "comparison.json", json.dumps(plain(facts), indent=2) + "\n")
    if report is not None:
        save_comparison_report(
            comparison,
            report,
            command=again,
            protocol=_protocol(comparison),
            table=table,
            test=tested,
        )
    return facts


class _Bar:
    """Progress of the run; on a terminal."""

    def __init__(self, *, shown: bool) -> None:
        self.progress = bar(shown=shown)
        self._found = 0

    def begin(self, n_steps: int, methods: Sequence[str], notes: Sequence[str]) -> None:
        self._task = self.progress.add_task("comparing", total=n_steps)

    def step(self, method: str, split: Any) -> None:
        where = f"repeat {split.repeat + 1}, fold {split.fold + 1}"
        self.progress.update(self._task, description=f"{method} ({where})")

    def done(self, method: str, result: Result | None, *, fresh: bool) -> None:
        self.progress.advance(self._task)


def _stem(name: str) -> str:
    return Path(name).name.split(".")[0].replace(":", "-") or "run"


def _say(*parts: list[str]) -> None:
    for line in (line for part in parts for line in part):
        say(line)


_HEADER = (
    "method", "error\n%", "95 %\ninterval", "log\nloss", "Brier\nscore", "calib.\nerror",
    "fit\ns", "predict\nms/1000", "model\nsize",
)  # fmt: skip


# --- what is shown ------------------------------------------------------------------------------


def _show(comparison: Comparison, facts: dict[str, Any]) -> None:
    shown = console()
    shown.print(_protocol(comparison))
    shown.print()
    shown.print(_table(comparison.rows()))
    shown.print()
    paired = comparison.paired()
    if paired is not None:
        shown.print(_verdict(paired))
    for method, reason in comparison.skipped.items():
        shown.print(f"not run: {method} ({reason})")
    for method, reason in comparison.failed.items():
        shown.print(f"failed: {method} ({reason})")
    for note in comparison.notes:
        shown.print(f"note: {note}")
    shown.print(f"again: {facts['command']}")
    shown.print(f"results: {Path(facts['folder']) / 'comparison.json'}")
    shown.print(f"report: {facts['report'] or MISSING}")


def _protocol(comparison: Comparison) -> str:
    p = comparison.protocol
    if comparison.cross_validated:
        times = "" if p["repeats"] == 1 else f", {p['repeats']} times"
        how = f"{p['folds']}-fold stratified cross-validation{times}"
    else:
        how = f"tested on {comparison.data['test_rows']} rows"
    rounds = "" if p["rounds"] is None else f", {p['rounds']} rounds"
    return f"{how}; seed {p['seed']}, {p['threads']} threads{rounds}"


def _table(rows: list[Row]) -> Any:
    return table(_HEADER, [_cells(row) for row in rows], bold=0)


def _cells(row: Row) -> list[str]:
    return [
        row.method,
        f"{100 * row.error:.2f}",
        f"{100 * row.interval[0]:.2f}-{100 * row.interval[1]:.2f}",
        f"{row.log_loss:.3f}",
        f"{row.brier:.3f}",
        f"{row.calibration:.3f}",
        f"{row.fit_seconds:.2f}",
        f"{row.predict_ms_per_1000:.1f}",
        size(row.model_bytes),
    ]


def _verdict(paired: PairedTest) -> str:
    interval = ""
    if paired.interval is not None:
        interval = f" [{100 * paired.interval[0]:.2f}, {100 * paired.interval[1]:.2f}]"
    differ = "differ" if paired.p_value < 0.05 else "do not differ significantly"
    return (
        f"best two: {paired.first} and {paired.second} {differ} (difference "
        f"{100 * paired.difference:.2f} points{interval}, {paired.name}, p = {paired.p_value:.3g})"
    )


def _command(
    where: list[str],
    test: str | None,
    comparison: Comparison,
    param: Sequence[str] | None,
    folder: Path,
) -> str:
    """Return the command that repeats the comparison, with every setting written out."""
    p = comparison.protocol
    words = ["edgewise", "compare", *where, "--methods", ",".join(comparison.parameters)]
    if test is not None:
        words += ["--test", test]
    else:
        words += ["--folds", str(p["folds"]), "--repeats", str(p["repeats"])]
    words += [] if p["rounds"] is None else ["--rounds", str(p["rounds"])]
    words += [word for text in param or () for word in ("--param", text)]
    words += ["--seed", str(p["seed"]), "--jobs", str(p["threads"]), "--out", str(folder)]
    return shlex.join(words)

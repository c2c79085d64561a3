"""The cost and the benefit of the search for the base class.

Li and Zhao, "Fast ABC-Boost" (arXiv 2205.10927): only the `search` worst classes are tried, only
every `gap` + 1 rounds, after `warmup` plain ones. Their claim, and that of Li (arXiv 1006.5051): a
gap up to 20 costs no accuracy on sets of this size.
"""

from collections.abc import Mapping
from typing import Any

from . import _converge, _li, _paired, _verdict, abc_grid
from ._types import Cell, Experiment, Finding, Record, Records, Scale, Table, Verdict

PAPER = (
    'P. Li, W. Zhao, "Fast ABC-Boost: a unified framework for selecting the base class in '
    'multi-class classification", arXiv 2205.10927, 2022; P. Li, arXiv 1006.5051, 2010'
)
ALGORITHMS = ("abc-mart", "abc-logitboost")
SETTINGS: tuple[Mapping[str, Any], ...] = (
    {"search": "exhaustive", "gap": 5, "warmup": 0},
    {"search": "exhaustive", "gap": 20, "warmup": 0},
    {"search": 5, "gap": 0, "warmup": 0},
    {"search": 2, "gap": 0, "warmup": 0},
    {"search": 2, "gap": 5, "warmup": 0},
    {"search": 2, "gap": 20, "warmup": 0},
    {"search": 2, "gap": 5, "warmup": 20},
    {"search": 1, "gap": 0, "warmup": 0},
    {"search": 1, "gap": 50, "warmup": 0},
)
SMALL = SETTINGS[5:8]
SIGNIFICANT = 0.05


def cells(scale: Scale) -> list[Cell]:
    """The exhaustive search is the cell of the summary table."""
    small = scale == "small"
    chosen = ["optdigits"] if small else ["optdigits", "pendigits", "letter"]
    algorithms = ALGORITHMS[:1] if small else ALGORITHMS
    settings = SMALL if small else SETTINGS
    found = []
    for data in chosen:
        for algorithm in algorithms:
            found += [_cell(data, algorithm, setting) for setting in settings]
            found.append(abc_grid.cell(data, algorithm, *abc_grid.USUAL))
    return found


def _cell(data: str, algorithm: str, setting: Mapping[str, Any]) -> Cell:
    whole = abc_grid.cell(data, algorithm, *abc_grid.USUAL)
    named = ",".join(f"{key}={value}" for key, value in setting.items())
    known = _li.DATA_SETS[data]
    trees = trees_per_round(setting, known.n_classes)
    return Cell(
        f"{whole.name},{named}",
        {**whole.params, "own": dict(setting)},
        data=whole.data,
        effort=whole.effort * trees / (known.n_classes * (known.n_classes - 1) / 2),
    )


def trees_per_round(setting: Mapping[str, Any], n_classes: int) -> float:
    """Mean number of trees per round: a search grows s (K - 1) less those that two bases share."""
    s = n_classes if setting["search"] == "exhaustive" else setting["search"]
    searched = s * (n_classes - 1) - s * (s - 1) / 2
    return float((searched + setting["gap"] * (n_classes - 1)) / (setting["gap"] + 1))


def findings(scale: Scale, records: Records) -> list[Finding]:
    """Every setting compared with the exhaustive search."""
    found = []
    for cell in cells(scale):
        if "own" not in cell.params:
            continue
        record, full = records.get(cell.name), records.get(cell.name.split(",search")[0])
        what = cell.name.replace("/J=20,nu=0.1,", ", ")
        if record is None or full is None:
            found.append(Finding(what, None, None, "", "not run"))
            continue
        found.append(_beside(what, record, full))
    return found


def _beside(what: str, record: Record, full: Record) -> Finding:
    """Compared by the rows on which the two differ, or by counts if an old record has no rows."""
    ours, errors = record.outcome["errors"], full.outcome["errors"]
    paper, pair = f"{errors} (exhaustive, ours)", _paired.discordant(record, full)
    if pair is None:
        low, high = _verdict.band(errors, full.outcome["test_rows"])
        tolerance = f"{low} to {high}, by counts alone"
        return Finding(what, paper, ours, tolerance, _verdict.place(ours, low, high))
    p = _paired.two_sided(pair)
    told = f"only this one errs on {pair.only_first} rows, only the other on {pair.only_second}"
    verdict: Verdict = "agrees"
    if p < SIGNIFICANT:
        verdict = "more errors" if pair.only_first > pair.only_second else "fewer errors"
    return Finding(what, paper, ours, f"McNemar P = {p:.2g}, two-sided", verdict, told)


def tables(scale: Scale, records: Records) -> list[Table]:
    rows = [_row(cell, records.get(cell.name)) for cell in cells(scale)]
    columns = ["data", "algorithm", "search", "gap", "warmup", "errors", "rounds", "trees", "s"]
    title = "Errors; all trees grown; seconds, on a machine that may have been busy"
    return [Table(title, columns, rows)]


def _row(cell: Cell, record: Record | None) -> list[Any]:
    setting = cell.params.get("own") or {**_converge.EXHAUSTIVE, "warmup": 0}
    data, algorithm = cell.name.split("/")[:2]
    start = [data, algorithm, setting["search"], setting["gap"], setting["warmup"]]
    if record is None:
        return [*start, "-", "-", "-", "-"]
    n_classes = _li.DATA_SETS[data].n_classes
    rounds = record.outcome["rounds"]
    trees = round(rounds * trees_per_round(setting, n_classes))
    return [*start, record.outcome["errors"], rounds, trees, f"{record.seconds:.1f}"]


EXPERIMENT = Experiment(
    name="abc-search",
    item="the claims of the abstracts",
    title="The search for the base class, traded against time",
    paper=PAPER,
    tolerance="A cheaper search loses accuracy if McNemar's exact test on the rows that only one "
    "of the two predicts wrongly is significant (P < 0.05, two-sided; not corrected for the "
    "number of settings). Cells of older runs do not store rows and are judged by the binomial 95 "
    "% band around the errors of the exhaustive search.",
    cells=cells,
    run=abc_grid.run,
    findings=findings,
    tables=tables,
    remarks=("The tables of these papers were not available; the claim is from their abstracts.",),
    family=abc_grid.FAMILY,
)

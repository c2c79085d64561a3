"""Li's grids: test errors of MART and ABC-MART by leaves J and shrinkage nu.

Letter, Letter2k, Pendigits and Isolet are compared cell by cell; for Optdigits, Letter4k and
Zipcode the slides print only the best cell.
"""

from collections.abc import Callable
from typing import Any

from . import _converge, _li, _verdict
from ._data import Split, thin
from ._types import Cell, Experiment, Finding, Outcome, Record, Records, Scale, Table

FAMILY = "abc-fits"
ALGORITHMS = ("mart", "abc-mart")
USUAL = (20, 0.1)  # run first
# Rounds and rows at most, at small scale; the others are run in full.
SMALL = {
    "letter": (5, 1000),
    "letter2k": (20, 1000),
    "letter4k": (5, 1000),
    "isolet": (5, 200),
    "zipcode": (10, 300),
    "mnist10k": (5, 300),
    "covertype": (10, 2000),
}
STAGES = {"covertype": [1000, 2000, 3000, 5000]}  # rounds that are looked at besides the last
NAMES = ("letter", "letter2k", "pendigits", "isolet", "optdigits", "letter4k", "zipcode")
REMARKS = (
    "The slides do not say which base classes were tried in which round, how large a leaf must "
    "be, or when boosting stopped before 10 000 rounds. Here all base classes are tried in every "
    "round, leaves have at least ten rows, and boosting stops once the mean training loss is "
    f"below {_converge.STOP_LOSS:g}.",
    "Features have at most 255 bins; those of Letter, Pendigits and Optdigits have fewer values.",
)


def name_of(data: str, algorithm: str, leaves: int, shrinkage: float) -> str:
    return f"{data}/{algorithm}/J={leaves},nu={shrinkage:g}"


def cell(data: str, algorithm: str, leaves: int, shrinkage: float, scale: Scale = "paper") -> Cell:
    """One fit: to convergence, except for Covertype and fits too expensive for small scale."""
    known = _li.DATA_SETS[data]
    stages = STAGES.get(data, [])
    most_rounds, max_rows = stages[-1] if stages else _converge.MOST_ROUNDS, None
    if scale == "small" and data in SMALL:
        most_rounds, max_rows = SMALL[data]
    rounds = min(most_rounds, known.rounds * (20 / leaves) * (0.1 / shrinkage))
    rows = min(known.rows, max_rows or known.rows)
    return Cell(
        name_of(data, algorithm, leaves, shrinkage),
        {
            "algorithm": algorithm,
            "leaves": leaves,
            "shrinkage": shrinkage,
            "most_rounds": most_rounds,
            "max_rows": max_rows,
            "stages": stages,
        },
        data=known.source,
        effort=_converge.effort(algorithm, rounds, rows, known.columns, known.n_classes),
    )


def run(cell: Cell, data: Split | None, threads: int | None) -> Outcome:
    assert data is not None
    p = cell.params
    if p["max_rows"] is not None:
        data = thin(data, p["max_rows"])
    own = p.get("own", {})  # other than usual: the search for the base class, bins
    model = _converge.build(
        p["algorithm"], leaves=p["leaves"], shrinkage=p["shrinkage"], threads=threads, **own
    )
    return _converge.outcome_of(_converge.fit(model, data, p["most_rounds"]), data, p["stages"])


def cells(data: str) -> Callable[[Scale], list[Cell]]:
    """The cells of one data set: the usual setting first, then from cheap to expensive."""

    def of_scale(scale: Scale) -> list[Cell]:
        if scale == "small":
            return [cell(data, algorithm, *USUAL, scale) for algorithm in ALGORITHMS]
        shrinkages = (0.1,) if data == "isolet" else _li.SHRINKAGES
        grid = [
            (algorithm, leaves, shrinkage)
            for algorithm in ALGORITHMS
            for leaves in _li.LEAVES
            for shrinkage in shrinkages
        ]
        all_cells = [(at[1:] != USUAL, cell(data, *at)) for at in grid]
        return [each for _, each in sorted(all_cells, key=lambda pair: (pair[0], pair[1].effort))]

    return of_scale


def findings(data: str) -> Callable[[Scale, Records], list[Finding]]:
    known = _li.DATA_SETS[data]

    def of_records(scale: Scale, records: Records) -> list[Finding]:
        found = [beside_paper(data, each, records) for each in cells(data)(scale)]
        judged = [finding for finding in found if finding.paper is not None]
        if scale == "paper":
            return [*judged, *_best(known, records), _claim(known, records)]
        return found

    return of_records


def beside_paper(data: str, cell: Cell, records: Records, paper: int | None = None) -> Finding:
    """A cell compared with the count `paper`, or with the slides' count for the setting."""
    known, p = _li.DATA_SETS[data], cell.params
    what = f"{known.title}, {p['algorithm']}, J={p['leaves']}, nu={p['shrinkage']:g}"
    record = records.get(cell.name)
    paper = paper or _li.printed(data, p["algorithm"], p["leaves"], p["shrinkage"])
    if record is None:
        return _verdict.errors_beside(what, None, paper, known.test_rows)
    errors, rows = record.outcome["errors"], record.outcome["test_rows"]
    if not is_whole(cell, record):
        what = f"{what} (here {record.data}, {p['most_rounds']} rounds at most)"
        return _verdict.errors_beside(what, errors, None, rows, f"of {rows}")
    rounds = f"{record.outcome['rounds']} rounds"
    return _verdict.errors_beside(what, errors, paper, known.test_rows, rounds)


def is_whole(cell: Cell, record: Record) -> bool:
    """Return whether a cell used the original data with all rows and rounds, as in the slides."""
    return record.data == cell.data and cell.params["max_rows"] is None


def _best(known: _li.DataSet, records: Records) -> list[Finding]:
    """The best cell: chosen on the test set, as in the slides; only once the grid is complete."""
    found = []
    for algorithm, paper in (("mart", known.mart), ("abc-mart", known.abc_mart)):
        all_of = [r for r in records.values() if r.params["algorithm"] == algorithm]
        wanted = _settings(known)
        best = min(all_of, key=lambda r: int(r.outcome["errors"]), default=None)
        complete = best is not None and len(all_of) == wanted
        note = f"{len(all_of)} of {wanted} settings" + (f"; {best.cell}" if best else "")
        found.append(
            _verdict.errors_beside(
                f"{known.title}, {algorithm}, best of the grid",
                best.outcome["errors"] if best is not None and complete else None,
                paper,
                known.test_rows,
                note,
            )
        )
    return found


def _claim(known: _li.DataSet, records: Records) -> Finding:
    """The claim that ABC-MART has fewer errors than MART in every setting."""
    pairs = _pairs(records)
    better = sum(abc < mart for mart, abc in pairs.values())
    decided = len(pairs) == _settings(known) or better < len(pairs)
    return _verdict.claim(
        f"{known.title}: ABC-MART has fewer errors than MART in every setting",
        better == len(pairs) if decided else None,
        f"in {better} of {len(pairs)} settings",
    )


def _settings(known: _li.DataSet) -> int:
    """Settings of one algorithm in the grid."""
    return len(_li.LEAVES) * (1 if known.source == "isolet" else len(_li.SHRINKAGES))


def _pairs(records: Records) -> dict[tuple[int, float], tuple[int, int]]:
    """Errors of MART and ABC-MART in settings that both have, by leaves and shrinkage."""
    errors: dict[str, dict[tuple[int, float], int]] = {"mart": {}, "abc-mart": {}}
    for record in records.values():
        p: Any = record.params
        errors[p["algorithm"]][p["leaves"], p["shrinkage"]] = record.outcome["errors"]
    both = sorted(errors["mart"].keys() & errors["abc-mart"].keys())
    return {at: (errors["mart"][at], errors["abc-mart"][at]) for at in both}


def tables(data: str) -> Callable[[Scale, Records], list[Table]]:
    """The grid in the slides' layout, the paper's counts in brackets."""

    def of_records(scale: Scale, records: Records) -> list[Table]:
        if scale == "small":
            return []
        return [_grid(data, algorithm, records) for algorithm in ALGORITHMS]

    return of_records


def _grid(data: str, algorithm: str, records: Records) -> Table:
    shrinkages = (0.1,) if data == "isolet" else _li.SHRINKAGES
    rows = []
    for leaves in _li.LEAVES:
        row: list[Any] = [leaves]
        for shrinkage in shrinkages:
            record = records.get(name_of(data, algorithm, leaves, shrinkage))
            paper = _li.printed(data, algorithm, leaves, shrinkage)
            ours = "-" if record is None else record.outcome["errors"]
            row.append(ours if paper is None else f"{ours} ({paper})")
        rows.append(row)
    columns = ["J", *(f"nu = {shrinkage:g}" for shrinkage in shrinkages)]
    title = f"{algorithm} on {_li.DATA_SETS[data].title}: test errors"
    return Table(f"{title}, the paper's in brackets" if data in _li.MART else title, columns, rows)


def _experiment(data: str) -> Experiment:
    title = _li.DATA_SETS[data].title
    return Experiment(
        name=f"abc-grid-{data}",
        item=f"grid of {title}" if data in _li.MART else f"summary table, best of {title}",
        title=f"MART and ABC-MART on {title}, by leaves and shrinkage",
        paper=_li.PAPER,
        tolerance="A count of test errors agrees if it is within the binomial 95 % band around "
        "the paper's count for the same setting. The best cell of the grid is judged in the same "
        "way.",
        cells=cells(data),
        run=run,
        findings=findings(data),
        tables=tables(data),
        remarks=REMARKS,
        family=FAMILY,
    )


EXPERIMENTS = [_experiment(data) for data in NAMES]

"""The parts of an experiment: cells to run, records of outcomes, findings about them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from ._data import Split

Scale = Literal["small", "paper"]
SCALES: tuple[Scale, ...] = ("small", "paper")

Outcome = dict[str, Any]  # result of a cell as plain JSON


@dataclass(frozen=True)
class Cell:
    """The smallest part of an experiment, which is run and stored as a unit.

    Its outcome depends only on the parameters, the data and the seed.
    """

    name: str  # unique within the experiment
    params: Mapping[str, Any] = field(default_factory=dict)  # plain JSON
    data: str | None = None  # a data set by name; None: drawn from the seed, or no data
    seed: int = 0
    effort: float = 0.1  # approximate seconds where the calibration takes one


@dataclass(frozen=True)
class Record:
    """A finished cell."""

    experiment: str
    scale: str
    cell: str
    seed: int
    params: dict[str, Any]
    data: str | None  # the data set used: the cell's, or a substitute
    data_hash: str
    version: int  # of the experiment
    outcome: Outcome
    seconds: float

    def key(self) -> "Key":
        return key(self.experiment, self.scale, self.cell, self.seed, self.data_hash, self.version)


Key = tuple[str, str, str, int, str, int]
Records = Mapping[str, Record]  # by the name of the cell


def key(experiment: str, scale: str, cell: str, seed: int, data_hash: str, version: int) -> Key:
    """Return the key of a finished cell."""
    return experiment, scale, cell, seed, data_hash, version


Verdict = Literal[
    "agrees", "fewer errors", "more errors", "differs", "holds", "fails", "not judged", "not run"
]
BAD: tuple[Verdict, ...] = ("more errors", "differs", "fails")


@dataclass(frozen=True)
class Finding:
    """One line of the table: the paper's figure, ours, and whether they agree."""

    what: str
    paper: Any
    ours: Any
    tolerance: str  # in words or numbers, decided before the run
    verdict: Verdict
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Table:
    """A table of the results that is not judged line by line."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


Draw = Callable[[Any], None]  # draws on a matplotlib Figure


@dataclass(frozen=True)
class Picture:
    """A figure of the results, drawn only where matplotlib is installed."""

    name: str  # of the file, without suffix
    title: str
    draw: Draw
    size: tuple[float, float] = (7.0, 4.2)  # inches


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper that can be rerun."""

    name: str
    title: str
    paper: str  # the citation
    tolerance: str  # the criterion of agreement in words, decided beforehand
    cells: Callable[[Scale], list[Cell]]  # in the order in which to run them
    run: Callable[[Cell, Split | None, int | None], Outcome]  # cell, data, threads
    findings: Callable[[Scale, Records], list[Finding]]
    tables: Callable[[Scale, Records], list[Table]] = lambda scale, records: []
    pictures: Callable[[Scale, Records], list[Picture]] = lambda scale, records: []
    remarks: Sequence[str] = ()  # deviations from the paper, and explanations of differences
    version: int = 1  # increases when a cell of the same name would have another outcome
    family: str = ""  # experiments of one family share their cells
    item: str = ""  # of the paper: its table, figure or section

    @property
    def kept_as(self) -> str:
        """Return the experiment's name in records."""
        return self.family or self.name

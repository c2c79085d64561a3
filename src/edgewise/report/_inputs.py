"""What reports are made from: plain records that the command line and the experiments fill.

A comparison of methods is a `Comparison`; experiments are `Experiment`s made of `Section`s. A
figure that was not measured is None and is shown as a dash.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from numpy.typing import ArrayLike

# --- a comparison of methods -------------------------------------------------------------------


@dataclass(frozen=True)
class MethodResult:
    """One method's row of the table."""

    method: str
    error: float  # share of wrong rows: the mean over the folds, or of the test file
    interval: tuple[float, float] | None = None  # of the error
    log_loss: float | None = None
    brier: float | None = None
    calibration: float | None = None  # expected calibration error
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    model_bytes: int | None = None
    fold_errors: Sequence[float] = ()  # the same folds in the same order for every method
    note: str = ""  # whatever should stand beside it, such as the number of rounds


@dataclass(frozen=True)
class PairedTest:
    """Whether the best two methods differ, on the same folds or rows."""

    first: str
    second: str
    name: str  # of the test, such as "corrected resampled t-test"
    difference: float  # error of the second minus that of the first
    p_value: float
    interval: tuple[float, float] | None = None  # of the difference


@dataclass(frozen=True)
class LearningCurve:
    """A figure per round; of several curves each gets a line."""

    name: str  # method
    values: Sequence[float]  # after round 1, 2, ...
    best_round: int | None = None  # from 1: the one that is marked
    of: str = "test error"  # what the values are


@dataclass(frozen=True)
class HeldOut:
    """Predictions of the best method for rows it was not fitted to.

    With `estimator` and `X` the report also tells its rounds, margins and importances.
    """

    y: ArrayLike  # (n,) labels, or an indicator matrix (n, K)
    y_pred: ArrayLike
    classes: ArrayLike  # (K,)
    proba: ArrayLike | None = None  # (n, K)
    estimator: Any = None
    X: Any = None
    X_train: Any = None  # with y_train: the rows the estimator was fitted to
    y_train: Any = None


@dataclass(frozen=True)
class Comparison:
    """Methods compared on one data set."""

    data: str  # name of the data set
    results: Sequence[MethodResult]  # in the order of the table, the best first
    protocol: str = ""  # a sentence: how it was measured
    facts: Mapping[str, Any] = field(default_factory=dict)  # of the data: rows, features, classes
    paired_test: PairedTest | None = None
    curves: Sequence[LearningCurve] = ()
    best: HeldOut | None = None
    best_name: str = ""  # whose predictions `best` holds; if empty, the first method
    failures: Mapping[str, str] = field(default_factory=dict)  # method: why it has no row
    command: str | None = None
    title: str | None = None


# --- experiments -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """Whether our number is the paper's, by the tolerance decided beforehand."""

    outcome: Literal["agrees", "differs", "open"]
    words: str = ""  # shown after the outcome


Cell = str | float | int | Verdict | None


@dataclass(frozen=True)
class Table:
    """A table; numbers are aligned to the right and formatted by `formats`, else to 4 digits."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)  # column: format, such as ".2%"
    bold: Sequence[int] = ()  # numbers of the rows to stress, from 0
    beside: bool = False  # narrow enough to stand beside a chart


@dataclass(frozen=True)
class Chart:
    """An interactive chart: a Vega-Lite specification with its data inside."""

    spec: Mapping[str, Any]  # without width: the chart is as wide as its place
    description: str  # for those who cannot see it
    title: str = ""
    table: Table | None = None  # the same figures, to be read; folded away


@dataclass(frozen=True)
class Image:
    """A picture: PNG as bytes or SVG as text."""

    content: bytes | str
    description: str
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, what is to be said, and what is to be seen, in the order of `parts`."""

    title: str
    words: Sequence[str] = ()  # paragraphs
    parts: Sequence[Table | Chart | Image] = ()
    about: str = ""  # stands above the title, such as the method that the section is about


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper, run again."""

    name: str  # as the command line calls it
    title: str
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()  # of all numbers compared; counted in the summary
    source: str = ""  # the paper, table or figure
    command: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # seed, hash of the data, seconds, scale

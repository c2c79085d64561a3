"""The inputs of reports: plain records that the command line and the experiments fill.

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
    """One method's row of the table.

    Attributes
    ----------
    method : str
        Name of the method.
    error : float
        Error rate: mean over the folds, or that of the test file.
    interval : tuple[float, float] | None
        Confidence interval of the error rate.
    log_loss : float | None
        Log loss.
    brier : float | None
        Brier score.
    calibration : float | None
        Expected calibration error.
    fit_seconds : float | None
        Seconds of a fit.
    predict_seconds : float | None
        Seconds to predict the test rows.
    model_bytes : int | None
        Size of the model.
    fold_errors : Sequence[float]
        Error rate of each fold, the same folds for every method.
    note : str
        Remark beside the method, such as its number of rounds.
    """

    method: str
    error: float
    interval: tuple[float, float] | None = None
    log_loss: float | None = None
    brier: float | None = None
    calibration: float | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    model_bytes: int | None = None
    fold_errors: Sequence[float] = ()
    note: str = ""


@dataclass(frozen=True)
class PairedTest:
    """A test of whether the best two methods differ, on the same folds or rows.

    Attributes
    ----------
    first : str
        The better method.
    second : str
        The other method.
    name : str
        Name of the test, such as "corrected resampled t-test".
    difference : float
        Error of the second minus that of the first.
    p_value : float
        P-value of no difference.
    interval : tuple[float, float] | None
        Confidence interval of the difference.
    """

    first: str
    second: str
    name: str
    difference: float
    p_value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class LearningCurve:
    """A figure per round; of several curves each gets a line.

    Attributes
    ----------
    name : str
        Name of the method.
    values : Sequence[float]
        Values after round 1, 2, ...
    best_round : int | None
        Number of the round that is marked, from 1.
    of : str
        Name of the values.
    """

    name: str
    values: Sequence[float]
    best_round: int | None = None
    of: str = "test error"


@dataclass(frozen=True)
class HeldOut:
    """Predictions of the best method for rows it was not fitted to.

    With `estimator` and `X` the report also shows its rounds, margins and importances.

    Attributes
    ----------
    y : ArrayLike
        Labels (n_rows,), or an indicator matrix.
    y_pred : ArrayLike
        Predictions in the form of y.
    classes : array of shape (n_classes,)
        Class labels.
    proba : array of shape (n_rows, n_classes)
        Probabilities.
    estimator : Any
        The fitted estimator.
    X : Any
        The rows.
    X_train : Any
        Rows the estimator was fitted to.
    y_train : Any
        Their labels.
    """

    y: ArrayLike
    y_pred: ArrayLike
    classes: ArrayLike
    proba: ArrayLike | None = None
    estimator: Any = None
    X: Any = None
    X_train: Any = None
    y_train: Any = None


@dataclass(frozen=True)
class Comparison:
    """Methods compared on one data set.

    Attributes
    ----------
    data : str
        Name of the data set.
    results : Sequence[MethodResult]
        Results in the order of the table, the best first.
    protocol : str
        One sentence that says how the figures were measured.
    facts : Mapping[str, Any]
        Facts about the data, such as rows, features and classes.
    paired_test : PairedTest | None
        Test of the difference between the best two methods.
    curves : Sequence[LearningCurve]
        Learning curves.
    best : HeldOut | None
        Predictions of the best method.
    best_name : str
        Method whose predictions `best` holds; if empty, the first.
    failures : Mapping[str, str]
        Methods that failed, with the reason.
    command : str | None
        Command that repeats the comparison.
    title : str | None
        Title of the page.
    """

    data: str
    results: Sequence[MethodResult]
    protocol: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    paired_test: PairedTest | None = None
    curves: Sequence[LearningCurve] = ()
    best: HeldOut | None = None
    best_name: str = ""
    failures: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    title: str | None = None


# --- experiments -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """The agreement of our number with the paper's, by a tolerance decided beforehand.

    Attributes
    ----------
    outcome : Literal['agrees', 'differs', 'open']
        Whether the number agrees with the paper.
    words : str
        Text shown after the outcome.
    """

    outcome: Literal["agrees", "differs", "open"]
    words: str = ""


Cell = str | float | int | Verdict | None


@dataclass(frozen=True)
class Table:
    """A table; numbers are aligned to the right and formatted by `formats`, else to 4 digits.

    Attributes
    ----------
    columns : Sequence[str]
        Names of the columns; or, of a table read from a file, its feature columns.
    rows : Sequence[Sequence[Cell]]
        Cells, row by row.
    caption : str
        Caption.
    formats : Mapping[str, str]
        Format of a column by its name, such as ".2%".
    bold : Sequence[int]
        Numbers of the rows to emphasise, from 0.
    beside : bool
        Whether the table is narrow enough to stand beside a chart.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    formats: Mapping[str, str] = field(default_factory=dict)
    bold: Sequence[int] = ()
    beside: bool = False


@dataclass(frozen=True)
class Chart:
    """An interactive chart: a Vega-Lite specification with its data inside.

    Attributes
    ----------
    spec : Mapping[str, Any]
        Vega-Lite specification without a width.
    description : str
        Description for screen readers.
    title : str
        Title.
    table : Table | None
        The same figures as a collapsed table.
    """

    spec: Mapping[str, Any]
    description: str
    title: str = ""
    table: Table | None = None


@dataclass(frozen=True)
class Image:
    """A picture: PNG as bytes or SVG as text.

    Attributes
    ----------
    content : bytes | str
        PNG as bytes or SVG as text.
    description : str
        Description for screen readers.
    title : str
        Title.
    """

    content: bytes | str
    description: str
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A section: a heading, paragraphs, and `parts` such as tables and charts.

    Attributes
    ----------
    title : str
        Heading.
    words : Sequence[str]
        Paragraphs.
    parts : Sequence[Table | Chart | Image]
        Tables, charts and images, in order.
    about : str
        Text above the title, such as the method of the section.
    """

    title: str
    words: Sequence[str] = ()
    parts: Sequence[Table | Chart | Image] = ()
    about: str = ""


@dataclass(frozen=True)
class Experiment:
    """One rerun experiment of a paper.

    Attributes
    ----------
    name : str
        Name of the experiment on the command line.
    title : str
        Title of the experiment.
    sections : Sequence[Section]
        Sections of the page.
    verdicts : Sequence[Verdict]
        Verdicts of all numbers compared; the summary counts them.
    source : str
        Paper, table or figure of the original numbers.
    command : str | None
        Command that repeats the experiment.
    facts : Mapping[str, Any]
        Seed, hash of the data, seconds, scale.
    """

    name: str
    title: str
    sections: Sequence[Section]
    verdicts: Sequence[Verdict] = ()
    source: str = ""
    command: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

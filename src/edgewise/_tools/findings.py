"""Findings: what to know about a table or a model before trusting its figures.

A finding consists of a sentence about the data or the fit and a sentence of advice. Reports and the
command line begin with them. Checks look at no more than ``SAMPLE`` rows, chosen evenly, so that
they cost little beside a fit.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._data.kinds import time_kind_of

SAMPLE = 20_000  # rows that a check looks at
LEAK = 0.98  # share of held-out rows a column alone must predict to be suspicious
FEW = 20  # rows below which a column cannot be called an identifier
CHANCE = 0.01  # of different whole numbers in all rows, below which they are no accident
RARE = 10  # rows below which a class is called rare
BINS = 64  # of a column of numbers, in the check for leaks
SHOWN = 5  # columns or classes named in a sentence
GAP = 0.05  # difference of held-out and training error that makes a finding
WORSE = 1.05  # factor of the lowest held-out log loss beyond which rounds are too many

_MONEY = re.compile(
    r"^[-+(]?\s*(?:[$€£¥₹]|USD|EUR|GBP|CHF)?\s*[-+]?\d{1,3}(?:[,.'\s]?\d{3})*(?:[.,]\d+)?\s*"
    r"(?:[$€£¥₹%]|USD|EUR|GBP|CHF)?\)?$"
)

_ID = re.compile(r"(?:^|[^A-Za-z])(?:(?i:id|key|uuid|number|no|nr))$|[a-z](?:Id|ID|Key|Number)$")


class Finding(NamedTuple):
    """A sentence about the data or the fit, and what to do about it.

    Attributes
    ----------
    kind : str
        Kind of the finding in a word, such as "leak" or "constant".
    text : str
        What was found.
    advice : str
        What to do about it.
    """

    kind: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text} {self.advice}"


# --- data --------------------------------------------------------------------------------------


def data_findings(X: Any, y: ArrayLike, names: Sequence[str]) -> list[Finding]:
    """Find problems of a table before fitting a model.

    The findings name columns that nearly decide the target alone, identifiers, constants, text that
    looks like numbers, and classes of few rows.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    list of Finding
        Empty if there is nothing to report.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise import data_findings
    >>> X = np.column_stack([np.arange(60) % 7, np.ones(60)])
    >>> [finding.kind for finding in data_findings(X, np.arange(60) % 4, ["a", "b"])]
    ['constant']
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) < 2:
        return []
    found: dict[str, list[str]] = {"leak": [], "identifier": [], "constant": [], "numbers": []}
    rows = np.unique(np.linspace(0, len(labels) - 1, SAMPLE).astype(int))
    _, codes = np.unique(labels[rows].astype(str), return_inverse=True)
    for name, column in zip(names, columns_of(X), strict=False):
        kind = _kind_of(str(name), column, rows, codes)
        if kind is not None:
            found[kind].append(name)
    return [
        *(_about(kind, of_kind) for kind, of_kind in found.items() if of_kind),
        *_rare_classes(labels),
    ]


def columns_of(X: Any) -> Iterator[NDArray[Any]]:
    """The columns of an array, a sparse matrix or a data frame, one by one."""
    if sparse.issparse(X):
        by_column = X.tocsc()
        for j in range(X.shape[1]):
            yield by_column[:, [j]].toarray()[:, 0]
    elif hasattr(X, "columns"):
        for name in getattr(X, "column_names", X.columns):  # of Arrow, or of others
            column = X[name]
            zoned = getattr(getattr(column, "dtype", None), "tz", None) is not None  # of pandas
            yield np.asarray(column.dt.tz_convert(None) if zoned else column)
    else:
        yield from np.asarray(X).T


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or a missing value of pandas, which is not imported."""
    unknown = value is None or type(value).__name__ in ("NAType", "NaTType")
    return unknown or (isinstance(value, float) and math.isnan(value))


def _kind_of(
    name: str, column: NDArray[Any], rows: NDArray[Any], codes: NDArray[Any]
) -> str | None:
    times = column.dtype.kind in "mM" or _is_of_time_objects(column)
    values, numeric = _plain(_ticks(column) if column.dtype.kind in "mM" else column)
    present = values[~np.isnan(values)] if numeric else values[values != ""]
    distinct = len(np.unique(present))
    if distinct <= 1:
        return "constant"
    if not numeric and _looks_numeric(present[:SAMPLE]):
        return "numbers"
    everywhere = len(present) == len(values) == distinct and distinct >= FEW
    if everywhere and not times and (not numeric or _numbers_rows(name, present)):
        return "identifier"
    return "leak" if _decides(values[rows], codes, numeric=numeric) else None


def _numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether different numbers identify rows: by their name, or by their narrow range.

    n whole numbers drawn from a range of r all differ with a probability of about
    exp(-n (n - 1) / (2 r)). Amounts in dollars may; customer numbers must.
    """
    if not np.all(values == np.round(values)):
        return False
    if _ID.search(name):
        return True
    n, span = len(values), float(values.max() - values.min()) + 1.0
    return n * (n - 1) / (2.0 * span) > -math.log(CHANCE)


def _is_of_time_objects(column: NDArray[Any]) -> bool:
    if column.dtype.kind != "O":
        return False
    first = next((value for value in column if not is_missing(value)), None)
    return time_kind_of(first) is not None


def _ticks(column: NDArray[Any]) -> NDArray[np.float64]:
    """Dates or durations as numbers in their order."""
    return np.where(np.isnat(column), np.nan, column.astype(np.int64).astype(np.float64))


def _plain(column: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """A column as numbers with NaN, or as text with "", for missing values."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), True
    present = [None if is_missing(v) else v for v in column.tolist()]
    try:
        return np.array(present, dtype=np.float64), True
    except (TypeError, ValueError):
        return np.array(["" if v is None else str(v) for v in present]), False


def _looks_numeric(words: NDArray[Any]) -> bool:
    """Return whether text is numbers with currency signs, separators or decimal commas."""
    return sum(bool(_MONEY.match(word.strip())) for word in words) >= 0.9 * len(words)


def _decides(values: NDArray[Any], codes: NDArray[Any], *, numeric: bool) -> bool:
    """Return whether a column alone predicts nearly all of one half of the rows from the other."""
    n_classes = int(codes.max()) + 1
    most = np.bincount(codes).max() / len(codes)
    if len(codes) < 2 * FEW or 1.0 - most < 2.0 * (1.0 - LEAK):
        return False
    places = _binned(values) if numeric else np.unique(values, return_inverse=True)[1]
    counts = np.zeros((int(places.max()) + 1, n_classes), dtype=np.int64)
    np.add.at(counts, (places[::2], codes[::2]), 1)
    seen = counts.sum(axis=1) > 0
    right = seen[places[1::2]] & (counts.argmax(axis=1)[places[1::2]] == codes[1::2])
    return float(right.mean()) >= LEAK


def _binned(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers as indices of their values, or of quantiles if there are many values.

    Missing last.
    """
    known = np.unique(values[~np.isnan(values)])
    if len(known) > BINS:
        known = np.unique(np.quantile(values[~np.isnan(values)], np.linspace(0, 1, BINS)))
    places = np.searchsorted(known, values, side="right")
    return np.where(np.isnan(values), len(known) + 1, places)


_ABOUT = {  # of one column, of several; what to do about one, about several
    "leak": (
        "nearly decides the target alone, which suggests a leak",
        "each nearly decide the target alone, which suggests leaks",
        "Check that its value is known when predictions are made, and drop it otherwise.",
        "Check that their values are known when predictions are made, and drop them otherwise.",
    ),
    "identifier": (
        "has a different value in every row, like an identifier",
        "have a different value in every row, like identifiers",
        "Drop it: a model can only memorise it.",
        "Drop them: a model can only memorise them.",
    ),
    "constant": (
        "has the same value in every row",
        "have the same value in every row",
        "Drop it: it carries no information.",
        "Drop them: they carry no information.",
    ),
    "numbers": (
        "is text that looks like numbers",
        "are text that looks like numbers",
        "Remove currency signs and separators, and replace words by missing values: a model of "
        "text does not know the order of the numbers.",
        "Remove currency signs and separators, and replace words by missing values: a model of "
        "text does not know the order of the numbers.",
    ),
}


def _about(kind: str, names: Sequence[str]) -> Finding:
    one, many, advice, advice_many = _ABOUT[kind]
    if len(names) == 1:
        return Finding(kind, f"Column {names[0]!r} {one}.", advice)
    return Finding(kind, f"Columns {_listed(names)} {many}.", advice_many)


def written_findings(names: Sequence[str]) -> list[Finding]:
    """Findings about columns of text that were read as numbers."""
    if not names:
        return []
    one = len(names) == 1
    return [
        Finding(
            "numbers",
            f"{'Column' if one else 'Columns'} {_listed(names)} "
            f"{'is' if one else 'are'} text of numbers, such as amounts of money, and "
            f"{'was' if one else 'were'} read as numbers.",
            "Check a value; --category NAME keeps a column as text.",
        )
    ]


def _rare_classes(y: NDArray[Any]) -> list[Finding]:
    sizes = Counter(str(label) for label in y.tolist())
    single = [label for label, n in sizes.items() if n == 1]
    rare = [label for label, n in sizes.items() if 1 < n < RARE]
    found = []
    if single:
        one = len(single) == 1
        found.append(
            Finding(
                "rare class",
                f"{'Class' if one else 'Classes'} {_listed(single)} "
                f"{'has a single row' if one else 'have a single row each'}, which cannot be used "
                "both to learn and to test.",
                "Collect more rows, merge the class with another one, or leave it out."
                if one
                else "Collect more rows, merge the classes with others, or leave them out.",
            )
        )
    if rare:
        found.append(
            Finding(
                "rare class",
                f"{'Class' if len(rare) == 1 else 'Classes'} {_listed(rare)} "
                f"{'has' if len(rare) == 1 else 'have'} fewer than {RARE} rows.",
                "Figures about so few rows are uncertain.",
            )
        )
    return found


def _listed(names: Sequence[str]) -> str:
    shown = [repr(str(name)) for name in names[:SHOWN]]
    rest = len(names) - len(shown)
    if rest:
        return f"{', '.join(shown)} and {rest} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# --- model -------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """Errors of a model on its training rows and on held-out rows, and the number of the latter."""

    training_error: float
    held_out_error: float
    n_held_out: int


def model_findings(
    outcome: Outcome | None, held_out_losses: Sequence[float] | NDArray[Any] = ()
) -> list[Finding]:
    """Return findings about overfitting, by held-out log losses after every round or errors."""
    losses = np.asarray(held_out_losses, dtype=np.float64)
    if len(losses) > 1:
        best = int(np.argmin(losses))
        if losses[-1] > WORSE * losses[best]:
            rounds = "1 round" if best == 0 else f"{best + 1} rounds"
            return [
                Finding(
                    "overfit",
                    f"The model is overfit: the log loss of held-out rows is lowest after {rounds} "
                    f"({losses[best]:.3g}) and rises to {losses[-1]:.3g} after all {len(losses)}.",
                    "Use early stopping (--early-stopping, or early_stopping=True), fewer rounds, "
                    "or AutoBoost.",
                )
            ]
    return [] if outcome is None else _gap(outcome)


def _gap(outcome: Outcome) -> list[Finding]:
    train, test, n = outcome
    spread = math.sqrt(max(test * (1.0 - test), 1e-12) / max(n, 1))
    if test - train <= max(GAP, 3.0 * spread) or train > test / 4.0:
        return []
    return [
        Finding(
            "overfit",
            f"The model is overfit: its error is {100 * train:.1f} % on training rows and "
            f"{100 * test:.1f} % on held-out rows.",
            "Use early stopping, larger leaves (min_samples_leaf), or AutoBoost, and judge the "
            "model by the held-out figure.",
        )
    ]

"""Ranks, ratios and intervals over tables.

Values are frames with a row per table and a column per contender; lower is better, and a failure
is infinite. Ranks and the critical difference: J. Demsar, "Statistical comparisons of classifiers
over multiple data sets", JMLR 7, 2006.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

DRAWS = 10_000  # of the bootstrap
LEVEL = 0.95


class Ratio(NamedTuple):
    """A geometric mean over tables and its interval."""

    mean: float
    low: float
    high: float


class Score(NamedTuple):
    """On how many tables a contender is better than another, as good, and worse."""

    won: int
    tied: int
    lost: int


def medians(cells: pd.DataFrame, measure: str) -> pd.DataFrame:
    """The median over the seeds; a cell that failed is worse than any figure."""
    return cells.assign(value=cells[measure].fillna(np.inf)).pivot_table(
        index="table", columns="contender", values="value", aggfunc="median"
    )


def complete(cells: pd.DataFrame, contenders: list[str], seeds: list[int]) -> pd.DataFrame:
    """The cells of those tables that every contender has met with every seed."""
    wanted = cells[cells["contender"].isin(contenders) & cells["seed"].isin(seeds)]
    counts = wanted.groupby("table").size()
    whole = counts[counts == len(contenders) * len(seeds)].index
    return wanted[wanted["table"].isin(whole)]


def ranks(values: pd.DataFrame) -> pd.DataFrame:
    """The best of a table has rank 1; equals share the mean of their ranks."""
    ranked = stats.rankdata(values.to_numpy(), axis=1)
    return pd.DataFrame(ranked, index=values.index, columns=values.columns)


def ratio(values: pd.Series, reference: pd.Series, *, seed: int = 0) -> Ratio:
    """The geometric mean of values / reference, with a bootstrap interval over the tables.

    Tables on which either failed are left out.
    """
    both = np.isfinite(values) & np.isfinite(reference)
    logs = np.log(values[both] / reference[both]).to_numpy()
    if not len(logs):
        return Ratio(np.nan, np.nan, np.nan)
    drawn = np.random.default_rng(seed).integers(len(logs), size=(DRAWS, len(logs)))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(logs[drawn].mean(axis=1), [tail, 1 - tail])
    return Ratio(*(float(np.exp(x)) for x in (logs.mean(), low, high)))


def score(values: pd.Series, other: pd.Series) -> Score:
    """Wins, ties and losses of `values` against `other`."""
    return Score(
        int((values < other).sum()), int((values == other).sum()), int((values > other).sum())
    )


def critical_difference(n_contenders: int, n_tables: int) -> float:
    """Mean ranks that differ by less may be equal (Nemenyi's test at 5 %)."""
    quantile = stats.studentized_range.ppf(LEVEL, n_contenders, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_contenders * (n_contenders + 1) / (6 * n_tables)))


def friedman(values: pd.DataFrame) -> float:
    """P-value of all contenders being equally good."""
    if values.shape[1] < 3 or len(values) < 2:
        return float("nan")
    return float(stats.friedmanchisquare(*ranks(values).to_numpy().T).pvalue)


def cliques(mean_ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Largest ranges of mean ranks no wider than `difference` that hold two contenders or more."""
    sorted_ranks = np.sort(mean_ranks.to_numpy())
    found: list[tuple[float, float]] = []
    for low in sorted_ranks:
        high = sorted_ranks[sorted_ranks <= low + difference].max()
        if high > low and (not found or high > found[-1][1]):
            found.append((float(low), float(high)))
    return found

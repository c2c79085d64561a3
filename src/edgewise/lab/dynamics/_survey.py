"""A survey of random matrices: where AdaBoost ends, and how far from the maximum margin.

Every matrix and every start has a seed of its own, so the result depends on `random_state` only,
not on the number of threads.
"""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..._boosting.progress import Progress
from ..._boosting.threads import n_threads
from ..._ground import params
from ._cycles import Cycle, find_cycle
from ._margin_matrix import Signs, Weights
from ._margins import max_margin
from ._matrices import random_matrix, random_weights

_WORK_PER_STEP = 4  # in the units of n_threads; rough


class Run(NamedTuple):
    """One matrix and one start."""

    matrix: int  # its number
    start: int  # its number for this matrix
    outcome: Literal["cycle", "not found", "no edge", "no error"]
    length: int  # of the cycle; 0 if there is none
    support: int  # examples of positive weight on the cycle; 0 if there is none
    margin: float  # where AdaBoost ends, or got to
    max_margin: float


@dataclass(frozen=True, eq=False)
class Plan:
    """The matrices and starts of a survey, by their seeds."""

    shape: tuple[int, int]
    error_rate: float
    seeds: NDArray[np.int64]  # (n_matrices, 1 + n_starts)

    def matrix(self, number: int) -> Signs:
        """A matrix of the survey."""
        seed = int(self.seeds[number, 0])
        return random_matrix(*self.shape, error_rate=self.error_rate, random_state=seed)

    def start(self, matrix: int, number: int) -> Weights:
        """A start of the survey."""
        seed = int(self.seeds[matrix, 1 + number])
        return random_weights(self.shape[0], random_state=seed)


@dataclass(frozen=True, eq=False)
class Survey(Plan):
    """The runs, matrix by matrix, and what they have in common."""

    runs: tuple[Run, ...]

    @property
    def outcomes(self) -> dict[str, int]:
        """Return the number of runs with each outcome."""
        return dict(Counter(run.outcome for run in self.runs).most_common())

    @property
    def lengths(self) -> dict[int, int]:
        """Return the number of cycles of each length, shortest first."""
        return dict(sorted(Counter(run.length for run in self.runs if run.length).items()))

    @property
    def shortfalls(self) -> Weights:
        """Maximum margin less AdaBoost's, for each cycle."""
        return np.array([run.max_margin - run.margin for run in self.runs if run.length])

    def __str__(self) -> str:
        total = len(self.runs)
        lines = [f"{total} runs on random {self.shape[0]}x{self.shape[1]} matrices"]
        lines += [f"  {n / total:6.1%}  {outcome}" for outcome, n in self.outcomes.items()]
        if self.lengths:
            common = sorted(self.lengths.items(), key=lambda item: (-item[1], item[0]))[:6]
            lines.append("  most frequent lengths: " + ", ".join(f"{k} ({n})" for k, n in common))
            missed = self.shortfalls > 1e-9
            lines.append(
                f"  {missed.mean():.1%} of the cycles miss the maximum margin, "
                f"at most by {self.shortfalls.max():.4f}"
            )
        return "\n".join(lines)


def survey(  # noqa: PLR0913 - what is drawn, how far to go, how to run
    n_matrices: int = 100,
    m: int = 10,
    n: int = 10,
    *,
    n_starts: int = 1,
    error_rate: float = 0.4,
    max_steps: int = 100_000,
    max_length: int = 1000,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Survey:
    """Run optimal AdaBoost on random matrices (m, n) from random starts.

    `error_rate` is the probability of an entry -1; `max_steps` and `max_length` are those of
    `find_cycle`; `n_jobs` threads share the work; `progress` shows a bar on stderr.

    Outcomes: "cycle"; "not found": no cycle within the limits; "no edge": the weights come to rest
    where no column has an edge, the maximum margin not being positive; "no error": some column is
    right on every example of positive weight.
    """
    params.check("survey", locals(), _RULES)
    rng = check_random_state(random_state)
    seeds = rng.randint(2**31, size=(n_matrices, 1 + n_starts), dtype=np.int64)
    plan = Plan((m, n), float(error_rate), seeds)
    threads = n_threads(n_jobs, n_matrices * n_starts * max_steps * _WORK_PER_STEP)
    bar = Progress(n_matrices, "survey", shown=progress)
    runs: list[Run] = []
    for done, found in enumerate(_all_runs(plan, max_steps, max_length, threads), start=1):
        runs += found
        bar.update(done, f"{sum(run.length > 0 for run in runs)} cycles in {len(runs)} runs")
    bar.close()
    return Survey(runs=tuple(runs), **vars(plan))


_RULES = {
    "n_matrices": params.integer(1),
    "m": params.integer(1),
    "n": params.integer(1),
    "n_starts": params.integer(1),
    "error_rate": params.real(0, 1, high_open=True),
    "max_steps": params.integer(1),
    "max_length": params.integer(1),
    "random_state": params.random_state(),
    "n_jobs": params.n_jobs(),
    "progress": params.boolean(),
}


def _all_runs(plan: Plan, max_steps: int, max_length: int, threads: int) -> Iterator[list[Run]]:
    """The runs of each matrix, in order. The walks release Python's lock, so threads do."""
    pool = ThreadPoolExecutor(threads)
    try:
        yield from pool.map(
            lambda number: _runs_of(plan, number, max_steps, max_length), range(len(plan.seeds))
        )
    finally:  # after an interrupt, too, nothing new is begun
        pool.shutdown(cancel_futures=True)


def _runs_of(plan: Plan, number: int, max_steps: int, max_length: int) -> list[Run]:
    """All starts of one matrix."""
    M = plan.matrix(number)
    best = max_margin(M).value
    found = []
    for k in range(plan.seeds.shape[1] - 1):
        end = find_cycle(M, plan.start(number, k), max_steps=max_steps, max_length=max_length)
        if isinstance(end, Cycle):
            size = (end.length, len(end.support))
            found.append(Run(number, k, "cycle", *size, end.margin, best))
        else:
            found.append(Run(number, k, end.outcome, 0, 0, end.margin, best))
    return found

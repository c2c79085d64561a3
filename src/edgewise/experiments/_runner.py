"""The steps of every experiment: plan, run the missing cells, judge."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from fnmatch import fnmatch
from time import perf_counter
from typing import NamedTuple, Protocol

from . import _effort
from ._library import Library
from ._store import Store
from ._types import Cell, Experiment, Key, Record, Scale, key


class Job(NamedTuple):
    """A cell whose data are available."""

    experiment: Experiment
    cell: Cell
    data: str
    key: Key
    wanted: bool = True  # whether to run it if it is not done; finished cells always count


class Watcher(Protocol):
    """Receives the progress of a run."""

    def finished(self, job: Job, record: Record | None) -> None:
        """Called after each cell; None if it could not be run."""


@dataclass(frozen=True)
class Plan:
    """The cells of a run."""

    scale: Scale
    jobs: list[Job]  # done or not, in the order to run them
    left_out: dict[str, str]  # cells that cannot be run, "experiment: cell", and why

    def todo(self, store: Store) -> list[Job]:
        """The cells to run, each once even if two experiments of a family share it."""
        first: dict[Key, Job] = {}
        for job in self.jobs:
            if job.wanted and _known(job, store) is None:
                first.setdefault(job.key, job)
        return list(first.values())

    def records(self, experiment: Experiment, store: Store) -> dict[str, Record]:
        """Return the records of one experiment, by the names of its cells."""
        mine = [job for job in self.jobs if job.experiment is experiment]
        found = {job.cell.name: _known(job, store) for job in mine}
        return {name: record for name, record in found.items() if record is not None}


def _known(job: Job, store: Store) -> Record | None:
    """The record of a finished cell; records with other parameters belong to older experiments."""
    record = store.get(job.key)
    return record if record is not None and record.params == dict(job.cell.params) else None


def make_plan(
    experiments: Sequence[Experiment], scale: Scale, library: Library, only: Sequence[str] = ()
) -> Plan:
    """Plan all cells; those whose names match no pattern in `only` are not run."""
    jobs, left_out = [], {}
    for experiment in experiments:
        for cell in experiment.cells(scale):
            found = library.find(cell.data)
            if found is None:
                reason = library.missing[str(cell.data)]
                left_out[f"{experiment.name}: {cell.name}"] = reason
                continue
            identity = key(
                experiment.kept_as, scale, cell.name, cell.seed, found.hash, experiment.version
            )
            wanted = not only or any(fnmatch(cell.name, pattern) for pattern in only)
            jobs.append(Job(experiment, cell, found.name, identity, wanted))
    return Plan(scale, jobs, left_out)


def expected_seconds(todo: Sequence[Job], n_jobs: int, threads: int | None) -> float:
    """Return the expected time of these cells on this machine at its current load."""
    if not todo:
        return 0.0
    return sum(job.cell.effort for job in todo) * _effort.speed(threads) / n_jobs


def carry_out(
    plan: Plan,
    store: Store,
    library: Library,
    *,
    n_jobs: int,
    threads: int | None,
    watcher: Watcher,
) -> None:
    """Run the missing cells, `n_jobs` at a time; each is stored as soon as it is finished."""
    todo = plan.todo(store)
    for job, record in _records(todo, plan.scale, library, n_jobs, threads):
        if isinstance(record, Record):
            store.append(record)
        else:
            plan.left_out[f"{job.experiment.name}: {job.cell.name}"] = record
        watcher.finished(job, record if isinstance(record, Record) else None)


def _records(
    todo: list[Job], scale: Scale, library: Library, n_jobs: int, threads: int | None
) -> Iterator[tuple[Job, Record | str]]:
    if n_jobs == 1:  # in the main thread, which receives Ctrl-C
        for job in todo:
            yield job, run_cell(job, scale, library, threads)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        futures = {pool.submit(run_cell, job, scale, library, threads): job for job in todo}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run_cell(job: Job, scale: Scale, library: Library, threads: int | None) -> Record | str:
    """Run one cell; return the reason if an optional library is missing."""
    cell, experiment = job.cell, job.experiment
    data = library.split(job.data) if cell.data is not None else None
    start = perf_counter()
    try:
        outcome = experiment.run(cell, data, threads)
    except ModuleNotFoundError as missing:
        return str(missing)
    return Record(
        experiment.kept_as,
        scale,
        cell.name,
        cell.seed,
        dict(cell.params),
        job.data or None,
        job.key[4],
        experiment.version,
        outcome,
        round(perf_counter() - start, 3),
    )

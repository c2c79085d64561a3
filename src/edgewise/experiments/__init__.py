"""The papers' tables and figures, rerun and compared.

>>> from edgewise import experiments
>>> experiments.experiment("softmax-table-2").title
'AdaBoost.MH, SAMME and soft-max boosting, clean labels (Table 2)'

An experiment consists of cells. Every finished cell is stored in the run folder at once, so a
killed run resumes where it stopped. The experiment's file defines beforehand what counts as
agreement with the paper. See docs/experiments.md; on the command line: `edgewise reproduce`.

EXPERIMENTS     all of them, by name
experiment      one of them
reproduce       run some, and return their results
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._ground import params as p
from ._data import DataSetMissingError
from ._files import as_report, draw_pictures, write_results
from ._library import Library
from ._registry import EXPERIMENTS, experiment
from ._results import results_of
from ._runner import Job, Plan, Watcher, carry_out, expected_seconds, make_plan
from ._standing import Standing, standings
from ._store import Store, open_store
from ._types import SCALES, Cell, Experiment, Finding, Picture, Record, Scale, Table

__all__ = [
    "EXPERIMENTS",
    "SCALES",
    "Cell",
    "DataSetMissingError",
    "Experiment",
    "Finding",
    "Job",
    "Picture",
    "Record",
    "Run",
    "Standing",
    "Table",
    "Watcher",
    "as_report",
    "experiment",
    "find_experiments",
    "open_store",
    "reproduce",
    "standings",
]


class Run:
    """Some experiments at one scale, in an open run folder: look at the plan, then carry it out."""

    def __init__(
        self,
        experiments: Sequence[Experiment],
        store: Store,
        *,
        scale: Scale = "small",
        data_dir: str | None = None,
        jobs: int = 1,
        only: Sequence[str] = (),
    ) -> None:
        self.experiments = experiments
        self.scale = scale
        self.jobs = jobs
        # One cell at a time has all CPUs, where its work is worth it.
        self.threads = None if jobs == 1 else max(1, _core.available_cpus() // jobs)
        self._store = store
        self._library = Library(scale, data_dir)
        self.plan: Plan = make_plan(experiments, scale, self._library, only)

    def todo(self) -> list[Job]:
        """Cells not done yet."""
        return self.plan.todo(self._store)

    def n_done(self) -> int:
        """Cells done already."""
        return sum(len(self.plan.records(each, self._store)) for each in self.experiments)

    def expected_seconds(self) -> float:
        """Return the expected time, by a calibration on this machine."""
        return expected_seconds(self.todo(), self.jobs, self.threads)

    def carry_out(self, watcher: Watcher) -> None:
        carry_out(
            self.plan,
            self._store,
            self._library,
            n_jobs=self.jobs,
            threads=self.threads,
            watcher=watcher,
        )

    def results(self, experiment: Experiment, folder: Path) -> dict[str, Any]:
        """Judge what is there, and write results, page and pictures to the folder."""
        records = self.plan.records(experiment, self._store)
        pictures = experiment.pictures(self.scale, records)
        stem = f"{experiment.name}-{self.scale}"
        drawn, note = draw_pictures(folder, stem, pictures)
        results = results_of(
            experiment,
            self.scale,
            records,
            self.plan.left_out,
            command=f"edgewise reproduce {experiment.name} --scale {self.scale}",
            pictures=drawn,
        )
        if note is not None:
            results["skipped"].append(note)
        write_results(folder, results)
        return results


class _Silent:
    def finished(self, job: Job, record: Record | None) -> None:
        pass


def reproduce(
    names: str | Sequence[str],
    *,
    scale: Scale = "small",
    out: str | Path = Path("edgewise-runs") / "reproduce",
    data_dir: str | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> list[dict[str, Any]]:
    """Run experiments and return their results, one plain dictionary each.

    Parameters
    ----------
    names : the name of an experiment, several, or "all".
    scale : "small" takes seconds, "paper" is the real thing.
    out : the run folder. A run that finds finished cells there resumes from them.
    data_dir : folder of the papers' data sets; the environment variable EDGEWISE_DATA otherwise.
    jobs : cells run at a time; each uses its share of the CPUs. Results do not depend on it.
    only : patterns of cell names, as of files; others are not run, but count if they are done.
    watcher : an object whose `finished(job, record)` is called for every cell run.
    """
    rules = {"scale": p.one_of(*SCALES), "jobs": p.integer(1)}
    p.check("reproduce", {"scale": scale, "jobs": jobs}, rules)
    chosen = find_experiments(names)
    folder = Path(out)
    with open_store(folder) as store:
        run = Run(chosen, store, scale=scale, data_dir=data_dir, jobs=jobs, only=only)
        run.carry_out(watcher or _Silent())
        return [run.results(each, folder) for each in chosen]


def find_experiments(names: str | Sequence[str]) -> list[Experiment]:
    """Experiments by name, in the order given; "all" of them."""
    given = [names] if isinstance(names, str) else list(names)
    if "all" in given:
        return list(EXPERIMENTS.values())
    return [experiment(name) for name in dict.fromkeys(given)]

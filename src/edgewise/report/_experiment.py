"""A report on rerun experiments of papers."""

from collections import Counter
from collections.abc import Sequence

from .._ground.errors import InvalidDataError
from ._inputs import Cell, Experiment, Section, Table, Verdict
from ._page import MARKS, Page, Tile, render
from ._report import Report

OUTCOMES = tuple(MARKS)


def experiment_report(
    results: Experiment | Sequence[Experiment],
    *,
    title: str | None = None,
    command: str | None = None,
) -> Report:
    """Build a page about one or several experiments, with a summary of the verdicts.

    Parameters
    ----------
    results : Experiment or sequence of Experiment
        Results of the experiments.
    title : str, default=None
        Title of the page. None uses the title of the experiment.
    command : str, default=None
        Command that repeats the experiments.

    Returns
    -------
    Report
        The page.

    Examples
    --------
    >>> from edgewise.report import Experiment, Section, experiment_report
    >>> sections = [Section("Result", ["All five numbers agree."])]
    >>> page = experiment_report(Experiment("table-2", "A table", sections))
    >>> "All five numbers agree." in page.html
    True
    """
    experiments = [results] if isinstance(results, Experiment) else list(results)
    if not experiments or not all(isinstance(e, Experiment) for e in experiments):
        raise InvalidDataError(f"experiment_report needs one Experiment or more. Got {results!r}.")
    one = experiments[0] if len(experiments) == 1 else None
    page = Page(
        title=title or (one.title if one else "Experiments, run again"),
        kind="experiments",
        subtitle=one.source if one else "The papers' figures beside ours.",
        sections=[*_summary(experiments), *_told(experiments)],
        tiles=_tiles(experiments),
        command=command or "\n".join(e.command for e in experiments if e.command) or None,
        facts=one.facts if one else {},
    )
    return render(page)


def _tiles(experiments: Sequence[Experiment]) -> list[Tile]:
    counts = _counts(experiments)
    names = {"agrees": "figures that agree", "differs": "that differ", "open": "not decided"}
    return [Tile(names[o], f"{MARKS[o]} {counts[o]}") for o in OUTCOMES if counts[o]]


def _counts(experiments: Sequence[Experiment]) -> Counter[str]:
    return Counter(str(v.outcome) for e in experiments for v in e.verdicts)


def _summary(experiments: Sequence[Experiment]) -> list[Section]:
    """A row for each experiment, if there are several."""
    if len(experiments) == 1:
        return []
    rows: list[list[Cell]] = []
    for e in experiments:
        counts = _counts([e])
        rows.append([e.title, e.source, *(counts[o] for o in OUTCOMES), _overall(counts)])
    head = ["experiment", "source", "agree", "differ", "open", "verdict"]
    return [Section("Summary", [], [Table(head, rows)])]


def _overall(counts: Counter[str]) -> Verdict:
    if counts["differs"]:
        return Verdict("differs")
    return Verdict("agrees" if counts["agrees"] else "open")


def _told(experiments: Sequence[Experiment]) -> list[Section]:
    """The sections of all experiments; of several, each with the name of its experiment."""
    told = []
    for e in experiments:
        for i, section in enumerate(e.sections):
            title = section.title if len(experiments) == 1 else f"{e.name}: {section.title}"
            facts = "; ".join(f"{name}: {value}" for name, value in e.facts.items())
            words = [
                *section.words,
                *([facts] if i == 0 and facts and len(experiments) > 1 else []),
            ]
            told.append(Section(title, words, section.parts))
    return told

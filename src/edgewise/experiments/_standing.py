"""A summary of an experiment: the last results in a run folder."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ._effort import in_words
from ._store import read_results
from ._types import SCALES, Experiment, Scale


class Standing(NamedTuple):
    """The state of an experiment at one scale."""

    name: str
    item: str  # of the paper
    title: str
    paper: str
    scale: Scale
    cells: int
    seconds: float  # for all cells, by their efforts, on one quiet core
    done: int  # cells of the last results
    verdicts: dict[str, int]  # of the last results; empty if there are none
    when: str  # of the last results; "" if there are none

    @property
    def verdict(self) -> str:
        """The last verdicts in words."""
        if not self.when:
            return "not run"
        told = ", ".join(f"{verdict} ({n})" for verdict, n in self.verdicts.items())
        return told if self.done == self.cells else f"{told} ({self.done} cells)"

    @property
    def time(self) -> str:
        return in_words(self.seconds)


def standings(experiments: Mapping[str, Experiment], folder: Path) -> Iterator[Standing]:
    """Every experiment at every scale, with its results in the folder."""
    for each in experiments.values():
        for scale in SCALES:
            cells = each.cells(scale)
            last = read_results(folder / f"{each.name}-{scale}.json")
            yield Standing(
                name=each.name,
                item=each.item,
                title=each.title,
                paper=each.paper,
                scale=scale,
                cells=len(cells),
                seconds=sum(cell.effort for cell in cells),
                done=len(last.get("cells", [])),
                verdicts=last.get("verdicts", {}),
                when=last.get("when", ""),
            )

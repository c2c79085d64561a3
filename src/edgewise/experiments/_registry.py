"""All experiments, by name."""

from .._errors import InvalidParameterError
from . import abc_grid, abc_summary, softmax_tables
from ._types import Experiment

_ALL = [
    abc_summary.EXPERIMENT,
    *abc_grid.EXPERIMENTS,
    *softmax_tables.EXPERIMENTS,
]
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}


def experiment(name: str) -> Experiment:
    """An experiment by its name."""
    if name not in EXPERIMENTS:
        raise InvalidParameterError(
            f"An experiment is one of {', '.join(EXPERIMENTS)}. Got {name!r}."
        )
    return EXPERIMENTS[name]

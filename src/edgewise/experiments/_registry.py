"""All experiments, by name."""

from .._ground.errors import InvalidParameterError
from .._ground.wording import did_you_mean
from . import (
    abc_covertype,
    abc_grid,
    abc_poker,
    abc_search,
    abc_summary,
    adaboost_cycling,
    adaboost_dynamics,
    base_class,
    certificates,
    differences,
    loose_ends,
    smoothness,
    softmax_curves,
    softmax_stall,
    softmax_synthetic,
    softmax_tables,
    softmax_toy,
    truth_tables,
    vote_mass,
)
from ._types import Experiment

_ALL = [
    abc_summary.EXPERIMENT,
    *abc_grid.EXPERIMENTS,
    abc_covertype.EXPERIMENT,
    abc_poker.EXPERIMENT,
    abc_search.EXPERIMENT,
    *softmax_tables.EXPERIMENTS,
    softmax_synthetic.EXPERIMENT,
    *softmax_curves.EXPERIMENTS,
    softmax_toy.EXPERIMENT,
    adaboost_dynamics.EXPERIMENT,
    truth_tables.EXPERIMENT,
    vote_mass.EXPERIMENT,
    differences.EXPERIMENT,
    softmax_stall.EXPERIMENT,
    smoothness.EXPERIMENT,
    adaboost_cycling.EXPERIMENT,
    base_class.EXPERIMENT,
    certificates.EXPERIMENT,
    loose_ends.EXPERIMENT,
]
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}


def experiment(name: str) -> Experiment:
    """An experiment by its name."""
    if name not in EXPERIMENTS:
        raise InvalidParameterError(
            f"An experiment is one of {', '.join(EXPERIMENTS)}. Got {name!r}."
            f"{did_you_mean(name, EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]

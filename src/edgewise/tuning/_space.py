"""The search space: a few parameters of each family, each with its own scale.

A scale turns a number from 0 to 1 into a value.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Scale = Callable[[float], Any]


def logarithmic(low: float, high: float) -> Scale:
    """Round to three digits, which is enough."""
    return lambda u: float(f"{low * (high / low) ** u:.3g}")


def integers(low: int, high: int) -> Scale:
    """Whole numbers, on a logarithmic scale."""
    return lambda u: int(low * ((high + 1) / low) ** u)


def share(low: float, high: float) -> Scale:
    return lambda u: round(low + (high - low) * u, 2)


def choice(*values: Any) -> Scale:
    return lambda u: values[int(u * len(values))]


_LOGISTIC: dict[str, Scale] = {
    "learning_rate": logarithmic(0.02, 0.3),
    "max_leaf_nodes": integers(4, 128),
    "min_samples_leaf": integers(1, 64),
    "max_features": share(0.3, 1.0),
    "splitter": choice("best", "random"),
}
_VOTING: dict[str, Scale] = {
    "learning_rate": logarithmic(0.1, 1.0),
    "max_leaf_nodes": integers(4, 256),
    "max_features": share(0.2, 1.0),
    "splitter": choice("best", "random"),
}
_OWN: dict[str, dict[str, Scale]] = {
    "AOSOLogitBoostClassifier": {"leaf": choice("pair", "vector")},
}


def space(estimator: type[Any]) -> dict[str, Scale]:
    """Return the parameters that `tune` searches, with their scales.

    Parameters
    ----------
    estimator : type
        Class of the estimator.

    Returns
    -------
    dict
        Scales by name of the parameter.

    Examples
    --------
    >>> from edgewise import MARTClassifier
    >>> from edgewise.tuning import space
    >>> "max_leaf_nodes" in space(MARTClassifier)
    True
    """
    known = estimator().get_params(deep=False)
    scales = _LOGISTIC if "init" in known else _VOTING  # the start of the scores: a logistic model
    wanted = {**scales, **_OWN.get(estimator.__name__, {})}
    return {name: scale for name, scale in wanted.items() if name in known}


def drawn(estimator: type[Any], seed: int, number: int, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Draw a setting of the search.

    Parameters
    ----------
    estimator : type
        Class of the estimator.
    seed : int
        Seed of the search.
    number : int
        Number of the setting; 0 is the defaults.
    fixed : mapping
        Parameters that are not searched.

    Returns
    -------
    dict
        Values by name of the parameter.

    Examples
    --------
    >>> from edgewise import MARTClassifier
    >>> from edgewise.tuning import drawn
    >>> drawn(MARTClassifier, 0, 0, {})
    {}
    """
    if number == 0:
        return {}
    chance = np.random.default_rng([seed, number])
    values = {name: scale(chance.random()) for name, scale in space(estimator).items()}
    return {name: value for name, value in values.items() if name not in fixed}

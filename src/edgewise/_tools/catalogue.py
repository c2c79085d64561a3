"""The algorithms under the names that the command line and the comparison call them."""

from typing import Any

from .._ground.estimator import ESTIMATORS

FIRST = ("auto", "aoso")  # those to begin with

_NAMED: dict[str, type[Any]] = {
    cls._short_name: cls for cls in ESTIMATORS.values() if cls._short_name is not None
}

ALGORITHMS = {name: _NAMED[name] for name in (*FIRST, *sorted(_NAMED.keys() - set(FIRST)))}

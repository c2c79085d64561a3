"""The algorithms by their names on the command line and in comparisons."""

from typing import Any

from .._ground.estimator import ESTIMATORS

FIRST = ("auto", "aoso")  # listed first

_NAMED: dict[str, type[Any]] = {
    cls._short_name: cls for cls in ESTIMATORS.values() if cls._short_name is not None
}

ALGORITHMS = {name: _NAMED[name] for name in (*FIRST, *sorted(_NAMED.keys() - set(FIRST)))}

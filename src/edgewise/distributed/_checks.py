"""Checks of fits to rows that are not in memory; unsupported options raise an error."""

from typing import Any

from .._data.features import need_few_bins
from .._ground.errors import InvalidParameterError
from .._ground.estimator import ESTIMATORS


def need_supported(estimator: Any) -> None:
    if getattr(estimator, "_state_elsewhere", None) is None:
        raise InvalidParameterError(
            f"{type(estimator).__name__} cannot be fitted on rows that are not in memory. Those "
            f"that can are {', '.join(supported())}; or read the rows into memory."
        )
    estimator._need_state_elsewhere()
    need_few_bins(estimator, "on rows that are not in memory")


def supported() -> list[str]:
    """The names of the estimators that can be fitted on rows that are not in memory."""
    return [
        name
        for name, cls in ESTIMATORS.items()
        if getattr(cls, "_state_elsewhere", None) is not None
    ]

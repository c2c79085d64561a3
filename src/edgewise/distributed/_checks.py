"""Checks of fits to rows that are not in memory; unsupported options raise an error."""

from typing import Any

from .._data.features import need_few_bins
from .._ground.errors import InvalidParameterError

# By name of the class, so that nothing above is imported.
LOGISTIC = (
    "MARTClassifier",
    "ABCMARTClassifier",
    "LogitBoostClassifier",
    "ABCLogitBoostClassifier",
    "AOSOLogitBoostClassifier",
)
VOTING = "AdaBoostMHClassifier"
SUPPORTED = (*LOGISTIC, VOTING)


def need_supported(estimator: Any) -> None:
    name = next((c.__name__ for c in type(estimator).__mro__ if c.__name__ in SUPPORTED), None)
    if name is None:
        raise InvalidParameterError(
            f"{type(estimator).__name__} cannot be fitted on rows that are not in memory. Those "
            f"that can are {', '.join(SUPPORTED)}; or read the rows into memory."
        )
    if name == VOTING and estimator.base not in ("hamming_tree", "stump"):
        raise InvalidParameterError(
            f"The 'base' parameter of {name} must be 'hamming_tree' or 'stump' on rows that are "
            f"not in memory. Got {estimator.base!r}."
        )
    need_few_bins(estimator, "on rows that are not in memory")


def is_voting(estimator: Any) -> bool:
    return any(c.__name__ == VOTING for c in type(estimator).__mro__)

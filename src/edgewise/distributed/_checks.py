"""What can be fitted on a cluster; everything else is refused with words."""

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
            f"{type(estimator).__name__} cannot be fitted on Dask collections. Those that can are "
            f"{', '.join(SUPPORTED)}; or bring the data into this process with .compute()."
        )
    if name == VOTING and estimator.base not in ("hamming_tree", "stump"):
        raise InvalidParameterError(
            f"The 'base' parameter of {name} must be 'hamming_tree' or 'stump' on Dask "
            f"collections. Got {estimator.base!r}."
        )
    if estimator.early_stopping is True:
        raise InvalidParameterError(
            "early_stopping=True holds rows out, which Dask collections have no order for: give "
            "X_val and y_val, with early_stopping='auto'."
        )
    need_few_bins(estimator, "on Dask collections")
    _need_defaults(estimator)


def is_voting(estimator: Any) -> bool:
    return any(c.__name__ == VOTING for c in type(estimator).__mro__)


# Parameters that are not known to the blocks, with their defaults.
_DEFAULTS: dict[str, Any] = {
    "l2_regularization": 0.0,
    "min_gain": 0.0,
    "max_delta": None,
    "monotonic_cst": None,
    "interaction_cst": None,
    "subsample": 1.0,
    "max_features": None,
    "splitter": "best",
}


def _need_defaults(estimator: Any) -> None:
    given = estimator.get_params(deep=False)
    for name, default in _DEFAULTS.items():
        value = given.get(name, default)
        if value is not default and value != default:
            raise InvalidParameterError(
                f"The {name!r} parameter of {type(estimator).__name__} must be {default!r} on "
                f"Dask collections. Got {value!r}."
            )

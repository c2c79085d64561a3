"""Metrics by name, as scikit-learn's scorers: greater is better."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, get_scorer_names

from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.wording import did_you_mean

SHORT = {
    "accuracy": "accuracy",
    "balanced-accuracy": "balanced_accuracy",
    "log-loss": "neg_log_loss",
    "macro-f1": "f1_macro",
}


def named_scorer(name: str) -> Any:
    """The scorer of a short name or of scikit-learn's name."""
    wanted = SHORT.get(name, name.replace("-", "_"))
    if wanted not in get_scorer_names():
        raise InvalidParameterError(
            f"A metric must be one of {', '.join(SHORT)} or a scorer of scikit-learn, such as "
            f"roc_auc_ovr or matthews_corrcoef. Got {name!r}."
            f"{did_you_mean(name, [*SHORT, *get_scorer_names()])}"
        )
    return get_scorer(wanted)


def score_of(name: str, fitted: Any, X: Any, y: NDArray[Any]) -> float:
    """The score of a fitted classifier on rows X with labels y."""
    scorer = named_scorer(name)
    try:
        value = float(scorer(fitted, X, y))
    except (ValueError, TypeError) as error:
        raise InvalidDataError(f"The metric {name!r} cannot judge these rows: {error}") from None
    if not np.isfinite(value):
        raise InvalidDataError(
            f"The metric {name!r} cannot judge these rows, which hold the classes "
            f"{', '.join(map(str, np.unique(y)))}. Got {value}."
        )
    return value

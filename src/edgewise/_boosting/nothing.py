"""The warning of a fit that learned nothing: no round was kept, or no tree has a split."""

import warnings
from typing import Any

from .._ground.errors import FitWarning

ADVICE = {
    "nothing left to learn": "The loss is zero before the first round: check class_weight, "
    "sample_weight and costs.",
    "early stopping": "Check that X contains information about y; if it does, use more "
    "validation rows or a smaller learning_rate, or set early_stopping=False.",
}


def warn_if_nothing_learned(estimator: Any, *, stacklevel: int) -> None:
    """Warn if a booster learned nothing, with the reason and a remedy."""
    if estimator.n_iter_ > 0:
        if not has_splits(estimator.model_):
            warn_of_nothing(estimator, "no tree has a split", stacklevel=stacklevel + 1)
        return
    words, advice = estimator.stop_reason_, ADVICE.get(estimator.stop_reason_, "")
    if len(estimator.history_["loss"]) or words == "early stopping":
        words = "no round has a better validation score than the model without rounds"
        advice = ADVICE["early stopping"]
    warn_of_nothing(estimator, words, advice, stacklevel=stacklevel + 1)


def warn_of_nothing(estimator: Any, words: str, advice: str = "", *, stacklevel: int) -> None:
    warnings.warn(
        f"{type(estimator).__name__} learned nothing: {words}. The model predicts the same for "
        f"every row. {advice or _larger_trees(estimator)}",
        FitWarning,
        stacklevel=stacklevel + 1,
    )


def has_splits(model: Any) -> bool:
    """Return whether any tree has a split; classifiers of other libraries count as having one."""
    feature = getattr(model, "feature", None)
    return feature is None or bool((feature >= 0).any())


def _larger_trees(estimator: Any) -> str:
    """Advice if no tree has a split: the parameters that prevent splits."""
    least = {"min_samples_leaf": (1, "auto"), "min_gain": (0,)}
    given = estimator.get_params(deep=False)
    held_back = [f"{k}={given[k]}" for k, low in least.items() if given.get(k, 0) not in (0, *low)]
    advice = "Check that the columns of X vary and contain information about y"
    return f"{advice}, and lower {' and '.join(held_back)}." if held_back else f"{advice}."

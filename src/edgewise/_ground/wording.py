"""Texts of messages: counts in grammatical English, and the nearest name."""

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)

# Parameters of LightGBM, XGBoost, CatBoost and scikit-learn by their names here.
_ELSEWHERE = {
    "max_leaf_nodes": "num_leaves max_leaves leaves num_leaf",
    "n_estimators": "num_boost_round num_round num_iterations num_trees iterations max_iter n_iter",
    "learning_rate": "eta shrinkage shrinkage_rate",
    "max_depth": "depth",
    "min_samples_leaf": "min_data_in_leaf min_child_samples min_child_weight min_data",
    "l2_regularization": "reg_lambda lambda_l2 l2_leaf_reg lambda",
    "min_gain": "gamma min_split_gain min_gain_to_split min_split_loss min_impurity_decrease",
    "max_delta": "max_delta_step",
    "subsample": "bagging_fraction sub_row subsample_freq bagging_freq",
    "max_features": "colsample_bytree colsample_bylevel colsample_bynode feature_fraction rsm",
    "splitter": "extra_trees",
    "max_bins": "max_bin border_count",
    "categorical_features": "cat_features categorical_feature enable_categorical",
    "monotonic_cst": "monotone_constraints",
    "interaction_cst": "interaction_constraints",
    "class_weight": "class_weights scale_pos_weight is_unbalance auto_class_weights",
    "n_iter_no_change": "early_stopping_rounds od_wait early_stopping_round",
    "scoring": "eval_metric metric",
    "random_state": "seed random_seed",
    "n_jobs": "nthread num_threads thread_count n_threads",
    "verbose": "verbosity silent logging_level",
}
EQUIVALENTS = {theirs: ours for ours, names in _ELSEWHERE.items() for theirs in names.split()}


# Parameters of other libraries that have no equivalent, and what to do instead.
_ABSENT = {
    name: hint
    for names, hint in (
        ("objective loss_function", "The class of the estimator determines the loss."),
        ("boosting_type boosting booster", "The class of the estimator determines the algorithm."),
        (
            "reg_alpha alpha lambda_l1",
            "There is no L1 penalty; l2_regularization is the L2 penalty.",
        ),
        ("device device_type tree_method task_type gpu_id", "edgewise runs on CPUs only."),
        ("num_class classes_count", "The labels determine the number of classes."),
        ("eval_set eval_sets x_val y_val", "Pass X_val and y_val to fit."),
    )
    for name in names.split()
}


def counted(n: int, what: str, many: str | None = None) -> str:
    """A number with its noun: "1 round", "200 rounds"."""
    return f"{n} {what if n == 1 else many or what + 's'}"


def did_you_mean(word: str, known: Iterable[Any]) -> str:
    """A question with the nearest name, after a space; or an empty string."""
    names = [str(name) for name in known]
    equivalent = EQUIVALENTS.get(word.lower())
    if equivalent in names:
        return f" Did you mean {equivalent!r}?"
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), list(lower), 1, 0.6)
    return f" Did you mean {lower[close[0]]!r}?" if close else ""


def no_parameter(owner: type, name: str, known: Iterable[str]) -> str:
    """Return the message about an unknown parameter of an estimator."""
    known, lower = list(known), name.lower()
    hint = f" {_ABSENT[lower]}" if lower in _ABSENT else did_you_mean(name, known)
    if not hint and "effort" in known and EQUIVALENTS.get(lower, lower) in _ELSEWHERE:
        hint = " Its fit chooses that; single boosters such as AOSOLogitBoostClassifier have it."
    return f"{owner.__name__} has no parameter {name!r}.{hint} It has {', '.join(known)}."


def hinting(cls: Class) -> Class:
    """A class whose constructor suggests the nearest name of an unknown parameter."""
    init: Callable[..., None] = cls.__init__  # type: ignore[misc]
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def __init__(self: Any, *args: Any, **given: Any) -> None:
        try:
            init(self, *args, **given)
        except TypeError:
            unknown = [name for name in given if name not in known]
            if not unknown:
                raise
            raise TypeError(no_parameter(cls, unknown[0], known)) from None

    cls.__init__ = __init__  # type: ignore[misc]
    return cls

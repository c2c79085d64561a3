"""The plan of a comparison: rows, splits, methods, and everything that determines the figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.wording import did_you_mean, no_parameter
from . import _fingerprint
from ._features import features_of
from ._methods import OURS, Method, Setting
from ._peers import PEERS
from ._results import Problem
from ._splits import Split, cross_validation


@dataclass(frozen=True)
class Plan:
    """The inputs and settings that determine the figures."""

    problem: Problem
    splits: list[Split]
    methods: dict[str, Method]
    setting: Setting
    params: Mapping[str, dict[str, Any]]
    data_hash: str
    protocol: dict[str, Any]

    def setting_of(self, method: str) -> Setting:
        return replace(self.setting, params=self.params.get(method, {}))

    def key(self, method: str, split: Split) -> str:
        chosen = self.methods[method]
        return _fingerprint.of_settings(
            data=self.data_hash,
            protocol=self.protocol,
            method=method,
            parameters=chosen.parameters(self.setting_of(method)),
            version=chosen.version(),
            split=[split.repeat, split.fold],
        )


def problem_of(
    X: Any, y: ArrayLike, test: tuple[Any, ArrayLike] | None
) -> tuple[NDArray[Any], Problem]:
    parts = [(X, np.asarray(y))] + ([] if test is None else [(test[0], np.asarray(test[1]))])
    features = features_of([part for part, _ in parts])
    for rows, (_, labels) in zip(features, parts, strict=True):
        if labels.shape != (rows.n_rows,):
            raise InvalidDataError(
                f"X and y must have as many rows. Got {rows.n_rows} and labels of shape "
                f"{labels.shape}."
            )
        if rows.n_rows == 0:
            raise InvalidDataError("There must be at least one row. Got none.")
    if len(np.unique(parts[0][1])) < 2:
        raise InvalidDataError(
            f"y must hold at least two classes. Got {parts[0][1][0]} in every row."
        )
    try:
        classes = np.unique(np.concatenate([labels for _, labels in parts]))
    except TypeError:
        raise InvalidDataError("The labels must be all of one sortable kind.") from None
    codes = [np.searchsorted(classes, labels) for _, labels in parts]
    return classes, Problem(features[0], codes[0], features[-1], codes[-1], len(classes))


def chosen_methods(
    names: Sequence[str] | None, peers: bool | None, problem: Problem
) -> tuple[dict[str, Method], dict[str, str]]:
    """The methods to run, and why others are not."""
    known: dict[str, Method] = {**OURS, **PEERS}
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise InvalidParameterError(
            f"There is no method {unknown[0]!r}.{did_you_mean(unknown[0], known)} There are "
            f"{', '.join(known)}."
        )
    with_peers = names is None if peers is None else peers
    wanted = [*(OURS if names is None else names), *(PEERS if with_peers else ())]
    reasons = {name: _why_not(known[name], problem) for name in dict.fromkeys(wanted)}
    skipped = {name: reason for name, reason in reasons.items() if reason is not None}
    refused = [name for name in names or [] if name in skipped]
    if refused:
        raise InvalidParameterError(f"{refused[0]} {skipped[refused[0]]}.")
    return {name: known[name] for name in reasons if name not in skipped}, skipped


def _why_not(method: Method, problem: Problem) -> str | None:
    present = len(np.unique(problem.train_codes))
    return method.missing_library() or method.unsuitable(problem.train, present)


def check_params(plan: Plan) -> None:
    """Names of methods; those of our parameters are checked by building the estimators."""
    for method, given in plan.params.items():
        if method not in plan.methods:
            raise InvalidParameterError(
                f"Parameters were given for {method!r}, which is not among the methods to run: "
                f"{', '.join(plan.methods)}."
            )
        if method in OURS:
            need_parameters(OURS[method].estimator, given)  # type: ignore[attr-defined]


def need_parameters(estimator: Any, given: Mapping[str, Any]) -> None:
    """Check that all names are parameters of an estimator; raise an error otherwise.

    Parameters
    ----------
    estimator : type
        Class of the estimator.
    given : mapping
        Values by name.

    Examples
    --------
    >>> from edgewise import MARTClassifier
    >>> from edgewise.comparison import need_parameters
    >>> need_parameters(MARTClassifier, {"max_depth": 3})
    """
    allowed = list(estimator().get_params(deep=False))
    unknown = [name for name in given if name not in allowed]
    if unknown:
        raise InvalidParameterError(no_parameter(estimator, unknown[0], allowed))


def splits_of(
    problem: Problem, classes: NDArray[Any], settings: Mapping[str, Any], *, tested: bool
) -> tuple[list[Split], list[str]]:
    if tested:
        every = [np.arange(part.n_rows) for part in (problem.train, problem.test)]
        return [Split(0, 0, every[0], every[1])], []
    return cross_validation(
        problem.train_codes, classes, settings["folds"], settings["repeats"], settings["seed"]
    )


def protocol_of(
    setting: Setting, splits: list[Split], settings: Mapping[str, Any], *, tested: bool
) -> dict[str, Any]:
    shared = {"seed": setting.seed, "threads": setting.threads, "rounds": setting.rounds}
    if tested:
        return {"kind": "test rows", **shared}
    folds = 1 + max(split.fold for split in splits)
    return {"kind": "cross-validation", "folds": folds, "repeats": settings["repeats"], **shared}


def class_notes(problem: Problem, classes: NDArray[Any]) -> list[str]:
    unseen = np.setdiff1d(problem.test_codes, problem.train_codes)
    if len(unseen) == 0:
        return []
    shown = ", ".join(str(classes[k]) for k in unseen[:5])
    return [f"classes of the test rows that training lacks, and that will be wrong: {shown}"]


def hash_of(problem: Problem, classes: NDArray[Any]) -> str:
    train = _fingerprint.of_rows(problem.train, classes[problem.train_codes])
    if problem.test is problem.train:
        return train
    return train + _fingerprint.of_rows(problem.test, classes[problem.test_codes])


def facts_of(
    name: str, problem: Problem, classes: NDArray[Any], data_hash: str, *, tested: bool
) -> dict[str, Any]:
    return {
        "name": name,
        "rows": problem.train.n_rows,
        "test_rows": problem.test.n_rows if tested else None,
        "features": int(problem.train.matrix.shape[1]),
        "categories": int(problem.train.categorical.sum()),
        "classes": [str(label) for label in classes],
        "hash": data_hash,
    }

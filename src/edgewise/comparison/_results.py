"""What one method did on one split, and the figures of it."""

import pickle
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._boosting.base import Booster
from ..metrics import brier_score, calibration_error, log_loss
from ._features import Features
from ._methods import Method, Setting
from ._splits import Split

Proba = NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """One method on one split."""

    method: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    wrong: int  # rows whose most probable class is not theirs
    log_loss: float
    brier: float
    calibration: float  # classwise expected calibration error
    top_calibration: float  # the same of the most probable class
    fit_seconds: float
    predict_seconds: float
    model_bytes: int  # pickled
    curve: tuple[float, ...] = ()  # error after each round, of the first split
    warnings: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        return self.wrong / self.n_test

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Result":
        lists = {name: tuple(fields[name]) for name in ("curve", "warnings")}
        return cls(**{**fields, **lists})


@dataclass(frozen=True)
class Problem:
    """What all methods are given: rows to train on, rows to test on, class numbers."""

    train: Features
    train_codes: NDArray[np.intp]
    test: Features
    test_codes: NDArray[np.intp]
    n_classes: int


def measured(
    method: Method, problem: Problem, split: Split, setting: Setting
) -> tuple[Result, Proba]:
    """Fit, predict, judge; and the probabilities of the tested rows, (n_test, n_classes)."""
    train, test = problem.train.take(split.train), problem.test.take(split.test)
    present, codes = np.unique(problem.train_codes[split.train], return_inverse=True)
    truth = problem.test_codes[split.test]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        model = method.fit(train, codes, setting)
        fitted = time.perf_counter()
        answers = method.predict_proba(model, test, setting)
        done = time.perf_counter()
        first = split.repeat == split.fold == 0
        curve = _curve(model, test, np.searchsorted(present, truth)) if first else ()
    proba = np.zeros((len(split.test), problem.n_classes))
    proba[:, present] = answers  # a class that training lacks has no chance
    result = Result(
        method=method.name,
        repeat=split.repeat,
        fold=split.fold,
        n_train=len(split.train),
        n_test=len(split.test),
        **judged(truth, proba),
        fit_seconds=fitted - begin,
        predict_seconds=done - fitted,
        model_bytes=len(pickle.dumps(model, protocol=5)),
        curve=curve,
        warnings=tuple(dict.fromkeys(str(w.message).splitlines()[0] for w in caught)),
    )
    return result, proba


def _curve(model: Any, test: Features, codes: NDArray[np.intp]) -> tuple[float, ...]:
    """Error after each round, for our estimators that have rounds."""
    if not isinstance(model, Booster):
        return ()
    return tuple(float(np.mean(said != codes)) for said in model.staged_predict(test.native))


def judged(truth: NDArray[np.intp], proba: Proba) -> dict[str, Any]:
    """Wrong rows, log loss, Brier score and calibration errors of class numbers and chances."""
    classes = np.arange(proba.shape[1])
    chances = proba / proba.sum(axis=1, keepdims=True)
    return {
        "wrong": int(np.count_nonzero(proba.argmax(axis=1) != truth)),
        "log_loss": log_loss(truth, chances, classes=classes),
        "brier": brier_score(truth, chances, classes=classes),
        "calibration": calibration_error(truth, chances, kind="classwise", classes=classes),
        "top_calibration": calibration_error(truth, chances, kind="top_label", classes=classes),
    }

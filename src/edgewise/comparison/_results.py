"""The results of one method on one split, and their figures."""

import pickle
import time
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._boosting.base import Booster
from .._ground.journal import typed
from ..metrics import brier_score, calibration_error, log_loss
from ._features import Features
from ._methods import Method, Setting
from ._splits import Split

Proba = NDArray[np.float64]


@dataclass(frozen=True)
class Result:
    """One method on one split.

    Attributes
    ----------
    method : str
        Name of the method.
    repeat : int
        Number of the repeat.
    fold : int
        Number of the fold.
    n_train : int
        Number of training rows.
    n_test : int
        Number of test rows.
    wrong : int
        Number of rows whose most probable class is wrong.
    log_loss : float
        Log loss.
    brier : float
        Brier score.
    calibration : float
        Classwise expected calibration error.
    top_calibration : float
        Expected calibration error of the most probable class.
    fit_seconds : float
        Seconds of the fit.
    predict_seconds : float
        Seconds of the prediction.
    model_bytes : int
        Size of the pickled model.
    curve : tuple[float, ...]
        Error after each round, for the first split.
    warnings : tuple[str, ...]
        Warnings of the fit.
    """

    method: str
    repeat: int
    fold: int
    n_train: int
    n_test: int
    wrong: int
    log_loss: float
    brier: float
    calibration: float
    top_calibration: float
    fit_seconds: float
    predict_seconds: float
    model_bytes: int
    curve: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        return self.wrong / self.n_test

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict of plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> "Result":
        """Restore a result from a line of a journal.

        Parameters
        ----------
        fields : dict
            Fields of the line. Fields that are not valid raise TypeError or ValueError.

        Returns
        -------
        Result
        """
        lists = {name: tuple(fields[name]) for name in ("curve", "warnings")}
        result: Result = typed(cls(**{**fields, **lists}))
        if not 0 <= result.wrong <= result.n_test or result.n_test < 1:
            raise ValueError("counts that cannot be")
        return result


@dataclass(frozen=True)
class Problem:
    """The inputs of all methods: training rows, test rows, class numbers.

    Attributes
    ----------
    train : Features
        Training rows.
    train_codes : ndarray
        Their class numbers.
    test : Features
        Test rows.
    test_codes : ndarray
        Their class numbers.
    n_classes : int
        Number of classes.
    """

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
    """Judge probabilities: wrong rows, log loss, Brier score and calibration errors.

    Parameters
    ----------
    truth : ndarray of shape (n_rows,)
        Class numbers.
    proba : ndarray of shape (n_rows, n_classes)
        Probabilities.

    Returns
    -------
    dict
        Figures by name.

    Examples
    --------
    >>> import numpy as np
    >>> from edgewise.comparison import judged
    >>> judged(np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))["wrong"]
    1
    """
    classes = np.arange(proba.shape[1])
    chances = proba / proba.sum(axis=1, keepdims=True)
    return {
        "wrong": int(np.count_nonzero(proba.argmax(axis=1) != truth)),
        "log_loss": log_loss(truth, chances, classes=classes),
        "brier": brier_score(truth, chances, classes=classes),
        "calibration": calibration_error(truth, chances, kind="classwise", classes=classes),
        "top_calibration": calibration_error(truth, chances, kind="top_label", classes=classes),
    }

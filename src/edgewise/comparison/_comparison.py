"""The results of a comparison."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics import error_interval
from ._results import Proba, Result
from ._tests import Interval, PairedTest, corrected_t_test, mcnemar, resampled_interval

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Row:
    """One method's figures: means over the splits.

    Attributes
    ----------
    method : str
        Name of the method.
    library : str
        Library and version.
    error : float
        Error rate.
    interval : Interval
        Confidence interval of the error rate.
    log_loss : float
        Log loss.
    brier : float
        Brier score.
    calibration : float
        Classwise expected calibration error.
    top_calibration : float
        Expected calibration error of the most probable class.
    fit_seconds : float
        Seconds of a fit.
    predict_seconds : float
        Seconds to predict the test rows.
    predict_ms_per_1000 : float
        Milliseconds to predict a thousand rows.
    model_bytes : int
        Size of the pickled model.
    errors : tuple[float, ...]
        Error rate of each split.
    """

    method: str
    library: str
    error: float
    interval: Interval
    log_loss: float
    brier: float
    calibration: float
    top_calibration: float
    fit_seconds: float
    predict_seconds: float
    predict_ms_per_1000: float
    model_bytes: int
    errors: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """All results on one data set, and their summary.

    Attributes
    ----------
    data : dict[str, Any]
        The data: name, rows, features, classes and hash.
    protocol : dict[str, Any]
        Folds, repeats, seed, threads and rounds; or the test rows.
    versions : dict[str, str]
        Library and version of each method.
    parameters : dict[str, dict[str, Any]]
        Parameters of each method that differ from its defaults.
    results : tuple[Result, ...]
        Results in the order of the table.
    skipped : dict[str, str]
        Methods that were not run, with the reason.
    failed : dict[str, str]
        Methods that failed, with the reason.
    notes : tuple[str, ...]
        Remarks about the data.
    classes : array of shape (n_classes,)
        Class labels.
    truth : array of shape (n_rows,)
        Class numbers of the rows that may be tested.
    tested : dict[tuple[int, int], Rows]
        Test rows, by repeat and fold.
    answers : Callable[[str, int, int], Proba]
        Function of method, repeat and fold that returns probabilities.
    """

    data: dict[str, Any]
    protocol: dict[str, Any]
    versions: dict[str, str]
    parameters: dict[str, dict[str, Any]]
    results: tuple[Result, ...]
    skipped: dict[str, str]
    failed: dict[str, str]
    notes: tuple[str, ...]
    classes: NDArray[Any]
    truth: NDArray[np.intp]
    tested: dict[tuple[int, int], Rows]
    answers: Callable[[str, int, int], Proba]

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(result.method for result in self.results))

    def of(self, method: str) -> list[Result]:
        """Return the results of a method, split by split.

        Parameters
        ----------
        method : str
            Name of the method.

        Returns
        -------
        list of Result
        """
        return sorted(
            (result for result in self.results if result.method == method),
            key=lambda result: (result.repeat, result.fold),
        )

    def rows(self) -> list[Row]:
        """A row per method, the lowest error first; of equals the lower log loss."""
        rows = [self._row(method) for method in self.methods]
        return sorted(rows, key=lambda row: (row.error, row.log_loss, row.method))

    @property
    def best(self) -> str:
        return self.rows()[0].method

    def paired(self) -> PairedTest | None:
        """Test whether the best two differ; None if there is only one method.

        Folds: Nadeau and Bengio's corrected resampled t-test. Test rows: McNemar's exact test.
        """
        rows = self.rows()
        if len(rows) < 2:
            return None
        first, second = rows[0], rows[1]
        difference = second.error - first.error
        if not self.cross_validated:
            right = [self._right(row.method) for row in (first, second)]
            p_value = mcnemar(*right)
            return PairedTest(
                first.method, second.method, "McNemar's exact test", difference, p_value
            )
        differences = np.subtract(second.errors, first.errors).tolist()
        return PairedTest(
            first.method,
            second.method,
            "corrected resampled t-test",
            difference,
            corrected_t_test(differences, self._test_share(first.method)),
            resampled_interval(differences, self._test_share(first.method)),
        )

    @property
    def cross_validated(self) -> bool:
        return len(self.tested) > 1

    def held_out(self, method: str) -> tuple[Rows, Proba]:
        """Return the test rows of the first repeat and their out-of-fold probabilities.

        Parameters
        ----------
        method : str
            Name of the method.

        Returns
        -------
        rows : ndarray of shape (n_rows,)
            Numbers of the rows.
        proba : ndarray of shape (n_rows, n_classes)
            Probabilities.
        """
        folds = sorted(fold for repeat, fold in self.tested if repeat == 0)
        rows = np.concatenate([self.tested[0, fold] for fold in folds])
        proba = np.concatenate([self.answers(method, 0, fold) for fold in folds])
        order = np.argsort(rows, kind="stable")
        return rows[order], proba[order]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the probabilities, in plain values for JSON."""
        paired = self.paired()
        return {
            "data": self.data,
            "protocol": self.protocol,
            "parameters": self.parameters,
            "versions": self.versions,
            "methods": [asdict(row) for row in self.rows()],
            "paired_test": None if paired is None else asdict(paired),
            "skipped": self.skipped,
            "failed": self.failed,
            "notes": list(self.notes),
        }

    def _row(self, method: str) -> Row:
        results = self.of(method)
        errors = tuple(result.error for result in results)
        seconds = _mean(results, "predict_seconds")
        return Row(
            method=method,
            library=self.versions[method],
            error=float(np.mean(errors)),
            interval=self._interval(results),
            log_loss=_mean(results, "log_loss"),
            brier=_mean(results, "brier"),
            calibration=_mean(results, "calibration"),
            top_calibration=_mean(results, "top_calibration"),
            fit_seconds=_mean(results, "fit_seconds"),
            predict_seconds=seconds,
            predict_ms_per_1000=1e6 * seconds / _mean(results, "n_test"),
            model_bytes=round(_mean(results, "model_bytes")),
            errors=errors,
        )

    def _interval(self, results: list[Result]) -> Interval:
        if not self.cross_validated:
            low, high = error_interval(results[0].wrong, results[0].n_test)
            return low, high
        errors = [result.error for result in results]
        low, high = resampled_interval(errors, self._test_share(results[0].method))
        return max(low, 0.0), min(high, 1.0)

    def _test_share(self, method: str) -> float:
        results = self.of(method)
        return _mean(results, "n_test") / _mean(results, "n_train")

    def _right(self, method: str) -> NDArray[np.bool_]:
        rows, proba = self.held_out(method)
        return np.asarray(proba.argmax(axis=1) == self.truth[rows])


def _mean(results: list[Result], figure: str) -> float:
    return float(np.mean([getattr(result, figure) for result in results]))

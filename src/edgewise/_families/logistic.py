"""The logistic family: boosting with the multinomial logistic loss."""

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._boosting import constraints, footprint
from .._boosting.base import Booster, Fit
from .._boosting.calibration import calibrated, weights_of_classes
from .._boosting.footprint import ForestSize, Size, TreeSize
from .._boosting.grower import Engine, Layout
from .._boosting.sampling import Sampler, seed_of
from .._boosting.threads import n_threads
from .._data.features import columns_of
from .._data.rows import Rows
from .._ground import params as p
from .._ground import portable
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.estimator import with_parameters
from .._model.model import Scores

MAX_DELTA = 5.0  # largest step of a leaf by default


@with_parameters
class LogisticBooster(Booster):
    """Boosting with the multinomial logistic loss.

    Parameters
    ----------
    n_estimators : int or "auto"
        Number of boosting rounds. "auto" finds it on held-out rows, at most 200 (AOSO: 500), and
        then learns from all rows. With more than 20 000 rows it is the largest number.
    min_samples_leaf : int or "auto"
        Smallest number of rows in a leaf. Rows with negligible second derivatives do not count.
        "auto" takes a fiftieth of the rows and half of the rarest class (but 5 for small classes),
        whichever is less, at most 20.
    l2_regularization : float
        Added to the sum of second derivatives in gains and leaf values.
    max_delta : float or None
        Largest absolute leaf value before shrinkage. None sets 5.
    subsample : float
        Share of the rows each round learns from, drawn again every round.
    monotonic_cst : array-like, dict or None
        Monotone constraints, for each column or for columns by name or number. With two classes -1,
        0 or 1: the direction of the second class's log odds. With more classes a dict {class: -1, 0
        or 1}: with 1 the log odds of that class against every other class never fall as the feature
        grows, with -1 they never rise; {(class, other): 1} constrains one pair of classes.
    init : {"prior", "zero"}
        Initial scores: the centred logarithms of the class frequencies, or zero as in the papers.
    calibration : {"auto", "priors", "temperature", "vector"} or None
        Rescales the scores after the fit. "auto" uses the factor, at most 1, that was found
        together with the number of rounds; without such a search it does nothing. "priors" undoes
        the effect of `class_weight` on the probabilities. "temperature" and "vector" do that too,
        and then maximise the likelihood of validation rows with one factor, or with a factor and a
        shift for each class. Without `X_val` rows are held out for it.
    early_stopping : bool or "auto"
        Whether to watch a validation set and keep the rounds up to its best score. "auto" does so
        if `X_val` is passed to `fit`, or if ``n_estimators="auto"``. Without `X_val`,
        held-out parts of the rows determine the number of rounds, and the model then learns from
        all rows.
    """

    _rules: ClassVar[dict[str, p.Rule]] = Booster._rules | {
        "n_estimators": p.either(p.integer(1), p.one_of("auto")),
        "min_samples_leaf": p.either(p.integer(1), p.one_of("auto")),
        "init": p.one_of("prior", "zero"),
        "calibration": p.one_of("auto", "priors", "temperature", "vector", None),
        "l2_regularization": p.not_negative(),
        "max_delta": p.either(p.real(0.0), p.none()),
        "subsample": p.real(0.0, 1.0),
        "monotonic_cst": p.directions(),
    }

    n_estimators: int | Literal["auto"] = "auto"
    learning_rate: float = 0.1
    max_leaf_nodes: int | None = 20
    min_samples_leaf: int | Literal["auto"] = "auto"
    l2_regularization: float = 0.0
    max_delta: float | None = None
    subsample: float = 1.0
    monotonic_cst: Any = None
    init: str = "prior"
    calibration: str | None = "auto"

    _most_rounds: ClassVar[int] = 200
    _class_trees: ClassVar[bool] = True  # whether rounds grow class trees or a pair tree

    def _holds_rows_out(self) -> bool:
        return self.calibration in ("temperature", "vector")

    def _boost(self, fit: Fit) -> None:
        if self.calibration not in (None, "auto") and self.warm_start:
            raise InvalidParameterError(
                f"The 'calibration' parameter of {type(self).__name__} must be None or 'auto' "
                f"with warm_start=True, which resumes from uncalibrated scores. Got "
                f"{self.calibration!r}."
            )
        super()._boost(fit)
        if self.calibration not in (None, "auto"):
            undo = fit.class_factors
            if undo is None:
                undo = weights_of_classes(self.class_weight, fit.classes, fit.given["y"])
            self.model_ = calibrated(self.model_, self.calibration, fit.validation, undo)

    def _refines(self) -> bool:
        return self.calibration == "auto" and self.scoring == "loss"

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        return self.max_leaf_nodes or 0

    def _least_rows(self, n_rows: int, class_rows: NDArray[np.int64]) -> int:
        """Least rows of a leaf, from the number of all rows and of those of each class."""
        if self.min_samples_leaf == "auto":
            return auto_leaf_size(n_rows, int(class_rows.min()))
        return self.min_samples_leaf

    def _engine(self, rows: Rows, start: Scores) -> Any:
        layout = self._layout(len(start))
        return Engine(rows, start, layout=layout, **self._growing(rows, len(start)))

    def _layout(self, n_classes: int) -> Layout:
        """Return how the state of a fit stores the probabilities."""
        return "by_class" if self._class_trees else "by_row"

    def _growing(self, rows: Rows, n_classes: int) -> dict[str, Any]:
        """Return the inputs of growing trees other than the rows."""
        limits = partial(_core.GrowLimits, **self._limits(rows, n_classes))
        sampler = Sampler(rows.X, rows.codes, **self._drawing())
        return {
            "max_bins": self.max_bins,
            "categorical": columns_of(self.is_categorical_),
            "limits": limits(),
            "n_threads": n_threads(self.n_jobs, rows.X.size * n_classes),
            "limits_of_round": (lambda m: limits(**sampler.of_round(m).limits()))
            if sampler.draws
            else None,
        }

    def _drawing(self) -> dict[str, Any]:
        """Return the random draws of rounds, by the names of `Draws`."""
        return {
            "subsample": self.subsample,
            "max_features": self.max_features,
            "cuts": self.splitter == "random",
            "seed": lambda: seed_of(self.random_state),
        }

    def _limits(self, rows: Rows, n_classes: int) -> dict[str, Any]:
        """The limits of trees, as the core's GrowLimits names them."""
        least = self._least_rows(rows.n_given, rows.class_rows(n_classes))
        return {
            "max_leaf_nodes": self._leaf_limit(rows.n_given, n_classes),
            "max_depth": self.max_depth or 0,
            "min_samples_leaf": rows.leaf_size(least),
            "l2": self.l2_regularization,
            "min_gain": self.min_gain,
            "max_delta": MAX_DELTA if self.max_delta is None else self.max_delta,
            "weight_unit": rows.weight_unit,
            "row_weight": rows.row_weight,
            "directions": self._directions(),
            **constraints.interactions(self).limits(),
        }

    def _least_rows_of(self, n_rows: int) -> int:
        return self._least_rows(n_rows, np.zeros(1, dtype=np.int64))

    def _state_bytes(self, size: Size, tree: TreeSize) -> float:
        return footprint.posterior(size) + footprint.class_trees(size, tree, size.K)

    def _forest_size(self, size: Size) -> ForestSize:
        return ForestSize(self._n_rounds(), size.K, 1)

    def _directions(self) -> Any:
        """Allowed directions of classes and features, as the core reads them, or None."""
        return constraints.directions(self, self.classes_)

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """F_k = log prior_k - mean_s log prior_s, or 0."""
        if self.init == "zero":
            return np.zeros(n_classes)
        of_class = rows.class_weights(n_classes)
        if not of_class.min() > 0:
            raise InvalidDataError(
                "Every class must have a positive weight. That of class "
                f"{self.classes_[of_class.argmin()]} is so small beside the largest, "
                f"{of_class.max():g}, that it becomes zero."
            )
        log_prior = portable.log(of_class)
        start: Scores = log_prior - log_prior.mean()
        return start


def auto_leaf_size(n_rows: int, n_rarest: int) -> int:
    """Least rows of a leaf: few if there are few rows or if a class is rare.

    A class can be separated if half of its rows may form a leaf, but leaves of fewer than five rows
    for its sake would make all other classes noisier.
    """
    return max(1, min(20, n_rows // 50, max(5, n_rarest // 2)))

"""The logistic family: boosting with the multinomial logistic loss."""

from typing import Any, ClassVar

import numpy as np

from . import _core
from . import _params as p
from ._base import Booster, Fit
from ._calibration import calibrated, weights_of_classes
from ._errors import InvalidParameterError
from ._grower import Engine
from ._input import Rows, columns_of
from ._model import Scores
from ._threads import n_threads


class BaseBooster(Booster):
    """Boosting with the multinomial logistic loss.

    Parameters
    ----------
    n_estimators : int
        Rounds of boosting.
    learning_rate : float
        Shrinkage: every step is multiplied by it.
    max_leaf_nodes : int or None
        Leaves of a tree, grown best-first. None: no limit but `max_depth`.
    max_depth : int or None
        Depth of a tree. None: no limit.
    min_samples_leaf : int
        Rows a leaf must hold. Rows too well fitted to matter do not count.
    max_bins : int
        Bins of a feature, missing values not counted. A feature with no more distinct values than
        that is searched exhaustively.
    categorical_features : "from_dtype", list of column numbers, names or bools, or None
        Columns whose values are categories: they are split into sets of values. "from_dtype": the
        columns of a data frame that hold strings or are of a categorical type. Values that training
        has not seen are treated as missing.
    init : {"prior", "zero"}
        Scores start at the centred logarithms of the class frequencies, or at zero as in the
        papers.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into `sample_weight`.
    calibration : {"priors", "temperature", "vector"} or None
        "priors" undoes what `class_weight` does to the probabilities. "temperature" and "vector" do
        that, too, and scale the scores so that validation rows have the largest likelihood: by one
        factor, or by a factor and a shift for each class. Without `X_val` a share of the rows is
        held out for it. None: probabilities as they come out of the soft-max.
    early_stopping : bool or "auto"
        Whether to watch a validation set and keep the best round. "auto": if `X_val` is given.
    validation_fraction : float
        Share of every class held out if early stopping is on and `X_val` is not given.
    n_iter_no_change : int
        Rounds without a better validation score after which boosting stops.
    scoring : str or callable
        What is watched: "loss" (log loss, negated), or any scikit-learn scorer by name.
    time_limit : float or None
        Seconds that `fit` may take; no round begins that would probably end later. None: no limit.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: "raise" leaves the estimator as it was before, "keep" ends the fit with
        the rounds learned so far.
    warm_start : bool
        Continue from the fitted rounds. Fitting k rounds, then up to k + m on the same data, gives
        the same model as fitting k + m rounds.
    random_state : int, RandomState or None
        Draws the held-out rows; nothing else is random.
    n_jobs : int or None
        Threads; None takes all CPUs the process may use where the work is worth it. The model is
        the same, bit for bit, for any number.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : the class labels, sorted.
    n_iter_ : rounds of the model; with early stopping, up to and including the best one.
    history_ : dict of arrays with one entry per round: "loss" (training log loss), "seconds" (since
        the loop's begin), with early stopping "validation_score", and the algorithm's own story.
    is_categorical_ : which features are categorical, or None.
    categories_ : by the number of a column that holds strings or categories its values; the model
        knows a value by its place there.
    feature_importances_ : share of the total gain of each feature.
    model_ : the trees as plain arrays.
    """

    _rules: ClassVar[dict[str, p.Rule]] = Booster._rules | {
        "init": p.one_of("prior", "zero"),
        "calibration": p.one_of("priors", "temperature", "vector", None),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 20,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        init: str = "prior",
        class_weight: Any = None,
        calibration: str | None = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        scoring: Any = "loss",
        time_limit: float | None = None,
        on_interrupt: str = "raise",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.init = init
        self.class_weight = class_weight
        self.calibration = calibration
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.time_limit = time_limit
        self.on_interrupt = on_interrupt
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _class_trees: ClassVar[bool] = True  # whether rounds grow class trees or a pair tree

    def _holds_rows_out(self) -> bool:
        return self.calibration in ("temperature", "vector")

    def _boost(self, fit: Fit) -> None:
        if self.calibration is not None and self.warm_start:
            raise InvalidParameterError(
                f"The 'calibration' parameter of {type(self).__name__} must be None with "
                f"warm_start=True, which continues from scores as they are. Got "
                f"{self.calibration!r}."
            )
        super()._boost(fit)
        if self.calibration is not None:
            undo = weights_of_classes(self.class_weight, fit.classes, fit.given["y"])
            self.model_ = calibrated(self.model_, self.calibration, fit.validation, undo)

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        return self.max_leaf_nodes or 0

    def _engine(self, rows: Rows, start: Scores) -> Engine:
        n_classes = len(start)
        leaves = self._leaf_limit(rows.n_given, n_classes)
        samples = rows.leaf_size(self.min_samples_leaf)
        return Engine(
            rows,
            start,
            max_bins=self.max_bins,
            categorical=columns_of(self.is_categorical_),
            limits=_core.GrowLimits(leaves, self.max_depth or 0, samples),
            n_threads=n_threads(self.n_jobs, rows.X.size * n_classes),
            by_class=self._class_trees,
        )

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """F_k = log prior_k - mean_s log prior_s, or 0."""
        if self.init == "zero":
            return np.zeros(n_classes)
        log_prior = np.log(rows.class_weights(n_classes))
        start: Scores = log_prior - log_prior.mean()
        return start

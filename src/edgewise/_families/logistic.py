"""The logistic family: boosting with the multinomial logistic loss."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from .. import _core
from .._boosting import constraints
from .._boosting.base import Booster, Fit
from .._boosting.calibration import calibrated, weights_of_classes
from .._boosting.grower import Engine
from .._boosting.sampling import Draw, Sampler, seed_of
from .._boosting.threads import n_threads
from .._data.features import columns_of
from .._data.rows import Rows
from .._ground import params as p
from .._ground.errors import InvalidParameterError
from .._model.model import Scores

MAX_DELTA = 5.0  # the largest step of a leaf, unless the user says otherwise


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
    l2_regularization : float
        Added to the sum of second derivatives in gains and leaf values.
    min_gain : float
        Gain that a split must have at least.
    max_delta : float or None
        Largest step of a leaf, before shrinkage. None: 5.
    subsample : float
        Share of the rows that a round learns from, drawn anew every round.
    max_features : int, float or None
        Features drawn for every round: their number or their share. None: all.
    splitter : {"best", "random"}
        Of every feature its best cut is looked at, or one that is drawn; the best of them is taken.
    monotonic_cst : array-like, dict or None
        For each column, or for columns by name or number, which way log odds may go when its value
        grows. With two classes -1, 0 or 1: the direction of the second class's log odds. Else a
        dict {class: -1, 0 or 1}: 1 if the log odds of that class against every other class never
        fall, -1 if they never rise; or {(class, other): ...} for one pair of classes.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of columns, or None
        Features on one path of a tree all belong to one of the sets. Columns in no set are a set.
    max_bins : int
        Bins of a feature, missing values not counted. A feature with no more distinct values than
        that is searched exhaustively. Above 255, features of many values take more room and time.
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
        the same model as fitting k + m rounds; where something is drawn, `random_state` must be an
        integer for it.
    random_state : int, RandomState or None
        Draws the held-out rows, and what `subsample`, `max_features` and `splitter` draw.
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
        "l2_regularization": p.not_negative(),
        "max_delta": p.either(p.real(0.0), p.none()),
        "subsample": p.real(0.0, 1.0),
        "monotonic_cst": p.directions(),
    }

    def __init__(
        self,
        *,
        n_estimators: int = 200,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | None = 20,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        min_gain: float = 0.0,
        max_delta: float | None = None,
        subsample: float = 1.0,
        max_features: int | float | None = None,
        splitter: Literal["best", "random"] = "best",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
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
        self.l2_regularization = l2_regularization
        self.min_gain = min_gain
        self.max_delta = max_delta
        self.subsample = subsample
        self.max_features = max_features
        self.splitter = splitter
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
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

    def _engine(self, rows: Rows, start: Scores) -> Any:
        return Engine(rows, start, by_class=self._class_trees, **self._growing(rows, len(start)))

    def _growing(self, rows: Rows, n_classes: int) -> dict[str, Any]:
        """What growing trees needs beside the rows."""
        limits = self._limits(rows, n_classes)
        sampler = Sampler(
            rows.X,
            rows.codes,
            subsample=self.subsample,
            max_features=self.max_features,
            cuts=self.splitter == "random",
            seed=lambda: seed_of(self.random_state),
        )
        return {
            "max_bins": self.max_bins,
            "categorical": columns_of(self.is_categorical_),
            "limits": limits(Draw()),
            "n_threads": n_threads(self.n_jobs, rows.X.size * n_classes),
            "limits_of_round": (lambda m: limits(sampler.of_round(m))) if sampler.draws else None,
        }

    def _limits(self, rows: Rows, n_classes: int) -> Callable[[Draw], _core.GrowLimits]:
        """The limits of trees that learn from what is drawn."""
        leaves = self._leaf_limit(rows.n_given, n_classes)
        together = constraints.interactions(self)
        limits = partial(
            _core.GrowLimits,
            leaves,
            self.max_depth or 0,
            rows.leaf_size(self.min_samples_leaf),
            l2=self.l2_regularization,
            min_gain=self.min_gain,
            max_delta=MAX_DELTA if self.max_delta is None else self.max_delta,
            weight_unit=rows.weight_unit,
            most_features_together=together.at_most,
            features_together=together.sets,
            directions=constraints.directions(self, self.classes_),
        )
        return lambda draw: limits(
            features=draw.features or [], drawn=draw.rows, cut_key=draw.cut_key
        )

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """F_k = log prior_k - mean_s log prior_s, or 0."""
        if self.init == "zero":
            return np.zeros(n_classes)
        log_prior = np.log(rows.class_weights(n_classes))
        start: Scores = log_prior - log_prior.mean()
        return start

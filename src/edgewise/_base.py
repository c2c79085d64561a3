"""The estimator all algorithms share: input, binning, loop, model; then prediction."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _core, _input
from . import _params as p
from ._errors import InvalidDataError, InvalidParameterError
from ._grower import Engine
from ._input import Labels, Matrix, Weights
from ._loop import RoundRule, Stopper, boost
from ._model import Model, ModelBuilder, Scores
from ._progress import Progress
from ._threads import n_threads
from ._validation import scorer


class BaseBooster(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
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
    init : {"prior", "zero"}
        Scores start at the centred logarithms of the class frequencies, or at zero as in the
        papers.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into `sample_weight`.
    early_stopping : bool or "auto"
        Whether to watch a validation set and keep the best round. "auto": if `X_val` is given.
    validation_fraction : float
        Share of every class held out if early stopping is on and `X_val` is not given.
    n_iter_no_change : int
        Rounds without a better validation score after which boosting stops.
    scoring : str or callable
        What is watched: "loss" (log loss, negated), or any scikit-learn scorer by name.
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
    feature_importances_ : share of the total gain of each feature.
    model_ : the trees as plain arrays.
    """

    _rules: ClassVar[dict[str, p.Rule]] = {
        "n_estimators": p.integer(1),
        "learning_rate": p.real(0.0, 10.0),
        "max_leaf_nodes": p.integer(2, 65535, none=True),
        "max_depth": p.integer(1, none=True),
        "min_samples_leaf": p.integer(1),
        "max_bins": p.integer(2, 255),
        "init": p.one_of("prior", "zero"),
        "class_weight": p.class_weight(),
        "early_stopping": p.either(p.boolean(), p.one_of("auto")),
        "validation_fraction": p.real(0.0, 1.0, high_open=True),
        "n_iter_no_change": p.integer(1),
        "scoring": p.scoring(),
        "warm_start": p.boolean(),
        "random_state": p.random_state(),
        "n_jobs": p.n_jobs(),
        "verbose": p.integer(0),
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
        init: str = "prior",
        class_weight: Any = None,
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 50,
        scoring: Any = "loss",
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
        self.init = init
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.scoring = scoring
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _class_trees: ClassVar[bool] = True  # whether rounds grow class trees or a pair tree

    # --- what an algorithm says -------------------------------------------------------------

    @abstractmethod
    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> RoundRule:
        """The algorithm's rule; `history` is that of the rounds to continue from."""

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        return self.max_leaf_nodes or 0

    # --- fitting ----------------------------------------------------------------------------

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fits the model to rows X with labels y.

        Rows of weight zero are as good as absent. X_val, y_val and sample_weight_val are for early
        stopping; with them no rows of X are held out.
        """
        before = dict(self.__dict__)
        try:
            self._fit(X, y, sample_weight, (X_val, y_val, sample_weight_val))
        except BaseException:  # nothing half-fitted is left, and an old model stays as it was
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, given: tuple[Any, Any, Any]) -> None:
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        continues = self.warm_start and hasattr(self, "model_")
        matrix = _input.matrix(self, X, reset=not continues)
        y = _input.labels(y)
        if len(y) != len(matrix):
            raise InvalidDataError(
                f"X and y must have one row each per example. Got X with {len(matrix)} rows and y "
                f"with {len(y)}: inconsistent numbers of samples."
            )
        weights = _input.weights(sample_weight, matrix, y, self.class_weight)
        matrix, y, weights = _input.without_weightless(matrix, y, weights)
        if continues:
            classes, codes = self.classes_, _input.encode_as(self.classes_, y, "y")
        else:
            classes, codes = _input.encode(y)
            _input.need_two_classes(classes, type(self).__name__)
        validation = self._validation(*given, classes)
        if validation is None and self.early_stopping is True:
            train, held = _input.stratified_split(codes, self.validation_fraction, self.random_state)
            held_weights = None if weights is None else weights[held]
            validation = matrix[held], codes[held], held_weights
            matrix, codes = matrix[train], codes[train]
            weights = None if weights is None else weights[train]
        self._boost(matrix, codes, weights, classes, validation, continues=continues)

    def _validation(
        self, X_val: Any, y_val: Any, sample_weight_val: Any, classes: NDArray[Any]
    ) -> tuple[Matrix, Labels, Weights | None] | None:
        """The given validation set, checked."""
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            given, absent = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
            raise InvalidDataError(f"{given} was given without {absent}; give both or neither.")
        if self.early_stopping is False:
            return None
        matrix = _input.matrix(self, X_val, reset=False)
        y = _input.labels(y_val)
        if len(y) != len(matrix):
            raise InvalidDataError(
                f"X_val and y_val must have one row each per example. Got {len(matrix)} rows and "
                f"{len(y)} labels."
            )
        weights = _input.weights(sample_weight_val, matrix, y, self.class_weight)
        return matrix, _input.encode_as(classes, y, "y_val"), weights

    def _boost(
        self,
        X: Matrix,
        codes: Labels,
        weights: Weights | None,
        classes: NDArray[Any],
        validation: tuple[Matrix, Labels, Weights | None] | None,
        *,
        continues: bool,
    ) -> None:
        n_classes = len(classes)
        done = self.n_iter_ if continues else 0
        if done > self.n_estimators:
            raise InvalidParameterError(
                f"The 'n_estimators' parameter of {type(self).__name__} must be at least the "
                f"{done} rounds already fitted when warm_start=True. Got {self.n_estimators}."
            )
        start = self.model_.start if continues else self._start(codes, weights, n_classes)
        X, codes, weights = _input.without_negligible(X, codes, weights)
        threads = n_threads(self.n_jobs, X.size * n_classes)
        engine = Engine(
            X,
            codes,
            weights,
            start,
            max_bins=self.max_bins,
            limits=_core.GrowLimits(
                self._leaf_limit(len(X), n_classes), self.max_depth or 0, self.min_samples_leaf
            ),
            n_threads=threads,
            by_class=self._class_trees,
        )
        builder = ModelBuilder(start, X.shape[1])
        stopper = None
        if validation is not None:
            X_val, codes_val, weights_val = validation
            first = self.model_.scores(X_val, threads) if continues else start
            score = scorer(self.scoring, classes, codes_val, weights_val)
            stopper = Stopper(X_val, first, score, self.n_iter_no_change, threads)
        if continues:
            self.model_.replay(X, engine.posterior, threads)
        rule = self._round_rule(n_classes, self.history_ if continues else {})
        progress = Progress(self.n_estimators - done, type(self).__name__, shown=self.verbose > 0)
        history = boost(
            rule, engine, builder, range(done, self.n_estimators), stopper, progress
        ).arrays()
        model = builder.model()
        if stopper is not None and stopper.best_round < model.n_rounds:
            model = model.first_rounds(stopper.best_round)
        if continues:
            model = self.model_.followed_by(model)
            history = _joined(self.history_, history, done)
        self.classes_ = classes
        self.model_: Model = model
        self.history_: dict[str, NDArray[Any]] = history
        self.n_iter_: int = model.n_rounds

    def _start(self, codes: Labels, weights: Weights | None, n_classes: int) -> Scores:
        """F_k = log prior_k - mean_s log prior_s, or 0."""
        if self.init == "zero":
            return np.zeros(n_classes)
        log_prior = np.log(_input.exact_class_weights(codes, weights, n_classes))
        start: Scores = log_prior - log_prior.mean()
        return start

    # --- prediction -------------------------------------------------------------------------

    def _scores(self, X: ArrayLike) -> Scores:
        matrix, threads = self._ready(X)
        return self.model_.scores(matrix, threads)

    def _ready(self, X: ArrayLike) -> tuple[Matrix, int]:
        check_is_fitted(self)
        matrix = _input.matrix(self, X, reset=False)
        return matrix, n_threads(self.n_jobs, len(matrix) * len(self.model_.width))

    def decision_function(self, X: ArrayLike) -> Scores:
        """Scores F, (n_rows, n_classes); for two classes the log odds of the second, (n_rows,)."""
        return _decision(self._scores(X))

    def predict_proba(self, X: ArrayLike) -> Scores:
        """Class probabilities, (n_rows, n_classes): the soft-max of the scores."""
        matrix, threads = self._ready(X)
        scores = self.model_.scores(matrix, threads)
        _core.softmax(scores, threads)
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of every row."""
        scores = self._scores(X)
        labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return labels

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Scores]:
        """`decision_function` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield _decision(scores.copy())

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Scores]:
        """`predict_proba` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            proba = scores.copy()
            _core.softmax(proba, threads)
            yield proba

    def staged_predict(self, X: ArrayLike) -> Iterator[NDArray[Any]]:
        """`predict` after each round."""
        matrix, threads = self._ready(X)
        for scores in self.model_.staged_scores(matrix, threads):
            yield self.classes_[scores.argmax(axis=1)]

    @property
    def feature_importances_(self) -> Scores:
        """Share of the total gain of each feature; zeros if no tree has a split."""
        check_is_fitted(self)
        gain = self.model_.gain_by_feature()
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _decision(scores: Scores) -> Scores:
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _joined(
    old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]], done: int
) -> dict[str, NDArray[Any]]:
    """Histories one after the other; seconds go on counting."""
    joined = {}
    for name in old.keys() & new.keys():
        offset = old[name][done - 1] if name == "seconds" and done else 0
        joined[name] = np.concatenate([old[name][:done], new[name] + offset])
    return joined or old

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
from ._input import Matrix, Rows
from ._loop import RoundRule, Stopper, boost
from ._model import Model, ModelBuilder, Scores
from ._progress import Progress
from ._threads import n_threads
from ._validation import scorer

TRAINING = ("X", "y", "sample_weight")
VALIDATION = ("X_val", "y_val", "sample_weight_val")


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
        given_rows = (X, y, sample_weight)
        labelled = _input.labelled(
            self, given_rows, self.class_weight, names=TRAINING, reset=not continues
        ).without_weightless()
        classes = self.classes_ if continues else _input.classes_of(labelled.y)
        _input.need_two_classes(classes, type(self).__name__)
        rows = labelled.encoded(classes, "y")
        validation = self._given_validation(given, classes)
        if validation is None and self.early_stopping is True:
            rows, validation = rows.split(self.validation_fraction, self.random_state)
        self._boost(rows, classes, validation, continues=continues)

    def _given_validation(self, given: tuple[Any, Any, Any], classes: NDArray[Any]) -> Rows | None:
        """The rows given for validation, checked; None if there are none or they are not wanted."""
        absent = [name for name, value in zip(VALIDATION, given, strict=True) if value is None]
        if "X_val" in absent or "y_val" in absent:
            present = [name for name in VALIDATION if name not in absent]
            if present:
                raise InvalidDataError(
                    f"{present[0]} was given without {absent[0]}; give both X_val and y_val, or "
                    "nothing for validation."
                )
            return None
        if self.early_stopping is False:
            return None
        labelled = _input.labelled(self, given, self.class_weight, names=VALIDATION, reset=False)
        return labelled.encoded(classes, "y_val")

    def _boost(
        self, rows: Rows, classes: NDArray[Any], validation: Rows | None, *, continues: bool
    ) -> None:
        done = self.n_iter_ if continues else 0
        if done > self.n_estimators:
            raise InvalidParameterError(
                f"The 'n_estimators' parameter of {type(self).__name__} must be at least the "
                f"{done} rounds already fitted when warm_start=True. Got {self.n_estimators}."
            )
        start = self.model_.start if continues else self._start(rows, len(classes))
        rows = rows.without_negligible()
        engine = self._engine(rows, start)
        builder = ModelBuilder(start, rows.X.shape[1])
        if continues:
            self.model_.replay(rows.X, engine.posterior, engine.n_threads)
        stopper = None
        if validation is not None:
            so_far = self.model_ if continues else builder.model()
            stopper = Stopper(
                validation.X,
                so_far.scores(validation.X, engine.n_threads),
                scorer(self.scoring, classes, validation.codes, validation.weights),
                self.n_iter_no_change,
                engine.n_threads,
            )
        history = {k: v[:done] for k, v in self.history_.items()} if continues else {}
        rule = self._round_rule(len(classes), history)
        progress = Progress(self.n_estimators - done, type(self).__name__, shown=self.verbose > 0)
        rounds = range(done, self.n_estimators)
        story = boost(rule, engine, builder, rounds, stopper, progress).arrays()
        model = builder.model()
        if stopper is not None:
            model = model.first_rounds(stopper.best_round)
        if continues:
            model = self.model_.followed_by(model)
            story = _joined(history, story)
        self.classes_ = classes
        self.model_: Model = model
        self.history_: dict[str, NDArray[Any]] = story
        self.n_iter_: int = model.n_rounds

    def _engine(self, rows: Rows, start: Scores) -> Engine:
        n_classes = len(start)
        leaves = self._leaf_limit(len(rows.X), n_classes)
        return Engine(
            rows,
            start,
            max_bins=self.max_bins,
            limits=_core.GrowLimits(leaves, self.max_depth or 0, self.min_samples_leaf),
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


def _joined(old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Histories one after the other; seconds go on counting."""
    joined = {}
    for name in old.keys() & new.keys():
        offset = old[name][-1] if name == "seconds" and len(old[name]) else 0
        joined[name] = np.concatenate([old[name], new[name] + offset])
    return joined

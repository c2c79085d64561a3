"""The estimator all algorithms share: input, loop, model; then prediction.

A family of algorithms adds its parameters, its state (the engine) and its link from scores to
probabilities; an algorithm adds its round rule.
"""

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._data import features, targets
from .._data.groups import as_trained, grouped
from .._data.input import checked
from .._data.parts import held_out_parts, n_held_out_parts
from .._data.rows import NOTHING_TO_HOLD_OUT, Rows
from .._data.sparse import SparseRows
from .._ground import params as p
from .._ground.above import above
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._ground.estimator import with_parameters
from .._ground.sklearn import BaseEstimator, ClassifierMixin
from .._model.explained import Explained
from .._model.model import Model, ModelBuilder, Scores
from .._model.saved import Saved
from . import footprint
from .callbacks import CallbackWatcher, Supported, managed
from .footprint import Measured, Size
from .loop import Bar, Builder, Deadline, Engine, History, RoundRule, Stopper, Watcher, boost
from .nothing import warn_if_nothing_learned
from .outcome import Learned, outcome
from .prediction import Predicting
from .progress import Progress
from .trials import LEEWAY, MOST_ROWS, Clock, Found, Trial, log_loss_by_log_factor, rounds_found
from .validation import Answers, minus_log_loss, scorer

TRAINING = ("X", "y", "sample_weight")
VALIDATION = ("X_val", "y_val", "sample_weight_val")
SHARE_AT_A_TIME = 0.2  # of the rows, held out in a trial
SHARE_FOR_GOOD = 0.1  # of the rows, held out and never learned from


# What a fit keeps of every row if rows are on other machines or on a disk.
StateElsewhere = Literal["posterior", "label weights"]


class Fit(NamedTuple):
    """The inputs of a fit."""

    rows: Rows
    classes: NDArray[Any]
    validation: Rows | None
    watched: bool  # whether the validation rows determine when to stop
    continues: bool  # from the existing model, with warm_start
    given: dict[str, Any]  # X, y and metadata as they came, for callbacks
    begin: float  # seconds on the clock
    parts: Sequence[tuple[Rows, Rows]] = ()  # rows to learn from and rows held out, in trials
    class_factors: NDArray[np.float64] | None = None  # by class_weight, if y is elsewhere


class Ready(NamedTuple):
    """The inputs of the loop."""

    rows: Any
    engine: Any
    builder: Any
    rule: Any


@with_parameters
class Booster(Predicting, Explained, Saved, Supported, Measured, ClassifierMixin, BaseEstimator):
    """The estimator that all boosters share.

    `fit` is a transaction: a fit that fails or is interrupted leaves the estimator unchanged.
    Derived classes inherit the descriptions below (see ``_ground.documented``).

    Parameters
    ----------
    n_estimators : int
        Number of boosting rounds.
    learning_rate : float
        Shrinkage: every leaf value is multiplied by it.
    max_leaf_nodes : int or None
        Largest number of leaves of a tree. Trees grow best-first. None sets no limit.
    max_depth : int or None
        Largest depth of a tree. None sets no limit.
    min_samples_leaf : int
        Smallest number of rows in a leaf. Rows whose weight is negligible do not count.
    min_gain : float
        Smallest gain a split must have.
    max_features : int, float or None
        Features drawn for every round: a number, or a share of all features. None uses all.
    splitter : {"best", "random"}
        "best" searches every cut of every feature. "random" draws one cut per feature and node and
        takes the best of these, as in extremely randomised trees.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of columns, or None
        Features that may occur together on a path from the root to a leaf: all of them belong to
        one of the sets. Columns that are in no set form one more set.
    max_bins : int
        Largest number of bins of a feature, not counting the bin of missing values. A feature with
        at most that many distinct values is searched exhaustively. Above 255, features with many
        values take more memory and time.
    categorical_features : "from_dtype", list of column numbers, names or bools, or None
        Columns whose values are categories; a split divides them into two sets. "from_dtype"
        selects the columns of a data frame that hold strings or have a categorical type. Values
        that do not occur in training are treated as missing.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into `sample_weight`.
    early_stopping : bool or "auto"
        Whether to watch a validation set and keep the rounds up to its best score. "auto" does so
        if `X_val` is passed to `fit`. With True and without `X_val`, held-out parts of the rows
        determine the number of rounds, and the model then learns from all rows.
    validation_fraction : float or "auto"
        Share of every class held out at a time if rows are needed and `X_val` is not given. "auto"
        is 0.2, or 0.1 where rows stay held out (for `calibration`, or with `warm_start`).
    n_iter_no_change : int
        Rounds without a better validation score after which boosting stops.
    scoring : str or callable
        Score to watch: "loss" (the negated loss that the algorithm lowers) or a scikit-learn
        scorer.
    time_limit : float or None
        Seconds `fit` may take. No round starts that would probably end later. None sets no limit.
    on_interrupt : {"raise", "keep"}
        Effect of Ctrl-C: "raise" leaves the estimator as it was before `fit`, "keep" ends the fit
        with the rounds that are complete.
    warm_start : bool
        Whether `fit` resumes from the rounds already fitted. On the same data, k rounds and then m
        more give the same model as k + m rounds; with random draws this needs an integer
        `random_state`.
    random_state : int, RandomState or None
        Seed of the held-out rows and of all other random draws.
    n_jobs : int or None
        Number of threads. None uses all CPUs available to the process, and fewer for little work.
        The model is the same, bit for bit, for any number.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted. For an indicator matrix: the names of its columns, if it is a data
        frame with names of text, else their numbers.
    multi_label_ : bool
        Whether y was an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X had string names.
    n_iter_ : int
        Rounds of the model. With early stopping: the rounds up to the best one.
    stop_reason_ : str
        Why boosting ended.
    history_ : dict of ndarray
        One entry per round: "loss" on the training rows, "seconds" since the first round began,
        "validation_score" with early stopping, and figures of the algorithm.
    is_categorical_ : ndarray of bool or None
        Which features are categorical.
    categories_ : dict of int to ndarray
        Values of each column that holds strings or categories. The model stores a value as its
        position in this array.
    dates_ : dict of int to DateColumn
        Columns of dates and times: their kind, and the parts of dates that are further columns of
        the model.
    notations_ : dict of int to str
        Decimal separators of the columns that the command line read as numbers from text such as
        "$1,234". Prediction reads such text in these columns; `fit` does not.
    feature_importances_ : ndarray of shape (n_features,)
        Share of the total gain of each feature.
    feature_importances_by_class_ : ndarray of shape (n_classes, n_features)
        The same shares, divided among the classes.
    shap_start_ : ndarray of shape (n_classes,)
        Mean scores to which `shap_values` add up to the scores of a row.
    model_ : Model
        Trees as plain NumPy arrays.
    """

    _rules: ClassVar[dict[str, p.Rule]] = {
        "n_estimators": p.integer(1),
        "learning_rate": p.real(0.0, 10.0),
        "max_leaf_nodes": p.integer(2, 65535, none=True),
        "max_depth": p.integer(1, none=True),
        "min_samples_leaf": p.integer(1),
        "min_gain": p.not_negative(),
        "max_features": p.either(p.integer(1, none=True), p.share()),
        "splitter": p.one_of("best", "random"),
        "interaction_cst": p.interactions(),
        "max_bins": p.integer(2, 1020),
        "categorical_features": p.columns(),
        "class_weight": p.class_weight(),
        "early_stopping": p.either(p.boolean(), p.one_of("auto")),
        "validation_fraction": p.either(p.real(0.0, 1.0, high_open=True), p.one_of("auto")),
        "n_iter_no_change": p.integer(1),
        "scoring": p.scoring(),
        "time_limit": p.real(0.0, none=True),
        "on_interrupt": p.one_of("raise", "keep"),
        "warm_start": p.boolean(),
        "random_state": p.random_state(),
        "n_jobs": p.n_jobs(),
        "verbose": p.integer(0),
    }
    _most_rounds: ClassVar[int] = 500  # of n_estimators="auto"
    _state_elsewhere: ClassVar[StateElsewhere | None] = None  # where rows are not in memory
    _leeway: ClassVar[float] = LEEWAY
    _multi_label: ClassVar[bool] = False  # whether y may be an indicator matrix
    _fitted: ClassVar[dict[str, p.Rule]] = {
        "multi_label_": p.boolean(),
        "n_iter_": p.integer(0),
        "stop_reason_": p.text(),
    }

    # Families define the rest of these four.
    n_estimators: Any
    learning_rate: float
    max_leaf_nodes: Any
    min_samples_leaf: Any

    max_depth: int | None = None
    min_gain: float = 0.0
    max_features: int | float | None = None
    splitter: Literal["best", "random"] = "best"
    interaction_cst: Any = None
    max_bins: int = 255
    categorical_features: Any = "from_dtype"
    class_weight: Any = None
    early_stopping: bool | str = "auto"
    validation_fraction: float | Literal["auto"] = "auto"
    n_iter_no_change: int = 50
    scoring: Any = "loss"
    time_limit: float | None = None
    on_interrupt: str = "raise"
    warm_start: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    # --- what a family or an algorithm provides ---------------------------------------------------

    @abstractmethod
    def _round_rule(self, n_classes: int, history: dict[str, NDArray[Any]]) -> RoundRule:
        """The algorithm's rule; `history` is that of the rounds to continue from."""

    @abstractmethod
    def _engine(self, rows: Rows, start: Scores) -> Engine:
        """The state of a fit on these rows, with scores `start`."""

    def _start(self, rows: Rows, n_classes: int) -> Scores:
        """Scores before the first round."""
        return np.zeros(n_classes)

    def _builder(self, start: Scores, rows: Rows, n_threads: int) -> Builder:
        return ModelBuilder(start, rows.X.shape[1], rows.weights, n_threads)

    def _own_score(self, rows: Rows, answers: Answers) -> Callable[[Scores], float]:
        """Return the score of scoring="loss" from raw scores; higher is better."""
        return minus_log_loss(rows, answers)

    def _refines(self) -> bool:
        """Return whether trials use the temperature-scaled loss and the model is scaled."""
        return False

    def _by_log_factor(self, scores: Scores, rows: Rows, n_threads: int) -> Scores:
        """The loss of rows, its slope and its curvature by the log of a factor of the scores."""
        return log_loss_by_log_factor(scores, rows, n_threads)

    def _learns_from_trials(self) -> bool:
        """Return whether `_learn_from_trials` is to be called, so that trials keep their trees."""
        return False

    def _learn_from_trials(self, trials: Sequence[Trial], found: Found) -> None:
        """Learn from the predictions for held-out rows after the best number of rounds."""

    def _holds_rows_out(self) -> bool:
        """Return whether a family needs validation rows for more than early stopping."""
        return False

    def _need_state_elsewhere(self) -> None:
        """Check the parameters of a fit to rows that are not in memory."""

    # --- fitting ----------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X_val: ArrayLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows X with labels y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows. NaN and null are missing values. Or rows of Parquet files, see
            ``edgewise.rows.parquet``, which include their labels and weights.
        y : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Labels, or class probabilities of every row (soft labels). For estimators that support
            several labels per row: an indicator matrix.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Rows of weight zero count as absent.
        X_val : like X, default=None
            Validation rows for early stopping and calibration. If given, no rows of X are held out.
        y_val : like y, default=None
            Labels of `X_val`.
        sample_weight_val : array-like, default=None
            Weights of `X_val`.

        Returns
        -------
        self
            The fitted estimator.
        """
        with transaction(self):
            self._fit((X, y, sample_weight), (X_val, y_val, sample_weight_val))
            warn_if_nothing_learned(self, stacklevel=2)
        return self

    @managed
    def _fit(
        self,
        given: tuple[Any, Any, Any],
        given_val: tuple[Any, Any, Any],
        costs: Any = None,
    ) -> None:
        begin = time.perf_counter()
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        continues = self.warm_start and hasattr(self, "model_")
        if features.is_elsewhere(given[0]):
            above("distributed").fit(self, given, given_val, begin)
            return
        names = targets.column_names(given[1]) if self._multi_label else None
        labelled = checked(
            self,
            given,
            self.class_weight,
            names=TRAINING,
            reset=not continues,
            multi_label=self._multi_label,
            soft=True,
            learn=True,
        )
        if costs is not None:
            labelled = labelled.with_costs(costs)
        labelled = labelled.without_weightless()
        if continues:
            targets.need_same_kind(labelled.y, multi_label=self.multi_label_)
        classes = self.classes_ if continues else targets.classes_of(labelled.y)
        if labelled.is_matrix:
            if continues:
                targets.need_same_names(given[1], classes, "y")
            classes = classes if continues or names is None else names
        targets.need_two_classes(classes, type(self).__name__)
        rows = labelled.encoded(classes, "y")
        self.multi_label_: bool = rows.relevant is not None
        asked = dict(zip(("X", "y"), given[:2], strict=True), metadata=_weights_only(given[2]))
        fit = Fit(rows, classes, None, False, continues, asked, begin)
        self._boost(self._with_validation(fit, self._given_validation(given_val, classes)))

    def _with_validation(self, fit: "Fit", given: Rows | None) -> "Fit":
        """The fit with its validation rows, if it needs any; soft labels become weighted rows.

        Rows that are held out to find the number of rounds are learned from in the end, unless
        calibration needs them or a warm start may resume from the model.
        """
        rows = fit.rows
        if given is not None:
            watched = self.early_stopping is not False
            return fit._replace(rows=rows.expanded(), validation=given.expanded(), watched=watched)
        searched = self._searches_rounds(len(rows.codes))
        if searched and not self.warm_start and not self._holds_rows_out():
            parts = held_out_parts(rows, self._share(SHARE_AT_A_TIME), self.random_state)
            if not parts and self.early_stopping is True:
                raise InvalidDataError(NOTHING_TO_HOLD_OUT)
            return fit._replace(rows=rows.expanded(), parts=parts)
        searched = searched and (self.early_stopping is True or self._holds_rows_out())
        if searched or self._holds_rows_out():
            rows, held = rows.split(self._share(SHARE_FOR_GOOD), self.random_state)
            return fit._replace(rows=rows.expanded(), validation=held.expanded(), watched=searched)
        return fit._replace(rows=rows.expanded())

    def _searches_rounds(self, n_rows: int) -> bool:
        """Return whether held-out rows determine the number of rounds, without given ones."""
        if self.early_stopping == "auto":
            return self.n_estimators == "auto" and n_rows <= MOST_ROWS
        return self.early_stopping is True

    def _need_rounds(self, done: int) -> None:
        """Check that a warm start does not begin with more rounds than `n_estimators`."""
        if done > self._n_rounds():
            raise InvalidParameterError(
                f"The 'n_estimators' parameter of {type(self).__name__} must be at least the "
                f"{done} rounds already fitted when warm_start=True. Got {self.n_estimators}."
            )

    def _share(self, usual: float) -> float:
        """Share of the rows to hold out."""
        given = self.validation_fraction
        return usual if given == "auto" else float(given)

    def _n_rounds(self) -> int:
        """Rounds of a fit at most."""
        return self._most_rounds if self.n_estimators == "auto" else self.n_estimators

    def _given_validation(self, given: tuple[Any, Any, Any], classes: NDArray[Any]) -> Rows | None:
        """The rows given for validation, checked; None if there are none or they are not needed."""
        absent = [name for name, value in zip(VALIDATION, given, strict=True) if value is None]
        if "X_val" in absent or "y_val" in absent:
            present = [name for name in VALIDATION if name not in absent]
            if present:
                raise InvalidDataError(
                    f"{present[0]} was given without {absent[0]}; give both X_val and y_val, or "
                    "neither."
                )
            return None
        if self.early_stopping is False and not self._holds_rows_out():
            return None
        labelled = checked(
            self,
            given,
            self.class_weight,
            names=VALIDATION,
            reset=False,
            multi_label=self._multi_label,
            soft=True,
        )
        if labelled.is_matrix:
            targets.need_same_names(given[1], classes, "y_val")
        return labelled.encoded(classes, "y_val").in_own_order()

    def _boost(self, fit: "Fit") -> None:
        before = Learned(self.model_, self.history_, self.n_iter_) if fit.continues else None
        done, most = before.n_iter_ if before else 0, self._n_rounds()
        self._need_rounds(done)
        self.classes_ = fit.classes
        found = None
        if fit.parts:
            clock = Clock(fit.begin, self.time_limit)
            found = self._find_rounds(fit, most, clock)
            most = found.n_rounds
        start = before.model_.start if before else self._start(fit.rows, len(fit.classes))
        history = {k: v[:done] for k, v in before.history_.items()} if before else {}
        rows, engine, builder, rule = self._ready_to_boost(fit.rows, start, history)
        if before:
            engine.replay(before.model_, as_trained(rows))
        rounds = range(done, most)
        progress = Progress(len(rounds), type(self).__name__, shown=self.verbose > 0)
        watchers: list[Watcher] = [Bar(progress)]
        stopper = self._stopper(fit, engine, builder)
        watchers += [stopper] if stopper else []
        watchers += [Deadline(self.time_limit, fit.begin)] if self.time_limit else []
        told = self._callback_watcher(fit, len(rounds), before)
        watchers += [told] if told else []
        watchers += rows.watchers()
        keep = self.on_interrupt == "keep"
        with closing(progress):
            story, reason = boost(rule, engine, builder, rounds, watchers, keep_interrupted=keep)
        if found:
            story["validation_score"] = found.scores[: len(story["loss"])]
            reason = found.reason if reason == "all rounds done" else reason
        complete = len(story["loss"])
        kept = min(stopper.best_round, complete) if stopper else complete
        learned = outcome(builder, story, kept, before, found.factor if found else 1.0)
        self.model_: Model = learned.model_
        self.history_: dict[str, NDArray[Any]] = learned.history_
        self.n_iter_: int = learned.n_iter_
        self.stop_reason_: str = reason
        if told:
            told.end(learned._asdict())

    def _find_rounds(self, fit: "Fit", most: int, clock: Clock) -> Found:
        """Find the number of rounds, at most `most`, on the held-out parts."""
        return rounds_found(self, fit.parts, fit.classes, most, clock)

    def _ready_to_boost(self, rows: Any, start: Scores, history: dict[str, NDArray[Any]]) -> Ready:
        rows = rows.without_negligible()
        if isinstance(rows, Rows):
            if isinstance(rows.X, SparseRows):
                features.need_few_bins(self, "for sparse matrices")
            rows = grouped(rows, features.columns_of(self.is_categorical_), len(start))
        engine = rows.engine(self, start)
        builder = self._builder(start, rows, engine.n_threads)
        return Ready(rows, engine, builder, self._round_rule(len(start), history))

    def _callback_watcher(
        self, fit: "Fit", n_rounds: int, before: Learned | None
    ) -> CallbackWatcher | None:
        if not getattr(self, "_skl_callbacks", None):
            return None

        def attributes(builder: Builder, history: History) -> dict[str, Any]:
            return outcome(builder, history.arrays(), builder.n_rounds, before)._asdict()

        return CallbackWatcher(self, n_rounds, fit.given, attributes)

    def _stopper(self, fit: "Fit", engine: Engine, builder: Builder) -> Stopper | None:
        if fit.validation is None or not fit.watched:
            return None
        so_far = self.model_ if fit.continues else builder.model()
        threads = engine.n_threads
        return Stopper(
            fit.validation.X,
            so_far.scores(fit.validation.X, threads),
            self._score_of(fit.validation, fit.classes, threads),
            self.n_iter_no_change,
            threads,
        )

    def _score_of(
        self, rows: Rows, classes: NDArray[Any], n_threads: int
    ) -> Callable[[Scores], float]:
        """Return the monitored score from raw scores of validation rows; higher is better."""
        answers = Answers(lambda F: self._link(F.copy(), n_threads), self._decision, self._labels)
        if self.scoring == "loss":
            return self._own_score(rows, answers)
        return scorer(self.scoring, classes, rows, answers)

    # --- about the model ----------------------------------------------------------------------

    def _memory(self, size: Size) -> int:
        if not self._searches_rounds(size.n):
            return super()._memory(size)
        fit = self._fit_bytes(size) + size.copy_of_x
        return int(footprint.SLACK * max(fit, self._trials_bytes(size))) + footprint.FIXED

    def _trials_bytes(self, size: Size) -> float:
        """Memory of the trials that find the number of rounds; each has a copy of its rows."""
        n_trials = n_held_out_parts(size.n, self._share(SHARE_AT_A_TIME))
        one = self._growing_bytes(size) + size.copy_of_x
        return footprint.labels(size) + n_trials * one + footprint.binning(size)

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        X_train: Any = None,
        y_train: ArrayLike | None = None,
        title: str | None = None,
    ) -> Any:
        """Build a report about this model on held-out rows: a page in one HTML file.

        The report displays itself in a notebook, and its method `save` writes it to a file. Needs
        the extra ``report``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Held-out rows.
        y : array-like of shape (n_rows,)
            Their labels.
        X_train : like X, default=None
            Rows of the fit. With them the report also shows training curves, data findings and
            suspicious labels.
        y_train : array-like, default=None
            Labels of the rows of the fit.
        title : str, default=None
            Title of the page. None uses the name of the estimator.

        Returns
        -------
        edgewise.report.Report
        """
        data = {"X_train": X_train, "y_train": y_train}
        return above("report").model_report(self, X, y, **data, title=title)

    @property
    def feature_importances_(self) -> Scores:
        """Share of the total gain of each feature; zeros if no tree has a split."""
        check_is_fitted(self)
        gain = self._by_given_column(self.model_.gain_by_feature(), axis=0)
        total = gain.sum()
        return gain / total if total > 0 else gain

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self._multi_label
        return tags


@contextmanager
def transaction(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator if the fit fails, so that an old model stays unchanged."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def _weights_only(sample_weight: Any) -> dict[str, Any]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}

"""The estimator all algorithms share: input, loop, model; then prediction.

A family of algorithms adds its parameters, its state (the engine) and its link from scores to
probabilities; an algorithm adds its round rule.
"""

import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._data import features, targets
from .._data.groups import as_trained, grouped
from .._data.input import checked
from .._data.rows import Rows
from .._data.sparse import SparseRows
from .._ground import params as p
from .._ground.errors import InvalidDataError, InvalidParameterError
from .._model.explained import Explained
from .._model.model import Model, ModelBuilder, Scores
from .._model.saved import Saved
from .callbacks import CallbackWatcher, Supported, managed
from .loop import Bar, Builder, Deadline, Engine, History, RoundRule, Stopper, Watcher, boost
from .prediction import Predicting, distributed
from .progress import Progress
from .validation import Answers, scorer

TRAINING = ("X", "y", "sample_weight")
VALIDATION = ("X_val", "y_val", "sample_weight_val")


class Fit(NamedTuple):
    """What a fit is about."""

    rows: Rows
    classes: NDArray[Any]
    validation: Rows | None
    watched: bool  # whether the validation rows say when to stop
    continues: bool  # from the model there is, by warm_start
    given: dict[str, Any]  # X, y and metadata as they came, for callbacks
    begin: float  # seconds on the clock


class Learned(NamedTuple):
    """What a fit leaves."""

    model_: Any
    history_: dict[str, NDArray[Any]]
    n_iter_: int


class Booster(Predicting, Explained, Saved, Supported, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Fit as a transaction, early stopping, warm start, prediction from a model of scores."""

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
        "validation_fraction": p.real(0.0, 1.0, high_open=True),
        "n_iter_no_change": p.integer(1),
        "scoring": p.scoring(),
        "time_limit": p.real(0.0, none=True),
        "on_interrupt": p.one_of("raise", "keep"),
        "warm_start": p.boolean(),
        "random_state": p.random_state(),
        "n_jobs": p.n_jobs(),
        "verbose": p.integer(0),
    }
    _multi_label: ClassVar[bool] = False  # whether y may be an indicator matrix
    _fitted: ClassVar[dict[str, p.Rule]] = {
        "multi_label_": p.boolean(),
        "n_iter_": p.integer(0),
        "stop_reason_": p.text(),
    }

    n_estimators: int
    categorical_features: Any
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    class_weight: Any
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int
    scoring: Any
    time_limit: float | None
    on_interrupt: str

    # --- what a family or an algorithm says ---------------------------------------------------

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

    def _holds_rows_out(self) -> bool:
        """Whether a family needs validation rows for more than early stopping."""
        return False

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
        with transaction(self):
            self._fit((X, y, sample_weight), (X_val, y_val, sample_weight_val))
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
        if features.is_dask(given[0]):
            distributed().fit(self, given, given_val, begin)
            return
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
        targets.need_two_classes(classes, type(self).__name__)
        rows = labelled.encoded(classes, "y")
        self.multi_label_: bool = rows.relevant is not None
        validation = self._given_validation(given_val, classes)
        watched = self.early_stopping is True or (
            self.early_stopping == "auto" and validation is not None
        )
        if validation is None and (watched or self._holds_rows_out()):
            rows, validation = rows.split(self.validation_fraction, self.random_state)
        asked = dict(zip(("X", "y"), given[:2], strict=True), metadata=_weights_only(given[2]))
        rows, validation = rows.expanded(), validation.expanded() if validation else None
        self._boost(Fit(rows, classes, validation, watched, continues, asked, begin))

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
        return labelled.encoded(classes, "y_val")

    def _boost(self, fit: "Fit") -> None:
        before = Learned(self.model_, self.history_, self.n_iter_) if fit.continues else None
        done = before.n_iter_ if before else 0
        if done > self.n_estimators:
            raise InvalidParameterError(
                f"The 'n_estimators' parameter of {type(self).__name__} must be at least the "
                f"{done} rounds already fitted when warm_start=True. Got {self.n_estimators}."
            )
        self.classes_ = fit.classes
        start = before.model_.start if before else self._start(fit.rows, len(fit.classes))
        rows = fit.rows.without_negligible()
        if isinstance(rows, Rows):
            if isinstance(rows.X, SparseRows):
                features.need_few_bins(self, "for sparse matrices")
            rows = grouped(rows, features.columns_of(self.is_categorical_), len(fit.classes))
        engine = rows.engine(self, start)
        builder = self._builder(start, rows, engine.n_threads)
        if before:
            engine.replay(before.model_, as_trained(rows))
        history = {k: v[:done] for k, v in before.history_.items()} if before else {}
        rule = self._round_rule(len(fit.classes), history)
        rounds = range(done, self.n_estimators)
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
        complete = len(story["loss"])
        kept = min(stopper.best_round, complete) if stopper else complete
        learned = _learned(builder, story, kept, before)
        self.model_: Model = learned.model_
        self.history_: dict[str, NDArray[Any]] = learned.history_
        self.n_iter_: int = learned.n_iter_
        self.stop_reason_: str = reason
        if told:
            told.end(learned._asdict())

    def _callback_watcher(
        self, fit: "Fit", n_rounds: int, before: "Learned | None"
    ) -> CallbackWatcher | None:
        if not getattr(self, "_skl_callbacks", None):
            return None

        def attributes(builder: Builder, history: History) -> dict[str, Any]:
            return _learned(builder, history.arrays(), builder.n_rounds, before)._asdict()

        return CallbackWatcher(self, n_rounds, fit.given, attributes)

    def _stopper(self, fit: "Fit", engine: Engine, builder: Builder) -> Stopper | None:
        if fit.validation is None or not fit.watched:
            return None
        so_far = self.model_ if fit.continues else builder.model()
        threads = engine.n_threads
        answers = Answers(lambda F: self._link(F.copy(), threads), self._decision, self._labels)
        return Stopper(
            fit.validation.X,
            so_far.scores(fit.validation.X, threads),
            scorer(self.scoring, fit.classes, fit.validation, answers),
            self.n_iter_no_change,
            threads,
        )

    # --- about the model ----------------------------------------------------------------------

    def report(
        self,
        X: Any,
        y: ArrayLike,
        *,
        X_train: Any = None,
        y_train: ArrayLike | None = None,
        title: str | None = None,
    ) -> Any:
        """All about this model on held-out rows, as one page: `edgewise.report.model_report`.

        The report shows itself in a notebook, and `.save(path)` writes it to a file. With X_train
        and y_train, the rows of the fit, it has more to tell. Needs the extra ``report``.
        """
        # Layers import one way and reports are far above: looked up by name, when asked.
        reports = import_module("edgewise.report")
        return reports.model_report(self, X, y, X_train=X_train, y_train=y_train, title=title)

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
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self._multi_label
        return tags


@contextmanager
def transaction(estimator: BaseEstimator) -> Iterator[None]:
    """Nothing half-fitted is left, and an old model stays as it was."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def _learned(
    builder: Builder, story: dict[str, NDArray[Any]], n_rounds: int, before: Learned | None
) -> Learned:
    """The first rounds of the builder, after those there were before."""
    model = builder.model()
    if n_rounds < model.n_rounds:
        model = model.first_rounds(n_rounds)
    if before is not None:
        history = {name: figures[: before.n_iter_] for name, figures in before.history_.items()}
        model = before.model_.followed_by(model)
        story = _joined(history, story)
    return Learned(model, story, model.n_rounds)


def _weights_only(sample_weight: Any) -> dict[str, Any]:
    return {} if sample_weight is None else {"sample_weight": sample_weight}


def _joined(old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Histories one after the other; seconds go on counting."""
    if len(new["loss"]) == 0:
        return old
    joined = {}
    for name in old.keys() & new.keys():
        offset = old[name][-1] if name == "seconds" and len(old[name]) else 0
        joined[name] = np.concatenate([old[name], new[name] + offset])
    return joined

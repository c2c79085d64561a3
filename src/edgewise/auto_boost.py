"""AutoBoost: an accurate model without tuning, from one fit.

Rows are binned once and divided into folds. For each fold, a booster of the logistic family learns
from the other folds and stops on the held-out fold; the members take turns with a small portfolio
of settings. A second stage boosts from linear scores, if that helps. The model is the mean of the
members' scores. Scores are sums of leaf values, so the mean is one ordinary forest, which works
like any other model.

Every row has been held out, so the fit also computes out-of-fold probabilities, and from them the
error and log loss to expect on new rows.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._auto import expected as outlook
from ._auto.columns import Columns, columns_of
from ._auto.expected import Expected, PerRow
from ._auto.held_out import HeldOut, group_numbers, held_out, warn_of_rare
from ._auto.linear import pays
from ._auto.members import (
    MOST_ALONE,
    Member,
    Shared,
    Task,
    mean_model,
    table_of,
    table_rule,
)
from ._auto.out_of_fold import log_losses, mean_log_loss, out_of_fold, wrong
from ._auto.portfolio import STAGES, Effort, Stage
from ._auto.selection import greedy_weights, lowers_loss
from ._auto.workers import Workers
from ._boosting import constraints, footprint
from ._boosting.base import TRAINING, Booster, transaction
from ._boosting.footprint import Size
from ._boosting.grower import binned
from ._boosting.progress import Progress
from ._boosting.sampling import seed_of
from ._boosting.threads import n_threads
from ._data import features, targets
from ._data.groups import grouped
from ._data.input import checked
from ._data.rows import Rows
from ._data.sparse import SparseRows
from ._ground import params as p
from ._ground import portable
from ._ground.above import above
from ._ground.errors import FitWarning
from ._ground.estimator import estimator

ROUNDS_OF_MEMBER = 200  # more than most have, for the bound of the memory
TRIAL = 2  # members that show whether linear starts help
NEW_ROWS = 3  # intervals are for test sets that have a third of the rows of the fit


@estimator
class AutoBoostClassifier(Booster):
    """AutoBoost: the mean of boosted forests, each stopped early on held-out rows.

    Start with this classifier. It needs no tuning: held-out rows determine the number of rounds,
    and the members differ in the settings that a search would try.

    Parameters
    ----------
    effort : {"fast", "default", "best"}
        Number of members: at most 9, 18 or 50. Out-of-fold predictions choose the weight of each
        part of the portfolio.
    time_limit : float or None
        Seconds `fit` may take. Members are fitted in a fixed order while time remains: at least
        one, at most those of ``effort="best"``. None fits all members of `effort`.
    max_trees : int or None
        Largest number of trees of the model; members are dropped to meet it. None sets no limit.
    monotonic_cst : array-like, dict or None
        Monotone constraints, as in `AOSOLogitBoostClassifier`: for each column, or for columns by
        name or number, -1, 0 or 1 with two classes, or a dict {class: -1, 0 or 1}.
    random_state : int, RandomState or None
        Seed of the folds, features and cuts. The default gives the same model every time.
    n_jobs : int or None
        Number of threads; each fits whole members. The model is the same, bit for bit, for any
        number.

    Attributes
    ----------
    oof_proba_ : ndarray of shape (n_rows, n_classes)
        Out-of-fold probabilities, from the members that held the row out. NaN for rows that no
        member held out. Rows of weight zero are not included.
    expected_error_ : Expected
        ``Expected(value, low, high)``: the error rate to expect on new rows, and an interval that
        contains the error of a test set (of a third of the rows or more) with probability 0.95.
    expected_log_loss_ : Expected
        The same for the log loss.
    members_ : dict of ndarray
        One entry per member: "setting", "stage", "folds" (held out), "rounds", "held_out_loss",
        "weight" and "seconds".
    model_ : Model
        Trees of all members as one model.
    history_ : dict of ndarray
        One entry per round: "member", "loss" and "held_out_loss".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edgewise import AutoBoostClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoBoostClassifier().fit(X, y)
    >>> model.predict(X[:2])
    array([0, 0])
    """

    _short_name = "auto"
    _rules: ClassVar[dict[str, p.Rule]] = {
        name: Booster._rules[name]
        for name in (
            "time_limit",
            "max_bins",
            "categorical_features",
            "interaction_cst",
            "class_weight",
            "random_state",
            "n_jobs",
            "verbose",
        )
    } | {
        "effort": p.one_of(*STAGES),
        "max_trees": p.integer(1, none=True),
        "monotonic_cst": p.directions(),
    }
    _fitted: ClassVar[dict[str, p.Rule]] = Booster._fitted | {
        "expected_error_": outlook.rule(1.0),
        "expected_log_loss_": outlook.rule(1024.0),
        "members_": table_rule(),
    }

    def __init__(
        self,
        *,
        effort: Effort = "default",
        time_limit: float | None = None,
        max_trees: int | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.effort = effort
        self.time_limit = time_limit
        self.max_trees = max_trees
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model to rows X with labels y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Training rows. NaN and null are missing values.
        y : array-like of shape (n_rows,) or (n_rows, n_classes), default=None
            Labels, or class probabilities of every row (soft labels).
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Rows of weight zero count as absent.
        groups : array-like of shape (n_rows,), default=None
            Group of every row. Rows of a group are held out together: pass groups if their rows are
            alike, such as several rows of one patient.

        Returns
        -------
        self
            The fitted estimator.
        """
        with transaction(self):
            self._fit_members((X, y, sample_weight), groups)
        return self

    def _fit_members(self, given: tuple[Any, Any, Any], groups: Any) -> None:
        begin = time.perf_counter()
        p.check(type(self).__name__, self.get_params(deep=False), self._rules)
        if features.is_elsewhere(given[0]):
            above("distributed").fit(self, given, None, begin)  # an error: it is not supported
        labelled = checked(
            self, given, self.class_weight, names=TRAINING, reset=True, soft=True, learn=True
        )
        if isinstance(labelled.X, SparseRows):
            features.need_few_bins(self, "for sparse matrices")
        numbers = group_numbers(groups, len(labelled.X), labelled.weights)
        labelled = labelled.without_weightless()
        self.classes_ = targets.classes_of(labelled.y)
        targets.need_two_classes(self.classes_, type(self).__name__)
        self.multi_label_: bool = False
        self._check_constraints()
        rows = labelled.encoded(self.classes_, "y")
        seed = seed_of(self.random_state)
        stages = self.stages()
        held = held_out(rows, numbers, [stage.n_folds for stage in stages], seed)
        warn_of_rare(held, self.classes_, by_groups=numbers is not None, stacklevel=4)
        members, columns = self._members(held, stages, seed, begin)
        weights = _weights(members, held)
        members, weights = _within(members, weights, self.max_trees, held.rows, columns)
        self._describe(members, weights, columns)
        self._judge(members, weights, held)

    def _check_constraints(self) -> None:
        """Raise the errors that members would raise, in the name of this class."""
        constraints.interactions(self)
        constraints.directions(self, self.classes_)

    def stages(self) -> tuple[Stage, ...]:
        """Return the planned members, stage by stage.

        `fit` goes through them while time remains.
        """
        return STAGES["best" if self.time_limit is not None else self.effort]

    # --- members ------------------------------------------------------------------------------

    def _members(
        self, held: HeldOut, stages: Sequence[Stage], seed: int, begin: float
    ) -> tuple[list[Member], Columns | None]:
        """The members of all stages that time allows, and the columns of their linear starts."""
        done: list[Member] = []
        shared, n_workers = self._shared(held.rows, stages, begin)
        linear = shared.columns is not None
        progress = Progress(
            sum(len(stage.members) for stage in stages), type(self).__name__, shown=self.verbose > 0
        )
        with Workers(shared, n_workers) as workers:
            for number, stage in enumerate(stages):
                if stage.linear and not linear:
                    continue
                members: list[Member] = []
                tasks = list(self._tasks(held, stage, number, seed))
                if stage.linear:
                    members = workers.fitted(tasks[:TRIAL], progress, len(done))
                    linear = lowers_loss(members, done, held.rows)
                    tasks = tasks[TRIAL:] if linear else []
                members += workers.fitted(tasks, progress, len(done) + len(members))
                if number > 0 and workers.late():
                    break  # its last members may have ended too soon
                done += members if linear or not stage.linear else []
        progress.close()
        if workers.late() and len(done) == 1:
            warnings.warn(
                f"time_limit={self.time_limit} was enough for one member only, which may have "
                "fewer rounds than are best.",
                FitWarning,
                stacklevel=5,
            )
        return done, shared.columns

    def _shared(self, rows: Rows, stages: Sequence[Stage], begin: float) -> tuple[Shared, int]:
        """Return the inputs that members share, and how many members are fitted at a time."""
        K = len(self.classes_)
        categorical = features.columns_of(self.is_categorical_)
        rows = grouped(rows, categorical, K, most_alone=MOST_ALONE)
        threads = n_threads(self.n_jobs, rows.X.size * K * len(stages[0].members))
        n_workers = min(threads, len(stages[0].members))
        data = binned(rows, self.max_bins, categorical, threads)
        n_columns = rows.X.shape[1] - len(categorical)
        linear = (
            self.monotonic_cst is None
            and any(stage.linear for stage in stages)
            and (self.max_trees is None or 2 * n_columns <= self.max_trees)
            and pays(len(rows.X), n_columns, K)
        )
        shared = Shared(
            rows,
            data,
            K,
            categorical,
            self.max_bins,
            max(1, threads // n_workers),
            Event(),
            None if self.time_limit is None else begin + self.time_limit,
            columns_of(rows, data, categorical) if linear else None,
        )
        return shared, n_workers

    def _tasks(self, held: HeldOut, stage: Stage, number: int, seed: int) -> Iterator[Task]:
        folds = held.of_stage[number]
        for i, planned in enumerate(stage.members):
            out = np.isin(folds, planned.folds)
            if i > 0 and (out.all() or not out.any()):
                continue  # there are fewer rows, or groups, than folds
            booster = planned.setting.booster(
                held.rows.n_given,
                max_bins=self.max_bins,
                monotonic_cst=self.monotonic_cst,
                interaction_cst=self.interaction_cst,
            )
            self._tell(booster)
            own = int(np.random.default_rng([seed, number, i]).integers(2**31))
            name = f"linear start, {planned.setting.name}" if stage.linear else planned.setting.name
            yield Task(name, booster, number, planned.folds, out, own, stage.linear)

    def _tell(self, booster: Any) -> None:
        """Return the attributes of a fit that growing trees needs."""
        names = ("classes_", "is_categorical_", "dates_", "n_features_in_", "feature_names_in_")
        for name in names:
            if hasattr(self, name):
                setattr(booster, name, getattr(self, name))

    def _restored(self, name: str, value: Any) -> Any:
        return Expected(*value) if name.startswith("expected_") and value else value

    # --- results of a fit --------------------------------------------------------------------

    def _memory(self, size: Size) -> int:
        """Members that are fitted at a time, out-of-fold scores, and the models of all."""
        members = [planned.setting for stage in self.stages() for planned in stage.members]
        work = int(size.entries * size.K * len(members))
        at_a_time = min(n_threads(self.n_jobs, work), len(members))
        of_member = [
            setting.booster(size.n, n_estimators=ROUNDS_OF_MEMBER)._memory(size._replace(threads=1))
            for setting in members
        ]
        out_of_fold = 8 * size.n * size.K * (6 + len(self.stages()))
        order = 2 * size.entries * size.item
        models = sum(of_member) / 4
        if pays(size.n, size.d, size.K):  # scores and what follows from them; columns, once
            of_member.append(int((8 * 8 * size.K + 2 * size.d / at_a_time) * size.n))
        return int(at_a_time * max(of_member) + models + out_of_fold + order) + footprint.FIXED

    def _describe(
        self, members: list[Member], weights: list[float], columns: Columns | None
    ) -> None:
        """The model, and a table of its members."""
        self.model_ = mean_model(members, weights, columns)
        self.n_iter_ = self.model_.n_rounds
        self.stop_reason_ = "early stopping"
        rounds = [m.n_rounds for m in members]
        self.history_ = {
            "member": np.repeat(np.arange(len(members)), rounds),
            "loss": np.concatenate([m.losses for m in members]),
            "held_out_loss": np.concatenate([m.held_out_losses for m in members]),
        }
        self.members_: dict[str, NDArray[Any]] = table_of(members, weights)
        if self.n_iter_ == 0:
            warnings.warn(
                "No member learned anything: no tree lowers the loss of held-out rows. The model "
                "predicts the class frequencies.",
                FitWarning,
                stacklevel=5,
            )

    def _judge(self, members: list[Member], weights: list[float], held: HeldOut) -> None:
        """Set the out-of-fold probabilities and the expected error and log loss."""
        oof = out_of_fold(members, weights, held.rows)
        proba = oof.scores.copy()
        _core.softmax(proba, 1)
        proba[oof.n_members == 0] = np.nan
        self.oof_proba_ = proba[held.place]
        self.expected_error_: Expected | None = None
        self.expected_log_loss_: Expected | None = None
        if not oof.n_members.any():
            return
        rows = held.rows
        each = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
        n_members = sum(weights) ** 2 / sum(w**2 for w in weights)  # of equal weight (Kish 1965)
        n_new = -(-rows.n_given // NEW_ROWS)
        together = log_losses(oof.scores, rows.codes), wrong(oof.scores, rows.codes)
        rare = portable.log(rows.n_given + 1)
        log_loss = PerRow(together[0], oof.log_loss_alone, oof.n_members, each, rare)
        error = PerRow(together[1], oof.error_alone, oof.n_members, each, 1.0)
        self.expected_log_loss_ = outlook.expected(log_loss, n_members, n_new, most=1024.0)
        self.expected_error_ = outlook.expected(error, n_members, n_new, most=1.0)


def _weights(members: Sequence[Member], held: HeldOut) -> list[float]:
    """Return the weight of each member: that of its stage, shared among its members."""
    stages = sorted({m.stage for m in members})
    parts = {s: [m for m in members if m.stage == s] for s in stages}
    chosen = {s: 1 for s in stages}
    if len(stages) > 1:
        judged = held.always(stages)
        rows = held.rows.take(judged)
        of_stage = [
            out_of_fold(part, [1.0] * len(part), held.rows).scores[judged]
            for part in parts.values()
        ]
        found = greedy_weights(of_stage, lambda scores: mean_log_loss(scores, rows))
        chosen = dict(zip(stages, found.tolist(), strict=True))
    return [chosen[m.stage] / len(parts[m.stage]) for m in members]


def _within(
    members: Sequence[Member],
    weights: Sequence[float],
    max_trees: int | None,
    rows: Rows,
    columns: Columns | None,
) -> tuple[list[Member], list[float]]:
    """The first members of positive weight that have no more trees than allowed, cut if need be."""
    pairs = [(m, w) for m, w in zip(members, weights, strict=True) if w > 0]
    if max_trees is None:
        return [m for m, _ in pairs], [w for _, w in pairs]
    starts = [m.n_linear for m, _ in pairs]
    shared = np.cumsum(starts) == starts  # the first start has the trees of all
    n_trees = np.cumsum([m.model.n_trees for m, _ in pairs] + starts * shared)
    n = max(1, int(np.searchsorted(n_trees, max_trees, side="right")))
    kept = [m for m, _ in pairs[:n]]
    left = max_trees - starts[0]
    rounds = int(np.searchsorted(kept[0].model.round_start, left, side="right")) - 1
    kept[0] = kept[0].first_rounds(rounds + (starts[0] > 0), rows, columns)
    return kept, [w for _, w in pairs[:n]]

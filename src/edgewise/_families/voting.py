"""The boosters that vote, AdaBoost.MH, SAMME and soft-max boosting: parameters they share."""

from typing import Any, Literal

from .._boosting import constraints
from .._boosting.base import Booster
from .._boosting.sampling import Sampler, n_drawn, seed_of
from .._boosting.threads import n_threads
from .._data.features import columns_of
from .._data.rows import Rows
from .vote_grower import VoteGrower

DOC = """
    n_estimators : int
        Rounds of boosting.
    learning_rate : float
        Every step is multiplied by it.
    max_leaf_nodes : int or None
        Leaves of a tree, grown best-first. None: no limit but `max_depth`.
    max_depth : int or None
        Depth of a tree. None: no limit.
    min_samples_leaf : int
        Rows a leaf must hold. Rows whose weight is negligible do not count.
    min_gain : float
        Gain that a split must have at least, of weights that sum to one.
    interaction_cst : {"pairwise", "no_interactions"}, list of sets of columns, or None
        Features on one path of a tree all belong to one of the sets. Columns in no set are a set.
    max_features : int, float or None
        Features drawn for every round: their number or their share. None: all.
    splitter : {"best", "random"}
        Of every feature its best cut is looked at, or one that is drawn; the best of them is taken.
    max_bins : int
        Bins of a feature, missing values not counted. A feature with no more distinct values than
        that is searched exhaustively. Above 255, features of many values take more room and time.
    categorical_features : "from_dtype", list of column numbers, names or bools, or None
        Columns whose values are categories: they are split into sets of values. "from_dtype": the
        columns of a data frame that hold strings or are of a categorical type. Values that training
        has not seen are treated as missing.
    class_weight : dict, "balanced" or None
        Weights of the classes, multiplied into `sample_weight`.
    early_stopping : bool or "auto"
        Whether to watch a validation set and keep the best round. "auto": if `X_val` is given.
    validation_fraction : float
        Share of every class held out if early stopping is on and `X_val` is not given.
    n_iter_no_change : int
        Rounds without a better validation score after which boosting stops.
    scoring : str or callable
        What is watched: "loss" (log loss of the probabilities, negated), or any scikit-learn scorer
        by name.
    time_limit : float or None
        Seconds that `fit` may take; no round begins that would probably end later. None: no limit.
    on_interrupt : {"raise", "keep"}
        What Ctrl-C does: "raise" leaves the estimator as it was before, "keep" ends the fit with
        the rounds learned so far.
    warm_start : bool
        Continue from the fitted rounds. Fitting k rounds, then up to k + m on the same data and
        with an integer `random_state`, gives the same model as fitting k + m rounds.
    random_state : int, RandomState or None
        Draws held-out rows, features and whatever else the algorithm draws.
    n_jobs : int or None
        Threads; None takes all CPUs the process may use where the work is worth it. The model is
        the same, bit for bit, for any number.
    verbose : int
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : the class labels, sorted; for an indicator matrix the numbers of its columns.
    multi_label_ : whether y was an indicator matrix.
    n_iter_ : rounds of the model; with early stopping, up to and including the best one.
    stop_reason_ : why boosting ended.
    history_ : dict of arrays with one entry per round: "loss", "seconds", with early stopping
        "validation_score", and the algorithm's own story.
    is_categorical_ : which features are categorical, or None.
    categories_ : by the number of a column that holds strings or categories its values; the model
        knows a value by its place there.
    feature_importances_ : share of the total gain of each feature.
    model_ : the trees as plain arrays."""


ROWS_PER_LEAF = 40


def at_most(leaves: int, n_rows: int, least: int) -> int:
    """Leaves for which there are rows: a tree without errors would end boosting at once."""
    return min(leaves, max(least, n_rows // ROWS_PER_LEAF))


class VotingBooster(Booster):
    """Adds a grower of trees that vote."""

    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    min_gain: float
    interaction_cst: Any
    max_features: int | float | None
    splitter: Literal["best", "random"]
    max_bins: int

    def _draws(self) -> bool:
        """Whether rounds see other features or cuts: then a tree without errors is no end."""
        n_features = self.n_features_in_
        return self.splitter == "random" or n_drawn(self.max_features, n_features) < n_features

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        return self.max_leaf_nodes or 0

    def _grower(self, rows: Rows, n_classes: int) -> VoteGrower:
        leaves = self._leaf_limit(rows.n_given, n_classes)
        seed = seed_of(self.random_state)
        return VoteGrower(
            rows,
            max_bins=self.max_bins,
            categorical=columns_of(self.is_categorical_),
            limits={
                "max_leaf_nodes": leaves,
                "max_depth": self.max_depth or 0,
                "min_samples_leaf": rows.leaf_size(self.min_samples_leaf),
                "min_gain": self.min_gain,
            },
            interactions=constraints.interactions(self),
            sampler=Sampler(
                rows.X,
                rows.codes,
                subsample=1.0,
                max_features=self.max_features,
                cuts=self.splitter == "random",
                seed=lambda: seed,
            ),
            seed=seed,
            n_threads=n_threads(self.n_jobs, rows.X.size * n_classes),
        )

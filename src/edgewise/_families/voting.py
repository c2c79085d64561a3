"""The boosters that vote, AdaBoost.MH, SAMME and soft-max boosting: parameters they share."""

from typing import Any

from .._boosting import constraints
from .._boosting.base import Booster
from .._boosting.sampling import Sampler, n_drawn, seed_of
from .._boosting.threads import n_threads
from .._data.features import columns_of, n_columns
from .._data.rows import Rows
from .._ground.estimator import with_parameters
from .vote_grower import VoteGrower

ROWS_PER_LEAF = 40


def at_most(leaves: int, n_rows: int, least: int) -> int:
    """Return the largest number of leaves for this number of rows.

    A tree without errors would end boosting at once.
    """
    return min(leaves, max(least, n_rows // ROWS_PER_LEAF))


@with_parameters
class VotingBooster(Booster):
    """Boosting of trees that vote: the exponential loss, or the cost of mistakes.

    Parameters
    ----------
    learning_rate : float
        Every vote is multiplied by it.
    min_gain : float
        Smallest gain a split must have, with weights that sum to one.
    """

    learning_rate: float = 1.0
    min_samples_leaf: int = 1

    def _draws(self) -> bool:
        """Return whether rounds differ in features or cuts; error-free trees then do not stop."""
        n_features = n_columns(self)
        return self.splitter == "random" or n_drawn(self.max_features, n_features) < n_features

    def _leaf_limit(self, n_rows: int, n_classes: int) -> int:
        """Leaves of a tree; 0 means no limit."""
        limit: int = self.max_leaf_nodes or 0
        return limit

    def _grower(self, rows: Rows, n_classes: int) -> VoteGrower:
        seed = seed_of(self.random_state)
        return VoteGrower(
            rows,
            max_bins=self.max_bins,
            categorical=columns_of(self.is_categorical_),
            limits=self._limits(rows, n_classes),
            interactions=constraints.interactions(self),
            sampler=Sampler(rows.X, rows.codes, **self._drawing(seed)),
            seed=seed,
            n_threads=n_threads(self.n_jobs, rows.X.size * n_classes),
        )

    def _limits(self, rows: Rows, n_classes: int) -> dict[str, Any]:
        """The limits of trees, as the core's GrowLimits names them."""
        return {
            "max_leaf_nodes": self._leaf_limit(rows.n_given, n_classes),
            "max_depth": self.max_depth or 0,
            "min_samples_leaf": rows.leaf_size(self.min_samples_leaf),
            "min_gain": self.min_gain,
        }

    def _drawing(self, seed: int) -> dict[str, Any]:
        """Return the random draws of rounds, by the names of `Draws`."""
        return {
            "subsample": 1.0,
            "max_features": self.max_features,
            "cuts": self.splitter == "random",
            "seed": lambda: seed,
        }

"""Tuning within a time budget: random search with successive halving.

Early stopping finds the number of rounds.

found = tune(AOSOLogitBoostClassifier, X, y, budget=60)
found.params, found.model
"""

from ._search import Trial, Tuning, Watcher, tune
from ._space import drawn, space

__all__ = ["Trial", "Tuning", "Watcher", "drawn", "space", "tune"]

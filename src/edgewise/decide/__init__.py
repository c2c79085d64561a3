"""From probabilities to decisions: costs, thresholds, sets, changed priors, small students.

Small functions of probabilities, as any classifier's `predict_proba` returns them, and one
meta-estimator, :class:`DecisionClassifier`, that fits them on out-of-fold probabilities.
"""

from ._classifier import DecisionClassifier
from ._conformal import ConformalSets
from ._costs import CostEstimate, cost_interval, decide_by_cost
from ._distill import Student, distill
from ._offsets import Offsets, fit_offsets
from ._priors import adjust_priors, estimate_priors

__all__ = [
    "ConformalSets",
    "CostEstimate",
    "DecisionClassifier",
    "Offsets",
    "Student",
    "adjust_priors",
    "cost_interval",
    "decide_by_cost",
    "distill",
    "estimate_priors",
    "fit_offsets",
]

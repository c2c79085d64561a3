"""Metrics of predictions: calibration, Brier score, margins, confusions, intervals.

They are plain functions of labels and predictions and need only NumPy. Displays, reports and the
command line use them.
"""

from ._calibration import ReliabilityCurve, calibration_error, reliability_curve
from ._confusions import Confusion, confusion_matrix, worst_confusions
from ._intervals import Interval, error_interval
from ._losses import brier_score, log_loss
from ._margins import margins

__all__ = [
    "Confusion",
    "Interval",
    "ReliabilityCurve",
    "brier_score",
    "calibration_error",
    "confusion_matrix",
    "error_interval",
    "log_loss",
    "margins",
    "reliability_curve",
    "worst_confusions",
]

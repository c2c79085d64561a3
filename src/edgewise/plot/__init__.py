"""Pictures of fitted models and their predictions, as displays in the style of scikit-learn.

A display is created from an estimator or from predictions. It draws itself on given or new axes and
keeps its artists, `ax_` and `figure_`; `plot` draws it again elsewhere. Displays need matplotlib
(the extra ``plot``).
"""

from ._confusion_display import ConfusionDisplay
from ._history_display import HistoryDisplay
from ._margin_display import MarginDisplay
from ._reliability_display import ReliabilityDisplay
from ._rounds_display import RoundsDisplay
from ._tree_display import TreeDisplay

__all__ = [
    "ConfusionDisplay",
    "HistoryDisplay",
    "MarginDisplay",
    "ReliabilityDisplay",
    "RoundsDisplay",
    "TreeDisplay",
]

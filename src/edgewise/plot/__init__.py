"""Pictures of fitted models and their predictions, as displays in the style of scikit-learn.

A display is made from an estimator or from predictions, draws itself on given axes or on new ones,
and keeps what it has drawn: `ax_`, `figure_` and its artists. It can be drawn again elsewhere with
`plot`. Needs matplotlib, of the extra ``plot``.
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

"""Reports: one self-contained HTML file about a model, a comparison or experiments.

The page needs no network: its charts are drawn by Vega-Lite, whose script is in the file. Needs the
extra ``report``.
"""

from ._comparison import comparison_report
from ._experiment import experiment_report
from ._inputs import (
    Chart,
    Comparison,
    Experiment,
    HeldOut,
    Image,
    LearningCurve,
    MethodResult,
    PairedTest,
    Section,
    Table,
    Verdict,
)
from ._model import model_report
from ._report import Report

__all__ = [
    "Chart",
    "Comparison",
    "Experiment",
    "HeldOut",
    "Image",
    "LearningCurve",
    "MethodResult",
    "PairedTest",
    "Report",
    "Section",
    "Table",
    "Verdict",
    "comparison_report",
    "experiment_report",
    "model_report",
]

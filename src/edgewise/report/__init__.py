"""Reports: one self-contained HTML file about a model, a comparison or experiments."""

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

__all__ = [
    "Chart",
    "Comparison",
    "Experiment",
    "HeldOut",
    "Image",
    "LearningCurve",
    "MethodResult",
    "PairedTest",
    "Section",
    "Table",
    "Verdict",
]

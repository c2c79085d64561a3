"""Multi-class boosting."""

from typing import TYPE_CHECKING, Any

from ._ground.above import hand_in as _hand_in
from ._ground.errors import (
    CostWarning,
    EdgewiseError,
    FitWarning,
    InvalidDataError,
    InvalidParameterError,
    ModelFormatError,
)
from ._ground.version import __version__ as __version__
from ._tools.cost import expected_cost, expected_cost_scorer, minimum_cost_labels
from ._tools.findings import Finding, data_findings
from ._tools.hierarchy import ClassHierarchy
from ._tools.load import load
from ._tools.memory import estimate_memory
from ._tools.permutation import PermutationImportances, permutation_importances
from ._tools.suspicion import Suspicion, suspicious_rows
from .abc_logitboost import ABCLogitBoostClassifier
from .abc_mart import ABCMARTClassifier
from .adaboost_mh import AdaBoostMHClassifier
from .aoso_logitboost import AOSOLogitBoostClassifier
from .auto_boost import AutoBoostClassifier
from .logitboost import LogitBoostClassifier
from .mart import MARTClassifier
from .martiboost import MartiBoostClassifier
from .multi_label_boost import MultiLabelBoostClassifier
from .newton_boost import NewtonBoostClassifier
from .ordinal_boost import OrdinalBoostClassifier
from .samme import SAMMEClassifier
from .softmax_boost import SoftmaxBoostClassifier

if TYPE_CHECKING:
    from .truth_table_classifier import TruthTableClassifier

__all__ = [
    "ABCLogitBoostClassifier",
    "ABCMARTClassifier",
    "AOSOLogitBoostClassifier",
    "AdaBoostMHClassifier",
    "AutoBoostClassifier",
    "ClassHierarchy",
    "CostWarning",
    "EdgewiseError",
    "Finding",
    "FitWarning",
    "InvalidDataError",
    "InvalidParameterError",
    "LogitBoostClassifier",
    "MARTClassifier",
    "MartiBoostClassifier",
    "ModelFormatError",
    "MultiLabelBoostClassifier",
    "NewtonBoostClassifier",
    "OrdinalBoostClassifier",
    "PermutationImportances",
    "SAMMEClassifier",
    "SoftmaxBoostClassifier",
    "Suspicion",
    "TruthTableClassifier",
    "data_findings",
    "estimate_memory",
    "expected_cost",
    "expected_cost_scorer",
    "load",
    "minimum_cost_labels",
    "permutation_importances",
    "suspicious_rows",
]


def _distributed() -> Any:
    from . import distributed  # noqa: PLC0415 - needed by few fits

    return distributed


def _report() -> Any:
    from . import report  # noqa: PLC0415 - needs an extra

    return report


_hand_in(distributed=_distributed, report=_report)


def __getattr__(name: str) -> Any:
    """Import the classifier that needs the laboratory and SciPy's solvers on first access."""
    if name != "TruthTableClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .truth_table_classifier import TruthTableClassifier  # noqa: PLC0415

    globals()[name] = TruthTableClassifier
    return TruthTableClassifier


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

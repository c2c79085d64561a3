"""Multi-class boosting."""

from ._errors import EdgewiseError, InvalidDataError, InvalidParameterError
from .abc_logitboost import ABCLogitBoostClassifier
from .abc_mart import ABCMARTClassifier
from .aoso_logitboost import AOSOLogitBoostClassifier
from .logitboost import LogitBoostClassifier
from .mart import MARTClassifier

__version__ = "0.1.0"

__all__ = [
    "ABCLogitBoostClassifier",
    "ABCMARTClassifier",
    "AOSOLogitBoostClassifier",
    "EdgewiseError",
    "InvalidDataError",
    "InvalidParameterError",
    "LogitBoostClassifier",
    "MARTClassifier",
]

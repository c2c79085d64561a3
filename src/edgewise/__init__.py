"""Multi-class boosting."""

from ._errors import EdgewiseError, InvalidDataError, InvalidParameterError
from .abc_logitboost import ABCLogitBoostClassifier
from .abc_mart import ABCMARTClassifier
from .adaboost_mh import AdaBoostMHClassifier
from .aoso_logitboost import AOSOLogitBoostClassifier
from .logitboost import LogitBoostClassifier
from .mart import MARTClassifier
from .martiboost import MartiBoostClassifier
from .samme import SAMMEClassifier
from .softmax_boost import SoftmaxBoostClassifier

__version__ = "0.1.0"

__all__ = [
    "ABCLogitBoostClassifier",
    "ABCMARTClassifier",
    "AOSOLogitBoostClassifier",
    "AdaBoostMHClassifier",
    "EdgewiseError",
    "InvalidDataError",
    "InvalidParameterError",
    "LogitBoostClassifier",
    "MARTClassifier",
    "MartiBoostClassifier",
    "SAMMEClassifier",
    "SoftmaxBoostClassifier",
]

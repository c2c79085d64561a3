"""The algorithms under the names that the command line and the comparison call them."""

from .._boosting.base import Booster
from ..abc_logitboost import ABCLogitBoostClassifier
from ..abc_mart import ABCMARTClassifier
from ..adaboost_mh import AdaBoostMHClassifier
from ..aoso_logitboost import AOSOLogitBoostClassifier
from ..auto_boost import AutoBoostClassifier
from ..logitboost import LogitBoostClassifier
from ..mart import MARTClassifier
from ..martiboost import MartiBoostClassifier
from ..ordinal_boost import OrdinalBoostClassifier
from ..samme import SAMMEClassifier
from ..softmax_boost import SoftmaxBoostClassifier

ALGORITHMS: dict[str, type[Booster] | type[MartiBoostClassifier]] = {
    "auto": AutoBoostClassifier,
    "aoso": AOSOLogitBoostClassifier,
    "logitboost": LogitBoostClassifier,
    "abc-logitboost": ABCLogitBoostClassifier,
    "abc-mart": ABCMARTClassifier,
    "mart": MARTClassifier,
    "ordinal": OrdinalBoostClassifier,
    "adaboost-mh": AdaBoostMHClassifier,
    "samme": SAMMEClassifier,
    "softmax": SoftmaxBoostClassifier,
    "martiboost": MartiBoostClassifier,
}

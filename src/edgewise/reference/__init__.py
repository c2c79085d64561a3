"""Every algorithm in plain NumPy, independent of the fast code: a textbook and a test oracle."""

from .abc_logitboost import abc_logitboost
from .abc_mart import abc_mart
from .adaboost_mh import adaboost_mh
from .aoso_logitboost import aoso_logitboost
from .logitboost import logitboost
from .mart import mart
from .martiboost import martiboost
from .multi_label_boost import multi_label_boost
from .newton_boost import newton_boost
from .ordinal_boost import ordinal_boost
from .samme import samme
from .softmax_boost import softmax_boost

__all__ = [
    "abc_logitboost",
    "abc_mart",
    "adaboost_mh",
    "aoso_logitboost",
    "logitboost",
    "mart",
    "martiboost",
    "multi_label_boost",
    "newton_boost",
    "ordinal_boost",
    "samme",
    "softmax_boost",
]

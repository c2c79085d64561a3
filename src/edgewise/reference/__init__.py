"""Every algorithm in plain NumPy, sharing nothing with the fast code: textbook and oracle."""

from .abc_logitboost import abc_logitboost
from .abc_mart import abc_mart
from .aoso_logitboost import aoso_logitboost
from .logitboost import logitboost
from .mart import mart

__all__ = ["abc_logitboost", "abc_mart", "aoso_logitboost", "logitboost", "mart"]

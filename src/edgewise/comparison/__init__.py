"""Algorithms compared on one table: ours, and those of other libraries where they are installed.

    comparison = compare(X, y, methods=["aoso", "lightgbm"], folds=5, repeats=3)
    comparison.rows()     # a row per method, the best first
    comparison.paired()   # whether the best two differ

With `out`, every result is written to a folder as soon as it is known, and a killed run resumes
where it stopped. docs/command_line.md defines the figures.
"""

from ._comparison import Comparison, Row
from ._methods import OURS
from ._peers import PEERS
from ._plan import need_parameters
from ._results import Result, judged
from ._run import Watcher, compare
from ._tests import PairedTest, corrected_t_test, mcnemar, resampled_interval

METHODS = (*OURS, *PEERS)

__all__ = [
    "METHODS",
    "OURS",
    "PEERS",
    "Comparison",
    "PairedTest",
    "Result",
    "Row",
    "Watcher",
    "compare",
    "corrected_t_test",
    "judged",
    "mcnemar",
    "need_parameters",
    "resampled_interval",
]

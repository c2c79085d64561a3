"""AdaBoost as a dynamical system: an iterated map on the weights of the examples.

M is the margin matrix, +1 where a classifier (column) is right on an example (row) and -1 where it
is wrong; d the weights of the examples. AdaBoost takes the column j with the largest edge
r = (d^T M)_j and goes to d_i / (1 + M_ij r). Rudin, Daubechies & Schapire (JMLR 5, 2004) found that
the weights often end in a cycle, that this can be proved in small cases, and that AdaBoost may miss
the maximum margin. docs/lab_dynamics.md tells the story with pictures.

>>> from edgewise.lab.dynamics import find_cycle, one_error_each
>>> cycle = find_cycle(one_error_each(3))
>>> cycle.length, cycle.edges.round(6).tolist()
(3, [0.618034, 0.618034, 0.618034])

A walk        iterate -> Orbit, under a rule: Optimal, Threshold, ArcGV, CoordinateAscent,
              AdaBoostStar; exact_choices without rounding
Cycles        find_cycle, cycle_from_choices -> Cycle or NoCycle; Cycle.certify -> Certificate
Margins       max_margin, margins, smooth_margin, upsilon
Matrices      example (names: EXAMPLES), one_error_each, repeated_rows, random_matrix,
              random_weights, from_examples, from_booster
Many at once  survey -> Survey

Pictures are in `edgewise.lab.plots`.
"""

from ._certify import Certificate
from ._cycles import Cycle, NoCycle, cycle_from_choices, find_cycle
from ._exact import ExactChoices, exact_choices
from ._margin_matrix import from_booster, from_examples
from ._margins import MaxMargin, margins, max_margin, smooth_margin, upsilon
from ._matrices import (
    EXAMPLES,
    Example,
    example,
    one_error_each,
    random_matrix,
    random_weights,
    repeated_rows,
)
from ._orbit import Orbit, iterate
from ._rules import AdaBoostStar, ArcGV, CoordinateAscent, Optimal, Threshold
from ._survey import Run, Survey, survey

__all__ = [
    "EXAMPLES",
    "AdaBoostStar",
    "ArcGV",
    "Certificate",
    "CoordinateAscent",
    "Cycle",
    "ExactChoices",
    "Example",
    "MaxMargin",
    "NoCycle",
    "Optimal",
    "Orbit",
    "Run",
    "Survey",
    "Threshold",
    "cycle_from_choices",
    "exact_choices",
    "example",
    "find_cycle",
    "from_booster",
    "from_examples",
    "iterate",
    "margins",
    "max_margin",
    "one_error_each",
    "random_matrix",
    "random_weights",
    "repeated_rows",
    "smooth_margin",
    "survey",
    "upsilon",
]

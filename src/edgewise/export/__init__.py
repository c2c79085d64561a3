"""Fitted estimators in other forms: ONNX, treelite, and single files of C or Python.

Every form predicts as the estimator does, at thresholds, for missing and infinite values and for
categories; docs/export.md lists what each can express. Exported models take the categories of a
data frame as their positions in ``categories_`` (NaN for others); only the Python form takes the
values themselves. `as_numbers` converts rows to the input of exported models.
"""

from ._c import to_c
from ._numbers import as_numbers
from ._onnx import to_onnx
from ._python import to_python
from ._treelite import to_treelite

__all__ = ["as_numbers", "to_c", "to_onnx", "to_python", "to_treelite"]

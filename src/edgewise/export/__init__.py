"""Fitted estimators in other forms: ONNX, treelite, and single files of C or Python.

Every form decides as the estimator does, at thresholds, for missing and infinite values and for
categories; docs/export.md says what each can hold. Categories that are values of a data frame are
given to exported models by their place in ``categories_`` (NaN for others), but for Python, which
takes the values themselves. `as_numbers` makes of rows what exported models take.
"""

from ._c import to_c
from ._numbers import as_numbers
from ._onnx import to_onnx
from ._python import to_python
from ._treelite import to_treelite

__all__ = ["as_numbers", "to_c", "to_onnx", "to_python", "to_treelite"]

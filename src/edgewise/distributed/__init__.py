"""Fits to rows that are not in memory: on many machines, or on a disk.

Pass ``fit`` a Dask array or data frame, or ``edgewise.rows.parquet(...)``. The model equals that of
a local fit to the same rows, bit for bit, for any distribution of the rows and even if machines are
lost during the fit. docs/scale.md describes the costs.
"""

from ._disk import DiskFullError
from ._fit import fit, predict
from ._settings import WorkersLostError, settings

__all__ = ["DiskFullError", "WorkersLostError", "fit", "predict", "settings"]

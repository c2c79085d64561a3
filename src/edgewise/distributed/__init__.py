"""The same fit where the rows are not in memory: on many machines, or on a disk.

Give ``fit`` a Dask array or data frame, or ``edgewise.rows.parquet(...)``. The model is that of a
local fit on the same rows, bit for bit, however the rows are dealt out and whatever machines are
lost on the way. See docs/scale.md for what it costs.
"""

from ._disk import DiskFullError
from ._fit import fit, predict
from ._settings import WorkersLostError, settings

__all__ = ["DiskFullError", "WorkersLostError", "fit", "predict", "settings"]

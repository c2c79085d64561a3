"""The same fit where the rows are on many machines: give ``fit`` a Dask array or data frame.

The model is that of a local fit on the same rows, bit for bit, however the rows are dealt out and
whatever machines are lost on the way. See docs/scale.md for what it costs.
"""

from ._fit import fit, predict
from ._settings import WorkersLostError, settings

__all__ = ["WorkersLostError", "fit", "predict", "settings"]

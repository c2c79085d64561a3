"""The field: many tables, every library with its defaults. Run by `python -m benchmarks field`.

tables       the tables, their splits, and their two halves
contenders   edgewise and its peers, each with its defaults
cell         one fit in a process of its own, and its figures
cells        the figures kept on disk, a line each
standings    ranks, ratios and intervals
summary      what all cells amount to, as text
picture      the critical-difference diagram
"""

from .cells import frame
from .tables import halves, load_split, table_names

__all__ = ["frame", "halves", "load_split", "table_names"]

"""The data sets of a run, loaded once and identified by their hash."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from . import _data
from ._data import DataSetMissingError, Split
from ._types import Scale

NO_DATA = "drawn"  # instead of a hash: the seed determines the data


class Found(NamedTuple):
    """An available data set."""

    name: str  # as asked for, or the stand-in
    hash: str


class Library:
    """Finds data sets and records why others are missing."""

    def __init__(self, scale: Scale, folder: str | None = None) -> None:
        self._scale = scale
        self._folder = folder
        self._found: dict[str, Found | None] = {}
        self.missing: dict[str, str] = {}  # name: reason
        self.split: Callable[[str], Split] = lru_cache(maxsize=2)(self._split)

    def find(self, name: str | None) -> Found | None:
        """The data set, or None where it is missing."""
        if name is None:
            return Found("", NO_DATA)
        if name not in self._found:
            self._found[name] = self._look(name)
        return self._found[name]

    def _look(self, name: str) -> Found | None:
        try:
            return Found(name, _data.digest(self.split(name)))
        except DataSetMissingError as missing:
            instead = _data.stand_in(name) if self._scale == "small" else None
            if instead is None:
                self.missing[name] = str(missing)
                return None
            return Found(instead, _data.digest(self.split(instead)))

    def _split(self, name: str) -> Split:
        if name in _data.CARRIED:
            return _data.carried(name)
        return _data.load(name, folder=self._folder, network=self._scale == "paper")

"""Packages of higher layers that a lower layer calls.

``edgewise/__init__.py``, which knows all layers, registers them. Each is loaded on first use.
"""

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def hand_in(**loaders: Callable[[], Any]) -> None:
    """Register loaders of packages by name."""
    _LOADERS.update(loaders)


def above(name: str) -> Any:
    """Return a registered package."""
    return _LOADERS[name]()

"""Packages that a layer calls although they are above it.

``edgewise/__init__.py``, which knows all layers, hands them in. Each is loaded when it is needed.
"""

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Any]] = {}


def hand_in(**loaders: Callable[[], Any]) -> None:
    """Say how packages are loaded, by the names under which they are asked for."""
    _LOADERS.update(loaders)


def above(name: str) -> Any:
    """Return a package that was handed in."""
    return _LOADERS[name]()
